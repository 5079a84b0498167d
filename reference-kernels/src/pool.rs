//! Pooling over sliding windows and over whole images.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::movement::{buffer, from_bytes};
use crate::num::{Num, dispatch, unsupported};
use crate::shape::{Window, WindowAttrs, checked_elements, pool_window};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};
use std::ops::Range;

/// Number of output positions per plan, which bounds the plan's memory.
const CHUNK: usize = 4096;

/// The elements that windows read at some output positions; the same for every image.
struct WindowPlan {
    /// Input positions of all windows, concatenated.
    positions: Vec<usize>,
    /// Per window: its range in `positions`, and its number of taps inside the padded input.
    windows: Vec<(Range<usize>, usize)>,
}

/// For one output position along one axis: input positions of the taps, and number of taps inside the padded input.
type AxisTaps = (Vec<usize>, usize);

/// Taps of every output position along one axis.
fn axis_taps(window: &Window, axis: usize) -> Vec<AxisTaps> {
    let (n, before) = (window.input[axis], window.pads_begin[axis]);
    let padded = n + before + window.pads_end[axis];
    let taps = |o: usize| {
        let at = (0..window.kernel[axis]).map(|k| o * window.strides[axis] + k * window.dilations[axis]);
        // Taps ascend, so the cost is bounded by the input even for huge kernels.
        let at = at.take_while(|&p| p < padded);
        let (mut inside, mut count) = (Vec::new(), 0);
        for p in at {
            count += 1;
            inside.extend(p.checked_sub(before).filter(|&p| p < n));
        }
        (inside, count)
    };
    (0..window.output[axis]).map(taps).collect()
}

impl WindowPlan {
    /// Plans the given output positions.
    fn new(axes: &[Vec<AxisTaps>], input: &[usize], outputs: Range<usize>) -> WindowPlan {
        let mut plan = WindowPlan { positions: Vec::new(), windows: Vec::with_capacity(outputs.len()) };
        for output in outputs {
            let (mut rest, mut step, mut count) = (output, 1, 1);
            let first = plan.positions.len();
            plan.positions.push(0);
            let mut coordinates = Vec::with_capacity(axes.len());
            for taps in axes.iter().rev() {
                coordinates.push(rest % taps.len());
                rest /= taps.len();
            }
            coordinates.reverse();
            // Build from the innermost axis outwards, for row-major order, which decides among equal maxima.
            for (axis, taps) in axes.iter().enumerate().rev() {
                let (inside, padded) = &taps[coordinates[axis]];
                let inner = plan.positions.split_off(first);
                let all = inside.iter().flat_map(|&p| inner.iter().map(move |&i| i + p * step));
                plan.positions.extend(all);
                step *= input[axis];
                count *= padded;
            }
            plan.windows.push((first..plan.positions.len(), count));
        }
        plan
    }
}

/// Calls `f` with every image, and every window's input positions and padded size, in chunks of output positions.
/// Returns `images * outputs` elements in row-major order.
fn each_window<T: Num, R: Clone + Default>(
    x: &[T],
    shape: &[usize],
    window: &Window,
    f: impl Fn(usize, &[T], &[usize], usize) -> R,
) -> Result<Vec<R>, Violation> {
    let out_shape = [&shape[..2], window.output.as_slice()].concat();
    let mut out = vec![R::default(); checked_elements(&out_shape)?];
    if out.is_empty() || window.input.contains(&0) {
        return Ok(out);
    }
    let axes: Vec<_> = (0..window.input.len()).map(|axis| axis_taps(window, axis)).collect();
    let (area, outputs) = (window.input.iter().product::<usize>(), window.output.iter().product::<usize>());
    for start in (0..outputs).step_by(CHUNK) {
        let plan = WindowPlan::new(&axes, &window.input, start..outputs.min(start + CHUNK));
        for (i, image) in x.chunks_exact(area).enumerate() {
            let into = &mut out[i * outputs + start..][..plan.windows.len()];
            for (o, (at, count)) in into.iter_mut().zip(&plan.windows) {
                *o = f(i, image, &plan.positions[at.clone()], *count);
            }
        }
    }
    Ok(out)
}

/// Returns the shape of a pooled tensor.
fn out_shape(x: &Tensor, window: &Window) -> Vec<usize> {
    [&x.shape()[..2], window.output.as_slice()].concat()
}

