//! `ub`: undefined behavior.

use crate::constraint::{ANY, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{AttrKind, Dialect, OpArgs, OpDecl, Traits, op};

/// The attribute `#ub.poison`.
pub const POISON: AttrKind = kind("PoisonAttrInterface instance", |c, a| a == c.poison_attr());

/// Poison value. Computations on poison yield poison; control flow that depends on poison is undefined behavior.
///
/// ```mlir
/// %0 = ub.poison : i32
/// ```
#[op(
    "ub.poison",
    traits = Traits::CONSTANT_LIKE,
    eval = poison,
    format = "attr-dict (`<` $value^ `>`)? `:` type($result)"
)]
pub struct PoisonOp {
    /// Kind of poison.
    #[default = "#ub.poison"]
    value: Attribute<POISON>,
    /// Poison value.
    result: OpResult<ANY>,
}

/// Unreachable point of the program. Executing it is undefined behavior.
///
/// ```mlir
/// func.func @f() {
///   ub.unreachable
/// }
/// ```
#[op("ub.unreachable", traits = Traits::TERMINATOR, eval = unreachable, format = "attr-dict")]
pub struct UnreachableOp {}

fn poison(args: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Ok(vec![args.ctx().poison_of(args.result_types[0])])
}

fn unreachable(_: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Err(Trap::Ub("an unreachable point is executed".into()))
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "ub",
    doc: "Undefined behavior: poison values and unreachable points.",
    ops: &[PoisonOp::INFO, UnreachableOp::INFO],
    constant: Some("ub.poison"),
    ..Dialect::DEFAULT
};
