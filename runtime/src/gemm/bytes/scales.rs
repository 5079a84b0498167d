//! Requantization of 32-bit sums to bytes.

use super::MAX_WIDTH;
use crate::vector::{ROUND, Vector};
use std::ops::Range;

/// Mask that converts four signed bytes to unsigned ones, offset by 128.
pub(super) const FLIP: i32 = i32::from_ne_bytes([0x80; 4]);

/// The zero point and the least and greatest value of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteRange {
    zero: f32,
    low: f32,
    high: f32,
}

impl ByteRange {
    /// Returns the least and greatest number before the zero point is added, and the zero point; the former two plus
    /// [`ROUND`].
    #[inline(always)]
    pub(super) fn rounded(&self) -> [f32; 3] {
        [ROUND + (self.low - self.zero), ROUND + (self.high - self.zero), self.zero]
    }

    /// Rounds half to even, adds the zero point and saturates.
    #[inline(always)]
    fn quantize(&self, x: f64) -> u8 {
        let [zero, low, high] = [self.zero, self.low, self.high].map(f64::from);
        // A NaN passes through, and its last byte is zero.
        let x = if x < low - zero { low - zero } else { x };
        let x = if x > high - zero { high - zero } else { x };
        (x + ROUND_WIDE + zero).to_bits() as u8
    }

    /// Returns integers for bytes as signed ones: the bits of the least number after the addition of [`ROUND`], the bits that
    /// stand for 0, and a mask that converts four signed bytes.
    #[inline(always)]
    pub(super) fn signed_bits(&self) -> [i32; 3] {
        let (zero, flip) = if self.low < 0.0 { (self.zero, 0) } else { (self.zero - 128.0, FLIP) };
        [self.rounded()[0].to_bits() as i32, (ROUND - zero).to_bits() as i32, flip]
    }
}

/// Requantization: `saturate(round(sum * scale) + zero)` in f64, rounded half to even.
#[derive(Clone, Debug)]
pub struct Scales {
    /// Scale per column.
    scales: Vec<f64>,
    /// The scales rounded to f32, and zeros up to a whole panel.
    rough: Vec<f32>,
    bounds: ByteRange,
}

impl Scales {
    /// Creates a requantization with one scale per column, to signed or unsigned bytes.
    pub fn new(scales: Vec<f64>, zero: i32, signed: bool) -> Scales {
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        Scales::with_bounds(scales, ByteRange { zero: zero as f32, low, high })
    }

    fn with_bounds(scales: Vec<f64>, bounds: ByteRange) -> Scales {
        let mut rough: Vec<f32> = scales.iter().map(|&scale| scale as f32).collect();
        rough.resize(scales.len() + MAX_WIDTH, 0.0);
        Scales { scales, rough, bounds }
    }

    /// Returns the requantization of some columns.
    pub(crate) fn part(&self, columns: Range<usize>) -> Scales {
        Scales::with_bounds(self.scales[columns].to_vec(), self.bounds)
    }

    /// Returns the number of columns.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn bounds(&self) -> ByteRange {
        self.bounds
    }

    /// Returns the scales in f32 from a column on, at least one panel of them.
    pub(crate) fn rough(&self, first: usize) -> &[f32] {
        &self.rough[first..]
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
        rows: impl Iterator<Item = (*const i32, *mut u8)> + Clone,
    ) {
        let scale = &self.rough[first..][..V::LANES];
        let ByteRange { zero, low, high } = self.bounds;
        // SAFETY: guaranteed by the caller, and there are as many scales.
        unsafe {
            let (scale, round) = (V::load(scale.as_ptr()), V::splat(ROUND));
            let (low, high, zero) = (V::splat(low - zero), V::splat(high - zero), V::splat(zero));
            let mut off = V::splat(0.0);
            for (sums, to) in rows.clone() {
                let x = V::from_integers(sums).multiply_add(scale, V::splat(0.0)).between(low, high);
                let rounded = x.plus(round);
                rounded.plus(zero).store_bytes(to);
                off = off.max_magnitude(x.minus(rounded.minus(round)));
            }
            if off.any_at_least(0.5 - OFF) {
                for (sums, to) in rows {
                    let sums = std::slice::from_raw_parts(sums, V::LANES);
                    self.write_exactly(first, sums, std::slice::from_raw_parts_mut(to, V::LANES));
                }
            }
        }
    }

    /// Requantizes in f64.
    #[inline(always)]
    fn write_exactly(&self, first: usize, sums: &[i32], to: &mut [u8]) {
        for ((to, &sum), scale) in to.iter_mut().zip(sums).zip(&self.scales[first..]) {
            *to = self.bounds.quantize(f64::from(sum) * scale);
        }
    }

    /// Requantizes a sum of a column in f64.
    pub(crate) fn exact(&self, column: usize, sum: i32) -> u8 {
        self.bounds.quantize(f64::from(sum) * self.scales[column])
    }
}

/// The f64 counterpart of [`ROUND`], for values of less than 51 bits.
const ROUND_WIDE: f64 = 1.5 * (1_u64 << 52) as f64;

/// Error bound of the f32 result: 4 · 512 · 2^-24.
const OFF: f32 = 1.0 / 8192.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_panel_of_a_part_has_scales() {
        let whole = Scales::new(vec![0.5; 3 * MAX_WIDTH], 0, true);
        for columns in [0..1, 5..9, 2 * MAX_WIDTH..3 * MAX_WIDTH] {
            let part = whole.part(columns.clone());
            assert!(part.rough(columns.len() - 1).len() > MAX_WIDTH, "{columns:?}");
        }
    }
}
