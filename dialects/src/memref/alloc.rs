//! Allocation: `alloc`, `alloca`, `realloc`, `dealloc`.

use super::cast::{fold_casts, replace_by_cast};
use super::types::{ALIGNMENT, VECTOR_LIKE};
use super::{StoreOp, indices};
use crate::constraint::{ANY_MEMREF, INDEX, MEMREF};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::{
    Access, DYNAMIC, Effects, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, SlotRole,
    Traits, Type, TypeData, Value, Violation, op,
};

/// Allocates memory on the heap, to be freed by `memref.dealloc`. The contents are uninitialized.
///
/// ```mlir
/// %0 = memref.alloc(%d) : memref<8x?xf32>
/// ```
#[op(
    "memref.alloc",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::Memory(&[(Access::Alloc, "memref")]),
    format = "`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
    verify = verify_sizes,
    exec = |args, data, memory| allocate(args, data, memory, Storage::Heap),
    result_names = |_, _| vec![(0, "alloc".to_owned())],
    patterns = &[CONSTANT_SIZES, DEAD]
)]
pub struct AllocOp {
    /// Dynamic extents.
    #[name = "dynamicSizes"]
    dynamic_sizes: Operands<INDEX>,
    /// Symbol operands of the layout map.
    #[name = "symbolOperands"]
    symbol_operands: Operands<INDEX>,
    /// Alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Allocated memref.
    memref: OpResult<MEMREF>,
}

/// Allocates memory on the stack, freed at the end of the enclosing function or `memref.alloca_scope`. The contents are
/// uninitialized.
///
/// ```mlir
/// %0 = memref.alloca() : memref<8xf32>
/// ```
#[op(
    "memref.alloca",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::Memory(&[(Access::Alloc, "memref")]),
    slot = SlotRole::Alloc,
    format = "`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
    verify = verify_alloca,
    exec = |args, data, memory| allocate(args, data, memory, Storage::Stack),
    result_names = |_, _| vec![(0, "alloca".to_owned())],
    patterns = &[CONSTANT_SIZES, DEAD]
)]
pub struct AllocaOp {
    /// Dynamic extents.
    #[name = "dynamicSizes"]
    dynamic_sizes: Operands<INDEX>,
    /// Symbol operands of the layout map.
    #[name = "symbolOperands"]
    symbol_operands: Operands<INDEX>,
    /// Alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Allocated memref.
    memref: OpResult<MEMREF>,
}

/// Resizes a heap allocation. The contents are kept up to the smaller size; the source is freed.
///
/// ```mlir
/// %1 = memref.realloc %0(%d) : memref<64xf32> to memref<?xf32>
/// ```
#[op(
    "memref.realloc",
    effects = Effects::Memory(&[(Access::Free, "source"), (Access::Alloc, "result")]),
    format = "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)",
    verify = verify_realloc,
    exec = reallocate,
    patterns = &[DEAD]
)]
pub struct ReallocOp {
    /// Allocation to resize.
    source: Operand<VECTOR_LIKE>,
    /// New size, if dynamic.
    #[name = "dynamicResultSize"]
    dynamic_result_size: OptOperand<INDEX>,
    /// Alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Resized allocation.
    result: OpResult<VECTOR_LIKE>,
}

/// Frees memory allocated by `memref.alloc`.
///
/// ```mlir
/// memref.dealloc %0 : memref<8xf32>
/// ```
#[op(
    "memref.dealloc",
    effects = Effects::Memory(&[(Access::Free, "memref")]),
    format = "$memref attr-dict `:` type($memref)",
    exec = free,
    patterns = &[Pattern { name: "fold-cast", run: |r, op| fold_casts(r, op, None) }]
)]
pub struct DeallocOp {
    /// Memref whose allocation is freed.
    memref: Operand<ANY_MEMREF>,
}

/// Makes constant sizes static.
const CONSTANT_SIZES: Pattern = Pattern { name: "constant-sizes", run: constant_sizes };

/// Erases allocations that are only written and freed.
const DEAD: Pattern = Pattern { name: "dead-memory", run: dead };

fn dynamic_dims(m: &Module, ty: Type) -> usize {
    m.ctx.shape(ty).map_or(0, |s| s.iter().filter(|&&d| d == DYNAMIC).count())
}

fn verify_sizes(m: &Module, op: Op) -> Result<(), Violation> {
    let ty = m.value_type(m.result(op, 0));
    let (have, want) = (m.operand_group(op, 0).len(), dynamic_dims(m, ty));
    if have != want {
        return Err(format!("incorrect number of dynamic sizes, has {have}, expected {want}").into());
    }
    let (have, want) = (m.operand_group(op, 1).len(), m.ctx.layout_symbols(ty));
    if have != want {
        return Err(
            format!("symbol operand count does not equal memref symbol count: expected {want}, got {have}").into()
        );
    }
    Ok(())
}

