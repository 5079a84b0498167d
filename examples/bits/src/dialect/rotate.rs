//! Rotations.

use super::{low_bits, width};
use gradus::dialects::constraint::SIGNLESS_INT_LIKE;
use gradus::prelude::*;

/// Rotation to the left, by an amount modulo the width.
///
/// ```mlir
/// %0 = bits.rotl %x, %n : i32
/// ```
#[op(
    "bits.rotl",
    relations = &[TypeRelation::Same(&["value", "amount", "result"])],
    fold = fold_rotation,
    eval = |args, data| rotate(args, data, |x, n, width| x << n | x >> (width - n)),
    format = "$value `,` $amount attr-dict `:` type($result)"
)]
pub struct RotLOp {
    /// The value to rotate.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// The number of bits to rotate by, modulo the width.
    amount: Operand<SIGNLESS_INT_LIKE>,
    /// The rotated value.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

/// Folds a rotation by 0 to its operand.
fn fold_rotation(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let amount = constants[1]?;
    args.ctx().is_uniform(amount, 0.0).then(|| args.operands[0].into())
}

/// Evaluates a rotation. `by` gets the bits, an amount from 1 to the width minus 1, and the width.
fn rotate(args: &OpArgs<'_>, data: &[Datum], by: fn(u64, u32, u32) -> u64) -> Result<Vec<Datum>, Trap> {
    let width = width(args)?;
    let one = |value: i64, amount: i64| {
        let amount = low_bits(amount, width).0 % u64::from(width);
        let bits = low_bits(value, width).0;
        let rotated = if amount == 0 { bits } else { by(bits, amount as u32, width) };
        low_bits(rotated as i64, width).1
    };
    Ok(vec![map_int(data, None, |x| Ok(Some(one(x[0], x[1]))))?])
}

/// Rotation to the right, by an amount modulo the width.
///
/// ```mlir
/// %0 = bits.rotr %x, %n : i32
/// ```
#[op(
    "bits.rotr",
    relations = &[TypeRelation::Same(&["value", "amount", "result"])],
    fold = fold_rotation,
    eval = |args, data| rotate(args, data, |x, n, width| x >> n | x << (width - n)),
    format = "$value `,` $amount attr-dict `:` type($result)"
)]
pub struct RotROp {
    /// The value to rotate.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// The number of bits to rotate by, modulo the width.
    amount: Operand<SIGNLESS_INT_LIKE>,
    /// The rotated value.
    result: OpResult<SIGNLESS_INT_LIKE>,
}
