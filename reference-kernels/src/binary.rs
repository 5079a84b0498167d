//! Elementwise operations on several operands, with NumPy broadcasting: arithmetic, comparison, logic, selection.
//!
//! Operands have the same element type unless said otherwise. Integers wrap; narrow floats compute in `f32` and round
//! after every operation.

use crate::KernelResult;
use crate::cast::{cast, from_f64s};
use crate::movement::from_bytes;
use crate::num::{Num, Real, dispatch, unsupported};
use crate::shape::broadcast_shapes;
use crate::walk::{BroadcastWalk, zip_map};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Elem, Tensor};

/// Checks that both operands have the same element type.
fn same_dtype(op: &str, a: &Tensor, b: &Tensor) -> Result<(), Violation> {
    if a.dtype() == b.dtype() { Ok(()) } else { Err(format!("{op} of {} and {} tensors", a.dtype(), b.dtype()).into()) }
}

/// Applies `f` elementwise.
fn map2<T: Num>(a: &Tensor, b: &Tensor, f: impl Fn(T, T) -> T) -> KernelResult {
    let walk = BroadcastWalk::new([a.shape(), b.shape()])?;
    let out = zip_map(&walk, &a.as_slice::<T>(), &b.as_slice::<T>(), f);
    Ok(Tensor::from_vec(&walk.shape, out))
}

/// Applies `f` elementwise, for a boolean result.
fn test2<T: Elem>(a: &Tensor, b: &Tensor, f: impl Fn(T, T) -> bool) -> KernelResult {
    let walk = BroadcastWalk::new([a.shape(), b.shape()])?;
    let out = zip_map(&walk, &a.as_slice::<T>(), &b.as_slice::<T>(), |x, y| u8::from(f(x, y)));
    Ok(Tensor::from_bools(&walk.shape, out))
}

/// Checks that integers are not divided by zero; floats yield infinity or NaN.
fn no_zero_divisor(op: &str, b: &Tensor) -> Result<(), Violation> {
    if b.dtype().is_float() || b.dtype() == DType::Bool {
        return Ok(());
    }
    let zero = cast(b, DType::Bool)?.bytes().contains(&0);
    if zero { Err(format!("{op}: integer division by zero").into()) } else { Ok(()) }
}

macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(a: &Tensor, b: &Tensor) -> KernelResult {
            same_dtype(stringify!($name), a, b)?;
            dispatch!(number, stringify!($name), (a, b), T => map2::<T>(a, b, Num::$method))
        }
    )* };
}
arithmetic! {
    /// `Add` (7, 13, 14): the sum, for every type but `Bool`.
    add = add;
    /// `Sub` (7, 13, 14): the difference.
    sub = sub;
    /// `Mul` (7, 13, 14): the product.
    mul = mul;
    /// Minimum of two; NaN if either is NaN. See [`min`] for the variadic `Min`.
    min2 = min;
    /// Maximum of two; NaN if either is NaN. See [`max`] for the variadic `Max`.
    max2 = max;
}

/// `Div` (7, 13, 14): the quotient; integers truncate towards zero and a zero divisor is an error.
pub fn div(a: &Tensor, b: &Tensor) -> KernelResult {
    same_dtype("div", a, b)?;
    no_zero_divisor("div", b)?;
    dispatch!(number, "div", (a, b), T => map2::<T>(a, b, Num::div))
}

/// `Mod` (10, 13): the remainder, with the sign of the dividend when `fmod`, else with that of the divisor. A zero
/// integer divisor is an error.
pub fn modulo(a: &Tensor, b: &Tensor, fmod: bool) -> KernelResult {
    same_dtype("mod", a, b)?;
    no_zero_divisor("mod", b)?;
    dispatch!(number, "mod", (a, b), T => {
        if fmod { map2::<T>(a, b, Num::rem_trunc) } else { map2::<T>(a, b, Num::rem_floor) }
    })
}

/// `Pow` (7, 12, 13, 15): `a` to the power of `b`, in `a`'s type; the exponent may have any other type. Integers to
/// non-negative integer powers wrap; everything else goes through `f64`, and integers then truncate and saturate.
pub fn pow(a: &Tensor, b: &Tensor) -> KernelResult {
    if a.dtype() == DType::Bool || b.dtype() == DType::Bool {
        return Err(unsupported("pow", DType::Bool).into());
    }
    let exact = !a.dtype().is_float() && !b.dtype().is_float();
    let exponents = if exact { b.to_i64() } else { None };
    let walk = BroadcastWalk::new([a.shape(), b.shape()])?;
    let in_floats = || from_f64s(a.dtype(), &walk.shape, zip_map(&walk, &a.to_f64(), &b.to_f64(), power));
    let Some(exponents) = exponents else { return Ok(in_floats()) };
    let powers: KernelResult = dispatch!(int, "pow", (a), T => {
        let out = zip_map(&walk, &a.as_slice::<T>(), &exponents, |x, e| Num::powi(x, e.unsigned_abs()));
        Ok(Tensor::from_vec(&walk.shape, out))
    });
    if exponents.iter().all(|&e| e >= 0) {
        return powers;
    }
    // Negative exponents are computed in floats, element by element.
    let (powers, inverses, size) = (powers?, in_floats(), a.dtype().size());
    let negative = zip_map(&walk, &a.to_f64(), &exponents, |_, e| e < 0);
    let pairs = powers.bytes().chunks_exact(size).zip(inverses.bytes().chunks_exact(size)).zip(negative);
    let bytes: Vec<u8> =
        pairs.flat_map(|((power, inverse), negative)| if negative { inverse } else { power }).copied().collect();
    Ok(Tensor::new(a.dtype(), walk.shape.clone(), bytes.into())?)
}

