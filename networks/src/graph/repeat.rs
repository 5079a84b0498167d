//! Ops that repeat elements, pad, or rearrange blocks.

use super::args::{Inputs, choice, int, one, unary};
use super::reshape::fold_same_shape;
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{I64, I64_TENSOR, INT_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, Op, OpArgs, OpDecl, OpInfo, OpState, Pattern, Rewriter, Traits, Violation, op};
use gradus_reference_kernels::shape::{normalize_axes, pad_dims};
use gradus_reference_kernels::{self as kernels, PadMode};

/// Broadcasts a tensor with the given shape, in both directions.
///
/// ```mlir
/// %y = graph.expand %x, %shape : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x3xf32>
/// ```
#[op("graph.expand", extensions = &[&DeclaredCost::MOVE], format = GENERIC, infer = infer_expand, fold = fold_same_shape, moves = &["x"], eval = expand)]
pub struct ExpandOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Target shape; extent 1 keeps that of the operand.
    shape: Operand<I64_TENSOR>,
    /// Broadcast operand.
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
#[op("graph.tile", extensions = &[&DeclaredCost::MOVE], format = GENERIC, infer = infer_tile, moves = &["x"], eval = tile)]
pub struct TileOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Number of repetitions of each axis, `[rank]`.
    repeats: Operand<I64_TENSOR>,
    /// Repeated operand.
    y: OpResult<TENSOR>,
}

fn infer_tile(args: &OpArgs<'_>) -> infer::Types {
    let (elem, dims) = (infer::elem(args, "x")?, infer::dims(args, "x"));
    let rank = dims.as_ref().map(Vec::len).or_else(|| infer::list_len(args, "repeats"));
    let Some(repeats) = infer::ints(args, "repeats") else { return infer::one(args, rank.map(infer::unknown), elem) };
    let dims = dims.unwrap_or_else(|| infer::unknown(repeats.len()));
    if repeats.len() != dims.len() || repeats.iter().any(|&r| r < 0) {
        return Err(format!("cannot repeat {} by {repeats:?}", infer::display(&dims)).into());
    }
    let out = dims.iter().zip(&repeats).map(|(&d, &r)| infer::map(d, |d| d.checked_mul(r))).collect();
    infer::one(args, Some(out), elem)
}

fn tile(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::tile(i.get("x")?, &i.ints("repeats")?.unwrap_or_default()))
}

/// Pads or crops a tensor.
///
/// `pads` holds all begins, then all ends; negative values crop. The padding is a constant (0 when absent), reflected
/// elements, edge elements, or elements wrapped around from the other end.
///
/// ```mlir
/// %y = graph.pad %x, %pads value %v : (tensor<4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<?xf32>
/// ```
#[op(
    "graph.pad",
    extensions = &[&DeclaredCost::MOVE],
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $pads (`value` $constant_value^)? (`axes` $axes^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_pad,
    patterns = &[Pattern { name: "pad-with-zero", run: |r, op| drop_zero(r, op).is_some() }],
    moves = &["x", "constant_value"],
    eval = pad,
    verify = |m, op| checked(m, op, pad_mode)
)]
pub struct PadOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Number of elements to add: all begins, then all ends.
    pads: Operand<I64_TENSOR>,
    /// Padding value, a scalar.
    constant_value: OptOperand<TENSOR>,
    /// Padded axes; all when absent.
    axes: OptOperand<INT_TENSOR>,
    /// Mode: `constant`, `reflect`, `edge` or `wrap`.
    #[default = "\"constant\""]
    mode: OptAttribute<STRING>,
    /// Padded operand.
    y: OpResult<TENSOR>,
}

