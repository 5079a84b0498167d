//! `Resize`: resampling along any axes. Interpolation is separable: each axis is resampled in turn, by a table of input
//! positions and weights for each output position.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::movement::{around, from_bytes};
use crate::shape::{MAX_ELEMENTS, checked_elements, normalize_axes};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// The interpolation of elements between input positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ResizeMode {
    /// Nearest neighbour; see [`NearestMode`].
    #[default]
    Nearest,
    /// Linear, from two neighbours along each axis.
    Linear,
    /// Cubic, from four neighbours along each axis.
    Cubic,
}

/// The mapping from output to input coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Coordinates {
    /// Pixel centers at halves: `(o + 0.5) / scale - 0.5`.
    #[default]
    HalfPixel,
    /// As [`Coordinates::HalfPixel`], with the image center fixed when the size was rounded.
    HalfPixelSymmetric,
    /// As [`Coordinates::HalfPixel`], except that an output of one element is at the start.
    PytorchHalfPixel,
    /// First and last elements stay in place.
    AlignCorners,
    /// `o / scale`.
    Asymmetric,
    /// The region of interest is stretched over the output; outside the input is a constant.
    TfCropAndResize,
}

/// The rounding of coordinates to the nearest element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum NearestMode {
    /// To nearest, half down.
    #[default]
    RoundPreferFloor,
    /// To nearest, half up.
    RoundPreferCeil,
    /// Down.
    Floor,
    /// Up.
    Ceil,
}

/// The interpretation of `sizes` with respect to the aspect ratio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AspectPolicy {
    /// Exactly these sizes.
    #[default]
    Stretch,
    /// The largest sizes of the same ratio that do not exceed these.
    NotLarger,
    /// The smallest sizes of the same ratio that are at least these.
    NotSmaller,
}

/// Attributes of [`resize`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResizeAttrs {
    /// Interpolation.
    pub mode: ResizeMode,
    /// Coordinate transformation.
    pub coordinates: Coordinates,
    /// Rounding for [`ResizeMode::Nearest`].
    pub nearest: NearestMode,
    /// Coefficient `a` of cubic interpolation.
    pub cubic_a: f64,
    /// Whether weights outside the input are zero, with renormalization, rather than applied to the edge.
    pub exclude_outside: bool,
    /// Whether downsampling applies an antialiasing filter (linear and cubic).
    pub antialias: bool,
    /// Value outside the input for [`Coordinates::TfCropAndResize`].
    pub extrapolation: f64,
    /// Interpretation of `sizes`.
    pub aspect: AspectPolicy,
}

impl Default for ResizeAttrs {
    fn default() -> Self {
        ResizeAttrs {
            mode: ResizeMode::default(),
            coordinates: Coordinates::default(),
            nearest: NearestMode::default(),
            cubic_a: -0.75,
            exclude_outside: false,
            antialias: false,
            extrapolation: 0.0,
            aspect: AspectPolicy::default(),
        }
    }
}