/// `MaxPool` (1, 8, 10, 11, 12, 22) of `[N, C, D...]`: the maximum of every window, and its index in the flattened
/// input, row-major or, with `column_major` (`storage_order` 1), column-major per image. Every number type. A window in
/// the padding yields the lowest value and index -1.
pub fn max_pool(x: &Tensor, attrs: &WindowAttrs, column_major: bool) -> Result<[Tensor; 2], Violation> {
    let window = pool_window(x.shape(), attrs)?;
    let shape = out_shape(x, &window);
    let area: usize = window.input.iter().product();
    let index = |image: usize, at: usize| (image * area + transposed_index(&window.input, at)) as i64;
    let outputs: usize = window.output.iter().product::<usize>().max(1);
    let indices = dispatch!(number, "max_pool", (x), T => {
        let best = |_, image: &[T], positions: &[usize], _| {
            let mut positions = positions.iter();
            let mut best = positions.next().map_or((T::LOWEST, usize::MAX), |&p| (image[p], p));
            for &p in positions {
                // The first NaN, if any.
                if image[p] > best.0 || image[p].partial_cmp(&image[p]).is_none() && best.0.partial_cmp(&best.0).is_some() {
                    best = (image[p], p);
                }
            }
            best.1
        };
        let at = each_window(&x.as_slice::<T>(), x.shape(), &window, best)?;
        let none = |p: usize| p == usize::MAX || area == 0;
        let row_major = |(i, &p): (usize, &usize)| if none(p) { -1 } else { (i / outputs * area + p) as i64 };
        Ok(Tensor::from_vec(&shape, at.iter().enumerate().map(row_major).collect()))
    })?;
    let (size, lowest) = (x.dtype().size(), from_f64s(x.dtype(), &[], vec![f64::NEG_INFINITY]));
    let mut values = buffer(x.dtype(), &shape)?;
    let at = indices.as_slice::<i64>();
    for p in at.iter() {
        let from = usize::try_from(*p).map_or(&lowest.bytes()[..], |p| &x.bytes()[p * size..(p + 1) * size]);
        values.extend_from_slice(from);
    }
    let index = |(i, &p): (usize, &i64)| match usize::try_from(p) {
        Ok(p) if column_major => index(i / outputs, p % area),
        _ => p,
    };
    let indices = Tensor::from_vec(&shape, at.iter().enumerate().map(index).collect());
    Ok([from_bytes(x.dtype(), &shape, values)?, indices])
}

/// Converts a row-major index to column-major.
pub fn transposed_index(shape: &[usize], at: usize) -> usize {
    let (mut rest, mut digits) = (at, Vec::with_capacity(shape.len()));
    for &extent in shape.iter().rev() {
        digits.push(rest % extent);
        rest /= extent;
    }
    // The last axis, whose digit comes first, has the largest stride.
    digits.iter().zip(shape.iter().rev()).fold(0, |sum, (&digit, &extent)| sum * extent + digit)
}

/// Folds every window of a float tensor in `f64`.
fn pool_float(
    op: &str,
    x: &Tensor,
    attrs: &WindowAttrs,
    step: impl Fn(f64) -> f64,
    finish: impl Fn(f64, usize, usize) -> f64,
) -> KernelResult {
    let window = pool_window(x.shape(), attrs)?;
    dispatch!(float, op, (x), T => {
        let fold = |_, image: &[T], positions: &[usize], padded: usize| {
            let sum = positions.iter().map(|&p| step(image[p].to_f64())).sum();
            T::from_f64(finish(sum, positions.len(), padded))
        };
        let out = each_window(&x.as_slice::<T>(), x.shape(), &window, fold)?;
        Ok(Tensor::from_vec(&out_shape(x, &window), out))
    })
}

/// `AveragePool` (1, 7, 10, 11, 19, 22) of a float `[N, C, D...]`: the mean of every window, over its elements or, with
/// `count_include_pad`, also over explicit padding (but not what `ceil_mode` adds).
pub fn average_pool(x: &Tensor, attrs: &WindowAttrs, count_include_pad: bool) -> KernelResult {
    let count = |inside: usize, padded: usize| if count_include_pad { padded } else { inside };
    pool_float("average_pool", x, attrs, |v| v, |sum, inside, padded| sum / count(inside, padded) as f64)
}

/// `LpPool` (2, 11, 18, 22) of a float `[N, C, D...]`: the `p`-norm of every window.
pub fn lp_pool(x: &Tensor, attrs: &WindowAttrs, p: i64) -> KernelResult {
    if is_euclidean(x, p) {
        // Adding 0.0 makes the sum of an empty window positive.
        return pool_float("lp_pool", x, attrs, |v| v.abs() * v.abs(), |sum, _, _| (sum + 0.0).sqrt());
    }
    let p = p as f64;
    pool_float("lp_pool", x, attrs, |v| v.abs().powf(p), |sum, _, _| sum.powf(1.0 / p))
}

