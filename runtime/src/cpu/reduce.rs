//! Reductions along axes, and positions of extrema.

use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::lanes::{PARTIAL, combined};
use super::{Kernel, Prepared, constant, dtype, extents};
use crate::vector::{Loops, MultiplyAdd, Separate, run_widest};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use gradus_reference_kernels::shape::{normalize_axis, reduction_axes};
use smallvec::SmallVec;
use std::iter::once;

/// The axes of an operand, neighbours of one kind merged: the extent of each, and whether it is reduced.
#[derive(Clone)]
struct ReducedAxes(Vec<(usize, bool)>);

impl ReducedAxes {
    /// Returns the axes for a constant list of those that are reduced, each of which has elements.
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<ReducedAxes> {
        let axes = match args.opt_operand("axes") {
            Some(_) => constant(args, "axes")?.to_i64()?,
            None => Vec::new(),
        };
        let rank = extents(m, args.operand_type(0))?.len();
        ReducedAxes::along(m, args, &reduction_axes(&axes, rank, args.flag("noop_with_empty_axes")).ok()?)
    }

    /// Returns the axes for a reduction of each channel of an image.
    fn of_channels(m: &Module, args: &OpArgs<'_>) -> Option<ReducedAxes> {
        ReducedAxes::along(m, args, &Vec::from_iter(2..extents(m, args.operand_type(0))?.len()))
    }

    /// Returns the axes for those that are reduced, each of which has elements.
    fn along(m: &Module, args: &OpArgs<'_>, axes: &[usize]) -> Option<ReducedAxes> {
        let shape = extents(m, args.operand_type(0))?;
        let mut merged: Vec<(usize, bool)> = Vec::new();
        for (axis, &extent) in shape.iter().enumerate().filter(|&(_, &extent)| extent != 1) {
            match merged.last_mut() {
                Some((all, is_reduced)) if *is_reduced == axes.contains(&axis) => *all *= extent,
                _ => merged.push((extent, axes.contains(&axis))),
            }
        }
        let all = ReducedAxes(merged);
        let results: usize = extents(m, *args.result_types.first()?)?.iter().product();
        (results == all.count(false) && all.count(true) > 0).then_some(all)
    }

    /// Returns the number of elements of the axes that are reduced, or of the others.
    fn count(&self, is_reduced: bool) -> usize {
        self.0.iter().filter(|axis| axis.1 == is_reduced).map(|axis| axis.0).product()
    }
}

