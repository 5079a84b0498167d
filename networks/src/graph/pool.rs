//! Pooling over sliding windows and whole images.

use super::args::{Inputs, int, one, several, unary, window};
use super::linear::{ANY_EXTENT, is_channels_first};
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{FLOAT_TENSOR, I64, I64_ARRAY, I64_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::{DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, Module, Op, OpArgs, OpDecl, OpInfo, Type, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{Window, WindowAttrs, pool_output_dims};

/// Max pooling: the maximum of each window; NaN if the window contains NaN.
///
/// The optional second result holds the index of each maximum in the flattened input.
///
/// ```mlir
/// %y = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
/// ```
#[op(
    "graph.max_pool",
    format = GENERIC,
    infer = infer_max_pool,
    extensions = &[&DeclaredCost(pool_cost)],
    eval = max_pool,
    verify = |m, op| checked(m, op, window)
)]
pub struct MaxPoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<TENSOR>,
    /// Padding mode: `NOTSET` (explicit `pads`), `SAME_UPPER`, `SAME_LOWER` or `VALID`.
    #[default = "\"NOTSET\""]
    auto_pad: OptAttribute<STRING>,
    /// Whether partial windows at the end count (ceiling mode).
    #[default = "0 : i64"]
    ceil_mode: OptAttribute<I64>,
    /// Distance between neighbouring elements of a window; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Extents of the window.
    kernel_shape: Attribute<I64_ARRAY>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Whether indices are column-major.
    #[default = "0 : i64"]
    storage_order: OptAttribute<I64>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Maxima, `[N, C, O...]`.
    y: OpResult<TENSOR>,
    /// Indices of the maxima, `[N, C, O...]`.
    indices: OptResult<I64_TENSOR>,
}

/// Pools of maxima and means: ops that read and write images.
pub const POOLS: &[&OpInfo] = &[MaxPoolOp::INFO, AveragePoolOp::INFO, GlobalMaxPoolOp::INFO, GlobalAveragePoolOp::INFO];

/// Elements that take as long as the begin of a row of a plane.
const ROW_BEGIN: u64 = 16;

/// Returns the cost of a pool: with channels last, of all taps of each element; with channels first, of the rows of windows and then of their
/// columns.
fn pool_cost(args: &OpArgs<'_>) -> OpCost {
    let results = args.result_types.first().map_or(1, |&ty| elements(args, ty));
    let Some(window) = args.op.and_then(|op| pool_window(args.module, op).ok()) else { return OpCost::Map(results) };
    let of = |extents: &[usize]| extents.iter().fold(1_u64, |n, &extent| n.saturating_mul(extent as u64));
    let Some(last) = window.kernel.len().checked_sub(1).filter(|_| is_channels_first(args)) else {
        return OpCost::Map(results.saturating_mul(of(&window.kernel)));
    };
    let (outputs, taps) = (window.output[last] as u64, window.kernel[last] as u64);
    let rows = of(&window.kernel[..last]).saturating_mul(outputs * window.strides[last] as u64 + ROW_BEGIN);
    let row = rows.saturating_add(taps.saturating_mul(outputs + ROW_BEGIN));
    OpCost::Map((results / outputs.max(1)).saturating_mul(row))
}

/// Returns the cost of the reduction of each channel.
fn global_cost(args: &OpArgs<'_>) -> OpCost {
    let channels = args.result_types.first().map_or(1, |&ty| elements(args, ty));
    let begin = if is_channels_first(args) { channels.saturating_mul(ROW_BEGIN) } else { 0 };
    OpCost::Map(elements(args, args.operand_type(0)).saturating_add(begin))
}

/// Infers the shape of a pool of `x`.
fn pooled(args: &OpArgs<'_>) -> Result<infer::Dims, Violation> {
    let attrs = window(args)?;
    let dims = infer::dims(args, "x").or_else(|| match attrs.kernel_shape.len() {
        0 => None,
        n => Some(infer::unknown(n + 2)),
    });
    dims.map(|x| pool_dims(&x, &attrs)).transpose()
}

fn pool_dims(x: &[i64], attrs: &WindowAttrs) -> Result<Vec<i64>, Violation> {
    let known = |(i, &d): (usize, &i64)| infer::known(d).unwrap_or(if i < 2 { 1 } else { ANY_EXTENT });
    let input: Vec<usize> = x.iter().enumerate().map(known).collect();
    let out = infer::extents(&pool_output_dims(&input, attrs)?);
    Ok(out.into_iter().zip(x).map(|(o, &d)| if d == DYNAMIC { DYNAMIC } else { o }).collect())
}

fn infer_max_pool(args: &OpArgs<'_>) -> infer::Types {
    let (dims, elem) = (pooled(args)?, infer::elem(args, "x")?);
    let mut types = infer::one(args, dims.clone(), elem)?;
    if args.result_types.len() > 1 {
        types.push(infer::tensor(args, dims, Type::I64));
    }
    Ok(types)
}

/// Returns the window geometry of a pool.
///
/// # Errors
/// When extents are dynamic, or the attributes are invalid.
pub fn pool_window(m: &Module, op: Op) -> Result<Window, Violation> {
    let args = m.args(op).ok_or("requires a declaration")?;
    let extents = m.ctx.static_shape(args.operand_type(0)).filter(|d| d.len() > 2).ok_or("requires known extents")?;
    let (image, attrs) = (extents[2..].iter().map(|&d| d as usize).collect::<Vec<_>>(), window(&args)?);
    let kernel: Result<Vec<usize>, _> = attrs.kernel_shape.iter().map(|&d| usize::try_from(d)).collect();
    attrs.resolve(&image, &kernel.map_err(|_| "requires extents of the window")?)
}

