//! Requantization of 32-bit sums to bytes.

use crate::vector::{ROUND, Vector};
use std::ops::Range;

/// Requantization: `saturate(round(sum * scale) + zero)` in f64, rounded half to even.
#[derive(Clone, Debug)]
pub struct Scales {
    /// Scale per column.
    scales: Vec<f64>,
    /// The scales rounded to f32.
    rough: Vec<f32>,
    zero: f32,
    low: f32,
    high: f32,
}

impl Scales {
    /// Creates a requantization with one scale per column, to signed or unsigned bytes.
    pub fn new(scales: Vec<f64>, zero: i32, signed: bool) -> Scales {
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        let rough = scales.iter().map(|&scale| scale as f32).collect();
        Scales { scales, rough, zero: zero as f32, low, high }
    }

    /// Returns the requantization of some columns.
    pub(crate) fn part(&self, columns: Range<usize>) -> Scales {
        Scales { scales: self.scales[columns.clone()].to_vec(), rough: self.rough[columns].to_vec(), ..*self }
    }

    /// Returns the number of columns.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Writes one vector of columns of several rows; each row gives its sums and its destination.
    ///
    /// Computes in f32 and recomputes a column in f64 where the product is closer to a rounding boundary than the f32
    /// error: sum, scale and product each have a relative error of 2^-24 and the product is below 512 where it matters.
    ///
    /// # Safety
    /// The machine has the vectors, and each row has a sum and room for a byte in each column.
    #[inline(always)]
    pub(crate) unsafe fn write<V: Vector>(
        &self,
        first: usize,
        bias: &[i32],
        rows: impl Iterator<Item = (*const i32, *mut u8)> + Clone,
    ) {
        let (bias, scale) = (&bias[first..][..V::LANES], &self.rough[first..][..V::LANES]);
        // SAFETY: guaranteed by the caller, and there are as many scales and biases.
        unsafe {
            let (scale, zero, round) = (V::load(scale.as_ptr()), V::splat(self.zero), V::splat(ROUND));
            let (low, high) = (V::splat(self.low - self.zero), V::splat(self.high - self.zero));
            let mut off = V::splat(0.0);
            for (sums, to) in rows.clone() {
                let x = V::from_sums(sums, bias.as_ptr()).multiply_add(scale, V::splat(0.0)).between(low, high);
                let rounded = x.plus(round);
                rounded.plus(zero).store_bytes(to);
                off = off.max_magnitude(x.minus(rounded.minus(round)));
            }
            if off.any_at_least(0.5 - OFF) {
                for (sums, to) in rows {
                    let sums = std::slice::from_raw_parts(sums, V::LANES).iter().zip(bias);
                    let to = std::slice::from_raw_parts_mut(to, V::LANES);
                    self.write_exactly(first, sums.map(|(sum, bias)| sum.wrapping_add(*bias)), to);
                }
            }
        }
    }

    /// Requantizes in f64.
    #[inline(always)]
    fn write_exactly(&self, first: usize, sums: impl Iterator<Item = i32>, to: &mut [u8]) {
        let [zero, low, high] = [self.zero, self.low, self.high].map(f64::from);
        for ((to, sum), scale) in to.iter_mut().zip(sums).zip(&self.scales[first..]) {
            let x = f64::from(sum) * scale;
            // A NaN passes through, and its last byte is zero.
            let x = if x < low - zero { low - zero } else { x };
            let x = if x > high - zero { high - zero } else { x };
            *to = (x + ROUND_WIDE + zero).to_bits() as u8;
        }
    }
}

/// The f64 counterpart of [`ROUND`], for values of less than 51 bits.
const ROUND_WIDE: f64 = 1.5 * (1_u64 << 52) as f64;

/// Error bound of the f32 result: 4 · 512 · 2^-24.
const OFF: f32 = 1.0 / 8192.0;
