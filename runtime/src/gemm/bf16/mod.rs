//! Table-driven GEMM on bf16, accumulated in f32; elements of the result are rounded to bf16 once.
//!
//! The extensions add products in different orders, and those that multiply bf16 treat subnormal numbers as zero. A sum of K
//! products differs from the exact one by at most K · 2^-22 of the sum of their magnitudes, and by 2^-120.
//!
//! | file | contents |
//! |---|---|
//! | `panels.rs` | packed panels of B |
//! | `kernels.rs` | the micro-kernels per vector extension |

mod kernels;
mod panels;
#[cfg(test)]
mod tests;

use super::ColumnSlice;
use super::addresses::Addresses;
#[cfg(target_arch = "x86_64")]
use super::amx::Configured;
use super::division::SharedExtents;
use super::tile_rows::{ROW_BYTES, TILE_ROWS, TileProduct, TileRows};
use crate::KernelError;
use crate::aligned_bytes::AlignedBytes;
use crate::workers::{DisjointWriter, Workers};
pub use kernels::Bf16Isa;
use kernels::{MAX_WIDTH, TileDestination};
pub use panels::Bf16Panels;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The tiles of the thread's block of rows, and the accumulators of its rows of a panel.
    static COLLECTED: Cell<(TileRows, AlignedBytes)> = Cell::default();
}

/// Maximum number of tiles along the summands of a slice: a panel's part of 16 KiB, which stays in the first cache while the tiles
/// of all rows are multiplied with it.
const SLICE: usize = 8;

/// Number of rows per register tile, `mr`.
const BLOCK_ROWS: usize = 2 * TILE_ROWS;

/// A bf16 matrix product. Elements are given by their bits.
#[derive(Clone, Copy)]
pub struct Bf16Product<'a> {
    /// The buffer of A.
    pub a: &'a [u16],
    /// The addresses of A, split by [`RunSplit::BYTES`](super::RunSplit::BYTES).
    pub addresses: &'a Addresses,
    /// The packed right operand B.
    pub b: &'a Bf16Panels,
    /// Residual, added to the result elementwise; same rows as the destination, of which the same columns are added.
    pub add: Option<&'a [u16]>,
    /// Bounds of the clamp.
    pub range: (f32, f32),
}

