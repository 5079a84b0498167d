//! Factors of the pipe that equal the floats of the reference, bit by bit.

use super::network::Requantization;

/// Largest binary places of a factor.
const MAX_SHIFT: u32 = 62;
/// Largest magnitude of a sum whose product with a factor of 24 bits is exact in `f64`, as the reference computes it.
pub const MAX_SUM: i64 = 1 << 29;
/// Factors up to this distance from the real ones are tried, 2^-20 of them.
const REACH: i64 = 1024;
/// Corrections of the factors of a sum.
const ROUNDS: usize = 4000;
/// Distance of the factors that are tried.
const STEP: i64 = 16;

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
pub struct ByteQuantization {
    /// Scale.
    pub scale: f32,
    /// Zero point.
    pub zero: i16,
    /// Whether bytes are signed.
    pub signed: bool,
}

impl ByteQuantization {
    /// Bounds of the bytes.
    pub fn bounds(&self) -> [i16; 2] {
        if self.signed { [-128, 127] } else { [0, 255] }
    }

    fn all(self) -> impl Iterator<Item = i16> {
        let [low, high] = self.bounds();
        low..=high
    }

    /// The integer of a byte.
    pub fn of_byte(&self, byte: u8) -> i16 {
        if self.signed { i16::from(byte as i8) } else { byte.into() }
    }

    /// The number that an integer represents.
    pub fn real(&self, q: i16) -> f32 {
        f32::from(q - self.zero) * self.scale
    }

    /// The integer of a number, as the reference computes it.
    pub fn quantize(&self, x: f32) -> i64 {
        let [low, high] = self.bounds().map(f64::from);
        (f64::from((x / self.scale).round_ties_even()) + f64::from(self.zero)).clamp(low, high) as i64
    }

    fn saturate(&self, x: i64) -> i64 {
        let [low, high] = self.bounds().map(i64::from);
        x.clamp(low, high)
    }
}

/// Integer factors that stand for a ratio of scales, and how well they do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit<T> {
    /// Factors.
    pub factors: T,
    /// Number of pairs of operands (bytes) whose result is one step beside that of the reference; 0 if all results are equal.
    pub steps: usize,
}

/// Returns factors of both operands and their binary places, with which the sum of all pairs of bytes is that of the reference, or
/// the nearest ones.
pub fn sum(a: &ByteQuantization, b: &ByteQuantization, y: &ByteQuantization) -> Option<Fit<([i32; 2], u8)>> {
    let ratios = [a, b].map(|q| f64::from(q.scale) / f64::from(y.scale));
    // The maximum of numbers ignores NaN.
    let is_finite = ratios.iter().all(|ratio| ratio.is_finite());
    let shift = binary_places(ratios[0].abs().max(ratios[1].abs())).filter(|_| is_finite)?;
    let near = [nearest_factor(ratios[0], shift)?, nearest_factor(ratios[1], shift)?];
    let pairs = Pairs::new([a, b], y, shift, |p, q| p + q, |[p, q]| p * near[0] + q * near[1]);
    let [f, g] = pairs.solve(near).unwrap_or(near);
    let factors = ([i32::try_from(f).ok()?, i32::try_from(g).ok()?], shift as u8);
    Some(Fit { factors, steps: pairs.steps(|[p, q]| p * f + q * g) })
}

/// Returns a factor with which the product of all pairs of bytes is that of the reference, or the nearest one.
pub fn product(a: &ByteQuantization, b: &ByteQuantization, y: &ByteQuantization) -> Option<Fit<Requantization>> {
    let ratio = f64::from(a.scale) * f64::from(b.scale) / f64::from(y.scale);
    let shift = binary_places(ratio)?;
    let near = nearest_factor(ratio, shift)?;
    let pairs = Pairs::new([a, b], y, shift, |p, q| p * q, |[p, q]| p * q * near);
    let factor = neighbours().map(|i| near + i).find(|factor| pairs.fit(|[p, q]| p * q * factor)).unwrap_or(near);
    let factors = Requantization { bias: 0, scale: i32::try_from(factor).ok()?, shift };
    Some(Fit { factors, steps: pairs.steps(|[p, q]| p * q * factor) })
}