/// Computes a power, with fast paths for squares and roots.
fn power(x: f64, e: f64) -> f64 {
    match e {
        2.0 => x * x,
        0.5 if x >= 0.0 => Real::sqrt(x),
        _ => x.powf(e),
    }
}

/// `Equal` (7, 11, 13, 19): `a == b`, for every type.
pub fn equal(a: &Tensor, b: &Tensor) -> KernelResult {
    same_dtype("equal", a, b)?;
    if a.dtype() == DType::Bool {
        return test2::<u8>(a, b, |x, y| x == y);
    }
    dispatch!(number, "equal", (a, b), T => test2::<T>(a, b, |x, y| x == y))
}

/// `Less` (7, 9, 13): `a < b`, as booleans.
pub fn less(a: &Tensor, b: &Tensor) -> KernelResult {
    same_dtype("comparison", a, b)?;
    dispatch!(number, "comparison", (a, b), T => test2::<T>(a, b, |x, y| x < y))
}

/// `LessOrEqual` (12, 16): `a <= b`, as booleans.
pub fn less_or_equal(a: &Tensor, b: &Tensor) -> KernelResult {
    same_dtype("comparison", a, b)?;
    dispatch!(number, "comparison", (a, b), T => test2::<T>(a, b, |x, y| x <= y))
}

/// `Greater` (7, 9, 13): `a > b`, as booleans.
pub fn greater(a: &Tensor, b: &Tensor) -> KernelResult {
    less(b, a)
}

/// `GreaterOrEqual` (12, 16): `a >= b`, as booleans.
pub fn greater_or_equal(a: &Tensor, b: &Tensor) -> KernelResult {
    less_or_equal(b, a)
}