fn max_pool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let x = Inputs::new(args, data).get("x")?;
    several(args, kernels::max_pool(x, &window(args)?, args.flag("storage_order"))?)
}

/// Average pooling: the mean of each window.
///
/// ```mlir
/// %y = graph.average_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
/// ```
#[op(
    "graph.average_pool",
    format = GENERIC,
    infer = infer_pool,
    extensions = &[&DeclaredCost(pool_cost)],
    eval = |args, data| unary(data, |x| kernels::average_pool(x, &window(args)?, args.flag("count_include_pad"))),
    verify = |m, op| checked(m, op, window)
)]
pub struct AveragePoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Padding mode: `NOTSET` (explicit `pads`), `SAME_UPPER`, `SAME_LOWER` or `VALID`.
    #[default = "\"NOTSET\""]
    auto_pad: OptAttribute<STRING>,
    /// Whether partial windows at the end count (ceiling mode).
    #[default = "0 : i64"]
    ceil_mode: OptAttribute<I64>,
    /// Whether explicit padding counts towards the mean.
    #[default = "0 : i64"]
    count_include_pad: OptAttribute<I64>,
    /// Distance between neighbouring elements of a window; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Extents of the window.
    kernel_shape: Attribute<I64_ARRAY>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Means, `[N, C, O...]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_pool(args: &OpArgs<'_>) -> infer::Types {
    infer::one(args, pooled(args)?, infer::elem(args, "x")?)
}

/// Lp pooling: the p-norm of each window.
///
/// ```mlir
/// %y = graph.lp_pool %x {kernel_shape = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x7x7xf32>
/// ```
#[op(
    "graph.lp_pool",
    format = GENERIC,
    infer = infer_pool,
    eval = |args, data| unary(data, |x| kernels::lp_pool(x, &window(args)?, int(args, "p")?)),
    verify = |m, op| checked(m, op, |args| window(args).and(norm(args)))
)]
pub struct LpPoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Padding mode: `NOTSET` (explicit `pads`), `SAME_UPPER`, `SAME_LOWER` or `VALID`.
    #[default = "\"NOTSET\""]
    auto_pad: OptAttribute<STRING>,
    /// Whether partial windows at the end count (ceiling mode).
    #[default = "0 : i64"]
    ceil_mode: OptAttribute<I64>,
    /// Distance between neighbouring elements of a window; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Extents of the window.
    kernel_shape: Attribute<I64_ARRAY>,
    /// Order p of the norm.
    #[default = "2 : i64"]
    p: OptAttribute<I64>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Norms, `[N, C, O...]`.
    y: OpResult<FLOAT_TENSOR>,
}

/// Returns the order of the norm.
fn norm(args: &OpArgs<'_>) -> Result<i64, Violation> {
    let p = int(args, "p")?;
    if p > 0 { Ok(p) } else { Err("attribute 'p' should be positive".into()) }
}

/// Infers the shape `[N, C, 1...]`.
fn infer_global(args: &OpArgs<'_>) -> infer::Types {
    let dims = infer::dims(args, "x");
    if let Some(dims) = dims.as_ref().filter(|d| d.len() < 2) {
        return Err(format!("requires an operand of [N, C, ...], not {}", infer::display(dims)).into());
    }
    let ones = |dims: Vec<i64>| dims.iter().enumerate().map(|(i, &d)| if i < 2 { d } else { 1 }).collect();
    infer::one(args, dims.map(ones), infer::elem(args, "x")?)
}

/// Global average pooling: the mean of each channel.
///
/// ```mlir
/// %y = graph.global_average_pool %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
/// ```
#[op(
    "graph.global_average_pool",
    format = GENERIC,
    infer = infer_global,
    extensions = &[&DeclaredCost(global_cost)],
    eval = |_, data| unary(data, kernels::global_average_pool)
)]
pub struct GlobalAveragePoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Means, `[N, C, 1...]`.
    y: OpResult<FLOAT_TENSOR>,
}

/// Global max pooling: the maximum of each channel; NaN if the channel contains NaN.
///
/// ```mlir
/// %y = graph.global_max_pool %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
/// ```
#[op(
    "graph.global_max_pool",
    format = GENERIC,
    infer = infer_global,
    extensions = &[&DeclaredCost(global_cost)],
    eval = |_, data| unary(data, kernels::global_max_pool)
)]
pub struct GlobalMaxPoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<TENSOR>,
    /// Maxima, `[N, C, 1...]`.
    y: OpResult<TENSOR>,
}

/// Global Lp pooling: the p-norm of each channel.
///
/// ```mlir
/// %y = graph.global_lp_pool %x {p = 1 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
/// ```
#[op(
    "graph.global_lp_pool",
    format = GENERIC,
    infer = infer_global,
    eval = eval_global_lp_pool,
    verify = |m, op| checked(m, op, norm)
)]
pub struct GlobalLpPoolOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Order p of the norm.
    #[default = "2 : i64"]
    p: OptAttribute<I64>,
    /// Norms, `[N, C, 1...]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn eval_global_lp_pool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    one(kernels::global_lp_pool(Inputs::new(args, data).get("x")?, norm(args)?))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    MaxPoolOp::INFO,
    AveragePoolOp::INFO,
    LpPoolOp::INFO,
    GlobalAveragePoolOp::INFO,
    GlobalMaxPoolOp::INFO,
    GlobalLpPoolOp::INFO,
]];
