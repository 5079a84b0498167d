//! Reductions, arg-reductions and cumulative sums along axes.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::movement::{around, transpose};
use crate::num::{Num, Real, dispatch, fold_unordered, unsupported};
use crate::shape::{normalize_axes, normalize_axis, reduce_dims};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};

/// The kind of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// Sum.
    Sum,
    /// Mean; truncated towards zero for integers.
    Mean,
    /// Maximum; NaN propagates. Also of booleans.
    Max,
    /// Minimum; NaN propagates. Also of booleans.
    Min,
    /// Product.
    Prod,
    /// Sum of absolute values.
    L1,
    /// Square root of the sum of squares.
    L2,
    /// Logarithm of the sum.
    LogSum,
    /// Logarithm of the sum of exponentials, without overflow.
    LogSumExp,
    /// Sum of squares.
    SumSquare,
}

/// Extents of the axes before, within and after the reduced ones.
pub(super) struct Lanes {
    pub(super) outer: usize,
    pub(super) extent: usize,
    pub(super) inner: usize,
}

/// Returns the reduced axes, normalized and sorted. Empty `axes` means all, or none with `noop_with_empty_axes`.
pub fn reduction_axes(axes: &[i64], rank: usize, noop_with_empty_axes: bool) -> Result<Vec<usize>, Violation> {
    if axes.is_empty() {
        return Ok(if noop_with_empty_axes { vec![] } else { (0..rank).collect() });
    }
    let mut axes = normalize_axes(axes, rank)?;
    axes.sort_unstable();
    Ok(axes)
}

/// Makes the reduced axes adjacent, by a copy if necessary.
fn lanes(x: &Tensor, axes: &[usize]) -> Result<(Tensor, Lanes), Violation> {
    let product = |dims: &mut dyn Iterator<Item = usize>| dims.fold(1usize, usize::saturating_mul);
    // An axis of extent 1 separates none of the others.
    let axes: Vec<usize> = axes.iter().copied().filter(|&a| x.shape()[a] != 1).collect();
    let extent = product(&mut axes.iter().map(|&a| x.shape()[a]));
    let first = axes.first().copied().unwrap_or(0);
    if axes.iter().enumerate().all(|(i, &a)| a == first + i) {
        let outer = product(&mut x.shape()[..first].iter().copied());
        let inner = product(&mut x.shape()[first + axes.len()..].iter().copied());
        return Ok((x.clone(), Lanes { outer, extent, inner }));
    }
    let kept: Vec<usize> = (0..x.rank()).filter(|a| !axes.contains(a)).collect();
    let outer = product(&mut kept.iter().map(|&a| x.shape()[a]));
    let perm: Vec<i64> = kept.iter().chain(&axes).map(|&a| a as i64).collect();
    Ok((transpose(x, &perm)?, Lanes { outer, extent, inner: 1 }))
}

/// Number of adjacent lanes that are folded at once, because the steps of one depend on each other.
const JOINT: usize = 4;

/// Folds the elements of every lane, in order, into an accumulator, which `init` creates for a lane.
pub(super) fn fold<T: Copy, A: Copy, R>(
    data: &[T],
    lanes: &Lanes,
    init: impl Fn(usize) -> A,
    step: impl Fn(A, T) -> A,
    finish: impl Fn(A) -> R,
) -> Vec<R> {
    let &Lanes { outer, extent, inner } = lanes;
    let mut out = Vec::new();
    if inner == 1 {
        let lane = |o: usize| &data[o * extent..][..extent];
        let joint = outer / JOINT * JOINT;
        for first in (0..joint).step_by(JOINT) {
            let [a, b, c, d] = std::array::from_fn(|k| lane(first + k));
            let [mut w, mut x, mut y, mut z] = std::array::from_fn(|k| init(first + k));
            for (((&a, &b), &c), &d) in a.iter().zip(b).zip(c).zip(d) {
                (w, x, y, z) = (step(w, a), step(x, b), step(y, c), step(z, d));
            }
            out.extend([w, x, y, z].map(&finish));
        }
        out.extend((joint..outer).map(|o| finish(lane(o).iter().fold(init(o), |a, &v| step(a, v)))));
        return out;
    }
    for (o, block) in (0..outer).map(|o| (o, &data[o * extent * inner..][..extent * inner])) {
        let mut sums: Vec<A> = (o * inner..(o + 1) * inner).map(&init).collect();
        for row in block.chunks_exact(inner.max(1)) {
            sums.iter_mut().zip(row).for_each(|(a, &v)| *a = step(*a, v));
        }
        out.extend(sums.iter().map(|&a| finish(a)));
    }
    out
}

