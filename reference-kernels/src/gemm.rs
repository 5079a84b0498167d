//! The matrix product under convolutions and `MatMul`: blocked for caches, with a register-sized micro-kernel over fixed
//! arrays, which the compiler turns into vector code.

use crate::num::Num;
use std::ops::Range;

/// Rows of the micro-kernel.
const MR: usize = 4;
/// Columns of the micro-kernel: with four rows, the accumulators fill half of the sixteen SSE registers.
const NR: usize = 8;
/// Depth of a block. Up to 256 products of two 9-bit integers sum to less than 2^24, so a block is exact in `f32`,
/// which integer convolutions rely on.
pub(super) const KC: usize = 256;
/// Columns of a block: with [`KC`] rows it fits the L2 cache.
const NC: usize = 512;

/// A packed left operand: panels of [`MR`] rows for each block of [`KC`] columns.
pub(super) struct Packed<T> {
    rows: usize,
    depth: usize,
    data: Vec<T>,
}

impl<T: Num> Packed<T> {
    /// Packs the `rows` by `depth` matrix whose element `(i, p)` is `a[i * row_step + p * step]`.
    pub(super) fn new(a: &[T], rows: usize, depth: usize, row_step: usize, step: usize) -> Packed<T> {
        let mut data = Vec::with_capacity(rows.next_multiple_of(MR) * depth);
        for k0 in (0..depth).step_by(KC) {
            for i0 in (0..rows).step_by(MR) {
                for p in k0..depth.min(k0 + KC) {
                    let at = |i: usize| if i < rows { a[i * row_step + p * step] } else { T::ZERO };
                    data.extend((i0..i0 + MR).map(at));
                }
            }
        }
        Packed { rows, depth, data }
    }
}

/// A right operand that is packed in blocks: a matrix, or the implicit im2col matrix of a convolution.
pub(super) trait Columns<T> {
    /// Writes elements `columns` of row `k` to `out`.
    fn row(&self, k: usize, columns: Range<usize>, out: &mut [T]);
}

/// A right operand whose element `(p, j)` is `data[p * row_step + j * step]`.
pub(super) struct Matrix<'a, T> {
    pub(super) data: &'a [T],
    pub(super) row_step: usize,
    pub(super) step: usize,
}

impl<T: Num> Columns<T> for Matrix<'_, T> {
    fn row(&self, k: usize, columns: Range<usize>, out: &mut [T]) {
        let base = k * self.row_step;
        if self.step == 1 {
            out.copy_from_slice(&self.data[base + columns.start..base + columns.end]);
        } else {
            out.iter_mut().zip(columns).for_each(|(o, j)| *o = self.data[base + j * self.step]);
        }
    }
}

/// Adds the product of `a` and `b` to the row-major `c`, which has `n` columns. `add` accumulates the sum over each
/// block of [`KC`] products into an element, which may be of a wider type.
pub(super) fn gemm<T: Num, C>(a: &Packed<T>, b: &impl Columns<T>, n: usize, c: &mut [C], add: impl Fn(&mut C, T)) {
    let mut block = vec![T::ZERO; KC.min(a.depth) * NC.min(n.next_multiple_of(NR))];
    let mut row = vec![T::ZERO; NC.min(n.next_multiple_of(NR))];
    let rows = a.rows.next_multiple_of(MR);
    for n0 in (0..n).step_by(NC) {
        let columns = n0..n.min(n0 + NC);
        for k0 in (0..a.depth).step_by(KC) {
            let depth = KC.min(a.depth - k0);
            for k in 0..depth {
                b.row(k0 + k, columns.clone(), &mut row[..columns.len()]);
                row[columns.len()..].fill(T::ZERO);
                for (p, chunk) in row[..columns.len().next_multiple_of(NR)].chunks_exact(NR).enumerate() {
                    block[(p * depth + k) * NR..][..NR].copy_from_slice(chunk);
                }
            }
            let panels = &a.data[k0 * rows..][..rows * depth];
            let used = columns.len().next_multiple_of(NR) * depth;
            multiply_block(panels, &block[..used], depth, |i, j, sums| {
                if i < a.rows {
                    let width = NR.min(columns.len() - j);
                    let into = &mut c[i * n + n0 + j..][..width];
                    into.iter_mut().zip(sums).for_each(|(c, &s)| add(c, s));
                }
            });
        }
    }
}

/// Multiplies all panels of one block, calling `store` with the position of every row of sums.
fn multiply_block<T: Num>(a: &[T], b: &[T], depth: usize, mut store: impl FnMut(usize, usize, &[T; NR])) {
    for (jp, b) in b.chunks_exact(depth * NR).enumerate() {
        for (ip, a) in a.chunks_exact(depth * MR).enumerate() {
            let sums = micro_kernel(a, b);
            sums.iter().enumerate().for_each(|(i, s)| store(ip * MR + i, jp * NR, s));
        }
    }
}

/// Multiplies one panel of each operand; sums stay in registers.
#[inline(never)]
fn micro_kernel<T: Num>(a: &[T], b: &[T]) -> [[T; NR]; MR] {
    let mut sums = [[T::NOTHING; NR]; MR];
    for (a, b) in a.as_chunks::<MR>().0.iter().zip(b.as_chunks::<NR>().0) {
        for i in 0..MR {
            for j in 0..NR {
                sums[i][j] = sums[i][j].add(a[i].mul(b[j]));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition_across_block_edges() {
        let (m, k, n) = (7, KC + 3, NC + 5);
        let a: Vec<i64> = (0..m * k).map(|i| (i % 13) as i64 - 6).collect();
        let b: Vec<i64> = (0..k * n).map(|i| (i % 7) as i64 - 3).collect();
        let mut c = vec![0; m * n];
        let matrix = Matrix { data: &b, row_step: n, step: 1 };
        gemm(&Packed::new(&a, m, k, k, 1), &matrix, n, &mut c, |c, s| *c += s);
        for (i, j) in [(0, 0), (6, n - 1), (3, NC), (5, NC - 1)] {
            assert_eq!(c[i * n + j], (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum::<i64>());
        }
    }
}
