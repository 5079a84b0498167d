//! Attention and related ops, composed of other kernels so that every step rounds as in ONNX's function bodies.

use crate::KernelResult;
use crate::binary::{add, equal, mul, sub, where_select};
use crate::cast::{cast, from_f64s};
use crate::index::gather;
use crate::matmul::matmul;
use crate::movement::{concat, expand, reshape, slice, split, transpose, unsqueeze};
use crate::pad::{PadMode, pad};
use crate::reduce::{Reduction, reduce};
use crate::softmax::softmax;
use crate::unary::{swish, tanh};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};

/// Attributes of [`attention`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttentionAttrs {
    /// Scale of the scores; `1 / sqrt(head size)` when `None`.
    pub scale: Option<f64>,
    /// Whether a query attends to keys up to its own position only.
    pub is_causal: bool,
    /// Numbers of query heads and of key and value heads, for operands of rank 3.
    pub heads: [Option<i64>; 2],
    /// Soft cap c of the scores, `c * tanh(score / c)`; 0 for none.
    pub softcap: f64,
    /// Precision of the softmax; that of the scores when `None`.
    pub softmax_precision: Option<DType>,
    /// Number of visible keys before and after a query; -1 for all.
    pub window: [i64; 2],
    /// Form of the fourth result: scaled scores (0), after the cap (1), with the mask (2), or probabilities (3).
    pub score_output: i64,
    /// Whether the output of a query whose keys are all masked is NaN, as that of a softmax, and not zero.
    pub masked_is_nan: bool,
}

/// Operands of [`attention`]: `[B, H, S, D]`, or `[B, S, H * D]` with numbers of heads in the attributes.
#[derive(Clone, Copy, Debug)]
pub struct AttentionInputs<'a> {
    /// Queries.
    pub query: &'a Tensor,
    /// Keys; their number of heads equals that of the values and divides that of the queries.
    pub key: &'a Tensor,
    /// Values.
    pub value: &'a Tensor,
    /// Summand of the scores, or a boolean mask of visible keys. Broadcasts to `[B, H, S, T]`, except that the last
    /// axis may be too short.
    pub mask: Option<&'a Tensor>,
    /// Past keys and values, of rank 4.
    pub past: Option<[&'a Tensor; 2]>,
    /// Number of valid keys and values per sample.
    pub lengths: Option<&'a Tensor>,
}

/// Converts `[B, S, H * D]` to `[B, H, S, D]`; rank 4 is unchanged.
fn split_heads(x: &Tensor, heads: Option<i64>) -> KernelResult {
    if x.rank() == 4 {
        return Ok(x.clone());
    }
    let heads = heads.filter(|&h| h > 0 && x.rank() == 3).ok_or_else(|| format!("{x:?} requires a number of heads"))?;
    let sizes = if x.is_empty() { [0, 0, heads, x.shape()[2] as i64 / heads] } else { [0, 0, heads, -1] };
    transpose(&reshape(x, &sizes, false)?, &[0, 2, 1, 3])
}

/// Converts `[B, H, S, D]` to `[B, S, H * D]`.
fn join_heads(x: &Tensor) -> KernelResult {
    let &[b, h, s, d] = x.shape() else { return Err(format!("heads of {x:?}").into()) };
    Ok(transpose(x, &[0, 2, 1, 3])?.reshape(vec![b, s, h.saturating_mul(d)])?)
}

