//! Address tables: the element addresses that a table-driven op reads, known ahead of time.

use gradus_ir::Violation;
use std::borrow::Cow;
use std::ops::Range;

/// Entry of an indirect table for a run of padding, which is read from a page of zeros.
pub const ZERO_PAGE: i32 = -1;

/// The address of each element that an op reads, for each output point (row) m and reduction point k.
///
/// Reduction points form runs of equal length, whose elements are contiguous in the buffer. Addresses count elements
/// from the start of the buffer. They may be outside of it, until [`check`](AddressTable::check) has succeeded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressTable<'a> {
    addressing: Addressing<'a>,
    run: usize,
    encoding: Encoding,
}

/// How the offsets of reduction points are stored, and walked by kernels.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Encoding {
    /// Each entry is an offset from the base of the row.
    #[default]
    Absolute,
    /// Running sum: each entry is the difference from the previous offset. A kernel adds it to its address.
    Running,
}

/// The lists of a table, borrowed from a constant or owned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Addressing<'a> {
    /// Separable: the element of m and k is at `base[m] + relative[k]`.
    Separable {
        /// Base address of each row, `[M]`.
        base: Cow<'a, [i32]>,
        /// Offset of each reduction point, `[K]`, not delta-encoded.
        relative: Cow<'a, [i32]>,
    },
    /// Indirect: the element of m and k is at `bases[m, k / run] + k % run`.
    Indirect {
        /// Address of each run, or [`ZERO_PAGE`], `[rows, runs]` in row-major order.
        bases: Cow<'a, [i32]>,
        /// Number of rows M.
        rows: usize,
        /// Number of runs per row.
        runs: usize,
    },
}

impl<'a> AddressTable<'a> {
    /// Creates a table of separable addresses. Its runs are the longest of equal length in `relative`.
    pub fn separable(base: impl Into<Cow<'a, [i32]>>, relative: impl Into<Cow<'a, [i32]>>) -> AddressTable<'a> {
        let relative = relative.into();
        let run = run_length(&relative);
        AddressTable {
            addressing: Addressing::Separable { base: base.into(), relative },
            run,
            encoding: Encoding::Absolute,
        }
    }

    /// Creates a table of one base per row and run of `run` elements.
    ///
    /// # Errors
    /// There are not `rows * runs` bases, or the number of reduction points overflows.
    pub fn indirect(
        bases: impl Into<Cow<'a, [i32]>>,
        [rows, runs]: [usize; 2],
        run: usize,
    ) -> Result<AddressTable<'a>, Violation> {
        let bases = bases.into();
        if rows.checked_mul(runs) != Some(bases.len()) || runs.checked_mul(run).is_none() {
            return Err(format!("{} bases are not {rows} rows of {runs} runs of {run} elements", bases.len()).into());
        }
        Ok(AddressTable { addressing: Addressing::Indirect { bases, rows, runs }, run, encoding: Encoding::Absolute })
    }

    /// Returns a table of one base per element as one of runs of `run` elements that begin there; another table unchanged as the error.
    ///
    /// # Errors
    /// The table, if it is separable or has longer runs, or the number of reduction points overflows.
    pub fn with_runs(self, run: usize) -> Result<AddressTable<'a>, AddressTable<'a>> {
        match self.addressing {
            Addressing::Indirect { runs, .. } if self.run == 1 && runs.checked_mul(run).is_some() => {
                Ok(AddressTable { run, ..self })
            }
            _ => Err(self),
        }
    }

    /// Returns the table with lists of its own.
    pub fn into_owned(self) -> AddressTable<'static> {
        let owned = |list: Cow<'_, [i32]>| Cow::Owned(list.into_owned());
        let addressing = match self.addressing {
            Addressing::Separable { base, relative } => {
                Addressing::Separable { base: owned(base), relative: owned(relative) }
            }
            Addressing::Indirect { bases, rows, runs } => Addressing::Indirect { bases: owned(bases), rows, runs },
        };
        AddressTable { addressing, run: self.run, encoding: self.encoding }
    }

    /// Returns the table of some rows. `None` if one of them does not exist.
    pub fn part(&self, rows: Range<usize>) -> Option<AddressTable<'_>> {
        let addressing = match &self.addressing {
            Addressing::Separable { base, relative } => {
                Addressing::Separable { base: base.get(rows)?.into(), relative: (&**relative).into() }
            }
            &Addressing::Indirect { ref bases, runs, .. } => {
                let [start, end] = [rows.start, rows.end].map(|row| row.checked_mul(runs));
                Addressing::Indirect { bases: bases.get(start?..end?)?.into(), rows: rows.len(), runs }
            }
        };
        Some(AddressTable { addressing, ..*self })
    }

    /// Returns the table with the offsets of its reduction points in another encoding. Indirect tables have no offsets and
    /// stay as they are.
    #[must_use]
    pub fn with_encoding(self, encoding: Encoding) -> AddressTable<'a> {
        match self.addressing {
            Addressing::Separable { .. } => AddressTable { encoding, ..self },
            Addressing::Indirect { .. } => self,
        }
    }

    /// Returns the encoding in which the offsets of reduction points are stored. [`Addressing`] has them decoded.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the lists.
    pub fn addressing(&self) -> &Addressing<'a> {
        &self.addressing
    }

    /// Returns the number of contiguous elements per run; at least 1 if addresses are separable.
    pub fn run(&self) -> usize {
        self.run
    }

    /// Returns the number of rows M.
    pub fn rows(&self) -> usize {
        match &self.addressing {
            Addressing::Separable { base, .. } => base.len(),
            Addressing::Indirect { rows, .. } => *rows,
        }
    }

    /// Returns the number of runs per row.
    pub fn runs(&self) -> usize {
        match &self.addressing {
            Addressing::Separable { relative, .. } => relative.len() / self.run,
            Addressing::Indirect { runs, .. } => *runs,
        }
    }

    /// Returns the number of reduction points K.
    pub fn depth(&self) -> usize {
        self.runs() * self.run
    }

    /// Returns the address of the first element of a run; `None` for padding, and for a row or run that does not exist.
    pub fn run_start(&self, row: usize, run: usize) -> Option<i64> {
        match &self.addressing {
            Addressing::Separable { base, relative } => {
                let relative = relative.get(run.checked_mul(self.run)?)?;
                Some(i64::from(*base.get(row)?) + i64::from(*relative))
            }
            Addressing::Indirect { bases, runs, .. } => {
                let at = row.checked_mul(*runs)?.checked_add(run).filter(|_| run < *runs)?;
                bases.get(at).filter(|&&base| base != ZERO_PAGE).map(|&base| base.into())
            }
        }
    }

    /// Returns the address of row m and reduction point k; `None` for padding, and for a point that does not exist.
    pub fn offset(&self, m: usize, k: usize) -> Option<i64> {
        Some(self.run_start(m, k.checked_div(self.run)?)? + (k % self.run) as i64)
    }

    /// Returns the addresses of a row in reduction order, `None` for padding. Empty if the row does not exist.
    pub fn row(&self, m: usize) -> impl Iterator<Item = Option<i64>> {
        let runs = if m < self.rows() { self.runs() } else { 0 };
        let starts = (0..runs).map(move |run| self.run_start(m, run));
        starts.flat_map(|start| (0..self.run as i64).map(move |i| Some(start? + i)))
    }

    /// Returns the minimum and maximum address; `None` if nothing is read.
    pub fn span(&self) -> Option<[i64; 2]> {
        match &self.addressing {
            Addressing::Separable { base, relative } => {
                let ([low, high], [first, last]) = (extremes(base.iter())?, extremes(relative.iter())?);
                Some([low + first, high + last])
            }
            Addressing::Indirect { bases, .. } => {
                let [first, last] = extremes(bases.iter().filter(|&&base| base != ZERO_PAGE))?;
                Some([first, last.saturating_add_unsigned(self.run.max(1) as u64 - 1)])
            }
        }
    }

    /// Checks that all addresses are inside a buffer of `elements` elements.
    ///
    /// # Errors
    /// Names an address that is not.
    pub fn check(&self, elements: i64) -> Result<(), Violation> {
        let is_outside = |&at: &i64| at < 0 || at >= elements;
        match self.span().and_then(|span| span.into_iter().find(is_outside)) {
            Some(at) => Err(format!("address {at} is outside a buffer of {elements} elements").into()),
            None => Ok(()),
        }
    }
}

