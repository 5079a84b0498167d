//! The ops of the `poly` dialect, and their rules.

use crate::{Element, Poly, Residue, Ring};
use gradus::prelude::*;

/// A constant polynomial.
///
/// ```mlir
/// %0 = poly.constant <[1, 2, 0, 0]> : !poly.ring<17, 4>
/// ```
#[op(
    "poly.constant",
    traits = Traits::CONSTANT_LIKE,
    infer = |args| args.attr("value").and_then(|value| args.ctx().attr_type(value)).map(|ty| vec![ty]).ok_or("needs a value".into()),
    eval = |args, _| {
        let value = args.attr("value").and_then(|value| args.ctx().attr_datum(value));
        Ok(vec![value.ok_or_else(|| Trap::unsupported("needs a value"))?])
    },
    format = "$value attr-dict"
)]
pub struct ConstantOp {
    /// The polynomial.
    value: Attribute<Element::KIND>,
    /// The polynomial.
    result: OpResult<Ring::TYPE>,
}

macro_rules! binary {
    ($(#[doc = $doc:literal])* $Op:ident $name:literal $function:ident) => {
        $(#[doc = $doc])*
        #[op(
            $name,
            traits = Traits::SAME_TYPE,
            eval = |args, data| apply(args, data, $function),
            format = "$lhs `,` $rhs attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<Ring::TYPE>,
            /// Right operand.
            rhs: Operand<Ring::TYPE>,
            /// Result.
            result: OpResult<Ring::TYPE>,
        }
    };
}

binary! {
    /// The sum of two polynomials.
    AddOp "poly.add" add
}
binary! {
    /// The difference of two polynomials.
    SubOp "poly.sub" sub
}
binary! {
    /// The product of two polynomials, in which x^n is -1.
    MulOp "poly.mul" mul
}

/// The value of a polynomial at a residue of its modulus.
///
/// ```mlir
/// %0 = poly.eval %p at %x : !poly.ring<17, 4>, !poly.residue<17>
/// ```
#[op(
    "poly.eval",
    relations = &[TypeRelation::Same(&["point", "result"])],
    verify = verify_eval,
    eval = eval,
    format = "$poly `at` $point attr-dict `:` type($poly) `,` type($point)"
)]
pub struct EvalOp {
    /// The polynomial.
    poly: Operand<Ring::TYPE>,
    /// The point.
    point: Operand<Residue::TYPE>,
    /// The value at the point.
    result: OpResult<Residue::TYPE>,
}

#[rustfmt::skip]
pub(crate) const RULES: &[Rule] = &[
    rule("poly-constant-right", "add(constant{value = C}(), x) => add(x, constant{value = C}())"),
    rule("poly-sub-of-add", "sub(add(x, y), y) => x"),
    rule("poly-add-of-sub", "add(sub(x, y), y) => x"),
];

/// Applies a function of modulus and coefficients.
fn apply(args: &OpArgs<'_>, data: &[Datum], f: fn(u64, &[u64], &[u64]) -> Vec<u64>) -> Result<Vec<Datum>, Trap> {
    let ring = Ring::cast(args.ctx(), args.result_types[0]).ok_or_else(|| Trap::unsupported("no ring"))?;
    let (modulus, _) = ring.size(args.ctx());
    Ok(vec![Datum::own(Poly(f(modulus, &data[0].as_own::<Poly>()?.0, &data[1].as_own::<Poly>()?.0)))])
}

fn add(q: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| (a + b) % q).collect()
}

fn sub(q: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| (a + q - b) % q).collect()
}

fn mul(q: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0; a.len()];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let (term, place) = (a * b % q, (i + j) % product.len());
            let wraps = i + j >= product.len();
            product[place] = (product[place] + if wraps { q - term } else { term }) % q;
        }
    }
    product
}

fn verify_eval(m: &Module, op: Op) -> Result<(), Violation> {
    let eval = EvalOp(op);
    let (poly, point) = (m.value_type(eval.poly(m)), m.value_type(eval.point(m)));
    let moduli =
        (Ring::cast(&m.ctx, poly).map(|t| t.modulus(&m.ctx)), Residue::cast(&m.ctx, point).map(|t| t.modulus(&m.ctx)));
    if moduli.0 == moduli.1 { Ok(()) } else { Err("polynomial and point have different moduli".into()) }
}

fn eval(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ring = Ring::cast(args.ctx(), args.operand_type(0)).ok_or_else(|| Trap::unsupported("no ring"))?;
    let ((modulus, _), x) = (ring.size(args.ctx()), data[1].int()?.cast_unsigned());
    let value = data[0].as_own::<Poly>()?.0.iter().rev().fold(0, |sum, c| (sum * x + c) % modulus);
    Ok(vec![Datum::Int(value.cast_signed())])
}
