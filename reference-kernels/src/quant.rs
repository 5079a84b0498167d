//! Quantized operations. Integer products accumulate in 32 bits exactly; results are rescaled in floating point, rounded
//! half to even and saturated.

use crate::KernelResult;
use crate::binary::{div, mul};
use crate::cast::{RoundMode, cast_with, from_f64s};
use crate::conv::ConvPlan;
use crate::matmul::stacked;
use crate::num::{fold_unordered, unsupported};
use crate::shape::{ConvAttrs, broadcast_shapes, normalize_axis};
use crate::walk::{BroadcastWalk, zip_map};
use gradus_ir::Violation;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

/// Subtracts the zero point, broadcast from `shape`, from an 8-bit tensor. The differences are 9-bit integers stored as
/// `f32`, in which sums of 256 products are exact and faster than in integers.
fn centered(op: &str, x: &Tensor, zero: Option<&Tensor>, shape: &[usize]) -> Result<Vec<f32>, Violation> {
    let values = |t: &Tensor| -> Result<Vec<f32>, Violation> {
        match t.dtype() {
            DType::I8 => Ok(t.as_slice::<i8>().iter().map(|&v| v.into()).collect()),
            DType::U8 => Ok(t.as_slice::<u8>().iter().map(|&v| v.into()).collect()),
            other => Err(unsupported(op, other).into()),
        }
    };
    let Some(zero) = zero else { return values(x) };
    if zero.dtype() != x.dtype() || broadcast_shapes(x.shape(), shape)? != x.shape() {
        return Err(format!("{op}: the zero point {zero:?} does not fit {x:?}").into());
    }
    Ok(zip_map(&BroadcastWalk::new([x.shape(), shape])?, &values(x)?, &values(zero)?, |v, z| v - z))
}

/// Returns the shape with which a parameter (a scalar, or a vector along `axis`) broadcasts to a tensor of `rank`.
fn along(parameter: &Tensor, axis: usize, rank: usize) -> Vec<usize> {
    match parameter.shape() {
        _ if parameter.len() == 1 => vec![],
        &[n] if axis < rank => [vec![n], vec![1; rank - axis - 1]].concat(),
        other => other.to_vec(),
    }
}

/// Adds a block of products to a 32-bit accumulator.
fn accumulate(into: &mut i32, block: f32) {
    *into = into.wrapping_add(block as i32);
}

/// Multiplies two 8-bit tensors minus their zero points, in integers.
fn integer_product(
    op: &str,
    a: &Tensor,
    a_zero: Option<&Tensor>,
    b: &Tensor,
    b_zero: Option<&Tensor>,
) -> Result<(Vec<usize>, Vec<i32>), Violation> {
    let shape = |z: Option<&Tensor>, axis: usize, rank| z.map_or(vec![], |z| along(z, axis, rank));
    let a_shape = shape(a_zero, a.rank().saturating_sub(2), a.rank());
    let b_shape = shape(b_zero, b.rank().saturating_sub(1), b.rank());
    let (left, right) = (centered(op, a, a_zero, &a_shape)?, centered(op, b, b_zero, &b_shape)?);
    stacked(&left, a.shape(), &right, b.shape(), 0, accumulate)
}

/// `MatMulInteger` (10): `(a - a_zero)(b - b_zero)` of 8-bit tensors in `i32`. A zero point is a scalar, or one per row
/// of `a` or column of `b`.
pub fn matmul_integer(a: &Tensor, b: &Tensor, a_zero: Option<&Tensor>, b_zero: Option<&Tensor>) -> KernelResult {
    let (shape, out) = integer_product("matmul_integer", a, a_zero, b, b_zero)?;
    Ok(Tensor::from_vec(&shape, out))
}

