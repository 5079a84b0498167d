//! Convolutions with any number of spatial axes, as a matrix product with the unfolded input (im2col). Unfolding
//! happens block by block while the product packs its operand.

use crate::KernelResult;
use crate::gemm::{Columns, KC, Matrix, Packed, gemm};
use crate::num::{Num, dispatch, wide};
use crate::shape::{ConvAttrs, ConvTransposeAttrs, Window, checked_elements, conv_transpose_window, conv_window};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;
use std::ops::Range;

/// `Conv` (1, 11, 22): `x` of `[N, C, D...]` by `weight` of `[M, C / group, K...]`, plus a `bias` of `[M]`.
pub fn conv(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, attrs: &ConvAttrs) -> KernelResult {
    check_types("conv", x, weight, bias, weight.shape().first().copied())?;
    let bias = bias.map(wide).transpose()?;
    let plan = ConvPlan::new(x.shape(), weight.shape(), attrs)?;
    dispatch!(float, "conv", (x, weight), T => {
        let bias = bias.as_ref().map(|b| b.as_slice::<T>());
        let start = |m: usize| bias.as_ref().map_or(T::NOTHING, |b| b[m]);
        let out = plan.run(&x.as_slice::<T>(), &weight.as_slice::<T>(), start, |c: &mut T, s| *c = c.add(s));
        Ok(Tensor::from_vec(&plan.shape, out))
    })
}

/// Computes a convolution in which products with zero filter elements are omitted, even of infinities and NaNs. Sums begin
/// with the bias and add one product at a time, by channels and then taps.
///
/// # Errors
/// Shapes, types or attributes do not fit.
pub fn sparse_conv(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, attrs: &ConvAttrs) -> KernelResult {
    check_types("conv", x, weight, bias, weight.shape().first().copied())?;
    let bias = bias.map(wide).transpose()?;
    let plan = ConvPlan::new(x.shape(), weight.shape(), attrs)?;
    dispatch!(float, "conv", (x, weight), T => {
        let bias = bias.as_ref().map(|b| b.as_slice::<T>());
        let out = plan.run_sparse(&x.as_slice::<T>(), &weight.as_slice::<T>(), |m| bias.as_ref().map(|b| b[m]));
        Ok(Tensor::from_vec(&plan.shape, out))
    })
}

/// Checks that the operands have the same type and the bias has `channels` elements.
fn check_types(
    op: &str,
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    channels: Option<usize>,
) -> Result<(), Violation> {
    if x.dtype() != w.dtype() || bias.is_some_and(|b| b.dtype() != x.dtype()) {
        return Err(format!("{op} operands differ in type: {x:?}, {w:?}").into());
    }
    match bias {
        Some(b) if b.rank() != 1 || Some(b.len()) != channels => {
            Err(format!("{op} bias {b:?} does not fit {w:?}").into())
        }
        _ => Ok(()),
    }
}

/// A verified convolution, independent of the element type.
pub(super) struct ConvPlan {
    /// Shape of the result.
    pub(super) shape: Vec<usize>,
    window: Window,
    group: usize,
    /// Input channels per group.
    channels: usize,
}

impl ConvPlan {
    /// Checks shapes and attributes.
    pub(super) fn new(x: &[usize], weight: &[usize], attrs: &ConvAttrs) -> Result<ConvPlan, Violation> {
        if x.len() < 3 {
            return Err(format!("a convolution needs spatial axes, which {x:?} lacks").into());
        }
        let (group, mut window) = conv_window(x, weight, attrs)?;
        let shape = [&[x[0], weight[0]], window.output.as_slice()].concat();
        checked_elements(&shape)?;
        checked_elements(&window.kernel).and(checked_elements(&weight[1..]))?;
        if window.is_pointwise() && !shape.contains(&0) {
            // One long row unfolds faster than many short ones.
            let n = window.input.iter().product();
            let one = || vec![1];
            let (input, output, pads_begin, pads_end) = (vec![n], vec![n], vec![0], vec![0]);
            window = Window { input, kernel: one(), strides: one(), dilations: one(), pads_begin, pads_end, output };
        }
        Ok(ConvPlan { shape, window, group, channels: weight[1] })
    }

