//! Creation of tensors from sizes and scalars.

use super::cast::{CastOp, replace_and_cast};
use super::types::{STATIC_TENSOR, dynamic_dims, keeps_extents, ranked_element, shape, with_shape};
use super::{data, names};
use crate::constraint::{ANY, INDEX, RANKED_TENSOR};
use crate::views::{Mixed, fold_entries, split};
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::{
    Attr, Context, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter,
    Type, TypeRelation, Value, Violation, op,
};

/// Tensor of a shape with uninitialized elements, which are poison.
///
/// ```mlir
/// %0 = tensor.empty(%n) : tensor<4x?xf32>
/// ```
#[op(
    "tensor.empty",
    verify = |m, op| verify_sizes(m, EmptyOp(op).dynamic_sizes(m).len(), EmptyOp(op).result(m)),
    eval = |args, sizes| Ok(vec![uninitialized(args, sizes)?]),
    patterns = &[CONSTANT_SIZES],
    format = "`(` $dynamicSizes `)` attr-dict `:` type($result)"
)]
pub struct EmptyOp {
    /// Dynamic extents.
    #[name = "dynamicSizes"]
    dynamic_sizes: Operands<INDEX>,
    /// Uninitialized tensor.
    result: OpResult<RANKED_TENSOR>,
}

/// Tensor with all elements equal to a scalar.
///
/// ```mlir
/// %0 = tensor.splat %s[%n] : tensor<4x?xf32>
/// ```
#[op(
    "tensor.splat",
    effects = Effects::MayUb,
    speculatable = |m, op| SplatOp(op).dynamic_sizes(m).is_empty(),
    relations = &[TypeRelation::Derived {
        to: "input",
        from: "aggregate",
        of: ranked_element,
        summary: "operand type matches element type of result",
    }],
    verify = |m, op| verify_sizes(m, SplatOp(op).dynamic_sizes(m).len(), SplatOp(op).aggregate(m)),
    fold = fold_splat,
    eval = splat,
    moves = &["input"],
    result_names = |_, _| names("splat"),
    format = "$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)"
)]
pub struct SplatOp {
    /// Value of every element.
    input: Operand<ANY>,
    /// Dynamic extents.
    #[name = "dynamicSizes"]
    dynamic_sizes: Operands<INDEX>,
    /// Tensor of equal elements.
    aggregate: OpResult<RANKED_TENSOR>,
}

/// Tensor of scalars in row-major order.
///
/// ```mlir
/// %0 = tensor.from_elements %a, %b : tensor<2xf32>
/// ```
#[op(
    "tensor.from_elements",
    relations = &[TypeRelation::Derived {
        to: "elements",
        from: "result",
        of: ranked_element,
        summary: MATCHING,
    }],
    verify = verify_from_elements,
    fold = fold_from_elements,
    eval = from_elements,
    moves = &["elements"],
    result_names = |_, _| names("from_elements"),
    format = "$elements attr-dict `:` type($result)"
)]
pub struct FromElementsOp {
    /// Elements.
    elements: Operands<ANY>,
    /// Tensor of the elements.
    result: OpResult<STATIC_TENSOR>,
}

const MATCHING: &str = "operand types match result element type";

/// Makes constant sizes static.
const CONSTANT_SIZES: Pattern = Pattern { name: "constant sizes", run: constant_sizes };

/// Propagates the static extents of a cast into `tensor.empty`.
pub(super) const CAST_OF_EMPTY: Pattern = Pattern { name: "cast of empty", run: cast_of_empty };

/// Verifies the number of sizes against the dynamic extents of `result`.
pub(super) fn verify_sizes(m: &Module, given: usize, result: Value) -> Result<(), Violation> {
    let needed = dynamic_dims(shape(&m.ctx, m.value_type(result)));
    if given == needed {
        return Ok(());
    }
    Err(format!("incorrect number of dynamic sizes, has {given}, expected {needed}").into())
}

