//! Signal processing: window functions, Fourier transforms, and the mel scale.

use crate::KernelResult;
use crate::binary::mul;
use crate::cast::from_f64s;
use crate::movement::{around, slice};
use crate::shape::{checked_elements, normalize_axis};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Coefficients of a generalized cosine window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowFunction(f64, f64, f64);

impl WindowFunction {
    /// `HannWindow` (17).
    pub const HANN: WindowFunction = WindowFunction(0.5, 0.5, 0.0);
    /// `HammingWindow` (17).
    pub const HAMMING: WindowFunction = WindowFunction(25.0 / 46.0, 21.0 / 46.0, 0.0);
    /// `BlackmanWindow` (17).
    pub const BLACKMAN: WindowFunction = WindowFunction(0.42, 0.5, 0.08);

    /// Returns the window of `size` elements, periodic or symmetric.
    pub fn of(self, size: i64, periodic: bool, dtype: DType) -> KernelResult {
        let size = usize::try_from(size).map_err(|_| format!("a window of {size} elements"))?;
        checked_elements(&[size])?;
        let step = TAU / if periodic { size as f64 } else { size as f64 - 1.0 };
        let at = |i: usize| self.0 - self.1 * (i as f64 * step).cos() + self.2 * (2.0 * i as f64 * step).cos();
        Ok(from_f64s(dtype, &[size], (0..size).map(at).collect()))
    }
}

/// Attributes of [`dft`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DftAttrs {
    /// Transform length; the extent of the axis when `None`.
    pub length: Option<i64>,
    /// Transformed axis.
    pub axis: i64,
    /// Whether to compute the inverse transform.
    pub inverse: bool,
    /// Whether the conjugate-symmetric half of the spectrum is omitted.
    pub onesided: bool,
}

/// Returns the shape of [`dft`] and the transform length.
pub fn dft_dims(input: &[usize], attrs: &DftAttrs) -> Result<(Vec<usize>, usize), Violation> {
    let wrong = || Violation::from(format!("a Fourier transform of {input:?} along axis {}", attrs.axis));
    let axis = normalize_axis(attrs.axis, input.len())?;
    let last = input.len() - 1;
    if axis == last || !(1..=2).contains(&input[last]) {
        return Err(wrong());
    }
    let back = attrs.inverse && attrs.onesided;
    let there = if back { input[axis].saturating_sub(1).saturating_mul(2) } else { input[axis] };
    let length = attrs.length.map_or(Ok(there), |l| usize::try_from(l).map_err(|_| wrong()))?;
    let mut shape = input.to_vec();
    shape[axis] = if attrs.onesided && !back { length / 2 + 1 } else { length };
    shape[last] = if back { 1 } else { 2 };
    Ok((shape, length))
}