/// `Attention` (23, 24, 25): `softmax(scale * Q Kᵀ + mask) V`. Returns the output, the keys and values including past
/// ones, and the scores.
pub fn attention(inputs: &AttentionInputs<'_>, attrs: &AttentionAttrs) -> Result<[Tensor; 4], Violation> {
    let query = split_heads(inputs.query, attrs.heads[0])?;
    let mut key = split_heads(inputs.key, attrs.heads[1])?;
    let mut value = split_heads(inputs.value, attrs.heads[1])?;
    if let Some([past_key, past_value]) = inputs.past {
        key = concat(&[past_key, &key], 2)?;
        value = concat(&[past_value, &value], 2)?;
    }
    let (&[b, h, s, d], &[kb, kv, total, kd]) = (query.shape(), key.shape()) else {
        return Err(format!("attention of {query:?} and {key:?}").into());
    };
    let fits = kb == b && kd == d && kv > 0 && h % kv == 0 && value.rank() == 4 && value.shape()[..3] == [b, kv, total];
    if !fits || key.dtype() != query.dtype() {
        return Err(format!("attention of {query:?}, {key:?} and {value:?}").into());
    }
    let root = from_f64s(query.dtype(), &[], vec![attrs.scale.unwrap_or(1.0 / (d as f64).sqrt()).sqrt()]);
    // Query heads that share a key head are neighbours, so they merge into one head with more queries.
    let grouped = |x: &Tensor, d| x.reshape(vec![b, kv, (h / kv).saturating_mul(s), d]);
    let keys = transpose(&mul(&key, &root)?, &[0, 1, 3, 2])?;
    let raw = matmul(&grouped(&mul(&query, &root)?, d)?, &keys)?.reshape(vec![b, h, s, total])?;
    let bias = bias(inputs, attrs, [b, h, s, total], query.dtype())?;
    let capped = soft_cap(&raw, attrs.softcap)?;
    let biased = add(&capped, &bias)?;
    let probabilities = probabilities(&biased, (!attrs.masked_is_nan).then_some(&bias), attrs.softmax_precision)?;
    let values = cast(&value, query.dtype())?;
    let y = matmul(&grouped(&probabilities, total)?, &values)?.reshape(vec![b, h, s, value.shape()[3]])?;
    let y = if inputs.query.rank() == 3 { join_heads(&y)? } else { y };
    let scores = match attrs.score_output {
        0 => raw,
        1 => capped,
        2 => biased,
        _ => probabilities,
    };
    Ok([y, key, value, scores])
}

/// `cap * tanh(x / cap)`
fn soft_cap(x: &Tensor, cap: f64) -> KernelResult {
    if cap <= 0.0 {
        return Ok(x.clone());
    }
    let cap = from_f64s(x.dtype(), &[], vec![cap]);
    mul(&tanh(&super::binary::div(x, &cap)?)?, &cap)
}

/// Returns the summand of the scores `[B, H, S, T]`: the mask, and minus infinity for invisible keys.
fn bias(inputs: &AttentionInputs<'_>, attrs: &AttentionAttrs, dims: [usize; 4], dtype: DType) -> KernelResult {
    let [b, h, s, total] = dims;
    let lengths = inputs.lengths.map(|l| l.to_i64().filter(|l| l.len() == b));
    let lengths = match lengths {
        Some(None) => return Err(format!("attention needs {b} lengths, not {:?}", inputs.lengths).into()),
        known => known.flatten(),
    };
    let mask = inputs.mask.map(|mask| full_mask(mask, dims)).transpose()?;
    let mask_dims = mask.as_ref().map_or([1, 1], |m| [m.shape()[0], m.shape()[1]]);
    let (batch, heads) = (if lengths.is_some() { b } else { mask_dims[0] }, mask_dims[1]);
    if ![1, b].contains(&batch) || ![1, h].contains(&heads) {
        return Err(format!("a mask of {:?} does not broadcast to {dims:?}", inputs.mask).into());
    }
    let mask = mask.map(|m| expand(&m, &[batch as i64, heads as i64, 1, 1])).transpose()?;
    let added = mask.map(|m| m.to_f64());
    let past = inputs.past.map_or(0, |p| p[0].shape().get(2).copied().unwrap_or(0) as i64);
    let mut out = Vec::with_capacity(batch * heads * s * total);
    for row in 0..batch * heads * s {
        let length = lengths.as_ref().map(|l| l[row / s / heads]);
        let at = length.map_or(past, |l| l.saturating_sub(s as i64)).saturating_add((row % s) as i64);
        for j in 0..total as i64 {
            let [left, right] = attrs.window;
            let hidden = (attrs.is_causal && j > at)
                || (left >= 0 && at.saturating_sub(j) > left)
                || (right >= 0 && j.saturating_sub(at) > right)
                || length.is_some_and(|l| j >= l);
            let mask = added.as_ref().map_or(0.0, |m| m[row * total + j as usize]);
            out.push(if hidden { mask + f64::NEG_INFINITY } else { mask });
        }
    }
    Ok(from_f64s(dtype, &[batch, heads, s, total], out))
}