fn pad_mode(args: &OpArgs<'_>) -> Result<PadMode, Violation> {
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
        return Err(format!("requires two pads for each of {} axes, not {}", axes.len(), pads.len()).into());
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

/// Drops the padding value 0, which is that of a padding without one.
fn drop_zero(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let value = m.constant(PadOp::cast(m, op)?.constant_value(m)?)?;
    if !m.ctx.is_uniform(value, 0.0) {
        return None;
    }
    let mut state = OpState::with_operands_of(m, op);
    state.set_operand_group(PadOp::INFO, "constant_value", &[]);
    super::parts::replace(r, op, state)
}

fn pad(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (pads, axes) = (i.ints("pads")?.unwrap_or_default(), i.ints("axes")?);
    // The kernel treats an empty list as an absent one, that is, as all axes.
    match &axes {
        Some(axes) if axes.len() * 2 != pads.len() => {
            return Err(Trap::unsupported("padding without two pads for each axis"));
        }
        Some(axes) if axes.is_empty() => return one(Ok(i.get("x")?.clone())),
        _ => {}
    }
    one(kernels::pad(i.get("x")?, &pads, &axes.unwrap_or_default(), pad_mode(args)?, i.opt("constant_value")?))
}

/// Depth to space: moves blocks of channels of `[N, C, H, W]` to spatial positions.
///
/// ```mlir
/// %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
/// ```
#[op(
    "graph.depth_to_space",
    format = GENERIC,
    infer = infer_depth_to_space,
    moves = &["x"],
    eval = |args, data| unary(data, |x| kernels::depth_to_space(x, int(args, "blocksize")?, column_major(args)?)),
    verify = |m, op| checked(m, op, |args| block(args).and(column_major(args)))
)]
pub struct DepthToSpaceOp {
    /// Operand, `[N, C, H, W]`.
    x: Operand<TENSOR>,
    /// Block size.
    blocksize: Attribute<I64>,
    /// Channel order: `DCR` (block, then depth) or `CRD` (depth, then block).
    #[default = "\"DCR\""]
    mode: OptAttribute<STRING>,
    /// Rearranged operand.
    y: OpResult<TENSOR>,
}

fn column_major(args: &OpArgs<'_>) -> Result<bool, Violation> {
    choice(args, "mode", &[("DCR", false), ("CRD", true)])
}

/// Returns the block size.
fn block(args: &OpArgs<'_>) -> Result<i64, Violation> {
    let block = int(args, "blocksize")?;
    if (1..1 << 16).contains(&block) { Ok(block) } else { Err("attribute 'blocksize' is out of range".into()) }
}

/// Returns the extents `[N, C, H, W]` of the operand.
fn image(args: &OpArgs<'_>) -> Result<[i64; 4], Violation> {
    let Some(dims) = infer::dims(args, "x") else { return Ok([DYNAMIC; 4]) };
    let wrong = || format!("requires an operand of [N, C, H, W], not {}", infer::display(&dims));
    <[i64; 4]>::try_from(dims.as_slice()).map_err(|_| wrong().into())
}

/// Divides an extent; an error if it is static and not a multiple.
fn divided(dim: i64, by: i64) -> Result<i64, Violation> {
    match dim {
        DYNAMIC => Ok(DYNAMIC),
        d if d % by == 0 => Ok(d / by),
        d => Err(format!("an extent of {d} is not a multiple of {by}").into()),
    }
}

fn infer_depth_to_space(args: &OpArgs<'_>) -> infer::Types {
    let ([n, c, h, w], b) = (image(args)?, block(args)?);
    let grow = |d: i64| infer::map(d, |d| d.checked_mul(b));
    infer::one(args, Some(vec![n, divided(c, b * b)?, grow(h), grow(w)]), infer::elem(args, "x")?)
}

/// Space to depth: moves spatial blocks of `[N, C, H, W]` to channels.
///
/// ```mlir
/// %y = graph.space_to_depth %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
/// ```
#[op(
    "graph.space_to_depth",
    format = GENERIC,
    infer = infer_space_to_depth,
    moves = &["x"],
    eval = |args, data| unary(data, |x| kernels::space_to_depth(x, int(args, "blocksize")?, column_major(args)?)),
    verify = |m, op| checked(m, op, |args| block(args).and(column_major(args)))
)]
pub struct SpaceToDepthOp {
    /// Operand, `[N, C, H, W]`.
    x: Operand<TENSOR>,
    /// Block size.
    blocksize: Attribute<I64>,
    /// Channel order: `DCR` (block, then depth) or `CRD` (depth, then block).
    #[default = "\"DCR\""]
    mode: OptAttribute<STRING>,
    /// Rearranged operand.
    y: OpResult<TENSOR>,
}

fn infer_space_to_depth(args: &OpArgs<'_>) -> infer::Types {
    let ([n, c, h, w], b) = (image(args)?, block(args)?);
    let depth = infer::map(c, |c| c.checked_mul(b * b));
    infer::one(args, Some(vec![n, depth, divided(h, b)?, divided(w, b)?]), infer::elem(args, "x")?)
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[&[ExpandOp::INFO, TileOp::INFO, PadOp::INFO, DepthToSpaceOp::INFO, SpaceToDepthOp::INFO]];