/// Returns the output shape and scale of every axis. Exactly one of `scales` and `sizes` is nonempty; both refer to `axes`,
/// which are normalized.
pub fn resize_dims(
    input: &[usize],
    scales: &[f32],
    sizes: &[i64],
    axes: &[usize],
    aspect: AspectPolicy,
) -> Result<(Vec<usize>, Vec<f64>), Violation> {
    let wrong =
        || Violation::from(format!("scales {scales:?} or sizes {sizes:?} do not fit {input:?} along axes {axes:?}"));
    let (mut shape, mut factors) = (input.to_vec(), vec![1.0; input.len()]);
    if scales.len() == axes.len() && sizes.is_empty() {
        for (&axis, &scale) in axes.iter().zip(scales) {
            let extent = (shape[axis] as f32 * scale).floor();
            if !(scale > 0.0 && extent <= MAX_ELEMENTS as f32) {
                return Err(wrong());
            }
            (shape[axis], factors[axis]) = (extent as usize, scale.into());
        }
    } else if sizes.len() == axes.len() && scales.is_empty() {
        let mut wanted = Vec::with_capacity(sizes.len());
        for (&axis, &size) in axes.iter().zip(sizes) {
            let size = usize::try_from(size).ok().filter(|&s| s <= MAX_ELEMENTS).ok_or_else(wrong)?;
            wanted.push(size as f64 / input[axis] as f64);
            (shape[axis], factors[axis]) = (size, size as f64 / input[axis] as f64);
        }
        let one = match aspect {
            AspectPolicy::Stretch => None,
            AspectPolicy::NotLarger => wanted.into_iter().reduce(f64::min),
            AspectPolicy::NotSmaller => wanted.into_iter().reduce(f64::max),
        };
        for (&axis, scale) in axes.iter().zip(one.iter().cycle()) {
            let extent = (scale * input[axis] as f64 + 0.5).floor();
            (shape[axis], factors[axis]) = (extent.min(MAX_ELEMENTS as f64 + 1.0) as usize, *scale);
        }
    } else {
        return Err(wrong());
    }
    checked_elements(&shape)?;
    Ok((shape, factors))
}

/// Input positions and weights of one output element; `None` outside the input.
pub type Sources = Option<Vec<(usize, f64)>>;

/// How a tensor of some shape is resampled.
#[derive(Clone, PartialEq, Debug)]
pub struct Resampling {
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// The axes that change, with the sources of each position; none if there are no elements.
    pub axes: Vec<(usize, Vec<Sources>)>,
}

impl Resampling {
    /// Resamples `axes` of a shape (all if empty) by `scales` or to `sizes`; the other is empty. `roi` is empty, or holds all starts
    /// then all ends along `axes`, normalized.
    ///
    /// # Errors
    /// The numbers do not fit the shape, or there is nothing to resample.
    pub fn new(
        input: &[usize],
        roi: &[f64],
        scales: &[f32],
        sizes: &[i64],
        axes: &[i64],
        attrs: &ResizeAttrs,
    ) -> Result<Resampling, Violation> {
        let axes = if axes.is_empty() { (0..input.len()).collect() } else { normalize_axes(axes, input.len())? };
        let (shape, factors) = resize_dims(input, scales, sizes, &axes, attrs.aspect)?;
        let crop = attrs.coordinates == Coordinates::TfCropAndResize;
        if crop && roi.len() != axes.len() * 2 {
            return Err(
                format!("resize: {} axes need twice as many entries in roi, not {}", axes.len(), roi.len()).into()
            );
        }
        if shape.contains(&0) {
            return Ok(Resampling { shape, axes: Vec::new() });
        }
        if input.contains(&0) {
            return Err("resize of nothing".into());
        }
        let mut tables = Vec::with_capacity(axes.len());
        for (i, &axis) in axes.iter().enumerate() {
            let roi = if crop { (roi[i], roi[axes.len() + i]) } else { (0.0, 1.0) };
            let unchanged = factors[axis] == 1.0 && shape[axis] == input[axis] && roi == (0.0, 1.0);
            if !unchanged {
                tables.push((axis, table(input[axis], shape[axis], factors[axis], roi, attrs)));
            }
        }
        Ok(Resampling { shape, axes: tables })
    }
}

