//! Assumptions about memory: `assume_alignment`, `distinct_objects`.

use super::types::POSITIVE_I32;
use crate::constraint::MEMREF;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, Folded, Module, Op, OpArgs, OpDecl, Traits, Type, Violation, op};

/// Assumes that the address of a memref is aligned. Returns the same memref.
///
/// ```mlir
/// %0 = memref.assume_alignment %m, 16 : memref<4xf32>
/// ```
#[op(
    "memref.assume_alignment",
    traits = Traits::SAME_TYPE,
    format = "$memref `,` $alignment attr-dict `:` type($memref)",
    verify = verify_alignment,
    fold = fold_alignment,
    eval = |_, data| Ok(data.to_vec()),
    result_names = |_, _| vec![(0, "assume_align".to_owned())]
)]
pub struct AssumeAlignmentOp {
    /// Aligned memref.
    memref: Operand<MEMREF>,
    /// Alignment in bytes, a power of two.
    alignment: Attribute<POSITIVE_I32>,
    /// The same memref.
    result: OpResult<MEMREF>,
}

/// Assumes that memrefs do not alias each other. Yields poison if two of them are in the same buffer.
///
/// ```mlir
/// %0, %1 = memref.distinct_objects %a, %b : memref<4xf32>, memref<8xf32>
/// ```
#[op(
    "memref.distinct_objects",
    format = "$operands attr-dict `:` type($operands)",
    infer = infer_objects,
    verify = verify_objects,
    eval = distinct
)]
pub struct DistinctObjectsOp {
    /// Memrefs.
    operands: Operands<MEMREF>,
    /// The same memrefs.
    results: OpResults<MEMREF>,
}

fn verify_alignment(m: &Module, op: Op) -> Result<(), Violation> {
    let alignment = AssumeAlignmentOp(op).alignment(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(0);
    if alignment.count_ones() == 1 { Ok(()) } else { Err("alignment must be power of 2".into()) }
}

/// Folds repeated assumptions.
fn fold_alignment(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let source = *args.operands.first()?;
    let before = AssumeAlignmentOp::defining(args.module, source)?;
    (before.alignment(args.module) == args.attr("alignment")).then(|| source.into())
}

fn distinct(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let mut buffers: Vec<u32> = data.iter().filter_map(|d| d.memref().ok()).map(|view| view.buffer).collect();
    buffers.sort_unstable();
    if buffers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Ok(vec![Datum::Poison; data.len()]);
    }
    Ok(data.to_vec())
}

fn infer_objects(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    Ok((0..args.operands.len()).map(|i| args.operand_type(i)).collect())
}

fn verify_objects(m: &Module, op: Op) -> Result<(), Violation> {
    let operands = m.operands(op).iter().map(|&v| m.value_type(v));
    if !operands.eq(m.results(op).map(|v| m.value_type(v))) {
        return Err("operand types and result types must match".into());
    }
    if m.operands(op).is_empty() {
        return Err("expected at least one operand".into());
    }
    Ok(())
}