    /// Computes the convolution. Elements of channel `m` start as `start(m)`; `add` accumulates sums of at most [`KC`]
    /// products.
    pub(super) fn run<T: Num, C: Clone>(
        &self,
        x: &[T],
        weight: &[T],
        start: impl Fn(usize) -> C,
        add: impl Fn(&mut C, T),
    ) -> Vec<C> {
        let (samples, m) = (self.shape[0], self.shape[1]);
        let spatial: usize = self.window.output.iter().product();
        let mut out = Vec::new();
        if self.shape.contains(&0) {
            return out;
        }
        (0..samples * m).for_each(|i| out.extend(std::iter::repeat_n(start(i % m), spatial)));
        let taps = Taps::new(&self.window);
        let (rows, depth, image) = (m / self.group, self.channels * taps.offsets.len(), taps.image * self.channels);
        let direct = self.channels == 1 && rows <= 2 && depth <= KC;
        for g in 0..self.group {
            let w = &weight[g * rows * depth..][..rows * depth];
            let packed = if direct { None } else { Some(Packed::new(w, rows, depth, depth, 1)) };
            for n in 0..samples {
                let input = &x[(n * self.group + g) * image..][..image];
                let into = &mut out[(n * m + g * rows) * spatial..][..rows * spatial];
                match &packed {
                    Some(packed) => gemm(packed, &Unfolded { taps: &taps, input }, spatial, into, &add),
                    None => into.chunks_exact_mut(spatial).zip(w.chunks_exact(depth)).for_each(|(c, w)| {
                        taps.depthwise(input, w, c, &add);
                    }),
                }
            }
        }
        out
    }
}

impl ConvPlan {
    /// Computes the convolution without the products with zeros.
    fn run_sparse<T: Num>(&self, x: &[T], weight: &[T], bias: impl Fn(usize) -> Option<T>) -> Vec<T> {
        let (samples, m, taps) = (self.shape[0], self.shape[1], Taps::new(&self.window));
        let (positions, count) = (self.window.output.iter().product::<usize>(), taps.offsets.len());
        let mut out = vec![T::ZERO; if self.shape.contains(&0) { 0 } else { samples * m * positions }];
        for (i, sums) in out.chunks_exact_mut(positions.max(1)).enumerate() {
            let (n, filter) = (i / m, i % m);
            let first = (n * self.group + filter / (m / self.group)) * self.channels;
            let row = &weight[filter * self.channels * count..][..self.channels * count];
            let is_empty = row.iter().all(|&w| w == T::ZERO);
            sums.fill(bias(filter).unwrap_or(if is_empty { T::ZERO } else { T::NOTHING }));
            for (k, &w) in row.iter().enumerate().filter(|(_, w)| **w != T::ZERO) {
                let image = &x[(first + k / count) * taps.image..][..taps.image];
                for (position, sum) in sums.iter_mut().enumerate() {
                    // Padding is multiplied like other elements, so that infinite filters give NaN there.
                    let value = taps.source(k % count, position).map_or(T::ZERO, |at| image[at]);
                    *sum = sum.add(value.mul(w));
                }
            }
        }
        out
    }
}

/// Input positions of the taps of a window, relative to the window.
struct Taps<'a> {
    window: &'a Window,
    /// Input position of each tap and axis at output position 0; negative in the padding.
    offsets: Vec<Vec<isize>>,
    /// Elements of one input channel.
    image: usize,
    /// Extent of the last output axis.
    width: usize,
}

