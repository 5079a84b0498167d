//! Arithmetic of element types with ONNX's wrapping, rounding and NaN rules, and the dispatch from a runtime [`DType`]
//! to a Rust type.
//!
//! Kernels compute in five types and convert all others ([`compute_type`]), which limits the number of instantiations
//! and covers every element type.

use crate::KernelResult;
use crate::cast::cast;
use gradus_ir::tensor::{DType, Elem, Tensor};

/// Evaluates `$body`, a [`KernelResult`], with `$t` bound to the compute type of the tensors, which are converted to
/// it; the result is converted back to the type of the first tensor. The first word selects the accepted types:
/// `number` (all but `Bool`), `float` or `int`. Other types are an error that names `$op`.
macro_rules! dispatch {
    (@ $op:expr, ($x:ident $(, $y:ident)*), $t:ident => $body:expr; $($d:ident $r:ty),*) => {{
        let stated = $x.dtype();
        $crate::num::widened([$x $(, $y)*], |[$x $(, $y)*]| match $x.dtype() {
            $(gradus_ir::tensor::DType::$d => { type $t = $r; $body })*
            _ => Err($crate::num::unsupported($op, stated).into()),
        })
    }};
    (number, $op:expr, $x:tt, $t:ident => $body:expr) => {
        dispatch!(@ $op, $x, $t => $body; I32 i32, I64 i64, U64 u64, F32 f32, F64 f64)
    };
    (float, $op:expr, $x:tt, $t:ident => $body:expr) => {
        dispatch!(@ $op, $x, $t => $body; F32 f32, F64 f64)
    };
    (int, $op:expr, $x:tt, $t:ident => $body:expr) => {
        dispatch!(@ $op, $x, $t => $body; I32 i32, I64 i64, U64 u64)
    };
}
pub(super) use dispatch;

/// Returns the error for an element type that an operation does not support.
pub(super) fn unsupported(op: &str, dtype: DType) -> String {
    format!("{op} is not defined for {dtype} tensors")
}

/// Returns the compute type of `dtype`: arithmetic in it, rounded or truncated to `dtype`, equals arithmetic in
/// `dtype`.
pub(super) fn compute_type(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::F64 | DType::U64 | DType::I64 => dtype,
        DType::U32 => DType::U64,
        _ if dtype.is_float() => DType::F32,
        _ => DType::I32,
    }
}

/// Converts a tensor to its compute type.
pub(super) fn wide(t: &Tensor) -> KernelResult {
    cast(t, compute_type(t.dtype()))
}

/// Applies `f` to tensors in their compute types, and converts the result back to the type of the first.
pub(super) fn widened<const N: usize>(
    inputs: [&Tensor; N],
    f: impl FnOnce([&Tensor; N]) -> KernelResult,
) -> KernelResult {
    let wanted = inputs[0].dtype();
    let mut wide = inputs.map(Tensor::clone);
    for t in &mut wide {
        *t = self::wide(t)?;
    }
    let out = f(std::array::from_fn(|i| &wide[i]))?;
    if out.dtype() == compute_type(wanted) { cast(&out, wanted) } else { Ok(out) }
}

