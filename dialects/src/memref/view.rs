//! Reinterpretation of memory: `view`, `reshape`.

use super::alloc::{fold_sizes, sizes};
use super::cast::replace_by_cast;
use super::types::{BYTES, SHAPE};
use super::{AllocOp, CastOp, indices, rank};
use crate::constraint::{ANY_MEMREF, INDEX, MEMREF};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::{ByteView, MemRef, Memory};
use gradus_ir::{
    Access, Attr, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter,
    Violation, op,
};

/// Views a byte buffer, from a byte offset on, as a row-major memref of any element type.
///
/// ```mlir
/// %0 = memref.view %bytes[%shift][%size] : memref<2048xi8> to memref<?x4xf32>
/// ```
#[op(
    "memref.view",
    format = "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)",
    verify = verify_view,
    fold = fold_view,
    eval = view,
    result_names = |_, _| vec![(0, "view".to_owned())],
    patterns = &[
        Pattern { name: "constant-sizes", run: constant_sizes },
        Pattern { name: "view-of-cast", run: view_of_cast },
    ]
)]
pub struct ViewOp {
    /// Byte buffer.
    source: Operand<BYTES>,
    /// Byte offset of the first element.
    byte_shift: Operand<INDEX>,
    /// Dynamic extents.
    sizes: Operands<INDEX>,
    /// View.
    result: OpResult<MEMREF>,
}

/// Views a row-major memref with another shape, which is loaded from a memref.
///
/// ```mlir
/// %0 = memref.reshape %m(%shape) : (memref<4x1xf32>, memref<1xi32>) -> memref<4xf32>
/// ```
#[op(
    "memref.reshape",
    effects = Effects::Memory(&[(Access::Read, "shape")]),
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
    verify = verify_reshape,
    exec = reshape,
    result_names = |_, _| vec![(0, "reshape".to_owned())]
)]
pub struct ReshapeOp {
    /// Source memref.
    source: Operand<ANY_MEMREF>,
    /// Memref that holds the target shape.
    shape: Operand<SHAPE>,
    /// Reshaped memref.
    result: OpResult<ANY_MEMREF>,
}

fn verify_view(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (from, to) = (m.value_type(ViewOp(op).source(m)), m.value_type(ViewOp(op).result(m)));
    let (have, want) = (ctx.display_type(from), ctx.display_type(to));
    if !ctx.has_identity_layout(from) {
        return Err(format!("unsupported map for base memref type '{have}'").into());
    }
    if !ctx.has_identity_layout(to) {
        return Err(format!("unsupported map for result memref type '{want}'").into());
    }
    if ctx.memory_space(from) != ctx.memory_space(to) {
        return Err(format!(
            "different memory spaces specified for base memref type '{have}' and view memref type '{want}'"
        )
        .into());
    }
    let open = ctx.shape(to).map_or(0, |s| s.iter().filter(|&&d| d == DYNAMIC).count());
    let given = ViewOp(op).sizes(m).len();
    if given != open {
        return Err(format!("incorrect number of dynamic sizes, has {given}, expected {open}").into());
    }
    Ok(())
}

fn verify_reshape(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (from, to) = (m.value_type(ReshapeOp(op).source(m)), m.value_type(ReshapeOp(op).result(m)));
    if ctx.element_type(from) != ctx.element_type(to) {
        return Err("element types of source and destination memref types should be the same".into());
    }
    if !ctx.has_identity_layout(from) {
        return Err("source memref type should have identity affine map".into());
    }
    if ctx.shape(to).is_none() {
        return Ok(());
    }
    if !ctx.has_identity_layout(to) {
        return Err("result memref type should have identity affine map".into());
    }
    let length = ctx.shape(m.value_type(ReshapeOp(op).shape(m))).and_then(|s| s.first().copied());
    if length == Some(DYNAMIC) {
        return Err("cannot use shape operand with dynamic length to reshape to statically-ranked memref type".into());
    }
    if length != Some(rank(m, ReshapeOp(op).result(m)) as i64) {
        return Err("length of shape operand differs from the result's memref rank".into());
    }
    Ok(())
}

fn view(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let sizes = sizes(args, ty, &indices(&data[2..])?);
    let dtype = args.ctx().dtype(args.ctx().element_type(ty));
    let dtype = dtype.ok_or_else(|| Trap::unsupported("a view of bytes as elements of this type"))?;
    let bytes = data[0].memref()?;
    if sizes.iter().any(|&n| n < 0) {
        return Ok(vec![Datum::Poison]);
    }
    let start = bytes.bytes.map_or(0, |b| b.start).wrapping_add(bytes.offset).wrapping_add(data[1].int()?);
    let mut view = MemRef::row_major(bytes.buffer, &sizes);
    view.bytes = Some(ByteView { start, dtype });
    Ok(vec![Datum::MemRef(Box::new(view))])
}

fn reshape(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let source = data[0].memref()?;
    let sizes = indices(&memory.load_all(data[1].memref()?)?)?;
    let row_major = StridedLayout { offset: source.offset, ..StridedLayout::row_major(&source.sizes) };
    let count = sizes.iter().try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) });
    if count != Some(source.len()) || source.strides != row_major.strides && source.len() > 1 {
        return Err(Trap::Ub("a reshape changes the number of elements, or its source is not contiguous".into()));
    }
    let mut view = MemRef::row_major(source.buffer, &sizes);
    (view.offset, view.bytes) = (source.offset, source.bytes);
    if !super::cast::fits(args.ctx(), &view, args.result_types[0]) {
        return Err(Trap::Ub("a reshape to a shape that contradicts its type".into()));
    }
    Ok(vec![Datum::MemRef(Box::new(view))])
}

/// Folds a view that keeps type and size.
fn fold_view(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (source, ty) = (args.operands[0], *args.result_types.first()?);
    let unmoved = constants[1].and_then(|shift| args.ctx().as_int(shift)) == Some(0);
    (unmoved && args.module.value_type(source) == ty && args.ctx().static_shape(ty).is_some()).then(|| source.into())
}

/// Makes constant sizes static.
fn constant_sizes(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let view = ViewOp(op);
    let Some((ty, left)) = fold_sizes(m, m.value_type(view.result(m)), &view.sizes(m)) else { return false };
    let mut state = OpState::new(&m.ctx, ViewOp::INFO.name, m.loc(op));
    state.operand_group(&[view.source(m), view.byte_shift(m)]);
    state.operand_group(&left);
    state.result_types.push(ty);
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    replace_by_cast(r, op, value)
}

/// Bypasses a cast of the viewed allocation.
fn view_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = CastOp::defining(m, ViewOp(op).source(m)) else { return false };
    let source = cast.source(m);
    if AllocOp::defining(m, source).is_none() {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}
