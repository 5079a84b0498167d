//! Side effects of ops, and the legality of erasing, hoisting and merging that follows.

use crate::attrs::AttrData;
use crate::control::{Edge, Point, loops};
use crate::module::{Module, Op, Value};
use crate::traits::Traits;
use crate::types::TypeData;

/// The declared side effects of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// None: the op can be moved, duplicated, merged and erased.
    Pure,
    /// None, but undefined behavior for some operands: not speculatable.
    MayUb,
    /// Exactly these memory accesses: the kind, and the declared operand or result group that names the memory; an
    /// empty name stands for any memory.
    Memory(&'static [(Access, &'static str)]),
    /// The same, where values of a group may be tensors: those are not memory and have no effect.
    MemoryOf(&'static [(Access, &'static str)]),
    /// The effects of the ops in its regions.
    Recursive,
    /// Undeclared: any effect.
    Unknown,
}

/// A kind of memory effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    /// Allocation.
    Alloc,
    /// Read.
    Read,
    /// Write, or any change visible outside the program.
    Write,
    /// Deallocation.
    Free,
}

/// A memory effect: its kind, and the value that names the memory; `None` for any memory.
pub type MemoryEffect = (Access, Option<Value>);

/// Calls `f` with the memory effects of an op and of the ops in its regions, until `f` returns `false`. Returns `false`
/// if `f` did or if the effects are unknown.
pub fn for_each_access(m: &Module, op: Op, f: &mut dyn FnMut(Op, MemoryEffect) -> bool) -> bool {
    let Some(info) = m.info(op) else { return false };
    match info.effects {
        Effects::Pure | Effects::MayUb => true,
        Effects::Unknown => false,
        Effects::Memory(list) | Effects::MemoryOf(list) => list.iter().all(|&(access, group)| {
            if group.is_empty() {
                return f(op, (access, None));
            }
            let operands = info.operands.iter().position(|s| s.name == group).map(|i| m.operand_group(op, i));
            let results = || info.results.iter().position(|s| s.name == group).map(|i| m.result_group(op, i));
            let values = operands.or_else(results).unwrap_or_default();
            let all = matches!(info.effects, Effects::Memory(_));
            values.into_iter().filter(|&v| all || is_memory(m, v)).all(|v| f(op, (access, Some(v))))
        }),
        Effects::Recursive => {
            let blocks = m.regions(op).iter().flat_map(|&r| m.region_blocks(r));
            let mut ops = blocks.flat_map(|b| m.block_ops(b));
            stacker::maybe_grow(64 << 10, 1 << 20, || ops.all(|inner| for_each_access(m, inner, f)))
        }
    }
}

/// Whether the op and those in its regions have no memory effects. They may still have undefined behavior.
pub fn is_memory_free(m: &Module, op: Op) -> bool {
    for_each_access(m, op, &mut |_, _| false)
}

/// Whether the op and those in its regions have no memory effects except reads.
pub fn only_reads(m: &Module, op: Op) -> bool {
    for_each_access(m, op, &mut |_, (access, _)| access == Access::Read)
}

/// Whether the op is speculatable: no memory effects, and defined for all operands.
pub fn is_speculatable(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    // A branch on poison is undefined behavior.
    if m.successors(op).len() > 1 {
        return false;
    }
    match info.effects {
        Effects::Pure => true,
        // A loop may be infinite.
        Effects::Recursive if loops(m, op).contains(&true) => false,
        Effects::Recursive => {
            let blocks = m.regions(op).iter().flat_map(|&r| m.region_blocks(r));
            let mut ops = blocks.flat_map(|b| m.block_ops(b));
            let decides = info.speculatable.map_or_else(|| decides_by_operands(m, op), |is_defined| !is_defined(m, op));
            !decides && stacker::maybe_grow(64 << 10, 1 << 20, || ops.all(|inner| is_speculatable(m, inner)))
        }
        Effects::MayUb => info.speculatable.is_some_and(|is_speculatable| is_speculatable(m, op)),
        Effects::Memory(_) | Effects::MemoryOf(_) | Effects::Unknown => false,
    }
}

/// Whether control flow in the op's regions depends on its operands: undefined behavior if these are poison.
fn decides_by_operands(m: &Module, op: Op) -> bool {
    let edges = m.info(op).and_then(|info| info.edges).map(|edges| edges(m, op)).unwrap_or_default();
    let carries = |edge: &Edge, i: usize| {
        edge.from == Point::Op && (edge.first..edge.first + edge.receivers(m, op).len()).contains(&i)
    };
    (0..m.operands(op).len()).any(|i| !edges.iter().any(|edge| carries(edge, i)))
}

/// Whether the op is dead: its results are unused and it has no side effects.
pub fn is_dead(m: &Module, op: Op) -> bool {
    m.results(op).all(|v| m.is_unused(v)) && is_removable(m, op)
}

/// Whether an op without used results can be erased: it and the ops in its regions at most read memory, or allocate
/// memory that does not escape. Undefined behavior may be erased.
pub fn is_removable(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    let stays = [Traits::TERMINATOR, Traits::SYMBOL, Traits::COMBINING].into_iter().any(|t| info.traits.has(t));
    if stays || m.parent_block(op).is_none() {
        return false;
    }
    for_each_access(m, op, &mut |inner, (access, value)| match access {
        Access::Read => true,
        // Memory that is reachable only through a result of the op disappears with it.
        Access::Alloc => value.is_some_and(|v| m.defining_op(v) == Some(inner)),
        Access::Write | Access::Free => value
            .and_then(|v| m.defining_op(v))
            .is_some_and(|def| def != op && m.is_inside(def, op) && allocates(m, def)),
    })
}

/// The argument attribute for arguments whose memory, if the function writes it, is accessed through no other pointer;
/// LLVM's `noalias`.
const NOALIAS: &str = "llvm.noalias";

/// Whether a function's argument is `noalias`: the only name of its memory.
pub fn is_noalias(m: &Module, function: Op, argument: usize) -> bool {
    let all = m.inherent_attr(function, "arg_attrs").and_then(|attrs| m.ctx.as_array(attrs)).unwrap_or(&[]);
    all.get(argument).is_some_and(|&own| m.ctx.dict_get(own, m.ctx.str(NOALIAS)).is_some())
}

/// Whether a value refers to memory.
pub fn is_memory(m: &Module, value: Value) -> bool {
    matches!(m.ctx.type_data(m.value_type(value)), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
}

/// Whether the op allocates the memory that its own result names.
fn allocates(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|i| matches!(i.effects, Effects::Memory(list) if list.iter().any(|e| e.0 == Access::Alloc)))
}

/// Whether an op has an affine map or integer set attribute. Some of these ops restrict the values that are valid as
/// operands, by where they are defined.
pub fn has_map(m: &Module, op: Op) -> bool {
    let mapped = |attr| matches!(m.ctx.attr_data(attr), AttrData::AffineMap(_) | AttrData::IntegerSet(_));
    let mut all = [m.props(op), m.attrs(op)].into_iter().flat_map(|dict| m.ctx.dict_entries(dict));
    all.any(|&(_, attr)| mapped(attr))
}
