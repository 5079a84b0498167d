//! Attention, and what surrounds it in transformers.

use super::args::{Inputs, binary, choice, float, int, one, several};
use super::unary::checked;
use super::{GENERIC, infer, onnx_dtype};
use crate::constraint::{F32, FLOAT_TENSOR, I64, I64_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::normalize_axis;

/// Attention: the softmax of the scaled products of queries and keys, times the values.
///
/// Queries, keys and values are `[B, H, S, D]`, or `[B, S, H * D]` with numbers of heads in the attributes. Keys and values
/// may have fewer heads, each of which then serves several neighbouring ones of the queries. Past keys and values come
/// before the others, and are then part of further results: all keys, all values, and the scores.
///
/// A query that the mask lets see no key gives zeros.
///
/// ```mlir
/// %y = graph.attention %q, %k, %v mask %m {is_causal = 1 : i64} : (tensor<1x8x4x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32>, tensor<4x6xi1>) -> tensor<1x8x4x16xf32>
/// ```
#[op(
    "graph.attention",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$q `,` $k `,` $v (`mask` $attn_mask^)? (`past_key` $past_key^)? (`past_value` $past_value^)? (`lengths` $nonpad_kv_seqlen^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_attention,
    eval = attention,
    verify = |m, op| checked(m, op, attention_attrs)
)]
pub struct AttentionOp {
    /// The queries.
    q: Operand<FLOAT_TENSOR>,
    /// The keys.
    k: Operand<FLOAT_TENSOR>,
    /// The values.
    v: Operand<FLOAT_TENSOR>,
    /// What is added to the scores, or as booleans which keys a query sees.
    attn_mask: OptOperand<TENSOR>,
    /// The keys before these, `[B, H, P, D]`.
    past_key: OptOperand<FLOAT_TENSOR>,
    /// The values before these.
    past_value: OptOperand<FLOAT_TENSOR>,
    /// How many keys and values there are in every sample, `[B]`.
    nonpad_kv_seqlen: OptOperand<I64_TENSOR>,
    /// Whether a query sees no key after it.
    #[default = "0 : i64"]
    is_causal: OptAttribute<I64>,
    /// The number of heads of keys and values.
    kv_num_heads: OptAttribute<I64>,
    /// How many keys before a query it sees; all when -1.
    #[default = "-1 : i64"]
    left_window_size: OptAttribute<I64>,
    /// The number of heads of queries.
    q_num_heads: OptAttribute<I64>,
    /// What the last result is: scores (0), after the cap (1), with the mask (2), or probabilities (3).
    #[default = "0 : i64"]
    qk_matmul_output_mode: OptAttribute<I64>,
    /// How many keys after a query it sees; all when -1.
    #[default = "-1 : i64"]
    right_window_size: OptAttribute<I64>,
    /// The factor of the scores; one by the root of the head size when absent.
    scale: OptAttribute<F32>,
    /// Bound of the scores, which go through a scaled `tanh`; none when 0.
    #[default = "0.000000e+00 : f32"]
    softcap: OptAttribute<F32>,
    /// The number of the type in ONNX that the softmax is computed in; that of the scores when absent.
    softmax_precision: OptAttribute<I64>,
    /// The attended values.
    y: OpResult<FLOAT_TENSOR>,
    /// All keys, all values, and the scores, as many of them as are wanted.
    more: OpResults<FLOAT_TENSOR>,
}

fn attention_attrs(args: &OpArgs<'_>) -> Result<kernels::Attention, String> {
    let heads = ["q_num_heads", "kv_num_heads"].map(|name| args.int(name));
    if heads.iter().flatten().any(|&h| h <= 0) {
        return Err("requires positive numbers of heads".into());
    }
    let window = [int(args, "left_window_size")?, int(args, "right_window_size")?];
    if window.iter().any(|&w| w < -1) {
        return Err("requires windows of -1 or more".into());
    }
    let precision = args.int("softmax_precision").filter(|&n| n != 0).map(onnx_dtype);
    if precision.is_some_and(|p| p.is_none_or(|p| !p.is_float())) {
        return Err("attribute 'softmax_precision' should be the number of a floating-point type".into());
    }
    Ok(kernels::Attention {
        scale: args.float("scale"),
        is_causal: args.flag("is_causal"),
        heads,
        softcap: float(args, "softcap")?,
        softmax_precision: precision.flatten(),
        window,
        score_output: int(args, "qk_matmul_output_mode")?,
    })
}

