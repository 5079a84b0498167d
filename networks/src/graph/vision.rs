//! Sampling of images, deformable convolution, unpooling and col2im.

use super::args::{Inputs, choice, conv, int, list, one, window};
use super::linear::conv_shape;
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{FLOAT_TENSOR, I64, I64_ARRAY, I64_TENSOR, INT_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, Violation, op};
use gradus_reference_kernels::shape::{Window, conv_window, normalize_axes};
use gradus_reference_kernels::{self as kernels, GridSampleAttrs, SampleMode, SamplePadding};

/// Samples an image at the positions of a grid.
///
/// `x` is `[N, C, D...]`, `grid` is `[N, O..., r]`. Coordinates are normalized to [-1, 1], last axis first.
///
/// ```mlir
/// %y = graph.grid_sample %x, %grid {padding_mode = "border"} : (tensor<1x3x4x4xf32>, tensor<1x6x5x2xf32>) -> tensor<1x3x6x5xf32>
/// ```
#[op(
    "graph.grid_sample",
    format = GENERIC,
    infer = infer_grid_sample,
    eval = grid_sample,
    verify = |m, op| checked(m, op, grid_sampling)
)]
pub struct GridSampleOp {
    /// Image, `[N, C, D...]`.
    x: Operand<TENSOR>,
    /// Sampling positions, `[N, O..., r]`.
    grid: Operand<FLOAT_TENSOR>,
    /// Whether -1 and 1 are the centers of the corner pixels rather than their outer edges.
    #[default = "0 : i64"]
    align_corners: OptAttribute<I64>,
    /// Interpolation: `linear`, `nearest` or `cubic`.
    #[default = "\"linear\""]
    mode: OptAttribute<STRING>,
    /// Padding mode outside the image: `zeros`, `border` or `reflection`.
    #[default = "\"zeros\""]
    padding_mode: OptAttribute<STRING>,
    /// Samples, `[N, C, O...]`.
    y: OpResult<TENSOR>,
}

/// Returns how `graph.grid_sample` samples.
///
/// # Errors
/// Unknown modes.
pub fn grid_sampling(args: &OpArgs<'_>) -> Result<GridSampleAttrs, Violation> {
    let modes = [("linear", SampleMode::Linear), ("nearest", SampleMode::Nearest), ("cubic", SampleMode::Cubic)];
    let paddings =
        [("zeros", SamplePadding::Zeros), ("border", SamplePadding::Border), ("reflection", SamplePadding::Reflection)];
    Ok(GridSampleAttrs {
        mode: choice(args, "mode", &modes)?,
        padding: choice(args, "padding_mode", &paddings)?,
        align_corners: args.flag("align_corners"),
    })
}

fn infer_grid_sample(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let (Some(x), Some(grid)) = (infer::dims(args, "x"), infer::dims(args, "grid")) else {
        return infer::one(args, None, elem);
    };
    if x.len() < 3 || grid.len() != x.len() || infer::unify(grid[grid.len() - 1], x.len() as i64 - 2).is_err() {
        return Err(format!("cannot sample {} at {}", infer::display(&x), infer::display(&grid)).into());
    }
    let batch = infer::unify(x[0], grid[0])?;
    infer::one(args, Some([&[batch, x[1]], &grid[1..grid.len() - 1]].concat()), elem)
}

fn grid_sample(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::grid_sample(i.get("x")?, i.get("grid")?, grid_sampling(args)?))
}

/// Sampling grid of affine maps, for `graph.grid_sample`.
///
/// ```mlir
/// %y = graph.affine_grid %theta, %size : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<?x?x?x2xf32>
/// ```
#[op("graph.affine_grid", format = GENERIC, infer = infer_affine_grid, eval = affine_grid)]
pub struct AffineGridOp {
    /// Affine maps, `[N, r, r + 1]`.
    theta: Operand<FLOAT_TENSOR>,
    /// Extents of the image, `[N, C, D...]`.
    size: Operand<I64_TENSOR>,
    /// Whether -1 and 1 are the centers of the corner pixels rather than their outer edges.
    #[default = "0 : i64"]
    align_corners: OptAttribute<I64>,
    /// Sampling grid, `[N, D..., r]`.
    grid: OpResult<FLOAT_TENSOR>,
}

fn infer_affine_grid(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "theta")?;
    let size = infer::ints(args, "size").or_else(|| infer::list_len(args, "size").map(infer::unknown));
    let Some(size) = size else { return infer::one(args, None, elem) };
    if size.len() < 3 || size.iter().any(|&d| d < 0 && d != DYNAMIC) {
        return Err(format!("requires the extents of an image, not {}", infer::display(&size)).into());
    }
    infer::one(args, Some([&size[..1], &size[2..], &[size.len() as i64 - 2]].concat()), elem)
}

