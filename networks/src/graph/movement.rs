//! Ops that move elements: transposition, concatenation, splitting, slicing.

use super::args::{Inputs, int, list, one, unary, variadic};
use super::{GENERIC, infer, parts};
use gradus_dialects::constraint::{I64, I64_ARRAY, I64_TENSOR, INT_TENSOR, TENSOR};
use gradus_dialects::op_cost::{DeclaredCost, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, DYNAMIC, Folded, OpArgs, OpDecl, OpInfo, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis, slice_axis, split_sizes};

/// Transposition: axis `i` of the result is axis `perm[i]` of the operand. Reverses all axes without `perm`.
///
/// ```mlir
/// %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
/// ```
#[op(
    "graph.transpose",
    extensions = &[&DeclaredCost::MOVE],
    format = GENERIC,
    infer = infer_transpose,
    fold = fold_transpose,
    moves = &["x"],
    eval = |args, data| unary(data, |x| kernels::transpose(x, &list(args, "perm")))
)]
pub struct TransposeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Permutation of the axes.
    perm: OptAttribute<I64_ARRAY>,
    /// Transposed operand.
    y: OpResult<TENSOR>,
}

/// Returns the permutation for an operand of rank `rank`.
fn permutation(args: &OpArgs<'_>, rank: usize) -> Result<Vec<usize>, Violation> {
    let perm = list(args, "perm");
    if perm.is_empty() {
        return Ok((0..rank).rev().collect());
    }
    if perm.len() != rank {
        return Err(format!("attribute 'perm' should permute {rank} axes, but has {} entries", perm.len()).into());
    }
    normalize_axes(&perm, rank)
}

fn infer_transpose(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let perm = list(args, "perm");
    let dims = match infer::dims(args, "x") {
        None if perm.is_empty() => return infer::one(args, None, elem),
        dims => dims.unwrap_or_else(|| infer::unknown(perm.len())),
    };
    let perm = permutation(args, dims.len())?;
    infer::one(args, Some(perm.iter().map(|&p| dims[p]).collect()), elem)
}

/// Folds an identity transposition, alone or composed with its producer.
fn fold_transpose(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let x = args.opt_operand("x")?;
    let rank = args.ctx().shape(args.module.value_type(x))?.len();
    let perm = permutation(args, rank).ok()?;
    let is_identity = |p: &[usize]| p.iter().copied().eq(0..rank);
    if is_identity(&perm) {
        return super::same_as(args, x);
    }
    let before = TransposeOp::defining(args.module, x)?;
    let first = permutation(&args.module.args(before.0)?, rank).ok()?;
    let both: Vec<usize> = perm.iter().map(|&p| first[p]).collect();
    if is_identity(&both) { super::same_as(args, before.x(args.module)) } else { None }
}

/// Concatenation along an axis.
///
/// ```mlir
/// %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
/// ```
#[op(
    "graph.concat",
    extensions = &[&DeclaredCost::MOVE],
    format = GENERIC,
    infer = infer_concat,
    fold = parts::fold_concat,
    patterns = parts::CONCAT,
    moves = &["inputs"],
    eval = |args, data| variadic(data, |x| kernels::concat(x, int(args, "axis")?))
)]
pub struct ConcatOp {
    /// Operands, at least one, with equal extents except along the axis.
    inputs: Operands<TENSOR>,
    /// Axis of the concatenation.
    axis: Attribute<I64>,
    /// Concatenated operands.
    y: OpResult<TENSOR>,
}

fn infer_concat(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["inputs"])?;
    let shapes: Vec<infer::Dims> =
        args.operands.iter().map(|&v| args.ctx().shape(args.module.value_type(v)).map(<[i64]>::to_vec)).collect();
    let Some(rank) = shapes.iter().flatten().map(Vec::len).next() else { return infer::one(args, None, elem) };
    let axis = normalize_axis(int(args, "axis")?, rank)?;
    let (mut out, mut along) = (infer::unknown(rank), Vec::with_capacity(shapes.len()));
    for shape in shapes {
        let shape = shape.unwrap_or_else(|| infer::unknown(rank));
        if shape.len() != rank {
            return Err("requires operands of the same rank".into());
        }
        along.push(shape[axis]);
        for (i, &d) in shape.iter().enumerate().filter(|&(i, _)| i != axis) {
            out[i] = infer::unify(out[i], d)?;
        }
    }
    out[axis] = total(along.into_iter());
    infer::one(args, Some(out), elem)
}

