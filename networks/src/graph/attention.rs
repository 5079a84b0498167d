//! Attention and related transformer ops.

use super::args::{Inputs, binary, choice, float, int, one, several};
use super::unary::checked;
use super::{GENERIC, infer, onnx_dtype};
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, I64_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::normalize_axis;

/// Scaled dot-product attention: `softmax(scale * Q Kᵀ + mask) V`.
///
/// `q`, `k` and `v` are `[B, H, S, D]`, or `[B, S, H * D]` with the numbers of heads in attributes. With fewer key and
/// value heads than query heads, each serves a group of neighbouring query heads (grouped-query attention). Past keys
/// and values are prepended along the sequence axis; the concatenated keys and values and the scores are optional
/// results.
///
/// A query whose keys are all masked yields zeros, or NaN as a softmax does.
///
/// ```mlir
/// %y = graph.attention %q, %k, %v mask %m {is_causal = 1 : i64} : (tensor<1x8x4x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32>, tensor<4x6xi1>) -> tensor<1x8x4x16xf32>
/// ```
#[op(
    "graph.attention",
    traits = Traits::OPERAND_SEGMENTS,
    extensions = &[&DeclaredCost(attention_cost)],
    format = "$q `,` $k `,` $v (`mask` $attn_mask^)? (`past_key` $past_key^)? (`past_value` $past_value^)? (`lengths` $nonpad_kv_seqlen^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_attention,
    eval = attention,
    verify = |m, op| checked(m, op, attention_attributes)
)]
pub struct AttentionOp {
    /// Queries.
    q: Operand<FLOAT_TENSOR>,
    /// Keys.
    k: Operand<FLOAT_TENSOR>,
    /// Values.
    v: Operand<FLOAT_TENSOR>,
    /// Summand of the scores; a boolean mask selects the visible keys.
    attn_mask: OptOperand<TENSOR>,
    /// Past keys, `[B, H, P, D]`.
    past_key: OptOperand<FLOAT_TENSOR>,
    /// Past values, `[B, H, P, D]`.
    past_value: OptOperand<FLOAT_TENSOR>,
    /// Number of valid keys and values per sample, `[B]`.
    nonpad_kv_seqlen: OptOperand<I64_TENSOR>,
    /// Whether a query attends to keys up to its own position only.
    #[default = "0 : i64"]
    is_causal: OptAttribute<I64>,
    /// Number of key and value heads.
    kv_num_heads: OptAttribute<I64>,
    /// Whether a query whose keys are all masked yields NaN and not zeros; not in ONNX.
    #[default = "0 : i64"]
    masked_is_nan: OptAttribute<I64>,
    /// Number of visible keys before a query; -1 for all.
    #[default = "-1 : i64"]
    left_window_size: OptAttribute<I64>,
    /// Number of query heads.
    q_num_heads: OptAttribute<I64>,
    /// Form of the score result: scaled scores (0), after softcap (1), after the mask (2), or probabilities (3).
    #[default = "0 : i64"]
    qk_matmul_output_mode: OptAttribute<I64>,
    /// Number of visible keys after a query; -1 for all.
    #[default = "-1 : i64"]
    right_window_size: OptAttribute<I64>,
    /// Scale of the scores; 1 / sqrt(D) when absent.
    scale: OptAttribute<F32>,
    /// Soft cap c of the scores: `c * tanh(score / c)`; 0 for none.
    #[default = "0.000000e+00 : f32"]
    softcap: OptAttribute<F32>,
    /// ONNX type number of the softmax precision; that of the scores when absent.
    softmax_precision: OptAttribute<I64>,
    /// Attention output.
    y: OpResult<FLOAT_TENSOR>,
    /// Concatenated keys, concatenated values, and scores; trailing ones may be absent.
    more: OpResults<FLOAT_TENSOR>,
}

