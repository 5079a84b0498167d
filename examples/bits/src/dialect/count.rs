//! Bit counts.

use super::{low_bits, width};
use gradus::dialects::constraint::SIGNLESS_INT_LIKE;
use gradus::prelude::*;

/// The number of one bits.
///
/// ```mlir
/// %0 = bits.popcount %x : i32
/// ```
#[op(
    "bits.popcount",
    relations = &[TypeRelation::Same(&["value", "result"])],
    eval = popcount,
    format = "$value attr-dict `:` type($result)"
)]
pub struct PopCountOp {
    /// The value whose bits are counted.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// The number of one bits.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

fn popcount(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let width = width(args)?;
    let count = |value| low_bits(i64::from(low_bits(value, width).0.count_ones()), width).1;
    Ok(vec![map_int(data, None, |x| Ok(Some(count(x[0]))))?])
}
