//! Resampling.

use super::args::{Inputs, choice, float, list, one};
use super::infer;
use super::unary::checked;
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, I64_ARRAY, I64_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Tensor, Traits, Violation, op};
use gradus_reference_kernels::shape::{normalize_axes, resize_dims};
use gradus_reference_kernels::{
    self as kernels, AspectPolicy, Coordinates, NearestMode, Resampling, ResizeAttrs, ResizeMode,
};

/// Resamples a tensor along axes, by `scales` or to `sizes`.
///
/// Empty operands count as absent.
///
/// ```mlir
/// %y = graph.resize %x scales %s {mode = "linear"} : (tensor<1x3x4x4xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
/// ```
#[op(
    "graph.resize",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x (`roi` $roi^)? (`scales` $scales^)? (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_resize,
    eval = resize,
    verify = |m, op| checked(m, op, attributes)
)]
pub struct ResizeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Region for `tf_crop_and_resize`, normalized: all starts, then all ends.
    roi: OptOperand<FLOAT_TENSOR>,
    /// Scale of each axis.
    scales: OptOperand<FLOAT_TENSOR>,
    /// Extent of each axis.
    sizes: OptOperand<I64_TENSOR>,
    /// Whether downsampling applies an antialiasing filter.
    #[default = "0 : i64"]
    antialias: OptAttribute<I64>,
    /// Resampled axes; all when absent.
    axes: OptAttribute<I64_ARRAY>,
    /// Mapping from output to input coordinates.
    #[default = "\"half_pixel\""]
    coordinate_transformation_mode: OptAttribute<STRING>,
    /// Coefficient a of cubic interpolation.
    #[default = "-7.500000e-01 : f32"]
    cubic_coeff_a: OptAttribute<F32>,
    /// Whether weights outside the operand are zero, with renormalization.
    #[default = "0 : i64"]
    exclude_outside: OptAttribute<I64>,
    /// Value outside the operand for `tf_crop_and_resize`.
    #[default = "0.000000e+00 : f32"]
    extrapolation_value: OptAttribute<F32>,
    /// Interpretation of `sizes`: `stretch`, `not_larger` or `not_smaller`.
    #[default = "\"stretch\""]
    keep_aspect_ratio_policy: OptAttribute<STRING>,
    /// Interpolation: `nearest`, `linear` or `cubic`.
    #[default = "\"nearest\""]
    mode: OptAttribute<STRING>,
    /// Rounding mode of `nearest`.
    #[default = "\"round_prefer_floor\""]
    nearest_mode: OptAttribute<STRING>,
    /// Resampled operand.
    y: OpResult<TENSOR>,
}

fn attributes(args: &OpArgs<'_>) -> Result<ResizeAttrs, Violation> {
    let modes = [("nearest", ResizeMode::Nearest), ("linear", ResizeMode::Linear), ("cubic", ResizeMode::Cubic)];
    let coordinates = [
        ("half_pixel", Coordinates::HalfPixel),
        ("half_pixel_symmetric", Coordinates::HalfPixelSymmetric),
        ("pytorch_half_pixel", Coordinates::PytorchHalfPixel),
        ("align_corners", Coordinates::AlignCorners),
        ("asymmetric", Coordinates::Asymmetric),
        ("tf_crop_and_resize", Coordinates::TfCropAndResize),
    ];
    let nearest = [
        ("round_prefer_floor", NearestMode::RoundPreferFloor),
        ("round_prefer_ceil", NearestMode::RoundPreferCeil),
        ("floor", NearestMode::Floor),
        ("ceil", NearestMode::Ceil),
    ];
    let aspect = [
        ("stretch", AspectPolicy::Stretch),
        ("not_larger", AspectPolicy::NotLarger),
        ("not_smaller", AspectPolicy::NotSmaller),
    ];
    Ok(ResizeAttrs {
        mode: choice(args, "mode", &modes)?,
        coordinates: choice(args, "coordinate_transformation_mode", &coordinates)?,
        nearest: choice(args, "nearest_mode", &nearest)?,
        cubic_a: float(args, "cubic_coeff_a")?,
        exclude_outside: args.flag("exclude_outside"),
        antialias: args.flag("antialias"),
        extrapolation: float(args, "extrapolation_value")?,
        aspect: choice(args, "keep_aspect_ratio_policy", &aspect)?,
    })
}

/// Returns the scales in the kernel's type.
fn factors(t: &Tensor) -> Vec<f32> {
    t.to_f64().iter().map(|&v| v as f32).collect()
}

fn infer_resize(args: &OpArgs<'_>) -> infer::Types {
    let (elem, attrs) = (infer::elem(args, "x")?, attributes(args)?);
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let axes = match list(args, "axes") {
        axes if axes.is_empty() => (0..dims.len()).collect(),
        axes => normalize_axes(&axes, dims.len())?,
    };
    infer::one(args, Some(resized(args, &dims, &axes, attrs.aspect)?), elem)
}

/// Infers the shape of the result.
fn resized(args: &OpArgs<'_>, dims: &[i64], axes: &[usize], aspect: AspectPolicy) -> Result<Vec<i64>, Violation> {
    let scales = infer::constant(args, "scales").map(|t| factors(&t)).unwrap_or_default();
    let sizes = infer::ints(args, "sizes").unwrap_or_default();
    let mut out = dims.to_vec();
    if scales.is_empty() && sizes.is_empty() {
        axes.iter().for_each(|&a| out[a] = DYNAMIC);
        return Ok(out);
    }
    // Dynamic extents are replaced by 1; what depends on them becomes dynamic below.
    let input: Vec<usize> = dims.iter().map(|&d| infer::known(d).unwrap_or(1)).collect();
    let known = infer::extents(&resize_dims(&input, &scales, &sizes, axes, aspect)?.0);
    let mixed = aspect != AspectPolicy::Stretch && axes.iter().any(|&a| dims[a] == DYNAMIC);
    for &a in axes {
        let depends = dims[a] == DYNAMIC && sizes.is_empty() || mixed && !sizes.is_empty();
        out[a] = if depends { DYNAMIC } else { known[a] };
    }
    Ok(out)
}

fn resize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let roi = i.opt("roi")?.map(Tensor::to_f64).unwrap_or_default();
    let scales = i.opt("scales")?.map(factors).unwrap_or_default();
    let sizes = i.ints("sizes")?.unwrap_or_default();
    one(kernels::resize(i.get("x")?, &roi, &scales, &sizes, &list(args, "axes"), &attributes(args)?))
}

/// Returns how an op of static shapes resamples, if its operands but the first are constant.
pub fn resampling(args: &OpArgs<'_>) -> Option<(Resampling, ResizeMode)> {
    let input = infer::dims(args, "x")?.into_iter().map(|extent| usize::try_from(extent).ok());
    let is_known = |&name: &&str| args.opt_operand(name).is_none() || infer::always(args, name).is_some();
    if !["roi", "scales", "sizes"].iter().all(is_known) {
        return None;
    }
    let roi = infer::always(args, "roi").map(|t| t.to_f64()).unwrap_or_default();
    let scales = infer::always(args, "scales").map(|t| factors(&t)).unwrap_or_default();
    let sizes = infer::always(args, "sizes").map(|t| t.to_i64()).unwrap_or(Some(Vec::new()))?;
    let (input, attrs) = (input.collect::<Option<Vec<usize>>>()?, attributes(args).ok()?);
    let resampling = Resampling::new(&input, &roi, &scales, &sizes, &list(args, "axes"), &attrs).ok()?;
    Some((resampling, attrs.mode))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[ResizeOp::INFO]];
