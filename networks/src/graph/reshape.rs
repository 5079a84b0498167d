//! Ops that keep all elements in order and change the shape at most.

use super::args::{Inputs, int, one, unary};
use super::{GENERIC, infer};
use gradus_dialects::constraint::{BOOL_TENSOR, FLOAT_TENSOR, I64, I64_TENSOR, TENSOR};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, DYNAMIC, FoldResult, Folded, OpArgs, OpDecl, OpInfo, Tensor, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis};

/// Folds an op that keeps the order of elements to its operand, if the static type stays.
pub(super) fn fold_same_shape(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let x = *args.operands.first()?;
    args.ctx().static_shape(args.module.value_type(x))?;
    super::same_as(args, x)
}

/// Folds an op to its operand, if the type stays.
fn fold_to_operand(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    super::same_as(args, *args.operands.first()?)
}

/// Identity.
///
/// ```mlir
/// %y = graph.identity %x : tensor<4xf32>
/// ```
#[op(
    "graph.identity",
    extensions = &[&DeclaredCost::VIEW],
    traits = Traits::SAME_TYPE.and(Traits::ELEMENTWISE).and(Traits::IDEMPOTENT),
    format = "$x attr-dict `:` type($y)",
    infer = infer::same,
    fold = fold_to_operand,
    eval = |_, data| Ok(data.to_vec())
)]
pub struct IdentityOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// The operand, unchanged.
    y: OpResult<TENSOR>,
}

/// Dropout. In inference, the identity with an all-true mask; in training, zeroes random elements and scales the rest.
///
/// ```mlir
/// %y = graph.dropout %x ratio %r : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
/// ```
#[op(
    "graph.dropout",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x (`ratio` $ratio^)? (`training` $training_mode^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_dropout,
    fold = fold_dropout,
    eval = dropout
)]
pub struct DropoutOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Fraction of elements to drop in training.
    ratio: OptOperand<FLOAT_TENSOR>,
    /// Whether to drop elements, a scalar; false when absent.
    training_mode: OptOperand<BOOL_TENSOR>,
    /// Random seed; 0 when absent.
    seed: OptAttribute<I64>,
    /// Elements that are kept, scaled by 1 / (1 - ratio) in training.
    y: OpResult<FLOAT_TENSOR>,
    /// Mask of the elements that are kept.
    mask: OptResult<BOOL_TENSOR>,
}

fn infer_dropout(args: &OpArgs<'_>) -> infer::Types {
    let mut types = infer::same(args)?;
    if args.result_types.len() > 1 {
        types.push(args.ctx().with_element(types[0], Type::I1));
    }
    Ok(types)
}

fn fold_dropout(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let training = args.opt_operand("training_mode").is_some();
    if training && infer::always(args, "training_mode")?.to_i64()?.iter().any(|&v| v != 0) {
        return None;
    }
    let x = args.opt_operand("x")?;
    let &[ty, mask] = args.result_types else { return super::same_as(args, x) };
    // Inference keeps all elements.
    let ctx = args.ctx();
    let is_known = ctx.static_shape(mask).is_some_and(|shape| !shape.contains(&0)) && args.module.value_type(x) == ty;
    let all = ctx.dense_attr(mask, &Tensor::from_bools(&[1], vec![1]));
    is_known.then(|| Folded::Results(vec![FoldResult::Value(x), FoldResult::Attr(all)]))
}

fn dropout(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    if i.int("training_mode")?.unwrap_or(0) != 0 {
        let ratio = i.opt("ratio")?.map_or(Ok(0.5), kernels::ratio_of)?;
        let seed = args.int("seed").unwrap_or(0);
        return super::args::several(args, kernels::dropout(i.get("x")?, ratio, seed)?);
    }
    let x = i.get("x")?;
    let mask = Tensor::from_bools(x.shape(), vec![1; x.len()]);
    super::args::several(args, [x.clone(), mask])
}

/// Reshapes a tensor.
///
/// One extent of -1 is inferred. An extent of 0 copies that of the operand, unless `allowzero`.
///
/// ```mlir
/// %y = graph.reshape %x, %shape : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<8x3xf32>
/// ```
#[op("graph.reshape", extensions = &[&DeclaredCost::VIEW], format = GENERIC, infer = infer_reshape, fold = fold_same_shape, moves = &["x"], eval = reshape)]
pub struct ReshapeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Target extents.
    shape: Operand<I64_TENSOR>,
    /// Whether 0 denotes an extent of 0.
    #[default = "0 : i64"]
    allowzero: OptAttribute<I64>,
    /// Reshaped operand.
    y: OpResult<TENSOR>,
}

fn infer_reshape(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(wanted) = infer::ints(args, "shape") else {
        return infer::one(args, infer::list_len(args, "shape").map(infer::unknown), elem);
    };
    let dims = reshaped(&infer::dims(args, "x"), &wanted, args.flag("allowzero"))?;
    infer::one(args, Some(dims), elem)
}

