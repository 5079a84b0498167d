//! What ops do besides computing their results, and what follows from it: what can be dropped, moved or merged.

use crate::attrs::AttrData;
use crate::control::{Edge, Point, is_loop};
use crate::module::{Module, Op, Value};
use crate::traits::Traits;
use crate::types::TypeData;

/// What an op does besides computing its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// Nothing: it can be moved, duplicated, merged and dropped.
    Pure,
    /// Nothing, but it is undefined for some operands, so it must not run where it did not run before.
    MayUb,
    /// These accesses to memory and nothing else: what is done, and the declared operand or result group whose memory it
    /// is done to; an empty name stands for any memory.
    Memory(&'static [(Access, &'static str)]),
    /// The same, where the values of a group may be tensors: those are no memory, and nothing is done to them.
    MemoryOf(&'static [(Access, &'static str)]),
    /// Whatever the ops in its regions do.
    Recursive,
    /// Not declared: assume everything.
    Unknown,
}

/// What is done to memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    /// It comes to be.
    Alloc,
    /// It is read.
    Read,
    /// It is written, or the world outside the program changes.
    Write,
    /// It ceases to be.
    Free,
}

/// An access of an op: what, and to the memory of which value; `None` for any memory.
pub type MemoryEffect = (Access, Option<Value>);

/// Calls `f` with the accesses of an op and of those in its regions, until `f` returns `false`. Returns `false` if `f` did
/// or if they are not known.
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

/// Whether the op and those in its regions neither read nor change memory. It may still be undefined for some operands.
pub fn is_memory_free(m: &Module, op: Op) -> bool {
    for_each_access(m, op, &mut |_, _| false)
}

/// Whether the op and those in its regions at most read memory.
pub fn only_reads(m: &Module, op: Op) -> bool {
    for_each_access(m, op, &mut |_, (access, _)| access == Access::Read)
}

/// Whether the op may run where it did not run before: no access to memory, and defined for all operands.
pub fn is_speculatable(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    // Where to go on may be poison.
    if m.successors(op).len() > 1 {
        return false;
    }
    match info.effects {
        Effects::Pure => true,
        // Nobody promises that a loop ends.
        Effects::Recursive if (0..m.regions(op).len()).any(|i| is_loop(m, op, i)) => false,
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

/// Whether what runs in the op's regions depends on operands, which is undefined if these are poison.
fn decides_by_operands(m: &Module, op: Op) -> bool {
    let edges = m.info(op).and_then(|info| info.edges).map(|edges| edges(m, op)).unwrap_or_default();
    let carries = |edge: &Edge, i: usize| {
        edge.from == Point::Op && (edge.first..edge.first + edge.receivers(m, op).len()).contains(&i)
    };
    (0..m.operands(op).len()).any(|i| !edges.iter().any(|edge| carries(edge, i)))
}

/// Whether nothing would change without the op: its results are unused and it has no effect.
pub fn is_dead(m: &Module, op: Op) -> bool {
    m.results(op).all(|v| m.is_unused(v)) && is_removable(m, op)
}

/// Whether an op whose results are unused can be dropped: it and the ops in its regions at most read, or allocate what
/// only they can see. Undefined behaviour may be dropped.
pub(crate) fn is_removable(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    let stays = [Traits::TERMINATOR, Traits::SYMBOL, Traits::COMBINING].into_iter().any(|t| info.traits.has(t));
    if stays || m.parent_block(op).is_none() {
        return false;
    }
    for_each_access(m, op, &mut |inner, (access, value)| match access {
        Access::Read => true,
        // What a result alone names is gone with the op.
        Access::Alloc => value.is_some_and(|v| m.defining_op(v) == Some(inner)),
        Access::Write | Access::Free => value
            .and_then(|v| m.defining_op(v))
            .is_some_and(|def| def != op && m.is_inside(def, op) && allocates(m, def)),
    })
}

/// The argument attribute that promises that what is written in the function is not accessed through the argument and
/// through something else as well, as LLVM's `noalias` does.
const NOALIAS: &str = "llvm.noalias";

/// Whether an argument of a function is promised to be the only name of its memory.
pub fn is_noalias(m: &Module, function: Op, argument: usize) -> bool {
    let all = m.inherent_attr(function, "arg_attrs").and_then(|attrs| m.ctx.as_array(attrs)).unwrap_or(&[]);
    all.get(argument).is_some_and(|&own| m.ctx.dict_get(own, m.ctx.str(NOALIAS)).is_some())
}

/// Whether a value names memory.
pub fn is_memory(m: &Module, value: Value) -> bool {
    matches!(m.ctx.type_data(m.value_type(value)), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
}

/// Whether the op allocates the memory that a result of its own names.
fn allocates(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|i| matches!(i.effects, Effects::Memory(list) if list.iter().any(|e| e.0 == Access::Alloc)))
}

/// Whether an op has a map or a set among its attributes. Some such ops take only some values as operands, so that it
/// matters where these come from.
pub fn has_map(m: &Module, op: Op) -> bool {
    let mapped = |attr| matches!(m.ctx.attr_data(attr), AttrData::AffineMap(_) | AttrData::IntegerSet(_));
    let mut all = [m.props(op), m.attrs(op)].into_iter().flat_map(|dict| m.ctx.dict_entries(dict));
    all.any(|&(_, attr)| mapped(attr))
}