impl<'a> Taps<'a> {
    /// The element of an input channel that a tap reads at an output position; `None` in the padding.
    fn source(&self, tap: usize, mut position: usize) -> Option<usize> {
        let (window, mut at, mut pitch) = (self.window, 0, 1);
        for axis in (0..window.output.len()).rev() {
            let output = position % window.output[axis] * window.strides[axis];
            let input = output.checked_add_signed(self.offsets[tap][axis]).filter(|&i| i < window.input[axis])?;
            at += input * pitch;
            pitch *= window.input[axis];
            position /= window.output[axis];
        }
        Some(at)
    }

    fn new(window: &'a Window) -> Self {
        let count: usize = window.kernel.iter().product();
        let offset = |tap: usize| {
            let (mut rest, mut at) = (tap, vec![0; window.kernel.len()]);
            for axis in (0..at.len()).rev() {
                let step = rest % window.kernel[axis] * window.dilations[axis];
                at[axis] = step.cast_signed() - window.pads_begin[axis].cast_signed();
                rest /= window.kernel[axis];
            }
            at
        };
        let width = window.output.last().copied().unwrap_or(1);
        Taps { window, offsets: (0..count).map(offset).collect(), image: window.input.iter().product(), width }
    }

    /// Returns the start of the input row that a tap reads for output row `row`; `None` in the padding.
    fn row_start(&self, offset: &[isize], row: usize) -> Option<usize> {
        let last = offset.len() - 1;
        let (mut rest, mut base, mut step) = (row, 0, self.window.input[last]);
        for axis in (0..last).rev() {
            let extent = self.window.output[axis];
            let at = (rest % extent * self.window.strides[axis]).checked_add_signed(offset[axis])?;
            rest /= extent;
            if at >= self.window.input[axis] {
                return None;
            }
            base += at * step;
            step *= self.window.input[axis];
        }
        Some(base)
    }

    /// Returns the range of positions along the last output axis, within `columns`, at which a tap is inside the input.
    fn inside(&self, offset: &[isize], columns: Range<usize>) -> Range<usize> {
        let last = offset.len() - 1;
        let valid = valid_range(offset[last], self.window.strides[last], self.window.input[last]);
        let start = valid.start.clamp(columns.start, columns.end);
        start..valid.end.clamp(start, columns.end)
    }

    /// Writes the elements that a tap reads for part of an output row; zeros in the padding.
    fn fill<T: Num>(&self, input: &[T], tap: usize, row: usize, columns: Range<usize>, out: &mut [T]) {
        let offset = &self.offsets[tap];
        let inside = self.inside(offset, columns.clone());
        let Some(base) = self.row_start(offset, row).filter(|_| !inside.is_empty()) else {
            return out.fill(T::ZERO);
        };
        let last = offset.len() - 1;
        let stride = self.window.strides[last];
        let first = base + (inside.start * stride).wrapping_add_signed(offset[last]);
        out[..inside.start - columns.start].fill(T::ZERO);
        out[inside.end - columns.start..].fill(T::ZERO);
        let into = &mut out[inside.start - columns.start..inside.end - columns.start];
        if stride == 1 {
            into.copy_from_slice(&input[first..first + into.len()]);
        } else {
            into.iter_mut().zip(input[first..].iter().step_by(stride)).for_each(|(o, &v)| *o = v);
        }
    }

    /// Convolves one input channel with one filter, where a matrix product does not pay off.
    fn depthwise<T: Num, C>(&self, input: &[T], filter: &[T], out: &mut [C], add: &impl Fn(&mut C, T)) {
        let last = self.window.strides.len() - 1;
        let stride = self.window.strides[last];
        let mut sums = vec![T::NOTHING; self.width];
        for (row, into) in out.chunks_exact_mut(self.width).enumerate() {
            sums.fill(T::NOTHING);
            for (offset, &w) in self.offsets.iter().zip(filter) {
                let inside = self.inside(offset, 0..self.width);
                // Padding is multiplied too: products of zero with infinity or NaN are not zero.
                let nothing = T::ZERO.mul(w);
                let Some(base) = self.row_start(offset, row).filter(|_| !inside.is_empty()) else {
                    sums.iter_mut().for_each(|s| *s = s.add(nothing));
                    continue;
                };
                let first = base + (inside.start * stride).wrapping_add_signed(offset[last]);
                let (before, rest) = sums.split_at_mut(inside.start);
                let (sums, behind) = rest.split_at_mut(inside.len());
                before.iter_mut().chain(behind).for_each(|s| *s = s.add(nothing));
                if stride == 1 {
                    let from = &input[first..first + sums.len()];
                    sums.iter_mut().zip(from).for_each(|(s, &v)| *s = s.add(v.mul(w)));
                } else {
                    let from = input[first..].iter().step_by(stride);
                    sums.iter_mut().zip(from).for_each(|(s, &v)| *s = s.add(v.mul(w)));
                }
            }
            into.iter_mut().zip(&sums).for_each(|(c, &s)| add(c, s));
        }
    }
}

