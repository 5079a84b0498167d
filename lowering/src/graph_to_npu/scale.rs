//! Factors of the pipe that equal the floats of the reference, bit by bit.

use super::network::Requantization;

/// Largest binary places of a factor.
const MAX_SHIFT: u32 = 62;
/// Largest magnitude of a sum whose product with a factor of 24 bits is exact in `f64`, as the reference computes it.
pub const MAX_SUM: i64 = 1 << 29;
/// Neighbouring factors that are tried.
const NEIGHBOURS: i32 = 24;

/// Returns a factor and its binary places, with `factor * 2^-shift == scale`; `None` if 31 bits do not suffice.
pub fn exact(scale: f64) -> Option<(i32, u32)> {
    if scale == 0.0 {
        return Some((0, 0));
    }
    let (mut factor, mut shift) = (scale, 0);
    while factor.fract() != 0.0 {
        (factor, shift) = (factor * 2.0, shift + 1);
        if shift > 200 {
            return None;
        }
    }
    if shift > MAX_SHIFT {
        // The product with any sum is less than half.
        return (scale.abs() < 2_f64.powi(-33)).then_some((0, 0));
    }
    (factor.abs() <= f64::from(i32::MAX)).then_some((factor as i32, shift))
}

/// Returns the requantization by a scale.
pub fn requantization(bias: i32, scale: f64) -> Option<Requantization> {
    let (scale, shift) = exact(scale)?;
    Some(Requantization { bias, scale, shift })
}

/// Rounds `value * 2^-shift`, half to even.
pub fn round_shift(value: i64, shift: u32) -> i64 {
    if shift == 0 {
        return value;
    }
    let (floor, rest, half) = (value >> shift, value & ((1 << shift) - 1), 1_i64 << (shift - 1));
    floor + i64::from(rest > half || rest == half && floor & 1 == 1)
}

/// The quantization of a tensor: `(q - zero) * scale`, with bytes from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bytes {
    /// Scale.
    pub scale: f32,
    /// Zero point.
    pub zero: i16,
    /// Whether bytes are signed.
    pub signed: bool,
}

impl Bytes {
    /// Bounds of the bytes.
    pub fn bounds(&self) -> [i16; 2] {
        if self.signed { [-128, 127] } else { [0, 255] }
    }

    fn all(self) -> impl Iterator<Item = i16> {
        let [low, high] = self.bounds();
        low..=high
    }

    fn real(&self, q: i16) -> f32 {
        f32::from(q - self.zero) * self.scale
    }

    fn quantize(&self, x: f32) -> i64 {
        let [low, high] = self.bounds().map(f64::from);
        (f64::from((x / self.scale).round_ties_even()) + f64::from(self.zero)).clamp(low, high) as i64
    }

    fn saturate(&self, x: i64) -> i64 {
        let [low, high] = self.bounds().map(i64::from);
        x.clamp(low, high)
    }
}

/// Returns factors of both operands and their binary places, with which the sum of all pairs of bytes is that of the reference.
pub fn sum(a: &Bytes, b: &Bytes, y: &Bytes) -> Option<([i32; 2], u8)> {
    let ratios = [a, b].map(|q| f64::from(q.scale) / f64::from(y.scale));
    let shift = binary_places(ratios[0].max(ratios[1]))?;
    let near = ratios.map(|r| (r * 2_f64.powi(shift as i32)).round() as i32);
    let reals: Vec<f32> = b.all().map(|q| b.real(q)).collect();
    let is_equal = |scales: [i32; 2]| {
        let row = |p: i16| {
            let (left, real) = (i64::from(p - a.zero) * i64::from(scales[0]), a.real(p));
            b.all().zip(&reals).all(|(q, &other)| {
                let exact = left + i64::from(q - b.zero) * i64::from(scales[1]);
                y.saturate(round_shift(exact, shift) + i64::from(y.zero)) == y.quantize(real + other)
            })
        };
        a.all().all(row)
    };
    neighbours().flat_map(|i| neighbours().take(9).map(move |j| [i, j])).map(|[i, j]| [near[0] + i, near[1] + j])
        .find(|&scales| is_equal(scales))
        .map(|scales| (scales, shift as u8))
}

/// Returns a factor with which the product of all pairs of bytes is that of the reference.
pub fn product(a: &Bytes, b: &Bytes, y: &Bytes) -> Option<Requantization> {
    let ratio = f64::from(a.scale) * f64::from(b.scale) / f64::from(y.scale);
    let shift = binary_places(ratio)?;
    let near = (ratio * 2_f64.powi(shift as i32)).round() as i32;
    let reals: Vec<f32> = b.all().map(|q| b.real(q)).collect();
    let is_equal = |scale: i32| {
        let row = |p: i16| {
            b.all().zip(&reals).all(|(q, &other)| {
                let exact = i64::from(p - a.zero) * i64::from(q - b.zero) * i64::from(scale);
                y.saturate(round_shift(exact, shift) + i64::from(y.zero)) == y.quantize(a.real(p) * other)
            })
        };
        a.all().all(row)
    };
    let scale = neighbours().map(|i| near + i).find(|&scale| is_equal(scale))?;
    Some(Requantization { bias: 0, scale, shift })
}

/// The binary places at which a factor has 30 bits.
fn binary_places(ratio: f64) -> Option<u32> {
    let places = (f64::from(1 << 30) / ratio).log2().floor();
    (ratio > 0.0 && (0.0..=f64::from(MAX_SHIFT)).contains(&places)).then_some(places as u32)
}

/// 0, 1, -1, 2, -2 and so on.
fn neighbours() -> impl Iterator<Item = i32> {
    std::iter::once(0).chain((1..=NEIGHBOURS).flat_map(|i| [i, -i]))
}
