//! Products of matrices whose first factor is found by tables of addresses: one kernel for every format.
//!
//! Row m of the result is the sum over runs r and places j in a run of `a[base[m] + relative[r] + j] * b[r * run + j]`, or
//! where addresses are no such sums, of `a[bases[m, r] + j]`: in the innermost loop no address is computed but base plus
//! offset. Source: the seed on static compiled representations;
//! blocks are those of Goto and van de Geijn's "Anatomy of high-performance matrix multiplication", without packing the
//! first factor.
//!
//! | file | what it is |
//! |---|---|
//! | `panels.rs` | the second factor, as the kernels read it |
//! | `kernel.rs` | the innermost loops |
//! | `kernels.rs` | these for each kind of vectors and each size |

#![allow(unsafe_code)]

mod kernel;
mod kernels;
mod panels;
#[cfg(test)]
mod tests;

pub use crate::vector::Isa;
use kernel::{Last, Run, Tile};
pub use panels::Panels;
use std::ops::Range;

/// So many summands at most are read of a panel before its rows are: what they are multiplied with stays in the first cache.
const MAX_SUMMANDS: usize = 128;

/// So many rows of the result are finished before the next.
const MAX_ROWS: usize = 192;

/// Where a product finds its first factor, in elements.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'a> {
    /// An offset for each row of the result, and one for each run from there.
    Sums {
        /// Of each row.
        base: &'a [i32],
        /// Of each run.
        relative: &'a [i32],
    },
    /// An offset for each row and each run; -1 for zeros.
    Each {
        /// A row after the other.
        bases: &'a [i32],
        /// How many runs there are.
        runs: usize,
    },
}

impl Addresses<'_> {
    /// How many rows and runs there are.
    fn sizes(self) -> [usize; 2] {
        match self {
            Addresses::Sums { base, relative } => [base.len(), relative.len()],
            Addresses::Each { bases, runs } => [bases.len().checked_div(runs).unwrap_or(0), runs],
        }
    }

    /// The first address of a run and the last, if there are any.
    fn span(self) -> Option<[i64; 2]> {
        let span = |table: &[i32]| Some([*table.iter().min()?, *table.iter().max()?].map(i64::from));
        match self {
            Addresses::Sums { base, relative } => {
                let ([low, high], [first, last]) = (span(base)?, span(relative)?);
                Some([low + first, high + last])
            }
            Addresses::Each { bases, .. } => {
                // Zeros are elsewhere.
                let there = || bases.iter().copied().filter(|&b| b != -1).map(i64::from);
                Some([there().min()?, there().max()?])
            }
        }
    }

    /// The table, and how far its rows are apart.
    fn table(&self) -> (&[i32], usize) {
        match self {
            Addresses::Sums { base, .. } => (base, 1),
            Addresses::Each { bases, runs } => (bases, *runs),
        }
    }

    /// The runs, each in as many parts.
    fn runs(self, parts: usize, part: usize) -> Vec<Run> {
        let [_, runs] = self.sizes();
        let run = |r: usize| match self {
            Addresses::Sums { relative, .. } => Run { column: 0, offset: relative[r] },
            Addresses::Each { .. } => Run { column: r, offset: 0 },
        };
        let of = |r| (0..parts).map(move |i| Run { offset: run(r).offset + (i * part) as i32, ..run(r) });
        (0..runs).flat_map(of).collect()
    }
}

/// A product.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// The buffer.
    pub a: &'a [f32],
    /// Where in it the first factor is.
    pub addresses: Addresses<'a>,
    /// How many summands a run has, which lie side by side.
    pub run: usize,
    /// The other factor.
    pub b: &'a Panels,
    /// Added to each element of the result; as large as that.
    pub add: Option<&'a [f32]>,
    /// The least and greatest that results can be.
    pub range: (f32, f32),
}

