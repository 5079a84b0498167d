//! Layout propagation through elementwise ops.

use super::{Letters, Unpacked, made, relayout, reshaped, shape, unpacking};
use crate::graph::{self, BatchNormalizationOp, ReshapeOp};
use crate::layout::PackOp;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Module, Op, OpDecl, OpInfo, OpState, PatternRewriter, Tensor, Traits, Type, Value};

/// Ops that are elementwise in the first operand if the others are scalars.
const BESIDE_NUMBERS: &[&OpInfo] =
    &[graph::ClipOp::INFO, graph::QuantizeLinearOp::INFO, graph::DequantizeLinearOp::INFO];

/// Whether an op is elementwise, or a normalization with constants.
pub(crate) fn is_elementwise(m: &Module, op: Op) -> bool {
    elementwise(m, op).is_some() || BatchNormalizationOp::cast(m, op).is_some()
}

/// Returns the extents of an elementwise op's only result.
fn elementwise(m: &Module, op: Op) -> Option<&[i64]> {
    let info = m.info(op)?;
    if m.num_results(op) != 1 || !m.regions(op).is_empty() || m.operands(op).is_empty() {
        return None;
    }
    let result = shape(m, m.result(op, 0))?;
    let same = || info.traits.has(Traits::ELEMENTWISE) && m.operands(op).iter().all(|&v| shape(m, v) == Some(result));
    let is_number = |&v: &Value| shape(m, v).is_some_and(<[i64]>::is_empty);
    let is_beside_numbers = || shape(m, m.operands(op)[0]) == Some(result) && m.operands(op)[1..].iter().all(is_number);
    let is_scaling = m.is_one_of(op, BESIDE_NUMBERS);
    (info.traits.has(Traits::BROADCASTING) || same() || is_scaling && is_beside_numbers()).then_some(result)
}

/// Creates the op on other operands, the first of which has the shape of the result.
fn on_others(r: &mut Rewriter<'_>, op: Op, others: &[Value], extents: &[i64]) -> Option<Value> {
    let m = r.module();
    let elem = m.ctx.element_type(m.value_type(m.result(op, 0)));
    let mut state = OpState::like(m, op);
    state.operands.extend_from_slice(others);
    state.result_types.push(m.ctx.tensor_type(extents, elem));
    made(r, op, state)
}

/// The counterpart of an operand in the packed layout.
enum Operand {
    There(Value),
    /// A broadcast operand, extended to the rank and then packed.
    Packed(Value),
}

pub(super) fn of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    of_unpacked(r, op).is_some()
}

fn of_unpacked(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let result = elementwise(m, op)?.to_vec();
    let whole = |&v: &Value| shape(m, v) == Some(&result) && Unpacked::of(m, v).is_some();
    let from = Unpacked::of(m, *m.operands(op).iter().find(|&v| whole(v))?)?;
    let operands = m.operands(op).iter().map(|&v| operand(m, v, &result, &from)).collect::<Option<Vec<_>>>()?;
    let extents = shape(m, from.x)?.to_vec();
    let mut others = Vec::with_capacity(operands.len());
    for operand in operands {
        others.push(match operand {
            Operand::There(value) => value,
            Operand::Packed(value) => packed(r, op, value, result.len(), &from)?,
        });
    }
    let value = on_others(r, op, &others, &extents)?;
    let state = unpacking(r.module(), &from, op, value);
    r.replace_with(op, state).ok().map(drop)
}

fn operand(m: &Module, value: Value, result: &[i64], from: &Unpacked) -> Option<Operand> {
    let extents = shape(m, value)?;
    if let Some(other) = Unpacked::of(m, value).filter(|_| extents == result) {
        return ((other.layout, other.axes) == (from.layout, from.axes)).then_some(Operand::There(other.x));
    }
    if extents.iter().all(|&d| d == 1) && extents.len() <= result.len() {
        return Some(Operand::There(value));
    }
    // Packing a full tensor costs as much as it saves, unless it is constant.
    let is_small = extents != result || m.constant(value).is_some();
    (is_small && Letters::of(m, from.layout, from.axes).is_some()).then_some(Operand::Packed(value))
}

