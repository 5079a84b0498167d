//! Normalizations.

use super::{ComposedOp, known_product, position};
use crate::graph::{
    BatchNormalizationOp, LayerNormalizationOp, ReduceL1Op, ReduceL2Op, ReduceMeanOp, RmsNormalizationOp,
};
use gradus_ir::{DYNAMIC, Module, Op, OpDecl, Refusal, Type, Value};
use gradus_reference_kernels::shape::reduction_axes;

/// Whether rules fold a batch normalization into convolutions, or `propagate-layouts` makes it a product and a sum with numbers that are
/// rounded once.
pub(super) fn folds_into_others(m: &Module, op: Op) -> bool {
    let Some(norm) = BatchNormalizationOp::cast(m, op) else { return false };
    let ty = m.value_type(norm.x(m));
    let is_narrow = [Type::F32, Type::BF16].contains(&m.ctx.element_type(ty));
    let parameters = [norm.scale(m), norm.b(m), norm.input_mean(m), norm.input_var(m)];
    let trains = m.args(op).is_some_and(|args| args.flag("training_mode"));
    !trains && is_narrow && m.ctx.static_shape(ty).is_some() && parameters.iter().all(|&v| m.constant(v).is_some())
}

/// Whether an op is a normalization of f32 without statistics as results, which is as simple as others.
pub(super) fn is_basic(m: &Module, op: Op) -> bool {
    m.is_one_of(op, &[LayerNormalizationOp::INFO, RmsNormalizationOp::INFO])
        && m.ctx.element_type(m.value_type(m.operands(op)[0])) == Type::F32
        && m.results(op).skip(1).all(|statistic| m.is_unused(statistic))
}

/// Emits a layer normalization of narrow floats in f32, or one of f64, or with statistics, by reductions.
pub(super) fn layer(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, scale, bias) = (c.operand("x")?, c.operand("scale")?, c.optional("b"));
    let (epsilon, axis, rank) = (c.float("epsilon")?, c.int("axis")?, c.shape(x)?.len());
    let first = position(axis, rank)?;
    let [x, scale, bias] = c.widened([x, scale, bias.unwrap_or(scale)])?;
    let m = c.e.module();
    let has_statistics = m.results(c.op).skip(1).any(|statistic| !m.is_unused(statistic));
    let bias = c.optional("b").map(|_| bias);
    if !has_statistics && c.e.elem == Type::F32 {
        let attrs = ["axis", "epsilon"].map(|name| (name, c.attr(name)));
        return Ok(vec![c.e.op(LayerNormalizationOp::INFO, x, &[Some(scale), bias], &attrs)]);
    }
    let axes: Vec<usize> = (first..rank).collect();
    let mean = c.e.reduce(ReduceMeanOp::INFO, x, &axes);
    let (difference, variance) = centered(c, x, &axes);
    let inverse = inverse_deviation(c, variance, epsilon);
    let normalized = c.e.mul(difference, inverse);
    let scaled = c.e.mul(normalized, scale);
    let y = bias.map_or(scaled, |bias| c.e.add(scaled, bias));
    Ok(vec![y, mean, inverse])
}

/// Emits an RMS normalization of narrow floats in f32, or one of f64 by reductions.
pub(super) fn rms(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, scale) = (c.operand("x")?, c.operand("scale")?);
    let (epsilon, axis, rank) = (c.float("epsilon")?, c.int("axis")?, c.shape(x)?.len());
    let first = position(axis, rank)?;
    let [x, scale] = c.widened([x, scale])?;
    if c.e.elem == Type::F32 {
        let attrs = ["axis", "epsilon"].map(|name| (name, c.attr(name)));
        return Ok(vec![c.e.op(RmsNormalizationOp::INFO, x, &[Some(scale)], &attrs)]);
    }
    let square = c.e.mul(x, x);
    let mean = c.e.reduce(ReduceMeanOp::INFO, square, &(first..rank).collect::<Vec<_>>());
    let inverse = inverse_deviation(c, mean, epsilon);
    let normalized = c.e.mul(x, inverse);
    Ok(vec![c.e.mul(normalized, scale)])
}

/// Emits `sqrt(variance + epsilon)`.
fn deviation(c: &mut ComposedOp<'_, '_>, variance: Value, epsilon: f64) -> Value {
    let epsilon = c.e.number(epsilon);
    let sum = c.e.add(variance, epsilon);
    c.e.sqrt(sum)
}