/// Returns the range of `i` with `offset + i * stride` in `0..extent`.
pub(super) fn valid_range(offset: isize, stride: usize, extent: usize) -> Range<usize> {
    let before = if offset < 0 { offset.unsigned_abs() } else { 0 };
    let room = extent.saturating_add_signed(-offset);
    before.div_ceil(stride)..if offset >= extent.cast_signed() { 0 } else { room.div_ceil(stride) }
}

/// The im2col matrix `[taps, output positions]`.
struct Unfolded<'a, T> {
    taps: &'a Taps<'a>,
    /// Channels of one group of one sample.
    input: &'a [T],
}

impl<T: Num> Columns<T> for Unfolded<'_, T> {
    fn row(&self, k: usize, columns: Range<usize>, out: &mut [T]) {
        let (channel, tap) = (k / self.taps.offsets.len(), k % self.taps.offsets.len());
        let input = &self.input[channel * self.taps.image..][..self.taps.image];
        let (width, mut at) = (self.taps.width, columns.start);
        while at < columns.end {
            let (row, from) = (at / width, at % width);
            let to = width.min(from + columns.end - at);
            let done = at - columns.start;
            self.taps.fill(input, tap, row, from..to, &mut out[done..done + to - from]);
            at += to - from;
        }
    }
}

/// `ConvTranspose` (1, 11, 22): the gradient of a convolution with respect to its input. `x` is `[N, C, D...]`,
/// `weight` is `[C, M / group, K...]`, `bias` is `[M]`.
pub fn conv_transpose(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, attrs: &ConvTransposeAttrs) -> KernelResult {
    let (group, window) = conv_transpose_window(x.shape(), weight.shape(), attrs)?;
    let m = weight.shape()[1].checked_mul(group);
    check_types("conv_transpose", x, weight, bias, m)?;
    let bias = bias.map(wide).transpose()?;
    if x.rank() < 3 {
        return Err("conv_transpose needs spatial axes".into());
    }
    let shape = super::shape::conv_transpose_output_dims(x.shape(), weight.shape(), attrs)?;
    checked_elements(&shape)?;
    checked_elements(&[&weight.shape()[1..], &window.input].concat())?;
    dispatch!(float, "conv_transpose", (x, weight), T => {
        let bias = bias.as_ref().map(|b| b.as_slice::<T>());
        let start = |m: usize| bias.as_ref().map_or(T::ZERO, |b| b[m]);
        let out = transposed(&x.as_slice::<T>(), &weight.as_slice::<T>(), x.shape()[1], group, &window, &shape, start);
        Ok(Tensor::from_vec(&shape, out))
    })
}

