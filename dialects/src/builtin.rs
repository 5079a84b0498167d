//! `builtin`: the module, and casts between types that are being converted.

use crate::constraint::{ANY, STRING, SYMBOL_NAME};
use gradus_ir::{Dialect, Effects, Module, Op, OpDecl, Traits, op};

/// A container of ops that sees nothing outside, and a table of the symbols in it.
///
/// ```mlir
/// module @name {
/// }
/// ```
#[op(
    "builtin.module",
    traits = Traits::ISOLATED
        .and(Traits::SYMBOL)
        .and(Traits::SYMBOL_TABLE)
        .and(Traits::NO_TERMINATOR)
        .and(Traits::SINGLE_BLOCK)
        .and(Traits::GRAPH_REGION)
        .and(Traits::AFFINE_SCOPE),
    effects = Effects::Unknown,
    default_dialect = "builtin",
    verify = verify_module,
    format = "($sym_name^)? attr-dict-with-keyword $bodyRegion"
)]
pub struct ModuleOp {
    /// The module's own name.
    sym_name: OptAttribute<SYMBOL_NAME>,
    /// Who may refer to it.
    sym_visibility: OptAttribute<STRING>,
    /// The contents.
    #[name = "bodyRegion"]
    body: Region,
}

/// A cast without meaning of its own, between types of which one is being converted to the other.
///
/// ```mlir
/// %1 = builtin.unrealized_conversion_cast %0 : i32 to index
/// ```
#[op(
    "builtin.unrealized_conversion_cast",
    verify = verify_cast,
    format = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
)]
pub struct UnrealizedConversionCastOp {
    /// The values.
    inputs: Operands<ANY>,
    /// The same values under other types.
    outputs: OpResults<ANY>,
}

fn verify_module(m: &Module, op: Op) -> Result<(), String> {
    let body = ModuleOp(op).body(m);
    match m.entry(body) {
        Some(block) if !m.block_args(block).is_empty() => Err("region should have no arguments".into()),
        Some(_) => Ok(()),
        None => Err("region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks".into()),
    }
}

fn verify_cast(m: &Module, op: Op) -> Result<(), String> {
    if m.num_results(op) > 0 { Ok(()) } else { Err("expected at least one result for cast operation".into()) }
}

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "What every program is made of: modules, and casts between types under conversion.",
    ops: &[ModuleOp::INFO, UnrealizedConversionCastOp::INFO],
    attrs: &[],
    constant: None,
    ..Dialect::DEFAULT
};