/// Returns the sum of extents; dynamic if one is.
fn total(mut dims: impl Iterator<Item = i64>) -> i64 {
    let sum = dims.try_fold(0i64, |sum, d| if d == DYNAMIC { None } else { sum.checked_add(d) });
    sum.unwrap_or(DYNAMIC)
}

/// Splits a tensor along an axis.
///
/// The extents of the parts are given by `split`; otherwise the parts, `num_outputs` or as many as results, are equal
/// except for a smaller last one.
///
/// ```mlir
/// %y:2 = graph.split %x {num_outputs = 2 : i64} : (tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
/// ```
#[op("graph.split", extensions = &[&DeclaredCost(parts_cost)], format = GENERIC, infer = infer_split, fold = parts::fold_split, moves = &["x"], eval = split)]
pub struct SplitOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Extents of the parts.
    split: OptOperand<I64_TENSOR>,
    /// Axis to split.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// Number of parts.
    num_outputs: OptAttribute<I64>,
    /// Parts.
    outputs: OpResults<TENSOR>,
}

/// Returns the cost of a split: contiguous parts are views, others are copied.
fn parts_cost(args: &OpArgs<'_>) -> OpCost {
    let whole = args.ctx().static_shape(args.operand_type(0));
    let is_run = |&part: &Type| whole.zip(args.ctx().static_shape(part)).is_some_and(|(whole, part)| run(whole, part));
    if args.result_types.iter().all(is_run) { OpCost::View } else { OpCost::moved(args) }
}

/// Whether a part is contiguous in the operand: all axes before the split axis have extent 1.
fn run(whole: &[i64], part: &[i64]) -> bool {
    let cut = whole.iter().zip(part).position(|(whole, part)| whole != part);
    cut.is_none_or(|axis| whole[..axis].iter().all(|&d| d == 1) && whole[axis + 1..] == part[axis + 1..])
}

/// Returns the number of parts.
fn parts(args: &OpArgs<'_>) -> Result<usize, Violation> {
    let given = args.int("num_outputs").and_then(infer::known);
    let count = match args.result_types.len() {
        0 => given.or_else(|| infer::list_len(args, "split")),
        n => Some(n),
    };
    let count = count.filter(|n| (1..=MAX_PARTS).contains(n));
    let count = count.ok_or("requires 'num_outputs', or a 'split' of known length, to infer the number of results")?;
    if given.is_some_and(|g| g != count) {
        return Err(format!("has {count} results, which is not 'num_outputs'").into());
    }
    Ok(count)
}

/// Maximum number of results.
const MAX_PARTS: usize = 1 << 20;

fn infer_split(args: &OpArgs<'_>) -> infer::Types {
    let (elem, count) = (infer::elem(args, "x")?, parts(args)?);
    let Some(mut dims) = infer::dims(args, "x") else {
        return Ok(vec![infer::tensor(args, None, elem); count]);
    };
    let axis = normalize_axis(int(args, "axis")?, dims.len())?;
    let extent = dims[axis];
    let sizes = match (args.opt_operand("split"), infer::known(extent)) {
        (Some(_), _) => infer::ints(args, "split"),
        (None, Some(n)) => Some(infer::extents(&split_sizes(n, count)?)),
        (None, None) => None,
    };
    if let Some(sizes) = &sizes
        && (sizes.len() != count
            || sizes.iter().any(|&s| s < 0)
            || infer::unify(total(sizes.iter().copied()), extent).is_err())
    {
        return Err(format!("cannot split an extent of {} into {sizes:?}", infer::display(&[extent])).into());
    }
    let mut part = |i: usize| {
        dims[axis] = sizes.as_ref().map_or(DYNAMIC, |s| s[i]);
        infer::tensor(args, Some(dims.clone()), elem)
    };
    Ok((0..count).map(&mut part).collect())
}