/// An operand's shape as `[B, H, S, D]`.
fn heads(args: &OpArgs<'_>, name: &str, heads: Option<i64>) -> Result<[i64; 4], String> {
    match (infer::dims(args, name).as_deref(), heads) {
        (None, _) => Ok([DYNAMIC; 4]),
        (Some(&[b, h, s, d]), _) => Ok([b, h, s, d]),
        (Some(&[b, s, DYNAMIC]), Some(h)) => Ok([b, h, s, DYNAMIC]),
        (Some(&[b, s, w]), Some(h)) if w % h == 0 => Ok([b, h, s, w / h]),
        (Some(other), _) => Err(format!("requires '{name}' to have heads, but it is {}", infer::display(other))),
    }
}

fn infer_attention(args: &OpArgs<'_>) -> infer::Types {
    let attrs = attention_attrs(args)?;
    let elem = infer::common_elem(args, &["q", "k", "past_key"])?;
    let value_elem = infer::common_elem(args, &["v", "past_value"])?;
    let [b, h, s, d] = heads(args, "q", attrs.heads[0])?;
    let [kb, kv, new, kd] = heads(args, "k", attrs.heads[1])?;
    let [vb, vh, vs, vd] = heads(args, "v", attrs.heads[1])?;
    let (new, kv) = (infer::unify(new, vs)?, infer::unify(kv, vh)?);
    let (b, d) = (infer::unify(infer::unify(b, kb)?, vb)?, infer::unify(d, kd)?);
    if h > 0 && kv > 0 && h % kv != 0 {
        return Err(format!("{h} heads of queries cannot share {kv} of keys"));
    }
    let past = match (args.opt_operand("past_key"), args.opt_operand("past_value")) {
        (None, None) => 0,
        (Some(_), Some(_)) => heads(args, "past_key", None)?[2],
        _ => return Err("requires past keys and values together".into()),
    };
    let total = infer::map(new, |n| infer::known(past).and_then(|_| n.checked_add(past)));
    let y = match infer::dims(args, "q").map(|q| q.len()) {
        None => None,
        Some(3) => Some(vec![b, s, infer::map(vd, |d| infer::known(h).and_then(|_| d.checked_mul(h)))]),
        Some(_) => Some(vec![b, h, s, vd]),
    };
    let mut types = vec![infer::tensor(args, y, elem)];
    let more = [(vec![b, kv, total, d], elem), (vec![b, kv, total, vd], value_elem), (vec![b, h, s, total], elem)];
    let wanted = args.result_types.len().saturating_sub(1);
    types.extend(more.into_iter().take(wanted).map(|(dims, elem)| infer::tensor(args, Some(dims), elem)));
    Ok(types)
}

fn attention(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let inputs = kernels::AttentionInputs {
        query: i.get("q")?,
        key: i.get("k")?,
        value: i.get("v")?,
        mask: i.opt("attn_mask")?,
        past: i.opt("past_key")?.zip(i.opt("past_value")?).map(|(key, value)| [key, value]),
        lengths: i.opt("nonpad_kv_seqlen")?,
    };
    several(args, kernels::attention(&inputs, &attention_attrs(args)?)?)
}

/// Rotates pairs of elements of every head by angles that depend on the position.
///
/// The operand is `[B, H, S, D]`, or `[B, S, H * D]` with the number of heads in an attribute. The cosines and sines are
/// `[P, R / 2]`, one row per position, with positions of `[B, S]`; or without positions `[B, S, R / 2]`.
///
/// ```mlir
/// %y = graph.rotary_embedding %x, %cos, %sin, %at : (tensor<2x4x3x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x3xi64>) -> tensor<2x4x3x8xf32>
/// ```
#[op("graph.rotary_embedding", format = GENERIC, infer = infer_rotary, eval = rotary)]
pub struct RotaryEmbeddingOp {
    /// The operand.
    x: Operand<FLOAT_TENSOR>,
    /// The cosines.
    cos_cache: Operand<FLOAT_TENSOR>,
    /// The sines.
    sin_cache: Operand<FLOAT_TENSOR>,
    /// The positions.
    position_ids: OptOperand<I64_TENSOR>,
    /// Whether pairs are neighbours rather than half a head apart.
    #[default = "0 : i64"]
    interleaved: OptAttribute<I64>,
    /// The number of heads.
    num_heads: OptAttribute<I64>,
    /// How many elements of each head rotate; all when 0.
    #[default = "0 : i64"]
    rotary_embedding_dim: OptAttribute<I64>,
    /// The rotated operand.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_rotary(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["x", "cos_cache", "sin_cache"])?;
    heads(args, "x", args.int("num_heads").filter(|&h| h > 0))?;
    infer::same(args)
}

fn rotary(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let attrs = kernels::Rotary {
        interleaved: args.flag("interleaved"),
        dim: int(args, "rotary_embedding_dim")?,
        heads: args.int("num_heads"),
    };
    let (cos, sin) = (i.get("cos_cache")?, i.get("sin_cache")?);
    one(kernels::rotary_embedding(i.get("x")?, cos, sin, i.opt("position_ids")?, &attrs))
}

