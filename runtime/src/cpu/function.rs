//! Elementwise functions: the ops that they implement, and their formulas. A function is one row of [`functions!`].
//!
//! Results equal the reference kernels bit for bit, except for exponentials and functions based on them, which are
//! within 3 ULP.

use super::float;
use crate::vector::ROUND;
use gradus_dialects::graph;
use gradus_ir::{OpArgs, OpDecl, OpInfo};

/// Declares functions of a given arity, as an enum with `of`, which selects the function of an op, and `apply`. A row
/// has a name, parameters with the function that reads each from the op, the ops, and the formula.
macro_rules! functions {
    (
        $(#[$doc:meta])* $Functions:ident of $arity:literal by $each:ident;
        $($Name:ident $({ $($parameter:ident: $read:ident),* })? [$($Op:ident),*] $formula:expr;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(super) enum $Functions {
            $($Name $({ $($parameter: f32),* })?,)*
        }

        impl $Functions {
            /// The ops that apply a function.
            const OPS: &[&OpInfo] = &[$($(graph::$Op::INFO,)*)*];

            /// Returns the function that an op applies to each element.
            pub(super) fn of(args: &OpArgs<'_>) -> Option<$Functions> {
                let is_one_of = |ops: &[&OpInfo]| ops.iter().any(|info| std::ptr::eq(*info, args.info));
                $(if is_one_of(&[$(graph::$Op::INFO),*]) {
                    return Some($Functions::$Name $({ $($parameter: $read(args, stringify!($parameter))?),* })?);
                })*
                None
            }

            /// Applies the function to each element of its arguments.
            #[inline(always)]
            pub(super) fn apply(self, arguments: [Argument<'_>; $arity], out: &mut [f32]) {
                match self {
                    $($Functions::$Name $({ $($parameter),* })? => $each(arguments, out, $formula),)*
                }
            }
        }
    };
}

functions! {
    /// A unary function.
    Unary of 1 by one;
    Same [] |x| x;
    Relu [ReluOp] |x| if x < 0.0 { 0.0 } else { x };
    Clip { min: lower_bound, max: upper_bound } [ClipOp] |x| smaller(max, larger(min, x));
    LeakyRelu { alpha: float } [LeakyReluOp] |x| if x < 0.0 { alpha * x } else { x };
    Neg [NegOp] |x| -x;
    Abs [AbsOp] f32::abs;
    Sqrt [SqrtOp] f32::sqrt;
    Reciprocal [ReciprocalOp] |x| 1.0 / x;
    Floor [FloorOp] f32::floor;
    Ceil [CeilOp] f32::ceil;
    Exp [ExpOp] exp;
    Sigmoid [SigmoidOp] logistic;
    Tanh [TanhOp] tanh;
    HardSigmoid { alpha: float, beta: float } [HardSigmoidOp] |x| smaller(1.0, larger(0.0, alpha * x + beta));
    HardSwish [HardSwishOp] |x| x * smaller(1.0, larger(0.0, x / 6.0 + 0.5));
    Swish { alpha: float } [SwishOp] |x| x * logistic(alpha * x);
}

functions! {
    /// A binary function; variadic ops apply it from left to right.
    Binary of 2 by two;
    Add [AddOp, SumOp] |a, b| a + b;
    Sub [SubOp] |a, b| a - b;
    Mul [MulOp] |a, b| a * b;
    Div [DivOp] |a, b| a / b;
    Max [MaxOp] larger;
    Min [MinOp] smaller;
    PRelu [PReluOp] |a, b| if a < 0.0 { a * b } else { a };
}

/// Returns the ops that apply an elementwise function.
pub(super) fn ops() -> impl Iterator<Item = &'static OpInfo> {
    Unary::OPS.iter().chain(Binary::OPS).copied()
}

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    /// One element per element of the output.
    Many(&'a [f32]),
    /// A scalar.
    One(f32),
}

/// Reads a lower bound: a constant operand of one element, or minus infinity where it is absent.
fn lower_bound(args: &OpArgs<'_>, name: &str) -> Option<f32> {
    scalar(args, name, f32::NEG_INFINITY)
}

/// Reads an upper bound: a constant operand of one element, or infinity where it is absent.
fn upper_bound(args: &OpArgs<'_>, name: &str) -> Option<f32> {
    scalar(args, name, f32::INFINITY)
}

/// Reads a constant operand of one element; `None` if it is present but not such a constant.
fn scalar(args: &OpArgs<'_>, name: &str, default: f32) -> Option<f32> {
    match args.opt_operand(name) {
        None => Some(default),
        Some(_) => super::constant(args, name).filter(|t| t.len() == 1).map(|t| t.to_f64()[0] as f32),
    }
}

#[inline(always)]
fn one([x]: [Argument<'_>; 1], out: &mut [f32], f: impl Fn(f32) -> f32) {
    match x {
        Argument::Many(x) => out.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x)),
        Argument::One(x) => out.fill(f(x)),
    }
}

#[inline(always)]
fn two([a, b]: [Argument<'_>; 2], out: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    use Argument::{Many, One};
    match (a, b) {
        (a, One(b)) => one([a], out, |a| f(a, b)),
        (One(a), b) => one([b], out, |b| f(a, b)),
        (Many(a), Many(b)) => out.iter_mut().zip(a).zip(b).for_each(|((y, &a), &b)| *y = f(a, b)),
    }
}

/// Returns the maximum, the second if they are equal; NaN if either is NaN.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b || a.is_nan() { a } else { b }
}

/// Returns the minimum, the second if they are equal; NaN if either is NaN.
#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b || a.is_nan() { a } else { b }
}