/// The pairs of bytes whose result depends on the last places of the factors.
struct Pairs {
    shift: u32,
    to: ByteQuantization,
    /// Differences from the zero points, and the result of the reference.
    critical: Vec<([i64; 2], i64)>,
    /// Number of the other pairs that have another result than the reference.
    wrong: usize,
}

impl Pairs {
    /// Computes all pairs by the reference and by the factors nearest to the real ones.
    fn new(
        [a, b]: [&ByteQuantization; 2],
        y: &ByteQuantization,
        shift: u32,
        real: impl Fn(f32, f32) -> f32,
        near: impl Fn([i64; 2]) -> i64,
    ) -> Pairs {
        let mut pairs = Pairs { shift, to: *y, critical: Vec::new(), wrong: 0 };
        let others: Vec<(i64, f32)> = b.all().map(|q| (i64::from(q - b.zero), b.real(q))).collect();
        for p in a.all() {
            let (left, left_real) = (i64::from(p - a.zero), a.real(p));
            for &(right, right_real) in &others {
                let (pair, wanted) = ([left, right], y.quantize(real(left_real, right_real)));
                let value = near(pair);
                // The most that neighbouring factors change.
                let most = REACH * (left.abs() + right.abs()).max((left * right).abs());
                let [low, high] = [value - most, value + most].map(|v| pairs.result(v));
                if low != high {
                    pairs.critical.push((pair, wanted));
                } else if low != wanted {
                    pairs.wrong += 1;
                }
            }
        }
        pairs
    }

    fn result(&self, value: i64) -> i64 {
        self.to.saturate(round_shift(value, self.shift) + i64::from(self.to.zero))
    }

    /// Whether values have the results of the reference.
    fn fit(&self, value: impl Fn([i64; 2]) -> i64) -> bool {
        self.wrong == 0 && self.critical.iter().all(|&(pair, wanted)| self.result(value(pair)) == wanted)
    }

    /// Moves the factors of a sum by the least change that a wrong pair needs, until none is wrong.
    fn solve(&self, near: [i64; 2]) -> Option<[i64; 2]> {
        let mut factors = near;
        for round in 0..ROUNDS {
            let value = |[p, q]: [i64; 2]| p * factors[0] + q * factors[1];
            // Another pair first each round, so that two do not take turns for ever.
            let from = round * 7 % self.critical.len().max(1);
            let order = self.critical[from..].iter().chain(&self.critical[..from]);
            let Some(&(pair, wanted)) = order.into_iter().find(|(pair, wanted)| self.result(value(*pair)) != *wanted)
            else {
                return (self.wrong == 0).then_some(factors);
            };
            // The nearest value that rounds to the wanted result.
            let (have, half) = (value(pair), 1_i64 << (self.shift - 1));
            let center = (wanted - i64::from(self.to.zero)) << self.shift;
            let change = if have > center { center + half - 1 - have } else { center - half + 1 - have };
            let norm = pair[0] * pair[0] + pair[1] * pair[1];
            for (factor, p) in factors.iter_mut().zip(pair) {
                let exact = change * p;
                *factor += exact / norm + (exact % norm).signum();
            }
            if factors.iter().zip(near).any(|(f, n)| (f - n).abs() > REACH) {
                return None;
            }
        }
        None
    }

    /// The number of pairs that do not have the result of the reference.
    fn steps(&self, value: impl Fn([i64; 2]) -> i64) -> usize {
        self.wrong + self.critical.iter().filter(|&&(pair, wanted)| self.result(value(pair)) != wanted).count()
    }
}

/// The binary places at which a factor has 30 bits.
fn binary_places(ratio: f64) -> Option<u32> {
    let places = (f64::from(1 << 30) / ratio).log2().floor();
    (ratio > 0.0 && (0.0..=f64::from(MAX_SHIFT)).contains(&places)).then_some(places as u32)
}

/// Returns the factor of 32 bits with `places` binary places that is nearest to a ratio.
fn nearest_factor(ratio: f64, places: u32) -> Option<i64> {
    let factor = (ratio * 2_f64.powi(places as i32)).round() as i64;
    i32::try_from(factor).is_ok().then_some(factor)
}

