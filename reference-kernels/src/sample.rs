//! Sampling of images at fractional positions, by separable interpolation.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::matmul::stacked;
use crate::shape::{ConvAttrs, Window, checked_elements, conv_window, product, strides};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// The interpolation between elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SampleMode {
    /// Linear, from two neighbours along each axis.
    #[default]
    Linear,
    /// Nearest element; half to even.
    Nearest,
    /// Cubic, from four neighbours along each axis.
    Cubic,
}

/// Padding outside the image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SamplePadding {
    /// Zeros.
    #[default]
    Zeros,
    /// Edge element.
    Border,
    /// Reflection at the edge.
    Reflection,
}

/// Attributes of [`grid_sample`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GridSampleAttrs {
    /// Interpolation.
    pub mode: SampleMode,
    /// Padding outside the image.
    pub padding: SamplePadding,
    /// Whether -1 and 1 are the centers of the corner pixels rather than their outer edges.
    pub align_corners: bool,
}

/// Positions and weights of the elements of samples; elements outside the image are omitted.
type Taps = Vec<(usize, f64)>;

/// Coefficient `a` of cubic interpolation.
const CUBIC: f64 = -0.75;

impl GridSampleAttrs {
    /// Returns the limits of an axis of extent `n`.
    fn limits(self, n: usize) -> (f64, f64) {
        let last = n as f64 - 1.0;
        if self.align_corners { (0.0, last) } else { (-0.5, last + 0.5) }
    }

    /// Sets `taps` to those of a coordinate in [-1, 1] along an axis of extent `n`.
    fn set_taps(self, taps: &mut Taps, coordinate: f64, n: usize) {
        let last = n as f64 - 1.0;
        let exact = match self.align_corners {
            true => (coordinate + 1.0) / 2.0 * last,
            false => ((coordinate + 1.0) * n as f64 - 1.0) / 2.0,
        };
        // The nearest element may depend on the rounding of coordinates.
        let x = f64::from(exact as f32);
        let x = if self.mode == SampleMode::Nearest { x.round_ties_even() } else { x };
        let (low, high) = self.limits(n);
        let x = match self.padding {
            SamplePadding::Border if x < low || x > high => x.clamp(0.0, last),
            SamplePadding::Reflection => reflect(x, low, high),
            _ => x,
        };
        match self.mode {
            SampleMode::Nearest => self.set_inside(taps, [(x.trunc(), 1.0)], n),
            SampleMode::Linear => self.set_inside(taps, linear(x), n),
            SampleMode::Cubic => self.set_inside(taps, cubic(x), n),
        }
    }

    /// Sets `taps` to the elements at some positions along an axis of extent `n`.
    fn set_inside<const K: usize>(self, taps: &mut Taps, near: [(f64, f64); K], n: usize) {
        taps.clear();
        taps.extend(near.into_iter().filter_map(|(p, weight)| Some((self.inside(p, n)?, weight))));
    }

    /// Returns the element at a position, padded outside an axis of extent `n`.
    fn inside(self, p: f64, n: usize) -> Option<usize> {
        let last = n as f64 - 1.0;
        match self.padding {
            SamplePadding::Zeros => (0.0..=last).contains(&p).then_some(p as usize),
            SamplePadding::Border => Some(p.clamp(0.0, last) as usize),
            SamplePadding::Reflection => {
                let (low, high) = self.limits(n);
                Some(reflect(p, low, high).clamp(0.0, last) as usize)
            }
        }
    }
}

/// Reflects a coordinate at two limits until it lies between them.
fn reflect(x: f64, low: f64, high: f64) -> f64 {
    let range = high - low;
    let beyond = if x < low { low - x } else { x - high };
    if beyond.is_nan() || beyond <= 0.0 || range <= 0.0 {
        return x.clamp(low, high.max(low));
    }
    let turns = (beyond / range).trunc();
    let rest = beyond - turns * range;
    if (turns % 2.0 == 0.0) == (x < low) { low + rest } else { high - rest }
}

