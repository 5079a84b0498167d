//! Decoding steps with state: caches, causal convolution, linear attention.

use crate::KernelResult;
use crate::cast::cast;
use crate::conv::conv;
use crate::movement::{around, concat, slice};
use crate::shape::{ConvAttrs, checked_elements, normalize_axis};
use crate::unary::swish;
use gradus_ir::Violation;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

/// `TensorScatter` (24): a copy of `cache` in which `update`, shorter along `axis`, replaces the slices from `starts`
/// on, one start per sample (zeros when absent). `circular` wraps around at the end.
pub fn tensor_scatter(
    cache: &Tensor,
    update: &Tensor,
    starts: Option<&Tensor>,
    axis: i64,
    circular: bool,
) -> KernelResult {
    let axis = normalize_axis(axis, cache.rank())?;
    let wrong = || {
        Violation::from(format!(
            "tensor_scatter of {update:?} into {cache:?} along axis {axis}, starting at {starts:?}"
        ))
    };
    let (n, m) = (cache.shape()[axis], update.shape().get(axis).copied().unwrap_or(0));
    let mut shape = cache.shape().to_vec();
    shape[axis] = m;
    if axis == 0 || m > n || update.shape() != shape || update.dtype() != cache.dtype() {
        return Err(wrong());
    }
    let samples = cache.shape()[0];
    let starts = match starts {
        Some(t) => t.to_i64().filter(|s| s.len() == samples).ok_or_else(wrong)?,
        None => vec![0; samples],
    };
    let mut out = cache.bytes().to_vec();
    let (outer, inner) = around(cache.shape(), axis);
    let run = inner.wrapping_mul(cache.dtype().size());
    if update.is_empty() {
        return Ok(cache.clone());
    }
    for o in 0..outer {
        for i in 0..m {
            let at = starts[o / (outer / samples)].saturating_add(i as i64);
            let at = if circular { at.rem_euclid(n as i64) } else { at };
            let at = usize::try_from(at).ok().filter(|&at| at < n).ok_or_else(wrong)?;
            out[(o * n + at) * run..][..run].copy_from_slice(&update.bytes()[(o * m + i) * run..][..run]);
        }
    }
    Ok(Tensor::new(cache.dtype(), cache.shape().to_vec(), out.into())?)
}

/// `CausalConvWithState` (27): the causal depthwise convolution of `[N, C, L]` with `[C, 1, K]`; `past` holds the `K -
/// 1` preceding positions (zeros when absent). Applies [`swish`] if `activated`. Returns the result and the last `K -
/// 1` positions.
pub fn causal_conv_with_state(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    past: Option<&Tensor>,
    activated: bool,
) -> Result<[Tensor; 2], Violation> {
    let (&[n, c, length], &[m, 1, k]) = (x.shape(), weight.shape()) else {
        return Err(format!("a causal convolution of {x:?} by {weight:?}").into());
    };
    let state = [n, c, k.saturating_sub(1)];
    if m != c || k == 0 || past.is_some_and(|p| p.shape() != state) {
        return Err(format!("a causal convolution of {x:?} by {weight:?} after {past:?}").into());
    }
    let zeros = vec![0; checked_elements(&state)? * x.dtype().size()];
    let past = past.map_or_else(|| Tensor::new(x.dtype(), state.to_vec(), zeros.into()), |p| Ok(p.clone()))?;
    let all = concat(&[&past, x], 2)?;
    let y = conv(&all, weight, bias, &ConvAttrs { group: c as i64, ..ConvAttrs::default() })?;
    let y = if activated { swish(&y, 1.0)? } else { y };
    Ok([y, slice(&all, &[length as i64], &[i64::MAX], &[2], &[])?])
}

/// Attributes of [`linear_attention`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinearAttentionAttrs {
    /// Numbers of query heads and of key and value heads; the latter divides the former.
    pub heads: [i64; 2],
    /// Scale of the output; `1 / sqrt(key size)` when 0.
    pub scale: f64,
    /// Whether the state decays before each step.
    pub gated: bool,
    /// Whether the stored value of a key is subtracted from the new one (delta rule).
    pub delta: bool,
}

