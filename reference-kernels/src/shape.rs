//! Shape rules of kernels and shape inference: broadcasting, axes, and output sizes of windows.
//!
//! All functions are pure and take extents as `usize`; attributes are `i64`, as in ONNX.

pub use super::matmul::gemm_output_dims;
pub use super::movement::{slice_axis, split_sizes};
pub use super::pad::pad_dims;
pub use super::reduce::reduction_axes;
pub use super::resize::resize_dims;
use gradus_ir::Violation;
use gradus_ir::element_limit::is_within_element_limit;
use gradus_ir::tensor::checked_len;

/// Maximum number of elements of a result, against exhaustion of memory.
pub const MAX_ELEMENTS: usize = 1 << 27;

/// Returns the number of elements of `shape`; an error above [`MAX_ELEMENTS`] or the limit of the
/// execution.
pub fn checked_elements(shape: &[usize]) -> Result<usize, Violation> {
    let n = checked_len(shape).filter(|&n| is_within_element_limit(n) && n <= MAX_ELEMENTS);
    n.ok_or_else(|| format!("a result of shape {shape:?} exceeds the limit of 2^27 elements").into())
}

/// Returns the product of extents of an existing tensor; it overflows only for empty tensors, where it is unused.
pub(super) fn product(shape: &[usize]) -> usize {
    shape.iter().fold(1, |n, &d| n.wrapping_mul(d))
}

/// Returns row-major strides in elements, also for empty tensors.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1usize; shape.len()];
    for i in (1..shape.len()).rev() {
        out[i - 1] = out[i].wrapping_mul(shape[i]);
    }
    out
}

/// Normalizes an axis, which may count from the end, to an index below `rank`.
pub fn normalize_axis(axis: i64, rank: usize) -> Result<usize, Violation> {
    let r = i64::try_from(rank).map_err(|e| e.to_string())?;
    let at = if axis < 0 { axis.checked_add(r) } else { Some(axis) };
    let index = at.filter(|a| (0..r).contains(a)).and_then(|a| usize::try_from(a).ok());
    index.ok_or_else(|| format!("axis {axis} is out of range for rank {rank}").into())
}

/// Normalizes several axes, in the order given. Errors when one occurs twice.
pub fn normalize_axes(axes: &[i64], rank: usize) -> Result<Vec<usize>, Violation> {
    let mut out = Vec::with_capacity(axes.len().min(rank));
    for &axis in axes {
        let a = normalize_axis(axis, rank)?;
        if out.contains(&a) {
            return Err(format!("axis {axis} is listed twice").into());
        }
        out.push(a);
    }
    Ok(out)
}

/// Broadcasts two shapes by NumPy's rules: aligned at the last axis, extents of 1 stretch.
pub fn broadcast_shapes(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Violation> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            _ => Err(format!("shapes {a:?} and {b:?} do not broadcast").into()),
        })
        .collect()
}

/// Broadcasts all shapes; rank 0 for an empty list.
pub fn broadcast_all(shapes: &[&[usize]]) -> Result<Vec<usize>, Violation> {
    shapes.iter().try_fold(Vec::new(), |out, s| broadcast_shapes(&out, s))
}

/// The computation of pads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AutoPad {
    /// Explicit pads.
    #[default]
    NotSet,
    /// Pads for `ceil(input / stride)` output positions; an odd pad goes to the end.
    SameUpper,
    /// As [`AutoPad::SameUpper`], with an odd pad at the beginning.
    SameLower,
    /// No padding.
    Valid,
}

/// Sliding window attributes of ONNX. Empty lists mean the defaults: strides and dilations of 1, no pads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct WindowAttrs {
    /// Extent per spatial axis; may be empty for convolutions, whose weights determine it.
    pub kernel_shape: Vec<i64>,
    /// Step per spatial axis.
    pub strides: Vec<i64>,
    /// Distance between neighbouring taps per spatial axis.
    pub dilations: Vec<i64>,
    /// All begins, then all ends.
    pub pads: Vec<i64>,
    /// Computation of pads; overrides `pads` unless [`AutoPad::NotSet`].
    pub auto_pad: AutoPad,
    /// Whether partial windows at the end count (ceiling mode, pooling only).
    pub ceil_mode: bool,
}