/// A reduction of elements to a sum of some kind.
trait Fold<T>: Copy + Send + Sync + 'static {
    type Sum: Copy + Send + Sync;
    /// The sum of nothing.
    const NOTHING: Self::Sum;
    fn add(sum: Self::Sum, x: T) -> Self::Sum;
    fn join(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// Whether the sum may be another one in another order: a largest or smallest element that is zero has the sign of the last.
    #[inline(always)]
    fn is_of_order(_: Self::Sum) -> bool {
        false
    }
    /// Reduces the last two axes: by default on the narrowest vectors, of which every type has code.
    fn reduce(axes: LastAxes<'_, T, Self>)
    where
        T: Copy,
    {
        axes.run::<Separate>();
    }
}

/// Declares reductions of f32 in f64, each by the addition of an element and the addition of two sums.
macro_rules! float_folds {
    ($($Name:ident $nothing:expr, |$sum:ident, $x:ident| $add:expr, |$a:ident, $b:ident| $join:expr $(, $zero:literal)?;)*) => { $(
        #[derive(Clone, Copy)]
        struct $Name;

        impl Fold<f32> for $Name {
            type Sum = f64;
            const NOTHING: f64 = $nothing;
            #[inline(always)]
            fn add($sum: f64, x: f32) -> f64 { let $x = f64::from(x); $add }
            #[inline(always)]
            fn join($a: f64, $b: f64) -> f64 { $join }
            $(
                #[inline(always)]
                fn is_of_order(sum: f64) -> bool { sum == $zero }
            )?
            fn reduce(axes: LastAxes<'_, f32, Self>) { run_widest(axes); }
        }
    )* };
}

float_folds! {
    Sum -0.0, |sum, x| sum + x, |a, b| a + b;
    Squares -0.0, |sum, x| sum + x * x, |a, b| a + b;
    Magnitudes -0.0, |sum, x| sum + x.abs(), |a, b| a + b;
    Product 1.0, |all, x| all * x, |a, b| a * b;
    Largest f64::NEG_INFINITY, |most, x| most.larger(x), |a, b| a.larger(b), 0.0;
    Smallest f64::INFINITY, |least, x| least.smaller(x), |a, b| a.smaller(b), 0.0;
}

/// Declares reductions in the type of the elements.
macro_rules! folds {
    ($($Name:ident $nothing:ident |$sum:ident, $x:ident| $add:expr, $join:ident $(, $zero:ident)?;)*) => { $(
        #[derive(Clone, Copy)]
        struct $Name;

        impl<T: ElementArithmetic> Fold<T> for $Name {
            type Sum = T;
            const NOTHING: T = T::$nothing;
            #[inline(always)]
            fn add($sum: T, $x: T) -> T { $add }
            #[inline(always)]
            fn join(a: T, b: T) -> T { a.$join(b) }
            $(
                #[inline(always)]
                fn is_of_order(sum: T) -> bool { sum == T::$zero }
            )?
        }
    )* };
}

folds! {
    PlainSum NOTHING |sum, x| sum.plus(x), plus;
    PlainSquares NOTHING |sum, x| sum.plus(x.times(x)), plus;
    PlainProduct ONE |all, x| all.times(x), times;
    PlainLargest LOWEST |most, x| most.larger(x), larger, ZERO;
    PlainSmallest HIGHEST |least, x| least.smaller(x), smaller, ZERO;
}

/// Number of elements whose reduction takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// The reduction of the last two axes, one of which is reduced, to the sums of the other.
struct LastAxes<'a, T, F: Fold<T>> {
    x: &'a [T],
    /// Extent of the last axis, and whether it is reduced.
    last: (usize, bool),
    sums: &'a mut [F::Sum],
}

impl<T: Copy, F: Fold<T>> Loops for LastAxes<'_, T, F> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let (extent, is_reduced) = self.last;
        if is_reduced {
            for (row, sum) in self.x.chunks_exact(extent).zip(self.sums) {
                let (chunks, rest) = row.as_chunks::<PARTIAL>();
                let mut sums = [F::NOTHING; PARTIAL];
                for chunk in chunks {
                    for (sum, &x) in sums.iter_mut().zip(chunk) {
                        *sum = F::add(*sum, x);
                    }
                }
                let all = F::join(*sum, combined(sums, F::join));
                let all = rest.iter().fold(all, |sum, &x| F::add(sum, x));
                *sum = if F::is_of_order(all) { row.iter().fold(*sum, |sum, &x| F::add(sum, x)) } else { all };
            }
            return;
        }
        for row in self.x.chunks_exact(extent) {
            for (sum, &x) in self.sums.iter_mut().zip(row) {
                *sum = F::add(*sum, x);
            }
        }
    }
}

/// Reduces elements along axes, adding to the sums of the others.
fn reduced<T: Copy, F: Fold<T>>(x: &[T], axes: &[(usize, bool)], sums: &mut [F::Sum]) {
    if let [(_, true), last @ (_, false)] | [(_, false), last @ (_, true)] | [last] = *axes {
        return F::reduce(LastAxes { x, last, sums });
    }
    let [(extent, is_reduced), ref rest @ ..] = *axes else { return };
    let blocks = x.chunks_exact(x.len() / extent);
    if is_reduced {
        return blocks.for_each(|x| reduced::<T, F>(x, rest, sums));
    }
    let sums = sums.chunks_exact_mut(sums.len() / extent);
    blocks.zip(sums).for_each(|(x, sums)| reduced::<T, F>(x, rest, sums));
}

