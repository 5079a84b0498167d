//! Alias analysis of memrefs.

use super::{DistinctObjectsOp, GetGlobalOp};
use gradus_ir::effects::{is_memory, is_noalias};
use gradus_ir::{Access, Attr, Def, Effects, Module, OpDecl, Traits, Value};

/// The underlying object of a memref.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Result of an allocation.
    Fresh(Value),
    /// Global, by name.
    Global(Attr),
    /// Function argument; whether it is `noalias`.
    Argument(Value, bool),
    /// Result of an op that guarantees distinct objects.
    Distinct(Value),
    /// Unknown.
    Unknown,
}

impl Origin {
    fn of(m: &Module, mut memref: Value) -> Origin {
        loop {
            let Some(op) = m.defining_op(memref) else { return Origin::of_argument(m, memref) };
            if DistinctObjectsOp::cast(m, op).is_some() {
                return Origin::Distinct(memref);
            }
            if let Some(global) = GetGlobalOp::cast(m, op) {
                return global.name(m).map_or(Origin::Unknown, Origin::Global);
            }
            match m.info(op).map(|info| info.effects) {
                Some(Effects::Memory([(Access::Alloc, _)])) => return Origin::Fresh(memref),
                // An op without effects is a view of its only memref operand.
                Some(Effects::Pure | Effects::MayUb) if m.regions(op).is_empty() => {}
                _ => return Origin::Unknown,
            }
            let mut sources = m.operands(op).iter().filter(|&&v| is_memory(m, v));
            memref = match (sources.next(), sources.next()) {
                (Some(&source), None) => source,
                _ => return Origin::Unknown,
            };
        }
    }

    fn of_argument(m: &Module, value: Value) -> Origin {
        let Def::Arg(block, number) = m.def(value) else { return Origin::Unknown };
        let Some(function) = m.block_op(block).filter(|&op| m.has_trait(op, Traits::FUNCTION)) else {
            return Origin::Unknown;
        };
        if m.regions(function).first().and_then(|&region| m.region_blocks(region).next()) != Some(block) {
            return Origin::Unknown;
        }
        Origin::Argument(value, is_noalias(m, function, number as usize))
    }
}

/// Whether two memrefs may alias: they are not known to be views of different allocations or globals, of an allocation
/// and older memory, or of objects declared distinct by `memref.distinct_objects` or the argument attribute
/// `llvm.noalias`.
pub fn may_alias(m: &Module, a: Value, b: Value) -> bool {
    let (a, b) = (Origin::of(m, a), Origin::of(m, b));
    a == b
        || match (a, b) {
            (Origin::Unknown, _) | (_, Origin::Unknown) => true,
            (Origin::Distinct(a), Origin::Distinct(b)) => m.defining_op(a) != m.defining_op(b),
            (Origin::Distinct(_), _) | (_, Origin::Distinct(_)) => true,
            (Origin::Fresh(_), _) | (_, Origin::Fresh(_)) => false,
            (Origin::Argument(_, a), Origin::Argument(_, b)) => !a && !b,
            (Origin::Argument(_, alone), Origin::Global(_)) | (Origin::Global(_), Origin::Argument(_, alone)) => !alone,
            (Origin::Global(_), Origin::Global(_)) => false,
        }
}
