//! `tensor.dim`, `tensor.rank` and `tensor.reshape`.

use super::cast::before_cast;
use super::types::{SHAPE_TENSOR, SIZED_TENSOR, shape};
use super::{ExtractOp, FromElementsOp, GenerateOp, data, names};
use crate::constraint::{INDEX, TENSOR};
use crate::views::has_constant_dimension;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits,
    Type, TypeData, Value, Violation, op,
};

/// Returns the extent of a dimension. A dimension out of range is undefined behavior.
///
/// ```mlir
/// %0 = tensor.dim %a, %i : tensor<4x?xf32>
/// ```
#[op(
    "tensor.dim",
    traits = Traits::EXTENT.and(Traits::SEES_POISON),
    effects = Effects::MayUb,
    speculatable = has_constant_dimension,
    fold = fold_dim,
    eval = dim,
    patterns = &[DIM_OF_CAST, DIM_OF_DESTINATION, DIM_OF_RESHAPE],
    result_names = |_, _| names("dim"),
    format = "attr-dict $source `,` $index `:` type($source)"
)]
pub struct DimOp {
    /// Queried tensor.
    source: Operand<SIZED_TENSOR>,
    /// Dimension.
    index: Operand<INDEX>,
    /// Extent.
    result: OpResult<INDEX>,
}

/// Returns the rank of a tensor.
///
/// ```mlir
/// %0 = tensor.rank %a : tensor<*xf32>
/// ```
#[op(
    "tensor.rank",
    traits = Traits::SEES_POISON,
    fold = fold_rank,
    eval = |_, data| Ok(vec![data[0].shape().map_or(Datum::Poison, |shape| Datum::Int(shape.len() as i64))]),
    result_names = |_, _| names("rank"),
    format = "$tensor attr-dict `:` type($tensor)"
)]
pub struct RankOp {
    /// Queried tensor.
    tensor: Operand<TENSOR>,
    /// Rank.
    result: OpResult<INDEX>,
}

/// Reshapes a tensor to the shape held by another tensor.
///
/// ```mlir
/// %0 = tensor.reshape %a(%shape) : (tensor<4x1xf32>, tensor<2xi32>) -> tensor<2x2xf32>
/// ```
#[op(
    "tensor.reshape",
    effects = Effects::MayUb,
    verify = verify_reshape,
    fold = fold_reshape,
    eval = reshape,
    moves = &["source"],
    patterns = &[RESHAPE_OF_RESHAPE],
    result_names = |_, _| names("reshape"),
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"
)]
pub struct ReshapeOp {
    /// Tensor before the reshape.
    source: Operand<TENSOR>,
    /// Target shape.
    shape: Operand<SHAPE_TENSOR>,
    /// Reshaped tensor.
    result: OpResult<TENSOR>,
}

/// Queries the source of a cast.
const DIM_OF_CAST: Pattern = Pattern {
    name: "dim of cast",
    run: |r, op| {
        let m = r.module();
        let cast = super::CastOp::defining(m, DimOp(op).source(m));
        replace_source(r, op, cast.map(|cast| cast.source(r.module())))
    },
};

/// Queries the destination of a destination-style op.
const DIM_OF_DESTINATION: Pattern = Pattern {
    name: "dim of destination",
    run: |r, op| {
        let destination = super::destination(r.module(), DimOp(op).source(r.module()));
        replace_source(r, op, destination)
    },
};

/// Extracts the extent from the shape operand of a reshape.
const DIM_OF_RESHAPE: Pattern = Pattern { name: "dim of reshape", run: dim_of_reshape };

/// Merges consecutive reshapes.
const RESHAPE_OF_RESHAPE: Pattern = Pattern {
    name: "reshape of reshape",
    run: |r, op| {
        let m = r.module();
        let Some(first) = ReshapeOp::defining(m, ReshapeOp(op).source(m)) else { return false };
        let source = first.source(m);
        r.modify(op, |m| m.set_operand(op, 0, source));
        true
    },
};

fn replace_source(r: &mut Rewriter<'_>, op: Op, source: Option<Value>) -> bool {
    let Some(source) = source else { return false };
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

fn dim_of_reshape(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(reshape) = ReshapeOp::defining(m, DimOp(op).source(m)) else { return false };
    let mut state = OpState::new(&m.ctx, ExtractOp::INFO.name, m.loc(op));
    state.operand_group(&[reshape.shape(m)]);
    state.operand_group(&[DimOp(op).index(m)]);
    let Ok(extract) = r.create_before(op, state) else { return false };
    let mut extent = r.module().result(extract, 0);
    if r.module().value_type(extent) != Type::INDEX {
        let m = r.module();
        let mut state = OpState::new(&m.ctx, "arith.index_cast", m.loc(op));
        state.operand_group(&[extent]);
        state.result_types.push(Type::INDEX);
        let Ok(cast) = r.create_before(op, state) else { return false };
        extent = r.module().result(cast, 0);
    }
    r.replace(op, &[extent]);
    true
}

fn fold_dim(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, ctx) = (args.module, args.ctx());
    let index = usize::try_from(ctx.as_int(constants[1]?)?).ok()?;
    let source = args.operands[0];
    let extent = *shape(ctx, args.operand_type(0)).get(index)?;
    if extent != DYNAMIC {
        return Some(ctx.int_attr(Type::INDEX, extent).into());
    }
    // Position among the dynamic extents.
    let unknown = shape(ctx, args.operand_type(0))[..index].iter().filter(|&&d| d == DYNAMIC).count();
    let sizes = match (GenerateOp::defining(m, source), super::EmptyOp::defining(m, source)) {
        (Some(generate), _) => generate.dynamic_extents(m),
        (_, Some(empty)) => empty.dynamic_sizes(m),
        _ => return dim_of_slice(m, source, index).map(Folded::from),
    };
    sizes.get(unknown).map(|&size| size.into())
}