/// Convolves 8-bit tensors minus their zero points, plus a 32-bit bias, in integers.
fn integer_conv(
    op: &str,
    x: &Tensor,
    x_zero: Option<&Tensor>,
    w: &Tensor,
    w_zero: Option<&Tensor>,
    bias: Option<&Tensor>,
    attrs: &ConvAttrs,
) -> Result<(Vec<usize>, Vec<i32>), Violation> {
    if x_zero.is_some_and(|z| z.len() != 1) {
        return Err(format!("{op}: the input's zero point should be a scalar").into());
    }
    let plan = ConvPlan::new(x.shape(), w.shape(), attrs)?;
    if bias.is_some_and(|b| b.dtype() != DType::I32 || b.shape() != [w.shape()[0]]) {
        return Err(format!("{op}: the bias {bias:?} does not fit {w:?}").into());
    }
    let w_shape = w_zero.map_or(vec![], |z| along(z, 0, w.rank()));
    let (input, weight) = (centered(op, x, x_zero, &[])?, centered(op, w, w_zero, &w_shape)?);
    let bias = bias.map(|b| b.as_slice::<i32>());
    let out = plan.run(&input, &weight, |m| bias.as_ref().map_or(0, |b| b[m]), accumulate);
    Ok((plan.shape, out))
}

/// `ConvInteger` (10): the convolution of 8-bit tensors minus their zero points, in `i32`. The input has a scalar zero
/// point, the weights a scalar or one per output channel.
pub fn conv_integer(
    x: &Tensor,
    weight: &Tensor,
    x_zero: Option<&Tensor>,
    w_zero: Option<&Tensor>,
    attrs: &ConvAttrs,
) -> KernelResult {
    let (shape, out) = integer_conv("conv_integer", x, x_zero, weight, w_zero, None, attrs)?;
    Ok(Tensor::from_vec(&shape, out))
}

/// A quantized operand: q represents `(q - zero) * scale`.
#[derive(Clone, Copy, Debug)]
pub struct Quantized<'a> {
    /// Quantized integers.
    pub value: &'a Tensor,
    /// Scale: a float scalar, or a vector along the axis that the operation allows.
    pub scale: &'a Tensor,
    /// Zero point, of the type of the integers and the shape of the scale.
    pub zero: &'a Tensor,
}

/// Computes `a * b / c` of scales, rounded after each operation; `a` and `c` are scalars.
fn rescale(op: &str, a: &Tensor, b: &Tensor, c: &Tensor) -> Result<Vec<f64>, Violation> {
    if a.len() != 1 || c.len() != 1 || a.dtype() != b.dtype() || a.dtype() != c.dtype() {
        return Err(format!("{op}: scales {a:?}, {b:?} and {c:?} are incompatible").into());
    }
    let scalar = |t: &Tensor| t.reshape(vec![]);
    Ok(div(&mul(b, &scalar(a)?)?, &scalar(c)?)?.to_f64())
}

/// Scales sums (`scale` is a scalar or has the given shape), rounds, adds the zero point and saturates.
fn rescaled(shape: &[usize], sums: &[i32], scale: (&[f64], &[usize]), zero: &Tensor) -> KernelResult {
    if zero.len() != 1 {
        return Err(format!("the result's zero point should be a scalar, not {zero:?}").into());
    }
    let walk = BroadcastWalk::new([shape, scale.1])?;
    if walk.shape != shape {
        return Err(format!("scales of {:?} do not fit a result of {shape:?}", scale.1).into());
    }
    let z = zero.to_f64()[0];
    let f = |sum: i32, s: f64| (f64::from(sum) * s).round_ties_even() + z;
    Ok(from_f64s(zero.dtype(), shape, zip_map(&walk, sums, scale.0, f)))
}

/// Requantizes 32-bit sums `[..., N]`: `saturate(round(sum * scale) + zero)`, half to even, with one scale or one per
/// column.
pub fn requantize(sums: &Tensor, scale: &Tensor, zero: &Tensor) -> KernelResult {
    if sums.dtype() != DType::I32 {
        return Err(unsupported("requantize", sums.dtype()).into());
    }
    let along = along(scale, sums.rank().saturating_sub(1), sums.rank());
    rescaled(sums.shape(), &sums.as_slice::<i32>(), (&scale.to_f64(), &along), zero)
}

