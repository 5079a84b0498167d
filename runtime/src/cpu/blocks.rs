//! Results of products in blocks of columns: rows are computed, then copied to their blocks.

use super::{Kernel, Out, Prepared, dtype, extents, position};
use crate::aligned_bytes::{AlignedBytes, LINE};
use crate::transpose::WordMatrix;
use crate::workers::Workers;
use gradus_ir::{Module, OpArgs};
use std::cell::Cell;

/// Number of blocks that are transposed together.
const TILE: usize = 16;

thread_local! {
    /// Rows of earlier products.
    static ROWS: Cell<Option<AlignedBytes>> = const { Cell::new(None) };
}

/// Makes kernels of rows `[M, N]` those of the op's blocks `[N / block, M, block]`, if it has blocks.
pub(super) fn in_blocks(m: &Module, args: &OpArgs<'_>, prepared: Prepared) -> Option<Prepared> {
    if args.int("block").is_none() {
        return Some(prepared);
    }
    let (Prepared::Kernels(mut kernels), result) = (prepared, *args.result_types.first()?) else { return None };
    let (&[blocks, rows, block], Some(kernel), []) = (&extents(m, result)?[..], kernels.pop(), &kernels[..]) else {
        return None;
    };
    let shape = BlockRows { blocks, rows, width: block * dtype(m, result)?.size() };
    let add = position(args, "add").and_then(|add| kernel.reads.iter().position(|&read| read == add));
    let sums = dtype(m, args.operand_type(position(args, "add").unwrap_or(0)))?;
    let summand = BlockRows { width: block * sums.size(), ..shape };
    let run = move |workers: &Workers, data: &[&[u8]], out: Out<'_>| {
        let mut results = rows_of(out.bytes.len());
        let mut summands = rows_of(add.map_or(0, |i| data[i].len()));
        let mut data = data.to_vec();
        if let Some(i) = add {
            summand.to_rows(data[i], summands.as_mut());
            data[i] = &summands.as_ref()[..summand.size()];
        }
        let size = shape.size();
        let done = (kernel.run)(workers, &data, Out { bytes: &mut results.as_mut()[..size], columns: None });
        shape.to_blocks(workers, &results.as_ref()[..size], out.bytes);
        ROWS.set(Some(results));
        done
    };
    let kernel =
        Kernel { reads: kernel.reads.clone(), columns: None, in_place: false, steps: kernel.steps, run: Box::new(run) };
    Some(kernel.into())
}

/// Returns memory for rows, at least `size` bytes.
fn rows_of(size: usize) -> AlignedBytes {
    match ROWS.take() {
        Some(kept) if size > 0 && kept.as_ref().len() >= size => kept,
        _ => AlignedBytes::zeros(size),
    }
}

/// Rows of blocks.
#[derive(Clone, Copy)]
struct BlockRows {
    blocks: usize,
    rows: usize,
    /// Size of a row of a block in bytes.
    width: usize,
}

impl BlockRows {
    /// Returns the number of bytes.
    fn size(&self) -> usize {
        self.blocks * self.rows * self.width
    }

    /// Copies blocks to rows.
    fn to_rows(self, blocks: &[u8], rows: &mut [u8]) {
        let (width, pitch) = (self.width.max(1), self.blocks * self.width);
        for (j, block) in blocks.chunks_exact((self.rows * width).max(1)).enumerate() {
            for (i, from) in block.chunks_exact(width).enumerate() {
                rows[i * pitch + j * width..][..width].copy_from_slice(from);
            }
        }
    }

    /// Copies rows to blocks, which threads share.
    fn to_blocks(self, workers: &Workers, rows: &[u8], blocks: &mut [u8]) {
        let (width, pitch, each) = (self.width.max(1), self.blocks * self.width, (self.rows * self.width).max(1));
        let threads = workers.for_steps(blocks.len() / width.clamp(1, LINE));
        let parts = self.blocks.div_ceil(Workers::parts(threads)).next_multiple_of(TILE);
        workers.share(threads, blocks.chunks_mut(each * parts).enumerate(), |(i, part)| {
            let first = i * parts * width;
            if let (4, Ok(words)) = (width, bytemuck::try_cast_slice_mut::<u8, u32>(part))
                && let Ok(matrix) = WordMatrix::new(&rows[first..], pitch, [self.rows, words.len() / self.rows.max(1)])
            {
                return matrix.transpose(words, 0);
            }
            for (j, block) in part.chunks_exact_mut(each).enumerate() {
                for (i, to) in block.chunks_exact_mut(width).enumerate() {
                    to.copy_from_slice(&rows[i * pitch + first + j * width..][..width]);
                }
            }
        });
    }
}