/// `Resize` (10, 11, 13, 18, 19): resamples `x`; see [`Resampling::new`].
pub fn resize(
    x: &Tensor,
    roi: &[f64],
    scales: &[f32],
    sizes: &[i64],
    axes: &[i64],
    attrs: &ResizeAttrs,
) -> KernelResult {
    let Resampling { shape, axes: tables } = Resampling::new(x.shape(), roi, scales, sizes, axes, attrs)?;
    if shape.contains(&0) {
        return from_bytes(x.dtype(), &shape, vec![]);
    }
    if attrs.mode == ResizeMode::Nearest {
        let outside = from_f64s(x.dtype(), &[], vec![attrs.extrapolation]);
        return match x.dtype().size() {
            1 => nearest::<1>(x, &tables, &outside),
            2 => nearest::<2>(x, &tables, &outside),
            4 => nearest::<4>(x, &tables, &outside),
            _ => nearest::<8>(x, &tables, &outside),
        };
    }
    let (mut data, mut dims) = (x.to_f64(), x.shape().to_vec());
    for (axis, table) in &tables {
        let sum = |s: &[(usize, f64)], lane: &dyn Fn(usize) -> f64| s.iter().map(|&(p, w)| lane(p) * w).sum();
        (data, dims) = along(&data, &dims, *axis, table, attrs.extrapolation, sum)?;
    }
    if !x.dtype().is_float() {
        data.iter_mut().for_each(|v| *v = v.round_ties_even());
    }
    Ok(from_f64s(x.dtype(), &dims, data))
}

/// Resamples opaque elements of `N` bytes.
fn nearest<const N: usize>(x: &Tensor, tables: &[(usize, Vec<Sources>)], outside: &Tensor) -> KernelResult {
    let outside: [u8; N] = outside.bytes()[..].try_into().map_err(|_| "elements of another size")?;
    let (mut data, mut dims) = (x.bytes().as_chunks::<N>().0.to_vec(), x.shape().to_vec());
    for (axis, table) in tables {
        let first = |s: &[(usize, f64)], lane: &dyn Fn(usize) -> [u8; N]| s.first().map_or(outside, |s| lane(s.0));
        (data, dims) = along(&data, &dims, *axis, table, outside, first)?;
    }
    from_bytes(x.dtype(), &dims, data.into_flattened())
}

/// Resamples one axis: `f` computes an element from its sources and a view of the lane.
fn along<T: Copy>(
    data: &[T],
    dims: &[usize],
    axis: usize,
    table: &[Sources],
    outside: T,
    f: impl Fn(&[(usize, f64)], &dyn Fn(usize) -> T) -> T,
) -> Result<(Vec<T>, Vec<usize>), Violation> {
    let mut shape = dims.to_vec();
    shape[axis] = table.len();
    let (mut out, (outer, inner)) = (Vec::with_capacity(checked_elements(&shape)?), around(dims, axis));
    for o in 0..outer {
        for sources in table {
            match sources {
                None => out.extend(std::iter::repeat_n(outside, inner)),
                Some(sources) => {
                    let base = o * dims[axis] * inner;
                    out.extend((0..inner).map(|i| f(sources, &|p| data[base + p * inner + i])));
                }
            }
        }
    }
    Ok((out, shape))
}

/// Sources of every output position of an axis of extent `n` resized to `out`.
fn table(n: usize, out: usize, scale: f64, roi: (f64, f64), attrs: &ResizeAttrs) -> Vec<Sources> {
    (0..out)
        .map(|o| {
            let x = coordinate(o as f64, n as f64, out as f64, scale, roi, attrs.coordinates);
            if attrs.coordinates == Coordinates::TfCropAndResize && !(0.0..=(n - 1) as f64).contains(&x) {
                return None;
            }
            Some(sources(x, n, scale, attrs))
        })
        .collect()
}

/// Returns the input coordinate of output coordinate `o`, for extents `n` and `rounded`.
fn coordinate(o: f64, n: f64, rounded: f64, scale: f64, roi: (f64, f64), mode: Coordinates) -> f64 {
    let exact = scale * n;
    let half_pixel = (o + 0.5) / scale - 0.5;
    match mode {
        Coordinates::HalfPixel => half_pixel,
        Coordinates::HalfPixelSymmetric => n / 2.0 * (1.0 - rounded / exact) + half_pixel,
        Coordinates::PytorchHalfPixel if exact == 1.0 => -0.5,
        Coordinates::PytorchHalfPixel => half_pixel,
        Coordinates::AlignCorners if exact == 1.0 => 0.0,
        Coordinates::AlignCorners => o * (n - 1.0) / (exact - 1.0),
        Coordinates::Asymmetric => o / scale,
        Coordinates::TfCropAndResize => {
            let inside = if exact == 1.0 { (n - 1.0) / 2.0 } else { o * (n - 1.0) / (exact - 1.0) };
            roi.0 * (n - 1.0) + (roi.1 - roi.0) * inside
        }
    }
}

