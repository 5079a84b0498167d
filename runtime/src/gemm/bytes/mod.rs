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

use super::addresses::Addresses;
#[cfg(target_arch = "x86_64")]
use super::amx::Configured;
use super::division::SharedExtents;
use super::tile_rows::{TILE_ROWS, TileRows};
use crate::KernelError;
use crate::aligned_bytes::AlignedBytes;
use crate::workers::{DisjointWriter, Workers};
#[cfg(target_arch = "x86_64")]
pub(crate) use dots::x86::{byte_bounds, quantize_quarters};
use finish::Finish;
pub use finish::IntegerOutput;
pub(crate) use finish::SharedOutput;
use gradus_networks::layout::ZERO_PAGE;
use kernel::{ByteTile, Quantize};
pub use kernels::ByteIsa;
pub use panels::BytePanels;
pub use scales::Scales;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The tiles of the thread's block of rows.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// Maximum number of columns per panel.
const MAX_WIDTH: usize = 64;

/// Maximum number of elements of a register tile.
const MAX_TILE: usize = 32 * 32;

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
    pub fn compute(&self, workers: &Workers, to: IntegerOutput<'_>) -> Result<(), KernelError> {
        self.check(&to)?;
        let zero = match (self.signed, self.b.isa().has_tiles()) {
            (false, _) => i32::from(self.zero),
            (true, true) => i32::from(self.zero.cast_signed()),
            // An offset of 128 flips the sign bit.
            (true, false) => i32::from(self.zero ^ 0x80),
        };
        let totals = self.totals(workers)?;
        let common = self.b.common_missing();
        let terms = common.map_or_else(Vec::new, |by| totals.iter().map(|total| by.wrapping_mul(*total)).collect());
        self.share(workers, &RowBlockData { totals, terms, ..RowBlockData::new(self.b.bias(zero), self.page(), to) });
        Ok(())
    }

    /// Returns the row sums of A, if columns need them.
    fn totals(&self, workers: &Workers) -> Result<Vec<i32>, KernelError> {
        if self.b.missing().is_none() {
            return Ok(Vec::new());
        }
        let ones = BytePanels::new(self.b.isa(), [1, self.b.summands()], self.b.run(), |_, _| 1, None)?;
        let mut totals = vec![0; self.addresses.rows()];
        let to = IntegerOutput::Sums(&mut totals);
        let product = ByteProduct { b: &ones, add: None, ..*self };
        product.share(workers, &RowBlockData::new(ones.bias(0), self.page(), to));
        Ok(totals)
    }

    /// Returns a padding run, if there is padding: the zero point.
    fn page(&self) -> Vec<u8> {
        vec![self.zero; if self.addresses.has_holes() { self.addresses.run() } else { 0 }]
    }

    /// Divides the result among threads.
    fn share(&self, workers: &Workers, shared: &RowBlockData<'_>) {
        let (rows, panels) = (self.addresses.rows(), self.b.count());
        let steps = rows.saturating_mul(panels * self.b.width() / 16).saturating_mul(self.b.summands() / 4);
        let extents = SharedExtents { rows, tile_rows: self.b.tile_rows(), groups: panels, products: 1, steps };
        extents.share(workers, |_, rows, part| self.block(rows, part.range(panels), shared));
    }

    /// Computes some rows of some panels, with tile registers of this thread where kernels use them.
    fn block(&self, rows: Range<usize>, panels: Range<usize>, shared: &RowBlockData<'_>) {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        if !self.b.isa().has_tiles() {
            panels.for_each(|panel| self.panel(rows.clone(), panel, None, &mut scratch.tile, shared));
            return SCRATCH.set(Some(scratch));
        }
        scratch.rows.pack(self.a, self.addresses, 1, rows.clone(), &shared.page);
        // SAFETY: panels of tiles exist only where the machine has them.
        #[cfg(target_arch = "x86_64")]
        let _configured = unsafe { Configured::new() };
        let Scratch { rows: collected, tile } = &mut scratch;
        panels.for_each(|panel| self.panel(rows.clone(), panel, Some(collected), tile, shared));
        SCRATCH.set(Some(scratch));
    }

    /// Checks that all memory accesses are in bounds.
    fn check(&self, to: &IntegerOutput<'_>) -> Result<(), KernelError> {
        let (m, n, elements) = (self.addresses.rows(), self.b.columns(), to.len());
        let fits = m.checked_mul(n) == Some(elements) && to.scales().is_none_or(|scales| scales == n);
        if !fits || self.add.is_some_and(|add| add.len() != elements) {
            return Err(format!("a result of {m} rows and {n} columns does not have {elements} elements").into());
        }
        self.addresses.check(self.b.summands(), self.b.run(), self.a.len())
    }

    /// Computes some rows of a panel, tile by tile.
    fn panel(
        &self,
        rows: Range<usize>,
        panel: usize,
        collected: Option<&TileRows>,
        scratch: &mut ScratchTile,
        shared: &RowBlockData<'_>,
    ) {
        let (b, run, stride) = (self.b, self.addresses.run(), self.b.columns());
        let (isa, width, tile_rows) = (b.isa(), b.width(), b.tile_rows());
        let (table, table_stride) = self.addresses.table();
        let columns = panel * width..(panel * width + width).min(stride);
        let (sums, bytes) = scratch.parts();
        let (is_whole, start) = (columns.len() == width, rows.start);
        for first in rows.clone().step_by(tile_rows) {
            let rows = first..(first + tile_rows).min(rows.end);
            let (at, to) = (first * stride + columns.start, bytes.as_mut_ptr());
            let target = shared.quantized(self).map(|(c, scales)| (c.at(at), scales));
            let quantize = target.map(|(target, scales)| Quantize {
                terms: if shared.terms.is_empty() { std::ptr::null() } else { shared.terms[first..].as_ptr() },
                scales: scales.rough(columns.start).as_ptr(),
                bounds: scales.bounds(),
                to: if is_whole { target } else { to },
                stride: if is_whole { stride } else { width },
            });
            let tile = ByteTile {
                a: self.a.as_ptr(),
                table: table[first * table_stride..].as_ptr(),
                table_stride,
                hole: if self.addresses.has_holes() { ZERO_PAGE.into() } else { i64::MIN },
                zeros: shared.page.as_ptr(),
                rows: rows.len(),
                strips: collected
                    .map_or([std::ptr::null(); 2], |of| of.strips((first - start) / TILE_ROWS, rows.len())),
                steps: collected.map_or(0, TileRows::steps),
                runs: self.addresses.runs(),
                walk: self.addresses.walk(0),
                run,
                b: b.panel(panel).as_ptr(),
                bias: shared.bias[panel * width..][..width].as_ptr(),
                sums: sums.as_mut_ptr(),
                quantize,
            };
            // SAFETY: `check` found all offsets of table and runs inside `a`; `page` is one run. The panel has four bytes
            // per column and step of each run, and there are biases and scales for whole panels. `sums` and `bytes` have an
            // element per element of the tile; the result has it if all columns of the panel exist, and this thread has
            // exclusive access to these rows and columns. There are terms for all rows, or none. Panels exist only for vectors that the
            // machine has. `collected` has the tiles of these rows, and the tile registers are configured, if kernels use them.
            unsafe {
                if !isa.kernel(rows.len(), width, self.signed)(&tile) {
                    self.finish(&mut sums[..rows.len() * width], rows, columns.clone(), shared);
                } else if let (Some((target, _)), false) = (target, is_whole) {
                    for (i, row) in bytes.chunks_exact(width).take(rows.len()).enumerate() {
                        target.add(i * stride).copy_from_nonoverlapping(row.as_ptr(), columns.len());
                    }
                }
            }
        }
    }

    /// Finishes a tile whose kernel only accumulates it.
    ///
    /// # Safety
    /// The destination has these rows and columns, to which the caller has exclusive access.
    unsafe fn finish(&self, sums: &mut [i32], rows: Range<usize>, columns: Range<usize>, shared: &RowBlockData<'_>) {
        let (width, stride) = (self.b.width(), self.b.columns());
        // Kernels that requantize have added the terms of rows.
        let missing = self.b.missing().filter(|_| shared.quantized(self).is_none());
        let rest = missing.map(|missing| (&shared.totals[rows.clone()], missing));
        let done = Finish { sums, width, rows, columns, stride, rest, add: self.add };
        // SAFETY: guaranteed by the caller.
        unsafe { self.b.isa().finish(done, shared.to) };
    }
}