/// `QLinearMatMul` (10, 21): the product of quantized tensors, requantized by `y_scale` and `y_zero`. Scale and zero
/// point of `a` may be per row, those of `b` per column.
pub fn qlinear_matmul(a: Quantized<'_>, b: Quantized<'_>, y_scale: &Tensor, y_zero: &Tensor) -> KernelResult {
    let op = "qlinear_matmul";
    let (shape, sums) = integer_product(op, a.value, Some(a.zero), b.value, Some(b.zero))?;
    let rank = shape.len();
    if a.scale.len() == 1 {
        let scale = rescale(op, a.scale, b.scale, y_scale)?;
        return rescaled(&shape, &sums, (&scale, &along(b.scale, rank.saturating_sub(1), rank)), y_zero);
    }
    if b.scale.len() != 1 {
        return Err(format!("{op}: only one operand can have several scales").into());
    }
    let scale = rescale(op, b.scale, a.scale, y_scale)?;
    rescaled(&shape, &sums, (&scale, &along(a.scale, rank.saturating_sub(2), rank)), y_zero)
}

/// `QLinearConv` (10): the convolution of quantized tensors plus an `i32` bias (of scale `x.scale * w.scale`),
/// requantized by `y_scale` and `y_zero`. The weights' scale and zero point may be per output channel.
pub fn qlinear_conv(
    x: Quantized<'_>,
    w: Quantized<'_>,
    y_scale: &Tensor,
    y_zero: &Tensor,
    bias: Option<&Tensor>,
    attrs: &ConvAttrs,
) -> KernelResult {
    let op = "qlinear_conv";
    let (shape, sums) = integer_conv(op, x.value, Some(x.zero), w.value, Some(w.zero), bias, attrs)?;
    let scale = rescale(op, x.scale, w.scale, y_scale)?;
    rescaled(&shape, &sums, (&scale, &along(w.scale, 1, shape.len())), y_zero)
}

/// The mapping of elements to quantization parameters.
struct ParameterLayout {
    outer: usize,
    extent: usize,
    inner: usize,
    /// Elements per parameter along the axis; at least `extent` for a scalar.
    block: usize,
    /// Whether parameters also vary along `outer` and `inner`.
    blocked: bool,
}

impl ParameterLayout {
    /// Determines the mapping of parameters of shape `scale` to `x`: scalar, per axis, or blocked along `axis`.
    fn new(x: &Tensor, scale: &Tensor, axis: i64, block: i64) -> Result<ParameterLayout, Violation> {
        let wrong =
            || Violation::from(format!("scales {scale:?} do not fit {x:?} along axis {axis} in blocks of {block}"));
        if scale.len() == 1 && block == 0 {
            return Ok(ParameterLayout { outer: 1, extent: 1, inner: x.len(), block: 1, blocked: false });
        }
        let axis = normalize_axis(axis, x.rank())?;
        let extent = x.shape()[axis];
        let (outer, inner) = super::movement::around(x.shape(), axis);
        if block == 0 {
            let ok = scale.shape() == [extent];
            return ok.then_some(ParameterLayout { outer, extent, inner, block: 1, blocked: false }).ok_or_else(wrong);
        }
        let block = usize::try_from(block).map_err(|_| wrong())?;
        let mut expected = x.shape().to_vec();
        expected[axis] = extent.div_ceil(block);
        let ok = scale.shape() == expected;
        ok.then_some(ParameterLayout { outer, extent, inner, block, blocked: true }).ok_or_else(wrong)
    }

    /// Applies `f` to every element and the index of its parameters.
    fn map<T: Copy, R>(&self, x: &[T], f: impl Fn(T, usize) -> R) -> Vec<R> {
        let mut out = Vec::with_capacity(x.len());
        let blocks = self.extent.div_ceil(self.block);
        for (row, values) in x.chunks(self.inner.max(1)).enumerate() {
            let (o, a) = (row / self.extent.max(1), row % self.extent.max(1) / self.block);
            if self.blocked {
                let first = (o * blocks + a) * self.inner;
                out.extend(values.iter().enumerate().map(|(i, &v)| f(v, first + i)));
            } else {
                out.extend(values.iter().map(|&v| f(v, a)));
            }
        }
        debug_assert!(self.outer * self.extent * self.inner == out.len());
        out
    }
}