/// A window resolved for an input, with all defaults, pads and output sizes. One entry per spatial axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Input extents.
    pub input: Vec<usize>,
    /// Kernel extents.
    pub kernel: Vec<usize>,
    /// Strides, at least 1.
    pub strides: Vec<usize>,
    /// Dilations, at least 1.
    pub dilations: Vec<usize>,
    /// Padding before the first element.
    pub pads_begin: Vec<usize>,
    /// Padding after the last element.
    pub pads_end: Vec<usize>,
    /// Output extents.
    pub output: Vec<usize>,
}

impl Window {
    /// Whether there is padding.
    pub fn is_padded(&self) -> bool {
        self.pads_begin.iter().chain(&self.pads_end).any(|&n| n > 0)
    }

    /// Whether each output position reads one input position, and there is no padding.
    pub fn has_one_tap(&self) -> bool {
        self.kernel.iter().all(|&n| n == 1) && !self.is_padded()
    }

    /// Whether each output position reads the input position of the same index only.
    pub fn is_pointwise(&self) -> bool {
        self.has_one_tap() && self.strides.iter().all(|&n| n == 1)
    }
}

/// Upper bound of extents and strides, so that sums cannot overflow.
const MAX_EXTENT: usize = 1 << 31;

/// Converts a list attribute to extents of at least `least`; `default` if empty.
pub(super) fn extents(
    name: &str,
    list: &[i64],
    rank: usize,
    default: usize,
    least: usize,
) -> Result<Vec<usize>, Violation> {
    if list.is_empty() {
        return Ok(vec![default; rank]);
    }
    if list.len() != rank {
        return Err(format!("{name} {list:?} should have {rank} entries").into());
    }
    let convert = |&v: &i64| usize::try_from(v).ok().filter(|v| (least..=MAX_EXTENT).contains(v));
    list.iter().map(|v| convert(v).ok_or_else(|| format!("{name} {list:?} is out of range").into())).collect()
}

impl WindowAttrs {
    /// Resolves the attributes for spatial extents `input` and `kernel`. Errors: lists of wrong length, entries out of
    /// range, windows larger than the padded input.
    pub fn resolve(&self, input: &[usize], kernel: &[usize]) -> Result<Window, Violation> {
        let rank = input.len();
        if kernel.len() != rank || input.iter().chain(kernel).any(|&d| d > MAX_EXTENT) || kernel.contains(&0) {
            return Err(format!("a window of {kernel:?} cannot slide over spatial extents {input:?}").into());
        }
        let strides = extents("strides", &self.strides, rank, 1, 1)?;
        let dilations = extents("dilations", &self.dilations, rank, 1, 1)?;
        let mut pads_begin = extents("pads", &self.pads, rank * 2, 0, 0)?;
        let mut pads_end = pads_begin.split_off(rank);
        let mut output = Vec::with_capacity(rank);
        for i in 0..rank {
            let reach = (kernel[i] - 1).checked_mul(dilations[i]).filter(|&r| r < MAX_EXTENT);
            let reach = reach.ok_or("the dilated kernel is too large")? + 1;
            let pads = [&mut pads_begin[i], &mut pads_end[i]];
            output.push(self.one_axis(input[i], reach, strides[i], pads)?);
        }
        let (input, kernel) = (input.to_vec(), kernel.to_vec());
        Ok(Window { input, kernel, strides, dilations, pads_begin, pads_end, output })
    }

    /// Computes the output extent and pads along one axis, for a kernel spanning `reach` elements.
    fn one_axis(
        &self,
        n: usize,
        reach: usize,
        stride: usize,
        [begin, end]: [&mut usize; 2],
    ) -> Result<usize, Violation> {
        match self.auto_pad {
            AutoPad::NotSet => {}
            AutoPad::Valid => (*begin, *end) = (0, 0),
            AutoPad::SameUpper | AutoPad::SameLower => {
                let out = n.div_ceil(stride);
                let total = (out.saturating_sub(1) * stride + reach).saturating_sub(n);
                let small = total / 2;
                let upper = self.auto_pad == AutoPad::SameUpper;
                (*begin, *end) = if upper { (small, total - small) } else { (total - small, small) };
                return Ok(out);
            }
        }
        let padded = n + *begin + *end;
        let misfit =
            || Violation::from(format!("a window over {reach} elements does not fit {padded} padded elements"));
        if !self.ceil_mode {
            return Ok(padded.checked_sub(reach).ok_or_else(misfit)? / stride + 1);
        }
        // With rounding up, a window may exceed the input by less than a stride.
        let out = (padded + stride).checked_sub(reach).filter(|&r| r > 0).ok_or_else(misfit)?.div_ceil(stride);
        // A window that starts in the end padding does not count.
        Ok(if (out - 1) * stride >= n + *begin { out - 1 } else { out })
    }