/// Reads the attributes of a `graph.attention`.
///
/// # Errors
/// Numbers of heads that are not positive, negative windows other than -1, or a precision that is no float type.
pub fn attention_attributes(args: &OpArgs<'_>) -> Result<kernels::AttentionAttrs, Violation> {
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
        return Err("attribute 'softmax_precision' should be the ONNX number of a floating-point type".into());
    }
    Ok(kernels::AttentionAttrs {
        scale: args.float("scale"),
        is_causal: args.flag("is_causal"),
        heads,
        softcap: float(args, "softcap")?,
        softmax_precision: precision.flatten(),
        window,
        score_output: int(args, "qk_matmul_output_mode")?,
        masked_is_nan: args.flag("masked_is_nan"),
    })
}

/// Returns an operand's shape as `[B, H, S, D]`.
fn heads(args: &OpArgs<'_>, name: &str, heads: Option<i64>) -> Result<[i64; 4], Violation> {
    match (infer::dims(args, name).as_deref(), heads) {
        (None, _) => Ok([DYNAMIC; 4]),
        (Some(&[b, h, s, d]), _) => Ok([b, h, s, d]),
        (Some(&[b, s, DYNAMIC]), Some(h)) => Ok([b, h, s, DYNAMIC]),
        (Some(&[b, s, w]), Some(h)) if w % h == 0 => Ok([b, h, s, w / h]),
        (Some(other), _) => Err(format!("requires '{name}' to have heads, but it is {}", infer::display(other)).into()),
    }
}

/// Returns the cost of the products of queries with keys, and of probabilities with values.
fn attention_cost(args: &OpArgs<'_>) -> OpCost {
    let size = |name: &str, index: usize, number: &str| {
        let extents = heads(args, name, args.int(number).filter(|&h| h > 0)).unwrap_or([1; 4]);
        u64::try_from(extents[index]).unwrap_or(1)
    };
    let [b, h, s, d] = [0, 1, 2, 3].map(|i| size("q", i, "q_num_heads"));
    let [keys, width] = [size("k", 2, "kv_num_heads"), size("v", 3, "kv_num_heads")];
    OpCost::Contract(Contraction::dense(b.saturating_mul(h), s, d.saturating_add(width), keys))
}

fn infer_attention(args: &OpArgs<'_>) -> infer::Types {
    let attrs = attention_attributes(args)?;
    let elem = infer::common_elem(args, &["q", "k", "past_key"])?;
    let value_elem = infer::common_elem(args, &["v", "past_value"])?;
    let [b, h, s, d] = heads(args, "q", attrs.heads[0])?;
    let [kb, kv, new, kd] = heads(args, "k", attrs.heads[1])?;
    let [vb, vh, vs, vd] = heads(args, "v", attrs.heads[1])?;
    let (new, kv) = (infer::unify(new, vs)?, infer::unify(kv, vh)?);
    let (b, d) = (infer::unify(infer::unify(b, kb)?, vb)?, infer::unify(d, kd)?);
    if h > 0 && kv > 0 && h % kv != 0 {
        return Err(format!("{h} query heads are not a multiple of {kv} key heads").into());
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
    several(args, kernels::attention(&inputs, &attention_attributes(args)?)?)
}

/// Rotary position embedding: rotates pairs of elements of each head by position-dependent angles.
///
/// `x` is `[B, H, S, D]`, or `[B, S, H * D]` with `num_heads`. The caches of cosines and sines are `[P, R / 2]`, one
/// row per position, with `position_ids` of `[B, S]`; or `[B, S, R / 2]` without `position_ids`.
///
/// ```mlir
/// %y = graph.rotary_embedding %x, %cos, %sin, %at : (tensor<2x4x3x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x3xi64>) -> tensor<2x4x3x8xf32>
/// ```
#[op("graph.rotary_embedding", format = GENERIC, infer = infer_rotary, eval = rotary)]
pub struct RotaryEmbeddingOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Cosines.
    cos_cache: Operand<FLOAT_TENSOR>,
    /// Sines.
    sin_cache: Operand<FLOAT_TENSOR>,
    /// Positions, `[B, S]`.
    position_ids: OptOperand<I64_TENSOR>,
    /// Whether pairs are adjacent elements; otherwise they are R / 2 elements apart.
    #[default = "0 : i64"]
    interleaved: OptAttribute<I64>,
    /// Number of heads.
    num_heads: OptAttribute<I64>,
    /// Number R of rotated elements per head; 0 for all.
    #[default = "0 : i64"]
    rotary_embedding_dim: OptAttribute<I64>,
    /// Rotated operand.
    y: OpResult<FLOAT_TENSOR>,
}

