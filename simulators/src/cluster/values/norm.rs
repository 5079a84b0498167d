//! Softmax and local response normalization, in f64 as the reference.

use super::super::{Lrn, Softmax};

/// Returns the softmax over the channels of each row and column.
pub(super) fn softmax(softmax: &Softmax, mut values: Vec<f32>) -> Vec<f32> {
    for pixel in values.chunks_exact_mut(softmax.input.channels as usize) {
        let max = pixel.iter().fold(f64::NEG_INFINITY, |max, &v| max.max(v.into()));
        let exps: Vec<f64> = pixel.iter().map(|&v| (f64::from(v) - max).exp()).collect();
        let sum: f64 = exps.iter().sum();
        pixel.iter_mut().zip(exps).for_each(|(v, exp)| *v = (exp / sum) as f32);
    }
    values
}

/// Returns the normalized channels of the output.
pub(super) fn lrn(lrn: &Lrn, values: &[f32]) -> Vec<f32> {
    let (channels, first) = (lrn.output.channels as usize, lrn.before as usize);
    let size = lrn.size as usize;
    let (before, after) = ((size - 1) / 2, (size - 1).div_ceil(2));
    let [alpha, beta, bias] = [lrn.alpha, lrn.beta, lrn.bias].map(f64::from);
    let mut out = Vec::with_capacity(values.len());
    for pixel in values.chunks_exact(lrn.input.channels as usize) {
        for channel in first..first + channels {
            let window = &pixel[channel.saturating_sub(before)..pixel.len().min(channel + after + 1)];
            let sum = window.iter().fold(0.0, |sum, &v| sum + f64::from(v) * f64::from(v));
            out.push((f64::from(pixel[channel]) / (bias + alpha / size as f64 * sum).powf(beta)) as f32);
        }
    }
    out
}