/// A gated activation: `a * sigmoid(alpha * a) * b`.
///
/// ```mlir
/// %y = graph.swiglu %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
/// ```
#[op(
    "graph.swiglu",
    format = GENERIC,
    infer = infer::like_first,
    eval = |args, data| binary(data, |a, b| kernels::swiglu(a, b, float(args, "alpha")?))
)]
pub struct SwigluOp {
    /// The gate.
    a: Operand<FLOAT_TENSOR>,
    /// What is let through.
    b: Operand<FLOAT_TENSOR>,
    /// The factor inside the sigmoid.
    #[default = "1.000000e+00 : f32"]
    alpha: OptAttribute<F32>,
    /// The result.
    y: OpResult<FLOAT_TENSOR>,
}

/// A copy of a cache in which newer elements replace a run of slices along an axis.
///
/// Every sample has its own start, which is 0 when there are none.
///
/// ```mlir
/// %y = graph.tensor_scatter %cache, %new, %at {mode = "circular"} : (tensor<2x1x8x4xf32>, tensor<2x1x3x4xf32>, tensor<2xi64>) -> tensor<2x1x8x4xf32>
/// ```
#[op(
    "graph.tensor_scatter",
    format = GENERIC,
    infer = infer_tensor_scatter,
    eval = tensor_scatter,
    verify = |m, op| checked(m, op, circular)
)]
pub struct TensorScatterOp {
    /// The cache.
    past_cache: Operand<TENSOR>,
    /// The newer elements, of the same shape but for the axis.
    update: Operand<TENSOR>,
    /// Where they go, `[B]`.
    write_indices: OptOperand<I64_TENSOR>,
    /// The axis, which is not the first.
    #[default = "-2 : i64"]
    axis: OptAttribute<I64>,
    /// `linear`, or `circular` to go on at the beginning after the end.
    #[default = "\"linear\""]
    mode: OptAttribute<STRING>,
    /// The changed copy.
    present_cache: OpResult<TENSOR>,
}

fn circular(args: &OpArgs<'_>) -> Result<bool, String> {
    choice(args, "mode", &[("linear", false), ("circular", true)])
}

fn infer_tensor_scatter(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["past_cache", "update"])?;
    if let Some(dims) = infer::dims(args, "past_cache") {
        normalize_axis(int(args, "axis")?, dims.len())?;
    }
    infer::same(args)
}

fn tensor_scatter(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (cache, update, starts) = (i.get("past_cache")?, i.get("update")?, i.opt("write_indices")?);
    one(kernels::tensor_scatter(cache, update, starts, int(args, "axis")?, circular(args)?))
}

/// Depthwise convolution over each position and those before it, which also gives the state for what comes after.
///
/// `[N, C, L]` by `[C, 1, K]`; the state is the last `K - 1` positions.
///
/// ```mlir
/// %y:2 = graph.causal_conv_with_state %x, %w : (tensor<1x4x8xf32>, tensor<4x1x3xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x2xf32>)
/// ```
#[op(
    "graph.causal_conv_with_state",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $weight (`bias` $bias^)? (`past` $past_state^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_causal_conv,
    eval = causal_conv,
    verify = |m, op| checked(m, op, activated)
)]
pub struct CausalConvWithStateOp {
    /// The input.
    x: Operand<FLOAT_TENSOR>,
    /// One filter per channel.
    weight: Operand<FLOAT_TENSOR>,
    /// What is added, `[C]`.
    bias: OptOperand<FLOAT_TENSOR>,
    /// The positions before the first, `[N, C, K - 1]`; zeros when absent.
    past_state: OptOperand<FLOAT_TENSOR>,
    /// `none`, or `silu`, also known as `swish`.
    #[default = "\"none\""]
    activation: OptAttribute<STRING>,
    /// The result.
    y: OpResult<FLOAT_TENSOR>,
    /// The last positions.
    present_state: OpResult<FLOAT_TENSOR>,
}

fn activated(args: &OpArgs<'_>) -> Result<bool, String> {
    choice(args, "activation", &[("none", false), ("silu", true), ("swish", true)])
}

fn infer_causal_conv(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "weight", "bias", "past_state"])?;
    let three = |name| match infer::dims(args, name) {
        None => Ok([DYNAMIC; 3]),
        Some(dims) => <[i64; 3]>::try_from(dims).map_err(|d| format!("requires rank 3, not {}", infer::display(&d))),
    };
    let ([n, c, length], [m, _, k]) = (three("x")?, three("weight")?);
    let c = infer::unify(c, m)?;
    let state = vec![n, c, infer::map(k, |k| k.checked_sub(1).filter(|&s| s >= 0))];
    Ok(vec![infer::tensor(args, Some(vec![n, c, length]), elem), infer::tensor(args, Some(state), elem)])
}