/// Checks that extents are equal where both are static.
fn unify_all(extents: impl IntoIterator<Item = (i64, i64)>) -> Result<(), Violation> {
    extents.into_iter().try_for_each(|(a, b)| infer::unify(a, b).map(drop))
}

fn infer_rotary(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["x", "cos_cache", "sin_cache"])?;
    let [b, _, s, d] = heads(args, "x", args.int("num_heads").filter(|&h| h > 0))?;
    let rotated = args.int("rotary_embedding_dim").filter(|&rotated| rotated != 0).unwrap_or(d);
    let is_too_large = d != DYNAMIC && rotated > d;
    if rotated != DYNAMIC && (rotated < 0 || rotated % 2 != 0 || is_too_large) {
        return Err(format!("requires pairs of elements, but rotates {rotated} of {d}").into());
    }
    let pairs = infer::map(rotated, |rotated| Some(rotated / 2));
    let has_positions = args.opt_operand("position_ids").is_some();
    for name in ["cos_cache", "sin_cache"] {
        match (infer::dims(args, name).as_deref(), has_positions) {
            (None, _) => {}
            (Some(&[_, width]), true) => unify_all([(width, pairs)])?,
            (Some(&[batch, length, width]), false) => unify_all([(batch, b), (length, s), (width, pairs)])?,
            (Some(other), _) => {
                return Err(format!("requires '{name}' to have angles, but it is {}", infer::display(other)).into());
            }
        }
    }
    match infer::dims(args, "position_ids").as_deref() {
        Some(&[batch, length]) => unify_all([(batch, b), (length, s)])?,
        None => {}
        Some(other) => return Err(format!("requires a position of each row, not {}", infer::display(other)).into()),
    }
    infer::same(args)
}

fn rotary(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let attrs = kernels::RotaryAttrs {
        interleaved: args.flag("interleaved"),
        dim: int(args, "rotary_embedding_dim")?,
        heads: args.int("num_heads"),
    };
    let (cos, sin) = (i.get("cos_cache")?, i.get("sin_cache")?);
    one(kernels::rotary_embedding(i.get("x")?, cos, sin, i.opt("position_ids")?, &attrs))
}

/// SwiGLU gated activation: `a * sigmoid(alpha * a) * b`.
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
    /// Gate.
    a: Operand<FLOAT_TENSOR>,
    /// Gated operand.
    b: Operand<FLOAT_TENSOR>,
    /// Factor alpha inside the sigmoid.
    #[default = "1.000000e+00 : f32"]
    alpha: OptAttribute<F32>,
    /// Result.
    y: OpResult<FLOAT_TENSOR>,
}

/// Copy of a cache in which `update` replaces a range along an axis.
///
/// The range starts at `write_indices[b]` in sample b, or at 0 if `write_indices` is absent.
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
    /// Cache.
    past_cache: Operand<TENSOR>,
    /// New elements, of the same shape except along the axis.
    update: Operand<TENSOR>,
    /// Start of the range in each sample, `[B]`.
    write_indices: OptOperand<I64_TENSOR>,
    /// Axis; must not be the first.
    #[default = "-2 : i64"]
    axis: OptAttribute<I64>,
    /// `linear`, or `circular` to wrap around at the end.
    #[default = "\"linear\""]
    mode: OptAttribute<STRING>,
    /// Updated cache.
    present_cache: OpResult<TENSOR>,
}

