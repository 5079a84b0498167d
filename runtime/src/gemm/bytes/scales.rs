//! How sums become bytes again.

use crate::vector::{ROUND, Vector};

/// Times a scale, plus a zero point, in doubles, rounded half to even and saturated.
#[derive(Clone, Debug)]
pub struct Scales {
    /// A scale for each column.
    scales: Vec<f64>,
    /// The same, nearly.
    rough: Vec<f32>,
    zero: f32,
    low: f32,
    high: f32,
}

impl Scales {
    /// To bytes with a sign or without, from a scale for each column.
    pub fn new(scales: Vec<f64>, zero: i32, signed: bool) -> Scales {
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        let rough = scales.iter().map(|&scale| scale as f32).collect();
        Scales { scales, rough, zero: zero as f32, low, high }
    }

    /// For how many columns.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Writes as many columns from one on as a vector has, of some rows: where the sums of each are, and where its bytes go.
    ///
    /// Floats of half the bits do for most. A number that is nearer to the middle of two whole ones than such floats may be off
    /// has its column computed again: sums and scales are off by 2^-24 of themselves, where it matters products are less than 512,
    /// and with the zero point rounded twice.
    ///
    /// # Safety
    /// The machine has the vectors, and there is a sum and room for a byte for each column of each row.
    #[inline(always)]
    pub(crate) unsafe fn write<V: Vector>(
        &self,
        first: usize,
        bias: &[i32],
        rows: impl Iterator<Item = (*const i32, *mut u8)> + Clone,
    ) {
        let (bias, scale) = (&bias[first..][..V::LANES], &self.rough[first..][..V::LANES]);
        // SAFETY: the caller's promise, and there are as many scales and biases.
        unsafe {
            let (scale, zero, round) = (V::load(scale.as_ptr()), V::splat(self.zero), V::splat(ROUND));
            let (low, high) = (V::splat(self.low), V::splat(self.high));
            let mut off = V::splat(0.0);
            for (sums, to) in rows.clone() {
                let x = V::of_sums(sums, bias.as_ptr()).times_plus(scale, zero).between(low, high);
                let rounded = x.plus(round);
                rounded.store_bytes(to);
                off = off.or_further(x.minus(rounded.minus(round)));
            }
            if off.is_beyond(0.5 - OFF) {
                for (sums, to) in rows {
                    let sums = std::slice::from_raw_parts(sums, V::LANES).iter().zip(bias);
                    let to = std::slice::from_raw_parts_mut(to, V::LANES);
                    self.write_exactly(first, sums.map(|(sum, bias)| sum.wrapping_add(*bias)), to);
                }
            }
        }
    }

    /// The same in doubles.
    #[inline(always)]
    fn write_exactly(&self, first: usize, sums: impl Iterator<Item = i32>, to: &mut [u8]) {
        let [zero, low, high] = [self.zero, self.low, self.high].map(f64::from);
        for ((to, sum), scale) in to.iter_mut().zip(sums).zip(&self.scales[first..]) {
            let x = f64::from(sum) * scale + zero;
            // What is no number stays none, whose last byte is zero.
            let x = if x < low { low } else { x };
            let x = if x > high { high } else { x };
            *to = (x + ROUND_WIDE).to_bits() as u8;
        }
    }
}

/// The same as [`ROUND`] for doubles of less than 51 bits.
const ROUND_WIDE: f64 = 1.5 * (1_u64 << 52) as f64;

/// 512 times 2^-24 four times.
const OFF: f32 = 1.0 / 8192.0;