/// Returns the zero points as floats; zeros when absent.
fn zeros(op: &str, zero: Option<&Tensor>, scale: &Tensor) -> Result<Vec<f64>, Violation> {
    match zero {
        Some(z) if z.len() != scale.len() => Err(format!("{op}: {z:?} zero points for {scale:?} scales").into()),
        Some(z) => Ok(z.to_f64()),
        None => Ok(vec![0.0; scale.len()]),
    }
}

/// Attributes of [`quantize_linear`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantizeAttrs {
    /// Element type of the result.
    pub to: DType,
    /// Precision of the quotient; that of the scale when `None`.
    pub precision: Option<DType>,
    /// Axis of per-axis and blocked parameters.
    pub axis: i64,
    /// Elements per block along the axis; 0 for per-axis parameters.
    pub block_size: i64,
    /// Whether 8-bit floats saturate; other types always do.
    pub saturate: bool,
}

/// `QuantizeLinear` (10, 13, 19, 21, 23, 25): `x / scale + zero`, as an integer (the quotient is rounded half to even)
/// or a float of at most 8 bits. `scale` is a scalar, a vector along the axis, or a blocked tensor.
pub fn quantize_linear(x: &Tensor, scale: &Tensor, zero: Option<&Tensor>, attrs: &QuantizeAttrs) -> KernelResult {
    let (op, to) = ("quantize_linear", attrs.to);
    let integer = matches!(to, DType::U8 | DType::I8 | DType::U16 | DType::I16);
    if zero.is_some_and(|z| z.dtype() != to) || !(integer || to.is_narrow()) {
        return Err(format!("{op} to {to} with a zero point {zero:?}").into());
    }
    let layout = ParameterLayout::new(x, scale, attrs.axis, attrs.block_size)?;
    let zeros = zeros(op, zero, scale)?;
    // Ties depend on the precision of the quotient.
    let precision = match attrs.precision.unwrap_or(scale.dtype()) {
        wide if wide.is_float() && !wide.is_narrow() => wide,
        _ if x.dtype().is_float() => x.dtype(),
        _ => DType::F64,
    };
    let round = |v: Vec<f64>| floats_to_tensor(precision, x.shape(), v).to_f64();
    let divisors = floats_to_tensor(precision, scale.shape(), scale.to_f64()).to_f64();
    let quotients = round(layout.map(&round(x.to_f64()), |v, i| v / divisors[i]));
    let integral = |v: f64| if to.is_float() { v } else { v.round_ties_even() };
    let shifted = layout.map(&quotients, |q, i| integral(q) + zeros[i]);
    match to.is_float() {
        true => cast_with(&Tensor::from_vec(x.shape(), shifted), to, attrs.saturate, RoundMode::Up),
        false => Ok(from_f64s(to, x.shape(), shifted)),
    }
}

/// `DequantizeLinear` (10, 13, 19, 21, 23, 25): `(x - zero) * scale` as a `to`. `x` is an integer or a float of at most
/// 8 bits (without zero point for `i32`); parameters are as in [`quantize_linear`].
pub fn dequantize_linear(
    x: &Tensor,
    scale: &Tensor,
    zero: Option<&Tensor>,
    to: DType,
    axis: i64,
    block_size: i64,
) -> KernelResult {
    let op = "dequantize_linear";
    let quantized = !x.dtype().is_float() || x.dtype().is_narrow();
    if zero.is_some_and(|z| z.dtype() != x.dtype()) || !quantized || !to.is_float() {
        return Err(format!("{op} of {x:?} to {to} with a zero point {zero:?}").into());
    }
    let layout = ParameterLayout::new(x, scale, axis, block_size)?;
    let (zeros, s) = (zeros(op, zero, scale)?, scale.to_f64());
    // Integer differences and products with the scale are computed in f32, unless the result is wider.
    let exact = |v: f64, i: usize| (v - zeros[i]) * s[i];
    let single = |v: f64, i: usize| f64::from((v as f32 - zeros[i] as f32) * s[i] as f32);
    let out = if to == DType::F64 { layout.map(&x.to_f64(), exact) } else { layout.map(&x.to_f64(), single) };
    Ok(floats_to_tensor(to, x.shape(), out))
}

