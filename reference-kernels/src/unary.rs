//! Elementwise operations on one operand: arithmetic, rounding, and activation functions.
//!
//! Float functions compute narrow floats in `f32` and round once at the end. NaN passes through all of them.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::num::{Num, Real, dispatch, unsupported, widened};
use gradus_ir::tensor::{DType, Elem, Tensor};

/// Applies `f` to every element.
fn map<T: Elem, R: Elem>(x: &Tensor, f: impl Fn(T) -> R) -> KernelResult {
    Ok(Tensor::from_vec(x.shape(), x.as_slice::<T>().iter().map(|&v| f(v)).collect()))
}

/// Applies a function of a real variable to a float tensor.
fn map_real(op: &str, x: &Tensor, f: impl Fn(f32) -> f32, wide: impl Fn(f64) -> f64) -> KernelResult {
    widened([x], |[v]| match v.dtype() {
        DType::F32 => map(v, f),
        DType::F64 => map(v, wide),
        _ => Err(unsupported(op, x.dtype()).into()),
    })
}

/// Defines kernels from formulas over [`Real`]; parameters are `f64` attributes.
macro_rules! real_functions {
    ($($(#[$doc:meta])* $name:ident($x:ident $(, $p:ident)*) = $body:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(x: &Tensor $(, $p: f64)*) -> KernelResult {
            fn formula<R: Real>($x: R $(, $p: R)*) -> R { $body }
            map_real(stringify!($name), x, |v| formula(v $(, $p as f32)*), |v| formula(v $(, $p)*))
        }
    )* };
}

real_functions! {
    /// `LeakyRelu` (6, 16): `x` if x >= 0, else `alpha * x`.
    leaky_relu(x, alpha) = if x < R::ZERO { alpha * x } else { x };
    /// `Elu` (6, 22): `x` if x >= 0, else `alpha * (exp(x) - 1)`.
    elu(x, alpha) = if x < R::ZERO { alpha * x.exp_m1() } else { x };
    /// `Selu` (6, 22): `gamma * x` if x > 0, else `gamma * alpha * (exp(x) - 1)`.
    selu(x, alpha, gamma) = if x > R::ZERO { gamma * x } else { gamma * alpha * x.exp_m1() };
    /// `Celu` (12): `max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`.
    celu(x, alpha) = x.max(R::ZERO) + (alpha * (x / alpha).exp_m1()).min(R::ZERO);
    /// `HardSigmoid` (6, 22): `max(0, min(1, alpha * x + beta))`.
    hard_sigmoid(x, alpha, beta) = (alpha * x + beta).max(R::ZERO).min(R::ONE);
    /// `HardSwish` (14, 22): `x * max(0, min(1, x / 6 + 0.5))`.
    hard_swish(x) = x * (x / R::lit(6.0) + R::lit(0.5)).max(R::ZERO).min(R::ONE);
    /// `Sigmoid` (6, 13): `1 / (1 + exp(-x))`, without overflow for large negative `x`.
    sigmoid(x) = logistic(x);
    /// `Swish` (24): `x * sigmoid(alpha * x)`.
    swish(x, alpha) = x * logistic(alpha * x);
    /// `Tanh` (6, 13).
    tanh(x) = x.tanh();
    /// `Sqrt` (6, 13): the square root; NaN for negative elements.
    sqrt(x) = x.sqrt();
    /// `Reciprocal` (6, 13): `1 / x`.
    reciprocal(x) = R::ONE / x;
    /// `Exp` (6, 13).
    exp(x) = x.exp();
    /// `Log` (6, 13): the natural logarithm.
    log(x) = x.ln();
    /// `Erf` (9, 13): the error function.
    erf(x) = x.erf();
    /// `Softplus` (1, 22): `log(1 + exp(x))`, without overflow.
    softplus(x) = soft_plus(x);
    /// `Softsign` (1, 22): `x / (1 + |x|)`.
    softsign(x) = x / (R::ONE + x.abs());
    /// `Mish` (18, 22): `x * tanh(softplus(x))`.
    mish(x) = x * soft_plus(x).tanh();
    /// `ThresholdedRelu` (10, 22): `x` if x > alpha, else 0.
    thresholded_relu(x, alpha) = if x > alpha { x } else { R::ZERO };
    /// `Gelu` (20) with `approximate = "none"`: `x / 2 * (1 + erf(x / sqrt(2)))`.
    gelu(x) = R::lit(0.5) * x * (R::ONE + (x * R::lit(std::f64::consts::FRAC_1_SQRT_2)).erf());
    /// `Gelu` (20) with `approximate = "tanh"`.
    gelu_tanh(x) = {
        let inner = R::lit((2.0 / std::f64::consts::PI).sqrt()) * (x + R::lit(0.044_715) * x * x * x);
        R::lit(0.5) * x * (R::ONE + inner.tanh())
    };
    /// `Acos` (7, 22); NaN outside [-1, 1].
    acos(x) = x.acos();
    /// `Acosh` (9, 22); NaN below 1.
    acosh(x) = x.acosh();
    /// `Asin` (7, 22); NaN outside [-1, 1].
    asin(x) = x.asin();
    /// `Asinh` (9, 22).
    asinh(x) = x.asinh();
    /// `Atan` (7, 22).
    atan(x) = x.atan();
    /// `Atanh` (9, 22); NaN outside [-1, 1].
    atanh(x) = x.atanh();
    /// `Cosh` (9, 22).
    cosh(x) = x.cosh();
    /// `Sinh` (9, 22).
    sinh(x) = x.sinh();
    /// `Tan` (7, 22).
    tan(x) = x.tan();
    /// `Sin` (7, 22).
    sin(x) = x.sin();
    /// `Cos` (7, 22).
    cos(x) = x.cos();
    /// `Floor` (6, 13).
    floor(x) = x.floor();
    /// `Ceil` (6, 13).
    ceil(x) = x.ceil();
    /// `Round` (11, 22): to the nearest integer, half to even.
    round(x) = x.round_even();
}

