//! Products of matrices whose first factor is found by tables of addresses: one kernel for every format.
//!
//! Row m of the result is the sum over runs r and places j in a run of `a[base[m] + relative[r] + j] * b[r * run + j]`: in
//! the innermost loop no address is computed but base plus offset. Source: the seed on static compiled representations;
//! blocks are those of Goto and van de Geijn's "Anatomy of high-performance matrix multiplication", without packing the
//! first factor.
//!
//! | file | what it is |
//! |---|---|
//! | `panels.rs` | the second factor, as the kernels read it |
//! | `kernel.rs` | the innermost loops |
//! | `vector.rs` | vectors of each kind of machine |

#![allow(unsafe_code)]

mod kernel;
mod panels;
#[cfg(test)]
mod tests;
mod vector;

use kernel::{Last, Tile};
pub use panels::Panels;
pub use vector::Isa;

/// So many summands at most are read of a panel before its rows are: what they are multiplied with stays in the first cache.
const MAX_SUMMANDS: usize = 128;

/// So many rows of the result are finished before the next.
const MAX_ROWS: usize = 192;

/// A product.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// The buffer.
    pub a: &'a [f32],
    /// An offset in elements for each row of the result.
    pub base: &'a [i32],
    /// Where each run of summands begins, from there.
    pub relative: &'a [i32],
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
        self.check(c.len())?;
        let (runs, run) = self.short_runs();
        let per_block = (MAX_SUMMANDS / run).max(1);
        let columns = self.b.columns();
        for (block, rows) in self.base.chunks(MAX_ROWS).enumerate() {
            let row = block * MAX_ROWS;
            let none = runs.is_empty().then_some(&[][..]);
            for (i, some) in runs.chunks(per_block).chain(none).enumerate() {
                let summand = i * per_block * run;
                let ends = [i == 0, summand + some.len() * run == self.b.summands()];
                for panel in 0..self.b.count() {
                    let work = Work { rows, row, runs: some, run, summand, panel, ends };
                    self.panel(&work, &mut c[row * columns..(row + rows.len()) * columns]);
                }
            }
        }
        Ok(())
    }

    /// That all that will be touched is there.
    fn check(&self, elements: usize) -> Result<(), String> {
        let (m, n) = (self.base.len(), self.b.columns());
        if m.checked_mul(n) != Some(elements) || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a product of {m} rows and {n} columns has no {elements} elements"));
        }
        if self.relative.len().checked_mul(self.run) != Some(self.b.summands()) {
            return Err(format!("{} runs of {} are not {} summands", self.relative.len(), self.run, self.b.summands()));
        }
        let span = |table: &[i32]| Some([*table.iter().min()?, *table.iter().max()?].map(i64::from));
        let (Some([low, high]), Some([first, last])) = (span(self.base), span(self.relative)) else { return Ok(()) };
        if low + first < 0 || high + last + self.run as i64 > self.a.len() as i64 {
            return Err(format!("addresses are not in a buffer of {}", self.a.len()));
        }
        Ok(())
    }

    /// Runs that are not longer than a block, if they can be divided.
    fn short_runs(&self) -> (Vec<i32>, usize) {
        let is_part = |&part: &usize| self.run.is_multiple_of(part);
        let run = (1..=MAX_SUMMANDS.min(self.run)).rev().find(is_part).unwrap_or(1);
        let parts = |&r: &i32| (0..self.run / run).map(move |i| r + (i * run) as i32);
        (self.relative.iter().flat_map(parts).collect(), run)
    }

    /// Some rows of a panel, into rows of the result.
    fn panel(&self, work: &Work<'_>, c: &mut [f32]) {
        let (isa, width, columns) = (self.b.isa(), self.b.width(), self.b.columns());
        let (first, tile_rows) = (work.panel * width, self.b.tile_rows());
        let here = width.min(columns - first);
        let bias = self.b.bias().map(|bias| bias[first..][..width].as_ptr());
        let b = self.b.panel(work.panel)[work.summand * width..].as_ptr();
        let mut copy = Copy { c: [0.0; MAX_TILE], add: [0.0; MAX_TILE], here, width, columns };
        for (i, rows) in work.rows.chunks(tile_rows).enumerate() {
            let at = i * tile_rows * columns + first;
            let mut add = self.add.map(|add| add[work.row * columns + at..].as_ptr());
            let mut result = c[at..].as_mut_ptr();
            // What is cut off is computed elsewhere.
            if here < width {
                let add_from = self.add.map(|add| &add[work.row * columns + at..]);
                copy.fetch(rows.len(), (!work.ends[0]).then_some(&c[at..]), add_from);
                (add, result) = (add.map(|_| copy.add.as_ptr()), copy.c.as_mut_ptr());
            }
            let tile = Tile {
                a: self.a.as_ptr(),
                rows,
                runs: work.runs,
                run: work.run,
                b,
                c: result,
                stride: if here < width { width } else { columns },
                first: work.ends[0],
                last: work.ends[1].then_some(Last { bias, add, low: self.range.0, high: self.range.1 }),
            };
            // SAFETY: `check` found all rows plus runs in `a`; the panel has `width` numbers for each of the summands from
            // `summand` on; `c` and `add` have `columns` numbers for each row, of which `width` from `at` on are there, or
            // are copies with room for a whole tile; `bias` has `width` from the panel's first column on. `Panels` are only
            // made for vectors that the machine has.
            unsafe { isa.kernel(rows.len(), width)(&tile) };
            if here < width {
                copy.bring(rows.len(), &mut c[at..]);
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
    rows: &'a [i32],
    /// The number of the first.
    row: usize,
    runs: &'a [i32],
    run: usize,
    /// The number of the first summand.
    summand: usize,
    panel: usize,
    /// Whether these are the first summands, and the last.
    ends: [bool; 2],
}
