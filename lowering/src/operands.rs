//! Operands as lowerings require them: constants, extents and quantizations, or the reason why they are not.

use gradus_ir::{DType, Module, Op, OpDecl, Refusal, Tensor, Value};
use gradus_networks::graph::{
    ConvIntegerOp, GlobalAveragePoolOp, MatMulIntegerOp, PadOp, QLinearConvOp, QLinearMatMulOp, ReduceMeanOp, ResizeOp,
    resampling,
};
use gradus_reference_kernels::shape::Window;

/// The operands of a contraction of integers: a convolution or a matrix product.
pub(crate) struct IntegerContraction {
    /// The factors: an image and filters, or two matrices.
    pub(crate) factors: [Value; 2],
    /// Their zero points, 0 where absent.
    pub(crate) zeros: [Option<Value>; 2],
    /// The summand of each filter.
    pub(crate) bias: Option<Value>,
    /// The scales of the factors and of the result, and the zero point of the result, if sums are requantized.
    pub(crate) requantization: Option<([Value; 3], Value)>,
    /// Whether it is a convolution.
    pub(crate) is_conv: bool,
}

impl IntegerContraction {
    /// Returns the operands of an op; `None` if it is no contraction of integers.
    pub(crate) fn of(m: &Module, op: Op) -> Option<IntegerContraction> {
        let (mut bias, mut requantization) = (None, None);
        let (factors, zeros, is_conv) = if let Some(op) = ConvIntegerOp::cast(m, op) {
            ([op.x(m), op.w(m)], [op.x_zero_point(m), op.w_zero_point(m)], true)
        } else if let Some(op) = MatMulIntegerOp::cast(m, op) {
            ([op.a(m), op.b(m)], [op.a_zero_point(m), op.b_zero_point(m)], false)
        } else if let Some(op) = QLinearConvOp::cast(m, op) {
            bias = op.b(m);
            requantization = Some(([op.x_scale(m), op.w_scale(m), op.y_scale(m)], op.y_zero_point(m)));
            ([op.x(m), op.w(m)], [op.x_zero_point(m), op.w_zero_point(m)].map(Some), true)
        } else {
            let op = QLinearMatMulOp::cast(m, op)?;
            requantization = Some(([op.a_scale(m), op.b_scale(m), op.y_scale(m)], op.y_zero_point(m)));
            ([op.a(m), op.b(m)], [op.a_zero_point(m), op.b_zero_point(m)].map(Some), false)
        };
        Some(IntegerContraction { factors, zeros, bias, requantization, is_conv })
    }
}

/// Returns the factors of a requantization, `a_scale * b_scale / y_scale` in f32: one, or one for each scale of `b`.
pub(crate) fn requantization(m: &Module, [a, b, y]: [Value; 3]) -> Result<Vec<f32>, Refusal> {
    let (left, factors, result) = (scale(m, a)?, scales(m, b)?, scale(m, y)?);
    Ok(factors.iter().map(|factor| factor * left / result).collect())
}

/// Returns the quantization of a whole tensor: its scale and zero point.
pub(crate) fn quantization(m: &Module, [of_scale, zero]: [Value; 2]) -> Result<(f32, i64), Refusal> {
    Ok((scale(m, of_scale)?, zero_point(m, zero)?))
}

/// Reorders weights `[K, D, T]`, elements of `size` bytes, to `[K, T, D]`.
pub(crate) fn taps_before_depth(bytes: &[u8], size: usize, [kernels, depth, taps]: [usize; 3]) -> Vec<u8> {
    let all = &bytes[..kernels * depth * taps * size];
    if taps == 1 || depth == 1 || all.is_empty() {
        return all.to_vec();
    }
    let mut out = Vec::with_capacity(all.len());
    for kernel in all.chunks_exact(depth * taps * size) {
        for tap in 0..taps {
            match size {
                1 => out.extend(kernel[tap..].iter().step_by(taps)),
                _ => kernel.chunks_exact(size).skip(tap).step_by(taps).for_each(|one| out.extend_from_slice(one)),
            }
        }
    }
    out
}

/// Returns the extents, strides, dilations and padding before of a window in two dimensions, none of which exceeds `most`.
pub(crate) fn window_of_image(window: &Window, most: usize) -> Result<[[usize; 2]; 4], Refusal> {
    let all = [&window.kernel, &window.strides, &window.dilations, &window.pads_begin, &window.pads_end];
    if all.iter().any(|list| list.iter().any(|&n| n > most)) {
        let rule = "a window with an extent, stride, dilation or padding of more than {}";
        return Err(Refusal::from(rule).with([most]));
    }
    let two = |list: &[usize], default| match list {
        [w] => Ok([default, *w]),
        [h, w] => Ok([*h, *w]),
        _ => Err(Refusal::from("a window of {} axes").with([list.len()])),
    };
    let [kernel, strides, dilations, pads, _] = all;
    Ok([two(kernel, 1)?, two(strides, 1)?, two(dilations, 1)?, two(pads, 0)?])
}

