//! What ops read, as far as constants say it.

use super::{buffer, check_inside, constant, reads_by_tables, relative, shape, span_of_runs, span_of_sums, window};
use crate::layout::{ZERO_PAGE, runs};
use gradus_ir::{Module, Op};

/// Where the elements of a row are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Places {
    /// At the sum of an offset for each row and one for each summand.
    Sums {
        /// For each row.
        base: Vec<i32>,
        /// For each summand; none is added to the one before.
        relative: Vec<i32>,
    },
    /// Runs of elements from an offset on, of which each row has so many.
    Each {
        /// For each row those of its runs, or [`ZERO_PAGE`].
        bases: Vec<i32>,
        /// How many runs a row has.
        runs: usize,
    },
}

/// What an op reads by constant tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reads {
    /// Where it is.
    pub places: Places,
    /// How many elements lie side by side from each place on.
    pub run: usize,
    /// How many elements the buffer has; the largest number if that is not known.
    pub elements: i64,
}

impl Reads {
    /// What an op of this dialect reads; `None` for other ops, and if its tables are no constants.
    pub fn of(m: &Module, op: Op) -> Option<Reads> {
        let args = m.args(op).filter(|_| reads_by_tables(m, op))?;
        let elements = buffer(&args);
        if let Some(base) = constant(&args, "base") {
            let relative = relative(&args, constant(&args, "relative")?);
            let run = runs(&relative).1;
            return Some(Reads { places: Places::Sums { base, relative }, run, elements });
        }
        let (bases, &[_, per_row]) = (constant(&args, "bases")?, shape(&args, "bases")) else { return None };
        let (runs, run) = (usize::try_from(per_row).ok()?, usize::try_from(window::channels(&args)).ok()?);
        Some(Reads { places: Places::Each { bases, runs }, run, elements })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.places {
            Places::Sums { base, .. } => base.len(),
            Places::Each { bases, runs } => bases.len().checked_div(*runs).unwrap_or(0),
        }
    }

    /// How many runs of elements each row has.
    pub fn runs(&self) -> usize {
        match &self.places {
            Places::Sums { relative, .. } => relative.len() / self.run.max(1),
            Places::Each { runs, .. } => *runs,
        }
    }

    /// Where the elements of a row are, in the order of the summands; `None` for padding and for rows that there are not.
    pub fn row(&self, row: usize) -> Box<dyn Iterator<Item = Option<i64>> + '_> {
        match &self.places {
            Places::Sums { base, relative } => {
                let base = base.get(row).copied().map(i64::from);
                let relative = if base.is_some() { &relative[..] } else { &[] };
                Box::new(relative.iter().map(move |&offset| Some(base? + i64::from(offset))))
            }
            Places::Each { bases, runs } => {
                let of_row = bases.chunks((*runs).max(1)).nth(row).unwrap_or(&[]);
                let first = |&base: &i32| (base != ZERO_PAGE).then_some(i64::from(base));
                Box::new(of_row.iter().map(first).flat_map(|at| (0..self.run as i64).map(move |i| Some(at? + i))))
            }
        }
    }

    /// The least and the greatest address; `None` if nothing is read.
    pub fn span(&self) -> Option<[i64; 2]> {
        match &self.places {
            Places::Sums { base, relative } => span_of_sums(base, relative),
            Places::Each { bases, .. } => span_of_runs(bases, self.run.max(1) as i64),
        }
    }

    /// That all of it is in the buffer.
    ///
    /// # Errors
    /// Which element is not.
    pub fn check(&self) -> Result<(), String> {
        check_inside(self.span(), self.elements)
    }
}
