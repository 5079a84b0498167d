//! Stages, in the precision of the reference.

use super::tile::{floats, load};
use crate::cluster::operands::{Elem, Scale, Stage, Tile};

/// Values before the stages.
pub(in crate::cluster) enum StageValues {
    /// Values of floats.
    Floats(Vec<f32>),
    /// Sums of a convolution of bytes.
    Integers(Vec<i32>),
}

/// Applies stages to the values of an output.
pub(super) fn apply<'a>(
    stages: impl Iterator<Item = &'a Stage>,
    values: StageValues,
    output: &Tile,
    spm: &[u8],
) -> Vec<f32> {
    let channels = output.channels as usize;
    let (mut floats, mut sums) = match values {
        StageValues::Floats(floats) => (floats, None),
        StageValues::Integers(sums) => (Vec::new(), Some(sums)),
    };
    for stage in stages {
        match (stage, sums.take()) {
            (Stage::Requantize { scales, zero, elem }, Some(sums)) => {
                floats = requantize(&sums, &self::floats(spm, *scales, output.channels), (*zero).into(), *elem);
            }
            _ => apply_one(stage, &mut floats, channels, output, spm),
        }
    }
    floats
}

/// Requantizes sums `[..., channels]`.
fn requantize(sums: &[i32], scales: &[f32], zero: f64, elem: Elem) -> Vec<f32> {
    let mut out = vec![0.0; sums.len()];
    for (out, sums) in out.chunks_exact_mut(scales.len()).zip(sums.chunks_exact(scales.len())) {
        let pairs = sums.iter().zip(scales);
        out.iter_mut().zip(pairs).for_each(|(out, (&sum, &scale))| {
            *out = saturated(round(f64::from(sum) * f64::from(scale)) + zero, elem);
        });
    }
    out
}

/// Rounds half to even, exactly for numbers that a saturation distinguishes; without a call, so that it is vectorized.
fn round(x: f64) -> f64 {
    const INTEGERS: f64 = (1u64 << 52) as f64 * 1.5;
    if x.abs() < (1u64 << 51) as f64 { (x + INTEGERS) - INTEGERS } else { x }
}

/// Saturates an integer to a byte; a NaN becomes 0.
fn saturated(x: f64, elem: Elem) -> f32 {
    let [low, high] = if elem == Elem::U8 { [0.0, 255.0] } else { [-128.0, 127.0] };
    let x = if x.is_nan() { 0.0 } else { x };
    x.clamp(low, high) as f32
}

fn quantized(x: f32, to: Scale, elem: Elem) -> f32 {
    saturated(round((x / to.scale).into()) + f64::from(to.zero), elem)
}

fn dequantized(x: f32, from: Scale) -> f32 {
    (x - from.zero as f32) * from.scale
}

fn each(values: &mut [f32], f: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|v| *v = f(*v));
}

/// Applies a stage to values `[..., channels]`.
fn apply_one(stage: &Stage, values: &mut [f32], channels: usize, output: &Tile, spm: &[u8]) {
    match *stage {
        Stage::Requantize { .. } => {}
        Stage::Affine { scales } => {
            let both = floats(spm, scales, 2 * output.channels);
            let (scales, biases) = both.split_at(channels);
            for pixel in values.chunks_exact_mut(channels) {
                pixel.iter_mut().zip(scales.iter().zip(biases)).for_each(|(v, (scale, bias))| *v = *v * scale + bias);
            }
        }
        Stage::Add { ref other } => with(values, other, output, spm, |x, y| x + y),
        Stage::Mul { ref other } => with(values, other, output, spm, |x, y| x * y),
        Stage::QuantizedAdd { ref other, x, y, to, elem } => {
            with(values, other, output, spm, |a, b| quantized(dequantized(a, x) + dequantized(b, y), to, elem));
        }
        Stage::QuantizedMul { ref other, x, y, to, elem } => {
            with(values, other, output, spm, |a, b| quantized(dequantized(a, x) * dequantized(b, y), to, elem));
        }
        Stage::Clamp { low, high } => each(values, |x| clamped(x, low, high)),
        Stage::Leaky { slope } => each(values, |x| if x < 0.0 { slope * x } else { x }),
        Stage::Sigmoid => each(values, logistic),
        Stage::HardSigmoid { alpha, beta } => each(values, |x| clamped(alpha * x + beta, 0.0, 1.0)),
        Stage::HardSwish => each(values, |x| x * clamped(x / 6.0 + 0.5, 0.0, 1.0)),
        Stage::Table { tables, per_channel, from, to } => {
            let first = if from == Elem::I8 { 128.0 } else { 0.0 };
            let byte = |v: u8| if to == Elem::I8 { f32::from(v.cast_signed()) } else { v.into() };
            for pixel in values.chunks_exact_mut(channels) {
                for (channel, v) in pixel.iter_mut().enumerate() {
                    let table = tables as usize + if per_channel { 256 * channel } else { 0 };
                    *v = byte(spm[table + usize::from((*v + first) as u8)]);
                }
            }
        }
        Stage::Quantize { to, elem } => each(values, |x| quantized(x, to, elem)),
        Stage::Dequantize { from } => each(values, |x| dequantized(x, from)),
    }
}

/// Bounds a value; a NaN remains.
fn clamped(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// The logistic function without overflow, as the reference computes it.
fn logistic(x: f32) -> f32 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// Combines values with another tile, whose extents of 1 are broadcast.
fn with(values: &mut [f32], other: &Tile, output: &Tile, spm: &[u8], f: impl Fn(f32, f32) -> f32) {
    let others = load(other, spm);
    let (cols, channels) = (output.cols as usize, output.channels as usize);
    let step = |extent: u32, stride: usize| if extent == 1 { 0 } else { stride };
    let pixel = step(other.cols, other.channels as usize);
    let row = step(other.rows, other.cols as usize * other.channels as usize);
    for (i, values) in values.chunks_exact_mut(channels).enumerate() {
        let others = &others[i / cols * row + i % cols * pixel..][..other.channels as usize];
        match others {
            [one] => each(values, |v| f(v, *one)),
            _ => values.iter_mut().zip(others).for_each(|(v, &other)| *v = f(*v, other)),
        }
    }
}
