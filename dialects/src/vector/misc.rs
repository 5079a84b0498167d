//! `vscale`, `scalable.extract`, `scalable.insert` and `print`.

use super::data;
use super::types::{PRINTABLE, PUNCTUATION, SCALABLE_1D, VECTOR_1D, check, shape};
use crate::constraint::{I64, INDEX, STRING};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Effects, Module, Op, OpArgs, Traits, Type, TypeRelation, VSCALE, Value, Violation, op};
use std::ops::Range;

/// Runtime multiple of the length of scalable vectors (`vscale`).
///
/// ```mlir
/// %vscale = vector.vscale
/// ```
#[op("vector.vscale", eval = |_, _| Ok(vec![Datum::Int(VSCALE)]), result_names = |_, _| vec![(0, "vscale".to_owned())], format = "attr-dict")]
pub struct VectorScaleOp {
    /// Multiple.
    res: OpResult<INDEX>,
}

/// Extracts a sub-vector of a scalable vector. The position is scaled by `vscale` if the result is scalable.
///
/// ```mlir
/// %0 = vector.scalable.extract %v[4] : vector<4xf32> from vector<[8]xf32>
/// ```
#[op(
    "vector.scalable.extract",
    verify = |m, op| verify_part(m, ScalableExtractOp(op).res(m), ScalableExtractOp(op).source(m), op, "result"),
    eval = extract,
    moves = &["source"],
    format = "$source `[` $pos `]` attr-dict `:` type($res) `from` type($source)"
)]
pub struct ScalableExtractOp {
    /// Vector that is extracted from.
    source: Operand<SCALABLE_1D>,
    /// Position of the sub-vector.
    pos: Attribute<I64>,
    /// Sub-vector.
    res: OpResult<VECTOR_1D>,
}

/// Inserts a sub-vector into a scalable vector. The position is scaled by `vscale` if the sub-vector is scalable.
///
/// ```mlir
/// %0 = vector.scalable.insert %p, %v[4] : vector<4xf32> into vector<[8]xf32>
/// ```
#[op(
    "vector.scalable.insert",
    relations = &[TypeRelation::Same(&["dest", "res"])],
    verify = |m, op| verify_part(m, ScalableInsertOp(op).value_to_store(m), ScalableInsertOp(op).dest(m), op, "source"),
    eval = insert,
    moves = &["valueToStore", "dest"],
    format = "$valueToStore `,` $dest `[` $pos `]` attr-dict `:` type($valueToStore) `into` type($dest)"
)]
pub struct ScalableInsertOp {
    /// Sub-vector.
    #[name = "valueToStore"]
    value_to_store: Operand<VECTOR_1D>,
    /// Destination vector.
    dest: Operand<SCALABLE_1D>,
    /// Position of the sub-vector.
    pos: Attribute<I64>,
    /// Updated vector.
    res: OpResult<SCALABLE_1D>,
}

/// Prints a number, a vector, a string or punctuation.
///
/// ```mlir
/// vector.print %v : vector<4xf32>
/// vector.print str "sum: "
/// vector.print %s : f32 punctuation <comma>
/// ```
#[op(
    "vector.print",
    effects = Effects::Unknown,
    verify = verify_print,
    traits = Traits::OBSERVABLE,
    format = "($source^ `:` type($source))? (`str` $stringLiteral^)? (`punctuation` $punctuation^)? attr-dict"
)]
pub struct PrintOp {
    /// Value to print.
    source: OptOperand<PRINTABLE>,
    /// Punctuation after the value.
    #[default = "#vector.punctuation<newline>"]
    punctuation: Attribute<PUNCTUATION>,
    /// String to print instead of a value.
    #[name = "stringLiteral"]
    string_literal: OptAttribute<STRING>,
}

fn verify_part(m: &Module, part: Value, whole: Value, op: Op, name: &str) -> Result<(), Violation> {
    let elem = |v: Value| m.ctx.element_type(m.value_type(v));
    let of = if name == "result" { "source, result" } else { "valueToStore, dest" };
    check(elem(part) == elem(whole), || format!("failed to verify that all of {{{of}}} have same element type"))?;
    let len = shape(&m.ctx, m.value_type(part))[0];
    let at = m.inherent_attr(op, "pos").and_then(|a| m.ctx.as_int(a)).unwrap_or(0);
    check(at % len == 0, || format!("failed to verify that position is a multiple of the {name} length."))
}

fn verify_print(m: &Module, op: Op) -> Result<(), Violation> {
    let this = PrintOp(op);
    let newline = this.punctuation(m).is_none_or(|p| p == m.ctx.default_attr("#vector.punctuation<newline>"));
    let alone = this.string_literal(m).is_none() || (this.source(m).is_none() && newline);
    check(alone, || "failed to verify that `source` or `punctuation` are not set when printing strings".into())
}

/// Returns the range of the sub-vector of type `part` in a vector of `len` elements; `None` if it is out of bounds.
fn range(args: &OpArgs<'_>, part: Type, len: usize) -> Result<Option<Range<usize>>, Trap> {
    let scale = if args.ctx().is_scalable(part) { VSCALE } else { 1 };
    let start = args.int("pos").and_then(|pos| usize::try_from(pos.checked_mul(scale)?).ok());
    let size: usize = data::extents(args.ctx(), part)?.iter().product();
    let end = start.and_then(|start| start.checked_add(size)).filter(|&end| end <= len);
    Ok(start.zip(end).map(|(start, end)| start..end))
}

fn extract(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, ty) = (data[0].tensor()?, args.result_types[0]);
    match range(args, ty, source.len())? {
        Some(range) => data::pick(args.ctx(), ty, source, range).map(|part| vec![part]),
        None => Ok(vec![Datum::Poison]),
    }
}

fn insert(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (part, dest) = (data[0].tensor()?, data[1].tensor()?);
    let range = range(args, args.operand_type(0), dest.len())?;
    Ok(vec![range.map_or(Datum::Poison, |range| Datum::Tensor(data::put(part, dest, range)))])
}
