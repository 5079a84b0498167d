//! `scf.yield` and `scf.condition`.

use crate::constraint::{ANY, BOOL};
use gradus_ir::{Traits, op};

/// Ends a region of the dialect, with what the op around, or its next iteration, gets.
///
/// ```mlir
/// %0 = scf.execute_region -> i32 {
///   scf.yield %x : i32
/// }
/// ```
#[op(
    "scf.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"],
    format = "attr-dict ($results^ `:` type($results))?"
)]
pub struct YieldOp {
    /// The values.
    results: Operands<ANY>,
}

/// Ends the first region of a `scf.while`: whether the second one runs, and what it, or else the loop, gets.
///
/// ```mlir
/// %0 = scf.while (%a = %x) : (i32) -> i32 {
///   %c = arith.cmpi slt, %a, %x : i32
///   scf.condition(%c) %a : i32
/// } do {
/// ^bb0(%b: i32):
///   scf.yield %b : i32
/// }
/// ```
#[op(
    "scf.condition",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["scf.while"],
    format = "`(` $condition `)` attr-dict ($args^ `:` type($args))?"
)]
pub struct ConditionOp {
    /// Whether to go on.
    condition: Operand<BOOL>,
    /// The values.
    args: Operands<ANY>,
}