/// Returns a mask as summands of shape `[B or 1, H or 1, S, T]`.
fn full_mask(mask: &Tensor, [_, _, s, total]: [usize; 4]) -> KernelResult {
    let hidden = Tensor::scalar(f64::NEG_INFINITY);
    let numbers = match mask.dtype() {
        DType::Bool => where_select(mask, &Tensor::scalar(0f64), &hidden)?,
        _ => cast(mask, DType::F64)?,
    };
    let last = numbers.shape().last().copied().ok_or("an attention mask needs an axis")?;
    let missing = total.checked_sub(last).ok_or_else(|| format!("a mask of {mask:?} for {total} keys"))?;
    let wide = pad(&numbers, &[0, missing as i64], &[-1], PadMode::Constant, Some(&hidden))?;
    let ones = 4usize.checked_sub(wide.rank()).ok_or_else(|| format!("a mask of {mask:?}"))?;
    let dims: Vec<usize> = std::iter::repeat_n(1, ones).chain(wide.shape().iter().copied()).collect();
    let full = expand(&wide.reshape(dims)?, &[s as i64, total as i64])?;
    if full.shape()[2..] == [s, total] { Ok(full) } else { Err(format!("a mask of {mask:?} for {s} queries").into()) }
}

/// Returns the softmax of the scores; zeros for queries without visible keys, if the summand of the scores is given.
fn probabilities(scores: &Tensor, bias: Option<&Tensor>, precision: Option<DType>) -> KernelResult {
    let dtype = scores.dtype();
    let soft = softmax(&cast(scores, precision.unwrap_or(dtype))?, -1, false)?;
    let Some(bias) = bias else { return cast(&soft, dtype) };
    let most = reduce(bias, Reduction::Max, &[-1], true, false)?;
    let blind = equal(&most, &from_f64s(dtype, &[], vec![f64::NEG_INFINITY]))?;
    where_select(&blind, &from_f64s(dtype, &[], vec![0.0]), &cast(&soft, dtype)?)
}

/// Attributes of [`rotary_embedding`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RotaryAttrs {
    /// Whether pairs are adjacent elements rather than half a head apart.
    pub interleaved: bool,
    /// Number of rotated elements per head; 0 for all.
    pub dim: i64,
    /// Number of heads, for an operand of rank 3.
    pub heads: Option<i64>,
}

/// `RotaryEmbedding` (23): rotates pairs of elements of each head of `[B, H, S, D]` or `[B, S, H * D]`. Cosines and
/// sines are `[P, R / 2]` with `positions` of `[B, S]`, or `[B, S, R / 2]`.
pub fn rotary_embedding(
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    positions: Option<&Tensor>,
    attrs: &RotaryAttrs,
) -> KernelResult {
    let input = split_heads(x, attrs.heads)?;
    let &[b, h, s, d] = input.shape() else { return Err(format!("a rotary embedding of {x:?}").into()) };
    let dim = if attrs.dim == 0 { d } else { usize::try_from(attrs.dim).unwrap_or(usize::MAX) };
    if dim > d || !dim.is_multiple_of(2) {
        return Err(format!("a rotary embedding of {dim} of {d} elements").into());
    }
    let angles = |cache: &Tensor| {
        let angles = positions.map_or_else(|| Ok(cache.clone()), |p| gather(cache, p, 0))?;
        if angles.shape() != [b, s, dim / 2] {
            return Err(Violation::from(format!("angles of {angles:?} for {b} times {s} times {} pairs", dim / 2)));
        }
        unsqueeze(&angles, &[1])
    };
    let (cos, sin) = (angles(cos)?, angles(sin)?);
    let parts = split(&input, 3, &[dim, d - dim])?;
    let (pairs, axis) = if attrs.interleaved { ([b, h, s, dim / 2, 2], 4) } else { ([b, h, s, 2, dim / 2], 3) };
    let pairs = parts[0].reshape(pairs.to_vec())?;
    let half = |i: i64| slice(&pairs, &[i], &[i + 1], &[axis], &[]);
    let [first, second] = [half(0)?, half(1)?].map(|part| part.reshape(vec![b, h, s, dim / 2]));
    let (first, second) = (first?, second?);
    let real = sub(&mul(&cos, &first)?, &mul(&sin, &second)?)?;
    let imaginary = add(&mul(&sin, &first)?, &mul(&cos, &second)?)?;
    let rotated = concat(&[&unsqueeze(&real, &[axis])?, &unsqueeze(&imaginary, &[axis])?], axis)?;
    let y = concat(&[&rotated.reshape(vec![b, h, s, dim])?, &parts[1]], 3)?;
    if x.rank() == 3 { join_heads(&y) } else { Ok(y) }
}