/// Whether an op is the mean of all rows and columns of each channel of images.
pub(crate) fn is_mean_of_images(m: &Module, op: Op) -> bool {
    if GlobalAveragePoolOp::cast(m, op).is_some() {
        return true;
    }
    let Some(mean) = ReduceMeanOp::cast(m, op) else { return false };
    let rank = m.ctx.shape(m.value_type(mean.x(m))).map_or(0, <[i64]>::len);
    let axes = mean.axes(m).and_then(|axes| integers(m, axes).ok()).unwrap_or_default();
    let mut axes: Vec<i64> = axes.iter().map(|axis| axis.rem_euclid(rank.max(1) as i64)).collect();
    axes.sort_unstable();
    rank > 2 && axes.iter().copied().eq(2..rank as i64)
}

/// Returns the elements that a padding by a constant adds before and after each axis.
pub(crate) fn constant_padding(m: &Module, op: PadOp) -> Result<Vec<[usize; 2]>, Refusal> {
    let mode = m.args(op.0).and_then(|args| args.attr("mode")).and_then(|mode| m.ctx.as_str(mode));
    (mode == Some("constant")).then_some(()).ok_or(Refusal::of_attr("mode", "padding that is not constant"))?;
    let rank = m.ctx.shape(m.value_type(op.x(m))).map_or(0, <[i64]>::len);
    let pads = integers(m, op.pads(m))?;
    let axes = op.axes(m).map_or(Ok((0..rank as i64).collect()), |axes| integers(m, axes))?;
    let negative = Refusal::of(op.pads(m), "negative padding");
    let mut all = vec![[0; 2]; rank];
    for (i, axis) in axes.iter().enumerate() {
        let count = |at: usize| pads.get(at).and_then(|&n| usize::try_from(n).ok()).ok_or(negative);
        all[axis.rem_euclid(rank.max(1) as i64) as usize] = [count(i)?, count(axes.len() + i)?];
    }
    Ok(all)
}

/// Returns the axes that a resampling changes, each with the index of the only source of each of its indices.
pub(crate) fn nearest_sources(m: &Module, op: ResizeOp) -> Result<Vec<(usize, Vec<usize>)>, Refusal> {
    let (sampled, _) = m.args(op.0).and_then(|args| resampling(&args)).ok_or("sizes that are not constant")?;
    let single = |source: &Option<Vec<(usize, f64)>>| match source.as_deref() {
        Some(&[(at, 1.0)]) => Some(at),
        _ => None,
    };
    let of_axis = |(axis, sources): &(usize, Vec<_>)| {
        let sources = sources.iter().map(single).collect::<Option<Vec<usize>>>();
        Ok((*axis, sources.ok_or("elements between those of the operand, or outside of it")?))
    };
    sampled.axes.iter().map(of_axis).collect()
}

/// Returns the elements of a constant.
pub(crate) fn constant(m: &Module, value: Value) -> Result<Tensor, Refusal> {
    let tensor = m.constant(value).and_then(|attr| m.ctx.dense_tensor(attr));
    tensor.ok_or(Refusal::of(value, "a parameter that is not constant"))
}

/// Returns the elements of a constant of integers.
pub(crate) fn integers(m: &Module, value: Value) -> Result<Vec<i64>, Refusal> {
    constant(m, value)?.to_i64().ok_or(Refusal::of(value, "a parameter that is not integer"))
}

/// Returns the elements of a constant of f32.
pub(crate) fn scales(m: &Module, value: Value) -> Result<Vec<f32>, Refusal> {
    let tensor = constant(m, value)?;
    let is_f32 = tensor.dtype() == DType::F32;
    is_f32.then(|| tensor.as_slice::<f32>().into_owned()).ok_or(Refusal::of(value, "a scale of another type than f32"))
}

/// Returns the only element of a constant of f32.
pub(crate) fn scale(m: &Module, value: Value) -> Result<f32, Refusal> {
    match scales(m, value)?[..] {
        [scale] => Ok(scale),
        ref all => Err(Refusal::of(value, "{} scales instead of one").with([all.len()])),
    }
}

/// Returns the only element of a constant of integers.
pub(crate) fn zero_point(m: &Module, value: Value) -> Result<i64, Refusal> {
    match integers(m, value)?[..] {
        [zero] => Ok(zero),
        ref all => Err(Refusal::of(value, "{} zero points instead of one").with([all.len()])),
    }
}

/// Returns the zero point of weights, which is the same for all kernels.
pub(crate) fn common_zero_point(m: &Module, value: Value) -> Result<i64, Refusal> {
    let zeros = integers(m, value)?;
    let zero = zeros.first().copied().filter(|zero| zeros.iter().all(|other| other == zero));
    zero.ok_or(Refusal::of(value, "zero points of the weights that differ between kernels"))
}

/// Returns the extents of a tensor, none of which is 0.
pub(crate) fn extents(m: &Module, value: Value) -> Result<Vec<usize>, Refusal> {
    let extents = m.ctx.static_shape(m.value_type(value)).ok_or(Refusal::of(value, "an unknown extent"))?;
    let extents = extents.iter().map(|&d| usize::try_from(d).ok().filter(|&d| d > 0)).collect::<Option<_>>();
    extents.ok_or(Refusal::of(value, "an extent of 0"))
}