/// 0, and multiples of a step in both directions.
fn neighbours() -> impl Iterator<Item = i64> {
    std::iter::once(0).chain((1..=REACH / STEP).flat_map(|i| [i * STEP, -i * STEP]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_fit_32_bits() {
        let bytes = |scale| ByteQuantization { scale, zero: 0, signed: true };
        assert!(sum(&bytes(0.5), &bytes(-1.0e30), &bytes(0.25)).is_none());
        assert!(product(&bytes(0.5), &bytes(1.0e30), &bytes(0.25)).is_none());
        assert!(sum(&bytes(0.5), &bytes(-0.5), &bytes(0.25)).is_some_and(|fit| fit.steps == 0));
    }

    #[test]
    fn rounds_half_to_even() {
        let values = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].map(|v| round_shift(v, 1));
        assert_eq!(values, [-2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn factors_give_the_bytes_of_the_reference() {
        let mut seed = 7_u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let (mut found, rounds) = (0, 60);
        for _ in 0..rounds {
            let mut bytes = || {
                let signed = next(2) == 0;
                let zero = next(256) as i16 - if signed { 128 } else { 0 };
                let sign = if next(8) == 0 { -1.0 } else { 1.0 };
                ByteQuantization { scale: sign * (0.001 + next(1000) as f32 / 9973.0), zero, signed }
            };
            let [a, b, y] = [bytes(), bytes(), bytes()];
            if let Some(Fit { factors: (factors, shift), steps }) = sum(&a, &b, &y) {
                found += usize::from(steps == 0);
                let mut wrong = 0;
                for (p, q) in a.all().flat_map(|p| b.all().map(move |q| (p, q))) {
                    let exact =
                        i64::from(p - a.zero) * i64::from(factors[0]) + i64::from(q - b.zero) * i64::from(factors[1]);
                    let have = y.saturate(round_shift(exact, shift.into()) + i64::from(y.zero));
                    let want = y.quantize(a.real(p) + b.real(q));
                    assert!((have - want).abs() < 2, "{a:?} {b:?} {y:?} {p} {q}");
                    wrong += usize::from(have != want);
                }
                assert_eq!(wrong, steps, "{a:?} {b:?} {y:?}");
            }
            if let Some(Fit { factors: one, steps }) = product(&a, &b, &y) {
                found += usize::from(steps == 0);
                let mut wrong = 0;
                for (p, q) in a.all().flat_map(|p| b.all().map(move |q| (p, q))) {
                    let exact = i64::from(p - a.zero) * i64::from(q - b.zero) * i64::from(one.scale);
                    let have = y.saturate(round_shift(exact, one.shift) + i64::from(y.zero));
                    let want = y.quantize(a.real(p) * b.real(q));
                    assert!((have - want).abs() < 2, "{a:?} {b:?} {y:?} {p} {q}");
                    wrong += usize::from(have != want);
                }
                assert_eq!(wrong, steps, "{a:?} {b:?} {y:?}");
            }
        }
        assert!(found * 4 > 2 * rounds * 3, "only {found} of {}", 2 * rounds);
    }

    #[test]
    fn extreme_scales_are_refused_or_computed() {
        let scales = [0.5, -0.5, -1.6e31, 3e38, 1e-40, 0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let bytes = |scale: f32| ByteQuantization { scale, zero: 3, signed: true };
        let mut found = 0;
        for i in 0..scales.len().pow(3) {
            let [a, b, y] = [1, scales.len(), scales.len().pow(2)].map(|n| bytes(scales[i / n % scales.len()]));
            if let Some(Fit { factors: ([f, g], shift), steps }) = sum(&a, &b, &y) {
                let value = |p, q| i64::from(p - a.zero) * i64::from(f) + i64::from(q - b.zero) * i64::from(g);
                let have = |p, q| y.saturate(round_shift(value(p, q), shift.into()) + i64::from(y.zero));
                let pairs = a.all().flat_map(|p| b.all().map(move |q| (p, q)));
                let wrong = pairs.filter(|&(p, q)| have(p, q) != y.quantize(a.real(p) + b.real(q))).count();
                assert_eq!(wrong, steps, "{a:?} {b:?} {y:?}");
                found += 1;
            }
        }
        assert!(found > 8, "only {found}");
    }
}