/// Emits `1 / sqrt(variance + epsilon)`.
fn inverse_deviation(c: &mut ComposedOp<'_, '_>, variance: Value, epsilon: f64) -> Value {
    let (deviation, one) = (deviation(c, variance, epsilon), c.e.number(1.0));
    c.e.div(one, deviation)
}

/// Emits a batch normalization with the statistics of the batch, and the running ones, of which those of the batch become a part.
fn trained(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, epsilon, momentum) = (c.operand("x")?, c.float("epsilon")?, c.float("momentum")?);
    let rank = c.shape(x)?.len();
    if rank < 2 {
        return Err(Refusal::of(x, "a tensor without channels"));
    }
    let [scale, bias] = [c.operand("scale")?, c.operand("b")?];
    let running = [c.operand("input_mean")?, c.operand("input_var")?];
    let [x, scale, bias, old_mean, old_variance] = c.widened([x, scale, bias, running[0], running[1]])?;
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
    let mean = c.e.reduce(ReduceMeanOp::INFO, x, &axes);
    let (difference, variance) = centered(c, x, &axes);
    let inverse = inverse_deviation(c, variance, epsilon);
    let normalized = c.e.mul(difference, inverse);
    let y = per_channel(c, normalized, rank, [scale, bias]);
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    let mut updated = |old: Value, new: Value| {
        let (kept, added) = (c.e.number(momentum), c.e.number(1.0 - momentum));
        let new = c.e.squeeze(new, &axes);
        let (old, new) = (c.e.mul(old, kept), c.e.mul(new, added));
        c.e.add(old, new)
    };
    Ok(vec![y, updated(old_mean, mean), updated(old_variance, variance)])
}

/// Emits `x * factor + (bias - mean * factor)`, where the factor is `scale / sqrt(variance + epsilon)`.
pub(super) fn batch(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    if c.flag("training_mode") {
        return trained(c);
    }
    let (x, epsilon) = (c.operand("x")?, c.float("epsilon")?);
    let rank = c.shape(x)?.len();
    let [scale, bias] = [c.operand("scale")?, c.operand("b")?];
    let [mean, variance] = [c.operand("input_mean")?, c.operand("input_var")?];
    let [x, scale, bias, mean, variance] = c.widened([x, scale, bias, mean, variance])?;
    let deviation = deviation(c, variance, epsilon);
    let factor = c.e.div(scale, deviation);
    let shifted = c.e.mul(mean, factor);
    let addend = c.e.sub(bias, shifted);
    Ok(vec![per_channel(c, x, rank, [factor, addend])])
}

/// Emits `x * factor + addend` per channel.
fn per_channel(c: &mut ComposedOp<'_, '_>, x: Value, rank: usize, numbers: [Value; 2]) -> Value {
    let [factor, addend] = numbers.map(|numbers| along_channels(c, numbers, rank));
    let product = c.e.mul(x, factor);
    c.e.add(product, addend)
}

/// Emits one number per channel as a tensor that broadcasts to one of `rank` axes, of which the second are the channels.
fn along_channels(c: &mut ComposedOp<'_, '_>, numbers: Value, rank: usize) -> Value {
    let axes: Vec<i64> = (1..rank as i64 - 1).collect();
    if axes.is_empty() { numbers } else { c.e.unsqueeze(numbers, &axes) }
}

/// Emits the normalization of each channel of each sample.
pub(super) fn instance(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    grouped(c, None)
}

/// Emits the normalization of groups of channels of each sample.
pub(super) fn group(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let groups = c.int("num_groups")?;
    grouped(c, Some(groups))
}

/// Emits the normalization of groups of channels, one for each channel if their number is absent.
fn grouped(c: &mut ComposedOp<'_, '_>, groups: Option<i64>) -> Result<Vec<Value>, Refusal> {
    let (x, epsilon) = (c.operand("x")?, c.float("epsilon")?);
    let dims = c.shape(x)?;
    let &[batch, channels, ..] = &dims[..] else { return Err(Refusal::of(x, "a tensor without channels")) };
    let [scale, bias] = [c.operand("scale")?, c.operand("b")?];
    let [x, scale, bias] = c.widened([x, scale, bias])?;
    let normalized = match known_product(&dims[1..]) {
        Ok(0) => return Ok(vec![x]),
        Ok(elements) => {
            let groups = groups.unwrap_or(channels);
            if groups <= 0 || channels % groups != 0 {
                return Err(Refusal::of(x, "channels that do not split into the groups"));
            }
            in_rows(c, x, [batch, groups, elements / groups], epsilon)?
        }
        // Channels of images have axes of their own, which may be of any extent.
        Err(_) if groups.is_none() && dims.len() > 2 => {
            by_reductions(c, x, &(2..dims.len()).collect::<Vec<_>>(), epsilon)
        }
        Err(_) => return Err(Refusal::of(x, "groups of unknown extents")),
    };
    Ok(vec![per_channel(c, normalized, dims.len(), [scale, bias])])
}