    /// Returns the kernel extents of operations that have them as an attribute.
    pub fn kernel(&self, rank: usize) -> Result<Vec<usize>, Violation> {
        if self.kernel_shape.is_empty() {
            return Err("kernel_shape is missing".into());
        }
        extents("kernel_shape", &self.kernel_shape, rank, 1, 1)
    }
}

/// Attributes of a convolution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConvAttrs {
    /// Sliding window.
    pub window: WindowAttrs,
    /// Number of channel groups, or [`PER_CHANNEL`].
    pub group: i64,
}

/// The number of groups of a depthwise convolution of any number of channels.
pub const PER_CHANNEL: i64 = -1;

impl ConvAttrs {
    /// Returns the number of groups for an input of `channels` channels; 0 only for a depthwise one without channels.
    pub fn groups(&self, channels: usize) -> Option<usize> {
        match self.group {
            PER_CHANNEL => Some(channels),
            group => usize::try_from(group).ok().filter(|&group| group > 0),
        }
    }
}

impl Default for ConvAttrs {
    fn default() -> Self {
        ConvAttrs { window: WindowAttrs::default(), group: 1 }
    }
}

/// Checks a convolution of `[N, C, D...]` with `[M, C / group, K...]`; returns the number of groups and the window.
pub fn conv_window(input: &[usize], weight: &[usize], attrs: &ConvAttrs) -> Result<(usize, Window), Violation> {
    let wrong = |why: &str| Violation::from(format!("convolution of {input:?} by {weight:?}: {why}"));
    if input.len() < 2 || input.len() != weight.len() {
        return Err(wrong("ranks should be equal and at least 2"));
    }
    let group = attrs.groups(input[1]).ok_or_else(|| wrong("group should be positive, or -1"))?;
    if weight[1].checked_mul(group) != Some(input[1]) || !weight[0].is_multiple_of(group) {
        return Err(wrong("channels do not match the groups"));
    }
    let kernel = &attrs.window.kernel_shape;
    if !kernel.is_empty() && attrs.window.kernel(input.len() - 2)? != weight[2..] {
        return Err(wrong("kernel_shape differs from the weights"));
    }
    Ok((group, attrs.window.resolve(&input[2..], &weight[2..]).map_err(|e| wrong(e.message()))?))
}

/// Returns the shape `[N, M, O...]` of the convolution of `[N, C, D...]` with `[M, C / group, K...]`.
pub fn conv_output_dims(input: &[usize], weight: &[usize], attrs: &ConvAttrs) -> Result<Vec<usize>, Violation> {
    let (_, window) = conv_window(input, weight, attrs)?;
    Ok([&[input[0], weight[0]], window.output.as_slice()].concat())
}

/// Returns the shape `[N, C, O...]` of a pool over `[N, C, D...]`.
pub fn pool_output_dims(input: &[usize], attrs: &WindowAttrs) -> Result<Vec<usize>, Violation> {
    let window = pool_window(input, attrs)?;
    Ok([&input[..2], window.output.as_slice()].concat())
}

/// Returns the window of a pool over `[N, C, D...]`.
pub fn pool_window(input: &[usize], attrs: &WindowAttrs) -> Result<Window, Violation> {
    if input.len() < 2 {
        return Err(format!("pooling needs a batch and a channel axis, not {input:?}").into());
    }
    attrs.resolve(&input[2..], &attrs.kernel(input.len() - 2)?)
}

/// Attributes of a transposed convolution.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ConvTransposeAttrs {
    /// Strides, dilations, pads, `auto_pad` and groups.
    pub conv: ConvAttrs,
    /// Additional extent at the end of each output axis; empty for none.
    pub output_padding: Vec<i64>,
    /// Spatial output extents, which determine the pads; empty to use explicit pads.
    pub output_shape: Vec<i64>,
}

