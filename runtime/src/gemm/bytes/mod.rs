//! Table-driven GEMM on 8-bit integers, accumulated in 32 bits with wrap-around.
//!
//! A has a zero point z, also the value of padding. It is not subtracted from the elements: `Σ_k (a - z) · b = Σ_k a ·
//! b - z · Σ_k b`, so z times the column sums of B is subtracted from the result. Signed bytes of A are offset by 128
//! when they are loaded, and so is z.
//!
//! | file | contents |
//! |---|---|
//! | `panels.rs` | packed panels of B |
//! | `dots.rs` | vectors of accumulators |
//! | `kernel.rs` | the micro-kernel |
//! | `kernels.rs` | its instances per vector extension and tile size |
//! | `finish.rs` | the epilogue |
//! | `scales.rs` | requantization |

mod dots;
mod finish;
mod kernel;
mod kernels;
mod panels;
mod scales;
#[cfg(test)]
mod tests;

use super::addresses::{Addresses, RunSplit};
use super::kernel::Run;
use crate::workers::Workers;
use finish::Finish;
pub use finish::IntegerOutput;
use gradus_dialects::layout::ZERO_PAGE;
use kernel::{Tile, steps};
pub use kernels::ByteIsa;
pub use panels::BytePanels;
pub use scales::Scales;
use std::ops::Range;

/// Maximum number of columns per panel.
const MAX_WIDTH: usize = 64;

/// Number of rows per block (`mc`).
const MAX_ROWS: usize = 192;

/// Maximum difference of two elements of B, as of two bytes.
const MAX_SPREAD: i32 = 255;

/// An 8-bit matrix product.
#[derive(Clone, Copy)]
pub struct ByteProduct<'a> {
    /// The buffer of A.
    pub a: &'a [u8],
    /// Whether the elements of A are signed.
    pub signed: bool,
    /// The zero point of A, as a byte.
    pub zero: u8,
    /// The addresses of A, split by [`RunSplit::BYTES`].
    pub addresses: &'a Addresses,
    /// The packed right operand B.
    pub b: &'a BytePanels,
    /// Residual, added to the result elementwise; same shape as the result.
    pub add: Option<&'a [i32]>,
}

impl ByteProduct<'_> {
    /// Computes the result with contiguous rows.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the buffer.
    pub fn compute(&self, workers: &Workers, to: IntegerOutput<'_>) -> Result<(), String> {
        self.check(&to)?;
        // An offset of 128 flips the sign bit.
        let zero = i32::from(if self.signed { self.zero ^ 0x80 } else { self.zero });
        let ones = self.b.missing().map(|_| self.ones()).transpose()?;
        let shared = Shared { bias: self.b.bias(zero), page: vec![self.zero; self.addresses.run()], ones };
        let steps = self.addresses.rows().saturating_mul(self.b.count()).saturating_mul(self.b.summands());
        let blocks = to.blocks(MAX_ROWS * self.b.columns().max(1)).enumerate();
        workers.share(workers.for_steps(steps / 4), blocks, |(i, to)| self.block(i * MAX_ROWS, &shared, to));
        Ok(())
    }

    /// Computes all panels of the block of rows from `first` on.
    fn block(&self, first: usize, shared: &Shared, mut to: IntegerOutput<'_>) {
        let (width, stride) = (self.b.width(), self.b.columns());
        let rows = first..(first + MAX_ROWS).min(self.addresses.rows());
        // With a single slice of the reduction dimension, each tile is finished at once and needs no further
        // accumulators.
        let waiting = if self.parts().1 == 1 { self.b.tile_rows() } else { rows.len() };
        let (mut sums, mut totals) = (vec![0; waiting * MAX_WIDTH], vec![0; rows.len()]);
        if let Some(ones) = &shared.ones {
            self.panel(
                &PanelRows { b: ones, rows: rows.clone(), panel: 0, page: &shared.page },
                &mut sums,
                |rows, sums| {
                    let each = sums.chunks_exact(ones.width()).map(|row| row[0]);
                    totals[rows.start - first..rows.end - first].iter_mut().zip(each).for_each(|(to, x)| *to = x);
                },
            );
        }
        for panel in 0..self.b.count() {
            let columns = panel * width..(panel * width + width).min(stride);
            let work = PanelRows { b: self.b, rows: rows.clone(), panel, page: &shared.page };
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

    /// Returns the number of runs per slice of the reduction dimension, and number of slices.
    fn parts(&self) -> (usize, usize) {
        let runs = (RunSplit::BYTES.most / self.addresses.run()).max(1);
        (runs, self.addresses.runs().len().div_ceil(runs).max(1))
    }

    /// Checks that all memory accesses are in bounds.
    fn check(&self, to: &IntegerOutput<'_>) -> Result<(), String> {
        let (m, n) = (self.addresses.rows(), self.b.columns());
        let (elements, scales) = match to {
            IntegerOutput::Sums(c) => (c.len(), n),
            IntegerOutput::Quantized(c, scales) => (c.len(), scales.len()),
        };
        if m.checked_mul(n) != Some(elements) || scales != n || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a result of {m} rows and {n} columns does not have {elements} elements"));
        }
        if self.addresses.summands() != self.b.summands() || self.addresses.run() != self.b.run() {
            return Err(format!(
                "the addresses have {} summands, the right operand has {}",
                self.addresses.summands(),
                self.b.summands()
            ));
        }
        if !self.addresses.are_in(self.a.len()) {
            return Err(format!("an address is outside a buffer of {} elements", self.a.len()));
        }
        Ok(())
    }

    /// Returns a column of ones, which gives the row sums of A.
    fn ones(&self) -> Result<BytePanels, String> {
        BytePanels::new(self.b.isa(), [1, self.b.summands()], self.b.run(), |_, _| 1, None)
    }

    /// Accumulates some rows of a panel, tile by tile.
    fn panel(&self, work: &PanelRows<'_>, sums: &mut [i32], mut done: impl FnMut(Range<usize>, &mut [i32])) {
        let (b, run) = (work.b, self.addresses.run());
        let (isa, width, tile_rows) = (b.isa(), b.width(), b.tile_rows());
        let (table, table_stride) = self.addresses.table();
        let hole = self.addresses.has_holes().then_some(ZERO_PAGE);
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
                // SAFETY: `check` found all offsets of table and runs inside `a`; `page` is one run. The panel has four
                // bytes per column and step of each run from the first of these on. `sums` has one accumulator per
                // element of the tile. Panels exist only for vectors that the machine has.
                unsafe { isa.kernel(rows.len(), width, self.signed)(&tile) };
                if block + 1 == count {
                    done(rows, sums);
                }
            }
        }
    }
}

/// Data shared by all blocks of rows.
struct Shared {
    /// Bias per column, including the zero-point correction.
    bias: Vec<i32>,
    /// A padding run: the zero point of A.
    page: Vec<u8>,
    /// A column of ones, if row sums are needed.
    ones: Option<BytePanels>,
}

/// Some rows of a panel.
struct PanelRows<'a> {
    b: &'a BytePanels,
    rows: Range<usize>,
    panel: usize,
    /// A padding run: the zero point of A.
    page: &'a [u8],
}