/// Multiplies every input position by all filter taps at once, then scatters the products.
fn transposed<T: Num>(
    x: &[T],
    weight: &[T],
    channels: usize,
    group: usize,
    window: &Window,
    shape: &[usize],
    start: impl Fn(usize) -> T,
) -> Vec<T> {
    if shape.contains(&0) || channels == 0 {
        return (0..shape.iter().product()).map(|_| start(0)).collect();
    }
    // The taps of the convolution whose transpose this is, which reads `window.output`.
    let swapped = Window { input: window.output.clone(), output: window.input.clone(), ..window.clone() };
    let taps = Taps::new(&swapped);
    let (m, per_group) = (shape[1] / group, channels / group);
    let (positions, rows) = (window.input.iter().product::<usize>(), m * taps.offsets.len());
    let mut out = Vec::new();
    (0..shape[0] * shape[1]).for_each(|i| out.extend(std::iter::repeat_n(start(i % shape[1]), taps.image)));
    let mut products = vec![T::ZERO; rows * positions];
    for g in 0..group {
        let packed = Packed::new(&weight[g * per_group * rows..][..per_group * rows], rows, per_group, 1, rows);
        for n in 0..shape[0] {
            let data = &x[(n * channels + g * per_group) * positions..][..per_group * positions];
            products.fill(T::ZERO);
            gemm(&packed, &Matrix { data, row_step: positions, step: 1 }, positions, &mut products, |c, s| {
                *c = c.add(s);
            });
            let into = &mut out[(n * shape[1] + g * m) * taps.image..][..m * taps.image];
            for (k, products) in products.chunks_exact(positions).enumerate() {
                let filter = k / taps.offsets.len() * taps.image;
                taps.fold(products, k % taps.offsets.len(), &mut into[filter..filter + taps.image]);
            }
        }
    }
    out
}

impl Taps<'_> {
    /// Adds one tap's products to the output positions that the tap covers.
    fn fold<T: Num>(&self, products: &[T], tap: usize, image: &mut [T]) {
        let offset = &self.offsets[tap];
        let (last, inside) = (offset.len() - 1, self.inside(offset, 0..self.width));
        let stride = self.window.strides[last];
        for (row, products) in products.chunks_exact(self.width).enumerate() {
            let Some(base) = self.row_start(offset, row).filter(|_| !inside.is_empty()) else { continue };
            let first = base + (inside.start * stride).wrapping_add_signed(offset[last]);
            let into = image[first..].iter_mut().step_by(stride);
            into.zip(&products[inside.clone()]).for_each(|(i, &p)| *i = i.add(p));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::WindowAttrs;

    fn ones(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, vec![1f32; shape.iter().product()])
    }

    #[test]
    fn padded_and_strided() {
        let window = WindowAttrs { strides: vec![2], pads: vec![1, 1], ..WindowAttrs::default() };
        let x = Tensor::from_vec(&[1, 1, 4], vec![1f32, 2.0, 3.0, 4.0]);
        let attrs = ConvAttrs { window, group: 1 };
        assert_eq!(conv(&x, &ones(&[1, 1, 3]), None, &attrs).unwrap().to_f64(), [3.0, 9.0]);
        // Three filters use the matrix product instead of the direct path.
        let bias = Tensor::from_vec(&[3], vec![0f32, 10.0, 20.0]);
        let out = conv(&x, &ones(&[3, 1, 3]), Some(&bias), &attrs).unwrap();
        assert_eq!(out.to_f64(), [3.0, 9.0, 13.0, 19.0, 23.0, 29.0]);
        assert!(conv(&x, &ones(&[1, 2, 3]), None, &attrs).is_err());
    }

    #[test]
    fn transposed_overlaps_add() {
        let x = Tensor::from_vec(&[1, 1, 2], vec![1f32, 2.0]);
        let window = WindowAttrs { strides: vec![2], ..WindowAttrs::default() };
        let attrs = ConvTransposeAttrs { conv: ConvAttrs { window, group: 1 }, ..ConvTransposeAttrs::default() };
        let out = conv_transpose(&x, &ones(&[1, 1, 3]), None, &attrs).unwrap();
        assert_eq!(out.to_f64(), [1.0, 1.0, 3.0, 2.0, 2.0]);
    }

    #[test]
    fn valid_ranges() {
        assert_eq!(valid_range(-3, 2, 5), 2..4);
        assert_eq!(valid_range(1, 1, 4), 0..3);
        assert!(valid_range(9, 1, 4).is_empty());
    }
}