fn verify_from_elements(m: &Module, op: Op) -> Result<(), Violation> {
    let op = FromElementsOp(op);
    let count = shape(&m.ctx, m.value_type(op.result(m))).iter().fold(1i64, |n, &d| n.saturating_mul(d));
    if count == op.elements(m).len() as i64 { Ok(()) } else { Err(format!("failed to verify that {MATCHING}").into()) }
}

/// Returns the extents of `ty`, with dynamic ones taken from `sizes`.
fn mixed_sizes(ctx: &Context, ty: Type, sizes: &[Value]) -> Vec<Mixed> {
    let mut sizes = sizes.iter();
    let entry = |&d: &i64| match if d == DYNAMIC { sizes.next() } else { None } {
        Some(&size) => Mixed::Dynamic(size),
        None => Mixed::Static(d),
    };
    shape(ctx, ty).iter().map(entry).collect()
}

/// Makes constant sizes of `ty` static; returns the type and remaining values, or `None` if nothing changes.
pub(super) fn folded_sizes(m: &Module, ty: Type, sizes: &[Value]) -> Option<(Type, Vec<Value>)> {
    let mut list = mixed_sizes(&m.ctx, ty, sizes);
    if !fold_entries(m, &mut list, false) {
        return None;
    }
    let (shape, values) = split(&list);
    Some((with_shape(&m.ctx, ty, &shape), values))
}

fn constant_sizes(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let Some((ty, values)) = folded_sizes(m, ty, &EmptyOp(op).dynamic_sizes(m)) else { return false };
    let state = empty(m, op, &values, ty);
    replace_and_cast(r, op, state)
}

fn empty(m: &Module, at: Op, sizes: &[Value], ty: Type) -> OpState {
    let mut state = OpState::new(&m.ctx, EmptyOp::INFO.name, m.loc(at));
    state.operand_group(sizes);
    state.result_types.push(ty);
    state
}

fn cast_of_empty(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let cast = CastOp(op);
    let Some(source) = EmptyOp::defining(m, cast.source(m)) else { return false };
    let (from, to) = (m.value_type(cast.source(m)), m.value_type(cast.dest(m)));
    if !keeps_extents(&m.ctx, from, to) {
        return false;
    }
    let open = mixed_sizes(&m.ctx, from, &source.dynamic_sizes(m)).into_iter().zip(shape(&m.ctx, to));
    let open: Vec<Mixed> = open.filter(|(_, d)| **d == DYNAMIC).map(|(entry, _)| entry).collect();
    let state = empty(m, op, &split(&open).1, to);
    r.replace_with(op, state).is_ok()
}

/// Folds a splat of a constant, of any number of elements.
fn fold_splat(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    data::splat_constant(args.ctx(), constants[0]?, *args.result_types.first()?).map(Folded::from)
}

/// Folds constant scalars to a dense constant, for any numeric element type.
fn fold_from_elements(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let elements: Option<Vec<Attr>> = constants.iter().copied().collect();
    data::constant_of(args.ctx(), &elements?, *args.result_types.first()?).map(Folded::from)
}

/// Returns a tensor of poison elements; poison as a whole for extents that no tensor has.
fn uninitialized(args: &OpArgs<'_>, sizes: &[Datum]) -> Result<Datum, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let shape = match data::sizes_of(ctx, ty, sizes) {
        Err(Trap::Ub(_)) => return Ok(Datum::Poison),
        shape => shape?,
    };
    let elements = data::dtype(ctx, ty).ok().and_then(|dtype| PoisonTensor::all(dtype, &shape));
    Ok(elements.unwrap_or(Datum::Poison))
}

fn splat(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let shape = data::sizes_of(ctx, ty, &data[1..])?;
    let one = Datum::from_elements(data::dtype(ctx, ty)?, &[], &data[..1])?;
    let count = shape.iter().product();
    Ok(vec![Datum::Tensor(data::take(one.tensor()?, &shape, std::iter::repeat_n(0, count)))])
}

fn from_elements(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let shape = data::sizes_of(ctx, ty, &[])?;
    Ok(vec![Datum::from_elements(data::dtype(ctx, ty)?, &shape, data)?])
}