fn split(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, axis) = (i.get("x")?, int(args, "axis")?);
    let count = parts(args)?;
    let sizes = match i.ints("split")? {
        Some(sizes) => infer::all_known(&sizes).filter(|s| s.len() == count),
        None => Some(split_sizes(x.shape()[normalize_axis(axis, x.rank())?], count)?),
    };
    let sizes = sizes.ok_or_else(|| Trap::unsupported(format!("a split with a number of parts other than {count}")))?;
    Ok(kernels::split(x, axis, &sizes)?.into_iter().map(Datum::Tensor).collect())
}

/// Strided slice: along each axis from a start to an end, exclusive, by a step.
///
/// Negative starts and ends count from the end; all are clamped. Without `axes`, they apply to the leading axes.
///
/// ```mlir
/// %y = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x?xf32>
/// ```
#[op(
    "graph.slice",
    extensions = &[&DeclaredCost(slice_cost)],
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $starts `,` $ends (`axes` $axes^)? (`steps` $steps^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_slice,
    fold = parts::fold_slice,
    patterns = parts::SLICE,
    moves = &["x"],
    eval = slice
)]
pub struct SliceOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Start index per sliced axis.
    starts: Operand<INT_TENSOR>,
    /// End index per sliced axis, exclusive.
    ends: Operand<INT_TENSOR>,
    /// Sliced axes; the leading ones when absent.
    axes: OptOperand<INT_TENSOR>,
    /// Steps; 1 when absent.
    steps: OptOperand<INT_TENSOR>,
    /// Slice.
    y: OpResult<TENSOR>,
}

/// Returns the cost of a slice: a view if it has no steps and is contiguous in its operand, otherwise a copy.
fn slice_cost(args: &OpArgs<'_>) -> OpCost {
    if args.opt_operand("steps").is_none() { parts_cost(args) } else { OpCost::moved(args) }
}

fn infer_slice(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(mut dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let (starts, ends) = (infer::ints(args, "starts"), infer::ints(args, "ends"));
    let count = starts.as_ref().map(Vec::len).or_else(|| infer::list_len(args, "starts"));
    let axes = match args.opt_operand("axes") {
        None => count.map(|n| (0i64..).take(n).collect()),
        Some(_) => infer::ints(args, "axes"),
    };
    let Some(axes) = axes else { return infer::one(args, Some(infer::unknown(dims.len())), elem) };
    let steps = match args.opt_operand("steps") {
        None => Some(vec![1; axes.len()]),
        Some(_) => infer::ints(args, "steps"),
    };
    let axes = normalize_axes(&axes, dims.len())?;
    if [&starts, &ends, &steps].iter().any(|l| l.as_ref().is_some_and(|l| l.len() != axes.len())) {
        return Err("requires equal numbers of starts, ends, axes and steps".into());
    }
    for (i, &axis) in axes.iter().enumerate() {
        dims[axis] = match (infer::known(dims[axis]), &starts, &ends, &steps) {
            (Some(n), Some(starts), Some(ends), Some(steps)) => {
                i64::try_from(slice_axis(n, starts[i], ends[i], steps[i])?.1).unwrap_or(DYNAMIC)
            }
            _ => DYNAMIC,
        };
    }
    infer::one(args, Some(dims), elem)
}

fn slice(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let [starts, ends, axes, steps] = ["starts", "ends", "axes", "steps"].map(|name| i.ints(name));
    let (starts, ends, axes, steps) = (starts?.unwrap_or_default(), ends?.unwrap_or_default(), axes?, steps?);
    // The kernel treats an empty list as an absent one.
    if [&axes, &steps].iter().any(|list| list.as_ref().is_some_and(|l| l.len() != starts.len())) {
        return Err(Trap::unsupported("a slice with different numbers of starts, axes and steps"));
    }
    one(kernels::slice(i.get("x")?, &starts, &ends, &axes.unwrap_or_default(), &steps.unwrap_or_default()))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[TransposeOp::INFO, ConcatOp::INFO, SplitOp::INFO, SliceOp::INFO]];