fn circular(args: &OpArgs<'_>) -> Result<bool, Violation> {
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

/// Causal depthwise 1-D convolution with state, for autoregressive decoding.
///
/// `x` is `[N, C, L]`, `weight` is `[C, 1, K]`. The state is the last `K - 1` positions.
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
    /// Input, `[N, C, L]`.
    x: Operand<FLOAT_TENSOR>,
    /// Filters, `[C, 1, K]`.
    weight: Operand<FLOAT_TENSOR>,
    /// Bias, `[C]`.
    bias: OptOperand<FLOAT_TENSOR>,
    /// Positions preceding the input, `[N, C, K - 1]`; zeros when absent.
    past_state: OptOperand<FLOAT_TENSOR>,
    /// Activation: `none`, or `silu`, also called `swish`.
    #[default = "\"none\""]
    activation: OptAttribute<STRING>,
    /// Output, `[N, C, L]`.
    y: OpResult<FLOAT_TENSOR>,
    /// Last `K - 1` positions, `[N, C, K - 1]`.
    present_state: OpResult<FLOAT_TENSOR>,
}

/// Whether `graph.causal_conv_with_state` has an activation.
///
/// # Errors
/// Unknown activations.
pub(crate) fn activated(args: &OpArgs<'_>) -> Result<bool, Violation> {
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

/// Linear attention with a recurrent state matrix per head, from keys to values.
///
/// At each step the state decays, is updated with the key and value, and is multiplied by the query. Operands except
/// the state are `[B, T, heads * size]`.
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
    /// Queries.
    query: Operand<FLOAT_TENSOR>,
    /// Keys.
    key: Operand<FLOAT_TENSOR>,
    /// Values.
    value: Operand<FLOAT_TENSOR>,
    /// Initial state, `[B, H, key size, value size]`; zeros when absent.
    past_state: OptOperand<FLOAT_TENSOR>,
    /// Logarithm of the decay, per head or per key element.
    decay: OptOperand<FLOAT_TENSOR>,
    /// Write strength, per head or for all heads.
    beta: OptOperand<FLOAT_TENSOR>,
    /// Chunk size of chunkwise implementations; ignored.
    #[default = "64 : i64"]
    chunk_size: OptAttribute<I64>,
    /// Number of key and value heads.
    kv_num_heads: Attribute<I64>,
    /// Number of query heads.
    q_num_heads: Attribute<I64>,
    /// Scale of the output; 0 for 1 / sqrt(key size).
    #[default = "0.000000e+00 : f32"]
    scale: OptAttribute<F32>,
    /// State update: `linear`, `gated` (decay), `delta` (subtracts the stored value) or `gated_delta`.
    #[default = "\"gated_delta\""]
    update_rule: OptAttribute<STRING>,
    /// Output.
    y: OpResult<FLOAT_TENSOR>,
    /// Final state.
    present_state: OpResult<FLOAT_TENSOR>,
}

/// Returns the heads and the update rule of `graph.linear_attention`.
///
/// # Errors
/// Unknown rules, and operands that the rule does not have.
pub fn linear_attrs(args: &OpArgs<'_>) -> Result<kernels::LinearAttentionAttrs, Violation> {
    let rules =
        [("linear", (false, false)), ("gated", (true, false)), ("delta", (false, true)), ("gated_delta", (true, true))];
    let (gated, delta) = choice(args, "update_rule", &rules)?;
    let heads = [int(args, "q_num_heads")?, int(args, "kv_num_heads")?];
    if heads[0] <= 0 || heads[1] <= 0 || heads[0] % heads[1] != 0 {
        return Err(format!("{} query heads are not a multiple of {} key heads", heads[0], heads[1]).into());
    }
    for (name, wanted) in [("decay", gated), ("beta", delta)] {
        if args.opt_operand(name).is_some() != wanted {
            return Err(
                format!("the update rule {} an operand '{name}'", if wanted { "requires" } else { "forbids" }).into()
            );
        }
    }
    Ok(kernels::LinearAttentionAttrs { heads, scale: float(args, "scale")?, gated, delta })
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

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    AttentionOp::INFO,
    RotaryEmbeddingOp::INFO,
    SwigluOp::INFO,
    TensorScatterOp::INFO,
    CausalConvWithStateOp::INFO,
    LinearAttentionOp::INFO,
]];
