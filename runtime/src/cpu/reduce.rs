//! Reductions along neighbouring axes, and positions of extrema.

use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::{Kernel, Prepared, constant, dtype, extents};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use gradus_reference_kernels::shape::{normalize_axis, reduction_axes};

/// Products of the extents before, along and after the reduced axes.
#[derive(Clone, Copy)]
struct Lanes {
    extent: usize,
    inner: usize,
}

impl Lanes {
    /// Returns the extents for a constant list of neighbouring axes.
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<Lanes> {
        let shape = extents(m, args.operand_type(0))?;
        let axes = match args.opt_operand("axes") {
            Some(_) => constant(args, "axes")?.to_i64()?,
            None => Vec::new(),
        };
        let axes = reduction_axes(&axes, shape.len(), args.flag("noop_with_empty_axes")).ok()?;
        let first = axes.first().copied().unwrap_or(shape.len());
        let are_neighbours = axes.iter().enumerate().all(|(i, &axis)| axis == first + i);
        let end = first + axes.len();
        let lanes = Lanes { extent: shape[first..end].iter().product(), inner: shape[end..].iter().product() };
        let results: usize = extents(m, *args.result_types.first()?)?.iter().product();
        let fits = results == shape[..first].iter().product::<usize>() * lanes.inner;
        (are_neighbours && fits && lanes.extent > 0).then_some(lanes)
    }
}

/// Number of elements whose reduction takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// Creates a kernel that folds the elements of each lane: `start` and `step` accumulate, `finish` rounds.
fn folded<T: ElementArithmetic, A: Copy + Send + Sync + 'static>(
    lanes: Lanes,
    start: fn(T) -> A,
    step: fn(A, T) -> A,
    finish: impl Fn(A) -> T + Send + Sync + 'static,
) -> Prepared {
    let Lanes { extent, inner } = lanes;
    Kernel::shared([0], move |workers, data, out| {
        let (x, out): (&[T], &mut [T]) = (elements(data[0]), elements_mut(out));
        let threads = workers.for_steps(x.len() / ELEMENTS_PER_STEP);
        let blocks = x.chunks_exact((extent * inner).max(1)).zip(out.chunks_exact_mut(inner.max(1)));
        workers.share(threads, blocks, |(block, out)| {
            if inner == 1 {
                let (first, rest) = block.split_first().expect("an extent is positive");
                out[0] = finish(rest.iter().fold(start(*first), |sum, &x| step(sum, x)));
                return;
            }
            let mut sums: Vec<A> = block[..inner].iter().map(|&x| start(x)).collect();
            for row in block[inner..].chunks_exact(inner) {
                sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum = step(*sum, x));
            }
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

/// Prepares `graph.reduce_sum`. Floats are summed in f64.
pub(super) fn sum(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    match kind(m, args)? {
        DType::F32 => Some(folded(lanes, f64::from, |sum, x: f32| sum + f64::from(x), |sum| sum as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, T>(lanes, |x| x, T::plus, |sum| sum))),
    }
}

/// Prepares `graph.reduce_mean` of floats, summed in f64.
pub(super) fn mean(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    let count = lanes.extent as f64;
    match kind(m, args)? {
        DType::F32 => Some(folded(lanes, f64::from, |sum, x: f32| sum + f64::from(x), move |sum| (sum / count) as f32)),
        DType::F64 => Some(folded(lanes, |x| x, |sum: f64, x: f64| sum + x, move |sum| sum / count)),
        _ => None,
    }
}

/// Prepares `graph.reduce_sum_square`.
pub(super) fn sum_square(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    let square = |x: f32| f64::from(x) * f64::from(x);
    match kind(m, args)? {
        DType::F32 => {
            Some(folded(lanes, square, move |sum, x: f32| sum + f64::from(x) * f64::from(x), |sum| sum as f32))
        }
        kind => {
            dispatch!(kind, T => Some(folded::<T, T>(lanes, |x| x.times(x), |sum, x| sum.plus(x.times(x)), |sum| sum)))
        }
    }
}

/// Prepares `graph.reduce_l2` of f32.
pub(super) fn l2(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (lanes, square) = (Lanes::of(m, args)?, |x: f32| f64::from(x) * f64::from(x));
    let is_f32 = kind(m, args)? == DType::F32;
    let add = |sum: f64, x: f32| sum + f64::from(x) * f64::from(x);
    is_f32.then(|| folded(lanes, square, add, |sum| sum.sqrt() as f32))
}

/// Prepares `graph.reduce_l1` of f32.
pub(super) fn l1(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (lanes, size) = (Lanes::of(m, args)?, |x: f32| f64::from(x).abs());
    let is_f32 = kind(m, args)? == DType::F32;
    is_f32.then(|| folded(lanes, size, |sum: f64, x: f32| sum + f64::from(x).abs(), |sum| sum as f32))
}

/// Prepares `graph.reduce_log_sum` of f32.
pub(super) fn log_sum(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    let is_f32 = kind(m, args)? == DType::F32;
    is_f32.then(|| folded(lanes, f64::from, |sum, x: f32| sum + f64::from(x), |sum| sum.ln() as f32))
}

/// Prepares `graph.reduce_prod`. Products of f32 are computed in f64.
pub(super) fn product(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    match kind(m, args)? {
        DType::F32 => Some(folded(lanes, f64::from, |all, x: f32| all * f64::from(x), |all| all as f32)),
        kind => dispatch!(kind, T => Some(folded::<T, T>(lanes, |x| x, T::times, |all| all))),
    }
}

/// Prepares `graph.reduce_max`.
pub(super) fn max(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    dispatch!(kind(m, args)?, T => Some(folded::<T, T>(lanes, |x| x, T::larger, |x| x)))
}

/// Prepares `graph.reduce_min`.
pub(super) fn min(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let lanes = Lanes::of(m, args)?;
    dispatch!(kind(m, args)?, T => Some(folded::<T, T>(lanes, |x| x, T::smaller, |x| x)))
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
fn position<T: ElementArithmetic>(m: &Module, args: &OpArgs<'_>, is_better: fn(T, T) -> bool) -> Option<Prepared> {
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
