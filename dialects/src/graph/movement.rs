//! Ops that move elements: transposing, joining, cutting, repeating, padding.

use super::args::{Inputs, choice, int, list, one, unary, variadic};
use super::kernels::shape::{normalize_axes, normalize_axis, pad_dims, slice_axis, split_sizes};
use super::kernels::{self, PadMode};
use super::reshape::fold_same_shape;
use super::unary::checked;
use super::{GENERIC, infer};
use crate::constraint::{I64, I64_ARRAY, I64_TENSOR, INT_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, DYNAMIC, Folded, OpArgs, OpDecl, OpInfo, Traits, op};

/// Reorders axes: axis `i` of the result is axis `perm[i]` of the operand. Without `perm` axes are reversed.
///
/// ```mlir
/// %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
/// ```
#[op(
    "graph.transpose",
    format = GENERIC,
    infer = infer_transpose,
    fold = fold_transpose,
    eval = |args, data| unary(data, |x| kernels::transpose(x, &list(args, "perm")))
)]
pub struct TransposeOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// The operand's axes in their new order.
    perm: OptAttribute<I64_ARRAY>,
    /// The operand with its axes reordered.
    y: OpResult<TENSOR>,
}

/// The permutation of the axes of an operand of that rank.
fn permutation(args: &OpArgs<'_>, rank: usize) -> Result<Vec<usize>, String> {
    let perm = list(args, "perm");
    if perm.is_empty() {
        return Ok((0..rank).rev().collect());
    }
    if perm.len() != rank {
        return Err(format!("attribute 'perm' should permute {rank} axes, but has {} entries", perm.len()));
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

/// A transposition that changes nothing, by itself or together with the one before it.
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

/// Joins operands along an axis.
///
/// ```mlir
/// %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
/// ```
#[op(
    "graph.concat",
    format = GENERIC,
    infer = infer_concat,
    fold = fold_concat,
    eval = |args, data| variadic(data, |x| kernels::concat(x, int(args, "axis")?))
)]
pub struct ConcatOp {
    /// The operands, at least one, which agree in all extents but one.
    inputs: Operands<TENSOR>,
    /// The axis along which they are joined.
    axis: Attribute<I64>,
    /// All of them.
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
            return Err("requires operands of one rank".into());
        }
        along.push(shape[axis]);
        for (i, &d) in shape.iter().enumerate().filter(|&(i, _)| i != axis) {
            out[i] = infer::unify(out[i], d)?;
        }
    }
    out[axis] = total(along.into_iter());
    infer::one(args, Some(out), elem)
}

/// The sum of extents, unknown when one of them is.
fn total(mut dims: impl Iterator<Item = i64>) -> i64 {
    let sum = dims.try_fold(0i64, |sum, d| if d == DYNAMIC { None } else { sum.checked_add(d) });
    sum.unwrap_or(DYNAMIC)
}

fn fold_concat(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    match args.operands {
        &[x] => super::same_as(args, x),
        _ => None,
    }
}

/// Cuts a tensor into parts along an axis.
///
/// The parts have the extents in `split`, or are `num_outputs` (or as many as there are results) equal ones, of which the
/// last may be smaller.
///
/// ```mlir
/// %y:2 = graph.split %x {num_outputs = 2 : i64} : (tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
/// ```
#[op("graph.split", format = GENERIC, infer = infer_split, fold = fold_split, eval = split)]
pub struct SplitOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// The extents of the parts.
    split: OptOperand<I64_TENSOR>,
    /// The axis along which to cut.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// The number of parts.
    num_outputs: OptAttribute<I64>,
    /// The parts.
    outputs: OpResults<TENSOR>,
}