/// Creates a kernel that reduces the elements along axes; `finish` rounds a sum. Threads share the first axis, unless it is reduced.
fn folded<T: ElementArithmetic, F: Fold<T>>(
    axes: ReducedAxes,
    _: F,
    finish: impl Fn(F::Sum) -> T + Send + Sync + 'static,
) -> Prepared {
    Kernel::shared([0], move |workers, data, out| {
        let (x, out): (&[T], &mut [T]) = (elements(data[0]), elements_mut(out));
        if out.is_empty() {
            return Ok(());
        }
        let (axes, parts) = match *axes.0 {
            [(extent, false), ref rest @ ..] => (rest, extent),
            ref all => (all, 1),
        };
        let threads = workers.for_steps(x.len() / ELEMENTS_PER_STEP);
        let count = parts.div_ceil(Workers::parts(threads));
        let (of_x, of_out) = (x.len() / parts * count, out.len() / parts * count);
        workers.share(threads, x.chunks(of_x).zip(out.chunks_mut(of_out)), |(x, out)| {
            let mut sums = vec![F::NOTHING; out.len()];
            let own: SmallVec<[_; 4]> = once((x.len() / (of_x / count), false)).chain(axes.iter().copied()).collect();
            reduced::<T, F>(x, &own, &mut sums);
            out.iter_mut().zip(&sums).for_each(|(y, &sum)| *y = finish(sum));
        });
        Ok(())
    })
    .into()
}

/// Returns the element type of an op whose result has that of its operand.
fn kind(m: &Module, args: &OpArgs<'_>) -> Option<DType> {
    let [from, to] = [args.operand_type(0), *args.result_types.first()?].map(|ty| dtype(m, ty));
    from.filter(|&kind| kind != DType::Bool && from == to)
}

/// Returns the element type of an op that compares, for which booleans are bytes.
fn ordered_kind(m: &Module, args: &OpArgs<'_>) -> Option<DType> {
    let [from, to] = [args.operand_type(0), *args.result_types.first()?].map(|ty| dtype(m, ty));
    from.filter(|_| from == to)
}

/// Prepares `graph.reduce_sum`. Floats are summed in f64.
pub(super) fn sum(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let axes = ReducedAxes::of(m, args)?;
    match kind(m, args)? {
        DType::F32 => Some(folded(axes, Sum, |sum| sum as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, _>(axes, PlainSum, |sum| sum))),
    }
}

/// Prepares `graph.reduce_mean` of floats, summed in f64.
pub(super) fn mean(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    mean_along(m, args, ReducedAxes::of(m, args)?)
}

/// Prepares `graph.global_average_pool`.
pub(super) fn channel_means(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    mean_along(m, args, ReducedAxes::of_channels(m, args)?)
}

fn mean_along(m: &Module, args: &OpArgs<'_>, axes: ReducedAxes) -> Option<Prepared> {
    let count = axes.count(true) as f64;
    match kind(m, args)? {
        DType::F32 => Some(folded(axes, Sum, move |sum| (sum / count) as f32)),
        DType::F64 => Some(folded::<f64, _>(axes, PlainSum, move |sum| sum / count)),
        _ => None,
    }
}

/// Prepares `graph.reduce_sum_square`.
pub(super) fn sum_square(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let axes = ReducedAxes::of(m, args)?;
    match kind(m, args)? {
        DType::F32 => Some(folded(axes, Squares, |sum| sum as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, _>(axes, PlainSquares, |sum| sum))),
    }
}

/// Prepares a reduction of f32 in f64.
fn in_f64<F: Fold<f32, Sum = f64>>(m: &Module, args: &OpArgs<'_>, fold: F, finish: fn(f64) -> f64) -> Option<Prepared> {
    let axes = ReducedAxes::of(m, args)?;
    (kind(m, args)? == DType::F32).then(|| folded(axes, fold, move |sum| finish(sum) as f32))
}

/// Prepares `graph.reduce_l2` of f32.
pub(super) fn l2(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    in_f64(m, args, Squares, f64::sqrt)
}

/// Prepares `graph.reduce_l1` of f32.
pub(super) fn l1(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    in_f64(m, args, Magnitudes, |sum| sum)
}

/// Prepares `graph.reduce_log_sum` of f32.
pub(super) fn log_sum(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    in_f64(m, args, Sum, f64::ln)
}

/// Prepares `graph.reduce_prod`. Products of f32 are computed in f64.
pub(super) fn product(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let axes = ReducedAxes::of(m, args)?;
    match kind(m, args)? {
        DType::F32 => Some(folded(axes, Product, |all| all as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, _>(axes, PlainProduct, |all| all))),
    }
}