/// `ReduceSum`, `ReduceMean` and the other reductions (1, 11, 13, 18): reduce along `axes` (all if empty, none with
/// `noop_with_empty_axes`), which are kept with extent 1 if `keepdims`. Every number type; `Bool` for the extrema. Sums
/// of floats accumulate in `f64`.
pub fn reduce(x: &Tensor, kind: Reduction, axes: &[i64], keepdims: bool, noop_with_empty_axes: bool) -> KernelResult {
    let axes = reduction_axes(axes, x.rank(), noop_with_empty_axes)?;
    let shape = reduce_dims(x.shape(), &axes, keepdims);
    super::shape::checked_elements(&shape)?;
    let (x, lanes) = lanes(x, &axes)?;
    if x.dtype() == DType::Bool {
        let data = x.as_slice::<u8>();
        let out = match kind {
            Reduction::Max => fold(&data, &lanes, |_| 0, |a: u8, v| a | v, |a| a),
            Reduction::Min => fold(&data, &lanes, |_| 1, |a: u8, v| a & v, |a| a),
            _ => return Err(unsupported("this reduction", DType::Bool).into()),
        };
        return Ok(Tensor::from_bools(&shape, out));
    }
    let integral = matches!(kind, Reduction::Sum | Reduction::Prod | Reduction::L1 | Reduction::SumSquare);
    let x = &x;
    match kind {
        Reduction::Max | Reduction::Min => reduce_order(x, &shape, &lanes, kind == Reduction::Max),
        _ if x.dtype().is_float() => dispatch!(float, "reduce", (x), T => {
            Ok(Tensor::from_vec(&shape, reduce_float::<T>(&x.as_slice::<T>(), &lanes, kind)))
        }),
        _ if integral => dispatch!(int, "reduce", (x), T => {
            Ok(Tensor::from_vec(&shape, reduce_int::<T>(&x.as_slice::<T>(), &lanes, kind)))
        }),
        // Non-integer results truncate.
        _ => Ok(from_f64s(x.dtype(), &shape, reduce_float(&x.to_f64(), &lanes, kind))),
    }
}

/// Returns the extrema; the opposite end of the type for empty lanes.
fn reduce_order(x: &Tensor, shape: &[usize], lanes: &Lanes, largest: bool) -> KernelResult {
    let end = from_f64s(x.dtype(), &[], vec![if largest { f64::NEG_INFINITY } else { f64::INFINITY }]);
    let end = &end;
    dispatch!(number, "reduce", (x, end), T => {
        let (data, start) = (x.as_slice::<T>(), end.as_slice::<T>()[0]);
        let better = |a, b| if largest { Num::max(a, b) } else { Num::min(a, b) };
        Ok(Tensor::from_vec(shape, fold(&data, lanes, |_| start, better, |a| a)))
    })
}

/// Reductions of floats, accumulated in `f64`.
fn reduce_float<T: Num>(data: &[T], lanes: &Lanes, kind: Reduction) -> Vec<T> {
    let finish = |sum: f64| {
        T::from_f64(match kind {
            Reduction::Mean => sum / lanes.extent as f64,
            Reduction::L2 => sum.sqrt(),
            Reduction::LogSum => sum.ln(),
            _ => sum,
        })
    };
    match kind {
        Reduction::Prod => fold(data, lanes, |_| 1.0, |a, v| a * v.to_f64(), finish),
        Reduction::L1 => fold(data, lanes, |_| 0.0, |a, v| a + v.to_f64().abs(), finish),
        Reduction::L2 | Reduction::SumSquare => fold(data, lanes, |_| 0.0, |a, v| a + v.to_f64() * v.to_f64(), finish),
        Reduction::LogSumExp => {
            let start = (f64::NEG_INFINITY, 0.0);
            fold(data, lanes, |_| start, |a, v| add_exp(a, v.to_f64()), |(m, s)| T::from_f64(log_of(m, s)))
        }
        _ => fold(data, lanes, |_| 0.0, |a, v| a + v.to_f64(), finish),
    }
}