/// Operands of [`linear_attention`]; all except the state are `[B, T, heads * size]`.
#[derive(Clone, Copy, Debug)]
pub struct LinearInputs<'a> {
    /// Queries.
    pub query: &'a Tensor,
    /// Keys.
    pub key: &'a Tensor,
    /// Values.
    pub value: &'a Tensor,
    /// Initial state, `[B, H, key size, value size]`; zeros when absent.
    pub state: Option<&'a Tensor>,
    /// Logarithm of the decay, per head or per key element.
    pub decay: Option<&'a Tensor>,
    /// Write strength, per head or for all heads.
    pub beta: Option<&'a Tensor>,
}

/// Sizes of a [`linear_attention`].
struct AttentionExtents {
    batch: usize,
    steps: usize,
    queries: usize,
    heads: usize,
    key: usize,
    value: usize,
}

impl AttentionExtents {
    fn new(x: &LinearInputs<'_>, attrs: &LinearAttentionAttrs) -> Result<AttentionExtents, Violation> {
        let wrong = || Violation::from(format!("linear attention of {x:?} with {:?} heads", attrs.heads));
        let [queries, heads] = attrs.heads.map(|h| usize::try_from(h).unwrap_or(0));
        let &[batch, steps, width] = x.query.shape() else { return Err(wrong()) };
        let value_width = x.value.shape().get(2).copied().unwrap_or(0);
        let fits = heads > 0 && queries > 0 && queries % heads == 0 && width % queries == 0 && value_width % heads == 0;
        if !fits {
            return Err(wrong());
        }
        let sizes = AttentionExtents { batch, steps, queries, heads, key: width / queries, value: value_width / heads };
        let is = |t: &Tensor, widths: &[usize]| widths.iter().any(|&w| t.shape() == [batch, steps, w]);
        let key = heads.saturating_mul(sizes.key);
        let fits = is(x.key, &[key])
            && is(x.value, &[value_width])
            && x.state.is_none_or(|s| s.shape() == [batch, heads, sizes.key, sizes.value])
            && x.decay.is_some() == attrs.gated
            && x.decay.is_none_or(|d| is(d, &[heads, key]))
            && x.beta.is_some() == attrs.delta
            && x.beta.is_none_or(|b| is(b, &[heads, 1]));
        if fits { Ok(sizes) } else { Err(wrong()) }
    }
}

/// `LinearAttention` (27): at each step and head, the state, a matrix from keys to values, decays, is updated with the
/// key and value, and is multiplied by the query. Returns the outputs and the final state.
pub fn linear_attention(inputs: &LinearInputs<'_>, attrs: &LinearAttentionAttrs) -> Result<[Tensor; 2], Violation> {
    let sizes = AttentionExtents::new(inputs, attrs)?;
    let AttentionExtents { batch, steps, queries, heads, key: dk, value: dv } = sizes;
    checked_elements(&[batch, steps])?;
    let (y_shape, state_shape) = ([batch, steps, queries.saturating_mul(dv)], [batch, heads, dk, dv]);
    let (mut y, states) = (vec![0.0; checked_elements(&y_shape)?], checked_elements(&state_shape)?);
    let mut state = inputs.state.map_or_else(|| vec![0.0; states], Tensor::to_f64);
    let numbers = |t: Option<&Tensor>| t.map(Tensor::to_f64);
    let (q, k, v) = (inputs.query.to_f64(), inputs.key.to_f64(), inputs.value.to_f64());
    let (decay, beta) = (numbers(inputs.decay), numbers(inputs.beta));
    let scale = if attrs.scale == 0.0 { 1.0 / (dk as f64).sqrt() } else { attrs.scale };
    let group = queries / heads;
    for (at, head) in (0..batch * steps).flat_map(|at| (0..heads).map(move |head| (at, head))) {
        let state = &mut state[(at / steps * heads + head) * dk * dv..][..dk * dv];
        let key = &k[(at * heads + head) * dk..][..dk];
        let mut value = v[(at * heads + head) * dv..][..dv].to_vec();
        if let Some(decay) = &decay {
            let width = decay.len() / (batch * steps * heads);
            let factor = |i: usize| decay[(at * heads + head) * width + i % width].exp();
            state.chunks_exact_mut(dv.max(1)).enumerate().for_each(|(i, r)| r.iter_mut().for_each(|s| *s *= factor(i)));
        }
        if let Some(beta) = &beta {
            let rate = beta[(at * heads + head) * beta.len() / (batch * steps * heads)];
            let known = answer(state, key, dv);
            value.iter_mut().zip(known).for_each(|(v, known)| *v = rate * (*v - known));
        }
        for (row, &k) in state.chunks_exact_mut(dv.max(1)).zip(key) {
            row.iter_mut().zip(&value).for_each(|(s, &v)| *s += k * v);
        }
        for query in head * group..(head + 1) * group {
            let answers = answer(state, &q[(at * queries + query) * dk..][..dk], dv);
            let into = &mut y[(at * queries + query) * dv..][..dv];
            into.iter_mut().zip(answers).for_each(|(y, answer)| *y = answer * scale);
        }
    }
    let state_type = inputs.state.map_or(inputs.query.dtype(), Tensor::dtype);
    let y = floats_to_tensor(DType::F64, &y_shape, y);
    Ok([cast(&y, inputs.query.dtype())?, cast(&floats_to_tensor(DType::F64, &state_shape, state), state_type)?])
}

