//! The type `!poly.ring<17, 4>`, whose values are polynomials.

use crate::Element;
use gradus::dialects::constraint::I64;
use gradus::ir::Tensor;
use gradus::prelude::*;
use std::fmt;

/// A ring of polynomials.
///
/// The polynomials in x with n coefficients modulo q, where x^n is -1.
#[ty(
    "poly.ring",
    verify = verify,
    contains = contains,
    draw = draw,
    constant = |params, value| Element::of(params.ctx, Ring::with(params), value),
    examples = &["17, 4", "2, 1", "3329, 3"]
)]
pub struct Ring {
    /// The modulus q of the coefficients.
    modulus: Param<I64>,
    /// The number n of coefficients.
    degree: Param<I64>,
}

/// A polynomial: its coefficients from the constant one on, each below the modulus.
#[derive(Clone, PartialEq, Debug)]
pub struct Poly(pub Vec<u64>);

impl OwnValue for Poly {}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms = self.0.iter().enumerate().rev().filter(|(_, c)| **c != 0).peekable();
        if terms.peek().is_none() {
            return f.write_str("0");
        }
        let term = |(power, c): (usize, &u64)| match (power, c) {
            (0, c) => c.to_string(),
            (1, 1) => "x".to_owned(),
            (1, c) => format!("{c}x"),
            (power, 1) => format!("x^{power}"),
            (power, c) => format!("{c}x^{power}"),
        };
        f.write_str(&terms.map(term).collect::<Vec<_>>().join(" + "))
    }
}

/// A polynomial as memory that holds its coefficients, from the constant one on.
pub static AS_COEFFICIENTS: Representation = Representation {
    name: "poly-as-coefficients",
    types: |ctx, ty| {
        let (_, degree) = Ring::cast(ctx, ty)?.size(ctx);
        Some(vec![ctx.memref_type(&[degree as i64], Type::I64, None, None)])
    },
    encode: |_, _, value| {
        let coefficients: Vec<i64> = value.as_own::<Poly>().ok()?.0.iter().map(|c| c.cast_signed()).collect();
        Some(vec![Datum::Tensor(Tensor::from_vec(&[coefficients.len()], coefficients))])
    },
    decode: |_, _, values| {
        let coefficients = values[0].tensor().ok()?.to_i64()?;
        Some(Datum::own(Poly(coefficients.into_iter().map(i64::cast_unsigned).collect())))
    },
};

/// Moduli are below this, so that products of coefficients fit into 64 bits.
const MAX_MODULUS: i64 = 1 << 31;
const MAX_DEGREE: i64 = 1 << 12;

impl Ring {
    fn with(params: &ParamArgs<'_>) -> (u64, usize) {
        let number = |name| params.int(name).unwrap_or(1);
        (number("modulus").cast_unsigned(), number("degree") as usize)
    }

    /// Returns the modulus and the number of coefficients.
    pub fn size(self, ctx: &Context) -> (u64, usize) {
        Ring::with(&self.params(ctx))
    }
}

fn verify(params: &ParamArgs<'_>) -> Result<(), ParamError> {
    let in_range = |name, least, most| match params.int(name) {
        Some(n) if (least..=most).contains(&n) => Ok(()),
        _ => Err(ParamError::of(name, 0, format!("the {name} is from {least} to {most}"))),
    };
    in_range("modulus", 2, MAX_MODULUS)?;
    in_range("degree", 1, MAX_DEGREE)
}

fn contains(params: &ParamArgs<'_>, value: &Datum) -> bool {
    let (modulus, degree) = Ring::with(params);
    value.as_own::<Poly>().is_ok_and(|poly| poly.0.len() == degree && poly.0.iter().all(|&c| c < modulus))
}

fn draw(params: &ParamArgs<'_>, random: &mut Random) -> Datum {
    let (modulus, degree) = Ring::with(params);
    let corners = [0, 1, modulus - 1];
    let mut coefficient = || if random.percent(50) { random.pick(&corners) } else { random.below(modulus) };
    Datum::own(Poly((0..degree).map(|_| coefficient()).collect()))
}