/// Reductions of integers to integers, which wrap.
fn reduce_int<T: Num>(data: &[T], lanes: &Lanes, kind: Reduction) -> Vec<T> {
    match kind {
        Reduction::Prod => fold(data, lanes, |_| T::ONE, Num::mul, |a| a),
        Reduction::L1 => fold(data, lanes, |_| T::ZERO, |a: T, v: T| a.add(Num::abs(v)), |a| a),
        Reduction::SumSquare => fold(data, lanes, |_| T::ZERO, |a: T, v: T| a.add(v.mul(v)), |a| a),
        _ => fold(data, lanes, |_| T::ZERO, Num::add, |a| a),
    }
}

/// Adds `exp(v)` to a sum stored as `exp(max) * scaled`.
fn add_exp((max, scaled): (f64, f64), v: f64) -> (f64, f64) {
    if v <= max {
        // The difference of equal infinities is NaN, but they are equal terms.
        (max, scaled + if v == max { 1.0 } else { Real::exp(v - max) })
    } else {
        (v, if scaled == 0.0 { 1.0 } else { scaled * Real::exp(max - v) + 1.0 })
    }
}

/// Returns the logarithm of a sum stored as `exp(max) * scaled`.
fn log_of(max: f64, scaled: f64) -> f64 {
    if max.is_infinite() { max } else { max + Real::ln(scaled) }
}

/// Returns the position of the extremum of every lane along `axis`.
fn arg(x: &Tensor, axis: i64, keepdims: bool, last: bool, largest: bool) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let (lanes, shape) = (x.shape()[axis], reduce_dims(x.shape(), &[axis], keepdims));
    let (outer, inner) = around(x.shape(), axis);
    if lanes == 0 && super::shape::checked_elements(&shape)? > 0 {
        return Err("an empty axis has no extremum".into());
    }
    dispatch!(number, "arg_max", (x), T => {
        let data = x.as_slice::<T>();
        let is_nan = |v: &T| v.partial_cmp(v).is_none();
        let mut out = vec![0; if data.is_empty() { 0 } else { outer * inner }];
        let blocks = data.chunks_exact(lanes.saturating_mul(inner).max(1));
        for (block, out) in blocks.zip(out.chunks_exact_mut(inner.max(1))) {
            if inner == 1 {
                let best = match largest {
                    true => fold_unordered(block, T::LOWEST, Num::max),
                    false => fold_unordered(block, T::HIGHEST, Num::min),
                };
                // NaN counts as the extremum, as in NumPy.
                let is_best = |v: &T| *v == best || is_nan(v) && is_nan(&best);
                let at = if last { block.iter().rposition(is_best) } else { block.iter().position(is_best) };
                out[0] = at.unwrap_or(0) as i64;
                continue;
            }
            let mut best = block[..inner].to_vec();
            for (i, row) in (0i64..).zip(block.chunks_exact(inner)).skip(1) {
                for ((best, &v), index) in best.iter_mut().zip(row).zip(&mut *out) {
                    let better = if largest { v > *best } else { v < *best };
                    let nan = is_nan(&v) && (last || !is_nan(best));
                    if better || nan || (last && v == *best) {
                        (*best, *index) = (v, i);
                    }
                }
            }
        }
        Ok(Tensor::from_vec(&shape, out))
    })
}

/// `ArgMax` (1, 11, 12, 13): the `i64` index of the maximum along `axis`; the first, or with `select_last_index` the
/// last, of several.
pub fn arg_max(x: &Tensor, axis: i64, keepdims: bool, select_last_index: bool) -> KernelResult {
    arg(x, axis, keepdims, select_last_index, true)
}

/// `ArgMin` (1, 11, 12, 13): as [`arg_max`], of the minimum.
pub fn arg_min(x: &Tensor, axis: i64, keepdims: bool, select_last_index: bool) -> KernelResult {
    arg(x, axis, keepdims, select_last_index, false)
}

