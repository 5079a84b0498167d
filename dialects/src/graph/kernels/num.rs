//! What the kernels need from an element type: arithmetic with the wrapping, rounding and NaN rules of ONNX, and the
//! macro that turns a runtime [`DType`](gradus_ir::tensor::DType) into a Rust type.

use gradus_ir::tensor::{DType, Elem};
use half::{bf16, f16};

/// Runs `$body` with `$t` bound to the Rust type of a runtime element type; `$body` is a `Result`. The first word says
/// which types are accepted: `number` is everything but `Bool`, `float` the four float types, `real` `f32` and `f64`
/// (narrower floats are widened by the caller), `int` the integers. Others are an error that names `$op`.
macro_rules! dispatch {
    (@ $op:expr, $dtype:expr, $t:ident => $body:expr; $($d:ident $r:ty),*) => {
        match $dtype {
            $(gradus_ir::tensor::DType::$d => { type $t = $r; $body })*
            #[allow(unreachable_patterns, reason = "the list may be complete")]
            other => Err($crate::graph::kernels::num::unsupported($op, other)),
        }
    };
    (number, $op:expr, $dtype:expr, $t:ident => $body:expr) => {
        dispatch!(@ $op, $dtype, $t => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 half::f16, BF16 half::bf16, F32 f32, F64 f64)
    };
    (float, $op:expr, $dtype:expr, $t:ident => $body:expr) => {
        dispatch!(@ $op, $dtype, $t => $body; F16 half::f16, BF16 half::bf16, F32 f32, F64 f64)
    };
    (real, $op:expr, $dtype:expr, $t:ident => $body:expr) => {
        dispatch!(@ $op, $dtype, $t => $body; F32 f32, F64 f64)
    };
    (int, $op:expr, $dtype:expr, $t:ident => $body:expr) => {
        dispatch!(@ $op, $dtype, $t => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}
pub(super) use dispatch;

/// The error of an operation that has no meaning for `dtype`.
pub(super) fn unsupported(op: &str, dtype: DType) -> String {
    format!("{op} is not defined for {dtype} tensors")
}

/// Arithmetic on one element. Integers wrap; the 16-bit floats compute in `f32` and round after each operation.
pub(super) trait Num: Elem {
    const ZERO: Self;
    const ONE: Self;
    /// The identity of `max`: minus infinity, or the smallest integer.
    const LOWEST: Self;
    /// The identity of `min`: infinity, or the largest integer.
    const HIGHEST: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Integers truncate towards zero; the caller has ruled out integer zeros.
    fn div(self, other: Self) -> Self;
    /// The remainder with the sign of the dividend.
    fn rem_trunc(self, other: Self) -> Self;
    /// The remainder with the sign of the divisor.
    fn rem_floor(self, other: Self) -> Self;
    /// The smaller; NaN when either is.
    fn min(self, other: Self) -> Self;
    /// The larger; NaN when either is.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn neg(self) -> Self;
    /// Whether the element is below zero; no NaN is.
    fn is_negative(self) -> bool {
        self < Self::ZERO
    }
    /// -1, 0 or 1; NaN stays.
    fn sign(self) -> Self;
    fn to_f64(self) -> f64;
    /// Rounds to nearest even for floats; truncates and saturates for integers, with 0 for NaN.
    fn from_f64(x: f64) -> Self;
    /// `self` to an integer power, by the type's own multiplication.
    fn powi(self, exponent: u64) -> Self {
        let (mut base, mut left, mut out) = (self, exponent, Self::ONE);
        while left > 0 {
            if left & 1 == 1 {
                out = out.mul(base);
            }
            left >>= 1;
            if left > 0 {
                base = base.mul(base);
            }
        }
        out
    }
}

macro_rules! int_num {
    ($abs:ident, $sign:expr, $($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = 0;
        const ONE: Self = 1;
        const LOWEST: Self = <$t>::MIN;
        const HIGHEST: Self = <$t>::MAX;
        fn add(self, other: Self) -> Self { self.wrapping_add(other) }
        fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
        fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
        fn div(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_div(other) } }
        fn rem_trunc(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_rem(other) } }
        #[allow(unused_comparisons, reason = "for unsigned types the sign test is constant")]
        fn rem_floor(self, other: Self) -> Self {
            let r = Num::rem_trunc(self, other);
            if r != 0 && (r < 0) != (other < 0) { r.wrapping_add(other) } else { r }
        }
        fn min(self, other: Self) -> Self { Ord::min(self, other) }
        fn max(self, other: Self) -> Self { Ord::max(self, other) }
        fn abs(self) -> Self { int_num!(@$abs self) }
        fn neg(self) -> Self { self.wrapping_neg() }
        fn sign(self) -> Self { $sign(self as i128) as $t }
        fn to_f64(self) -> f64 { self as f64 }
        fn from_f64(x: f64) -> Self { x as $t }
    })* };
    (@signed $x:expr) => { $x.wrapping_abs() };
    (@unsigned $x:expr) => { $x };
}
int_num! { signed, i128::signum, i8, i16, i32, i64 }
int_num! { unsigned, i128::signum, u8, u16, u32, u64 }