fn verify_alloca(m: &Module, op: Op) -> Result<(), Violation> {
    let mut around = std::iter::successors(m.parent_op(op), |&p| m.parent_op(p));
    // An unregistered ancestor may be a scope.
    if !around.any(|p| m.info(p).is_none_or(|i| i.traits.has(Traits::ALLOCATION_SCOPE))) {
        return Err("requires an ancestor op with AutomaticAllocationScope trait".into());
    }
    verify_sizes(m, op)
}

fn verify_realloc(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (from, to) = (m.value_type(ReallocOp(op).source(m)), m.value_type(ReallocOp(op).result(m)));
    let (have, want) = (ctx.display_type(from), ctx.display_type(to));
    let of_both = format!("specified for source memref type '{have}' and result memref type '{want}'");
    let given = ReallocOp(op).dynamic_result_size(m).is_some();
    match dynamic_dims(m, to) > 0 {
        _ if !ctx.has_identity_layout(from) => {
            Err(format!("unsupported layout for source memref type '{have}'").into())
        }
        _ if !ctx.has_identity_layout(to) => Err(format!("unsupported layout for result memref type '{want}'").into()),
        _ if ctx.memory_space(from) != ctx.memory_space(to) => Err(format!("different memory spaces {of_both}").into()),
        _ if ctx.element_type(from) != ctx.element_type(to) => Err(format!("different element types {of_both}").into()),
        true if !given => Err(format!("missing dimension operand for result type '{want}'").into()),
        false if given => Err(format!("unnecessary dimension operand for result type '{want}'").into()),
        _ => Ok(()),
    }
}

/// Returns the extents of a result type, with dynamic ones taken from `open`.
pub(super) fn sizes(args: &OpArgs<'_>, ty: Type, open: &[i64]) -> Vec<i64> {
    let mut open = open.iter();
    let shape = args.ctx().shape(ty).unwrap_or(&[]);
    shape.iter().map(|&d| if d == DYNAMIC { open.next().copied().unwrap_or(0) } else { d }).collect()
}

fn allocate(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory, on: Storage) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let open = indices(&data[args.operand_range("dynamicSizes")])?;
    let symbols = indices(&data[args.operand_range("symbolOperands")])?;
    let view = memory.alloc_memref(args.ctx(), ty, &sizes(args, ty, &open), &symbols, on)?;
    Ok(vec![Datum::MemRef(Box::new(view))])
}

fn reallocate(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let old = data[0].memref()?;
    let mut elements = memory.load_all(old)?;
    memory.free(old.buffer)?;
    let ty = args.result_types[0];
    let new = memory.alloc_memref(args.ctx(), ty, &sizes(args, ty, &indices(&data[1..])?), &[], Storage::Heap)?;
    elements.resize(new.len() as usize, Datum::Poison);
    memory.overwrite(new.buffer, &elements)?;
    Ok(vec![Datum::MemRef(Box::new(new))])
}

fn free(_: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    memory.free(data[0].memref()?.buffer)?;
    Ok(vec![])
}

/// Returns the memref type with constant extents of `open` made static, and the remaining dynamic extents; `None` if
/// nothing changes.
pub(super) fn fold_sizes(m: &Module, ty: Type, open: &[Value]) -> Option<(Type, Vec<Value>)> {
    let mut data = m.ctx.type_data(ty).clone();
    let TypeData::MemRef { shape, .. } = &mut data else { return None };
    let (mut left, mut open) = (Vec::new(), open.iter());
    for extent in shape.iter_mut().filter(|d| **d == DYNAMIC) {
        let &value = open.next()?;
        match m.constant_int(value).filter(|&n| n >= 0) {
            Some(n) => *extent = n,
            None => left.push(value),
        }
    }
    let new = m.ctx.ty(data);
    (new != ty).then_some((new, left))
}

fn constant_sizes(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let sizes = m.operand_group(op, 0);
    let Some((ty, left)) = fold_sizes(m, m.value_type(m.result(op, 0)), &sizes) else { return false };
    let mut state = OpState::new(&m.ctx, m.name_text(op), m.loc(op));
    state.operand_group(&left);
    state.operand_group(&m.operand_group(op, 1));
    state.inherent(&m.ctx, "alignment", m.inherent_attr(op, "alignment"));
    state.result_types.push(ty);
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    replace_by_cast(r, op, value)
}

fn dead(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let memory = m.result(op, 0);
    let writes_or_frees = |(user, _): (Op, usize)| match StoreOp::cast(m, user) {
        Some(store) => store.value(m) != memory,
        None => DeallocOp::cast(m, user).is_some(),
    };
    if !m.uses(memory).all(writes_or_frees) {
        return false;
    }
    let users: Vec<Op> = m.uses(memory).map(|(user, _)| user).collect();
    users.into_iter().for_each(|user| r.erase(user));
    r.erase(op);
    true
}
