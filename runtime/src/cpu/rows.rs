//! Products of few rows by a matrix that is read where it is: packing it would take longer than the product.

use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;

/// Partial sums of a row.
pub(super) const PARTIAL: usize = 16;

/// Maximum number of rows.
pub(super) const FEW: usize = 6;

/// Rows of the matrix whose multiples are added at once.
const ROWS: usize = 4;

/// ColumnPart of a result that stay in the L1 cache.
const TILE: usize = 1024;

/// Computes `a * b` with `rows` rows of `a`. Threads share the columns.
pub(super) fn few_rows(workers: &Workers, a: &[f32], b: &[f32], [rows, depth, columns]: [usize; 3], out: &mut [f32]) {
    let threads = workers.for_steps((rows * columns / 16).saturating_mul(depth));
    let part = columns.div_ceil(Workers::parts(threads)).next_multiple_of(PARTIAL).min(TILE);
    let mut parts: Vec<Vec<&mut [f32]>> = Vec::new();
    parts.resize_with(columns.div_ceil(part), Vec::new);
    for row in out.chunks_exact_mut(columns) {
        row.chunks_mut(part).zip(&mut parts).for_each(|(row, part)| part.push(row));
    }
    workers.share(threads, parts.into_iter().enumerate(), |(i, out)| {
        run_widest(ColumnPart { a, b, depth, columns, first: i * part, out });
    });
}

/// Some columns of all rows.
struct ColumnPart<'a> {
    a: &'a [f32],
    b: &'a [f32],
    depth: usize,
    columns: usize,
    first: usize,
    out: Vec<&'a mut [f32]>,
}

impl Loops for ColumnPart<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let ColumnPart { a, b, depth, columns, first, out } = self;
        for (a, out) in a.chunks_exact(depth).zip(out) {
            let len = out.len();
            out.fill(0.0);
            add_multiples::<M>(a, |k| &b[k * columns + first..][..len], out);
        }
    }
}

/// Adds the multiples of rows to a result.
#[inline(always)]
pub(super) fn add_multiples<'a, M: MultiplyAdd>(factors: &[f32], row: impl Fn(usize) -> &'a [f32], out: &mut [f32]) {
    let (chunks, rest) = factors.as_chunks::<ROWS>();
    for (i, &[p, q, r, s]) in chunks.iter().enumerate() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| &row(i * ROWS + k)[..out.len()]);
        for ((((y, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *y = M::of(s, d, M::of(r, c, M::of(q, b, M::of(p, a, *y))));
        }
    }
    for (i, &factor) in rest.iter().enumerate() {
        for (y, &x) in out.iter_mut().zip(row(chunks.len() * ROWS + i)) {
            *y = M::of(factor, x, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradus_ir::random::Random;

    #[test]
    fn few_rows_are_products() {
        let mut random = Random::of("few rows");
        for case in 0..200 {
            let [rows, depth, columns] = [FEW as u64, 40, 3000].map(|most| 1 + random.below(most) as usize);
            let mut numbers =
                |count: usize| -> Vec<f32> { (0..count).map(|_| random.below(17) as f32 - 8.0).collect() };
            let (a, b) = (numbers(rows * depth), numbers(depth * columns));
            let mut out = vec![f32::NAN; rows * columns];
            few_rows(&Workers::new(1 + case % 3).expect("there are threads"), &a, &b, [rows, depth, columns], &mut out);
            for (i, &have) in out.iter().enumerate() {
                let (row, column) = (i / columns, i % columns);
                let want: f32 = (0..depth).map(|k| a[row * depth + k] * b[k * columns + column]).sum();
                assert_eq!(have, want, "{rows}x{depth}x{columns}");
            }
        }
    }
}