/// Returns the minimum and maximum.
fn extremes<'a>(mut offsets: impl Iterator<Item = &'a i32>) -> Option<[i64; 2]> {
    let first = *offsets.next()?;
    Some(offsets.fold([first; 2], |[low, high], &at| [low.min(at), high.max(at)]).map(i64::from))
}

/// Returns the length of the longest runs of equal length into which offsets split, each of consecutive numbers; 1 for
/// no offsets.
fn run_length(offsets: &[i32]) -> usize {
    let is_next = |two: &[i32]| two[0].checked_add(1) == Some(two[1]);
    let first = offsets.windows(2).take_while(|two| is_next(two)).count() + 1;
    let splits = |run: &usize| {
        offsets.len().is_multiple_of(*run) && offsets.chunks(*run).all(|some| some.windows(2).all(is_next))
    };
    (1..=first).rev().find(splits).unwrap_or(1)
}

impl Encoding {
    /// Encodes offsets.
    pub fn encode(self, relative: &[i32]) -> Cow<'_, [i32]> {
        match self {
            Encoding::Absolute => relative.into(),
            Encoding::Running => deltas(relative).into(),
        }
    }

    /// Decodes offsets.
    pub fn decode(self, relative: Cow<'_, [i32]>) -> Cow<'_, [i32]> {
        match self {
            Encoding::Absolute => relative,
            Encoding::Running => prefix_sums(&relative).into(),
        }
    }
}

/// Returns the delta encoding of offsets: each one minus its predecessor.
pub fn deltas(relative: &[i32]) -> Vec<i32> {
    let before = std::iter::once(&0).chain(relative);
    relative.iter().zip(before).map(|(&r, &b)| r.wrapping_sub(b)).collect()
}

/// Returns the prefix sums of a list: decodes [`deltas`].
pub fn prefix_sums(running: &[i32]) -> Vec<i32> {
    let add = |sum: &mut i32, &d: &i32| {
        *sum = sum.wrapping_add(d);
        Some(*sum)
    };
    running.iter().scan(0, add).collect()
}
