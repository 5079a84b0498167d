//! Functions of elements, over many of them at once.
//!
//! They are what the reference meaning computes, but for exponentials and what is made of them: those are within a few units
//! of the last place.

use crate::vector::ROUND;

/// A function of one element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Unary {
    Same,
    Relu,
    /// No less and no greater than these.
    Clip(f32, f32),
    /// Times this where it is negative.
    LeakyRelu(f32),
    Neg,
    Abs,
    Sqrt,
    Reciprocal,
    Floor,
    Ceil,
    Exp,
    Sigmoid,
    Tanh,
    /// Times the first, plus the second, between 0 and 1.
    HardSigmoid(f32, f32),
    HardSwish,
    /// Times the logistic function of as many times itself.
    Swish(f32),
}

/// A function of two elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    /// The first, times the second where it is negative.
    PRelu,
}

/// What a function is applied to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    /// What is there where the result goes.
    There,
    /// As many elements.
    Many(&'a [f32]),
    /// Always the same.
    One(f32),
}

impl Unary {
    /// Applies it.
    #[inline(always)]
    pub(super) fn apply(self, x: Argument<'_>, out: &mut [f32]) {
        match self {
            Unary::Same => one(x, out, |x| x),
            Unary::Relu => one(x, out, |x| if x < 0.0 { 0.0 } else { x }),
            Unary::Clip(low, high) => one(x, out, |x| smaller(high, larger(low, x))),
            Unary::LeakyRelu(alpha) => one(x, out, |x| if x < 0.0 { alpha * x } else { x }),
            Unary::Neg => one(x, out, |x| -x),
            Unary::Abs => one(x, out, f32::abs),
            Unary::Sqrt => one(x, out, f32::sqrt),
            Unary::Reciprocal => one(x, out, |x| 1.0 / x),
            Unary::Floor => one(x, out, f32::floor),
            Unary::Ceil => one(x, out, f32::ceil),
            Unary::Exp => one(x, out, exp),
            Unary::Sigmoid => one(x, out, logistic),
            Unary::Tanh => one(x, out, tanh),
            Unary::HardSigmoid(alpha, beta) => one(x, out, |x| smaller(1.0, larger(0.0, alpha * x + beta))),
            Unary::HardSwish => one(x, out, |x| x * smaller(1.0, larger(0.0, x / 6.0 + 0.5))),
            Unary::Swish(alpha) => one(x, out, |x| x * logistic(alpha * x)),
        }
    }
}

impl Binary {
    /// Applies it.
    #[inline(always)]
    pub(super) fn apply(self, a: Argument<'_>, b: Argument<'_>, out: &mut [f32]) {
        match self {
            Binary::Add => two(a, b, out, |a, b| a + b),
            Binary::Sub => two(a, b, out, |a, b| a - b),
            Binary::Mul => two(a, b, out, |a, b| a * b),
            Binary::Div => two(a, b, out, |a, b| a / b),
            Binary::Max => two(a, b, out, larger),
            Binary::Min => two(a, b, out, smaller),
            Binary::PRelu => two(a, b, out, |a, b| if a < 0.0 { a * b } else { a }),
        }
    }
}

#[inline(always)]
fn one(x: Argument<'_>, out: &mut [f32], f: impl Fn(f32) -> f32) {
    match x {
        Argument::There => out.iter_mut().for_each(|y| *y = f(*y)),
        Argument::Many(x) => out.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x)),
        Argument::One(x) => out.fill(f(x)),
    }
}

#[inline(always)]
fn two(a: Argument<'_>, b: Argument<'_>, out: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    use Argument::{Many, One, There};
    match (a, b) {
        (a, One(b)) => one(a, out, |a| f(a, b)),
        (One(a), b) => one(b, out, |b| f(a, b)),
        (There, There) => one(There, out, |x| f(x, x)),
        (There, Many(b)) => out.iter_mut().zip(b).for_each(|(y, &b)| *y = f(*y, b)),
        (Many(a), There) => out.iter_mut().zip(a).for_each(|(y, &a)| *y = f(a, *y)),
        (Many(a), Many(b)) => out.iter_mut().zip(a).zip(b).for_each(|((y, &a), &b)| *y = f(a, b)),
    }
}

/// The larger of two, the second if they are equal; what is no number if one of them is none.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b || a.is_nan() { a } else { b }
}

/// The smaller of two, the second if they are equal; what is no number if one of them is none.
#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b || a.is_nan() { a } else { b }
}

/// The exponential. x = n ln 2 + r: a polynomial of r, and n in the exponent, in two steps as it may be too large for one.
/// Source of the method: Cody and Waite, Software Manual for the Elementary Functions, 1980; the polynomial is Taylor's, which is
/// exact enough where |r| is at most ln 2 / 2.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // ln 2 in two parts, of which the first has few bits, so that n times it is exact.
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

/// 2 to the power of a small number.
#[inline(always)]
fn power(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// The logistic function, whose exponential is never too large.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    let e = exp(-x.abs());
    let low = e / (1.0 + e);
    if x < 0.0 { low } else { 1.0 - low }
}

/// Small ones by their series, as the quotient would lose digits; Source: Abramowitz and Stegun, 4.5.64.
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

    /// How far a function may be from what it is in double precision, in units of the last place.
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
            let mut out = [x];
            Unary::Clip(0.0, 6.0).apply(Argument::There, &mut out);
            out[0]
        };
        assert_eq!([clip(-1.0), clip(7.0), clip(3.0)], [0.0, 6.0, 3.0]);
        assert!(clip(-0.0).is_sign_negative() && clip(f32::NAN).is_nan());
    }
}