/// Emits the normalization of `[N, G, L]` rows, in the shape of `x`.
fn in_rows(c: &mut ComposedOp<'_, '_>, x: Value, rows: [i64; 3], epsilon: f64) -> Result<Value, Refusal> {
    let dims = c.shape(x)?;
    let has_rows = rows[0] != DYNAMIC;
    let x = if has_rows { c.e.reshape(x, 0, &rows)? } else { c.e.reshape(x, 1, &rows[1..])? };
    let ones = c.e.filled(&[rows[2]], 1.0);
    let ctx = c.e.ctx();
    let attrs = [("axis", Some(ctx.int_attr(Type::I64, -1))), ("epsilon", Some(ctx.float_attr(Type::F32, epsilon)))];
    let y = c.e.op(LayerNormalizationOp::INFO, x, &[Some(ones), None], &attrs);
    if has_rows { c.e.reshape(y, 0, &dims) } else { c.e.reshape(y, 1, &dims[1..]) }
}

/// Emits `(x - mean) / sqrt(variance + epsilon)` along axes.
fn by_reductions(c: &mut ComposedOp<'_, '_>, x: Value, axes: &[usize], epsilon: f64) -> Value {
    let (difference, variance) = centered(c, x, axes);
    let deviation = deviation(c, variance, epsilon);
    c.e.div(difference, deviation)
}

/// Emits the differences from the mean along axes, and their mean square. The mean of the differences is subtracted, too: it is what
/// rounding of the mean lost, which is not small against differences that are.
fn centered(c: &mut ComposedOp<'_, '_>, x: Value, axes: &[usize]) -> (Value, Value) {
    let mean = c.e.reduce(ReduceMeanOp::INFO, x, axes);
    let difference = c.e.sub(x, mean);
    let lost = c.e.reduce(ReduceMeanOp::INFO, difference, axes);
    let lost = number_or_zero(c, lost);
    let difference = c.e.sub(difference, lost);
    let square = c.e.mul(difference, difference);
    (difference, c.e.reduce(ReduceMeanOp::INFO, square, axes))
}

/// Emits the elements that are numbers, and 0 instead of NaN.
fn number_or_zero(c: &mut ComposedOp<'_, '_>, x: Value) -> Value {
    let zero = c.e.number(0.0);
    let is_number = c.e.equal(x, x);
    c.e.select(is_number, x, zero)
}

/// The number that mean-variance normalization adds to the standard deviation.
const DEVIATION_EPSILON: f64 = 1e-9;

/// Emits `(x - mean) / (sqrt(variance) + 1e-9)`. A variance that is not a number, that of infinite elements, counts as 0.
pub(super) fn mean_variance(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = c.operand("x")?;
    let axes = reduction_axes(&c.ints("axes"), c.shape(x)?.len(), false);
    let axes = axes.map_err(|_| Refusal::of_attr("axes", "axes that the operand does not have"))?;
    let [x] = c.widened([x])?;
    let (difference, variance) = centered(c, x, &axes);
    let variance = number_or_zero(c, variance);
    let root = c.e.sqrt(variance);
    let epsilon = c.e.number(DEVIATION_EPSILON);
    let deviation = c.e.add(root, epsilon);
    Ok(vec![c.e.div(difference, deviation)])
}

/// Emits `x / norm`, and 0 where the norm is 0.
pub(super) fn lp(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, p) = (c.operand("x")?, c.int("p")?);
    let axis = position(c.int("axis")?, c.shape(x)?.len())?;
    let [x] = c.widened([x])?;
    let norm = c.e.reduce(if p == 1 { ReduceL1Op::INFO } else { ReduceL2Op::INFO }, x, &[axis]);
    let quotient = c.e.div(x, norm);
    let zero = c.e.number(0.0);
    let is_zero = c.e.equal(norm, zero);
    Ok(vec![c.e.select(is_zero, zero, quotient)])
}
