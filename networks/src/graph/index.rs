//! Gathering and scattering by index tensors. Negative indices count from the end; out-of-bounds indices trap.

use super::args::{Inputs, choice, int, one};
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{I64, INT_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Violation, op};
use gradus_reference_kernels::shape::normalize_axis;
use gradus_reference_kernels::{self as kernels, ScatterReduction};

/// Slices of `x` along `axis` at the given indices. The axis is replaced by the axes of `indices`.
///
/// ```mlir
/// %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
/// ```
#[op("graph.gather", extensions = &[&DeclaredCost::MOVE], format = GENERIC, infer = infer_gather, moves = &["x"], eval = gather)]
pub struct GatherOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Indices of the slices.
    indices: Operand<INT_TENSOR>,
    /// Axis.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// Gathered slices.
    y: OpResult<TENSOR>,
}

fn infer_gather(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let (Some(x), indices) = (infer::dims(args, "x"), infer::dims(args, "indices")) else {
        return infer::one(args, None, elem);
    };
    let axis = normalize_axis(int(args, "axis")?, x.len())?;
    infer::one(args, indices.map(|i| [&x[..axis], &i, &x[axis + 1..]].concat()), elem)
}

fn gather(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::gather(i.get("x")?, i.get("indices")?, int(args, "axis")?))
}

/// Elements at the coordinates of `indices`, with the coordinate along `axis` replaced by the index.
///
/// ```mlir
/// %y = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
/// ```
#[op("graph.gather_elements", format = GENERIC, infer = infer_gather_elements, moves = &["x"], eval = gather_elements)]
pub struct GatherElementsOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Indices along the axis.
    indices: Operand<INT_TENSOR>,
    /// Axis.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// Gathered elements, in the shape of `indices`.
    y: OpResult<TENSOR>,
}

fn infer_gather_elements(args: &OpArgs<'_>) -> infer::Types {
    check_axis(args)?;
    infer::one(args, infer::dims(args, "indices"), infer::elem(args, "x")?)
}

/// Checks that the attribute `axis` is a valid axis of `x`.
fn check_axis(args: &OpArgs<'_>) -> Result<(), Violation> {
    let axis = int(args, "axis")?;
    infer::dims(args, "x").map_or(Ok(()), |dims| normalize_axis(axis, dims.len()).map(drop))
}

fn gather_elements(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::gather_elements(i.get("x")?, i.get("indices")?, int(args, "axis")?))
}

/// Slices of `x` whose leading coordinates are the last axis of `indices`.
///
/// The first `batch_dims` axes of both operands correspond.
///
/// ```mlir
/// %y = graph.gather_nd %x, %i : (tensor<4x8x2xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
/// ```
#[op("graph.gather_nd", format = GENERIC, infer = infer_gather_nd, moves = &["x"], eval = gather_nd)]
pub struct GatherNdOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Coordinates, `[..., Q]`.
    indices: Operand<INT_TENSOR>,
    /// Number of batch axes.
    #[default = "0 : i64"]
    batch_dims: OptAttribute<I64>,
    /// Gathered slices.
    y: OpResult<TENSOR>,
}

fn infer_gather_nd(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let batch = infer::known(int(args, "batch_dims")?).ok_or("attribute 'batch_dims' should not be negative")?;
    let (Some(x), Some(indices)) = (infer::dims(args, "x"), infer::dims(args, "indices")) else {
        return infer::one(args, None, elem);
    };
    let (&depth, rows) = indices.split_last().ok_or("requires indices with an axis")?;
    let Some(depth) = infer::known(depth) else { return infer::one(args, None, elem) };
    let end = depth.checked_add(batch).filter(|&end| end <= x.len() && batch <= rows.len());
    let end =
        end.ok_or_else(|| format!("indices of {} do not fit {}", infer::display(&indices), infer::display(&x)))?;
    infer::one(args, Some([rows, &x[end..]].concat()), elem)
}

fn gather_nd(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::gather_nd(i.get("x")?, i.get("indices")?, int(args, "batch_dims")?))
}

/// Copy of `x` in which updates are combined with the elements that `graph.gather_elements` would read.
///
/// ```mlir
/// %y = graph.scatter_elements %x, %i, %u {reduction = "add"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
/// ```
#[op(
    "graph.scatter_elements",
    format = GENERIC,
    infer = infer_scatter_elements,
    eval = scatter_elements,
    verify = |m, op| checked(m, op, reduction)
)]
pub struct ScatterElementsOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Indices along the axis.
    indices: Operand<INT_TENSOR>,
    /// Updates, in the shape of `indices`.
    updates: Operand<TENSOR>,
    /// Axis.
    #[default = "0 : i64"]
    axis: OptAttribute<I64>,
    /// Combination: `none` (replace), `add`, `mul`, `min` or `max`.
    #[default = "\"none\""]
    reduction: OptAttribute<STRING>,
    /// Updated copy.
    y: OpResult<TENSOR>,
}

fn reduction(args: &OpArgs<'_>) -> Result<ScatterReduction, Violation> {
    let kinds = [
        ("none", ScatterReduction::Assign),
        ("add", ScatterReduction::Add),
        ("mul", ScatterReduction::Mul),
        ("min", ScatterReduction::Min),
        ("max", ScatterReduction::Max),
    ];
    choice(args, "reduction", &kinds)
}

fn infer_scatter(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["x", "updates"])?;
    infer::same(args)
}

fn infer_scatter_elements(args: &OpArgs<'_>) -> infer::Types {
    check_axis(args)?;
    infer_scatter(args)
}

fn scatter_elements(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, indices, updates) = (i.get("x")?, i.get("indices")?, i.get("updates")?);
    one(kernels::scatter_elements(x, indices, updates, int(args, "axis")?, reduction(args)?))
}

/// Copy of `x` in which updates are combined with the slices that `graph.gather_nd` would read.
///
/// ```mlir
/// %y = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
/// ```
#[op(
    "graph.scatter_nd",
    format = GENERIC,
    infer = infer_scatter,
    eval = scatter_nd,
    verify = |m, op| checked(m, op, reduction)
)]
pub struct ScatterNdOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Coordinates, `[..., Q]`.
    indices: Operand<INT_TENSOR>,
    /// Updates, one slice per coordinate.
    updates: Operand<TENSOR>,
    /// Combination: `none` (replace), `add`, `mul`, `min` or `max`.
    #[default = "\"none\""]
    reduction: OptAttribute<STRING>,
    /// Updated copy.
    y: OpResult<TENSOR>,
}

fn scatter_nd(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::scatter_nd(i.get("x")?, i.get("indices")?, i.get("updates")?, reduction(args)?))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[&[GatherOp::INFO, GatherElementsOp::INFO, GatherNdOp::INFO, ScatterElementsOp::INFO, ScatterNdOp::INFO]];
