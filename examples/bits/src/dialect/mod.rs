//! The `bits` dialect: rotations, counts and fields of integers.

mod count;
mod extract;
mod rotate;
mod rules;

pub use count::*;
pub use extract::*;
pub use rotate::*;

use gradus::prelude::*;

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "bits",
    doc: "Rotations, counts and fields of integers.",
    ops: &[RotLOp::INFO, RotROp::INFO, PopCountOp::INFO, ExtractOp::INFO],
    rules: rules::RULES,
    rule_functions: rules::FUNCTIONS,
    ..Dialect::DEFAULT
};

/// Returns the width of the elements of operand 0.
fn width(args: &OpArgs<'_>) -> Result<u32, Trap> {
    match args.ctx().int_width(args.ctx().element_type(args.operand_type(0))) {
        Some(width @ 1..=64) => Ok(width),
        _ => Err(Trap::unsupported("integers of this width")),
    }
}

/// Returns the lowest bits of a number as an unsigned integer, and as the signed one that evaluation works with.
fn low_bits(value: i64, width: u32) -> (u64, i64) {
    let shift = 64 - width;
    ((value as u64) << shift >> shift, value << shift >> shift)
}
