//! Alias analysis of memrefs.

use super::{DistinctObjectsOp, GetGlobalOp};
use gradus_ir::effects::{is_memory, is_noalias};
use gradus_ir::{Access, Attr, Def, Effects, Module, OpDecl, Traits, Value};

/// The underlying object of a memref.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnderlyingObject {
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

impl UnderlyingObject {
    fn of(m: &Module, mut memref: Value) -> UnderlyingObject {
        loop {
            let Some(op) = m.defining_op(memref) else { return UnderlyingObject::of_argument(m, memref) };
            if DistinctObjectsOp::cast(m, op).is_some() {
                return UnderlyingObject::Distinct(memref);
            }
            if let Some(global) = GetGlobalOp::cast(m, op) {
                return global.name(m).map_or(UnderlyingObject::Unknown, UnderlyingObject::Global);
            }
            match m.info(op).map(|info| info.effects) {
                Some(Effects::Memory([(Access::Alloc, _)])) => return UnderlyingObject::Fresh(memref),
                // An op without effects is a view of its only memref operand.
                Some(Effects::Pure | Effects::MayUb) if m.regions(op).is_empty() => {}
                _ => return UnderlyingObject::Unknown,
            }
            let mut sources = m.operands(op).iter().filter(|&&v| is_memory(m, v));
            memref = match (sources.next(), sources.next()) {
                (Some(&source), None) => source,
                _ => return UnderlyingObject::Unknown,
            };
        }
    }

    fn of_argument(m: &Module, value: Value) -> UnderlyingObject {
        let Def::Arg(block, number) = m.def(value) else { return UnderlyingObject::Unknown };
        let Some(function) = m.block_op(block).filter(|&op| m.has_trait(op, Traits::FUNCTION)) else {
            return UnderlyingObject::Unknown;
        };
        if m.regions(function).first().and_then(|&region| m.region_blocks(region).next()) != Some(block) {
            return UnderlyingObject::Unknown;
        }
        UnderlyingObject::Argument(value, is_noalias(m, function, number as usize))
    }
}

/// Whether two memrefs may alias: they are not known to be views of different allocations or globals, of an allocation
/// and older memory, or of objects declared distinct by `memref.distinct_objects` or the argument attribute
/// `llvm.noalias`.
pub fn may_alias(m: &Module, a: Value, b: Value) -> bool {
    let (a, b) = (UnderlyingObject::of(m, a), UnderlyingObject::of(m, b));
    a == b
        || match (a, b) {
            (UnderlyingObject::Unknown, _) | (_, UnderlyingObject::Unknown) => true,
            (UnderlyingObject::Distinct(a), UnderlyingObject::Distinct(b)) => m.defining_op(a) != m.defining_op(b),
            (UnderlyingObject::Distinct(_), _) | (_, UnderlyingObject::Distinct(_)) => true,
            (UnderlyingObject::Fresh(_), _) | (_, UnderlyingObject::Fresh(_)) => false,
            (UnderlyingObject::Argument(_, a), UnderlyingObject::Argument(_, b)) => !a && !b,
            (UnderlyingObject::Argument(_, alone), UnderlyingObject::Global(_))
            | (UnderlyingObject::Global(_), UnderlyingObject::Argument(_, alone)) => !alone,
            (UnderlyingObject::Global(_), UnderlyingObject::Global(_)) => false,
        }
}
