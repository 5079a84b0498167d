//! Pools: maxima and means of windows.

use crate::cluster::compute::Compute;
use crate::cluster::operands::{Stages, Tile, Window};
use crate::cluster::rules::{Rule, check_pair, check_stages, check_window, rules};
use crate::cluster::values::{StageValues, load};
use crate::fields::records;

/// A pool.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Pool {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// The window.
    pub window: Window,
    /// Whether the largest element is computed; else the mean.
    pub is_max: bool,
    /// The number by which a sum is divided; 0 for the number of taps that are not padding.
    pub divisor: u32,
    /// Stages before the store.
    pub stages: Stages,
}

records! {
    Pool { task, input, output, window, is_max, divisor; stages }
}

impl Compute for Pool {
    fn stages(&self) -> Option<&Stages> {
        Some(&self.stages)
    }

    fn check(&self) -> Rule {
        check_pair(&self.input, &self.output)?;
        check_window(&self.window, 1)?;
        rules(&[(self.input.channels == self.output.channels, "a pool has the channels of its input")])?;
        check_stages(&self.stages, &self.output, false)
    }

    fn values(&self, spm: &[u8]) -> StageValues {
        StageValues::Floats(pool(self, &load(&self.input, spm)))
    }

    fn work(&self, elements: u64) -> u64 {
        self.window.kernel.iter().fold(elements, |n, &taps| n.saturating_mul(taps.into()))
    }
}

/// The window of an output along an axis: positions in the input.
fn taps(pool: &Pool, axis: usize, output: usize) -> impl Iterator<Item = usize> + use<> {
    let extent = [pool.input.rows, pool.input.cols][axis];
    let w = &pool.window;
    let first = i64::from(w.first[axis]).saturating_add((output as i64).saturating_mul(w.stride[axis].into()));
    let dilation = i64::from(w.dilation[axis]);
    let at = (0..i64::from(w.kernel[axis])).map(move |k| first.saturating_add(k * dilation));
    at.filter(move |at| (0..i64::from(extent)).contains(at)).map(|at| at as usize)
}

/// Returns the pooled values of an input `[rows, cols, channels]`.
fn pool(pool: &Pool, input: &[f32]) -> Vec<f32> {
    let (channels, width) = (pool.output.channels as usize, pool.input.cols as usize);
    let mut out = Vec::with_capacity(pool.output.rows as usize * pool.output.cols as usize * channels);
    let cols: Vec<Vec<usize>> = (0..pool.output.cols as usize).map(|x| taps(pool, 1, x).collect()).collect();
    for y in 0..pool.output.rows as usize {
        let rows: Vec<usize> = taps(pool, 0, y).collect();
        for cols in &cols {
            let pixels = rows.iter().flat_map(|y| cols.iter().map(move |x| (y * width + x) * channels));
            let pixels = pixels.map(|at| &input[at..at + channels]);
            if pool.is_max {
                maximum(pixels, channels, &mut out);
            } else {
                let count = if pool.divisor == 0 { (rows.len() * cols.len()) as f64 } else { pool.divisor.into() };
                mean(pixels, channels, count, &mut out);
            }
        }
    }
    out
}

/// Appends the maxima of pixels, by channel; the first NaN, if there is one.
fn maximum<'a>(pixels: impl Iterator<Item = &'a [f32]>, channels: usize, out: &mut Vec<f32>) {
    let start = out.len();
    out.resize(start + channels, f32::NEG_INFINITY);
    for pixel in pixels {
        for (best, &v) in out[start..].iter_mut().zip(pixel) {
            *best = if v > *best || v.is_nan() && !best.is_nan() { v } else { *best };
        }
    }
}

/// Appends the means of pixels, by channel, which are summed in f64 in the order of rows and columns.
fn mean<'a>(pixels: impl Iterator<Item = &'a [f32]>, channels: usize, count: f64, out: &mut Vec<f32>) {
    let mut sums = vec![-0.0; channels];
    for pixel in pixels {
        sums.iter_mut().zip(pixel).for_each(|(sum, &v)| *sum += f64::from(v));
    }
    out.extend(sums.iter().map(|sum| (sum / count) as f32));
}
