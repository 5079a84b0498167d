//! Regions of interest: pooling and box selection.

use super::args::{Inputs, choice, float, int, list, one};
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, I64_ARRAY, I64_TENSOR, STRING};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;

/// RoI Align: pools regions of interest by bilinear interpolation.
///
/// A region `[x1, y1, x2, y2]` is divided into bins; each bin yields the mean or maximum of its samples.
///
/// ```mlir
/// %y = graph.roi_align %x, %rois, %at {output_height = 2 : i64, output_width = 3 : i64} : (tensor<1x4x8x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x4x2x3xf32>
/// ```
#[op(
    "graph.roi_align",
    format = GENERIC,
    infer = infer_roi_align,
    eval = roi_align,
    verify = |m, op| checked(m, op, roi_pooling)
)]
pub struct RoiAlignOp {
    /// Images, `[N, C, H, W]`.
    x: Operand<FLOAT_TENSOR>,
    /// Regions, `[R, 4]`.
    rois: Operand<FLOAT_TENSOR>,
    /// Image index of each region, `[R]`.
    batch_indices: Operand<I64_TENSOR>,
    /// Coordinate mode: `half_pixel` shifts coordinates by half a pixel, `output_half_pixel` does not.
    #[default = "\"half_pixel\""]
    coordinate_transformation_mode: OptAttribute<STRING>,
    /// Pooling: `avg` or `max`.
    #[default = "\"avg\""]
    mode: OptAttribute<STRING>,
    /// Height of the result.
    #[default = "1 : i64"]
    output_height: OptAttribute<I64>,
    /// Width of the result.
    #[default = "1 : i64"]
    output_width: OptAttribute<I64>,
    /// Number of samples along each side of a bin; 0 to adapt to the region size.
    #[default = "0 : i64"]
    sampling_ratio: OptAttribute<I64>,
    /// Scale from region coordinates to image coordinates.
    #[default = "1.000000e+00 : f32"]
    spatial_scale: OptAttribute<F32>,
    /// Pooled regions, `[R, C, output_height, output_width]`.
    y: OpResult<FLOAT_TENSOR>,
}

/// Returns how `graph.roi_align` pools.
///
/// # Errors
/// Unknown modes.
pub fn roi_pooling(args: &OpArgs<'_>) -> Result<kernels::RoiAlignAttrs, Violation> {
    let modes = [("half_pixel", true), ("output_half_pixel", false)];
    Ok(kernels::RoiAlignAttrs {
        output: [int(args, "output_height")?, int(args, "output_width")?],
        sampling_ratio: int(args, "sampling_ratio")?,
        spatial_scale: float(args, "spatial_scale")?,
        half_pixel: choice(args, "coordinate_transformation_mode", &modes)?,
        max: choice(args, "mode", &[("avg", false), ("max", true)])?,
    })
}

/// Infers the shape of pooled regions.
fn pooled(args: &OpArgs<'_>, output: [i64; 2]) -> infer::Types {
    if output.iter().any(|&d| d <= 0) {
        return Err(format!("regions cannot be pooled to {output:?}").into());
    }
    let axis = |name, i: usize| infer::dims(args, name).and_then(|d| d.get(i).copied()).unwrap_or(DYNAMIC);
    let dims = vec![axis("rois", 0), axis("x", 1), output[0], output[1]];
    infer::one(args, Some(dims), infer::common_elem(args, &["x", "rois"])?)
}

fn infer_roi_align(args: &OpArgs<'_>) -> infer::Types {
    pooled(args, roi_pooling(args)?.output)
}

fn roi_align(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::roi_align(i.get("x")?, i.get("rois")?, i.get("batch_indices")?, &roi_pooling(args)?))
}

/// RoI max pooling: the maximum of each bin of a region.
///
/// A region is `[image, x1, y1, x2, y2]`, rounded to whole pixels.
///
/// ```mlir
/// %y = graph.max_roi_pool %x, %rois {pooled_shape = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>, tensor<5x5xf32>) -> tensor<5x4x2x3xf32>
/// ```
#[op("graph.max_roi_pool", format = GENERIC, infer = infer_max_roi_pool, eval = max_roi_pool)]
pub struct MaxRoiPoolOp {
    /// Images, `[N, C, H, W]`.
    x: Operand<FLOAT_TENSOR>,
    /// Regions, `[R, 5]`.
    rois: Operand<FLOAT_TENSOR>,
    /// Height and width of the result.
    pooled_shape: Attribute<I64_ARRAY>,
    /// Scale from region coordinates to image coordinates.
    #[default = "1.000000e+00 : f32"]
    spatial_scale: OptAttribute<F32>,
    /// Pooled regions, `[R, C, H, W]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn pooled_shape(args: &OpArgs<'_>) -> Result<[i64; 2], Violation> {
    list(args, "pooled_shape").try_into().map_err(|list| format!("regions cannot be pooled to {list:?}").into())
}

fn infer_max_roi_pool(args: &OpArgs<'_>) -> infer::Types {
    pooled(args, pooled_shape(args)?)
}

fn max_roi_pool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, rois) = (i.get("x")?, i.get("rois")?);
    one(kernels::max_roi_pool(x, rois, pooled_shape(args)?, float(args, "spatial_scale")?))
}

/// Non-maximum suppression: selects boxes by descending score, skipping those that overlap a selected one.
///
/// Each row of the result is image, class and box index.
///
/// ```mlir
/// %y = graph.non_max_suppression %boxes, %scores most %n iou %t : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
/// ```
#[op(
    "graph.non_max_suppression",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$boxes `,` $scores (`most` $max_output_boxes_per_class^)? (`iou` $iou_threshold^)? (`score` $score_threshold^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_non_max_suppression,
    eval = non_max_suppression
)]
pub struct NonMaxSuppressionOp {
    /// Boxes, `[N, S, 4]`.
    boxes: Operand<FLOAT_TENSOR>,
    /// Scores, `[N, C, S]`.
    scores: Operand<FLOAT_TENSOR>,
    /// Maximum number of boxes per image and class; 0 when absent.
    max_output_boxes_per_class: OptOperand<I64_TENSOR>,
    /// Maximum intersection over union of selected boxes; 0 when absent.
    iou_threshold: OptOperand<FLOAT_TENSOR>,
    /// Score that a box must exceed.
    score_threshold: OptOperand<FLOAT_TENSOR>,
    /// Whether boxes are `[x_center, y_center, width, height]` rather than two corners `[y1, x1, y2, x2]`.
    #[default = "0 : i64"]
    center_point_box: OptAttribute<I64>,
    /// Selected boxes, `[num_selected, 3]`.
    y: OpResult<I64_TENSOR>,
}

fn infer_non_max_suppression(args: &OpArgs<'_>) -> infer::Types {
    let count = infer::evaluated_shape(args).map_or(DYNAMIC, |s| s[0]);
    infer::one(args, Some(vec![count, 3]), Type::I64)
}

fn non_max_suppression(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let number = |name| Ok::<_, Trap>(i.opt(name)?.and_then(|t| t.to_f64().first().copied()));
    let attrs = kernels::NmsAttrs {
        most: i.int("max_output_boxes_per_class")?.unwrap_or(0),
        iou: number("iou_threshold")?.unwrap_or(0.0),
        score: number("score_threshold")?,
        centered: args.flag("center_point_box"),
    };
    one(kernels::non_max_suppression(i.get("boxes")?, i.get("scores")?, &attrs))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[RoiAlignOp::INFO, MaxRoiPoolOp::INFO, NonMaxSuppressionOp::INFO]];
