//! Unpooling, col2im, and cropping around the center.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::index::{integers, put_runs};
use crate::movement::{from_bytes, slice};
use crate::pad::{PadMode, pad};
use crate::shape::{Window, WindowAttrs, checked_elements, extents, product};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// Infers the shape of [`max_unpool`]: that before pooling.
pub fn unpool_dims(input: &[usize], attrs: &WindowAttrs) -> Result<Vec<usize>, Violation> {
    let rank = input.len().checked_sub(2).ok_or_else(|| format!("max_unpool needs [N, C, ...], not {input:?}"))?;
    let kernel = attrs.kernel(rank)?;
    let (strides, pads) =
        (extents("strides", &attrs.strides, rank, 1, 1)?, extents("pads", &attrs.pads, rank * 2, 0, 0)?);
    let mut out = input.to_vec();
    for (i, d) in out[2..].iter_mut().enumerate() {
        let full = d.saturating_sub(1).checked_mul(strides[i]).and_then(|n| n.checked_add(kernel[i]));
        let cut = full.and_then(|n| n.checked_sub(pads[i] + pads[i + rank]));
        *d = cut.ok_or_else(|| format!("max_unpool of {input:?} with windows of {kernel:?}"))?;
    }
    Ok(out)
}

/// `MaxUnpool` (9, 11, 22): scatters the elements of `[N, C, D...]` to `indices` of the flattened result; other
/// elements are zero. A given shape is filled up with zeros.
pub fn max_unpool(x: &Tensor, indices: &Tensor, shape: Option<&[i64]>, attrs: &WindowAttrs) -> KernelResult {
    let inner = unpool_dims(x.shape(), attrs)?;
    let indices = integers(indices).filter(|_| indices.shape() == x.shape());
    let indices = indices.ok_or_else(|| format!("max_unpool requires indices of the shape of {x:?}"))?;
    let (total, size) = (checked_elements(&inner)?, x.dtype().size());
    let mut positions = Vec::with_capacity(indices.len());
    for at in &*indices {
        let known = usize::try_from(*at).ok().filter(|&at| at < total);
        positions.push(known.ok_or_else(|| format!("max_unpool: index {at} is not in {inner:?}"))?);
    }
    let mut out = vec![0; total * size];
    put_runs(&mut out, size, &positions, x.bytes());
    let unpooled = from_bytes(x.dtype(), &inner, out)?;
    let Some(shape) = shape else { return Ok(unpooled) };
    if shape.len() != inner.len() {
        return Err(format!("max_unpool of {inner:?} to {shape:?}").into());
    }
    let missing = shape.iter().zip(&inner).map(|(&s, &d)| s.saturating_sub(d as i64));
    let pads: Vec<i64> = vec![0; inner.len()].into_iter().chain(missing).collect();
    pad(&unpooled, &pads, &[], PadMode::Constant, None)
}

/// `Col2Im` (18): accumulates blocks, the columns of `[N, C * block, L]`, at the positions of a sliding window; the
/// result is `[N, C, image...]`.
pub fn col2im(x: &Tensor, image: &[i64], block: &[i64], attrs: &WindowAttrs) -> KernelResult {
    let wrong = || Violation::from(format!("col2im of {x:?} to {image:?} by {block:?}"));
    let sizes = |list: &[i64]| extents("extents", list, list.len(), 1, 1);
    let (image, block) = (sizes(image)?, sizes(block)?);
    let window = attrs.resolve(&image, &block)?;
    let (&[n, width, length], taps) = (x.shape(), product(&block)) else { return Err(wrong()) };
    if taps == 0 || width % taps != 0 || length != product(&window.output) || block.is_empty() {
        return Err(wrong());
    }
    let (c, area) = (width / taps, product(&image));
    let shape = [&[n, c], image.as_slice()].concat();
    let (mut out, data) = (vec![0.0; checked_elements(&shape)?], x.to_f64());
    for (tap, o) in (0..taps).flat_map(|t| (0..length).map(move |o| (t, o))).filter(|_| !data.is_empty()) {
        let Some(at) = place_of_tap(&window, tap, o) else { continue };
        (0..n * c).for_each(|lane| out[lane * area + at] += data[(lane * taps + tap) * length + o]);
    }
    Ok(from_f64s(x.dtype(), &shape, out))
}

/// Returns the element of the image that a window reads at a tap for an output position, each counted row-major; `None` in the padding.
pub fn place_of_tap(window: &Window, mut tap: usize, mut output: usize) -> Option<usize> {
    let (mut at, mut step) = (0, 1);
    for axis in (0..window.input.len()).rev() {
        let from =
            tap % window.kernel[axis] * window.dilations[axis] + output % window.output[axis] * window.strides[axis];
        (tap, output) = (tap / window.kernel[axis], output / window.output[axis]);
        at += from.checked_sub(window.pads_begin[axis]).filter(|&at| at < window.input[axis])? * step;
        step *= window.input[axis];
    }
    Some(at)
}

/// `CenterCropPad` (18): crops or zero-pads `axes`, which are normalized, to `sizes`, keeping the center; an odd
/// element is cut or added at the end.
pub fn center_crop_pad(x: &Tensor, sizes: &[i64], axes: &[usize]) -> KernelResult {
    if sizes.len() != axes.len() || sizes.iter().any(|&s| s < 0) {
        return Err(format!("{sizes:?} are not extents for axes {axes:?}").into());
    }
    let mut out = x.clone();
    for (&size, &axis) in sizes.iter().zip(axes) {
        let n = out.shape()[axis] as i64;
        if size < n {
            let start = (n - size) / 2;
            out = slice(&out, &[start], &[start + size], &[axis as i64], &[])?;
        } else {
            let before = (size - n) / 2;
            out = pad(&out, &[before, size - n - before], &[axis as i64], PadMode::Constant, None)?;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_go_back() {
        let attrs = WindowAttrs { kernel_shape: vec![2], strides: vec![2], ..WindowAttrs::default() };
        let (x, at) = (Tensor::from_vec(&[1, 1, 2], vec![5f32, 7.0]), Tensor::from_vec(&[1, 1, 2], vec![1i64, 2]));
        assert_eq!(max_unpool(&x, &at, None, &attrs).unwrap().to_f64(), [0.0, 5.0, 7.0, 0.0]);
        assert_eq!(max_unpool(&x, &at, Some(&[1, 1, 5]), &attrs).unwrap().to_f64(), [0.0, 5.0, 7.0, 0.0, 0.0]);
        assert!(max_unpool(&x, &Tensor::from_vec(&[1, 1, 2], vec![1i64, 4]), None, &attrs).is_err());
        let columns = Tensor::from_vec(&[1, 2, 3], vec![1i32, 2, 3, 10, 20, 30]);
        let image = col2im(&columns, &[4], &[2], &WindowAttrs::default()).unwrap();
        assert_eq!(image.to_i64().unwrap(), [1, 12, 23, 30]);
    }

    #[test]
    fn centers_stay() {
        let x = Tensor::from_vec(&[1, 4], vec![1i32, 2, 3, 4]);
        assert_eq!(center_crop_pad(&x, &[1], &[1]).unwrap().to_i64().unwrap(), [2]);
        assert_eq!(center_crop_pad(&x, &[7, 0], &[1, 0]).unwrap().shape(), [0, 7]);
        assert_eq!(center_crop_pad(&x, &[7], &[1]).unwrap().to_i64().unwrap(), [0, 1, 2, 3, 4, 0, 0]);
    }
}
