//! The type `!poly.residue<17>`, whose values are computed as `i64`.

use gradus::dialects::constraint::I64;
use gradus::prelude::*;

/// An integer modulo q.
#[ty(
    "poly.residue",
    verify = |params| match params.int("modulus") {
        Some(2..=0x8000_0000) => Ok(()),
        _ => Err(ParamError::of("modulus", 0, "the modulus is from 2 to 2147483648")),
    },
    repr = |_| Type::I64,
    contains = |params, value| value.int().is_ok_and(|value| (0..modulus(params)).contains(&value)),
    draw = |params, random| Datum::Int(random.below(modulus(params).cast_unsigned()).cast_signed()),
    examples = &["17", "2"]
)]
pub struct Residue {
    /// The modulus q.
    modulus: Param<I64>,
}

fn modulus(params: &ParamArgs<'_>) -> i64 {
    params.int("modulus").unwrap_or(1)
}
