//! `vector.from_elements` and `vector.to_elements`.

mod patterns;

use super::data;
use super::reshape::ListsElements;
use super::types::{FIXED_VECTOR, check, count, vector};
use crate::constraint::ANY;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, Traits, Type, TypeRelation, Value, Violation, op};

/// Vector of scalars in row-major order.
///
/// ```mlir
/// %0 = vector.from_elements %a, %b : vector<2xf32>
/// ```
#[op(
    "vector.from_elements",
    relations = &[TypeRelation::Derived {
        to: "elements",
        from: "dest",
        of: |c, t| vector(c, t).map(|v| v.2),
        summary: "shaped type 'dest' matches 'elements' element count and types",
    }],
    verify = |m, op| verify_elements(m, FromElementsOp(op).dest(m), m.operands(op).len(), "dest"),
    fold = patterns::fold_from_elements,
    eval = |args, data| data::value_of(args.ctx(), args.result_types[0], data).map(|v| vec![v]),
    moves = &["elements"],
    patterns = patterns::FROM_ELEMENTS,
    extensions = &[&ListsElements],
    format = "$elements attr-dict `:` type($dest)"
)]
pub struct FromElementsOp {
    /// Elements.
    elements: Operands<ANY>,
    /// Vector of the elements.
    dest: OpResult<FIXED_VECTOR>,
}

/// Decomposes a vector into scalars in row-major order.
///
/// ```mlir
/// %0:2 = vector.to_elements %v : vector<2xf32>
/// ```
#[op(
    "vector.to_elements",
    traits = Traits::NO_CONSTANT_FOLDING,
    infer = infer_to_elements,
    verify = verify_to_elements,
    fold = patterns::fold_to_elements,
    eval = to_elements,
    moves = &["source"],
    patterns = patterns::TO_ELEMENTS,
    format = "$source attr-dict `:` type($source)"
)]
pub struct ToElementsOp {
    /// Decomposed vector.
    source: Operand<FIXED_VECTOR>,
    /// Elements.
    elements: OpResults<ANY>,
}

fn verify_elements(m: &Module, shaped: Value, n: usize, name: &str) -> Result<(), Violation> {
    check(count(&m.ctx, m.value_type(shaped)) == n as i64, || {
        format!("failed to verify that shaped type '{name}' matches 'elements' element count and types")
    })
}

fn infer_to_elements(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let (ctx, ty) = (args.ctx(), args.operand_type(0));
    let n = usize::try_from(count(ctx, ty)).ok().filter(|&n| n <= MAX_RESULTS);
    Ok(vec![ctx.element_type(ty); n.ok_or("has too many elements")?])
}

/// Maximum number of elements to decompose.
const MAX_RESULTS: usize = 1 << 20;

fn verify_to_elements(m: &Module, op: Op) -> Result<(), Violation> {
    let source = ToElementsOp(op).source(m);
    verify_elements(m, source, m.num_results(op), "source").and_then(|()| {
        let elem = m.ctx.element_type(m.value_type(source));
        let same = m.results(op).all(|v| m.value_type(v) == elem);
        check(same, || "failed to verify that shaped type 'source' matches 'elements' element count and types".into())
    })
}

fn to_elements(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    data[0].elements().ok_or_else(|| Trap::unsupported("vectors of this element type"))
}
