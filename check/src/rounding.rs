//! Float formats: their precision, their least number, and rounding at random.

use crate::input::map_elements;
use gradus_ir::eval::Datum;
use gradus_ir::float::{FloatKind, from_f64, to_f64};
use gradus_ir::random::Random;

/// Returns the number nearest to another one, ties to even.
fn nearest(kind: FloatKind, value: f64) -> f64 {
    to_f64(kind, from_f64(kind, value))
}

/// Returns the number of significant bits of a format, the implicit one included.
pub(crate) fn significant_bits(kind: FloatKind) -> u32 {
    let holds = |bits: u32| {
        let value = 1.0 + f64::exp2(1.0 - f64::from(bits));
        nearest(kind, value) == value
    };
    (1..=53).rev().find(|&bits| holds(bits)).unwrap_or(1)
}

/// Returns the least positive number of a format that is a power of two of at least 2⁻¹⁹⁹.
pub(crate) fn least(kind: FloatKind) -> f64 {
    let holds = |number: &f64| nearest(kind, *number) == *number;
    (0..200).map(|exponent| f64::exp2(-f64::from(exponent))).take_while(holds).last().unwrap_or(1.0)
}

/// Returns the greatest power of two of a format.
pub(crate) fn greatest(kind: FloatKind) -> f64 {
    let holds = |number: &f64| nearest(kind, *number) == *number;
    (0..1024).map(|exponent| f64::exp2(f64::from(exponent))).take_while(holds).last().unwrap_or(1.0)
}

/// Percentage of tensors that are not rounded.
const EXACT: u64 = 30;

/// Rounding of numbers that a format does not hold: to the nearest with seed 0; else up or down at random, and some values not at all, since
/// a program may compute one of two uses of a number in the format.
pub(crate) struct RandomRounding {
    kind: FloatKind,
    bits: u32,
    least: f64,
    random: Option<Random>,
}

impl RandomRounding {
    pub(crate) fn new(kind: FloatKind, seed: u64) -> RandomRounding {
        let (bits, least) = (significant_bits(kind), least(kind));
        let random = (seed > 0).then(|| Random::of(("rounding", seed)));
        RandomRounding { kind, bits, least, random }
    }

    fn number(&mut self, value: f64) -> f64 {
        let rounded = nearest(self.kind, value);
        let Some(random) = self.random.as_mut().filter(|_| rounded != value && !value.is_nan()) else { return rounded };
        let half = (f64::exp2(-f64::from(self.bits)) * value.abs()).max(0.5 * self.least);
        nearest(self.kind, if random.percent(50) { value + half } else { value - half })
    }

    /// Rounds the floats of a value whose own format has more significant bits.
    pub(crate) fn datum(&mut self, datum: &Datum) -> Datum {
        let wider = |kind| significant_bits(kind) > self.bits;
        match datum {
            Datum::Float(value) => Datum::Float(self.number(*value)),
            other => {
                let kind = other.masked().and_then(|(tensor, _)| tensor.dtype().float_kind());
                let stays = self.random.as_mut().is_some_and(|random| random.percent(EXACT));
                match kind {
                    Some(kind) if wider(kind) && !stays => {
                        map_elements(other, &mut |value| self.number(value), &|dtype| dtype)
                    }
                    _ => other.clone(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert_eq!((significant_bits(FloatKind::F16), least(FloatKind::F16)), (11, f64::exp2(-24.0)));
        assert_eq!(significant_bits(FloatKind::BF16), 8);
        assert_eq!(significant_bits(FloatKind::F64), 53);
        assert_eq!((greatest(FloatKind::F16), greatest(FloatKind::F32)), (32768.0, f64::exp2(127.0)));
    }

    #[test]
    fn numbers_are_rounded_to_a_neighbour() {
        let mut rounding = RandomRounding::new(FloatKind::F16, 1);
        for (value, down, up) in [(0.1, 0.099_975_586, 0.100_036_62), (1e-9, 0.0, f64::exp2(-24.0))] {
            let seen: Vec<f64> = (0..50).map(|_| rounding.number(value)).collect();
            assert!(seen.iter().all(|v| (v - down).abs() < 1e-8 || (v - up).abs() < 1e-8), "{seen:?}");
            assert!(seen.iter().any(|v| v < &value) && seen.iter().any(|v| v > &value), "{seen:?}");
        }
        assert_eq!(rounding.number(-0.75), -0.75);
        assert!(rounding.number(f64::NAN).is_nan());
        assert_eq!(rounding.number(1e9), f64::INFINITY);
    }
}