/// Returns sine and cosine of `n` equal parts of a turn, exact at quarters of a turn.
pub fn sines_and_cosines(n: usize) -> impl Iterator<Item = (f64, f64)> {
    (0..n).map(move |i| {
        let (sin, cos) = (FRAC_PI_2 * (4 * i % n) as f64 / n as f64).sin_cos();
        match 4 * i / n {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    })
}

/// `DFT` (17, 20): the discrete Fourier transform along an axis of real or complex numbers; the last axis holds real
/// and imaginary parts.
pub fn dft(x: &Tensor, attrs: &DftAttrs) -> KernelResult {
    let (shape, length) = dft_dims(x.shape(), attrs)?;
    let axis = normalize_axis(attrs.axis, x.rank())?;
    let (parts, extent) = (x.shape()[x.rank() - 1], x.shape()[axis]);
    let (outer, inner) = around(x.shape(), axis);
    let (lanes, bins, out_parts) = (inner / parts.max(1), shape[axis], shape[x.rank() - 1]);
    let (data, mut out) = (x.to_f64(), vec![0.0; checked_elements(&shape)?]);
    // Shared by all lanes.
    let turns: Vec<(f64, f64)> =
        sines_and_cosines(length).map(|(sin, cos)| (if attrs.inverse { sin } else { -sin }, cos)).collect();
    let element = |o: usize, lane: usize, n: usize| -> (f64, f64) {
        // The omitted half is the conjugate of the other.
        let mirrored = attrs.inverse && attrs.onesided && n > length / 2;
        let n = if mirrored { length - n } else { n };
        let at = ((o * extent + n) * lanes + lane) * parts;
        let part = |i: usize| if n < extent && i < parts { data[at + i] } else { 0.0 };
        (part(0), if mirrored { -part(1) } else { part(1) })
    };
    let all = (0..if out.is_empty() { 0 } else { outer }).flat_map(|o| (0..lanes).map(move |lane| (o, lane)));
    let signals: Vec<Vec<(f64, f64)>> =
        all.clone().map(|(o, lane)| (0..length).map(|n| element(o, lane, n)).collect()).collect();
    let scale = if attrs.inverse { 1.0 / length as f64 } else { 1.0 };
    for first in (0..bins).step_by(JOINT) {
        let turns = joint_turns(&turns, first);
        for ((o, lane), signal) in all.clone().zip(&signals) {
            let [re, im] = joint_sums(signal, &turns, parts == 1);
            for (k, (re, im)) in (first..bins).zip(re.into_iter().zip(im)) {
                let at = ((o * bins + k) * lanes + lane) * out_parts;
                out[at] = re * scale;
                if out_parts == 2 {
                    out[at + 1] = im * scale;
                }
            }
        }
    }
    Ok(from_f64s(x.dtype(), &shape, out))
}

/// Number of bins that are summed at once, because the terms of a sum are added one after another.
const JOINT: usize = 8;

/// Returns the sines and cosines by which [`JOINT`] bins from `first` on multiply every element of a signal.
fn joint_turns(turns: &[(f64, f64)], first: usize) -> Vec<[[f64; JOINT]; 2]> {
    let n = turns.len();
    let (mut at, steps): (_, [usize; JOINT]) = ([0; JOINT], std::array::from_fn(|j| (first + j) % n.max(1)));
    let next = |_: &(f64, f64)| {
        let out = [at.map(|i| turns[i].0), at.map(|i| turns[i].1)];
        at.iter_mut().zip(steps).for_each(|(at, step)| *at = if *at + step < n { *at + step } else { *at + step - n });
        out
    };
    turns.iter().map(next).collect()
}

/// Returns the real and imaginary parts of some bins of a signal. The imaginary parts of a `real` one are zeros, which
/// change no sum.
fn joint_sums(signal: &[(f64, f64)], turns: &[[[f64; JOINT]; 2]], real: bool) -> [[f64; JOINT]; 2] {
    let [mut re, mut im] = [[0.0; JOINT]; 2];
    for (&(a, b), [sin, cos]) in signal.iter().zip(turns) {
        for j in 0..JOINT {
            re[j] += a * cos[j];
            im[j] += a * sin[j];
            if !real {
                re[j] -= b * sin[j];
                im[j] += b * cos[j];
            }
        }
    }
    [re, im]
}

/// Returns the number of frames of `length` elements, every `step` elements, in a signal of `n` elements.
pub fn frames(n: usize, length: usize, step: i64) -> Result<usize, Violation> {
    let step = usize::try_from(step).ok().filter(|&s| s > 0).ok_or_else(|| format!("frames every {step} elements"))?;
    let room = n.checked_sub(length).ok_or_else(|| format!("frames of {length} in a signal of {n} elements"))?;
    Ok(room / step + 1)
}

/// `STFT` (17): the Fourier transforms of windowed frames of `[B, N, 1 or 2]`: `[B, frames, bins, 2]`.
pub fn stft(x: &Tensor, step: i64, window: Option<&Tensor>, length: Option<i64>, onesided: bool) -> KernelResult {
    let &[batch, n, parts] = x.shape() else { return Err(format!("stft of {x:?}").into()) };
    let length = match (length, window) {
        (Some(length), _) => usize::try_from(length).map_err(|_| format!("frames of {length}"))?,
        (None, Some(window)) => window.shape().first().copied().unwrap_or(0),
        (None, None) => n,
    };
    let count = frames(n, length, step)?;
    if window.is_some_and(|w| w.shape() != [length]) {
        return Err(format!("stft: a window of {window:?} for frames of {length}").into());
    }
    let mut all = Vec::new();
    checked_elements(&[batch, count, length, parts])?;
    for i in 0..count as i64 {
        let start = i.saturating_mul(step);
        all.push(
            slice(x, &[start], &[start.saturating_add(length as i64)], &[1], &[])?
                .reshape(vec![batch, 1, length, parts])?,
        );
    }
    let mut signal = super::movement::concat(&all.iter().collect::<Vec<_>>(), 1)?;
    if let Some(window) = window {
        signal = mul(&signal, &window.reshape(vec![length, 1])?)?;
    }
    dft(&signal, &DftAttrs { length: None, axis: 2, inverse: false, onesided })
}

/// Parameters of [`mel_weight_matrix`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MelAttrs {
    /// Number of mel bands.
    pub bands: i64,
    /// Transform length.
    pub dft_length: i64,
    /// Sample rate in Hertz.
    pub sample_rate: i64,
    /// Lower edge of the first band in Hertz.
    pub lower: f64,
    /// Upper edge of the last band in Hertz.
    pub upper: f64,
}