/// `SwiGLU` (28): [`swish`] of a gate times a tensor of the same shape.
pub fn swiglu(gate: &Tensor, x: &Tensor, alpha: f64) -> KernelResult {
    if gate.shape() != x.shape() {
        return Err(format!("swiglu of {gate:?} and {x:?}").into());
    }
    mul(&swish(gate, alpha)?, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attrs() -> AttentionAttrs {
        let (heads, window) = ([None; 2], [-1; 2]);
        let (scale, softmax_precision) = (None, None);
        AttentionAttrs {
            scale,
            is_causal: false,
            heads,
            softcap: 0.0,
            softmax_precision,
            window,
            score_output: 0,
            masked_is_nan: false,
        }
    }

    /// Runs two queries and four keys of one element, with zero scores.
    fn run(attrs: &AttentionAttrs, mask: Option<&Tensor>, lengths: Option<&Tensor>) -> [Tensor; 4] {
        let query = Tensor::from_vec(&[1, 1, 2, 1], vec![0f32; 2]);
        let value = Tensor::from_vec(&[1, 1, 4, 1], vec![1f32, 3.0, 8.0, 20.0]);
        let inputs = AttentionInputs { query: &query, key: &value, value: &value, mask, past: None, lengths };
        attention(&inputs, attrs).unwrap()
    }

    #[test]
    fn queries_see_what_they_may() {
        assert_eq!(run(&attrs(), None, None)[0].to_f64(), [8.0, 8.0]);
        let causal = AttentionAttrs { is_causal: true, ..attrs() };
        assert_eq!(run(&causal, None, None)[0].to_f64(), [1.0, 2.0]);
        assert_eq!(run(&causal, None, Some(&Tensor::from_vec(&[1], vec![4i64])))[0].to_f64(), [4.0, 8.0]);
        // The first query precedes the only key.
        assert_eq!(run(&causal, None, Some(&Tensor::from_vec(&[1], vec![1i64])))[0].to_f64(), [0.0, 1.0]);
        let window = AttentionAttrs { window: [0, 1], ..attrs() };
        assert_eq!(run(&window, None, None)[0].to_f64(), [2.0, 5.5]);
        // A short mask masks the rest.
        let mask = Tensor::from_bools(&[2, 2], vec![1, 0, 0, 0]);
        assert_eq!(run(&attrs(), Some(&mask), None)[0].to_f64(), [1.0, 0.0]);
    }

    #[test]
    fn scores_can_be_seen() {
        let mask = Tensor::from_vec(&[4], vec![0f32, 0.0, f32::NEG_INFINITY, 0.0]);
        let [_, key, _, scores] = run(&AttentionAttrs { score_output: 3, ..attrs() }, Some(&mask), None);
        assert_eq!(scores.to_f64()[..3], [1.0 / 3.0f32, 1.0 / 3.0, 0.0].map(f64::from));
        assert_eq!(key.shape(), [1, 1, 4, 1]);
        let raw = run(&attrs(), Some(&mask), None)[3].to_f64();
        assert_eq!(raw, [0.0; 8]);
    }

    #[test]
    fn pairs_rotate() {
        let x = Tensor::from_vec(&[1, 1, 1, 5], vec![1f32, 2.0, 3.0, 4.0, 5.0]);
        let (zero, one) = (Tensor::from_vec(&[2, 2], vec![0f32; 4]), Tensor::from_vec(&[2, 2], vec![1f32; 4]));
        let at = Tensor::from_vec(&[1, 1], vec![1i64]);
        let run = |interleaved| {
            let attrs = RotaryAttrs { interleaved, dim: 4, heads: None };
            rotary_embedding(&x, &zero, &one, Some(&at), &attrs).unwrap().to_f64()
        };
        assert_eq!(run(false), [-3.0, -4.0, 1.0, 2.0, 5.0]);
        assert_eq!(run(true), [-2.0, 1.0, -4.0, 3.0, 5.0]);
        let attrs = RotaryAttrs { interleaved: false, dim: 6, heads: None };
        assert!(rotary_embedding(&x, &zero, &one, Some(&at), &attrs).is_err());
    }
}
