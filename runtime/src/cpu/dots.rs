//! Products of f32 with few columns, by dot products of contiguous rows. Products by vectors of columns would compute zeros in most lanes.

#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::addr::elementwise_epilogue;
use super::operands::Operands;
use super::{Kernel, Prepared, dtype, extents, floats, floats_mut, position};
use crate::vector::{Element, Floats, Isa, MAX_LANES, OnVectors};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::addr::{constant_table, groups};
use gradus_networks::layout::Addressing;

/// Maximum number of columns.
const MAX_COLUMNS: usize = 3;

/// Minimum length of rows for each column after the first, whose lanes are added at the end of each dot product: measured on Zen 3, products of 10000
/// rows of 8 to 256 elements by vectors of columns.
const MIN_DEPTH: usize = 64;

/// Vectors of sums of a dot product, since each addition waits for the one before.
const SUMS: usize = 4;

/// Products of a step, about.
const STEP: usize = 16;

/// Prepares `addr.gemm` of f32 with few columns and rows that are contiguous and long.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (a, b) = (position(args, "a")?, position(args, "b")?);
    let &[columns, depth] = &extents(m, args.operand_type(b))?[..] else { return None };
    let is_f32 = [a, b].map(|i| dtype(m, args.operand_type(i))) == [Some(DType::F32); 2];
    let is_narrow = (1..=MAX_COLUMNS).contains(&columns) && depth >= 1.max(MIN_DEPTH * (columns - 1));
    if !is_f32 || !is_narrow || groups(args) != Some(1) {
        return None;
    }
    let table = constant_table(args)?;
    let Addressing::Separable { base, relative } = table.addressing() else { return None };
    if table.run() != depth || relative.len() != depth {
        return None;
    }
    let buffer = extents(m, args.operand_type(a))?.iter().product::<usize>();
    let first = |&base: &i32| usize::try_from(base.checked_add(relative[0])?).ok();
    let starts = base.iter().map(first).collect::<Option<Vec<usize>>>()?;
    starts.iter().all(|&start| start <= buffer && depth <= buffer - start).then_some(())?;
    let mut operands = Operands::new(args);
    let [b, bias, add] = ["b", "bias", "add"].map(|name| operands.input(name));
    let (b, elementwise) = (b?, elementwise_epilogue(args)?);
    let run = move |workers: &Workers, data: &[&[u8]], out: &mut [u8]| {
        let (a, vectors) = (floats(data[0]), floats(data[b]));
        let [bias, add] = [bias, add].map(|input| input.map(|i| floats(data[i])));
        let (threads, each) = rows_of_part(workers, starts.len(), columns * depth);
        let parts = starts.chunks(each).zip(floats_mut(out).chunks_mut(each * columns)).enumerate();
        workers.share(threads, parts, |(part, (starts, out))| {
            Dots { a, starts: starts.iter().copied(), vectors, depth, out: &mut *out }.compute();
            for (i, y) in out.iter_mut().enumerate() {
                let sum = bias.map_or(*y, |bias| *y + bias[i % columns]);
                let sum = add.map_or(sum, |add| sum + add[part * each * columns + i]);
                // SAFETY: a vector of one number needs no extension.
                *y = unsafe { elementwise.of(sum) };
            }
        });
        Ok(())
    };
    Some(Kernel::shared(operands.inputs()?, run).into())
}

/// Computes the product of a matrix `[M, K]` and a vector.
pub(super) fn times_vector(workers: &Workers, a: &[f32], vector: &[f32], out: &mut [f32]) {
    let depth = vector.len();
    let (threads, each) = rows_of_part(workers, out.len(), depth);
    let parts = a.chunks(each * depth).zip(out.chunks_mut(each));
    workers.share(threads, parts, |(a, out)| {
        let starts = (0..out.len()).map(|row| row * depth);
        Dots { a, starts, vectors: vector, depth, out }.compute();
    });
}

/// Returns the number of threads for some rows, each of some products, and the rows of a part.
fn rows_of_part(workers: &Workers, rows: usize, products: usize) -> (usize, usize) {
    let threads = workers.for_steps(rows.saturating_mul(products) / STEP);
    (threads, rows.div_ceil(Workers::parts(threads)).max(1))
}

/// Dot products of the rows of `a` that begin at `starts` with each vector of `depth` elements.
struct Dots<'a, I> {
    a: &'a [f32],
    starts: I,
    vectors: &'a [f32],
    depth: usize,
    out: &'a mut [f32],
}

impl<I: Iterator<Item = usize>> Dots<'_, I> {
    /// Computes them on the widest vectors.
    fn compute(self) {
        // SAFETY: the extension is that of this machine; the work requires nothing else.
        unsafe { f32::run(f32::filled(Isa::best(), self.depth), self) }
    }
}

impl<I: Iterator<Item = usize>> OnVectors<f32> for Dots<'_, I> {
    #[inline(always)]
    unsafe fn run<V: Floats<Element = f32>>(self) {
        let columns = self.vectors.len() / self.depth;
        for (start, out) in self.starts.zip(self.out.chunks_exact_mut(columns)) {
            let row = &self.a[start..][..self.depth];
            for (vector, y) in self.vectors.chunks_exact(self.depth).zip(out) {
                // SAFETY: the caller guarantees the vectors.
                *y = unsafe { dot::<V>(row, vector) };
            }
        }
    }
}

