//! Products of matrices of bytes whose first factor is found by tables of addresses. Sums are exact in 32 bits, and wrap.
//!
//! The first factor has a zero point, which padding is; it is not subtracted but, times the sums of columns, from the sums. If
//! its bytes have a sign they are made 128 more when they are read, and so is the zero point.
//!
//! | file | what it is |
//! |---|---|
//! | `panels.rs` | the second factor, as the kernels read it |
//! | `dots.rs` | the vectors |
//! | `kernel.rs` | the innermost loops |
//! | `kernels.rs` | these for each kind of vectors and each size |
//! | `finish.rs` | from sums to results |
//! | `scales.rs` | from sums to bytes |

mod dots;
mod finish;
mod kernel;
mod kernels;
mod panels;
mod scales;
#[cfg(test)]
mod tests;

use super::addresses::{Addresses, HOLE, Parts};
use super::kernel::Run;
use crate::workers::Workers;
use finish::Finish;
pub use finish::Finished;
use kernel::{Tile, steps};
pub use kernels::ByteIsa;
pub use panels::BytePanels;
pub use scales::Scales;
use std::ops::Range;

/// How many columns a panel has at most.
const MAX_WIDTH: usize = 64;

/// So many rows of the result are finished by one thread before others.
const MAX_ROWS: usize = 192;

/// How far bytes are apart at most.
const MAX_SPREAD: i32 = 255;

/// A product of bytes.
#[derive(Clone, Copy)]
pub struct ByteProduct<'a> {
    /// The buffer.
    pub a: &'a [u8],
    /// Whether its bytes have a sign.
    pub signed: bool,
    /// What is subtracted from them, as one of them.
    pub zero: u8,
    /// Where in it the first factor is; in [`Parts::BYTES`].
    pub addresses: &'a Addresses,
    /// The other factor.
    pub b: &'a BytePanels,
    /// Added to each element of the result; as large as that.
    pub add: Option<&'a [i32]>,
}