macro_rules! logic {
    ($($(#[$doc:meta])* $name:ident = $op:tt, $types:tt;)*) => { $(
        $(#[$doc])*
        pub fn $name(a: &Tensor, b: &Tensor) -> KernelResult {
            same_dtype(stringify!($name), a, b)?;
            logic!(@$types $name, a, b, $op)
        }
    )* };
    (@bool $name:ident, $a:ident, $b:ident, $op:tt) => {
        match $a.dtype() {
            DType::Bool => test2::<u8>($a, $b, |x, y| (x $op y) & 1 == 1),
            other => Err(unsupported(stringify!($name), other).into()),
        }
    };
    (@int $name:ident, $a:ident, $b:ident, $op:tt) => {
        dispatch!(int, stringify!($name), ($a, $b), T => map2::<T>($a, $b, |x, y| x $op y))
    };
}
logic! {
    /// `And` (7): logical conjunction of booleans.
    and = &, bool;
    /// `Or` (7): logical disjunction of booleans.
    or = |, bool;
    /// `Xor` (7): exclusive disjunction of booleans.
    xor = ^, bool;
    /// `BitwiseAnd` (18), on integers.
    bitwise_and = &, int;
    /// `BitwiseOr` (18), on integers.
    bitwise_or = |, int;
    /// `BitwiseXor` (18), on integers.
    bitwise_xor = ^, int;
}

/// `BitShift` (11, 28), on integers. Right shifts of signed integers are arithmetic. Negative or too large amounts
/// yield 0, or -1 for right shifts of negative integers.
pub fn bit_shift(a: &Tensor, b: &Tensor, right: bool) -> KernelResult {
    same_dtype("bit_shift", a, b)?;
    // Shifts of the compute type beyond the element's bits leave the same low bits.
    dispatch!(int, "bit_shift", (a, b), T => {
        let by = |y: T| u32::try_from(y).unwrap_or(u32::MAX);
        if right {
            let sign = |x: T| if Num::is_negative(x) { !T::ZERO } else { T::ZERO };
            map2::<T>(a, b, |x, y| x.checked_shr(by(y)).unwrap_or_else(|| sign(x)))
        } else {
            map2::<T>(a, b, |x, y| x.checked_shl(by(y)).unwrap_or(T::ZERO))
        }
    })
}

/// `Where` (9, 16): elements of `x` where `cond` (`Bool`) holds, else of `y`. All three broadcast; any element type.
pub fn where_select(cond: &Tensor, x: &Tensor, y: &Tensor) -> KernelResult {
    same_dtype("where", x, y)?;
    if cond.dtype() != DType::Bool {
        return Err(format!("where needs a boolean condition, not {}", cond.dtype()).into());
    }
    let walk = BroadcastWalk::new([cond.shape(), x.shape(), y.shape()])?;
    let size = x.dtype().size();
    let (c, xs, ys) = (cond.bytes(), x.bytes(), y.bytes());
    let mut out = Vec::with_capacity(walk.len * size);
    walk.each_run(|at| {
        for i in 0..walk.run {
            let pick = |k: usize| at[k] + i * walk.steps[k];
            let (from, e) = if c[pick(0)] != 0 { (xs, pick(1)) } else { (ys, pick(2)) };
            out.extend_from_slice(&from[e * size..(e + 1) * size]);
        }
    });
    from_bytes(x.dtype(), &walk.shape, out)
}

/// Folds operands pairwise; a single operand is returned as it is.
fn fold(op: &str, inputs: &[&Tensor], f: impl Fn(&Tensor, &Tensor) -> KernelResult) -> KernelResult {
    let (first, rest) = inputs.split_first().ok_or_else(|| format!("{op} needs an operand"))?;
    rest.iter().try_fold((*first).clone(), |acc, t| f(&acc, t))
}

/// `Min` (8, 12, 13): the elementwise minimum of any number of operands; NaN propagates.
pub fn min(inputs: &[&Tensor]) -> KernelResult {
    fold("min", inputs, min2)
}

/// `Max` (8, 12, 13): the elementwise maximum of any number of operands; NaN propagates.
pub fn max(inputs: &[&Tensor]) -> KernelResult {
    fold("max", inputs, max2)
}

/// `Sum` (8, 13): the elementwise sum of any number of operands.
pub fn sum(inputs: &[&Tensor]) -> KernelResult {
    fold("sum", inputs, add)
}

/// `Mean` (8, 13): the elementwise mean of any number of float operands.
pub fn mean(inputs: &[&Tensor]) -> KernelResult {
    let total = sum(inputs)?;
    if !total.dtype().is_float() {
        return Err(unsupported("mean", total.dtype()).into());
    }
    div(&total, &from_f64s(total.dtype(), &[], vec![inputs.len() as f64]))
}

/// `PRelu` (7, 9, 16): `x` if x >= 0, else `slope * x`; `slope` must broadcast to the shape of `x`.
pub fn prelu(x: &Tensor, slope: &Tensor) -> KernelResult {
    same_dtype("prelu", x, slope)?;
    if broadcast_shapes(x.shape(), slope.shape()).as_deref() != Ok(x.shape()) {
        return Err(format!("prelu: {slope:?} does not broadcast to {x:?}").into());
    }
    dispatch!(number, "prelu", (x, slope), T => map2::<T>(x, slope, |x, s| if Num::is_negative(x) { s.mul(x) } else { x }))
}

/// `Clip` (11, 12, 13): clamps elements to `min..=max`; either scalar bound may be absent. If `min > max`, every
/// element becomes `max`.
pub fn clip(x: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> KernelResult {
    let bound = |t: &Tensor| t.reshape(vec![]).map_err(|_| "clip bounds should be scalars".to_owned());
    // Elements equal to a bound are unchanged, so zeros keep their signs, as in `relu`.
    let lower = min.map_or_else(|| Ok(x.clone()), |m| max2(&bound(m)?, x))?;
    max.map_or_else(|| Ok(lower.clone()), |m| min2(&bound(m)?, &lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_refuse_zero() {
        let a = Tensor::from_vec(&[3], vec![127i8, -128, 7]);
        let one = Tensor::scalar(1i8);
        assert_eq!(add(&a, &one).unwrap().to_i64().unwrap(), [-128, -127, 8]);
        assert_eq!(div(&a, &Tensor::scalar(-2i8)).unwrap().to_i64().unwrap(), [-63, 64, -3]);
        assert!(div(&a, &Tensor::scalar(0i8)).is_err());
        assert_eq!(modulo(&a, &Tensor::scalar(-4i8), false).unwrap().to_i64().unwrap(), [-1, 0, -1]);
    }

    #[test]
    fn nan_propagates() {
        let a = Tensor::from_vec(&[2], vec![f32::NAN, 1.0]);
        let b = Tensor::from_vec(&[2], vec![1.0, f32::NAN]);
        assert!(max(&[&a, &b]).unwrap().to_f64().iter().all(|x| x.is_nan()));
        assert!(min(&[&a, &b]).unwrap().to_f64().iter().all(|x| x.is_nan()));
    }

    #[test]
    fn selection_and_power() {
        let c = Tensor::from_bools(&[2, 1], vec![1, 0]);
        let x = Tensor::from_vec(&[2], vec![2i64, 3]);
        let y = Tensor::scalar(9i64);
        assert_eq!(where_select(&c, &x, &y).unwrap().to_i64().unwrap(), [2, 3, 9, 9]);
        assert_eq!(pow(&x, &x).unwrap().to_i64().unwrap(), [4, 27]);
        assert_eq!(pow(&x, &Tensor::scalar(0.5f32)).unwrap().to_i64().unwrap(), [1, 1]);
        assert!(where_select(&x, &x, &y).is_err());
    }
}
