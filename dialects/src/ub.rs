//! `ub`: values and places that a program promises never to depend on.

use crate::constraint::{ANY, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{AttrKind, Dialect, OpArgs, OpDecl, Traits, op};

/// `#ub.poison`
pub const POISON: AttrKind = kind("PoisonAttrInterface instance", |c, a| a == c.poison_attr());

/// A value that means nothing: what is computed from it is poison too, and control flow must not depend on it.
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
    /// Which kind of poison.
    #[default = "#ub.poison"]
    value: Attribute<POISON>,
    /// Poison.
    result: OpResult<ANY>,
}

/// A place that is never reached.
///
/// ```mlir
/// func.func @f() {
///   ub.unreachable
/// }
/// ```
#[op("ub.unreachable", traits = Traits::TERMINATOR, eval = unreachable, format = "attr-dict")]
pub struct UnreachableOp {}

fn poison(_: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Ok(vec![Datum::Poison])
}

fn unreachable(_: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Err(Trap::Ub("a place that is never reached".into()))
}

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "ub",
    doc: "Undefined behaviour: poison, and places that are never reached.",
    ops: &[PoisonOp::INFO, UnreachableOp::INFO],
    attrs: &[],
    constant: Some("ub.poison"),
};