fn affine_grid(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::affine_grid(i.get("theta")?, &i.ints("size")?.unwrap_or_default(), args.flag("align_corners")))
}

/// Deformable convolution: each filter tap is displaced by its own offset.
///
/// Taps are read with linear interpolation; positions outside the input read zero.
///
/// ```mlir
/// %y = graph.deform_conv %x, %w, %o : (tensor<1x3x8x8xf32>, tensor<4x3x2x2xf32>, tensor<1x8x7x7xf32>) -> tensor<1x4x7x7xf32>
/// ```
#[op(
    "graph.deform_conv",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x `,` $w `,` $offset (`bias` $b^)? (`mask` $mask^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_deform_conv,
    eval = deform_conv,
    verify = |m, op| checked(m, op, conv)
)]
pub struct DeformConvOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Filters, `[M, C / group, K...]`.
    w: Operand<FLOAT_TENSOR>,
    /// Displacement of each tap along each axis, `[N, offset_group * taps * r, O...]`.
    offset: Operand<FLOAT_TENSOR>,
    /// Bias, `[M]`.
    b: OptOperand<FLOAT_TENSOR>,
    /// Factor of each tap, `[N, offset_group * taps, O...]`.
    mask: OptOperand<FLOAT_TENSOR>,
    /// Distance between neighbouring taps; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Number of channel groups.
    #[default = "1 : i64"]
    group: OptAttribute<I64>,
    /// Spatial extents of the filters; must match `w`.
    kernel_shape: OptAttribute<I64_ARRAY>,
    /// Number of channel groups with their own offsets.
    #[default = "1 : i64"]
    offset_group: OptAttribute<I64>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Output, `[N, M, O...]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_deform_conv(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "w", "offset", "b", "mask"])?;
    infer::one(args, conv_shape(args)?, elem)
}

/// Returns the number of groups, the window geometry and the number of groups with offsets of `graph.deform_conv` of static shapes, if `x`, `w`,
/// `offset` and `mask` fit each other.
pub fn deformed_windows(args: &OpArgs<'_>) -> Option<(usize, Window, usize)> {
    let extents = |name| -> Option<Vec<usize>> {
        infer::dims(args, name)?.into_iter().map(|extent| usize::try_from(extent).ok()).collect()
    };
    let (x, w, offset) = (extents("x")?, extents("w")?, extents("offset")?);
    let (group, window) = conv_window(&x, &w, &conv(args).ok()?).ok()?;
    let parts = usize::try_from(int(args, "offset_group").ok()?).ok().filter(|&parts| parts > 0)?;
    let taps = window.kernel.iter().product::<usize>().checked_mul(parts)?;
    let of = |channels: usize| [&[x[0], channels], window.output.as_slice()].concat();
    let fits = x[1].is_multiple_of(parts)
        && offset == of(taps.checked_mul(window.input.len())?)
        && (args.opt_operand("mask").is_none() || extents("mask")? == of(taps));
    fits.then_some((group, window, parts))
}

fn deform_conv(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, weight, offset) = (i.get("x")?, i.get("w")?, i.get("offset")?);
    let inputs = kernels::DeformInputs { x, weight, offset, bias: i.opt("b")?, mask: i.opt("mask")? };
    one(kernels::deform_conv(&inputs, &conv(args)?, int(args, "offset_group")?))
}

/// Max unpooling: scatters maxima to their positions before pooling; other elements are zero.
///
/// ```mlir
/// %y = graph.max_unpool %x, %i {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf32>
/// ```
#[op(
    "graph.max_unpool",
    format = GENERIC,
    infer = infer_max_unpool,
    eval = max_unpool,
    verify = |m, op| checked(m, op, window)
)]
pub struct MaxUnpoolOp {
    /// Maxima, `[N, C, D...]`.
    x: Operand<TENSOR>,
    /// Index of each maximum in the flattened result.
    indices: Operand<I64_TENSOR>,
    /// Shape of the result; inferred from the window when absent.
    output_shape: OptOperand<I64_TENSOR>,
    /// Extents of the window.
    kernel_shape: Attribute<I64_ARRAY>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Unpooled tensor.
    y: OpResult<TENSOR>,
}

fn infer_max_unpool(args: &OpArgs<'_>) -> infer::Types {
    let (elem, attrs, x) = (infer::elem(args, "x")?, window(args)?, infer::dims(args, "x"));
    if args.opt_operand("output_shape").is_some() {
        let dims = infer::ints(args, "output_shape").filter(|d| d.iter().all(|&d| d >= 0));
        return infer::one(args, dims.or_else(|| x.map(|x| infer::unknown(x.len()))), elem);
    }
    let Some(x) = x else { return infer::one(args, None, elem) };
    let known: Vec<usize> = x.iter().map(|&d| infer::known(d).unwrap_or(1 << 20)).collect();
    let dims = infer::extents(&kernels::unpool_dims(&known, &attrs)?);
    let dims = dims.into_iter().zip(&x).map(|(d, &x)| if x == DYNAMIC { DYNAMIC } else { d }).collect();
    infer::one(args, Some(dims), elem)
}

