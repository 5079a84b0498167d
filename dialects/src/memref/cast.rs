//! Casts: `cast`, `memory_space_cast`.

use crate::constraint::ANY_MEMREF;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::MemRef;
use gradus_ir::{
    Context, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type, TypeData,
    Value, Violation, op,
};

/// Casts a memref to a type with more or less static information about sizes, offset, strides or rank. Yields poison if
/// the static information is wrong.
///
/// ```mlir
/// %0 = memref.cast %m : memref<4x?xf32> to memref<?x?xf32>
/// ```
#[op(
    "memref.cast",
    format = "$source attr-dict `:` type($source) `to` type($dest)",
    verify = verify_cast,
    fold = fold_identity,
    eval = cast,
    result_names = |_, _| vec![(0, "cast".to_owned())],
    patterns = &[Pattern { name: "cast-of-cast", run: cast_of_cast }]
)]
pub struct CastOp {
    /// Source memref.
    source: Operand<ANY_MEMREF>,
    /// Cast memref.
    dest: OpResult<ANY_MEMREF>,
}

/// Casts a memref to another memory space.
///
/// ```mlir
/// %0 = memref.memory_space_cast %m : memref<4xf32, 1> to memref<4xf32>
/// ```
#[op(
    "memref.memory_space_cast",
    format = "$source attr-dict `:` type($source) `to` type($dest)",
    verify = verify_space_cast,
    fold = fold_identity,
    eval = |_, data| Ok(data.to_vec()),
    result_names = |_, _| vec![(0, "memspacecast".to_owned())],
    patterns = &[Pattern { name: "space-cast-of-space-cast", run: space_cast_of_space_cast }]
)]
pub struct MemorySpaceCastOp {
    /// Source memref.
    source: Operand<ANY_MEMREF>,
    /// Cast memref.
    dest: OpResult<ANY_MEMREF>,
}

impl CastOp {
    /// Whether the cast only loses static information, between strided memrefs of the same rank. Ops that accept any
    /// memref can then use the source.
    pub fn loses_static_info(self, m: &Module) -> bool {
        let ctx = &m.ctx;
        let (from, to) = (m.value_type(self.source(m)), m.value_type(self.dest(m)));
        let (Some(a), Some(b)) = (ctx.strided_layout(from), ctx.strided_layout(to)) else { return false };
        let keeps = |a: i64, b: i64| a == b || b == DYNAMIC;
        let sizes = ctx.shape(from).unwrap_or(&[]).iter().zip(ctx.shape(to).unwrap_or(&[]));
        ctx.element_type(from) == ctx.element_type(to)
            && a.strides.len() == b.strides.len()
            && keeps(a.offset, b.offset)
            && sizes.chain(a.strides.iter().zip(&b.strides)).all(|(&a, &b)| keeps(a, b))
    }
}

/// Whether `memref.cast` is valid between two types.
pub fn castable(ctx: &Context, from: Type, to: Type) -> bool {
    if ctx.element_type(from) != ctx.element_type(to) || ctx.memory_space(from) != ctx.memory_space(to) {
        return false;
    }
    let (TypeData::MemRef { shape: a, layout: la, .. }, TypeData::MemRef { shape: b, layout: lb, .. }) =
        (ctx.type_data(from), ctx.type_data(to))
    else {
        return ctx.is_shaped(from) && ctx.is_shaped(to) && (ctx.shape(from).is_some() || ctx.shape(to).is_some());
    };
    let compatible = |(&a, &b): (&i64, &i64)| a == b || a == DYNAMIC || b == DYNAMIC;
    if a.len() != b.len() || !a.iter().zip(b).all(compatible) {
        return false;
    }
    if la == lb {
        return true;
    }
    let (Some(a), Some(b)) = (ctx.strided_layout(from), ctx.strided_layout(to)) else { return false };
    compatible((&a.offset, &b.offset)) && a.strides.iter().zip(&b.strides).all(compatible)
}

/// Whether two shapes are compatible; dynamic extents and unknown ranks match any.
pub(super) fn same_shape(ctx: &Context, a: Type, b: Type) -> bool {
    let (Some(a), Some(b)) = (ctx.shape(a), ctx.shape(b)) else { return true };
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC)
}