/// Returns the logistic function, without overflow.
fn logistic<R: Real>(x: R) -> R {
    let e = (-x.abs()).exp();
    if x < R::ZERO { e / (R::ONE + e) } else { R::ONE / (R::ONE + e) }
}

/// `log(1 + exp(x))`, without overflow.
fn soft_plus<R: Real>(x: R) -> R {
    x.max(R::ZERO) + (-x.abs()).exp().ln_1p()
}

macro_rules! number_functions {
    ($($(#[$doc:meta])* $name:ident($x:ident: $t:ident) = $body:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(x: &Tensor) -> KernelResult {
            dispatch!(number, stringify!($name), (x), $t => map::<$t, $t>(x, |$x| $body))
        }
    )* };
}
number_functions! {
    /// `Relu` (6, 13, 14): `max(0, x)`, for floats and integers.
    relu(x: T) = if Num::is_negative(x) { T::ZERO } else { x };
    /// `Abs` (6, 13); the minimum signed integer is unchanged.
    abs(x: T) = Num::abs(x);
    /// `Neg` (6, 13); integers wrap.
    neg(x: T) = Num::neg(x);
    /// `Sign` (9, 13): -1, 0 or 1.
    sign(x: T) = Num::sign(x);
}

/// `Shrink` (9): `x + bias` if x < -lambd, `x - bias` if x > lambd, else 0.
pub fn shrink(x: &Tensor, lambd: f64, bias: f64) -> KernelResult {
    if x.dtype() == DType::Bool {
        return Err(unsupported("shrink", x.dtype()).into());
    }
    let shrunk = |v: f64| match v {
        v if v < -lambd => v + bias,
        v if v > lambd => v - bias,
        v if v.is_nan() => v,
        _ => 0.0,
    };
    Ok(from_f64s(x.dtype(), x.shape(), x.to_f64().into_iter().map(shrunk).collect()))
}

/// `BitCast` (26): reinterprets the bits of every element as a type of the same width.
pub fn bit_cast(x: &Tensor, to: DType) -> KernelResult {
    if x.dtype().bits() != to.bits() {
        return Err(format!("bit_cast of {} to {to}", x.dtype()).into());
    }
    Ok(Tensor::new(to, x.shape().to_vec(), x.bytes().clone())?)
}

/// `Not` (1): logical negation of booleans.
pub fn not(x: &Tensor) -> KernelResult {
    match x.dtype() {
        DType::Bool => Ok(Tensor::from_bools(x.shape(), x.bytes().iter().map(|&b| u8::from(b == 0)).collect())),
        other => Err(unsupported("not", other).into()),
    }
}

/// `BitwiseNot` (18), on integers.
pub fn bitwise_not(x: &Tensor) -> KernelResult {
    dispatch!(int, "bitwise_not", (x), T => map::<T, T>(x, |v| !v))
}

/// `IsNaN` (9, 13, 20): whether elements are NaN, as booleans.
pub fn is_nan(x: &Tensor) -> KernelResult {
    dispatch!(float, "is_nan", (x), T => {
        Ok(Tensor::from_bools(x.shape(), x.as_slice::<T>().iter().map(|v| u8::from(v.is_nan())).collect()))
    })
}

/// `IsInf` (10, 20): whether elements are infinite, as booleans, with selected signs.
pub fn is_inf(x: &Tensor, detect_positive: bool, detect_negative: bool) -> KernelResult {
    dispatch!(float, "is_inf", (x), T => {
        let test = |v: &T| (detect_positive && *v == T::HIGHEST) || (detect_negative && *v == T::LOWEST);
        Ok(Tensor::from_bools(x.shape(), x.as_slice::<T>().iter().map(|v| u8::from(test(v))).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(v: &[f32]) -> Tensor {
        Tensor::from_vec(&[v.len()], v.to_vec())
    }

    #[test]
    fn sigmoid_and_softplus_do_not_overflow() {
        assert_eq!(sigmoid(&f32s(&[-1000.0, 0.0, 1000.0])).unwrap().to_f64(), [0.0, 0.5, 1.0]);
        assert_eq!(softplus(&f32s(&[-1000.0, 1000.0])).unwrap().to_f64(), [0.0, 1000.0]);
    }

    #[test]
    fn rounding_is_to_even() {
        assert_eq!(round(&f32s(&[0.5, 1.5, -2.5])).unwrap().to_f64(), [0.0, 2.0, -2.0]);
    }

    #[test]
    fn integers_and_errors() {
        let x = Tensor::from_vec(&[3], vec![-3i8, 0, i8::MIN]);
        assert_eq!(abs(&x).unwrap().to_i64().unwrap(), [3, 0, -128]);
        assert_eq!(sign(&x).unwrap().to_i64().unwrap(), [-1, 0, -1]);
        assert!(exp(&x).is_err());
        assert!(not(&x).is_err());
        assert!(relu(&f32s(&[f32::NAN])).unwrap().to_f64()[0].is_nan());
    }
}
