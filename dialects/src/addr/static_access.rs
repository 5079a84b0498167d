//! Addresses that are known at compile time.

use super::{buffer, check_inside, constant, is_table_op, relative, shape, span_of_runs, span_of_sums, window};
use crate::layout::{ZERO_PAGE, split_runs};
use gradus_ir::{Module, Op};

/// The element addresses of all rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowAddresses {
    /// Separable: a base per row plus an offset per reduction index.
    Separable {
        /// Base of each row.
        base: Vec<i32>,
        /// Offset of each reduction index, not delta-encoded.
        relative: Vec<i32>,
    },
    /// Indirect: a base per row and run.
    Indirect {
        /// Bases, `[rows, runs]`, or [`ZERO_PAGE`].
        bases: Vec<i32>,
        /// Number of runs per row.
        runs: usize,
    },
}

/// The elements that an op reads through constant tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticAccess {
    /// Element addresses.
    pub addresses: RowAddresses,
    /// Contiguous elements per run.
    pub run: usize,
    /// Number of elements of the buffer; `i64::MAX` if dynamic.
    pub elements: i64,
}

impl StaticAccess {
    /// Returns the access of an op of this dialect; `None` for other ops and for tables that are not constant.
    pub fn of(m: &Module, op: Op) -> Option<StaticAccess> {
        let args = m.args(op).filter(|_| is_table_op(m, op))?;
        let elements = buffer(&args);
        if let Some(base) = constant(&args, "base") {
            let relative = relative(&args, constant(&args, "relative")?);
            let run = split_runs(&relative).1;
            return Some(StaticAccess { addresses: RowAddresses::Separable { base, relative }, run, elements });
        }
        let (bases, &[_, per_row]) = (constant(&args, "bases")?, shape(&args, "bases")) else { return None };
        let (runs, run) = (usize::try_from(per_row).ok()?, usize::try_from(window::channels(&args)).ok()?);
        Some(StaticAccess { addresses: RowAddresses::Indirect { bases, runs }, run, elements })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.addresses {
            RowAddresses::Separable { base, .. } => base.len(),
            RowAddresses::Indirect { bases, runs } => bases.len().checked_div(*runs).unwrap_or(0),
        }
    }

    /// Returns the number of runs per row.
    pub fn runs(&self) -> usize {
        match &self.addresses {
            RowAddresses::Separable { relative, .. } => relative.len() / self.run.max(1),
            RowAddresses::Indirect { runs, .. } => *runs,
        }
    }

    /// Returns the addresses of a row in reduction order, `None` for padding. Empty if the row does not exist.
    pub fn row(&self, row: usize) -> Box<dyn Iterator<Item = Option<i64>> + '_> {
        match &self.addresses {
            RowAddresses::Separable { base, relative } => {
                let base = base.get(row).copied().map(i64::from);
                let relative = if base.is_some() { &relative[..] } else { &[] };
                Box::new(relative.iter().map(move |&offset| Some(base? + i64::from(offset))))
            }
            RowAddresses::Indirect { bases, runs } => {
                let of_row = bases.chunks((*runs).max(1)).nth(row).unwrap_or(&[]);
                let first = |&base: &i32| (base != ZERO_PAGE).then_some(i64::from(base));
                Box::new(of_row.iter().map(first).flat_map(|at| (0..self.run as i64).map(move |i| Some(at? + i))))
            }
        }
    }

    /// Returns the minimum and maximum address; `None` if nothing is read.
    pub fn span(&self) -> Option<[i64; 2]> {
        match &self.addresses {
            RowAddresses::Separable { base, relative } => span_of_sums(base, relative),
            RowAddresses::Indirect { bases, .. } => span_of_runs(bases, self.run.max(1) as i64),
        }
    }

    /// Checks that all addresses are inside the buffer.
    ///
    /// # Errors
    /// Names an element that is not.
    pub fn check(&self) -> Result<(), String> {
        check_inside(self.span(), self.elements)
    }
}