/// Returns the offsets and weights of linear interpolation.
fn linear(x: f64) -> [(f64, f64); 2] {
    let (floor, part) = (x.floor(), x - x.floor());
    [(floor, 1.0 - part), (floor + 1.0, part)]
}

/// Returns the offsets and weights of cubic interpolation.
fn cubic(x: f64) -> [(f64, f64); 4] {
    let (floor, part) = (x.floor(), x - x.floor());
    let near = |d: f64| ((CUBIC + 2.0) * d - (CUBIC + 3.0)) * d * d + 1.0;
    let far = |d: f64| ((CUBIC * d - 5.0 * CUBIC) * d + 8.0 * CUBIC) * d - 4.0 * CUBIC;
    let weights = [far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)];
    std::array::from_fn(|i| (floor - 1.0 + i as f64, weights[i]))
}

/// Appends the flat positions and weights of all combinations of taps along axes with the given strides.
fn append_combinations(all: &mut Taps, axes: &[Taps], steps: &[usize]) {
    let first = all.len();
    all.push((0, 1.0));
    for (taps, step) in axes.iter().zip(steps) {
        let end = all.len();
        for i in first..end {
            let (p, w) = all[i];
            all.extend(taps.iter().map(|&(q, v)| (p + q * step, w * v)));
        }
        all.drain(first..end);
    }
}

/// Returns the weighted sum of elements.
fn weighted(image: &[f64], taps: &[(usize, f64)]) -> f64 {
    taps.iter().map(|&(p, w)| image[p] * w).sum()
}

/// Number of samples whose taps are kept for all channels, which bounds the taps' memory.
const CHUNK: usize = 256;

/// The elements of some samples, one sample after another, with their weights.
#[derive(Clone, Default, Debug)]
pub struct SampleTaps {
    taps: Taps,
    /// End of the taps of each sample.
    ends: Vec<usize>,
}

impl SampleTaps {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a sample at the combinations of taps along axes with the given strides.
    fn push(&mut self, axes: &[Taps], steps: &[usize]) {
        append_combinations(&mut self.taps, axes, steps);
        self.ends.push(self.taps.len());
    }

    /// Returns the positions and weights of each sample.
    pub fn iter(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.taps[start..end])
    }
}

impl GridSampleAttrs {
    /// Returns the taps of samples at `positions` of an image of extents `spatial`: coordinates in [-1, 1], last axis first.
    pub fn taps(self, positions: &[f64], spatial: &[usize]) -> SampleTaps {
        let (mut all, mut axes, steps) = (SampleTaps::default(), vec![Taps::new(); spatial.len()], strides(spatial));
        for position in positions.chunks_exact(spatial.len().max(1)) {
            let coordinates = position.iter().rev().zip(spatial);
            axes.iter_mut().zip(coordinates).for_each(|(taps, (&c, &n))| self.set_taps(taps, c, n));
            all.push(&axes, &steps);
        }
        all
    }
}

/// `GridSample` (16, 20, 22): samples `[N, C, D...]` at the positions of `grid`, `[N, O..., r]`, with coordinates in
/// [-1, 1], last axis first.
pub fn grid_sample(x: &Tensor, grid: &Tensor, attrs: GridSampleAttrs) -> KernelResult {
    let wrong = || Violation::from(format!("grid_sample of {x:?} at {grid:?}"));
    let spatial = x.shape().get(2..).filter(|s| !s.is_empty()).ok_or_else(wrong)?;
    let (Some((&rank, out)), true) = (grid.shape().split_last(), grid.dtype().is_float()) else { return Err(wrong()) };
    if rank != spatial.len() || grid.rank() != x.rank() || out[0] != x.shape()[0] {
        return Err(wrong());
    }
    let shape = [&x.shape()[..2], &out[1..]].concat();
    let (total, outputs, channels) = (checked_elements(&shape)?, product(&out[1..]), x.shape()[1]);
    let (data, at, area) = (x.to_f64(), grid.to_f64(), product(spatial));
    if total > 0 && area == 0 {
        return Err(wrong());
    }
    let mut y = vec![0.0; total];
    for (sample, first) in
        (0..if total > 0 { out[0] } else { 0 }).flat_map(|s| (0..outputs).step_by(CHUNK).map(move |o| (s, o)))
    {
        let positions = &at[(sample * outputs + first) * rank..][..CHUNK.min(outputs - first) * rank];
        let taps = attrs.taps(positions, spatial);
        for image in sample * channels..(sample + 1) * channels {
            let pixels = &data[image * area..][..area];
            y[image * outputs + first..].iter_mut().zip(taps.iter()).for_each(|(y, taps)| *y = weighted(pixels, taps));
        }
    }
    Ok(from_f64s(x.dtype(), &shape, y))
}

