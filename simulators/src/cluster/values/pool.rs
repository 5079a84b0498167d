//! Pools: maxima and means of windows.

use super::super::Pool;

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
pub(super) fn pool(pool: &Pool, input: &[f32]) -> Vec<f32> {
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