impl ByteProduct<'_> {
    /// Computes rows of as many columns as the other factor has.
    ///
    /// # Errors
    /// When sizes do not go together, or an address is not in the buffer.
    pub fn compute(&self, workers: &Workers, to: Finished<'_>) -> Result<(), String> {
        self.check(&to)?;
        // A byte with a sign and 128 more is the byte with its first bit changed.
        let zero = i32::from(if self.signed { self.zero ^ 0x80 } else { self.zero });
        let ones = self.b.missing().map(|_| self.ones()).transpose()?;
        let shared = Shared { bias: self.b.bias(zero), page: vec![self.zero; self.addresses.run()], ones };
        let steps = self.addresses.rows().saturating_mul(self.b.count()).saturating_mul(self.b.summands());
        let blocks = to.blocks(MAX_ROWS * self.b.columns().max(1)).enumerate();
        workers.share(workers.for_steps(steps / 4), blocks, |(i, to)| self.block(i * MAX_ROWS, &shared, to));
        Ok(())
    }

    /// All panels of a block of rows from one on.
    fn block(&self, first: usize, shared: &Shared, mut to: Finished<'_>) {
        let (width, stride) = (self.b.width(), self.b.columns());
        let rows = first..(first + MAX_ROWS).min(self.addresses.rows());
        // Sums that are finished at once need not wait for others.
        let waiting = if self.parts().1 == 1 { self.b.tile_rows() } else { rows.len() };
        let (mut sums, mut totals) = (vec![0; waiting * MAX_WIDTH], vec![0; rows.len()]);
        if let Some(ones) = &shared.ones {
            self.panel(&Work { b: ones, rows: rows.clone(), panel: 0, page: &shared.page }, &mut sums, |rows, sums| {
                let each = sums.chunks_exact(ones.width()).map(|row| row[0]);
                totals[rows.start - first..rows.end - first].iter_mut().zip(each).for_each(|(to, x)| *to = x);
            });
        }
        for panel in 0..self.b.count() {
            let columns = panel * width..(panel * width + width).min(stride);
            let work = Work { b: self.b, rows: rows.clone(), panel, page: &shared.page };
            self.panel(&work, &mut sums, |rows, sums| {
                let rest = self.b.missing().map(|missing| (&totals[rows.start - first..], missing));
                let add = self.add.map(|add| &add[first * stride..]);
                let rows = rows.start - first..rows.end - first;
                let done =
                    Finish { sums, width, rows, columns: columns.clone(), stride, bias: &shared.bias, rest, add };
                self.b.isa().finish(done, &mut to);
            });
        }
    }

    /// How many runs of summands are added before others are, and how often that is done.
    fn parts(&self) -> (usize, usize) {
        let runs = (Parts::BYTES.most / self.addresses.run()).max(1);
        (runs, self.addresses.runs().len().div_ceil(runs).max(1))
    }

    /// That all that will be touched is there.
    fn check(&self, to: &Finished<'_>) -> Result<(), String> {
        let (m, n) = (self.addresses.rows(), self.b.columns());
        let (elements, scales) = match to {
            Finished::Sums(c) => (c.len(), n),
            Finished::Quantized(c, scales) => (c.len(), scales.len()),
        };
        if m.checked_mul(n) != Some(elements) || scales != n || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a product of {m} rows and {n} columns has no {elements} elements"));
        }
        if self.addresses.summands() != self.b.summands() || self.addresses.run() != self.b.run() {
            return Err(format!("{} summands are not {}", self.addresses.summands(), self.b.summands()));
        }
        if !self.addresses.are_in(self.a.len()) {
            return Err(format!("an address is not in a buffer of {} elements", self.a.len()));
        }
        Ok(())
    }

    /// A column of ones.
    fn ones(&self) -> Result<BytePanels, String> {
        BytePanels::new(self.b.isa(), [1, self.b.summands()], self.b.run(), |_, _| 1, None)
    }

    /// The sums of some rows of a panel, tile by tile.
    fn panel(&self, work: &Work<'_>, sums: &mut [i32], mut done: impl FnMut(Range<usize>, &mut [i32])) {
        let (b, run) = (work.b, self.addresses.run());
        let (isa, width, tile_rows) = (b.isa(), b.width(), b.tile_rows());
        let (table, table_stride) = self.addresses.table();
        let hole = self.addresses.has_holes().then_some(HOLE);
        let (per_block, count) = self.parts();
        for block in 0..count {
            let all = self.addresses.runs();
            let runs: &[Run] = &all[block * per_block..all.len().min((block + 1) * per_block)];
            let panel = b.panel(work.panel, block * per_block * steps(run)).as_ptr();
            for row in work.rows.clone().step_by(tile_rows) {
                let rows = row..(row + tile_rows).min(work.rows.end);
                let at = if count == 1 { 0 } else { (row - work.rows.start) * width };
                let sums = &mut sums[at..][..rows.len() * width];
                let tile = Tile {
                    a: self.a.as_ptr(),
                    table: table[row * table_stride..].as_ptr(),
                    table_stride,
                    hole,
                    zeros: work.page.as_ptr(),
                    runs,
                    run,
                    b: panel,
                    sums: sums.as_mut_ptr(),
                    first: block == 0,
                };
                // SAFETY: `check` found all that the table and the runs say in `a`; `page` is a run. The panel has four bytes for each
                // of its columns and the steps of each run from the first of these on. `sums` has a number for each element of the
                // tile. Panels are only made for vectors that the machine has.
                unsafe { isa.kernel(rows.len(), width, self.signed)(&tile) };
                if block + 1 == count {
                    done(rows, sums);
                }
            }
        }
    }
}

/// What all blocks of rows read.
struct Shared {
    /// Added to each column.
    bias: Vec<i32>,
    /// A run of what is subtracted from each byte.
    page: Vec<u8>,
    /// A column of ones, where the sums of rows are needed.
    ones: Option<BytePanels>,
}

/// Some rows of a panel.
struct Work<'a> {
    b: &'a BytePanels,
    rows: Range<usize>,
    panel: usize,
    /// A run of what is subtracted from each byte.
    page: &'a [u8],
}