/// Returns the input positions around `x` and their weights.
fn sources(x: f64, n: usize, scale: f64, attrs: &ResizeAttrs) -> Vec<(usize, f64)> {
    let last = (n - 1) as f64;
    let clamp = |p: f64| p.clamp(0.0, last) as usize;
    let floor = x.floor();
    if attrs.mode == ResizeMode::Nearest {
        let nearest = match attrs.nearest {
            _ if x == floor => x,
            NearestMode::RoundPreferFloor => (x - 0.5).ceil(),
            NearestMode::RoundPreferCeil => (x + 0.5).floor(),
            NearestMode::Floor => floor,
            NearestMode::Ceil => x.ceil(),
        };
        return vec![(clamp(nearest), 1.0)];
    }
    let radius = if attrs.mode == ResizeMode::Linear { 1.0 } else { 2.0 };
    // Antialiasing stretches the kernel over the merged elements.
    let stretch = if attrs.antialias { scale.min(1.0) } else { 1.0 };
    let reach = (radius / stretch).ceil().min(last + radius + 1.0);
    let mut out = Vec::new();
    let mut p = floor - reach;
    while p <= floor + reach + 1.0 {
        let weight = kernel(attrs, ((p - x) * stretch).abs());
        let outside = p < 0.0 || p > last;
        if weight != 0.0 && !(attrs.exclude_outside && outside) {
            out.push((clamp(p), weight));
        }
        p += 1.0;
    }
    let total: f64 = out.iter().map(|s| s.1).sum();
    if (attrs.exclude_outside || attrs.antialias) && total != 0.0 {
        out.iter_mut().for_each(|s| s.1 /= total);
    }
    out
}

/// Returns the weight at a distance: the linear or cubic interpolation kernel.
fn kernel(attrs: &ResizeAttrs, d: f64) -> f64 {
    let a = attrs.cubic_a;
    match attrs.mode {
        ResizeMode::Cubic if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
        ResizeMode::Cubic if d < 2.0 => ((d - 5.0) * d + 8.0) * d * a - 4.0 * a,
        ResizeMode::Linear if d < 1.0 => 1.0 - d,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates() {
        let x = Tensor::from_vec(&[2], vec![1f32, 3.0]);
        let run = |attrs: ResizeAttrs| resize(&x, &[], &[2.0], &[], &[], &attrs).unwrap().to_f64();
        assert_eq!(run(ResizeAttrs::default()), [1.0, 1.0, 3.0, 3.0]);
        assert_eq!(run(ResizeAttrs { mode: ResizeMode::Linear, ..ResizeAttrs::default() }), [1.0, 1.5, 2.5, 3.0]);
        let corners = Coordinates::AlignCorners;
        let y = run(ResizeAttrs { mode: ResizeMode::Linear, coordinates: corners, ..ResizeAttrs::default() });
        assert!((y[1] - 5.0 / 3.0).abs() < 1e-6 && y[3] == 3.0);
        assert!(resize(&x, &[], &[f32::NAN], &[], &[], &ResizeAttrs::default()).is_err());
        assert!(resize(&x, &[], &[], &[i64::MAX], &[], &ResizeAttrs::default()).is_err());
    }

    #[test]
    fn aspect_policies() {
        let dims = |p| resize_dims(&[2, 4], &[], &[7, 8], &[0, 1], p).unwrap().0;
        assert_eq!(dims(AspectPolicy::NotLarger), [4, 8]);
        assert_eq!(dims(AspectPolicy::NotSmaller), [7, 14]);
    }
}
