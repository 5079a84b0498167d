//! Normalizations.

use super::args::{Inputs, float, int, list, one, several, unary};
use super::unary::{checked, infer_along_axis};
use super::{GENERIC, infer};
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, I64_ARRAY};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{normalize_axes, normalize_axis};

/// Checks that `x` has a channel axis, and that the operands `names` are vectors of its extent.
fn check_channels(args: &OpArgs<'_>, names: &[&str]) -> Result<(), Violation> {
    let Some(x) = infer::dims(args, "x") else { return Ok(()) };
    let channels = match x.as_slice() {
        // A vector is a batch of single elements of one channel.
        [_] => 1,
        [_, c, ..] => *c,
        [] => return Err("requires an operand of [N, C, ...]".into()),
    };
    for name in names {
        let Some(dims) = infer::dims(args, name) else { continue };
        if dims.len() != 1 || infer::unify(dims[0], channels).is_err() {
            let (dims, x) = (infer::display(&dims), infer::display(&x));
            return Err(format!("requires one element of '{name}' per channel, but got {dims} for {x}").into());
        }
    }
    Ok(())
}

/// Batch normalization: `(x - mean) / sqrt(var + epsilon) * scale + b` per channel.
///
/// If `training_mode`, mean and variance are those of the batch, and the updated running statistics are results.
///
/// ```mlir
/// %y = graph.batch_normalization %x, %scale, %b, %mean, %var : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
/// ```
#[op("graph.batch_normalization", format = GENERIC, infer = infer_batch_norm, eval = batch_norm)]
pub struct BatchNormalizationOp {
    /// Operand, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Scale, `[C]`.
    scale: Operand<FLOAT_TENSOR>,
    /// Bias, `[C]`.
    b: Operand<FLOAT_TENSOR>,
    /// Mean, `[C]`.
    input_mean: Operand<FLOAT_TENSOR>,
    /// Variance, `[C]`.
    input_var: Operand<FLOAT_TENSOR>,
    /// Added to the variance, against division by zero.
    #[default = "9.99999974E-6 : f32"]
    epsilon: OptAttribute<F32>,
    /// Weight of the old running statistics when training.
    #[default = "0.899999976 : f32"]
    momentum: OptAttribute<F32>,
    /// Whether batch statistics are used.
    #[default = "0 : i64"]
    training_mode: OptAttribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
    /// Updated running mean and variance, when training.
    running: OpResults<FLOAT_TENSOR>,
}

fn infer_batch_norm(args: &OpArgs<'_>) -> infer::Types {
    check_channels(args, &["scale", "b", "input_mean", "input_var"])?;
    let mut types = infer::same(args)?;
    if args.flag("training_mode") {
        let all = [infer::ty(args, "input_mean")?, infer::ty(args, "input_var")?];
        let wanted = if args.result_types.is_empty() { 2 } else { args.result_types.len() - 1 };
        types.extend(all.into_iter().take(wanted));
    }
    Ok(types)
}

fn batch_norm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, scale, b) = (i.get("x")?, i.get("scale")?, i.get("b")?);
    let (mean, var, epsilon) = (i.get("input_mean")?, i.get("input_var")?, float(args, "epsilon")?);
    if !args.flag("training_mode") {
        return one(kernels::batch_normalization(x, scale, b, mean, var, epsilon));
    }
    let momentum = float(args, "momentum")?;
    let all = kernels::batch_normalization_training(x, scale, b, mean, var, epsilon, momentum)?;
    several(args, [all.y, all.mean, all.var])
}

/// Instance normalization: normalizes each channel of each sample, then scales and shifts per channel.
///
/// ```mlir
/// %y = graph.instance_normalization %x, %scale, %b : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
/// ```
#[op("graph.instance_normalization", format = GENERIC, infer = infer_per_channel, eval = instance_norm)]
pub struct InstanceNormalizationOp {
    /// Operand, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Scale, `[C]`.
    scale: Operand<FLOAT_TENSOR>,
    /// Bias, `[C]`.
    b: Operand<FLOAT_TENSOR>,
    /// Added to the variance, against division by zero.
    #[default = "9.99999974E-6 : f32"]
    epsilon: OptAttribute<F32>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_per_channel(args: &OpArgs<'_>) -> infer::Types {
    check_channels(args, &["scale", "b"])?;
    infer::same(args)
}

fn instance_norm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let epsilon = float(args, "epsilon")?;
    one(kernels::instance_normalization(i.get("x")?, i.get("scale")?, i.get("b")?, epsilon))
}