impl Product<'_> {
    /// Computes rows of as many columns as the other factor has.
    ///
    /// # Errors
    /// When sizes do not go together, or an address is not in the buffer.
    pub fn compute(&self, c: &mut [f32]) -> Result<(), String> {
        let rows = self.check(c.len())?;
        let is_part = |&part: &usize| self.run.is_multiple_of(part);
        let run = (1..=MAX_SUMMANDS.min(self.run)).rev().find(is_part).unwrap_or(1);
        let runs = self.addresses.runs(self.run / run, run);
        let per_block = (MAX_SUMMANDS / run).max(1);
        for first in (0..rows).step_by(MAX_ROWS) {
            let none = runs.is_empty().then_some(&[][..]);
            for (i, some) in runs.chunks(per_block).chain(none).enumerate() {
                let summand = i * per_block * run;
                let ends = [i == 0, summand + some.len() * run == self.b.summands()];
                for panel in 0..self.b.count() {
                    let rows = first..(first + MAX_ROWS).min(rows);
                    self.panel(&Work { rows, runs: some, run, summand, panel, ends }, c);
                }
            }
        }
        Ok(())
    }

    /// That all that will be touched is there. Gives the number of rows.
    fn check(&self, elements: usize) -> Result<usize, String> {
        let ([m, runs], n) = (self.addresses.sizes(), self.b.columns());
        if m.checked_mul(n) != Some(elements) || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a product of {m} rows and {n} columns has no {elements} elements"));
        }
        if runs.checked_mul(self.run) != Some(self.b.summands()) {
            return Err(format!("{runs} runs of {} are not {} summands", self.run, self.b.summands()));
        }
        let is_outside = |[first, last]: [i64; 2]| first < 0 || last + self.run as i64 > self.a.len() as i64;
        let overflows = |&offset: &i32| i64::from(offset) + self.run as i64 > i64::from(i32::MAX);
        let far = matches!(self.addresses, Addresses::Sums { relative, .. } if relative.iter().any(overflows));
        if far || self.addresses.span().is_some_and(is_outside) {
            return Err(format!("addresses are not in a buffer of {}", self.a.len()));
        }
        Ok(m)
    }

    /// Some rows of a panel, into those of the result.
    fn panel(&self, work: &Work<'_>, c: &mut [f32]) {
        let (isa, width, columns) = (self.b.isa(), self.b.width(), self.b.columns());
        let (first, tile_rows) = (work.panel * width, self.b.tile_rows());
        let here = width.min(columns - first);
        let bias = self.b.bias().map(|bias| bias[first..][..width].as_ptr());
        let b = self.b.panel(work.panel)[work.summand * width..].as_ptr();
        let mut copy = Copy { c: [0.0; MAX_TILE], add: [0.0; MAX_TILE], here, width, columns };
        let (table, table_stride) = self.addresses.table();
        let holes = matches!(self.addresses, Addresses::Each { .. });
        for row in work.rows.clone().step_by(tile_rows) {
            let (rows, at) = (tile_rows.min(work.rows.end - row), row * columns + first);
            let mut add = self.add.map(|add| add[at..].as_ptr());
            let mut result = c[at..].as_mut_ptr();
            // What is cut off is computed elsewhere.
            if here < width {
                copy.fetch(rows, (!work.ends[0]).then_some(&c[at..]), self.add.map(|add| &add[at..]));
                (add, result) = (add.map(|_| copy.add.as_ptr()), copy.c.as_mut_ptr());
            }
            let tile = Tile {
                a: self.a.as_ptr(),
                table: table[row * table_stride..].as_ptr(),
                table_stride,
                runs: work.runs,
                run: work.run,
                b,
                c: result,
                stride: if here < width { width } else { columns },
                first: work.ends[0],
                last: work.ends[1].then_some(Last { bias, add, low: self.range.0, high: self.range.1 }),
            };
            // SAFETY: `check` found all that the table and the runs say in `a`; the panel has `width` numbers for each of the summands from
            // `summand` on; `c` and `add` have `columns` numbers for each row, of which `width` from `at` on are there, or
            // are copies with room for a whole tile; `bias` has `width` from the panel's first column on. `Panels` are only
            // made for vectors that the machine has.
            unsafe { isa.kernel(rows, width, holes)(&tile) };
            if here < width {
                copy.bring(rows, &mut c[at..]);
            }
        }
    }
}

/// The elements of the largest tile.
const MAX_TILE: usize = 12 * 32;

/// A tile elsewhere, with room for all columns of a panel, of which the result only has some.
struct Copy {
    c: [f32; MAX_TILE],
    add: [f32; MAX_TILE],
    here: usize,
    width: usize,
    columns: usize,
}

impl Copy {
    fn fetch(&mut self, rows: usize, c: Option<&[f32]>, add: Option<&[f32]>) {
        for (to, from) in [(&mut self.c, c), (&mut self.add, add)] {
            let Some(from) = from else { continue };
            for r in 0..rows {
                to[r * self.width..][..self.here].copy_from_slice(&from[r * self.columns..][..self.here]);
            }
        }
    }

    fn bring(&self, rows: usize, c: &mut [f32]) {
        for r in 0..rows {
            c[r * self.columns..][..self.here].copy_from_slice(&self.c[r * self.width..][..self.here]);
        }
    }
}

/// Some rows of a panel over some of the summands.
struct Work<'a> {
    rows: Range<usize>,
    runs: &'a [Run],
    run: usize,
    /// The number of the first summand.
    summand: usize,
    panel: usize,
    /// Whether these are the first summands, and the last.
    ends: [bool; 2],
}