/// The number of parts.
fn parts(args: &OpArgs<'_>) -> Result<usize, String> {
    let given = args.int("num_outputs").and_then(infer::known);
    let count = match args.result_types.len() {
        0 => given.or_else(|| infer::list_len(args, "split")),
        n => Some(n),
    };
    let count = count.filter(|n| (1..=MAX_PARTS).contains(n));
    let count = count.ok_or("requires 'num_outputs', or a 'split' of known length, to infer the number of results")?;
    if given.is_some_and(|g| g != count) {
        return Err(format!("has {count} results, which is not 'num_outputs'"));
    }
    Ok(count)
}

/// More results than this are a mistake.
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
        return Err(format!("cannot split an extent of {} into {sizes:?}", infer::display(&[extent])));
    }
    let mut part = |i: usize| {
        dims[axis] = sizes.as_ref().map_or(DYNAMIC, |s| s[i]);
        infer::tensor(args, Some(dims.clone()), elem)
    };
    Ok((0..count).map(&mut part).collect())
}

fn fold_split(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    super::same_as(args, args.opt_operand("x")?)
}

fn split(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, axis) = (i.get("x")?, int(args, "axis")?);
    let sizes = match i.ints("split")? {
        Some(sizes) => infer::all_known(&sizes).ok_or_else(|| Trap::unsupported("a split into negative extents"))?,
        None => split_sizes(x.shape()[normalize_axis(axis, x.rank())?], parts(args)?)?,
    };
    Ok(kernels::split(x, axis, &sizes)?.into_iter().map(Datum::Tensor).collect())
}

/// A part of a tensor: along each axis from a start to an end (exclusive) by a step.
///
/// Starts and ends are clamped, and negative ones count from the back. Without `axes` they are for the leading ones.
///
/// ```mlir
/// %y = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x?xf32>
/// ```
#[op(
    "graph.slice",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $starts `,` $ends (`axes` $axes^)? (`steps` $steps^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_slice,
    eval = slice
)]
pub struct SliceOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// Where to start, for each axis.
    starts: Operand<INT_TENSOR>,
    /// Where to stop.
    ends: Operand<INT_TENSOR>,
    /// The axes; the others are kept whole.
    axes: OptOperand<INT_TENSOR>,
    /// By how much to step; 1 when absent.
    steps: OptOperand<INT_TENSOR>,
    /// The part.
    y: OpResult<TENSOR>,
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
        return Err("requires as many starts, ends, axes and steps".into());
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
    let (axes, steps) = (axes?.unwrap_or_default(), steps?.unwrap_or_default());
    one(kernels::slice(i.get("x")?, &starts?.unwrap_or_default(), &ends?.unwrap_or_default(), &axes, &steps))
}

/// A tensor that broadcasts with the given shape.
///
/// ```mlir
/// %y = graph.expand %x, %shape : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x3xf32>
/// ```
#[op("graph.expand", format = GENERIC, infer = infer_expand, fold = fold_same_shape, eval = expand)]
pub struct ExpandOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// The shape, in which 1 keeps the operand's extent.
    shape: Operand<I64_TENSOR>,
    /// The operand, repeated where it has an extent of 1.
    y: OpResult<TENSOR>,
}

fn infer_expand(args: &OpArgs<'_>) -> infer::Types {
    let shape = infer::ints(args, "shape").or_else(|| infer::list_len(args, "shape").map(infer::unknown));
    if shape.as_ref().is_some_and(|s| s.iter().any(|&d| d < 0 && d != DYNAMIC)) {
        return Err("cannot expand to negative extents".into());
    }
    infer::one(args, infer::broadcast([infer::dims(args, "x"), shape])?, infer::elem(args, "x")?)
}

fn expand(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::expand(i.get("x")?, &i.ints("shape")?.unwrap_or_default()))
}

/// Repeats a tensor along every axis.
///
/// ```mlir
/// %y = graph.tile %x, %repeats : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
/// ```
#[op("graph.tile", format = GENERIC, infer = infer_tile, eval = tile)]
pub struct TileOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// How often, for each axis.
    repeats: Operand<I64_TENSOR>,
    /// The repeated operand.
    y: OpResult<TENSOR>,
}