fn max_unpool(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::max_unpool(i.get("x")?, i.get("indices")?, i.ints("output_shape")?.as_deref(), &window(args)?))
}

/// Accumulates blocks at the positions of a sliding window: the adjoint of im2col.
///
/// ```mlir
/// %y = graph.col2im %x, %image, %block : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x?x?x?xf32>
/// ```
#[op("graph.col2im", format = GENERIC, infer = infer_col2im, eval = col2im, verify = |m, op| checked(m, op, window))]
pub struct Col2ImOp {
    /// Blocks, `[N, C * block, L]`.
    x: Operand<TENSOR>,
    /// Spatial extents of the image.
    image_shape: Operand<I64_TENSOR>,
    /// Spatial extents of a block.
    block_shape: Operand<I64_TENSOR>,
    /// Distance between neighbouring elements of a block; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Pads: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Strides of the window; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Image, `[N, C, D...]`.
    y: OpResult<TENSOR>,
}

fn infer_col2im(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let image = infer::ints(args, "image_shape").or_else(|| infer::list_len(args, "image_shape").map(infer::unknown));
    let Some(image) = image.filter(|d| d.iter().all(|&d| d >= 0 || d == DYNAMIC)) else {
        return infer::one(args, None, elem);
    };
    let block = infer::ints(args, "block_shape").map_or(DYNAMIC, |b| infer::product(&b));
    let (n, width) = match infer::dims(args, "x").as_deref() {
        None => (DYNAMIC, DYNAMIC),
        Some(&[n, width, _]) => (n, width),
        Some(other) => return Err(format!("requires [N, C * block, L], not {}", infer::display(other)).into()),
    };
    let channels = infer::map(width, |w| (block > 0 && w % block == 0).then(|| w / block));
    infer::one(args, Some([&[n, channels], image.as_slice()].concat()), elem)
}

/// Returns the windows of `graph.col2im` whose extents are constant.
pub fn col2im_windows(args: &OpArgs<'_>) -> Option<Window> {
    let extents = |name| -> Option<Vec<usize>> {
        infer::always(args, name)?.to_i64()?.into_iter().map(|extent| usize::try_from(extent).ok()).collect()
    };
    window(args).ok()?.resolve(&extents("image_shape")?, &extents("block_shape")?).ok()
}

fn col2im(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (image, block) = (i.ints("image_shape")?.unwrap_or_default(), i.ints("block_shape")?.unwrap_or_default());
    one(kernels::col2im(i.get("x")?, &image, &block, &window(args)?))
}

/// Crops or zero-pads axes to given extents, keeping the center.
///
/// If the difference is odd, the extra element is cut or added at the end.
///
/// ```mlir
/// %y = graph.center_crop_pad %x, %size {axes = array<i64: 1>} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x?xf32>
/// ```
#[op("graph.center_crop_pad", format = GENERIC, infer = infer_center, eval = center)]
pub struct CenterCropPadOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Target extents.
    shape: Operand<INT_TENSOR>,
    /// Axes; all when absent.
    axes: OptAttribute<I64_ARRAY>,
    /// Result.
    y: OpResult<TENSOR>,
}

/// Returns the cropped or padded axes.
fn center_axes(args: &OpArgs<'_>, rank: usize) -> Result<Vec<usize>, Violation> {
    match list(args, "axes") {
        axes if axes.is_empty() => Ok((0..rank).collect()),
        axes => normalize_axes(&axes, rank),
    }
}

fn infer_center(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(mut dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let axes = center_axes(args, dims.len())?;
    let sizes = infer::ints(args, "shape").unwrap_or_else(|| infer::unknown(axes.len()));
    if sizes.len() != axes.len() || sizes.iter().any(|&s| s < 0 && s != DYNAMIC) {
        return Err(
            format!("requires an extent for each of {} axes, not {}", axes.len(), infer::display(&sizes)).into()
        );
    }
    axes.iter().zip(sizes).for_each(|(&a, s)| dims[a] = s);
    infer::one(args, Some(dims), elem)
}

fn center(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let x = i.get("x")?;
    one(kernels::center_crop_pad(x, &i.ints("shape")?.unwrap_or_default(), &center_axes(args, x.rank())?))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    GridSampleOp::INFO,
    AffineGridOp::INFO,
    DeformConvOp::INFO,
    MaxUnpoolOp::INFO,
    Col2ImOp::INFO,
    CenterCropPadOp::INFO,
]];