/// Prepares `graph.reduce_max`.
pub(super) fn max(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    max_along(m, args, ReducedAxes::of(m, args)?)
}

/// Prepares `graph.global_max_pool`.
pub(super) fn channel_maxima(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    max_along(m, args, ReducedAxes::of_channels(m, args)?)
}

fn max_along(m: &Module, args: &OpArgs<'_>, axes: ReducedAxes) -> Option<Prepared> {
    match ordered_kind(m, args)? {
        DType::F32 => Some(folded(axes, Largest, |x| x as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, _>(axes, PlainLargest, |x| x))),
    }
}

/// Prepares `graph.reduce_min`.
pub(super) fn min(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let axes = ReducedAxes::of(m, args)?;
    match ordered_kind(m, args)? {
        DType::F32 => Some(folded(axes, Smallest, |x| x as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, _>(axes, PlainSmallest, |x| x))),
    }
}

/// Prepares `graph.arg_max`.
pub(super) fn arg_max(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = dtype(m, args.operand_type(0)).filter(|&from| from != DType::Bool)?;
    dispatch!(from, T => position::<T>(m, args, |x, best| x > best))
}

/// Prepares `graph.arg_min`.
pub(super) fn arg_min(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = dtype(m, args.operand_type(0)).filter(|&from| from != DType::Bool)?;
    dispatch!(from, T => position::<T>(m, args, |x, best| x < best))
}

/// Prepares the position of the best element along an axis, where NaN is best, as in NumPy.
fn position<T: ElementArithmetic>(
    m: &Module,
    args: &OpArgs<'_>,
    is_better: impl Fn(T, T) -> bool + Copy + Send + Sync + 'static,
) -> Option<Prepared> {
    let shape = extents(m, args.operand_type(0))?;
    let axis = normalize_axis(args.int("axis")?, shape.len()).ok()?;
    let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let is_last = args.flag("select_last_index");
    let to = *args.result_types.first()?;
    let results: usize = extents(m, to)?.iter().product();
    if extent == 0 || dtype(m, to) != Some(DType::I64) || results != shape[..axis].iter().product::<usize>() * inner {
        return None;
    }
    let kernel = Kernel::shared([0], move |workers: &Workers, data, out| {
        let (x, out): (&[T], &mut [i64]) = (elements(data[0]), elements_mut(out));
        let threads = workers.for_steps(x.len() / ELEMENTS_PER_STEP);
        let blocks = x.chunks_exact((extent * inner).max(1)).zip(out.chunks_exact_mut(inner.max(1)));
        workers.share(threads, blocks, |(block, out)| {
            if inner == 1 {
                return out[0] = best_of_row(block, is_better, is_last) as i64;
            }
            let mut best = block[..inner].to_vec();
            out.fill(0);
            for (i, row) in block.chunks_exact(inner).enumerate().skip(1) {
                for ((best, &x), at) in best.iter_mut().zip(row).zip(out.iter_mut()) {
                    let [is_nan, was_nan] = [x, *best].map(|x| x.partial_cmp(&x).is_none());
                    let is_equal = is_last && (x == *best || is_nan && was_nan);
                    if (is_nan || is_better(x, *best)) && !was_nan || is_equal {
                        (*best, *at) = (x, i as i64);
                    }
                }
            }
        });
        Ok(())
    });
    Some(kernel.into())
}

/// Returns the position of the best element of a row: the first, or the last, where NaN is best. Most chunks of a row have no better element
/// than those before.
fn best_of_row<T: ElementArithmetic>(row: &[T], is_better: impl Fn(T, T) -> bool + Copy, is_last: bool) -> usize {
    let (mut best, mut at) = (row[0], 0);
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    for (i, chunk) in row.chunks(64).enumerate() {
        // Either comparison is false of NaN.
        let is_worse = |&x: &T| is_better(best, x) || !is_last && best == x;
        if chunk.iter().fold(true, |all, x| all & is_worse(x)) {
            continue;
        }
        for (j, &x) in chunk.iter().enumerate() {
            let is_equal = is_last && (x == best || is_nan(x) && is_nan(best));
            if (is_nan(x) || is_better(x, best)) && !is_nan(best) || is_equal {
                (best, at) = (x, i * 64 + j);
            }
        }
    }
    at
}
