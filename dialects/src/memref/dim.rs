//! Shape queries: `dim`, `rank`.

use super::types::WITH_DIMENSIONS;
use super::{AllocOp, AllocaOp, CastOp, LoadOp, ReshapeOp, SubViewOp, ViewOp};
use crate::constraint::{ANY_MEMREF, INDEX};
use crate::views::{Mixed, Slice, has_constant_dimension};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits,
    Type, Value, op,
};

/// Returns the size of a dimension. A dimension out of range is undefined behavior; a dynamic size of a poison memref is poison.
///
/// ```mlir
/// %0 = memref.dim %m, %c1 : memref<4x?xf32>
/// ```
#[op(
    "memref.dim",
    traits = Traits::EXTENT.and(Traits::SEES_POISON),
    effects = Effects::MayUb,
    speculatable = has_constant_dimension,
    format = "attr-dict $source `,` $index `:` type($source)",
    fold = fold_dim,
    eval = dim,
    result_names = |_, _| vec![(0, "dim".to_owned())],
    patterns = &[
        Pattern { name: "dim-of-cast", run: dim_of_cast },
        Pattern { name: "dim-of-reshape", run: dim_of_reshape },
    ]
)]
pub struct DimOp {
    /// Queried memref.
    source: Operand<WITH_DIMENSIONS>,
    /// Dimension.
    index: Operand<INDEX>,
    /// Size.
    result: OpResult<INDEX>,
}

/// Returns the rank of a memref.
///
/// ```mlir
/// %0 = memref.rank %m : memref<*xf32>
/// ```
#[op(
    "memref.rank",
    format = "$memref attr-dict `:` type($memref)",
    fold = fold_rank,
    eval = |_, data| Ok(vec![Datum::Int(data[0].memref()?.sizes.len() as i64)])
)]
pub struct RankOp {
    /// Queried memref.
    memref: Operand<ANY_MEMREF>,
    /// Rank.
    result: OpResult<INDEX>,
}

fn dim(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Datum::Int(index) = data[1] else { return Err(Trap::Ub("the dimension is poison".into())) };
    let sizes = match &data[0] {
        Datum::Poison => args.ctx().shape(args.operand_type(0)).unwrap_or(&[]),
        memref => &memref.memref()?.sizes[..],
    };
    match usize::try_from(index).ok().and_then(|i| sizes.get(i)) {
        None => Err(Trap::Ub(format!("dimension {index} is out of range for a memref of rank {}", sizes.len()))),
        Some(&DYNAMIC) => Ok(vec![Datum::Poison]),
        Some(&size) => Ok(vec![Datum::Int(size)]),
    }
}

/// Folds to the static size, or to the operand that defines a dynamic size.
fn fold_dim(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let index = usize::try_from(ctx.as_int((*constants.get(1)?)?)?).ok()?;
    let source = *args.operands.first()?;
    let shape = ctx.shape(args.operand_type(0))?;
    let size = *shape.get(index)?;
    if size != DYNAMIC {
        return Some(ctx.int_attr(Type::INDEX, size).into());
    }
    let open = shape[..index].iter().filter(|&&d| d == DYNAMIC).count();
    match stated_size(args.module, source, index, open)? {
        Mixed::Static(n) => Some(ctx.int_attr(Type::INDEX, n).into()),
        Mixed::Dynamic(value) => Some(value.into()),
    }
}

/// Returns the operand that defines the size of a dynamic dimension, the one after `open` dynamic ones, in the op that
/// creates `memref`.
fn stated_size(m: &Module, memref: Value, index: usize, open: usize) -> Option<Mixed> {
    let sizes = AllocOp::defining(m, memref)
        .map(|op| op.dynamic_sizes(m))
        .or_else(|| AllocaOp::defining(m, memref).map(|op| op.dynamic_sizes(m)))
        .or_else(|| ViewOp::defining(m, memref).map(|op| op.sizes(m)));
    if let Some(sizes) = sizes {
        return sizes.get(open).map(|&v| Mixed::Dynamic(v));
    }
    let subview = SubViewOp::defining(m, memref)?;
    let dropped = subview.dropped_dims(m)?;
    let sizes = Slice::of(&m.args(subview.0)?).sizes;
    sizes.into_iter().zip(dropped).filter(|(_, dropped)| !dropped).nth(index).map(|(size, _)| size)
}

fn fold_rank(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    ctx.shape(args.operand_type(0)).map(|shape| ctx.int_attr(Type::INDEX, shape.len() as i64).into())
}

/// Queries the source of a ranked cast.
fn dim_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = CastOp::defining(m, DimOp(op).source(m)) else { return false };
    // As in MLIR, only for a constant dimension in range.
    let index = m.constant_int(DimOp(op).index(m)).and_then(|i| usize::try_from(i).ok());
    let shape = m.ctx.shape(m.value_type(cast.dest(m)));
    if index.is_none_or(|i| shape.is_none_or(|s| i >= s.len())) {
        return false;
    }
    super::cast::fold_casts(r, op, None)
}

/// Loads the size from the shape operand of a reshape, at the position of the reshape.
fn dim_of_reshape(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let index = DimOp(op).index(m);
    let Some(reshape) = ReshapeOp::defining(m, DimOp(op).source(m)) else { return false };
    let Some(next) = m.next_op(reshape.0).filter(|_| is_available(m, index, op, reshape.0)) else { return false };
    let ctx = &m.ctx;
    let (shape, loc) = (reshape.shape(m), m.loc(op));
    let elem = ctx.element_type(m.value_type(shape));
    let mut state = OpState::new(ctx, LoadOp::INFO.name, loc);
    state.operand_group(&[shape]);
    state.operand_group(&[index]);
    let cast = OpState::new(ctx, "arith.index_cast", loc);
    let Ok(load) = r.create_before(next, state) else { return false };
    let mut value = r.module().result(load, 0);
    if elem != Type::INDEX {
        let mut state = cast;
        state.operand_group(&[value]);
        state.result_types.push(Type::INDEX);
        let Ok(cast) = r.create_before(next, state) else { return false };
        value = r.module().result(cast, 0);
    }
    r.replace(op, &[value]);
    true
}

/// Maximum number of ops visited in search of a definition.
const MAX_DISTANCE: usize = 1000;

/// Whether `index`, used by `dim`, is known to be defined before `reshape`.
fn is_available(m: &Module, index: Value, dim: Op, reshape: Op) -> bool {
    let (home, block) = (m.def_block(index), m.parent_block(reshape));
    if home == block {
        // Constants are placed at the start of their region.
        let Some(def) = m.defining_op(index).filter(|_| m.constant(index).is_none()) else { return true };
        let mut before = std::iter::successors(m.prev_op(reshape), |&op| m.prev_op(op)).take(MAX_DISTANCE);
        return before.any(|op| op == def);
    }
    if m.parent_block(dim) == block {
        return true;
    }
    let region = |block: Option<gradus_ir::Block>| block.and_then(|b| m.parent_region(b));
    let outer = region(home).and_then(|r| m.region_op(r));
    region(home) != region(block) && outer.is_some_and(|outer| m.is_inside(reshape, outer))
}
