//! The attribute `#poly.element<[1, 2, 0, 0]> : !poly.ring<17, 4>`, a constant polynomial.

use crate::{Poly, Ring};
use gradus::dialects::constraint::I64_LIST;
use gradus::prelude::*;

/// A polynomial.
#[attr("poly.element", verify = verify, value = value)]
pub struct Element {
    /// The coefficients, from the constant one on.
    coefficients: Param<I64_LIST>,
}

impl Element {
    /// Returns the attribute of a value of a ring with this modulus and degree; `None` for other values.
    pub(crate) fn of(ctx: &Context, (modulus, degree): (u64, usize), value: &Datum) -> Option<Attr> {
        let poly = value.as_own::<Poly>().ok()?;
        let coefficients: Vec<i64> = poly.0.iter().map(|c| c.cast_signed()).collect();
        let number = |n| ctx.int_attr(Type::I64, n);
        let ring = Ring::get(ctx, number(modulus.cast_signed()), number(degree as i64)).ok()?;
        Some(Element::get_typed(ctx, ctx.i64_array_attr(&coefficients), ring.0).ok()?.0)
    }
}

fn verify(params: &ParamArgs<'_>) -> Result<(), ParamError> {
    let ring =
        Ring::cast(params.ctx, params.of_type).ok_or("an element has the type of its ring: `: !poly.ring<17, 4>`")?;
    let (modulus, degree) = ring.size(params.ctx);
    let coefficients = params.ints("coefficients").unwrap_or_default();
    if coefficients.len() != degree {
        return Err(format!("{} coefficients in a ring of {degree}", coefficients.len()).into());
    }
    match coefficients.iter().find(|&&c| c < 0 || c.cast_unsigned() >= modulus) {
        Some(c) => Err(format!("coefficient {c} is not from 0 to {}", modulus - 1).into()),
        None => Ok(()),
    }
}

fn value(params: &ParamArgs<'_>) -> Option<Datum> {
    let coefficients = params.ints("coefficients")?;
    Some(Datum::own(Poly(coefficients.iter().map(|c| c.cast_unsigned()).collect())))
}
