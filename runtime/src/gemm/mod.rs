//! Products of matrices whose first factor is found by tables of addresses: one kernel for every format.
//!
//! Row m of the result is the sum over runs r and places j in a run of `a[base[m] + relative[r] + j] * b[r * run + j]`, or
//! where addresses are no such sums, of `a[bases[m, r] + j]`: in the innermost loop no address is computed but base plus
//! offset. Source: the seed on static compiled representations; blocks are those of Goto and van de Geijn's "Anatomy of high-performance matrix multiplication", without packing the
//! first factor.
//!
//! | file | what it is |
//! |---|---|
//! | `addresses.rs` | where the first factor is |
//! | `panels.rs` | the second factor, as the kernels read it |
//! | `kernel.rs` | the innermost loops |
//! | `kernels.rs` | these for each kind of vectors and each size |
//! | `bytes/` | the same of 8-bit integers |

#![allow(unsafe_code)]

mod addresses;
pub mod bytes;
mod kernel;
mod kernels;
mod panels;
#[cfg(test)]
mod tests;

pub use crate::vector::Isa;
pub use addresses::{Addresses, Parts};
use kernel::{Last, Run, Tile};
pub use panels::Panels;
use std::ops::Range;

/// So many summands, about, are read of a panel before its rows are: what they are multiplied with stays in the first cache.
/// A run has no more.
const MAX_SUMMANDS: usize = 128;

/// So many rows of the result are finished before the next, about: all blocks have as many, so that none reads the second
/// factor for few.
const MAX_ROWS: usize = 192;

/// A product.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// The buffer.
    pub a: &'a [f32],
    /// Where in it the first factor is.
    pub addresses: &'a Addresses,
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
        let (rows, run) = (self.addresses.rows(), self.addresses.run());
        let parts = ((self.addresses.summands() + MAX_SUMMANDS / 2) / MAX_SUMMANDS).max(1);
        let per_block = self.addresses.runs().len().div_ceil(parts).max(1);
        let blocks = rows.div_ceil(MAX_ROWS).max(1);
        let most = rows.div_ceil(blocks).next_multiple_of(self.b.tile_rows()).max(1);
        for first in (0..rows).step_by(most) {
            let none = self.addresses.runs().is_empty().then_some(&[][..]);
            for (i, some) in self.addresses.runs().chunks(per_block).chain(none).enumerate() {
                let summand = i * per_block * run;
                let ends = [i == 0, summand + some.len() * run == self.b.summands()];
                for panel in 0..self.b.count() {
                    let rows = first..(first + most).min(rows);
                    self.panel(&Work { rows, runs: some, run, summand, panel, ends }, c);
                }
            }
        }
        Ok(())
    }

    /// That all that will be touched is there.
    fn check(&self, elements: usize) -> Result<(), String> {
        let (m, n) = (self.addresses.rows(), self.b.columns());
        if m.checked_mul(n) != Some(elements) || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a product of {m} rows and {n} columns has no {elements} elements"));
        }
        if self.addresses.summands() != self.b.summands() {
            return Err(format!("{} summands are not {}", self.addresses.summands(), self.b.summands()));
        }
        if !self.addresses.are_in(self.a.len()) {
            return Err(format!("addresses are not in a buffer of {}", self.a.len()));
        }
        Ok(())
    }

    /// Some rows of a panel, into those of the result.
    fn panel(&self, work: &Work<'_>, c: &mut [f32]) {
        let (isa, width, columns) = (self.b.isa(), self.b.width(), self.b.columns());
        let (first, tile_rows) = (work.panel * width, self.b.tile_rows());
        let here = width.min(columns - first);
        let bias = self.b.bias().map(|bias| bias[first..][..width].as_ptr());
        let b = &self.b.panel(work.panel)[work.summand * width..];
        let mut copy = Copy { c: [0.0; MAX_TILE], add: [0.0; MAX_TILE], here, width, columns };
        let (table, table_stride) = self.addresses.table();
        let holes = self.addresses.has_holes();
        let skips = holes && self.b.is_finite();
        for row in work.rows.clone().step_by(tile_rows) {
            let (rows, at) = (tile_rows.min(work.rows.end - row), row * columns + first);
            let mut add = self.add.map(|add| add[at..].as_ptr());
            let mut result = c[at..].as_mut_ptr();
            // What is cut off is computed elsewhere.
            if here < width {
                copy.fetch(rows, (!work.ends[0]).then_some(&c[at..]), self.add.map(|add| &add[at..]));
                (add, result) = (add.map(|_| copy.add.as_ptr()), copy.c.as_mut_ptr());
            }
            let (skipped, runs) = match skips {
                true => self.addresses.there(row..row + rows, work.runs),
                false => (0, work.runs),
            };
            let tile = Tile {
                a: self.a.as_ptr(),
                table: table[row * table_stride..].as_ptr(),
                table_stride,
                runs,
                run: work.run,
                b: b[skipped * work.run * width..].as_ptr(),
                c: result,
                stride: if here < width { width } else { columns },
                first: work.ends[0],
                last: work.ends[1].then_some(Last { bias, add, low: self.range.0, high: self.range.1 }),
            };
            // SAFETY: `check` found all that the table and the runs say in `a`; the panel has `width` numbers for each of the
            // summands from `summand` on; `c` and `add` have `columns` numbers for each row, of which `width` from `at` on are there, or
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
