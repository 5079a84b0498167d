//! The mask around an op, for the ops that may be masked.

use super::data;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Module, Op, OpArgs, Traits};

/// The mask of an op.
pub(super) struct EnclosingMask {
    /// Whether each element is active.
    pub(super) mask: Vec<bool>,
    /// Elements where the mask is false.
    pub(super) passthru: Option<Datum>,
}

/// Returns the mask of an executed op, if any. Poison is undefined behavior.
pub(super) fn surrounding(args: &OpArgs<'_>, memory: &Memory) -> Result<Option<EnclosingMask>, Trap> {
    if !args.op.is_some_and(|op| is_masked(args.module, op)) {
        return Ok(None);
    }
    let around = memory.around.last().ok_or_else(|| Trap::unsupported("a mask outside of execution"))?;
    let mask = data::elements(&around[0])?.filter(|mask| !mask.contains(&Datum::Poison));
    let mask = mask.ok_or_else(|| Trap::Ub("an op under a poison mask".into()))?;
    let mask = mask.iter().map(|m| *m != Datum::Int(0)).collect();
    Ok(Some(EnclosingMask { mask, passthru: around.get(1).cloned() }))
}

/// Rejects evaluation of an op that may be masked: its result depends on the mask, not only on its operands.
pub(super) fn unmasked(args: &OpArgs<'_>) -> Result<(), Trap> {
    let masked = args.op.is_some_and(|op| is_masked(args.module, op));
    if masked { Err(Trap::unsupported("a masked op without its mask")) } else { Ok(()) }
}

/// Whether an op is masked, so that it cannot be treated as unmasked.
pub(super) fn is_masked(m: &Module, op: Op) -> bool {
    m.parent_op(op).is_some_and(|parent| m.has_trait(parent, Traits::MASKING))
}
