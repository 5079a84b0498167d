//! `builtin`: modules, and casts of type conversions.

use crate::constraint::{ANY, STRING, SYMBOL_NAME};
use gradus_ir::{Attr, Dialect, Effects, FoldResult, Folded, Module, Op, OpArgs, OpDecl, Traits, Value, op};

/// A top-level container of ops, isolated from above, with a symbol table.
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
    /// Name of the module.
    sym_name: OptAttribute<SYMBOL_NAME>,
    /// Symbol visibility.
    sym_visibility: OptAttribute<STRING>,
    /// Body.
    #[name = "bodyRegion"]
    body: Region,
}

/// A temporary cast between types during dialect conversion, without semantics of its own.
///
/// ```mlir
/// %1 = builtin.unrealized_conversion_cast %0 : i32 to index
/// ```
#[op(
    "builtin.unrealized_conversion_cast",
    verify = verify_cast,
    fold = fold_cast,
    format = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
)]
pub struct UnrealizedConversionCastOp {
    /// Operands.
    inputs: Operands<ANY>,
    /// Converted values.
    outputs: OpResults<ANY>,
}

fn verify_module(m: &Module, op: Op) -> Result<(), String> {
    let names = m.ctx.dict_entries(m.attrs(op)).iter().map(|entry| m.ctx.text(entry.0));
    if let Some(name) = names.into_iter().find(|name| !name.contains('.')) {
        return Err(format!("can only contain attributes with dialect-prefixed names, found: '{name}'"));
    }
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

/// Folds a cast to the same types, and a cast that undoes its producer.
fn fold_cast(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let m = args.module;
    let types = |values: &[Value]| values.iter().map(|&v| m.value_type(v)).eq(args.result_types.iter().copied());
    let before = UnrealizedConversionCastOp::defining(m, *args.operands.first()?)
        .filter(|before| m.results(before.0).eq(args.operands.iter().copied()))
        .map(|before| m.operands(before.0));
    let same = [Some(args.operands), before].into_iter().flatten().find(|values| types(values))?;
    Some(Folded::Results(same.iter().map(|&v| FoldResult::Value(v)).collect()))
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "Modules, and temporary casts of type conversions.",
    ops: &[ModuleOp::INFO, UnrealizedConversionCastOp::INFO],
    constant: None,
    ..Dialect::DEFAULT
};