fn infer_tile(args: &OpArgs<'_>) -> infer::Types {
    let (elem, dims) = (infer::elem(args, "x")?, infer::dims(args, "x"));
    let rank = dims.as_ref().map(Vec::len).or_else(|| infer::list_len(args, "repeats"));
    let Some(repeats) = infer::ints(args, "repeats") else { return infer::one(args, rank.map(infer::unknown), elem) };
    let dims = dims.unwrap_or_else(|| infer::unknown(repeats.len()));
    if repeats.len() != dims.len() || repeats.iter().any(|&r| r < 0) {
        return Err(format!("cannot repeat {} by {repeats:?}", infer::display(&dims)));
    }
    let out = dims.iter().zip(&repeats).map(|(&d, &r)| infer::map(d, |d| d.checked_mul(r))).collect();
    infer::one(args, Some(out), elem)
}

fn tile(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::tile(i.get("x")?, &i.ints("repeats")?.unwrap_or_default()))
}

/// Adds elements at the edges of a tensor, or removes them.
///
/// The pads are all begins, then all ends; negative ones crop. What is added is a constant (0 when absent), the mirrored
/// elements, the edge, or the elements from the other end.
///
/// ```mlir
/// %y = graph.pad %x, %pads value %v : (tensor<4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<?xf32>
/// ```
#[op(
    "graph.pad",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $pads (`value` $constant_value^)? (`axes` $axes^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_pad,
    eval = pad,
    verify = |m, op| checked(m, op, pad_mode)
)]
pub struct PadOp {
    /// The operand.
    x: Operand<TENSOR>,
    /// How many elements to add.
    pads: Operand<I64_TENSOR>,
    /// The constant, a scalar.
    constant_value: OptOperand<TENSOR>,
    /// The axes that the pads are for; all when absent.
    axes: OptOperand<INT_TENSOR>,
    /// `constant`, `reflect`, `edge` or `wrap`.
    #[default = "\"constant\""]
    mode: OptAttribute<STRING>,
    /// The padded operand.
    y: OpResult<TENSOR>,
}

fn pad_mode(args: &OpArgs<'_>) -> Result<PadMode, String> {
    let modes = [
        ("constant", PadMode::Constant),
        ("reflect", PadMode::Reflect),
        ("edge", PadMode::Edge),
        ("wrap", PadMode::Wrap),
    ];
    choice(args, "mode", &modes)
}

fn infer_pad(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "constant_value"])?;
    let Some(mut dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let rank = dims.len();
    let axes = match args.opt_operand("axes") {
        None => Some((0..rank).collect()),
        Some(_) => infer::ints(args, "axes").map(|a| normalize_axes(&a, rank)).transpose()?,
    };
    let Some(axes) = axes else { return infer::one(args, Some(infer::unknown(rank)), elem) };
    let Some(pads) = infer::ints(args, "pads") else {
        axes.iter().for_each(|&a| dims[a] = DYNAMIC);
        return infer::one(args, Some(dims), elem);
    };
    if pads.len() != axes.len() * 2 {
        return Err(format!("requires two pads for each of {} axes, not {}", axes.len(), pads.len()));
    }
    if let Some(known) = infer::all_known(&dims) {
        return infer::one(args, Some(infer::extents(&pad_dims(&known, &pads, &axes)?)), elem);
    }
    for (i, &axis) in axes.iter().enumerate() {
        dims[axis] =
            infer::map(dims[axis], |d| d.checked_add(pads[i])?.checked_add(pads[i + axes.len()]).filter(|&d| d >= 0));
    }
    infer::one(args, Some(dims), elem)
}

fn pad(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (pads, axes) = (i.ints("pads")?.unwrap_or_default(), i.ints("axes")?);
    if axes.as_ref().is_some_and(Vec::is_empty) && pads.is_empty() {
        // To the kernel an empty list is an absent one, which means all axes.
        return one(Ok(i.get("x")?.clone()));
    }
    one(kernels::pad(i.get("x")?, &pads, &axes.unwrap_or_default(), pad_mode(args)?, i.opt("constant_value")?))
}