/// Packs an operand that broadcasts to `rank` axes.
fn packed(r: &mut Rewriter<'_>, op: Op, value: Value, rank: usize, from: &Unpacked) -> Option<Value> {
    let m = r.module();
    let (extents, elem) = (shape(m, value)?, m.ctx.element_type(m.value_type(value)));
    let mut whole = vec![1; rank.checked_sub(extents.len())?];
    whole.extend_from_slice(extents);
    let moved = Letters::of(m, from.layout, from.axes)?.packed_extents(&whole)?;
    let [whole, moved] = [&whole, &moved].map(|extents| m.ctx.tensor_type(extents, elem));
    let value = if m.value_type(value) == whole {
        value
    } else {
        let state = reshaped(r, op, value, whole)?;
        made(r, op, state)?
    };
    let state = relayout(r.module(), PackOp::INFO, [from.layout, from.axes], op, value, moved);
    made(r, op, state)
}

pub(super) fn of_reshape(r: &mut Rewriter<'_>, op: Op) -> bool {
    of_reshaped(r, op).is_some()
}

fn of_reshaped(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let result = elementwise(m, op)?;
    let reshape = |&v: &Value| {
        let is_number = shape(m, v)?.is_empty();
        if is_number { Some(v) } else { ReshapeOp::defining(m, v).map(|reshape| reshape.x(m)) }
    };
    let all = m.operands(op).iter().map(reshape).collect::<Option<Vec<_>>>()?;
    let first = shape(m, all[0])?.to_vec();
    let fits = |(&v, &before): (&Value, &Value)| {
        v == before || shape(m, v) == Some(&first) && shape(m, before) == Some(result)
    };
    if first.is_empty() || !all.iter().zip(m.operands(op)).all(fits) {
        return None;
    }
    let ty = m.value_type(m.result(op, 0));
    let value = on_others(r, op, &all, &first)?;
    let state = reshaped(r, op, value, ty)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Replaces normalization, (x - mean) / sqrt(variance + epsilon) · scale + bias, by a product and a sum with one factor
/// and one addend per channel.
pub(super) fn norm(r: &mut Rewriter<'_>, op: Op) -> bool {
    normalized(r, op).is_some()
}

fn normalized(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let norm = BatchNormalizationOp::cast(m, op)?;
    let (args, ty, x) = (m.args(op)?, m.value_type(m.result(op, 0)), norm.x(m));
    let (rank, elem) = (m.ctx.static_shape(ty)?.len(), m.ctx.element_type(ty));
    let trains = args.int("training_mode").is_some_and(|mode| mode != 0) || m.num_results(op) != 1;
    let epsilon = m.ctx.as_float(args.attr("epsilon")?)?;
    let values = |value: Value| -> Option<Vec<f64>> {
        let tensor: Tensor = m.ctx.dense_tensor(m.constant(value)?)?;
        Some(tensor.to_f64())
    };
    let [scale, b, mean, variance] = [norm.scale(m), norm.b(m), norm.input_mean(m), norm.input_var(m)].map(values);
    let (scale, b, mean, variance) = (scale?, b?, mean?, variance?);
    if trains || rank < 2 || !matches!(elem, Type::F32 | Type::BF16) || m.value_type(x) != ty {
        return None;
    }
    let by: Vec<f64> = scale.iter().zip(&variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
    let plus: Vec<f64> = b.iter().zip(&mean).zip(&by).map(|((b, mean), by)| b - mean * by).collect();
    if by.iter().chain(&plus).any(|x| !(*x as f32).is_finite()) {
        return None;
    }
    let by = per_channel(r, op, by, (rank, elem))?;
    let product = binary(r, op, graph::MulOp::INFO, x, by);
    let product = made(r, op, product)?;
    let plus = per_channel(r, op, plus, (rank, elem))?;
    let sum = binary(r, op, graph::AddOp::INFO, product, plus);
    r.replace_with(op, sum).ok().map(drop)
}

/// Returns a constant with one element of type `elem` per channel of a tensor of `rank` axes.
fn per_channel(r: &mut Rewriter<'_>, op: Op, values: Vec<f64>, (rank, elem): (usize, Type)) -> Option<Value> {
    let ctx = &r.module().ctx;
    let mut extents = vec![1; rank - 1];
    extents[0] = values.len();
    let tensor = floats_to_tensor(ctx.dtype(elem)?, &extents, values);
    let wide: Vec<i64> = extents.iter().map(|&d| d as i64).collect();
    let ty = ctx.tensor_type(&wide, elem);
    let attr = ctx.dense_attr(ty, &tensor);
    r.constant(op, attr, ty)
}

/// Returns a binary op with the result type of `of`.
fn binary(r: &Rewriter<'_>, of: Op, info: &OpInfo, a: Value, b: Value) -> OpState {
    let m = r.module();
    let mut state = OpState::new(&m.ctx, info.name, m.loc(of));
    state.operands.extend([a, b]);
    state.result_types.push(m.value_type(m.result(of, 0)));
    state
}
