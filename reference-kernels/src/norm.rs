//! Normalizations. Statistics and the normalization itself are computed in `f64`, and rounded once.

use crate::KernelResult;
use crate::binary::{add, mul};
use crate::cast::cast;
use crate::movement::around;
use crate::num::{Num, dispatch, unsupported};
use crate::reduce::{Lanes, Reduction, fold, reduce};
use crate::shape::{broadcast_shapes, normalize_axis};
use crate::walk::{BroadcastWalk, zip_map};
use gradus_ir::Violation;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

/// Returns a float vector of `n` elements, as `f64`.
fn vector(op: &str, name: &str, t: &Tensor, n: usize) -> Result<Vec<f64>, Violation> {
    if t.shape() != [n] || !t.dtype().is_float() {
        return Err(format!("{op}: {name} should be a float vector of {n} elements, not {t:?}").into());
    }
    Ok(t.to_f64())
}

/// Returns the number of channels (the extent of axis 1) and of elements per channel.
fn channels(op: &str, x: &Tensor) -> Result<(usize, usize), Violation> {
    if x.rank() < 2 {
        return Err(format!("{op} needs [N, C, ...], not {:?}", x.shape()).into());
    }
    Ok((x.shape()[1], around(x.shape(), 1).1))
}

/// Scales and shifts each channel of `[N, C, ...]`.
fn per_channel(op: &str, x: &Tensor, factors: &[(f64, f64)], inner: usize) -> KernelResult {
    dispatch!(float, op, (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        for (i, row) in out.chunks_exact_mut(inner.max(1)).enumerate() {
            let (a, b) = factors[i % factors.len()];
            row.iter_mut().for_each(|v| *v = T::from_f64(v.to_f64() * a + b));
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// `BatchNormalization` (7, 9, 14, 15) for inference: `(x - mean) / sqrt(var + epsilon) * scale + bias` per channel of
/// `[N, C, ...]`. The four vectors may have other float types than `x`.
pub fn batch_normalization(
    x: &Tensor,
    scale: &Tensor,
    bias: &Tensor,
    mean: &Tensor,
    var: &Tensor,
    epsilon: f64,
) -> KernelResult {
    let op = "batch_normalization";
    // A vector is a batch of single elements of one channel each.
    let (c, inner) = if x.rank() == 1 { (1, 1) } else { channels(op, x)? };
    let get = |name, t| vector(op, name, t, c);
    let (scale, bias, mean, var) = (get("scale", scale)?, get("bias", bias)?, get("mean", mean)?, get("var", var)?);
    let factor = |i: usize| {
        let a = scale[i] / (var[i] + epsilon).sqrt();
        (a, bias[i] - mean[i] * a)
    };
    per_channel(op, x, &(0..c).map(factor).collect::<Vec<_>>(), inner)
}

/// The result of [`batch_normalization_training`].
#[derive(Clone, PartialEq, Debug)]
pub struct BatchStatistics {
    /// The normalized tensor.
    pub y: Tensor,
    /// Updated running mean.
    pub mean: Tensor,
    /// Updated running (population) variance.
    pub var: Tensor,
}

/// `BatchNormalization` (14, 15) in training mode: normalizes by batch mean and variance, and updates the running
/// statistics as `running * momentum + batch * (1 - momentum)`.
pub fn batch_normalization_training(
    x: &Tensor,
    scale: &Tensor,
    bias: &Tensor,
    mean: &Tensor,
    var: &Tensor,
    epsilon: f64,
    momentum: f64,
) -> Result<BatchStatistics, Violation> {
    let op = "batch_normalization";
    let (c, inner) = channels(op, x)?;
    let (scale, bias) = (vector(op, "scale", scale, c)?, vector(op, "bias", bias, c)?);
    let (old_mean, old_var) = (vector(op, "mean", mean, c)?, vector(op, "var", var, c)?);
    let data = if x.dtype().is_float() { x.to_f64() } else { return Err(format!("{op} of {x:?}").into()) };
    let statistics = |i: usize| {
        let rows = || data.chunks_exact(inner.max(1)).skip(i).step_by(c).flatten();
        let n = rows().count() as f64;
        let mean = rows().sum::<f64>() / n;
        (mean, rows().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n)
    };
    let batch: Vec<(f64, f64)> = (0..c).map(statistics).collect();
    let factor = |i: usize| {
        let a = scale[i] / (batch[i].1 + epsilon).sqrt();
        (a, bias[i] - batch[i].0 * a)
    };
    let y = per_channel(op, x, &(0..c).map(factor).collect::<Vec<_>>(), inner)?;
    let update = |to: &Tensor, old: &[f64], new: &dyn Fn(usize) -> f64| {
        let out = (0..c).map(|i| old[i] * momentum + new(i) * (1.0 - momentum)).collect();
        floats_to_tensor(to.dtype(), &[c], out)
    };
    let mean = update(mean, &old_mean, &|i| batch[i].0);
    Ok(BatchStatistics { y, mean, var: update(var, &old_var, &|i| batch[i].1) })
}

/// Returns the mean and `1 / sqrt(variance + epsilon)` of every row of `extent` elements.
fn statistics<T: Num>(data: &[T], outer: usize, extent: usize, epsilon: f64) -> Vec<(f64, f64)> {
    let (lanes, n) = (Lanes { outer, extent, inner: 1 }, extent as f64);
    let means = fold(data, &lanes, |_| -0.0, |sum, v| sum + v.to_f64(), |sum| sum / n);
    let square = |(mean, sum): (f64, f64), v: T| (mean, sum + (v.to_f64() - mean) * (v.to_f64() - mean));
    fold(data, &lanes, |o| (means[o], -0.0), square, |(mean, sum)| (mean, 1.0 / (sum / n + epsilon).sqrt()))
}

/// `InstanceNormalization` (6, 22): normalizes each channel of each sample of `[N, C, D...]`, then scales and shifts
/// per channel.
pub fn instance_normalization(x: &Tensor, scale: &Tensor, bias: &Tensor, epsilon: f64) -> KernelResult {
    // Without channels, the single group is empty.
    let groups = channels("instance_normalization", x)?.0.max(1);
    group_normalization(x, scale, bias, i64::try_from(groups).unwrap_or(0), epsilon)
}

/// `GroupNormalization` (21): normalizes each of `groups` groups of channels of every sample, then scales and shifts per
/// channel.
pub fn group_normalization(x: &Tensor, scale: &Tensor, bias: &Tensor, groups: i64, epsilon: f64) -> KernelResult {
    let op = "group_normalization";
    let (c, inner) = channels(op, x)?;
    let (scale, bias) = (vector(op, "scale", scale, c)?, vector(op, "bias", bias, c)?);
    let known = usize::try_from(groups).ok().filter(|&g| g > 0 && c.is_multiple_of(g));
    let groups = known.ok_or_else(|| format!("{op}: {c} channels do not split into {groups} groups"))?;
    if x.is_empty() {
        return if x.dtype().is_float() { Ok(x.clone()) } else { Err(unsupported(op, x.dtype()).into()) };
    }
    let per_group = c / groups;
    dispatch!(float, op, (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        let extent = per_group * inner;
        let statistics = statistics(&out, out.len() / extent, extent, epsilon);
        for ((g, block), (mean, inverse)) in out.chunks_exact_mut(extent).enumerate().zip(statistics) {
            for (i, row) in block.chunks_exact_mut(inner).enumerate() {
                let channel = (g * per_group + i) % c;
                let a = inverse * scale[channel];
                row.iter_mut().for_each(|v| *v = T::from_f64((v.to_f64() - mean) * a + bias[channel]));
            }
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// Multiplies by `scale` and adds `bias`, both of which must broadcast to the shape of `x`.
fn affine(op: &str, x: &Tensor, scale: &Tensor, bias: Option<&Tensor>) -> KernelResult {
    for t in bias.iter().chain([&scale]) {
        if broadcast_shapes(x.shape(), t.shape()).as_deref() != Ok(x.shape()) {
            return Err(format!("{op}: {t:?} does not broadcast to {x:?}").into());
        }
    }
    let scaled = mul(x, scale)?;
    bias.map_or(Ok(scaled.clone()), |b| add(&scaled, b))
}

/// `LayerNormalization` (17): normalizes over the axes from `axis` on, then scales and shifts with broadcasting.
/// Returns the result, and in `f32` (`f64` for `f64` operands) the mean and the reciprocal standard deviation, with
/// extents of 1 from `axis` on.
pub fn layer_normalization(
    x: &Tensor,
    scale: &Tensor,
    bias: Option<&Tensor>,
    axis: i64,
    epsilon: f64,
) -> Result<[Tensor; 3], Violation> {
    let op = "layer_normalization";
    let axis = normalize_axis(axis, x.rank())?;
    let shape: Vec<usize> = x.shape().iter().enumerate().map(|(i, &d)| if i < axis { d } else { 1 }).collect();
    let rows = super::shape::checked_elements(&shape)?;
    let n = x.len().checked_div(rows).unwrap_or(0);
    let (mut means, mut inverses) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let y = dispatch!(float, op, (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        for (i, (mean, inverse)) in statistics(&out, rows, n, epsilon).into_iter().enumerate() {
            let row = &mut out[i * n..(i + 1) * n];
            row.iter_mut().for_each(|v| *v = T::from_f64((v.to_f64() - mean) * inverse));
            means.push(mean);
            inverses.push(inverse);
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })?;
    let stash = |v: Vec<f64>| match x.dtype() {
        DType::F64 => Tensor::from_vec(&shape, v),
        _ => Tensor::from_vec(&shape, v.iter().map(|&v| v as f32).collect()),
    };
    Ok([affine(op, &y, scale, bias)?, stash(means), stash(inverses)])
}

/// `RMSNormalization` (23): divides by the root mean square over the axes from `axis` on, then scales with
/// broadcasting.
pub fn rms_normalization(x: &Tensor, scale: &Tensor, axis: i64, epsilon: f64) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let n = x.shape()[axis].saturating_mul(around(x.shape(), axis).1);
    let y = dispatch!(float, "rms_normalization", (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        for row in out.chunks_exact_mut(n.max(1)) {
            let square = row.iter().map(|v| v.to_f64() * v.to_f64()).sum::<f64>() / n as f64;
            let inverse = 1.0 / (square + epsilon).sqrt();
            row.iter_mut().for_each(|v| *v = T::from_f64(v.to_f64() * inverse));
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })?;
    affine("rms_normalization", &y, scale, None)
}

/// `MeanVarianceNormalization` (9, 13): `(x - mean) / stddev` over `axes`.
pub fn mean_variance_normalization(x: &Tensor, axes: &[i64]) -> KernelResult {
    let wide = cast(x, DType::F64)?;
    let reduced = |kind| reduce(&wide, kind, axes, true, false);
    let (means, squares) = (reduced(Reduction::Mean)?, reduced(Reduction::SumSquare)?);
    if !x.dtype().is_float() {
        return Err(unsupported("mean_variance_normalization", x.dtype()).into());
    }
    let n = x.len() as f64 / means.len() as f64;
    // Rounding may make the variance negative.
    let deviation = |(&mean, &square): (&f64, &f64)| (mean, (square / n - mean * mean).max(0.0).sqrt() + 1e-9);
    let parameters: Vec<_> = means.as_slice::<f64>().iter().zip(&*squares.as_slice::<f64>()).map(deviation).collect();
    let walk = BroadcastWalk::new([x.shape(), means.shape()])?;
    let y = zip_map(&walk, &wide.as_slice::<f64>(), &parameters, |v, (mean, deviation)| (v - mean) / deviation);
    cast(&Tensor::from_vec(x.shape(), y), x.dtype())
}

/// Attributes of [`lrn`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LrnAttrs {
    /// Axis of the channels.
    pub axis: i64,
    /// Number of channels in the window.
    pub size: i64,
    /// Factor alpha of the sum of squares, divided by `size`.
    pub alpha: f64,
    /// Exponent beta.
    pub beta: f64,
    /// Bias of the scaled sum.
    pub bias: f64,
}

impl Default for LrnAttrs {
    fn default() -> Self {
        LrnAttrs { axis: 1, size: 1, alpha: 1e-4, beta: 0.75, bias: 1.0 }
    }
}

/// `LRN` (1, 13): `x / (bias + alpha / size * sum)^beta`, where `sum` is the sum of squares over `size` neighbouring
/// channels.
pub fn lrn(x: &Tensor, attrs: &LrnAttrs) -> KernelResult {
    let axis = normalize_axis(attrs.axis, x.rank())?;
    let (c, inner) = (x.shape()[axis], around(x.shape(), axis).1);
    let size = usize::try_from(attrs.size).ok().filter(|&s| s > 0).ok_or("lrn: size should be positive")?;
    let (before, after) = ((size - 1) / 2, (size - 1).div_ceil(2));
    dispatch!(float, "lrn", (x), T => {
        let data = x.as_slice::<T>();
        let mut out = Vec::with_capacity(data.len());
        let mut sums = vec![0.0; if data.is_empty() { 0 } else { inner }];
        for (i, row) in data.chunks_exact(inner.max(1)).enumerate() {
            let (first, channel) = (i / c * c, i % c);
            sums.fill(0.0);
            for other in channel.saturating_sub(before)..c.min(channel.saturating_add(after).saturating_add(1)) {
                let squares = data[(first + other) * inner..][..inner].iter().map(|v| v.to_f64() * v.to_f64());
                sums.iter_mut().zip(squares).for_each(|(s, v)| *s += v);
            }
            let divide = |(v, s): (&T, &f64)| {
                T::from_f64(v.to_f64() / (attrs.bias + attrs.alpha / size as f64 * s).powf(attrs.beta))
            };
            out.extend(row.iter().zip(&sums).map(divide));
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// `LpNormalization` (1, 22): divides by the `p`-norm (1 or 2) along `axis`; 0 where the norm is 0.
pub fn lp_normalization(x: &Tensor, axis: i64, p: i64) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let (extent, (outer, inner)) = (x.shape()[axis], around(x.shape(), axis));
    if !(1..=2).contains(&p) {
        return Err(format!("lp_normalization is not defined for p = {p}").into());
    }
    dispatch!(float, "lp_normalization", (x), T => {
        let (data, lanes) = (x.as_slice::<T>(), Lanes { outer: if x.is_empty() { 0 } else { outer }, extent, inner });
        let norms = match p {
            1 => fold(&data, &lanes, |_| -0.0, |sum, v| sum + v.to_f64().abs(), |sum| sum),
            _ => fold(&data, &lanes, |_| -0.0, |sum, v| sum + v.to_f64() * v.to_f64(), f64::sqrt),
        };
        let mut shape = x.shape().to_vec();
        shape[axis] = 1;
        let divide = |v: T, norm: f64| if norm == 0.0 { T::ZERO } else { T::from_f64(v.to_f64() / norm) };
        let out = zip_map(&BroadcastWalk::new([x.shape(), &shape])?, &data, &norms, divide);
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vec32(v: &[f32]) -> Tensor {
        Tensor::from_vec(&[v.len()], v.to_vec())
    }

    #[test]
    fn per_channel_statistics() {
        let x = Tensor::from_vec(&[1, 2, 2], vec![1f32, 3.0, 10.0, 30.0]);
        let (one, zero) = (vec32(&[1.0, 2.0]), vec32(&[0.0, 1.0]));
        let y = batch_normalization(&x, &one, &zero, &vec32(&[1.0, 10.0]), &vec32(&[4.0, 100.0]), 0.0).unwrap();
        assert_eq!(y.to_f64(), [0.0, 1.0, 1.0, 5.0]);
        assert_eq!(instance_normalization(&x, &one, &zero, 0.0).unwrap().to_f64(), [-1.0, 1.0, -1.0, 3.0]);
        assert!(batch_normalization(&x, &vec32(&[1.0]), &zero, &zero, &one, 0.0).is_err());
    }

    #[test]
    fn rows() {
        let x = Tensor::from_vec(&[1, 2], vec![3f32, 5.0]);
        let [y, mean, inverse] = layer_normalization(&x, &vec32(&[2.0, 2.0]), None, -1, 0.0).unwrap();
        assert_eq!((y.to_f64(), mean.to_f64(), inverse.to_f64()), (vec![-2.0, 2.0], vec![4.0], vec![1.0]));
        let y = lp_normalization(&Tensor::from_vec(&[1, 2], vec![3f32, 4.0]), 1, 2).unwrap().to_f64();
        assert!((y[0] - 0.6).abs() < 1e-7 && (y[1] - 0.8).abs() < 1e-7);
    }
}