/// Computes e^x with x = n ln 2 + r: a polynomial in r, and 2^n in two factors, since n may exceed the exponent range.
/// Method: Cody and Waite, Software Manual for the Elementary Functions, 1980; the Taylor polynomial is accurate enough
/// for |r| <= ln 2 / 2.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // ln 2 in two parts; the first has few significant bits, so that n times it is exact.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * HIGH) - n * LOW;
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    let n = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    p * power(half) * power(n.wrapping_sub(half))
}

/// Computes 2^n for small |n|.
#[inline(always)]
fn power(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// Computes the logistic function without overflow.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    let e = exp(-x.abs());
    let low = e / (1.0 + e);
    if x < 0.0 { low } else { 1.0 - low }
}

/// Computes the hyperbolic tangent; by its series for small arguments, where the quotient would lose digits. Source:
/// Abramowitz and Stegun, 4.5.64.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    let e = exp(-2.0 * x.abs());
    let large = ((1.0 - e) / (1.0 + e)).copysign(x);
    let s = x * x;
    let series = x * (1.0 + s * (-1.0 / 3.0 + s * (2.0 / 15.0 + s * (-17.0 / 315.0 + s * (62.0 / 2835.0)))));
    if x.abs() < 0.3 { series } else { large }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the error against double precision, in units in the last place.
    fn check(name: &str, f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) {
        for i in -40_000..=40_000 {
            let x = i as f32 * 0.002_7;
            let (have, want) = (f64::from(f(x)), exact(f64::from(x)));
            let unit = f64::from(f32::EPSILON) * want.abs().max(f64::from(f32::MIN_POSITIVE));
            let is_large = want > f64::from(f32::MAX);
            assert!(
                if is_large { have.is_infinite() } else { (have - want).abs() <= 3.0 * unit },
                "{name}({x}) is {have}"
            );
        }
    }

    #[test]
    fn exponentials_are_near() {
        check("exp", exp, f64::exp);
        check("logistic", logistic, |x| 1.0 / (1.0 + (-x).exp()));
        check("tanh", tanh, f64::tanh);
        assert_eq!([exp(f32::NEG_INFINITY), exp(0.0), exp(f32::INFINITY)], [0.0, 1.0, f32::INFINITY]);
        assert_eq!([logistic(f32::NEG_INFINITY), logistic(f32::INFINITY), tanh(f32::INFINITY)], [0.0, 1.0, 1.0]);
        assert!([exp(f32::NAN), logistic(f32::NAN), tanh(f32::NAN)].iter().all(|x| x.is_nan()));
        assert!(tanh(-0.0).is_sign_negative());
    }

    #[test]
    fn clipping_is_what_it_was() {
        let clip = |x: f32| {
            let mut out = [0.0];
            Unary::Clip { min: 0.0, max: 6.0 }.apply([Argument::One(x)], &mut out);
            out[0]
        };
        assert_eq!([clip(-1.0), clip(7.0), clip(3.0)], [0.0, 6.0, 3.0]);
        assert!(clip(-0.0).is_sign_negative() && clip(f32::NAN).is_nan());
    }
}