/// Checks a transposed convolution of `[N, C, D...]` with `[C, M / group, K...]`; returns the number of groups and the
/// window, whose `output` is the (larger) result.
pub fn conv_transpose_window(
    input: &[usize],
    weight: &[usize],
    attrs: &ConvTransposeAttrs,
) -> Result<(usize, Window), Violation> {
    let wrong = |why: &str| Violation::from(format!("transposed convolution of {input:?} by {weight:?}: {why}"));
    let a = &attrs.conv.window;
    if input.len() < 2 || input.len() != weight.len() || weight[0] != input[1] {
        return Err(wrong("ranks should be equal and at least 2, and channels the same"));
    }
    let group = usize::try_from(attrs.conv.group).ok().filter(|&g| g > 0 && input[1].is_multiple_of(g));
    let group = group.ok_or_else(|| wrong("channels do not match the groups"))?;
    let (rank, kernel, spatial) = (input.len() - 2, weight[2..].to_vec(), input[2..].to_vec());
    if kernel.contains(&0) || spatial.contains(&0) || kernel.iter().chain(&spatial).any(|&d| d > MAX_EXTENT) {
        return Err(wrong("extents out of range"));
    }
    let strides = extents("strides", &a.strides, rank, 1, 1)?;
    let dilations = extents("dilations", &a.dilations, rank, 1, 1)?;
    let extra = extents("output_padding", &attrs.output_padding, rank, 0, 0)?;
    let mut pads_begin = extents("pads", &a.pads, rank * 2, 0, 0)?;
    let mut pads_end = pads_begin.split_off(rank);
    let wanted = match a.auto_pad {
        _ if !attrs.output_shape.is_empty() => Some(extents("output_shape", &attrs.output_shape, rank, 0, 0)?),
        AutoPad::SameUpper | AutoPad::SameLower => {
            Some(spatial.iter().zip(&strides).map(|(n, s)| n.saturating_mul(*s)).collect())
        }
        AutoPad::Valid | AutoPad::NotSet => None,
    };
    let mut output = Vec::with_capacity(rank);
    for i in 0..rank {
        let full = (spatial[i] - 1)
            .checked_mul(strides[i])
            .zip((kernel[i] - 1).checked_mul(dilations[i]))
            .and_then(|(x, y)| x.checked_add(y)?.checked_add(extra[i])?.checked_add(1))
            .ok_or_else(|| wrong("extents out of range"))?;
        if let Some(wanted) = &wanted {
            let total = full.saturating_sub(wanted[i]);
            let upper = a.auto_pad == AutoPad::SameUpper;
            let begin = if upper { total / 2 } else { total - total / 2 };
            (pads_begin[i], pads_end[i]) = (begin, total - begin);
            output.push(wanted[i]);
        } else {
            let out = full.checked_sub(pads_begin[i] + pads_end[i]);
            output.push(out.ok_or_else(|| wrong("the pads remove the whole output"))?);
        }
    }
    let window = Window { input: spatial, kernel, strides, dilations, pads_begin, pads_end, output };
    Ok((group, window))
}

/// Returns the shape `[N, M, O...]` of the transposed convolution of `[N, C, D...]` with `[C, M / group, K...]`.
pub fn conv_transpose_output_dims(
    input: &[usize],
    weight: &[usize],
    attrs: &ConvTransposeAttrs,
) -> Result<Vec<usize>, Violation> {
    let (group, window) = conv_transpose_window(input, weight, attrs)?;
    let channels = weight[1].checked_mul(group).ok_or("too many channels")?;
    Ok([&[input[0], channels], window.output.as_slice()].concat())
}