impl Bf16Product<'_> {
    /// Computes several results of equally many rows, side by side into a slice of wider rows, whose other columns stay unchanged.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the buffer.
    pub fn compute_all(
        all: &[Bf16Product<'_>],
        workers: &Workers,
        c: &mut [u16],
        columns: ColumnSlice,
    ) -> Result<(), KernelError> {
        let slices = columns.divided(all, |product| product.b.columns());
        slices.iter().try_for_each(|(product, columns)| product.check(c.len(), *columns))?;
        let c = DisjointWriter::new(c);
        for (product, columns) in slices {
            product.share(workers, c, columns);
        }
        Ok(())
    }

    /// Checks that all memory accesses are in bounds.
    fn check(&self, elements: usize, columns: ColumnSlice) -> Result<(), KernelError> {
        columns.check([self.addresses.rows(), self.b.columns()], elements, self.add.map(<[u16]>::len))?;
        self.addresses.check(self.b.summands(), self.b.run(), self.a.len())
    }

    /// Divides the result among threads.
    fn share(&self, workers: &Workers, c: DisjointWriter<u16>, columns: ColumnSlice) {
        let (rows, panels) = (self.addresses.rows(), self.b.count());
        let steps = rows.saturating_mul(panels * self.b.width() / 16).saturating_mul(self.b.summands() / 8);
        let extents = SharedExtents { rows, tile_rows: BLOCK_ROWS, groups: panels, products: 1, steps };
        extents.share(workers, |_, rows, part| self.block(rows, part.range(panels), c, columns));
    }

    /// Computes some rows of some panels, slice by slice of the summands.
    fn block(&self, rows: Range<usize>, panels: Range<usize>, c: DisjointWriter<u16>, to: ColumnSlice) {
        let padding = vec![0; if self.addresses.has_holes() { 2 * self.addresses.run() } else { 0 }];
        let (mut collected, mut sums) = COLLECTED.take();
        collected.pack(bytemuck::cast_slice(self.a), self.addresses, 2, rows.clone(), &padding);
        let bytes = rows.len().next_multiple_of(BLOCK_ROWS) * MAX_WIDTH * size_of::<f32>();
        if sums.as_ref().len() < bytes {
            sums = AlignedBytes::zeros(bytes);
        }
        // SAFETY: panels with this extension exist only where the machine has it.
        #[cfg(target_arch = "x86_64")]
        let _configured = (self.b.isa() == Bf16Isa::Amx).then(|| unsafe { Configured::new() });
        let (steps, slices) = (collected.steps(), collected.steps().div_ceil(SLICE).max(1));
        for panel in panels {
            for slice in 0..slices {
                let part = slice * steps / slices..(slice + 1) * steps / slices;
                for first in rows.clone().step_by(BLOCK_ROWS) {
                    let tile = first..(first + BLOCK_ROWS).min(rows.end);
                    let start = first - rows.start;
                    // Accumulators of a single slice are used at once.
                    let at = if slices > 1 { start * MAX_WIDTH } else { 0 };
                    let sums = &mut bytemuck::cast_slice_mut(sums.as_mut())[at..][..BLOCK_ROWS * MAX_WIDTH];
                    self.multiply((&collected, start / TILE_ROWS), sums, (panel, part.clone()), tile.len());
                    if slice + 1 == slices {
                        self.store(sums, tile, panel, (c, to));
                    }
                }
            }
        }
        COLLECTED.set((collected, sums));
    }

    /// Adds the products of some steps of a panel to the accumulators of one or two strips, from a strip on.
    fn multiply(
        &self,
        (collected, strip): (&TileRows, usize),
        sums: &mut [f32],
        (panel, steps): (usize, Range<usize>),
        rows: usize,
    ) {
        let (isa, width) = (self.b.isa(), self.b.width());
        let (stride, sums) = (width * size_of::<f32>(), sums.as_mut_ptr().cast::<u8>());
        let bias: *const u8 = self.b.bias()[panel * width..][..width].as_ptr().cast();
        let (initial, initial_stride) = if steps.start == 0 { (bias, 0) } else { (sums.cast_const(), stride) };
        let strips = collected.strips(strip, rows).map(|strip| strip.wrapping_add(steps.start));
        let b = self.b.panel(panel)[steps.start * TILE_ROWS * stride..].as_ptr();
        let tiles = TileProduct { strips, b, steps: steps.len(), initial, initial_stride, sums };
        // SAFETY: `collected` has the tiles of these rows, whose addresses `check` found inside `a`, and the panel has rows for as
        // many. `sums` has an element for each of the tile's, and the panel a bias for each column. Panels exist only for
        // extensions that the machine has; the tile registers are configured if kernels use them.
        unsafe { isa.multiply(&tiles, [rows, width]) };
    }

    /// Writes some rows of a panel from their accumulators.
    fn store(
        &self,
        sums: &[f32],
        rows: Range<usize>,
        panel: usize,
        (c, ColumnSlice { first, of }): (DisjointWriter<u16>, ColumnSlice),
    ) {
        let width = self.b.width();
        let columns = panel * width..(panel * width + width).min(self.b.columns());
        let at = rows.start * of + first + columns.start;
        let block = TileDestination {
            rows: rows.len(),
            columns: columns.len(),
            width,
            add: self.add.map(|add| add[at..].as_ptr()),
            to: c.at(at),
            stride: of,
            range: self.range,
        };
        let sums = &sums[..rows.len() * width];
        // SAFETY: there is an accumulator for each of the rows and columns. `check` found `rows` rows of `of` elements in the result
        // and in the residual, and this thread has exclusive access to these rows and columns. Panels exist only for extensions that
        // the machine has.
        unsafe { self.b.isa().store(sums.as_ptr(), &block) };
    }
}

const _: () = assert!(ROW_BYTES == 32 * size_of::<u16>());