/// Moves blocks of channels of `[N, C, H, W]` into space.
///
/// ```mlir
/// %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
/// ```
#[op(
    "graph.depth_to_space",
    format = GENERIC,
    infer = infer_depth_to_space,
    eval = |args, data| unary(data, |x| kernels::depth_to_space(x, int(args, "blocksize")?, column_major(args)?)),
    verify = |m, op| checked(m, op, |args| block(args).and(column_major(args)))
)]
pub struct DepthToSpaceOp {
    /// The operand, `[N, C, H, W]`.
    x: Operand<TENSOR>,
    /// The extents of a block.
    blocksize: Attribute<I64>,
    /// `DCR` when depth is the inner part of the channels, `CRD` when it is the outer one.
    #[default = "\"DCR\""]
    mode: OptAttribute<STRING>,
    /// The rearranged operand.
    y: OpResult<TENSOR>,
}

fn column_major(args: &OpArgs<'_>) -> Result<bool, String> {
    choice(args, "mode", &[("DCR", false), ("CRD", true)])
}

/// The extent of a block.
fn block(args: &OpArgs<'_>) -> Result<i64, String> {
    let block = int(args, "blocksize")?;
    if (1..1 << 16).contains(&block) { Ok(block) } else { Err("attribute 'blocksize' is out of range".into()) }
}

/// The extents `[N, C, H, W]` of the operand.
fn image(args: &OpArgs<'_>) -> Result<[i64; 4], String> {
    let Some(dims) = infer::dims(args, "x") else { return Ok([DYNAMIC; 4]) };
    let wrong = || format!("requires an operand of [N, C, H, W], not {}", infer::display(&dims));
    <[i64; 4]>::try_from(dims.as_slice()).map_err(|_| wrong())
}

/// The extent divided by `by`, when it is known; it must be a multiple.
fn divided(dim: i64, by: i64) -> Result<i64, String> {
    match dim {
        DYNAMIC => Ok(DYNAMIC),
        d if d % by == 0 => Ok(d / by),
        d => Err(format!("an extent of {d} is not a multiple of {by}")),
    }
}

fn infer_depth_to_space(args: &OpArgs<'_>) -> infer::Types {
    let ([n, c, h, w], b) = (image(args)?, block(args)?);
    let grow = |d: i64| infer::map(d, |d| d.checked_mul(b));
    infer::one(args, Some(vec![n, divided(c, b * b)?, grow(h), grow(w)]), infer::elem(args, "x")?)
}

/// Moves blocks of space of `[N, C, H, W]` into channels.
///
/// ```mlir
/// %y = graph.space_to_depth %x {blocksize = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
/// ```
#[op(
    "graph.space_to_depth",
    format = GENERIC,
    infer = infer_space_to_depth,
    eval = |args, data| unary(data, |x| kernels::space_to_depth(x, int(args, "blocksize")?, false)),
    verify = |m, op| checked(m, op, block)
)]
pub struct SpaceToDepthOp {
    /// The operand, `[N, C, H, W]`.
    x: Operand<TENSOR>,
    /// The extents of a block.
    blocksize: Attribute<I64>,
    /// The rearranged operand.
    y: OpResult<TENSOR>,
}

fn infer_space_to_depth(args: &OpArgs<'_>) -> infer::Types {
    let ([n, c, h, w], b) = (image(args)?, block(args)?);
    let depth = infer::map(c, |c| c.checked_mul(b * b));
    infer::one(args, Some(vec![n, depth, divided(h, b)?, divided(w, b)?]), infer::elem(args, "x")?)
}

/// The ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    TransposeOp::INFO,
    ConcatOp::INFO,
    SplitOp::INFO,
    SliceOp::INFO,
    ExpandOp::INFO,
    TileOp::INFO,
    PadOp::INFO,
    DepthToSpaceOp::INFO,
    SpaceToDepthOp::INFO,
]];
