//! Verifier of `mask`, and the maskable ops.

use super::{MaskOp, YieldOp};
use crate::vector::contract::{ContractionOp, OuterProductOp, loop_extents, maps_of};
use crate::vector::gather::GatherOp;
use crate::vector::reduce::{MultiDimReductionOp, ReductionOp};
use crate::vector::transfer::{TransferReadOp, TransferWriteOp, mask_type};
use crate::vector::types::{check, vector, vector_type};
use gradus_ir::{Context, Module, Op, OpDecl, Type, Value, Violation};

/// A maskable op.
struct Maskable {
    /// Mask type.
    mask: Type,
    /// Whether a pass-through value is supported.
    passthru: bool,
}

/// Returns the mask type of a vector type.
fn mask_for(ctx: &Context, ty: Type) -> Type {
    ctx.with_element(ty, Type::I1)
}

fn maskable(m: &Module, op: Op) -> Option<Maskable> {
    let ctx = &m.ctx;
    let of = |v: Value| Maskable { mask: mask_for(ctx, m.value_type(v)), passthru: false };
    if let Some(op) = ReductionOp::cast(m, op) {
        return Some(of(op.vector(m)));
    }
    if let Some(op) = MultiDimReductionOp::cast(m, op) {
        return Some(of(op.source(m)));
    }
    if let Some(op) = OuterProductOp::cast(m, op) {
        return Some(of(op.result(m)));
    }
    if let Some(op) = GatherOp::cast(m, op) {
        return Some(of(op.result(m)));
    }
    if TransferReadOp::cast(m, op).is_some() || TransferWriteOp::cast(m, op).is_some() {
        return Some(Maskable {
            mask: mask_type(m, op)?,
            passthru: m.operands(op).first().is_some_and(|_| TransferReadOp::cast(m, op).is_some()),
        });
    }
    let contract = ContractionOp::cast(m, op)?;
    let maps = maps_of(ctx, contract.indexing_maps(m));
    let types = [contract.lhs(m), contract.rhs(m)].map(|v| m.value_type(v));
    let extents: Option<Vec<(i64, bool)>> = loop_extents(ctx, &maps, &types).into_iter().collect();
    let (sizes, flags): (Vec<i64>, Vec<bool>) = extents?.into_iter().unzip();
    Some(Maskable { mask: vector_type(ctx, &sizes, &flags, Type::I1), passthru: false })
}

pub(super) fn verify_mask_op(m: &Module, op: Op) -> Result<(), Violation> {
    let this = MaskOp(op);
    let entry = m.entry(this.mask_region(m)).filter(|_| m.has_one_block(this.mask_region(m)));
    let Some(block) = entry else {
        return Err("region #0 ('maskRegion') failed to verify constraint: region with 1 blocks".into());
    };
    check(m.block_args(block).is_empty(), || "region should have no arguments".into())?;
    let ops = m.block_ops(block).take(3).count();
    check(ops > 0, || "expects a terminator within the mask region".into())?;
    check(ops <= 2, || "expects only one operation to mask".into())?;
    let last = m.last_op(block).and_then(|last| YieldOp::cast(m, last));
    let Some(end) = last else { return Err("expects a terminator within the mask region".into()) };
    let yielded = end.operands(m);
    check(yielded.len() == m.num_results(op), || {
        "expects number of results to match mask region yielded values".into()
    })?;
    match m.first_op(block) {
        Some(masked) if ops == 2 => verify_masked(m, this, masked, &yielded),
        _ => Ok(()),
    }
}

fn verify_masked(m: &Module, this: MaskOp, masked: Op, yielded: &[Value]) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some(maskable) = maskable(m, masked) else {
        return Err("expects a MaskableOpInterface within the mask region".into());
    };
    check(m.num_results(masked) == m.num_results(this.0), || {
        "expects number of results to match maskable operation number of results".into()
    })?;
    check(m.results(masked).eq(yielded.iter().copied()), || {
        "expects all the results from the MaskableOpInterface to match all the values returned by the terminator".into()
    })?;
    let types = |op: Op| m.results(op).map(|v| m.value_type(v)).collect::<Vec<Type>>();
    check(types(masked) == types(this.0), || "expects result type to match maskable operation result type".into())?;
    check(types(masked).iter().filter(|&&t| vector(ctx, t).is_some()).count() <= 1, || {
        "multiple vector results not supported".into()
    })?;
    check(m.value_type(this.mask(m)) == maskable.mask, || {
        format!("expects a '{}' mask for the maskable operation", ctx.display_type(maskable.mask))
    })?;
    let Some(passthru) = this.passthru(m) else { return Ok(()) };
    check(maskable.passthru, || "doesn't expect a passthru argument for this maskable operation".into())?;
    check(types(masked) == [m.value_type(passthru)], || "expects passthru type to match result type".into())
}