/// Group normalization: normalizes groups of channels of each sample, then scales and shifts per channel.
///
/// ```mlir
/// %y = graph.group_normalization %x, %scale, %b {num_groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
/// ```
#[op(
    "graph.group_normalization",
    format = GENERIC,
    infer = infer_group_norm,
    eval = group_norm,
    verify = |m, op| checked(m, op, |args| positive(args, "num_groups"))
)]
pub struct GroupNormalizationOp {
    /// Operand, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Scale, `[C]`.
    scale: Operand<FLOAT_TENSOR>,
    /// Bias, `[C]`.
    b: Operand<FLOAT_TENSOR>,
    /// Added to the variance, against division by zero.
    #[default = "9.99999974E-6 : f32"]
    epsilon: OptAttribute<F32>,
    /// Number of channel groups.
    num_groups: Attribute<I64>,
    /// ONNX type number of the precision of the statistics; ignored.
    #[default = "1 : i64"]
    stash_type: OptAttribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

/// Returns a positive integer attribute.
fn positive(args: &OpArgs<'_>, name: &str) -> Result<i64, Violation> {
    let v = int(args, name)?;
    if v > 0 { Ok(v) } else { Err(format!("attribute '{name}' should be positive").into()) }
}

fn infer_group_norm(args: &OpArgs<'_>) -> infer::Types {
    let groups = positive(args, "num_groups")?;
    if let Some(&[_, c, ..]) = infer::dims(args, "x").as_deref()
        && infer::known(c).is_some()
        && c % groups != 0
    {
        return Err(format!("{c} channels do not split into {groups} groups").into());
    }
    infer_per_channel(args)
}

fn group_norm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (groups, epsilon) = (int(args, "num_groups")?, float(args, "epsilon")?);
    one(kernels::group_normalization(i.get("x")?, i.get("scale")?, i.get("b")?, groups, epsilon))
}

/// Layer normalization over the axes from `axis` on, with broadcast scale and bias.
///
/// Optional results are the mean and the reciprocal standard deviation.
///
/// ```mlir
/// %y = graph.layer_normalization %x, %scale, %b : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
/// ```
#[op("graph.layer_normalization", format = GENERIC, infer = infer_layer_norm, eval = layer_norm)]
pub struct LayerNormalizationOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Scale of the normalized elements.
    scale: Operand<FLOAT_TENSOR>,
    /// Bias of the scaled elements.
    b: OptOperand<FLOAT_TENSOR>,
    /// First normalized axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Added to the variance, against division by zero.
    #[default = "9.99999974E-6 : f32"]
    epsilon: OptAttribute<F32>,
    /// ONNX type number of the precision of the statistics; ignored.
    #[default = "1 : i64"]
    stash_type: OptAttribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
    /// Mean and reciprocal standard deviation.
    statistics: OpResults<FLOAT_TENSOR>,
}

fn infer_layer_norm(args: &OpArgs<'_>) -> infer::Types {
    let (axis, elem) = (int(args, "axis")?, infer::common_elem(args, &["x", "scale", "b"])?);
    let mut types = infer::same(args)?;
    let reduced = match infer::dims(args, "x") {
        None => None,
        Some(mut dims) => {
            let axis = normalize_axis(axis, dims.len())?;
            dims[axis..].fill(1);
            Some(dims)
        }
    };
    let stash = if elem == Type::F64 { elem } else { Type::F32 };
    let more = args.result_types.len().saturating_sub(1).min(2);
    types.extend((0..more).map(|_| infer::tensor(args, reduced.clone(), stash)));
    Ok(types)
}

fn layer_norm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (axis, epsilon) = (int(args, "axis")?, float(args, "epsilon")?);
    several(args, kernels::layer_normalization(i.get("x")?, i.get("scale")?, i.opt("b")?, axis, epsilon)?)
}

