//! Regions of interest: pooling and box selection.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::shape::checked_elements;
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Attributes of [`roi_align`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RoiAlignAttrs {
    /// Height and width of the result.
    pub output: [i64; 2],
    /// Number of samples along each side of a bin; 0 to adapt to the region size.
    pub sampling_ratio: i64,
    /// Scale from region coordinates to image coordinates.
    pub spatial_scale: f64,
    /// Whether coordinates are shifted by half a pixel.
    pub half_pixel: bool,
    /// Whether a bin is the maximum of its samples rather than their mean.
    pub max: bool,
}

/// Maximum number of samples per bin.
const MAX_SAMPLES: usize = 1 << 12;

/// Checks the extents of a pooled region.
fn extents(output: [i64; 2]) -> Result<[usize; 2], Violation> {
    let known = output.map(|d| usize::try_from(d).ok().filter(|&d| d > 0 && d < 1 << 16));
    match known {
        [Some(h), Some(w)] => Ok([h, w]),
        _ => Err(format!("regions cannot be pooled to {output:?}").into()),
    }
}

/// Returns the four pixels around a position with their bilinear weights; zeros if it is too far outside.
fn around(y: f64, x: f64, [h, w]: [usize; 2]) -> [(usize, f64); 4] {
    if !(-1.0..=h as f64).contains(&y) || !(-1.0..=w as f64).contains(&x) {
        return [(0, 0.0); 4];
    }
    let axis = |v: f64, n: usize| {
        let low = v.max(0.0) as usize;
        if low >= n - 1 { (n - 1, n - 1, 0.0) } else { (low, low + 1, v.max(0.0) - low as f64) }
    };
    let ((y0, y1, v), (x0, x1, u)) = (axis(y, h), axis(x, w));
    [
        (y0 * w + x0, (1.0 - v) * (1.0 - u)),
        (y0 * w + x1, (1.0 - v) * u),
        (y1 * w + x0, v * (1.0 - u)),
        (y1 * w + x1, v * u),
    ]
}

/// `RoiAlign` (10, 16, 22): divides each region `[x1, y1, x2, y2]` of image `batches[r]` of `[N, C, H, W]` into bins;
/// each bin yields the mean or maximum of bilinear samples.
pub fn roi_align(x: &Tensor, rois: &Tensor, batches: &Tensor, attrs: &RoiAlignAttrs) -> KernelResult {
    let wrong = || Violation::from(format!("roi_align of {x:?} over {rois:?} of {batches:?}"));
    let (&[n, c, h, w], &[count, 4], Some(batches)) = (x.shape(), rois.shape(), batches.to_i64()) else {
        return Err(wrong());
    };
    let [oh, ow] = extents(attrs.output)?;
    let shape = [count, c, oh, ow];
    let mut out = Vec::with_capacity(checked_elements(&shape)?);
    if batches.len() != count || !x.dtype().is_float() || !rois.dtype().is_float() || h == 0 || w == 0 {
        return Err(wrong());
    }
    let (data, corners) = (x.to_f64(), rois.to_f64());
    for (roi, &batch) in corners.chunks_exact(4).zip(&batches) {
        let image = usize::try_from(batch).ok().filter(|&b| b < n).ok_or_else(wrong)? * c * h * w;
        let bins = RoiBins::new(roi, [h, w], attrs)?;
        for channel in 0..c {
            let image = &data[image + channel * h * w..][..h * w];
            out.extend((0..oh * ow).map(|i| bin(image, bins.samples(i), attrs.max)));
        }
    }
    Ok(from_f64s(x.dtype(), &shape, out))
}

/// The pixels of each sample of the bins of a region, with their bilinear weights.
#[derive(Clone, Debug)]
pub struct RoiBins {
    samples: Vec<[(usize, f64); 4]>,
    /// Number of samples of a bin.
    per_bin: usize,
}

impl RoiBins {
    /// Returns the samples of a region `[x1, y1, x2, y2]` of an image of height and width.
    ///
    /// # Errors
    /// Too many samples.
    pub fn new(roi: &[f64], image: [usize; 2], attrs: &RoiAlignAttrs) -> Result<RoiBins, Violation> {
        let [oh, ow] = extents(attrs.output)?;
        let shift = if attrs.half_pixel { 0.5 } else { 0.0 };
        let corner = |i: usize| roi[i] * attrs.spatial_scale - shift;
        let side = |low: usize| {
            let length = corner(low + 2) - corner(low);
            if attrs.half_pixel { length } else { length.max(1.0) }
        };
        let bins = [side(1) / oh as f64, side(0) / ow as f64];
        let samples = bins.map(|b| match usize::try_from(attrs.sampling_ratio) {
            Ok(n) if n > 0 => n,
            _ => b.ceil().max(0.0) as usize,
        });
        if samples.iter().any(|&s| s > MAX_SAMPLES) {
            return Err(format!("roi_align: {samples:?} samples in a bin are too many").into());
        }
        let of_bin = |bin: usize| {
            let start = [corner(1) + (bin / ow) as f64 * bins[0], corner(0) + (bin % ow) as f64 * bins[1]];
            let at = move |axis: usize, i: usize| start[axis] + (i as f64 + 0.5) * bins[axis] / samples[axis] as f64;
            let all = (0..samples[0]).flat_map(move |i| (0..samples[1]).map(move |j| (i, j)));
            all.map(move |(i, j)| around(at(0, i), at(1, j), image))
        };
        Ok(RoiBins { samples: (0..oh * ow).flat_map(of_bin).collect(), per_bin: samples[0] * samples[1] })
    }

    /// Returns the samples of a bin.
    pub fn samples(&self, bin: usize) -> &[[(usize, f64); 4]] {
        &self.samples[bin * self.per_bin..][..self.per_bin]
    }
}

/// Returns the mean of samples, or the largest weighted pixel of any sample.
fn bin(image: &[f64], samples: &[[(usize, f64); 4]], max: bool) -> f64 {
    let terms = |s: &[(usize, f64); 4]| s.map(|(p, w)| image[p] * w);
    if max {
        samples.iter().flat_map(terms).reduce(f64::max).unwrap_or(0.0)
    } else {
        samples.iter().map(|s| terms(s).iter().sum::<f64>()).sum::<f64>() / samples.len().max(1) as f64
    }
}

/// `MaxRoiPool` (1, 22): divides each region `[image, x1, y1, x2, y2]` of `[N, C, H, W]`, rounded to whole pixels, into
/// bins; each bin yields its maximum, or 0 if empty.
pub fn max_roi_pool(x: &Tensor, rois: &Tensor, output: [i64; 2], spatial_scale: f64) -> KernelResult {
    let wrong = || Violation::from(format!("max_roi_pool of {x:?} over {rois:?}"));
    let (&[n, c, h, w], &[count, 5]) = (x.shape(), rois.shape()) else { return Err(wrong()) };
    let [oh, ow] = extents(output)?;
    let shape = [count, c, oh, ow];
    let mut out = Vec::with_capacity(checked_elements(&shape)?);
    let data = x.to_f64();
    for roi in rois.to_f64().chunks_exact(5) {
        let image = (roi[0] >= 0.0 && roi[0] < n as f64).then_some(roi[0] as usize).ok_or_else(wrong)?;
        // In the attribute's precision, because rounding selects pixels.
        let corner = |i: usize| f64::from((roi[i] as f32 * spatial_scale as f32).round());
        // Pixels of each bin along an axis; `low` is the region's first corner.
        let bins = |low: usize, bins: usize, extent: usize| -> Vec<std::ops::Range<usize>> {
            let length = (corner(low + 2) - corner(low) + 1.0).max(1.0) / bins as f64;
            let clamp = |v: f64| (v + corner(low)).clamp(0.0, extent as f64) as usize;
            (0..bins).map(|i| clamp((i as f64 * length).floor())..clamp(((i + 1) as f64 * length).ceil())).collect()
        };
        let (rows, columns) = (bins(2, oh, h), bins(1, ow, w));
        for channel in 0..c {
            let image = &data[(image * c + channel) * h * w..][..h * w];
            for (rows, columns) in rows.iter().flat_map(|r| columns.iter().map(move |c| (r, c))) {
                let elements = rows.clone().flat_map(|i| image[i * w..][columns.clone()].iter().copied());
                out.push(elements.reduce(f64::max).unwrap_or(0.0));
            }
        }
    }
    Ok(from_f64s(x.dtype(), &shape, out))
}

/// Limits of [`non_max_suppression`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NmsAttrs {
    /// Maximum number of boxes per image and class.
    pub most: i64,
    /// Maximum intersection over union of two selected boxes.
    pub iou: f64,
    /// Score that a selected box must exceed; any when `None`.
    pub score: Option<f64>,
    /// Whether boxes are `[x_center, y_center, width, height]` rather than two corners `[y1, x1, y2, x2]`.
    pub centered: bool,
}