/// `CumSum` (11, 14): cumulative sum along `axis`, in the element type; `exclusive` omits the element itself, `reverse`
/// starts from the end.
pub fn cum_sum(x: &Tensor, axis: i64, exclusive: bool, reverse: bool) -> KernelResult {
    dispatch!(number, "cum_sum", (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        run_along(&mut out, x.shape(), axis, exclusive, reverse, T::ZERO, T::add)?;
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// `CumProd` (26): cumulative product along `axis`; otherwise as [`cum_sum`].
pub fn cum_prod(x: &Tensor, axis: i64, exclusive: bool, reverse: bool) -> KernelResult {
    dispatch!(number, "cum_prod", (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        run_along(&mut out, x.shape(), axis, exclusive, reverse, T::ONE, T::mul)?;
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// Replaces every element by the scan `f` of the elements up to it along `axis`.
fn run_along<T: Copy>(
    data: &mut [T],
    shape: &[usize],
    axis: i64,
    exclusive: bool,
    reverse: bool,
    start: T,
    f: impl Fn(T, T) -> T,
) -> Result<(), Violation> {
    let axis = normalize_axis(axis, shape.len())?;
    let inner = around(shape, axis).1;
    let scan = |v: &mut T, sum: &mut T| {
        let next = f(*sum, *v);
        *v = if exclusive { *sum } else { next };
        *sum = next;
    };
    let mut sums = vec![start; if data.is_empty() { 0 } else { inner }];
    for block in data.chunks_exact_mut(shape[axis].saturating_mul(inner).max(1)) {
        sums.fill(start);
        let mut scan_row = |row: &mut [T]| row.iter_mut().zip(&mut sums).for_each(|(v, sum)| scan(v, sum));
        let mut sum = start;
        match (inner, reverse) {
            (1, false) => block.iter_mut().for_each(|v| scan(v, &mut sum)),
            (1, true) => block.iter_mut().rev().for_each(|v| scan(v, &mut sum)),
            (_, false) => block.chunks_exact_mut(inner).for_each(&mut scan_row),
            (_, true) => block.chunks_exact_mut(inner).rev().for_each(&mut scan_row),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iota() -> Tensor {
        Tensor::from_vec(&[2, 3, 2], (1..=12i32).collect())
    }

    #[test]
    fn axes_inside_and_apart() {
        let sum = |axes: &[i64]| reduce(&iota(), Reduction::Sum, axes, false, false).unwrap().to_i64().unwrap();
        assert_eq!(sum(&[1]), [9, 12, 27, 30]);
        assert_eq!(sum(&[0, -1]), [18, 26, 34]);
        assert_eq!(sum(&[]), [78]);
        assert_eq!(reduce(&iota(), Reduction::Max, &[2], true, false).unwrap().shape(), [2, 3, 1]);
        assert!(reduce(&iota(), Reduction::Sum, &[3], false, false).is_err());
    }

    #[test]
    fn floats_neither_overflow_nor_lose_nan() {
        let x = Tensor::from_vec(&[2], vec![1000f32, 1000.0]);
        let lse = reduce(&x, Reduction::LogSumExp, &[], false, false).unwrap().to_f64()[0];
        assert!((lse - 1_000.693_147).abs() < 1e-3);
        let nan = Tensor::from_vec(&[2], vec![f32::NAN, 1.0]);
        assert!(reduce(&nan, Reduction::Max, &[], false, false).unwrap().to_f64()[0].is_nan());
        let empty = Tensor::from_vec(&[2, 0], Vec::<f32>::new());
        assert_eq!(reduce(&empty, Reduction::Min, &[1], false, false).unwrap().to_f64(), [f64::INFINITY; 2]);
    }

    #[test]
    fn positions_and_running_sums() {
        let x = Tensor::from_vec(&[1, 4], vec![3i32, 7, 7, 1]);
        assert_eq!(arg_max(&x, 1, true, false).unwrap().to_i64().unwrap(), [1]);
        assert_eq!(arg_max(&x, -1, true, true).unwrap().to_i64().unwrap(), [2]);
        assert_eq!(arg_min(&x, 1, false, false).unwrap().to_i64().unwrap(), [3]);
        assert_eq!(cum_sum(&x, 1, true, true).unwrap().to_i64().unwrap(), [15, 8, 1, 0]);
    }
}
