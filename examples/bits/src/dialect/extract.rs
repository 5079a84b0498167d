//! Bit fields.

use super::{low_bits, width};
use gradus::dialects::constraint::{I64, SIGNLESS_INT_LIKE};
use gradus::prelude::*;

/// The bits from an offset on; the result type determines their number.
///
/// ```mlir
/// %0 = bits.extract %x from 8 : i32 to i8
/// ```
#[op(
    "bits.extract",
    verify = verify_extract,
    eval = extract,
    format = "$value `from` $offset attr-dict `:` type($value) `to` type($result)"
)]
pub struct ExtractOp {
    /// The value to extract from.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// Index of the lowest extracted bit.
    offset: Attribute<I64>,
    /// The extracted bits.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

fn verify_extract(m: &Module, op: Op) -> Result<(), Violation> {
    let extract = ExtractOp(op);
    let (from, to) = (m.value_type(extract.value(m)), m.value_type(extract.result(m)));
    let bits = |ty| m.ctx.int_width(m.ctx.element_type(ty)).map_or(0, i64::from);
    let offset = extract.offset(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(-1);
    if m.ctx.with_element(from, m.ctx.element_type(to)) != to {
        return Err("requires operand and result of the same shape".into());
    }
    if offset < 0 || offset > bits(from) - bits(to) {
        return Err(
            format!("extracts {} bits from bit {offset} on, but the operand has {}", bits(to), bits(from)).into()
        );
    }
    Ok(())
}

fn extract(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, from) = (args.ctx(), width(args)?);
    let to = ctx.element_type(args.result_types[0]);
    let (bits, offset) = (ctx.int_width(to).unwrap_or(from), args.int("offset").unwrap_or(0));
    let field = |value| low_bits((low_bits(value, from).0 >> offset) as i64, bits).1;
    Ok(vec![map_int(data, ctx.dtype(to), |x| Ok(Some(field(x[0]))))?])
}