/// Replaces operands of `op` that are ranked casts by their sources, except for `keep`. For ops that accept any memref.
pub fn fold_casts(r: &mut Rewriter<'_>, op: Op, keep: Option<Value>) -> bool {
    let m = r.module();
    let source = |(i, &value): (usize, &Value)| {
        let source = CastOp::defining(m, value).filter(|_| Some(value) != keep)?.source(m);
        m.ctx.shape(m.value_type(source)).map(|_| (i, source))
    };
    let folded: Vec<(usize, Value)> = m.operands(op).iter().enumerate().filter_map(source).collect();
    if folded.is_empty() {
        return false;
    }
    r.modify(op, |m| folded.iter().for_each(|&(i, source)| m.set_operand(op, i, source)));
    true
}

/// Replaces `op` by `value`, cast to the result type if it differs.
pub(super) fn replace_by_cast(r: &mut Rewriter<'_>, op: Op, value: Value) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    if m.value_type(value) == ty {
        r.replace(op, &[value]);
        return true;
    }
    let mut state = OpState::new(&m.ctx, CastOp::INFO.name, m.loc(op));
    state.operand_group(&[value]);
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

/// Whether sizes, offset and strides of a memref match the static ones of a type.
pub(super) fn fits(ctx: &Context, view: &MemRef, ty: Type) -> bool {
    let Some(shape) = ctx.shape(ty) else { return true };
    let agrees = |(&stated, &have): (&i64, &i64)| stated == DYNAMIC || stated == have;
    if shape.len() != view.sizes.len() || !shape.iter().zip(&view.sizes).all(agrees) {
        return false;
    }
    let Some(layout) = ctx.strided_layout(ty) else { return true };
    agrees((&layout.offset, &view.offset)) && layout.strides.iter().zip(&view.strides).all(agrees)
}

fn incompatible(ctx: &Context, from: Type, to: Type) -> String {
    let (from, to) = (ctx.display_type(from), ctx.display_type(to));
    format!("operand type '{from}' and result type '{to}' are cast incompatible")
}

fn verify_cast(m: &Module, op: Op) -> Result<(), Violation> {
    let (from, to) = (m.value_type(CastOp(op).source(m)), m.value_type(CastOp(op).dest(m)));
    if castable(&m.ctx, from, to) { Ok(()) } else { Err(incompatible(&m.ctx, from, to).into()) }
}

fn verify_space_cast(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (from, to) = (m.value_type(MemorySpaceCastOp(op).source(m)), m.value_type(MemorySpaceCastOp(op).dest(m)));
    let same = match (ctx.type_data(from), ctx.type_data(to)) {
        (
            TypeData::MemRef { shape: a, elem: ea, layout: la, .. },
            TypeData::MemRef { shape: b, elem: eb, layout: lb, .. },
        ) => a == b && ea == eb && la == lb,
        (TypeData::UnrankedMemRef { elem: a, .. }, TypeData::UnrankedMemRef { elem: b, .. }) => a == b,
        _ => false,
    };
    if same { Ok(()) } else { Err(incompatible(ctx, from, to).into()) }
}

/// Folds casts to the same type.
fn fold_identity(args: &OpArgs<'_>, _: &[Option<gradus_ir::Attr>]) -> Option<Folded> {
    let &[source] = args.operands else { return None };
    (args.result_types.first() == Some(&args.module.value_type(source))).then(|| source.into())
}

/// cast(cast(x)) = cast(x)
fn cast_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = CastOp::defining(m, CastOp(op).source(m)) else { return false };
    let source = first.source(m);
    let (from, to) = (m.value_type(source), m.value_type(CastOp(op).dest(m)));
    if m.ctx.shape(from).is_none() || !castable(&m.ctx, from, to) {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

fn space_cast_of_space_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = MemorySpaceCastOp::defining(m, m.operands(op)[0]) else { return false };
    let source = first.source(m);
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

fn cast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    Ok(vec![if fits(args.ctx(), view, args.result_types[0]) { data[0].clone() } else { Datum::Poison }])
}
