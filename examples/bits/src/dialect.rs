//! The `bits` dialect: its ops, what they mean, and its rules.

use gradus_dialects::constraint::{I64, SIGNLESS_INT_LIKE};
use gradus_ir::eval::{Datum, Trap, map_int};
use gradus_ir::rules::{Native, NativeFn, Rule, rule};
use gradus_ir::{Attr, Dialect, Folded, Module, Op, OpArgs, OpDecl, TypeRelation, op};

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "bits",
    doc: "Rotations, counts and fields of integers.",
    ops: &[RotLOp::INFO, RotROp::INFO, PopCountOp::INFO, ExtractOp::INFO],
    rules: RULES,
    natives: NATIVES,
    ..Dialect::DEFAULT
};

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
    /// What is rotated.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// By how many bits.
    amount: Operand<SIGNLESS_INT_LIKE>,
    /// The rotated value.
    result: OpResult<SIGNLESS_INT_LIKE>,
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
    /// What is rotated.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// By how many bits.
    amount: Operand<SIGNLESS_INT_LIKE>,
    /// The rotated value.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

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
    /// What is counted.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// How many bits of it are one.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

/// The bits from an offset on, as many as the result has.
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
    /// What holds the bits.
    value: Operand<SIGNLESS_INT_LIKE>,
    /// The lowest bit that is taken.
    offset: Attribute<I64>,
    /// The bits.
    result: OpResult<SIGNLESS_INT_LIKE>,
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    // rotations that undo each other, and those that add up
    rule("rotl-rotr",     "rotl(rotr(x, n), n) => x"),
    rule("rotr-rotl",     "rotr(rotl(x, n), n) => x"),
    rule("rotl-rotl",     "rotl(rotl(x: T, C), D) => rotl(x, arith.addi(C, D)) if wraps_at_width(T)"),
    // a rotation moves bits, and loses none
    rule("popcount-rotl", "popcount(rotl(x, n)) => popcount(x)"),
    rule("popcount-rotr", "popcount(rotr(x, n)) => popcount(x)"),
];

const NATIVES: &[&Native] = &[&Native {
    name: "wraps_at_width",
    doc: "integers whose width divides the number of their values, so that sums of amounts may wrap",
    run: NativeFn::Test(|m, x| m.ctx.int_width(m.ctx.element_type(x[0].ty())).is_some_and(u32::is_power_of_two)),
}];

fn verify_extract(m: &Module, op: Op) -> Result<(), String> {
    let extract = ExtractOp(op);
    let (from, to) = (m.value_type(extract.value(m)), m.value_type(extract.result(m)));
    let bits = |ty| m.ctx.int_width(m.ctx.element_type(ty)).map_or(0, i64::from);
    let offset = extract.offset(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(-1);
    if m.ctx.with_element(from, m.ctx.element_type(to)) != to {
        return Err("requires operand and result of the same shape".into());
    }
    if offset < 0 || offset > bits(from) - bits(to) {
        return Err(format!("takes {} bits from bit {offset} on, but there are {}", bits(to), bits(from)));
    }
    Ok(())
}

/// A rotation by 0 does nothing.
fn fold_rotation(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let amount = constants[1]?;
    args.ctx().is_uniform(amount, 0.0).then(|| args.operands[0].into())
}

/// The width of the elements of operand 0.
fn width(args: &OpArgs<'_>) -> Result<u32, Trap> {
    match args.ctx().int_width(args.ctx().element_type(args.operand_type(0))) {
        Some(width @ 1..=64) => Ok(width),
        _ => Err(Trap::unsupported("integers of this width")),
    }
}

/// The lowest bits of a number as an unsigned integer, and as the signed one that evaluation works with.
fn low_bits(value: i64, width: u32) -> (u64, i64) {
    let shift = 64 - width;
    ((value as u64) << shift >> shift, value << shift >> shift)
}

/// `by` gets the bits, an amount from 1 to the width without that, and the width.
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

fn popcount(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let width = width(args)?;
    let count = |value| low_bits(i64::from(low_bits(value, width).0.count_ones()), width).1;
    Ok(vec![map_int(data, None, |x| Ok(Some(count(x[0]))))?])
}

fn extract(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, from) = (args.ctx(), width(args)?);
    let to = ctx.element_type(args.result_types[0]);
    let (bits, offset) = (ctx.int_width(to).unwrap_or(from), args.int("offset").unwrap_or(0));
    let field = |value| low_bits((low_bits(value, from).0 >> offset) as i64, bits).1;
    Ok(vec![map_int(data, ctx.dtype(to), |x| Ok(Some(field(x[0]))))?])
}