fn reshaped(x: &infer::Dims, wanted: &[i64], allow_zero: bool) -> Result<Vec<i64>, Violation> {
    if let Some(known) = x.as_deref().and_then(infer::all_known) {
        return Ok(infer::extents(&kernels::shape::reshape_dims(&known, wanted, allow_zero)?));
    }
    let copied = |i: usize, d: i64| d == 0 && !allow_zero && x.as_ref().is_none_or(|x| i < x.len());
    let dim = |(i, &d): (usize, &i64)| match d {
        -1 => DYNAMIC,
        _ if copied(i, d) => x.as_ref().map_or(DYNAMIC, |x| x[i]),
        d => d,
    };
    let mut out: Vec<i64> = wanted.iter().enumerate().map(dim).collect();
    if wanted.iter().any(|&d| d < -1) || wanted.iter().filter(|&&d| d == -1).count() > 1 {
        return Err(format!("cannot reshape to {wanted:?}").into());
    }
    // Copied extents cancel out, so they may be unknown.
    if let (Some(x), Some(at)) = (x, wanted.iter().position(|&d| d == -1)) {
        let is_copied = |i: &usize| wanted.get(*i).is_some_and(|&d| copied(*i, d));
        let rest = |dims: &[i64], skip: Option<usize>| -> i64 {
            let kept = (0..dims.len()).filter(|i| !is_copied(i) && Some(*i) != skip);
            infer::product(&kept.map(|i| dims[i]).collect::<Vec<_>>())
        };
        let (total, given) = (rest(x, None), rest(&out, Some(at)));
        if total != DYNAMIC && given > 0 {
            if total % given != 0 {
                return Err(format!("{} cannot be reshaped to {wanted:?}", infer::display(x)).into());
            }
            out[at] = total / given;
        }
    }
    Ok(out)
}

fn reshape(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let shape = i.ints("shape")?.unwrap_or_default();
    one(kernels::reshape(i.get("x")?, &shape, args.flag("allowzero")))
}

/// Flattens a tensor to a matrix: the axes before `axis` are rows, the others columns.
///
/// ```mlir
/// %y = graph.flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
/// ```
#[op(
    "graph.flatten",
    extensions = &[&DeclaredCost::VIEW],
    format = GENERIC,
    infer = infer_flatten,
    fold = fold_same_shape,
    moves = &["x"],
    eval = |args, data| unary(data, |x| kernels::flatten(x, int(args, "axis")?))
)]
pub struct FlattenOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// First axis of the columns, up to the rank.
    #[default = "1 : i64"]
    axis: OptAttribute<I64>,
    /// Flattened matrix.
    y: OpResult<TENSOR>,
}

fn infer_flatten(args: &OpArgs<'_>) -> infer::Types {
    let (axis, elem) = (int(args, "axis")?, infer::elem(args, "x")?);
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, Some(infer::unknown(2)), elem) };
    let rank = dims.len();
    let at = if infer::known(axis) == Some(rank) { rank } else { normalize_axis(axis, rank)? };
    infer::one(args, Some(vec![infer::product(&dims[..at]), infer::product(&dims[at..])]), elem)
}

/// Removes axes of extent 1: the given ones, or all.
///
/// ```mlir
/// %y = graph.squeeze %x, %axes : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
/// ```
#[op("graph.squeeze", extensions = &[&DeclaredCost::VIEW], format = GENERIC, infer = infer_squeeze, fold = fold_same_shape, moves = &["x"], eval = squeeze)]
pub struct SqueezeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Axes to remove.
    axes: OptOperand<I64_TENSOR>,
    /// Squeezed operand.
    y: OpResult<TENSOR>,
}

fn infer_squeeze(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    if args.opt_operand("axes").is_none() {
        let kept = || dims.iter().copied().filter(|&d| d != 1).collect();
        return infer::one(args, infer::all_known(&dims).map(|_| kept()), elem);
    }
    let Some(axes) = infer::ints(args, "axes") else {
        let rank = infer::list_len(args, "axes").map(|n| dims.len().checked_sub(n).ok_or("has too many axes"));
        return infer::one(args, rank.transpose()?.map(infer::unknown), elem);
    };
    let axes = normalize_axes(&axes, dims.len())?;
    if let Some(&a) = axes.iter().find(|&&a| infer::unify(dims[a], 1).is_err()) {
        return Err(format!("axis {a} of {} cannot be squeezed", infer::display(&dims)).into());
    }
    let kept = dims.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &d)| d).collect();
    infer::one(args, Some(kept), elem)
}

fn squeeze(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::squeeze(i.get("x")?, i.ints("axes")?.as_deref()))
}

/// Inserts axes of extent 1 at the given positions in the result.
///
/// ```mlir
/// %y = graph.unsqueeze %x, %axes : (tensor<3xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
/// ```
#[op("graph.unsqueeze", extensions = &[&DeclaredCost::VIEW], format = GENERIC, infer = infer_unsqueeze, fold = fold_same_shape, moves = &["x"], eval = unsqueeze)]
pub struct UnsqueezeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Axes to insert.
    axes: Operand<I64_TENSOR>,
    /// Unsqueezed operand.
    y: OpResult<TENSOR>,
}

fn infer_unsqueeze(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let Some(axes) = infer::ints(args, "axes") else {
        let rank = infer::list_len(args, "axes").map(|n| n + dims.len());
        return infer::one(args, rank.map(infer::unknown), elem);
    };
    let axes = normalize_axes(&axes, dims.len() + axes.len())?;
    let mut rest = dims.iter().copied();
    let dim = |i: usize| if axes.contains(&i) { 1 } else { rest.next().unwrap_or(1) };
    infer::one(args, Some((0..dims.len() + axes.len()).map(dim).collect()), elem)
}

fn unsqueeze(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::unsqueeze(i.get("x")?, &i.ints("axes")?.unwrap_or_default()))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[&[IdentityOp::INFO, DropoutOp::INFO, ReshapeOp::INFO, FlattenOp::INFO, SqueezeOp::INFO, UnsqueezeOp::INFO]];