/// Data shared by all blocks of rows.
struct RowBlockData<'a> {
    /// Bias per column, including the zero-point correction, and zeros up to a whole panel.
    bias: Vec<i32>,
    /// A padding run: the zero point of A.
    page: Vec<u8>,
    /// Row sums of A, if columns need them.
    totals: Vec<i32>,
    /// The summands of rows, if they are the same for all columns.
    terms: Vec<i32>,
    to: SharedOutput<'a>,
}

impl<'a> RowBlockData<'a> {
    /// Creates the data of a product without row sums.
    fn new(bias: Vec<i32>, page: Vec<u8>, to: IntegerOutput<'a>) -> RowBlockData<'a> {
        RowBlockData { bias, page, totals: Vec::new(), terms: Vec::new(), to: to.shared() }
    }

    /// Returns the destination and scales, if kernels requantize: at most terms of rows are added to the sums.
    fn quantized(&self, product: &ByteProduct<'_>) -> Option<(DisjointWriter<u8>, &'a Scales)> {
        match self.to {
            SharedOutput::Quantized(c, scales) if product.add.is_none() && self.totals.len() == self.terms.len() => {
                Some((c, scales))
            }
            _ => None,
        }
    }
}

/// Memory of a thread.
#[derive(Default)]
struct Scratch {
    rows: TileRows,
    tile: ScratchTile,
}

/// The accumulators of a tile, aligned for whole vectors, and its bytes.
struct ScratchTile(AlignedBytes);

impl Default for ScratchTile {
    fn default() -> ScratchTile {
        ScratchTile(AlignedBytes::zeros(MAX_TILE * (size_of::<i32>() + 1)))
    }
}

impl ScratchTile {
    fn parts(&mut self) -> (&mut [i32], &mut [u8]) {
        let (sums, bytes) = self.0.as_mut().split_at_mut(MAX_TILE * size_of::<i32>());
        (bytemuck::cast_slice_mut(sums), bytes)
    }
}