/// `AffineGrid` (20): the sampling grid of affine maps `[N, r, r + 1]` for an image of size `[N, C, D...]`.
pub fn affine_grid(theta: &Tensor, size: &[i64], align_corners: bool) -> KernelResult {
    let wrong = || Violation::from(format!("an affine grid of {theta:?} and size {size:?}"));
    let size: Option<Vec<usize>> = size.iter().map(|&d| usize::try_from(d).ok()).collect();
    let size = size.ok_or_else(wrong)?;
    let spatial = size.get(2..).ok_or_else(wrong)?;
    let rank = spatial.len();
    if theta.shape() != [size[0], rank, rank + 1] || !theta.dtype().is_float() {
        return Err(wrong());
    }
    let shape = [&size[..1], spatial, &[rank]].concat();
    let (total, maps, area) = (checked_elements(&shape)?, theta.to_f64(), product(spatial));
    let mut out = Vec::with_capacity(total);
    for at in 0..total.checked_div(rank).unwrap_or(0) {
        let (map, mut rest) = (&maps[at / area * rank * (rank + 1)..][..rank * (rank + 1)], at % area);
        // The last axis comes first.
        let coordinate = |&n: &usize| {
            let i = (rest % n) as f64;
            rest /= n;
            match (align_corners, n) {
                (true, 1) => -1.0,
                (true, n) => 2.0 * i / (n as f64 - 1.0) - 1.0,
                (false, n) => (2.0 * i + 1.0) / n as f64 - 1.0,
            }
        };
        let position: Vec<f64> = spatial.iter().rev().map(coordinate).chain([1.0]).collect();
        out.extend(map.chunks_exact(rank + 1).map(|row| row.iter().zip(&position).map(|(a, b)| a * b).sum::<f64>()));
    }
    Ok(from_f64s(theta.dtype(), &shape, out))
}

/// Operands of [`deform_conv`].
#[derive(Clone, Copy, Debug)]
pub struct DeformInputs<'a> {
    /// Input, `[N, C, D...]`.
    pub x: &'a Tensor,
    /// Filters, `[M, C / group, K...]`.
    pub weight: &'a Tensor,
    /// Displacement of each tap along each axis, `[N, offset_group * taps * rank, O...]`.
    pub offset: &'a Tensor,
    /// Bias, `[M]`.
    pub bias: Option<&'a Tensor>,
    /// Factor of each tap, `[N, offset_group * taps, O...]`.
    pub mask: Option<&'a Tensor>,
}

