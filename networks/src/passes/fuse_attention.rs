//! `fuse-attention`: recognizes attention in the two products around a softmax.

use super::by_patterns::{ByPatterns, names};
use super::propagate_layouts::{made, reshaped, transposition};
use crate::graph::{AddOp, AttentionOp, DivOp, MatMulOp, MulOp, ReshapeOp, SoftmaxOp, TransposeOp};
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{DType, Module, Op, OpDecl, OpState, PassInfo, Pattern, PatternRewriter, Type, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "fuse-attention",
    doc: "Fuse the products and the softmax of attention into one op

# Before / After

```mlir
%k = graph.transpose %keys {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x8x4xf32>) -> tensor<1x2x4x8xf32>
%0 = graph.matmul %q, %k : (tensor<1x2x8x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x8x8xf32>
%1 = graph.div %0, %two : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
%2 = graph.add %1, %mask : (tensor<1x2x8x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x2x8x8xf32>
%3 = graph.softmax %2 : tensor<1x2x8x8xf32>
%y = graph.matmul %3, %v : (tensor<1x2x8x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
// becomes:
%y = graph.attention %q, %keys, %v mask %mask {masked_is_nan = 1 : i64, scale = 5.000000e-01 : f32} : (...) -> tensor<1x2x8x4xf32>
```

# Does

The matrix of scores, as large as the square of the number of tokens, is then not kept in memory: kernels compute some queries and keys at
once. The scale may be a factor or a divisor of the scores or be absent, and so may the mask. Tensors of rank 3 are attention with a
batch of 1. Transpositions that divide the features of a token among heads, `[B, S, H, D]` to `[B, H, S, D]`, become part of the op, which
reads queries, keys and values of `[B, S, H * D]`, and so does the transposition of its result.

Scores and probabilities that something else uses stay as they are.

# Refuses

Masks that do not have all keys, scales that are not positive, softmax of other axes than the last, types other than f32, and f16 and bf16.

# Cost

Linear in the number of ops.",
    rewrites: Rewrites::Names(|_| names(PATTERNS)),
    floats: |_| FloatChange::Reorders,
    statistics: &[("num-changes", "Number of changes")],
    make: |_| Ok(Box::new(ByPatterns(PATTERNS))),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[
    Pattern { name: "attention-of-softmax", run: |r, op| fuse(r, op).is_some() },
    Pattern { name: "heads-of-attention", run: |r, op| read_heads(r, op).is_some() },
    Pattern { name: "transposed-attention", run: |r, op| write_heads(r, op).is_some() },
];

/// The transposition between `[B, S, H, D]` and `[B, H, S, D]`.
const HEADS: [i64; 4] = [0, 2, 1, 3];

/// The scores of an attention: products of queries and keys, scaled and masked.
struct Scores {
    queries: Value,
    /// The right factor: keys in columns.
    columns: Value,
    scale: f64,
    mask: Option<Value>,
}

impl Scores {
    /// Recognizes scores of this type; what computes them has no other users.
    fn of(m: &Module, scores: Value) -> Option<Scores> {
        let ty = m.value_type(scores);
        let last = |v: Value| m.ctx.static_shape(m.value_type(v)).and_then(|shape| shape.last().copied());
        let Some(add) = AddOp::defining(m, scores).filter(|_| m.has_one_use(scores)) else {
            return Scores::scaled(m, scores);
        };
        let sides = [(add.a(m), add.b(m)), (add.b(m), add.a(m))];
        sides.into_iter().find_map(|(product, mask)| {
            let is_whole = m.value_type(product) == ty && last(mask) == last(product);
            let same = m.ctx.element_type(m.value_type(mask)) == m.ctx.element_type(ty);
            let scores = Scores::scaled(m, product).filter(|_| is_whole && same)?;
            Some(Scores { mask: Some(mask), ..scores })
        })
    }

    /// Recognizes a product that may be scaled.
    fn scaled(m: &Module, scores: Value) -> Option<Scores> {
        let (product, scale) = match (MulOp::defining(m, scores), DivOp::defining(m, scores)) {
            (Some(mul), _) => {
                let sides = [(mul.a(m), mul.b(m)), (mul.b(m), mul.a(m))];
                sides.into_iter().find_map(|(x, scale)| Some((x, number(m, scale)?)))?
            }
            (_, Some(div)) => (div.a(m), 1.0 / number(m, div.b(m))?),
            _ => (scores, 1.0),
        };
        let is_scale = scale > 0.0 && scale.is_finite();
        let is_used_once = m.has_one_use(scores) && m.has_one_use(product);
        let fits = is_scale && is_used_once && m.value_type(product) == m.value_type(scores);
        let product = MatMulOp::defining(m, product).filter(|_| fits)?;
        Some(Scores { queries: product.a(m), columns: product.b(m), scale, mask: None })
    }
}

/// Returns the only element of a constant.
fn number(m: &Module, value: Value) -> Option<f64> {
    let tensor = m.ctx.dense_tensor(m.constant(value)?)?;
    (tensor.len() == 1 && tensor.dtype().is_float()).then(|| tensor.to_f64()[0])
}

/// Fuses the product of a softmax with values.
fn fuse(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let product = MatMulOp::cast(m, op)?;
    let (probabilities, values) = (product.a(m), product.b(m));
    let softmax = SoftmaxOp::defining(m, probabilities).filter(|_| m.has_one_use(probabilities))?;
    let ty = m.value_type(m.result(op, 0));
    let kind = m.ctx.dtype(m.ctx.element_type(ty))?;
    let args = m.args(softmax.0)?;
    let rank = i64::try_from(m.ctx.static_shape(ty)?.len()).ok()?;
    let is_last = [-1, rank - 1].contains(&args.int("axis")?);
    let scores = Scores::of(m, softmax.x(m)).filter(|_| is_last && !args.flag("legacy_flatten"))?;
    let all = [scores.queries, scores.columns, values];
    let shapes = all.map(|v| m.ctx.static_shape(m.value_type(v)));
    let [Some([q @ .., _, _]), Some([k @ .., _, _]), Some([v @ .., _, _])] = shapes else { return None };
    let is_known = matches!(kind, DType::F32 | DType::F16 | DType::BF16) && [3, 4].contains(&rank);
    let is_empty = shapes.iter().flatten().any(|shape| shape.contains(&0));
    (q == k && k == v && q.len() + 2 == rank as usize && is_known && !is_empty).then_some(())?;
    let keys = transposed(r, op, scores.columns)?;
    let [queries, keys, values] = [scores.queries, keys, values].map(|v| as_heads(r, op, v));
    let mask: Vec<Value> = scores.mask.into_iter().collect();
    let m = r.module();
    let mut state = OpState::new(&m.ctx, AttentionOp::INFO.name, m.loc(op));
    for group in [&[queries?][..], &[keys?], &[values?], &mask, &[], &[], &[]] {
        state.operand_group(group);
    }
    let scale = m.ctx.float_attr(Type::F32, scores.scale);
    state.inherent(&m.ctx, "scale", Some(scale));
    state.inherent(&m.ctx, "masked_is_nan", scores.mask.map(|_| m.ctx.int_attr(Type::I64, 1)));
    let shape = m.ctx.static_shape(ty)?.to_vec();
    state.result_types.push(heads_type(m, ty)?);
    if shape.len() == 4 {
        return r.replace_with(op, state).ok().map(drop);
    }
    let fused = made(r, op, state)?;
    let state = reshaped(r, op, fused, ty)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Returns the type of rank 4 of heads, whose batch is 1 if the rank is 3.
fn heads_type(m: &Module, ty: Type) -> Option<Type> {
    let shape = m.ctx.static_shape(ty)?;
    let shape = if shape.len() == 3 { [&[1], shape].concat() } else { shape.to_vec() };
    Some(m.ctx.tensor_type(&shape, m.ctx.element_type(ty)))
}

/// Reshapes a tensor to rank 4.
fn as_heads(r: &mut Rewriter<'_>, op: Op, value: Value) -> Option<Value> {
    let m = r.module();
    let ty = heads_type(m, m.value_type(value))?;
    if ty == m.value_type(value) {
        return Some(value);
    }
    let state = reshaped(r, op, value, ty)?;
    made(r, op, state)
}

/// Transposes the last two axes, together with a transposition before.
fn transposed(r: &mut Rewriter<'_>, op: Op, value: Value) -> Option<Value> {
    let m = r.module();
    let (x, mut perm) = match TransposeOp::defining(m, value) {
        Some(transpose) => (transpose.x(m), m.args(transpose.0)?.ints("perm")?),
        None => (value, (0..m.ctx.static_shape(m.value_type(value))?.len() as i64).collect()),
    };
    let rank = perm.len();
    perm.swap(rank.checked_sub(2)?, rank - 1);
    if perm.iter().zip(0..).all(|(&axis, i)| axis == i) {
        return Some(x);
    }
    let state = transposition(m, op, x, &perm)?;
    made(r, op, state)
}

/// Returns the tensor `[B, S, H, D]` whose transposition a value is.
fn before_heads(m: &Module, value: Value) -> Option<Value> {
    let transpose = TransposeOp::defining(m, value)?;
    (m.args(transpose.0)?.ints("perm")? == HEADS).then(|| transpose.x(m))
}

/// Merges the last two axes of a tensor `[B, S, H, D]`, perhaps those that a reshape has divided, and returns the number of heads too.
fn merged(r: &mut Rewriter<'_>, op: Op, value: Value) -> Option<(Value, i64)> {
    let m = r.module();
    let ty = m.value_type(value);
    let &[b, s, h, d] = m.ctx.static_shape(ty)? else { return None };
    let flat = m.ctx.tensor_type(&[b, s, h.checked_mul(d).filter(|&width| width > 0)?], m.ctx.element_type(ty));
    let before = ReshapeOp::defining(m, value).map(|reshape| reshape.x(m));
    if let Some(before) = before.filter(|&x| m.value_type(x) == flat) {
        return Some((before, h));
    }
    let state = reshaped(r, op, value, flat)?;
    Some((made(r, op, state)?, h))
}

/// Reads keys and values before the transposition to heads.
fn read_heads(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let attention = AttentionOp::cast(m, op)?;
    let before = [("k", attention.k(m)), ("v", attention.v(m))].map(|(name, value)| (name, before_heads(m, value)));
    if before.iter().all(|(_, x)| x.is_none()) {
        return None;
    }
    let mut state = OpState::with_operands_of(m, op);
    state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
    for (name, x) in before {
        let Some(x) = x else { continue };
        let (flat, heads) = merged(r, op, x)?;
        state.set_operand_group(AttentionOp::INFO, name, &[flat]);
        let ctx = &r.module().ctx;
        state.set_inherent(ctx, "kv_num_heads", Some(ctx.int_attr(Type::I64, heads)));
    }
    r.replace_with(op, state).ok().map(drop)
}

/// Reads queries before the transposition to heads, if the result is transposed back.
fn write_heads(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    TransposeOp::cast(m, op)?;
    let result = before_heads(m, m.result(op, 0))?;
    let attention = AttentionOp::defining(m, result).filter(|_| m.has_one_use(result))?;
    let queries = before_heads(m, attention.q(m)).filter(|_| m.num_results(attention.0) == 1)?;
    let ty = m.value_type(m.result(op, 0));
    let &[b, s, h, width] = m.ctx.static_shape(ty)? else { return None };
    let mut state = OpState::with_operands_of(m, attention.0);
    state.result_types.push(m.ctx.tensor_type(&[b, s, h.checked_mul(width)?], m.ctx.element_type(ty)));
    let (flat, heads) = merged(r, op, queries)?;
    state.set_operand_group(AttentionOp::INFO, "q", &[flat]);
    let ctx = &r.module().ctx;
    state.set_inherent(ctx, "q_num_heads", Some(ctx.int_attr(Type::I64, heads)));
    let fused = made(r, op, state)?;
    let state = reshaped(r, op, fused, ty)?;
    r.replace_with(op, state).ok().map(drop)
}
