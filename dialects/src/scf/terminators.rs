//! `scf.yield` and `scf.condition`.

use crate::constraint::{ANY, BOOL};
use gradus_ir::{Traits, op};

/// Terminates a region of an scf op and passes values to the parent op or its next iteration.
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
    /// Values.
    results: Operands<ANY>,
}

/// Terminates the before region of `scf.while`: decides whether to execute the after region, and passes values to it or
/// to the results.
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
    /// Whether to continue.
    condition: Operand<BOOL>,
    /// Values.
    args: Operands<ANY>,
}