/// Whether powers are computed as squares, which are exact for at most 24 bits, and square roots. `f64` would show the
/// last digits of `powf`.
fn is_euclidean(x: &Tensor, p: i64) -> bool {
    p == 2 && x.dtype() != DType::F64
}

/// Applies `f` to every channel of `[N, C, D...]`; the spatial extents become 1.
fn global<T: Num>(x: &Tensor, f: impl Fn(&[T]) -> T) -> KernelResult {
    if x.rank() < 2 {
        return Err(format!("global pooling needs [N, C, ...], not {:?}", x.shape()).into());
    }
    let shape: Vec<usize> = x.shape().iter().enumerate().map(|(i, &d)| if i < 2 { d } else { 1 }).collect();
    let images = checked_elements(&shape)?;
    let data = x.as_slice::<T>();
    let area = data.len().checked_div(images).unwrap_or(0);
    let out = (0..images).map(|i| f(&data[i * area..(i + 1) * area])).collect();
    Ok(Tensor::from_vec(&shape, out))
}

/// `GlobalAveragePool` (1, 22): the mean of every channel of a float `[N, C, D...]`.
pub fn global_average_pool(x: &Tensor) -> KernelResult {
    dispatch!(float, "global_average_pool", (x), T => global::<T>(x, |image| {
        T::from_f64(image.iter().map(|v| v.to_f64()).sum::<f64>() / image.len() as f64)
    }))
}

/// `GlobalMaxPool` (1, 22): the maximum of every channel of `[N, C, D...]`; NaN propagates.
pub fn global_max_pool(x: &Tensor) -> KernelResult {
    if x.dtype() == DType::Bool {
        return Err(unsupported("global_max_pool", x.dtype()).into());
    }
    dispatch!(number, "global_max_pool", (x), T => global::<T>(x, |image| {
        image.iter().fold(T::LOWEST, |m, &v| Num::max(m, v))
    }))
}

/// `GlobalLpPool` (1, 2, 22): the `p`-norm of every channel of a float `[N, C, D...]`.
pub fn global_lp_pool(x: &Tensor, p: i64) -> KernelResult {
    let (euclidean, p) = (is_euclidean(x, p), p as f64);
    dispatch!(float, "global_lp_pool", (x), T => global::<T>(x, |image| {
        let elements = image.iter().map(|v| v.to_f64());
        T::from_f64(match euclidean {
            true => (elements.map(|v| v.abs() * v.abs()).sum::<f64>() + 0.0).sqrt(),
            false => elements.map(|v| v.abs().powf(p)).sum::<f64>().powf(1.0 / p),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attrs(kernel: &[i64], strides: &[i64], pads: &[i64], ceil_mode: bool) -> WindowAttrs {
        let (kernel_shape, strides, pads) = (kernel.to_vec(), strides.to_vec(), pads.to_vec());
        WindowAttrs { kernel_shape, strides, pads, ceil_mode, ..WindowAttrs::default() }
    }

    #[test]
    fn maxima_and_indices() {
        let x = Tensor::from_vec(&[1, 1, 2, 3], vec![1i8, 5, 2, 7, 0, 3]);
        let [y, i] = max_pool(&x, &attrs(&[2, 2], &[], &[], false), false).unwrap();
        assert_eq!((y.to_i64().unwrap(), i.to_i64().unwrap()), (vec![7, 5], vec![3, 1]));
        let [_, i] = max_pool(&x, &attrs(&[2, 2], &[], &[], false), true).unwrap();
        assert_eq!(i.to_i64().unwrap(), [1, 2]);
    }

    #[test]
    fn averages_count_what_they_should() {
        let x = Tensor::from_vec(&[1, 1, 4], vec![1f32, 2.0, 3.0, 4.0]);
        let run = |ceil, include| average_pool(&x, &attrs(&[3], &[2], &[1, 0], ceil), include).unwrap().to_f64();
        assert_eq!(run(false, false), [1.5, 3.0]);
        assert_eq!(run(false, true), [1.0, 3.0]);
        assert_eq!(run(true, true), [1.0, 3.0]);
        let ceil = average_pool(&x, &attrs(&[3], &[2], &[0, 0], true), true).unwrap().to_f64();
        assert_eq!(ceil, [2.0, 3.5]);
        assert_eq!(global_average_pool(&x).unwrap().to_f64(), [2.5]);
    }
}