/// RMS normalization: division by the root mean square over the axes from `axis` on, with broadcast scale.
///
/// ```mlir
/// %y = graph.rms_normalization %x, %scale : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
/// ```
#[op("graph.rms_normalization", format = GENERIC, infer = infer_along_axis, eval = rms_norm)]
pub struct RmsNormalizationOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Scale of the normalized elements.
    scale: Operand<FLOAT_TENSOR>,
    /// First normalized axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Added to the mean square.
    #[default = "9.99999974E-6 : f32"]
    epsilon: OptAttribute<F32>,
    /// ONNX type number of the precision of the statistics; ignored.
    #[default = "1 : i64"]
    stash_type: OptAttribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

fn rms_norm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::rms_normalization(i.get("x")?, i.get("scale")?, int(args, "axis")?, float(args, "epsilon")?))
}

/// Mean-variance normalization: `(x - mean) / stddev` over the given axes.
///
/// ```mlir
/// %y = graph.mean_variance_normalization %x {axes = array<i64: 0, 1>} : tensor<4x8xf32>
/// ```
#[op(
    "graph.mean_variance_normalization",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = infer_mean_variance,
    eval = |args, data| unary(data, |x| kernels::mean_variance_normalization(x, &list(args, "axes")))
)]
pub struct MeanVarianceNormalizationOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Normalized axes.
    #[default = "array<i64: 0, 2, 3>"]
    axes: OptAttribute<I64_ARRAY>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_mean_variance(args: &OpArgs<'_>) -> infer::Types {
    if let Some(dims) = infer::dims(args, "x") {
        normalize_axes(&list(args, "axes"), dims.len())?;
    }
    infer::same(args)
}

/// Local response normalization: `x / (bias + alpha / size * sum of x^2 over neighbouring channels)^beta`.
///
/// ```mlir
/// %y = graph.lrn %x {size = 3 : i64} : tensor<1x4x8x8xf32>
/// ```
#[op(
    "graph.lrn",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = infer_along_axis,
    eval = lrn,
    verify = |m, op| checked(m, op, |args| positive(args, "size"))
)]
pub struct LrnOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Axis of the channels.
    #[default = "1 : i64"]
    axis: OptAttribute<I64>,
    /// Factor alpha, divided by `size`.
    #[default = "9.99999974E-5 : f32"]
    alpha: OptAttribute<F32>,
    /// Exponent beta.
    #[default = "7.500000e-01 : f32"]
    beta: OptAttribute<F32>,
    /// Added to the scaled sum.
    #[default = "1.000000e+00 : f32"]
    bias: OptAttribute<F32>,
    /// Number of channels in the window.
    size: Attribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

fn lrn(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let attrs = kernels::LrnAttrs {
        axis: int(args, "axis")?,
        size: int(args, "size")?,
        alpha: float(args, "alpha")?,
        beta: float(args, "beta")?,
        bias: float(args, "bias")?,
    };
    unary(data, |x| kernels::lrn(x, &attrs))
}

/// Lp normalization: division by the L1 or L2 norm along an axis; 0 where the norm is 0.
///
/// ```mlir
/// %y = graph.lp_normalization %x {p = 1 : i64} : tensor<2x8xf32>
/// ```
#[op(
    "graph.lp_normalization",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = infer_along_axis,
    eval = |args, data| unary(data, |x| kernels::lp_normalization(x, int(args, "axis")?, int(args, "p")?)),
    verify = |m, op| checked(m, op, one_or_two)
)]
pub struct LpNormalizationOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Axis of the norm.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Order of the norm: 1 or 2.
    #[default = "2 : i64"]
    p: OptAttribute<I64>,
    /// Normalized elements.
    y: OpResult<FLOAT_TENSOR>,
}

fn one_or_two(args: &OpArgs<'_>) -> Result<(), Violation> {
    if matches!(int(args, "p")?, 1 | 2) { Ok(()) } else { Err("attribute 'p' should be 1 or 2".into()) }
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    BatchNormalizationOp::INFO,
    InstanceNormalizationOp::INFO,
    GroupNormalizationOp::INFO,
    LayerNormalizationOp::INFO,
    RmsNormalizationOp::INFO,
    MeanVarianceNormalizationOp::INFO,
    LrnOp::INFO,
    LpNormalizationOp::INFO,
]];