/// Returns the shape of the matrix product of `a` and `b`, by NumPy's rules for vectors and batches.
pub fn matmul_output_dims(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Violation> {
    if a.is_empty() || b.is_empty() {
        return Err("matmul is not defined for scalars".into());
    }
    let inner_b = if b.len() == 1 { b[0] } else { b[b.len() - 2] };
    if a[a.len() - 1] != inner_b {
        return Err(format!("matmul of {a:?} by {b:?}: the inner extents differ").into());
    }
    let batch = |s: &[usize]| s[..s.len().saturating_sub(2)].to_vec();
    let mut out = broadcast_shapes(&batch(a), &batch(b))?;
    if a.len() > 1 {
        out.push(a[a.len() - 2]);
    }
    if b.len() > 1 {
        out.push(b[b.len() - 1]);
    }
    Ok(out)
}

/// Returns the shape of a `Reshape` of `input` to `wanted`: 0 copies the extent (unless `allow_zero`), one -1 is
/// inferred.
pub fn reshape_dims(input: &[usize], wanted: &[i64], allow_zero: bool) -> Result<Vec<usize>, Violation> {
    let wrong = || Violation::from(format!("{input:?} cannot be reshaped to {wanted:?}"));
    let total = checked_len(input).ok_or_else(wrong)?;
    let (mut out, mut inferred) = (Vec::with_capacity(wanted.len()), None);
    for (i, &d) in wanted.iter().enumerate() {
        match d {
            -1 if inferred.is_none() => inferred = Some(i),
            0 if !allow_zero => out.push(*input.get(i).ok_or_else(wrong)?),
            _ => out.push(usize::try_from(d).map_err(|_| wrong())?),
        }
    }
    let known = checked_len(&out).ok_or_else(wrong)?;
    match inferred {
        Some(at) if known > 0 && total.is_multiple_of(known) => out.insert(at, total / known),
        None if known == total => {}
        _ => return Err(wrong()),
    }
    Ok(out)
}

/// Returns the shape without `axes`, or without all extents of 1 when `None`.
pub fn squeeze_dims(input: &[usize], axes: Option<&[i64]>) -> Result<Vec<usize>, Violation> {
    let Some(axes) = axes else {
        return Ok(input.iter().copied().filter(|&d| d != 1).collect());
    };
    let axes = normalize_axes(axes, input.len())?;
    if let Some(&a) = axes.iter().find(|&&a| input[a] != 1) {
        return Err(format!("axis {a} of {input:?} cannot be squeezed").into());
    }
    Ok((0..input.len()).filter(|i| !axes.contains(i)).map(|i| input[i]).collect())
}

/// Returns the shape with extents of 1 inserted at `axes` of the result.
pub fn unsqueeze_dims(input: &[usize], axes: &[i64]) -> Result<Vec<usize>, Violation> {
    let rank = input.len() + axes.len();
    let axes = normalize_axes(axes, rank)?;
    let mut rest = input.iter().copied();
    Ok((0..rank).map(|i| if axes.contains(&i) { 1 } else { rest.next().unwrap_or(1) }).collect())
}

/// Returns the extents of `Flatten`: the products before and from `axis`, which may equal the rank.
pub fn flatten_dims(input: &[usize], axis: i64) -> Result<Vec<usize>, Violation> {
    let rank = input.len();
    let at = if usize::try_from(axis) == Ok(rank) { rank } else { normalize_axis(axis, rank)? };
    let product = |s: &[usize]| checked_len(s).ok_or_else(|| format!("{input:?} overflows"));
    Ok(vec![product(&input[..at])?, product(&input[at..])?])
}

/// Returns the shape after reducing `axes`; with `keepdims` they are kept with extent 1.
pub fn reduce_dims(input: &[usize], axes: &[usize], keepdims: bool) -> Vec<usize> {
    let dims = input.iter().enumerate();
    dims.filter_map(|(i, &d)| if !axes.contains(&i) { Some(d) } else { keepdims.then_some(1) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast_shapes(&[3, 1, 2], &[4, 1]).unwrap(), [3, 4, 2]);
        assert_eq!(broadcast_shapes(&[0], &[1]).unwrap(), [0]);
        assert!(broadcast_shapes(&[2], &[3]).is_err());
    }

    #[test]
    fn windows() {
        let attrs = |auto_pad, ceil_mode| WindowAttrs {
            kernel_shape: vec![3],
            strides: vec![2],
            auto_pad,
            ceil_mode,
            ..WindowAttrs::default()
        };
        let out = |n: usize, a: AutoPad, c: bool| pool_output_dims(&[1, 1, n], &attrs(a, c)).unwrap()[2];
        assert_eq!(out(6, AutoPad::NotSet, false), 2);
        assert_eq!(out(6, AutoPad::NotSet, true), 3);
        assert_eq!(out(5, AutoPad::SameUpper, false), 3);
        let w = attrs(AutoPad::SameLower, false).resolve(&[6], &[3]).unwrap();
        assert_eq!((w.pads_begin[0], w.pads_end[0], w.output[0]), (1, 0, 3));
        assert!(attrs(AutoPad::Valid, false).resolve(&[2], &[3]).is_err());
    }

    #[test]
    fn reshapes() {
        assert_eq!(reshape_dims(&[2, 3, 4], &[0, -1], false).unwrap(), [2, 12]);
        assert_eq!(reshape_dims(&[0, 3], &[3, 0], true).unwrap(), [3, 0]);
        assert!(reshape_dims(&[2, 3], &[-1, -1], false).is_err());
        assert_eq!(unsqueeze_dims(&[2], &[0, -1]).unwrap(), [1, 2, 1]);
        assert_eq!(flatten_dims(&[2, 3], 2).unwrap(), [6, 1]);
    }
}