macro_rules! float_num {
    ($($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const LOWEST: Self = <$t>::NEG_INFINITY;
        const HIGHEST: Self = <$t>::INFINITY;
        fn add(self, other: Self) -> Self { self + other }
        fn sub(self, other: Self) -> Self { self - other }
        fn mul(self, other: Self) -> Self { self * other }
        fn div(self, other: Self) -> Self { self / other }
        fn rem_trunc(self, other: Self) -> Self { self % other }
        fn rem_floor(self, other: Self) -> Self {
            let r = self % other;
            if r != 0.0 && (r < 0.0) != (other < 0.0) { r + other } else { r }
        }
        // One comparison and one NaN test, which vectorize; `self` wins when it is NaN.
        fn min(self, other: Self) -> Self { if self < other || self.is_nan() { self } else { other } }
        fn max(self, other: Self) -> Self { if self > other || self.is_nan() { self } else { other } }
        fn abs(self) -> Self { <$t>::abs(self) }
        fn neg(self) -> Self { -self }
        fn sign(self) -> Self { if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { self } }
        fn to_f64(self) -> f64 { self.into() }
        fn from_f64(x: f64) -> Self { x as $t }
    })* };
}
float_num! { f32, f64 }

macro_rules! half_num {
    ($($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = <$t>::ZERO;
        const ONE: Self = <$t>::ONE;
        const LOWEST: Self = <$t>::NEG_INFINITY;
        const HIGHEST: Self = <$t>::INFINITY;
        fn add(self, other: Self) -> Self { Self::from_f32(self.to_f32() + other.to_f32()) }
        fn sub(self, other: Self) -> Self { Self::from_f32(self.to_f32() - other.to_f32()) }
        fn mul(self, other: Self) -> Self { Self::from_f32(self.to_f32() * other.to_f32()) }
        fn div(self, other: Self) -> Self { Self::from_f32(self.to_f32() / other.to_f32()) }
        fn rem_trunc(self, other: Self) -> Self { Self::from_f32(self.to_f32() % other.to_f32()) }
        fn rem_floor(self, other: Self) -> Self { Self::from_f32(Num::rem_floor(self.to_f32(), other.to_f32())) }
        fn min(self, other: Self) -> Self { if self < other || self.is_nan() { self } else { other } }
        fn max(self, other: Self) -> Self { if self > other || self.is_nan() { self } else { other } }
        fn abs(self) -> Self { Self::from_f32(self.to_f32().abs()) }
        fn neg(self) -> Self { -self }
        fn sign(self) -> Self { Self::from_f32(Num::sign(self.to_f32())) }
        fn to_f64(self) -> f64 { self.into() }
        fn from_f64(x: f64) -> Self { <$t>::from_f64(x) }
    })* };
}
half_num! { f16, bf16 }

/// The functions of a real variable that activations and normalizations are written in, for `f32` and `f64`.
pub(super) trait Real:
    Num
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
{
    /// A literal or attribute in this precision.
    fn lit(x: f64) -> Self {
        Self::from_f64(x)
    }
    fn exp(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_even(self) -> Self;
    fn erf(self) -> Self;
}

macro_rules! real {
    ($($t:ty),*) => { $(impl Real for $t {
        fn exp(self) -> Self { self.exp() }
        fn exp_m1(self) -> Self { self.exp_m1() }
        fn ln(self) -> Self { self.ln() }
        fn ln_1p(self) -> Self { self.ln_1p() }
        fn tanh(self) -> Self { self.tanh() }
        fn sqrt(self) -> Self { self.sqrt() }
        fn sin(self) -> Self { self.sin() }
        fn cos(self) -> Self { self.cos() }
        fn floor(self) -> Self { self.floor() }
        fn ceil(self) -> Self { self.ceil() }
        fn round_even(self) -> Self { self.round_ties_even() }
        fn erf(self) -> Self { libm::erf(f64::from(self)) as $t }
    })* };
}
real! { f32, f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_follow_their_sign_rule() {
        assert_eq!((Num::rem_floor(-7i32, 3), Num::rem_trunc(-7i32, 3)), (2, -1));
        assert_eq!(Num::rem_floor(i8::MIN, -1), 0);
        assert_eq!(Num::rem_floor(7u8, 4), 3);
    }
}