/// Multiplies a key by the state.
fn answer(state: &[f64], key: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for (row, &k) in state.chunks_exact(width.max(1)).zip(key) {
        sums.iter_mut().zip(row).for_each(|(sum, &s)| *sum += k * s);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_updated() {
        let cache = Tensor::from_vec(&[2, 3, 1], vec![0i32; 6]);
        let update = Tensor::from_vec(&[2, 2, 1], vec![1i32, 2, 3, 4]);
        let at = Tensor::from_vec(&[2], vec![1i64, 2]);
        let run = |at, circular| tensor_scatter(&cache, &update, at, -2, circular);
        assert_eq!(run(None, false).unwrap().to_i64().unwrap(), [1, 2, 0, 3, 4, 0]);
        assert_eq!(run(Some(&at), true).unwrap().to_i64().unwrap(), [0, 1, 2, 4, 0, 3]);
        assert!(run(Some(&at), false).is_err());
    }

    #[test]
    fn convolution_sees_the_past() {
        let (x, w) =
            (Tensor::from_vec(&[1, 1, 2], vec![1f32, 2.0]), Tensor::from_vec(&[1, 1, 3], vec![1f32, 10.0, 100.0]));
        let [y, state] = causal_conv_with_state(&x, &w, None, None, false).unwrap();
        assert_eq!((y.to_f64(), state.to_f64()), (vec![100.0, 210.0], vec![1.0, 2.0]));
        let [y, _] = causal_conv_with_state(&x, &w, None, Some(&state), false).unwrap();
        assert_eq!(y.to_f64(), [121.0, 212.0]);
    }

    #[test]
    fn states_learn_and_decay() {
        let row = |v: &[f32]| Tensor::from_vec(&[1, 2, v.len() / 2], v.to_vec());
        let (query, key, value) = (row(&[1., 0., 1., 0.]), row(&[1., 0., 1., 0.]), row(&[3., 5.]));
        let (decay, beta) = (row(&[0.0, 0.5f32.ln()]), row(&[1.0, 1.0]));
        let inputs = LinearInputs { query: &query, key: &key, value: &value, state: None, decay: None, beta: None };
        let attrs = LinearAttentionAttrs { heads: [1, 1], scale: 1.0, gated: false, delta: false };
        assert_eq!(linear_attention(&inputs, &attrs).unwrap()[0].to_f64(), [3.0, 8.0]);
        let gated = LinearInputs { decay: Some(&decay), ..inputs };
        let y = linear_attention(&gated, &LinearAttentionAttrs { gated: true, ..attrs }).unwrap();
        assert!((y[0].to_f64()[1] - 6.5).abs() < 1e-6 && y[1].shape() == [1, 1, 2, 1]);
        let delta = LinearInputs { beta: Some(&beta), ..inputs };
        let y = linear_attention(&delta, &LinearAttentionAttrs { delta: true, ..attrs }).unwrap();
        assert_eq!(y[0].to_f64(), [3.0, 5.0]);
        assert!(linear_attention(&inputs, &LinearAttentionAttrs { gated: true, ..attrs }).is_err());
    }
}