fn causal_conv(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (bias, past) = (i.opt("bias")?, i.opt("past_state")?);
    several(args, kernels::causal_conv_with_state(i.get("x")?, i.get("weight")?, bias, past, activated(args)?)?)
}

/// Attention whose state has a fixed size: a matrix from keys to values for each head.
///
/// At every step the matrix decays, learns the value of the key, and is asked for that of the query. Operands but the
/// state are `[B, T, heads * size]`.
///
/// ```mlir
/// %y:2 = graph.linear_attention %q, %k, %v {kv_num_heads = 1 : i64, q_num_heads = 2 : i64, update_rule = "linear"} : (tensor<1x4x16xf32>, tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> (tensor<1x4x12xf32>, tensor<1x1x8x6xf32>)
/// ```
#[op(
    "graph.linear_attention",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$query `,` $key `,` $value (`state` $past_state^)? (`decay` $decay^)? (`beta` $beta^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_linear,
    eval = linear,
    verify = |m, op| checked(m, op, linear_attrs)
)]
pub struct LinearAttentionOp {
    /// The queries.
    query: Operand<FLOAT_TENSOR>,
    /// The keys.
    key: Operand<FLOAT_TENSOR>,
    /// The values.
    value: Operand<FLOAT_TENSOR>,
    /// The matrices, `[B, H, key size, value size]`; zeros when absent.
    past_state: OptOperand<FLOAT_TENSOR>,
    /// The logarithm of the decay, for each head or each element of a key.
    decay: OptOperand<FLOAT_TENSOR>,
    /// How much of a value is written, for each head or all.
    beta: OptOperand<FLOAT_TENSOR>,
    /// How many steps an implementation may take at a time; of no effect.
    #[default = "64 : i64"]
    chunk_size: OptAttribute<I64>,
    /// The number of heads of keys and values.
    kv_num_heads: Attribute<I64>,
    /// The number of heads of queries.
    q_num_heads: Attribute<I64>,
    /// The factor of the result; one by the root of the key size when 0.
    #[default = "0.000000e+00 : f32"]
    scale: OptAttribute<F32>,
    /// `linear`, `gated` (with decay), `delta` (what is known of a value is taken off it) or `gated_delta`.
    #[default = "\"gated_delta\""]
    update_rule: OptAttribute<STRING>,
    /// The answers.
    y: OpResult<FLOAT_TENSOR>,
    /// The matrices after the last step.
    present_state: OpResult<FLOAT_TENSOR>,
}

fn linear_attrs(args: &OpArgs<'_>) -> Result<kernels::LinearAttention, String> {
    let rules =
        [("linear", (false, false)), ("gated", (true, false)), ("delta", (false, true)), ("gated_delta", (true, true))];
    let (gated, delta) = choice(args, "update_rule", &rules)?;
    let heads = [int(args, "q_num_heads")?, int(args, "kv_num_heads")?];
    if heads[0] <= 0 || heads[1] <= 0 || heads[0] % heads[1] != 0 {
        return Err(format!("{} heads of queries cannot share {} of keys", heads[0], heads[1]));
    }
    for (name, wanted) in [("decay", gated), ("beta", delta)] {
        if args.opt_operand(name).is_some() != wanted {
            return Err(format!("the update rule {} an operand '{name}'", if wanted { "requires" } else { "forbids" }));
        }
    }
    Ok(kernels::LinearAttention { heads, scale: float(args, "scale")?, gated, delta })
}

fn infer_linear(args: &OpArgs<'_>) -> infer::Types {
    let [queries, kv] = linear_attrs(args)?.heads;
    let elem = infer::common_elem(args, &["query", "key", "value"])?;
    let state_elem = infer::elem(args, "past_state").unwrap_or(elem);
    let [b, _, t, dk] = heads(args, "query", Some(queries))?;
    let [_, _, _, dv] = heads(args, "value", Some(kv))?;
    let y = vec![b, t, infer::map(dv, |d| d.checked_mul(queries))];
    Ok(vec![infer::tensor(args, Some(y), elem), infer::tensor(args, Some(vec![b, kv, dk, dv]), state_elem)])
}

fn linear(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let inputs = kernels::LinearInputs {
        query: i.get("query")?,
        key: i.get("key")?,
        value: i.get("value")?,
        state: i.opt("past_state")?,
        decay: i.opt("decay")?,
        beta: i.opt("beta")?,
    };
    several(args, kernels::linear_attention(&inputs, &linear_attrs(args)?)?)
}

/// The ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    AttentionOp::INFO,
    RotaryEmbeddingOp::INFO,
    SwigluOp::INFO,
    TensorScatterOp::INFO,
    CausalConvWithStateOp::INFO,
    LinearAttentionOp::INFO,
]];