/// Returns the limits of a box along two axes.
fn limits(b: &[f64], centered: bool) -> [(f64, f64); 2] {
    match centered {
        true => [(b[0] - b[2] / 2.0, b[0] + b[2] / 2.0), (b[1] - b[3] / 2.0, b[1] + b[3] / 2.0)],
        false => [(b[0].min(b[2]), b[0].max(b[2])), (b[1].min(b[3]), b[1].max(b[3]))],
    }
}

/// Returns the intersection over union of two boxes.
fn overlap(a: [(f64, f64); 2], b: [(f64, f64); 2]) -> f64 {
    let length = |(low, high): (f64, f64)| (high - low).max(0.0);
    let area = |s: [(f64, f64); 2]| length(s[0]) * length(s[1]);
    let common = area([0, 1].map(|i| (a[i].0.max(b[i].0), a[i].1.min(b[i].1))));
    let union = area(a) + area(b) - common;
    if common > 0.0 && union > 0.0 { common / union } else { 0.0 }
}

/// Returns an integer that compares as [`f64::total_cmp`] does.
fn total_order(v: f64) -> i64 {
    let bits = v.to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// `NonMaxSuppression` (10, 11): selects boxes by descending score for every image and class, skipping those that
/// overlap a selected one. `boxes` is `[N, S, 4]`, `scores` is `[N, C, S]`; rows of the result are image, class and
/// box.
pub fn non_max_suppression(boxes: &Tensor, scores: &Tensor, attrs: &NmsAttrs) -> KernelResult {
    let (&[n, count, 4], &[m, classes, of]) = (boxes.shape(), scores.shape()) else {
        return Err(format!("non_max_suppression of {boxes:?} with scores {scores:?}").into());
    };
    if n != m || count != of {
        return Err(format!("non_max_suppression of {boxes:?} with scores {scores:?}").into());
    }
    let corners: Vec<_> = boxes.to_f64().chunks_exact(4).map(|b| limits(b, attrs.centered)).collect();
    let (all, most) = (scores.to_f64(), usize::try_from(attrs.most).unwrap_or(0));
    let mut out: Vec<i64> = Vec::new();
    for (lane, scores) in all.chunks_exact(count.max(1)).enumerate() {
        let (image, class) = (lane / classes, lane % classes);
        let accepted = (0..count).filter(|&i| attrs.score.is_none_or(|s| scores[i] > s));
        // Few of the boxes are taken in order, usually; the first of equal ones.
        let mut order: BinaryHeap<_> = accepted.map(|i| (total_order(scores[i]), Reverse(i))).collect();
        let mut chosen = Vec::new();
        while chosen.len() < most
            && let Some((_, Reverse(i))) = order.pop()
        {
            let corner = corners[image * count + i];
            if chosen.iter().all(|&other| overlap(corner, other) <= attrs.iou) {
                chosen.push(corner);
                out.extend([image as i64, class as i64, i as i64]);
            }
        }
    }
    Ok(Tensor::from_vec(&[out.len() / 3, 3], out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_pooled() {
        let x = Tensor::from_vec(&[1, 1, 2, 4], (1..=8).map(|v| v as f32).collect());
        let roi = Tensor::from_vec(&[1, 5], vec![0f32, 0.0, 0.0, 3.0, 1.0]);
        assert_eq!(max_roi_pool(&x, &roi, [1, 2], 1.0).unwrap().to_f64(), [6.0, 8.0]);
        let roi = Tensor::from_vec(&[1, 4], vec![0f32, 0.0, 4.0, 2.0]);
        let attrs =
            RoiAlignAttrs { output: [1, 2], sampling_ratio: 0, spatial_scale: 1.0, half_pixel: true, max: false };
        let zero = Tensor::from_vec(&[1], vec![0i64]);
        assert_eq!(roi_align(&x, &roi, &zero, &attrs).unwrap().to_f64(), [3.5, 5.5]);
        assert!(roi_align(&x, &roi, &Tensor::from_vec(&[1], vec![1i64]), &attrs).is_err());
        let endless = Tensor::from_vec(&[1, 4], vec![0f32, 0.0, 1e30, 2.0]);
        assert!(roi_align(&x, &endless, &zero, &attrs).is_err());
    }

    #[test]
    fn overlapping_boxes_give_way() {
        let boxes = vec![0f32, 0., 1., 1., 0., 0.1, 1., 1.1, 0., 2., 1., 3.];
        let (boxes, scores) =
            (Tensor::from_vec(&[1, 3, 4], boxes), Tensor::from_vec(&[1, 1, 3], vec![0.5f32, 0.9, 0.2]));
        let attrs = NmsAttrs { most: 3, iou: 0.5, score: None, centered: false };
        let run = |attrs: &NmsAttrs| non_max_suppression(&boxes, &scores, attrs).unwrap().to_i64().unwrap();
        assert_eq!(run(&attrs), [0, 0, 1, 0, 0, 2]);
        assert_eq!(run(&NmsAttrs { iou: 0.9, score: Some(0.3), ..attrs }), [0, 0, 1, 0, 0, 0]);
        assert!(run(&NmsAttrs { most: 0, ..attrs }).is_empty());
    }
}