/// Arithmetic on elements. Integers wrap.
pub(super) trait Num: Elem {
    const ZERO: Self;
    /// The neutral element of addition, also for -0.0.
    const NOTHING: Self;
    const ONE: Self;
    /// The identity of `max`: minus infinity, or the smallest integer.
    const LOWEST: Self;
    /// The identity of `min`: infinity, or the largest integer.
    const HIGHEST: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Divides; integers truncate towards zero. The caller excludes integer zeros.
    fn div(self, other: Self) -> Self;
    /// Returns the remainder with the sign of the dividend.
    fn rem_trunc(self, other: Self) -> Self;
    /// Returns the remainder with the sign of the divisor.
    fn rem_floor(self, other: Self) -> Self;
    /// Returns the minimum; NaN if either is NaN.
    fn min(self, other: Self) -> Self;
    /// Returns the maximum; NaN if either is NaN.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn neg(self) -> Self;
    /// Whether the element is less than zero; false for NaN.
    fn is_negative(self) -> bool {
        self < Self::ZERO
    }
    /// Returns the sign: -1, 0 or 1; NaN for NaN.
    fn sign(self) -> Self;
    fn to_f64(self) -> f64;
    /// Rounds to nearest even for floats; truncates and saturates for integers, with 0 for NaN.
    fn from_f64(x: f64) -> Self;
    /// Raises to an integer power by repeated multiplication.
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

/// Bound of the integers that `f64` represents exactly: 2^53.
const EXACT: f64 = (1u64 << 53) as f64;

macro_rules! int_num {
    ($abs:ident, $sign:expr, $($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = 0;
        const NOTHING: Self = 0;
        const ONE: Self = 1;
        const LOWEST: Self = <$t>::MIN;
        const HIGHEST: Self = <$t>::MAX;
        fn add(self, other: Self) -> Self { self.wrapping_add(other) }
        fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
        fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
        fn div(self, other: Self) -> Self {
            let x = self as f64;
            match other {
                0 => 0,
                // Floats divide faster, and rounding does not reach the next integer.
                _ if Self::BITS == 64 && x.abs() < EXACT => (x / other as f64) as i64 as $t,
                _ => self.wrapping_div(other),
            }
        }
        fn rem_trunc(self, other: Self) -> Self {
            if other == 0 { 0 } else { self.wrapping_sub(Num::div(self, other).wrapping_mul(other)) }
        }
        #[allow(unused_comparisons, reason = "for unsigned types the sign test is constant")]
        fn rem_floor(self, other: Self) -> Self {
            let r = Num::rem_trunc(self, other);
            // Without a branch, because signs are often random.
            r.wrapping_add(if (r != 0) & ((r < 0) != (other < 0)) { other } else { 0 })
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
int_num! { signed, i128::signum, i32, i64 }
int_num! { unsigned, i128::signum, u64 }

/// Returns the remainder of `x / y` with the sign of `x`. In `f64`, quotients below 2^28 truncate exactly, and their
/// products with `y` and the differences are exact.
fn remainder(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let quotient = a / b;
    if quotient.abs() < f64::from(1 << 28) && b.is_finite() {
        return ((a - f64::from(quotient as i32) * b) as f32).copysign(x);
    }
    remainder_by_libm(x, y)
}

/// Returns the remainder of `x / y` by the loop of `fmod`. A call, because vectorized loops would compute it always.
#[cold]
#[inline(never)]
fn remainder_by_libm(x: f32, y: f32) -> f32 {
    x % y
}

macro_rules! float_num {
    ($($t:ty, $rem:expr;)*) => { $(impl Num for $t {
        const ZERO: Self = 0.0;
        const NOTHING: Self = -0.0;
        const ONE: Self = 1.0;
        const LOWEST: Self = <$t>::NEG_INFINITY;
        const HIGHEST: Self = <$t>::INFINITY;
        fn add(self, other: Self) -> Self { self + other }
        fn sub(self, other: Self) -> Self { self - other }
        fn mul(self, other: Self) -> Self { self * other }
        fn div(self, other: Self) -> Self { self / other }
        fn rem_trunc(self, other: Self) -> Self { $rem(self, other) }
        fn rem_floor(self, other: Self) -> Self {
            let r = $rem(self, other);
            let (below, above) = if other < 0.0 { (Self::NOTHING, other) } else { (other, Self::NOTHING) };
            // Selections by one comparison each need no branches.
            r + if r < 0.0 { below } else if r > 0.0 { above } else { Self::NOTHING }
        }
        // One comparison and one NaN test vectorize; a NaN `self` wins.
        fn min(self, other: Self) -> Self { if self < other || self.is_nan() { self } else { other } }
        fn max(self, other: Self) -> Self { if self > other || self.is_nan() { self } else { other } }
        fn abs(self) -> Self { <$t>::abs(self) }
        fn neg(self) -> Self { -self }
        fn sign(self) -> Self { if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { self } }
        fn to_f64(self) -> f64 { self.into() }
        fn from_f64(x: f64) -> Self { x as $t }
    })* };
}
float_num! { f32, remainder; f64, std::ops::Rem::rem; }

/// Folds elements with an associative and commutative `f`, whose identity is `start`, in eight independent chains.
pub(super) fn fold_unordered<T: Copy>(data: &[T], start: T, f: impl Fn(T, T) -> T) -> T {
    let (chunks, rest) = data.as_chunks::<8>();
    let mut folds = [start; 8];
    for chunk in chunks {
        folds.iter_mut().zip(chunk).for_each(|(a, &v)| *a = f(*a, v));
    }
    folds.iter().chain(rest).fold(start, |a, &v| f(a, v))
}

/// Functions of a real variable, for activations and normalizations in `f32` and `f64`.
pub(super) trait Real:
    Num
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
{
    /// Converts a literal or attribute to this precision.
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
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_even(self) -> Self;
    fn erf(self) -> Self;
}

macro_rules! real {
    ($($t:ty),*) => { $(real! { @ $t; exp exp_m1 ln ln_1p sqrt floor ceil sin cos tan asin acos atan
        sinh cosh tanh asinh acosh atanh })* };
    (@ $t:ty; $($name:ident)*) => {
        impl Real for $t {
            $(fn $name(self) -> Self { self.$name() })*
            fn round_even(self) -> Self { self.round_ties_even() }
            fn erf(self) -> Self { libm::erf(f64::from(self)) as $t }
        }
    };
}
real! { f32, f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_follow_their_sign_rule() {
        assert_eq!((Num::rem_floor(-7i32, 3), Num::rem_trunc(-7i32, 3)), (2, -1));
        assert_eq!(Num::rem_floor(i32::MIN, -1), 0);
        assert_eq!(Num::rem_floor(7u64, 4), 3);
    }
}