/// Computes the dot product of `x` and `y`, which has as many elements.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
unsafe fn dot<V: Floats<Element = f32>>(x: &[f32], y: &[f32]) -> f32 {
    let chunks = x.chunks_exact(SUMS * V::LANES).zip(y.chunks_exact(SUMS * V::LANES));
    let rest = x.len() / (SUMS * V::LANES) * SUMS * V::LANES;
    let (whole, last) = (x[rest..].chunks_exact(V::LANES), x.len() / V::LANES * V::LANES);
    // SAFETY: chunks have as many lanes as are loaded from them, here and below.
    unsafe {
        let mut sums = [V::splat(0.0); SUMS];
        for (x, y) in chunks {
            for (i, sum) in sums.iter_mut().enumerate() {
                let at = i * V::LANES;
                *sum = V::load(x.as_ptr().add(at)).multiply_add(V::load(y.as_ptr().add(at)), *sum);
            }
        }
        for (x, y) in whole.zip(y[rest..].chunks_exact(V::LANES)) {
            sums[0] = V::load(x.as_ptr()).multiply_add(V::load(y.as_ptr()), sums[0]);
        }
        let mut lanes = [0.0; MAX_LANES];
        let [a, b, c, d] = sums;
        a.plus(b).plus(c.plus(d)).store(lanes.as_mut_ptr());
        let rest = x[last..].iter().zip(&y[last..]).map(|(x, y)| x * y);
        lanes.into_iter().chain(rest).sum()
    }
}

/// Computes the dot products of `x` and each of `ys`, which have as many elements.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
pub(super) unsafe fn dots<V: Floats<Element = f32>, const N: usize>(x: &[f32], ys: [&[f32]; N]) -> [f32; N] {
    let last = x.len() / V::LANES * V::LANES;
    let mut all = [0.0; N];
    // SAFETY: there are as many elements as are loaded, the same of each.
    unsafe {
        let (mut even, mut odd) = ([V::splat(0.0); N], [V::splat(0.0); N]);
        let mut at = 0;
        while at + 2 * V::LANES <= last {
            let (x0, x1) = (V::load(x[at..].as_ptr()), V::load(x[at + V::LANES..].as_ptr()));
            for j in 0..N {
                let y = ys[j][at..][..2 * V::LANES].as_ptr();
                even[j] = x0.multiply_add(V::load(y), even[j]);
                odd[j] = x1.multiply_add(V::load(y.add(V::LANES)), odd[j]);
            }
            at += 2 * V::LANES;
        }
        if at < last {
            let x = V::load(x[at..].as_ptr());
            for j in 0..N {
                even[j] = x.multiply_add(V::load(ys[j][at..][..V::LANES].as_ptr()), even[j]);
            }
        }
        for j in 0..N {
            let mut lanes = [0.0; MAX_LANES];
            even[j].plus(odd[j]).store(lanes.as_mut_ptr());
            let rest = x[last..].iter().zip(&ys[j][last..]).map(|(x, y)| x * y);
            all[j] = lanes.into_iter().chain(rest).sum();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradus_ir::random::Random;

    /// Rows overlap, and vectors do not divide the depth.
    #[test]
    fn dot_products_are_sums_in_f64() {
        let mut random = Random::of("dots");
        for case in 0..300 {
            let [rows, columns, depth] = [6, MAX_COLUMNS as u64, 150].map(|most| 1 + random.below(most) as usize);
            let mut numbers = |count: usize| -> Vec<f32> {
                (0..count).map(|_| random.below(1 << 20) as f32 / 4096.0 - 128.0).collect()
            };
            let (a, vectors) = (numbers(rows + depth), numbers(columns * depth));
            let mut out = vec![f32::NAN; rows * columns];
            Dots { a: &a, starts: 0..rows, vectors: &vectors, depth, out: &mut out }.compute();
            for (i, &have) in out.iter().enumerate() {
                let row = &a[i / columns..][..depth];
                let products =
                    row.iter().zip(&vectors[i % columns * depth..]).map(|(&x, &y)| f64::from(x) * f64::from(y));
                let (sum, bound) = products.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
                let bound = bound * depth as f64 * f64::from(f32::EPSILON);
                assert!((f64::from(have) - sum).abs() <= bound, "{case}: {rows}x{depth} by {columns}: {have}, {sum}");
            }
            let workers = Workers::new(1 + case % 3).expect("there are threads");
            let (matrix, vector) = (numbers(rows * depth), &vectors[..depth]);
            let [mut by_rows, mut at_once] = [vec![0.0; rows], vec![f32::NAN; rows]];
            for (row, out) in matrix.chunks_exact(depth).zip(by_rows.chunks_mut(1)) {
                Dots { a: row, starts: 0..1, vectors: vector, depth, out }.compute();
            }
            times_vector(&workers, &matrix, vector, &mut at_once);
            assert_eq!(at_once, by_rows);
        }
    }
}
