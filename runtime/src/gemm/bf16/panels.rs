//! The packed bf16 right operand: panels of columns, each with two summands of every column contiguous.

use super::kernels::{Bf16Isa, MAX_WIDTH};
use crate::KernelError;
use crate::aligned_bytes::AlignedBytes;
use crate::gemm::check_packed;
use crate::gemm::tile_rows::{ROW_BYTES, packed_bytes};

/// A matrix of bf16 in panels.
#[derive(Clone)]
pub struct Bf16Panels {
    isa: Bf16Isa,
    width: usize,
    summands: usize,
    run: usize,
    columns: usize,
    /// Number of pairs of summands per column, in whole tiles.
    depth: usize,
    lines: AlignedBytes,
    /// Bias per column, zero-padded to whole panels.
    bias: Vec<f32>,
}

impl Bf16Panels {
    /// Packs a matrix, where `at(n, k)` has the bits of element (k, n); `run` is the run length of the addresses. Runs of odd length
    /// and tiles are padded with zeros.
    ///
    /// # Errors
    /// The machine lacks the extension, or the panels exceed the address space.
    pub fn new(
        isa: Bf16Isa,
        [columns, summands]: [usize; 2],
        run: usize,
        at: impl Fn(usize, usize) -> u16,
        bias: Option<&[f32]>,
    ) -> Result<Bf16Panels, KernelError> {
        check_packed((isa, isa.is_supported()), [columns, summands], run, bias.map(<[f32]>::len))?;
        let width = if columns <= MAX_WIDTH / 2 { MAX_WIDTH / 2 } else { MAX_WIDTH };
        let bytes = run.checked_mul(2).and_then(|run_bytes| packed_bytes(summands / run, run_bytes));
        let depth = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ROW_BYTES)).map(|bytes| bytes / 4);
        let padded = columns.checked_next_multiple_of(width);
        let size = depth.zip(padded).and_then(|(depth, padded)| padded.checked_mul(depth)?.checked_mul(4));
        let (Some(depth), Some(padded), Some(size)) = (depth, padded, size) else {
            return Err("a matrix is too large".into());
        };
        let mut lines = AlignedBytes::zeros(size);
        let pairs: &mut [[u16; 2]] = bytemuck::cast_slice_mut(lines.as_mut());
        let steps = run.div_ceil(2);
        for n in 0..columns {
            let start = n / width * width * depth + n % width;
            for k in 0..summands {
                let pair = k / run * steps + k % run / 2;
                pairs[start + pair * width][k % run % 2] = at(n, k);
            }
        }
        let mut bias = bias.map_or_else(|| vec![0.0; columns], <[f32]>::to_vec);
        bias.resize(padded, 0.0);
        Ok(Bf16Panels { isa, width, summands, run, columns, depth, lines, bias })
    }

    /// Returns the number of columns N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of summands K.
    pub fn summands(&self) -> usize {
        self.summands
    }

    /// Returns the length of the runs of summands.
    pub(super) fn run(&self) -> usize {
        self.run
    }

    pub(super) fn isa(&self) -> Bf16Isa {
        self.isa
    }

    /// Returns the number of panels.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Returns the number of columns per panel, `nr`.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the bytes of a panel.
    pub(super) fn panel(&self, i: usize) -> &[u8] {
        let size = self.depth * self.width * 4;
        &self.lines.as_ref()[i * size..][..size]
    }

    /// Returns the bias per column, zero-padded to whole panels.
    pub(super) fn bias(&self) -> &[f32] {
        &self.bias
    }
}