/// `DeformConv` (19, 22): a convolution with displaced taps, read by linear interpolation. Each of `offset_group`
/// groups of channels has its own offsets.
pub fn deform_conv(inputs: &DeformInputs<'_>, attrs: &ConvAttrs, offset_group: i64) -> KernelResult {
    let DeformInputs { x, weight, offset, bias, mask } = *inputs;
    let wrong = |what: &Tensor| Violation::from(format!("deform_conv of {x:?} by {weight:?}: {what:?} does not fit"));
    let (group, window) = conv_window(x.shape(), weight.shape(), attrs)?;
    let (&[n, c, ..], &[m, per_group, ..]) = (x.shape(), weight.shape()) else { return Err(wrong(x)) };
    let parts = usize::try_from(offset_group).ok().filter(|&g| g > 0 && c.is_multiple_of(g));
    let parts = parts.ok_or_else(|| format!("{c} channels do not split into {offset_group} groups of offsets"))?;
    let (rank, taps, outputs) = (window.input.len(), product(&window.kernel), product(&window.output));
    if rank == 0 {
        return Err(wrong(x));
    }
    let expected = |channels: usize| [&[n, channels], window.output.as_slice()].concat();
    let bad_offset = offset.shape() != expected(parts.saturating_mul(taps).saturating_mul(rank));
    let bad_mask = mask.filter(|m| m.shape() != expected(parts.saturating_mul(taps)));
    let bad_bias = bias.filter(|b| b.shape() != [m]);
    if let Some(bad) = Some(offset).filter(|_| bad_offset).or(bad_mask).or(bad_bias) {
        return Err(wrong(bad));
    }
    let shape = expected(m);
    let total = checked_elements(&shape)?;
    checked_elements(&[c, taps, outputs])?;
    let (weights, bias) = (weight.to_f64(), bias.map(Tensor::to_f64));
    let (data, offsets, mask) = (x.to_f64(), offset.to_f64(), mask.map(Tensor::to_f64));
    let places = DeformedTaps { window, parts, offsets: &offsets };
    let (rows, depth) = (m / group.max(1), per_group * taps);
    let mut y = Vec::with_capacity(total);
    for sample in 0..if total > 0 { n } else { 0 } {
        let read = columns(&places, [sample, c], &data, mask.as_deref());
        for g in 0..group {
            let (w, r) =
                (&weights[g * rows * depth..][..rows * depth], &read[g * depth * outputs..][..depth * outputs]);
            let (_, sums) = stacked(w, &[rows, depth], r, &[depth, outputs], -0.0, |c: &mut f64, s| *c += s)?;
            let start = |i: usize| bias.as_ref().map_or(0.0, |b| b[g * rows + i / outputs]);
            y.extend(sums.iter().enumerate().map(|(i, s)| s + start(i)));
        }
    }
    Ok(from_f64s(x.dtype(), &shape, y))
}

/// The displaced taps of a [`deform_conv`].
#[derive(Clone, Debug)]
pub struct DeformedTaps<'a> {
    /// The windows.
    pub window: Window,
    /// Number of channel groups with their own offsets.
    pub parts: usize,
    /// Displacement of each tap along each axis, `[N, parts * taps * rank, O...]`.
    pub offsets: &'a [f64],
}

impl DeformedTaps<'_> {
    /// Returns the samples that a tap reads for each output position, with the offsets of a group of channels of a sample of the batch.
    pub fn of(&self, sample: usize, part: usize, tap: usize) -> SampleTaps {
        let (window, rank) = (&self.window, self.window.input.len());
        let (outputs, steps) = (product(&window.output), strides(&window.input));
        let at = (sample * self.parts + part) * product(&window.kernel) + tap;
        let (mut all, mut axes) = (SampleTaps::default(), vec![Taps::new(); rank]);
        for o in 0..outputs {
            let (mut kernel, mut place) = (tap, o);
            for axis in (0..rank).rev() {
                let k = kernel % window.kernel[axis] * window.dilations[axis];
                let start = place % window.output[axis] * window.strides[axis];
                (kernel, place) = (kernel / window.kernel[axis], place / window.output[axis]);
                let shift = self.offsets[(at * rank + axis) * outputs + o];
                let x = (start + k) as f64 - window.pads_begin[axis] as f64 + shift;
                GridSampleAttrs::default().set_inside(&mut axes[axis], linear(x), window.input[axis]);
            }
            all.push(&axes, &steps);
        }
        all
    }
}

