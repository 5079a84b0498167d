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

use super::addresses::Addresses;
#[cfg(target_arch = "x86_64")]
use super::amx::Configured;
use super::tile_rows::{ROW_BYTES, TILE_ROWS, TileProduct, TileRows};
use super::{ColumnSlice, MAX_ROWS};
use crate::workers::{DisjointWriter, Workers};
pub use kernels::Bf16Isa;
use kernels::{Block, MAX_WIDTH};
pub use panels::Bf16Panels;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The tiles of the thread's block of rows.
    static COLLECTED: Cell<TileRows> = Cell::default();
}

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
    ) -> Result<(), String> {
        let slices = columns.divided(all, |product| product.b.columns());
        slices.iter().try_for_each(|(product, columns)| product.check(c.len(), *columns))?;
        let c = DisjointWriter::new(c);
        for (product, columns) in slices {
            product.share(workers, c, columns);
        }
        Ok(())
    }

    /// Checks that all memory accesses are in bounds.
    fn check(&self, elements: usize, columns: ColumnSlice) -> Result<(), String> {
        columns.check([self.addresses.rows(), self.b.columns()], elements, self.add.map(<[u16]>::len))?;
        self.addresses.check(self.b.summands(), self.b.run(), self.a.len())
    }

    /// Divides the result among threads: blocks of rows, and with few of them the panels of each block.
    fn share(&self, workers: &Workers, c: DisjointWriter<u16>, columns: ColumnSlice) {
        let (rows, panels) = (self.addresses.rows(), self.b.count());
        let steps = rows.saturating_mul(panels * self.b.width() / 16).saturating_mul(self.b.summands() / 8);
        let threads = workers.for_steps(steps);
        let blocks = rows.div_ceil(MAX_ROWS).max(1);
        let blocks = if threads > 1 { blocks.next_multiple_of(threads) } else { blocks };
        let per_block = rows.div_ceil(blocks).next_multiple_of(BLOCK_ROWS).max(1);
        let blocks = rows.div_ceil(per_block);
        let parts = if threads > 1 { (2 * threads).div_ceil(blocks.max(1)).min(panels).max(1) } else { 1 };
        workers.share(threads, 0..blocks * parts, |i| {
            let first = (i / parts * per_block).min(rows);
            let some = [i % parts, i % parts + 1].map(|part| part * panels / parts);
            self.block(first..(first + per_block).min(rows), some[0]..some[1], c, columns);
        });
    }

    /// Computes some rows of some panels.
    fn block(&self, rows: Range<usize>, panels: Range<usize>, c: DisjointWriter<u16>, to: ColumnSlice) {
        let padding = vec![0; if self.addresses.has_holes() { 2 * self.addresses.run() } else { 0 }];
        let mut collected = COLLECTED.take();
        collected.pack(bytemuck::cast_slice(self.a), self.addresses, 2, rows.clone(), &padding);
        // SAFETY: panels with this extension exist only where the machine has it.
        #[cfg(target_arch = "x86_64")]
        let _configured = (self.b.isa() == Bf16Isa::Amx).then(|| unsafe { Configured::new() });
        for panel in panels {
            for first in rows.clone().step_by(BLOCK_ROWS) {
                let tile = first..(first + BLOCK_ROWS).min(rows.end);
                self.tile(&collected, (first - rows.start) / TILE_ROWS, tile, panel, (c, to));
            }
        }
        COLLECTED.set(collected);
    }

    /// Computes the rows of one or two strips of a panel.
    fn tile(
        &self,
        collected: &TileRows,
        strip: usize,
        rows: Range<usize>,
        panel: usize,
        (c, ColumnSlice { first, of }): (DisjointWriter<u16>, ColumnSlice),
    ) {
        let (isa, width) = (self.b.isa(), self.b.width());
        let columns = panel * width..(panel * width + width).min(self.b.columns());
        let mut sums = Sums([0.0; BLOCK_ROWS * MAX_WIDTH]);
        let at = rows.start * of + first + columns.start;
        let strips = collected.strips(strip, rows.len());
        let tiles = TileProduct {
            strips,
            b: self.b.panel(panel).as_ptr(),
            steps: collected.steps(),
            bias: self.b.bias()[columns.start..][..width].as_ptr().cast(),
            sums: sums.0.as_mut_ptr().cast(),
        };
        let block = Block {
            rows: rows.len(),
            columns: columns.len(),
            width,
            add: self.add.map(|add| add[at..].as_ptr()),
            to: c.at(at),
            stride: of,
            range: self.range,
        };
        // SAFETY: `collected` has the tiles of these rows, whose addresses `check` found inside `a`, and the panel has rows for as
        // many. `sums` has an element for each of the tile's. `check` found `rows` rows of `of` elements in the result and in the
        // residual, and this thread has exclusive access to these rows and columns. Panels exist only for extensions that
        // the machine has; the tile registers are configured if kernels use them.
        unsafe { isa.compute(&tiles, &block) };
    }
}

/// The accumulators of a tile, aligned for whole vectors.
#[repr(align(64))]
struct Sums([f32; BLOCK_ROWS * MAX_WIDTH]);

const _: () = assert!(ROW_BYTES == 32 * size_of::<u16>());