/// `MelWeightMatrix` (17): the weight of each frequency bin in each mel band.
pub fn mel_weight_matrix(mel: &MelAttrs, dtype: DType) -> KernelResult {
    let size = |v: i64| usize::try_from(v).map_err(|_| format!("a mel weight matrix of {mel:?}"));
    let (bands, bins) = (size(mel.bands)?, size(mel.dft_length)? / 2 + 1);
    let mut out = vec![0.0; checked_elements(&[bins, bands])?];
    let scale = |hertz: f64| 2595.0 * (hertz / 700.0).ln_1p() / std::f64::consts::LN_10;
    let step = (scale(mel.upper) - scale(mel.lower)) / (bands as f64 + 2.0);
    let edge = |i: usize| {
        let hertz = 700.0 * ((i as f64 * step + scale(mel.lower)) / 2595.0 * std::f64::consts::LN_10).exp_m1();
        ((mel.dft_length as f64 + 1.0) * hertz / mel.sample_rate as f64).floor()
    };
    for band in 0..bands {
        let [low, center, high] = [0, 1, 2].map(|i| edge(band + i));
        for bin in 0..bins {
            let at = bin as f64;
            out[bin * bands + band] = match at {
                _ if at == center && low == center => 1.0,
                _ if (low..=center).contains(&at) && !(at == center && high > center) => (at - low) / (center - low),
                _ if (center..high).contains(&at) => (high - at) / (high - center),
                _ => 0.0,
            };
        }
    }
    Ok(from_f64s(dtype, &[bins, bands], out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_go_there_and_back() {
        let x = Tensor::from_vec(&[1, 4, 1], vec![1f64, 2.0, 3.0, 5.0]);
        let attrs = DftAttrs { length: None, axis: 1, inverse: false, onesided: true };
        let half = dft(&x, &attrs).unwrap();
        let near = |a: &Tensor, b: &[f64]| a.to_f64().iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&half, &[11.0, 0.0, -2.0, 3.0, -3.0, 0.0]) && half.shape() == [1, 3, 2]);
        let back = dft(&half, &DftAttrs { inverse: true, ..attrs }).unwrap();
        assert!(near(&back, &[1.0, 2.0, 3.0, 5.0]) && back.shape() == [1, 4, 1]);
        let long = dft(&x, &DftAttrs { length: Some(1), onesided: false, ..attrs }).unwrap();
        assert_eq!(long.to_f64(), [1.0, 0.0]);
        let frames = stft(&x, 1, Some(&Tensor::from_vec(&[2], vec![1f64, 1.0])), None, true).unwrap();
        assert!(near(&frames, &[3.0, 0.0, -1.0, 0.0, 5.0, 0.0, -1.0, 0.0, 8.0, 0.0, -2.0, 0.0]));
        assert!(stft(&x, 0, None, None, true).is_err() && stft(&x, 1, None, Some(5), true).is_err());
    }

    #[test]
    fn windows_and_bands() {
        let hann = WindowFunction::HANN.of(4, true, DType::F64).unwrap().to_f64();
        assert!(hann.iter().zip([0.0, 0.5, 1.0, 0.5]).all(|(a, b)| (a - b).abs() < 1e-12));
        let mel = MelAttrs { bands: 2, dft_length: 16, sample_rate: 8192, lower: 0.0, upper: 4096.0 };
        let m = mel_weight_matrix(&mel, DType::F32).unwrap();
        assert_eq!((m.shape(), m.to_f64().iter().filter(|v| **v == 1.0).count()), (&[9usize, 2][..], 2));
    }
}