/// A number whose sums with numbers below 2^22 are rounded to integers.
const ROUNDING: f32 = (3 << 22) as f32;

/// `DynamicQuantizeLinear` (11): quantizes an `f32` tensor to `u8` by the range of its elements, extended to contain 0.
/// Returns the integers, the scale, and the zero point.
pub fn dynamic_quantize_linear(x: &Tensor) -> Result<[Tensor; 3], Violation> {
    if x.dtype() != DType::F32 {
        return Err(unsupported("dynamic_quantize_linear", x.dtype()).into());
    }
    let values = x.as_slice::<f32>();
    let (high, low) = (fold_unordered(&values, 0f32, f32::max), fold_unordered(&values, 0f32, f32::min));
    let scale = if high == low { 1.0 } else { high - low } / 255.0;
    let zero = (0.0 - low / scale).clamp(0.0, 255.0).round_ties_even();
    // Quotients are below 2^9, NaN or infinite, so that adding 1.5 * 2^23, of which one is the last digit, rounds them
    // half to even. Conversion to integers saturates.
    let round = |v: f32| (v + ROUNDING) - ROUNDING;
    let out = values.iter().map(|v| (round(v / scale) + zero) as u8).collect();
    Ok([Tensor::from_vec(x.shape(), out), Tensor::scalar(scale), Tensor::scalar(zero as u8)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_respect_zero_points() {
        let a = Tensor::from_vec(&[2, 2], vec![1u8, 2, 3, 255]);
        let b = Tensor::from_vec(&[2, 1], vec![-1i8, 1]);
        let zero = Tensor::from_vec(&[2], vec![1u8, 3]);
        assert_eq!(matmul_integer(&a, &b, Some(&zero), None).unwrap().to_i64().unwrap(), [1, 252]);
        assert!(matmul_integer(&a, &b, Some(&Tensor::scalar(1i8)), None).is_err());
    }

    #[test]
    fn quantization_rounds_to_even_and_saturates() {
        let x = Tensor::from_vec(&[4], vec![1f32, 3.0, -1000.0, 1000.0]);
        let attrs = |to| QuantizeAttrs { to, precision: None, axis: 0, block_size: 0, saturate: true };
        let (two, ten) = (Tensor::scalar(2f32), Tensor::scalar(10u8));
        let q = quantize_linear(&x, &two, Some(&ten), &attrs(DType::U8)).unwrap();
        assert_eq!(q.to_i64().unwrap(), [10, 12, 0, 255]);
        let back = dequantize_linear(&q, &two, Some(&ten), DType::F32, 1, 0).unwrap();
        assert_eq!(back.to_f64(), [0.0, 4.0, -20.0, 490.0]);
        let four = quantize_linear(&x, &two, None, &attrs(DType::I4)).unwrap();
        assert_eq!(four.to_i64().unwrap(), [0, 2, -8, 7]);
        let eight = quantize_linear(&x, &two, None, &attrs(DType::F8E4M3FN)).unwrap();
        assert_eq!(eight.to_f64(), [0.5, 1.5, -448.0, 448.0]);
        assert!(quantize_linear(&x, &x, None, &attrs(DType::I32)).is_err());
    }

    #[test]
    fn long_sums_stay_exact() {
        let n = 1000;
        let a = Tensor::from_vec(&[1, n], vec![255u8; n]);
        let out = matmul_integer(&a, &a.reshape(vec![n, 1]).unwrap(), None, None).unwrap();
        assert_eq!(out.to_i64().unwrap(), [255 * 255 * 1000]);
    }
}