fn dim_of_slice(m: &Module, source: Value, index: usize) -> Option<Value> {
    let slice = super::ExtractSliceOp::defining(m, source)?;
    let sizes = crate::views::mixed_entries(&m.args(slice.0)?, "sizes", "static_sizes");
    if sizes.len() != shape(&m.ctx, m.value_type(source)).len() {
        return None;
    }
    match sizes.get(index)? {
        crate::views::Mixed::Dynamic(size) => Some(*size),
        crate::views::Mixed::Static(_) => None,
    }
}

fn fold_rank(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let rank = args.ctx().shape(args.operand_type(0))?.len();
    Some(args.ctx().int_attr(Type::INDEX, rank as i64).into())
}

fn fold_reshape(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let (source, from, to) = (args.operands[0], args.operand_type(0), *args.result_types.first()?);
    if let Some(folded) = constants[0].and_then(|c| data::retyped_constant(ctx, c, to, false)) {
        return Some(folded.into());
    }
    let extents = ctx.shape(from).filter(|_| from == to)?;
    let same = super::types::dynamic_dims(extents) == 0 || extents.len() <= 1 || states_shape(args, extents);
    same.then(|| source.into())
}

/// Whether the shape operand equals the source's extents.
fn states_shape(args: &OpArgs<'_>, extents: &[i64]) -> bool {
    let m = args.module;
    let Some(elements) = FromElementsOp::defining(m, args.operands[1]).map(|op| op.elements(m)) else { return false };
    let is_extent = |(i, &element): (usize, &Value)| match (m.constant_int(element), DimOp::defining(m, element)) {
        (Some(n), _) => n == extents[i],
        (_, Some(dim)) => {
            let of_source =
                dim.source(m) == args.operands[0] || before_cast(m, args.operands[0]) == Some(dim.source(m));
            of_source && m.constant_int(dim.index(m)) == Some(i as i64)
        }
        _ => false,
    };
    elements.len() == extents.len() && elements.iter().enumerate().all(is_extent)
}

fn verify_reshape(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let op = ReshapeOp(op);
    let (from, to) = (m.value_type(op.source(m)), m.value_type(op.result(m)));
    if ctx.element_type(from) != ctx.element_type(to) {
        return Err("element types of source and destination tensor types should be the same".into());
    }
    let count = |ty| ctx.static_shape(ty).map(|s| s.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
    if let (Some(a), Some(b)) = (count(from), count(to))
        && a != b
    {
        return Err("source and destination tensor should have the same number of elements".into());
    }
    let (TypeData::Tensor { shape: want, .. }, [length]) = (ctx.type_data(to), shape(ctx, m.value_type(op.shape(m))))
    else {
        return Ok(());
    };
    match *length {
        DYNAMIC => {
            Err("cannot use shape operand with dynamic length to reshape to statically-ranked tensor type".into())
        }
        n if n != want.len() as i64 => Err("length of shape operand differs from the result's tensor rank".into()),
        _ => Ok(()),
    }
}

fn dim(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Datum::Int(index) = data[1] else { return Err(Trap::Ub("the dimension is poison".into())) };
    let index_in = |rank: usize| usize::try_from(index).ok().filter(|&i| i < rank);
    // The elements may be poison; a poison tensor of a dynamic type has unknown extents.
    let Some(shape) = data[0].shape() else {
        let dims = args.ctx().shape(args.operand_type(0)).unwrap_or(&[]);
        return match index_in(dims.len()).map(|i| dims[i]) {
            None => Err(Trap::Ub(format!("the tensor has no dimension {index}"))),
            Some(DYNAMIC) => Ok(vec![Datum::Poison]),
            Some(extent) => Ok(vec![Datum::Int(extent)]),
        };
    };
    let extent = index_in(shape.len()).map(|i| shape[i]);
    let extent = extent.ok_or_else(|| Trap::Ub(format!("the tensor has no dimension {index}")))?;
    Ok(vec![Datum::Int(extent as i64)])
}

fn reshape(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (tensor, sizes) = (data[0].tensor()?, data[1].tensor()?.to_i64());
    let shape = data::extents(&sizes.ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?)?;
    let reshaped = tensor.reshape(shape).map_err(|_| Trap::Ub("a reshape to another number of elements".into()))?;
    Ok(vec![Datum::Tensor(reshaped)])
}