/// Returns the im2col matrix `[channels * taps, output positions]` of a sample.
fn columns(places: &DeformedTaps<'_>, [sample, channels]: [usize; 2], data: &[f64], mask: Option<&[f64]>) -> Vec<f64> {
    let (taps, outputs) = (product(&places.window.kernel), product(&places.window.output));
    let (area, share) = (product(&places.window.input), channels / places.parts);
    let mut read = vec![0.0; channels * taps * outputs];
    for (part, tap) in (0..places.parts).flat_map(|part| (0..taps).map(move |tap| (part, tap))) {
        let near = places.of(sample, part, tap);
        let factors = mask.map(|mask| &mask[((sample * places.parts + part) * taps + tap) * outputs..][..outputs]);
        for channel in part * share..(part + 1) * share {
            let image = &data[(sample * channels + channel) * area..][..area];
            let row = &mut read[(channel * taps + tap) * outputs..][..outputs];
            for (o, (y, near)) in row.iter_mut().zip(near.iter()).enumerate() {
                *y = weighted(image, near) * factors.map_or(1.0, |factors| factors[o]);
            }
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_between_elements() {
        let x = Tensor::from_vec(&[1, 1, 1, 3], vec![1f32, 3.0, 5.0]);
        let at = |v: &[f32]| Tensor::from_vec(&[1, 1, v.len(), 2], v.iter().flat_map(|&v| [v, 0.0]).collect());
        let run = |attrs, v: &[f32]| grid_sample(&x, &at(v), attrs).unwrap().to_f64();
        let corners = GridSampleAttrs { align_corners: true, ..GridSampleAttrs::default() };
        assert_eq!(run(corners, &[-1.0, -0.5, 1.0, 1.5]), [1.0, 2.0, 5.0, 2.5]);
        let border = GridSampleAttrs { padding: SamplePadding::Border, ..corners };
        assert_eq!(run(border, &[9.0, -9.0]), [5.0, 1.0]);
        let mirror = GridSampleAttrs { padding: SamplePadding::Reflection, ..corners };
        assert_eq!(run(mirror, &[2.0, -1.5, 4.0]), [3.0, 2.0, 3.0]);
        let nearest = GridSampleAttrs { mode: SampleMode::Nearest, ..corners };
        assert_eq!(run(nearest, &[-0.5, 0.4]), [1.0, 3.0]);
        let cubic = GridSampleAttrs { mode: SampleMode::Cubic, padding: SamplePadding::Border, ..corners };
        assert_eq!(run(cubic, &[0.0, 1.0]), [3.0, 5.0]);
        assert!(run(corners, &[f32::NAN, f32::INFINITY]).iter().all(|v| v.is_nan() || *v == 0.0));
    }

    #[test]
    fn the_identity_map_is_the_grid() {
        let theta = Tensor::from_vec(&[1, 2, 3], vec![1f32, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let grid = affine_grid(&theta, &[1, 1, 1, 2], false).unwrap();
        assert_eq!(grid.to_f64(), [-0.5, 0.0, 0.5, 0.0]);
        assert_eq!(affine_grid(&theta, &[1, 1, 1, 2], true).unwrap().to_f64(), [-1.0, -1.0, 1.0, -1.0]);
    }

    #[test]
    fn displaced_taps() {
        let x = Tensor::from_vec(&[1, 1, 1, 3], vec![1f32, 3.0, 5.0]);
        let (w, offset) = (Tensor::from_vec(&[1, 1, 1, 1], vec![2f32]), vec![0f32, 0.0, 0.0, 0.5, 0.0, 1.0]);
        let offset = Tensor::from_vec(&[1, 2, 1, 3], offset);
        let inputs = DeformInputs { x: &x, weight: &w, offset: &offset, bias: None, mask: None };
        let y = deform_conv(&inputs, &ConvAttrs::default(), 1).unwrap();
        assert_eq!(y.to_f64(), [4.0, 6.0, 0.0]);
        assert!(deform_conv(&DeformInputs { offset: &x, ..inputs }, &ConvAttrs::default(), 1).is_err());
    }
}
