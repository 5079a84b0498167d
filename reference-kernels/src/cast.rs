//! Conversion between element types.

use crate::KernelResult;
use gradus_ir::eval::{floats_to_tensor, ints_to_tensor};
use gradus_ir::float::{self, FloatKind};
use gradus_ir::tensor::{DType, Elem, Tensor};
use half::{bf16, f16};

/// `Cast` (6, 9, 13, 19): converts every element to `to`.
///
/// Float to integer truncates towards zero and saturates (integers of fewer than 8 bits drop high bits instead); NaN
/// becomes 0. Integer narrowing drops high bits, as in C. Every nonzero number becomes `true`. Floats round to nearest
/// even; on overflow they become infinity, NaN or the largest value, whichever the format has first. NaN is -0 in
/// formats without NaN.
pub fn cast(x: &Tensor, to: DType) -> KernelResult {
    Ok(match (x.dtype(), to) {
        (from, to) if from == to => x.clone(),
        // Fast paths for the conversions around every computation on narrow floats.
        (DType::F16, DType::F32) => map(x, f16::to_f32),
        (DType::BF16, DType::F32) => map(x, bf16::to_f32),
        (DType::F32, DType::F16) => map(x, f16::from_f32),
        (DType::F32, DType::BF16) => map(x, bf16::from_f32),
        (DType::I8, DType::I32) => map::<i8, i32>(x, i32::from),
        (DType::U8, DType::I32) => map::<u8, i32>(x, i32::from),
        (DType::I16, DType::I32) => map::<i16, i32>(x, i32::from),
        (DType::U16, DType::I32) => map::<u16, i32>(x, i32::from),
        (DType::U32, DType::U64) => map::<u32, u64>(x, u64::from),
        (DType::I32, DType::I64) => map::<i32, i64>(x, i64::from),
        (DType::I32, DType::I8) => map(x, |v: i32| v as i8),
        (DType::I32, DType::U8) => map(x, |v: i32| v as u8),
        (DType::I32, DType::I16) => map(x, |v: i32| v as i16),
        (DType::I32, DType::U16) => map(x, |v: i32| v as u16),
        (DType::U64, DType::U32) => map(x, |v: u64| v as u32),
        (DType::I64, DType::I32) => map(x, |v: i64| v as i32),
        (from, DType::Bool) => {
            let bytes = x.bytes();
            let out = match (from, from.size()) {
                (DType::F32, _) => x.as_slice::<f32>().iter().map(|&v| u8::from(v != 0.0)).collect(),
                _ if from.is_float() => x.to_f64().iter().map(|&v| u8::from(v != 0.0)).collect(),
                (_, 1) => flags::<1>(bytes),
                (_, 2) => flags::<2>(bytes),
                (_, 4) => flags::<4>(bytes),
                _ => flags::<8>(bytes),
            };
            Tensor::from_bools(x.shape(), out)
        }
        (from, to) if from.is_float() && to.is_float() && to.bits() < 8 => {
            let number = |v: f64| if v.is_nan() { -0.0 } else { v };
            floats_to_tensor(to, x.shape(), x.to_f64().into_iter().map(number).collect())
        }
        (from, to) if from.is_float() && to.is_float() => floats_to_tensor(to, x.shape(), x.to_f64()),
        (from, to) if from.is_float() && to.is_narrow() => {
            ints_to_tensor(to, x.shape(), &wrapped(&from_f64s(DType::I64, x.shape(), x.to_f64())))
        }
        (from, to) if from.is_float() => from_f64s(to, x.shape(), x.to_f64()),
        // Avoid double rounding through f64.
        (DType::U64, DType::F32) => map(x, |v: u64| v as f32),
        (DType::I64, DType::F32) => map(x, |v: i64| v as f32),
        (_, to) if to.is_float() => floats_to_tensor(to, x.shape(), x.to_f64()),
        (_, to) => ints_to_tensor(to, x.shape(), &wrapped(x)),
    })
}

/// Applies `f` to every element.
fn map<S: Elem, R: Elem>(x: &Tensor, f: impl Fn(S) -> R) -> Tensor {
    Tensor::from_vec(x.shape(), x.as_slice::<S>().iter().map(|&v| f(v)).collect())
}

/// Returns 1 for every element of `N` bytes that is not all zeros, else 0.
fn flags<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    bytes.as_chunks::<N>().0.iter().map(|b| u8::from(*b != [0; N])).collect()
}

/// Returns the elements of an integer tensor; those beyond `i64` wrap.
fn wrapped(x: &Tensor) -> Vec<i64> {
    match x.dtype() {
        DType::U64 => x.as_slice::<u64>().iter().map(|v| v.cast_signed()).collect(),
        _ => x.to_i64().unwrap_or_default(),
    }
}

/// Converts `values` to a number type: floats round to nearest even, integers truncate and saturate, NaN becomes 0.
pub(super) fn from_f64s(dtype: DType, shape: &[usize], values: Vec<f64>) -> Tensor {
    if dtype.is_float() {
        return floats_to_tensor(dtype, shape, values);
    }
    if dtype == DType::U64 {
        return Tensor::from_vec(shape, values.iter().map(|&v| v as u64).collect());
    }
    let unused = 64 - dtype.bits();
    let (low, high) = match dtype.is_signed() {
        true => (i64::MIN >> unused, i64::MAX >> unused),
        false => (0, (u64::MAX >> unused).cast_signed()),
    };
    let ints: Vec<i64> = values.iter().map(|&v| (v as i64).clamp(low, high)).collect();
    ints_to_tensor(dtype, shape, &ints)
}

/// The rounding of a conversion to `f8E8M0FNU`, whose values are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RoundMode {
    /// To the next larger value.
    #[default]
    Up,
    /// To the next smaller value.
    Down,
    /// To the nearest value, ties up.
    Nearest,
}

/// `Cast` (24, 25, 28): as [`cast`], with optional saturation for 8-bit floats and a rounding mode for `f8E8M0FNU`.
pub fn cast_with(x: &Tensor, to: DType, saturate: bool, round: RoundMode) -> KernelResult {
    match to.float_kind() {
        Some(FloatKind::F8E8M0FNU) if x.dtype() != to => {
            let wide = cast(x, DType::F32)?;
            let bits = wide.as_slice::<f32>().iter().map(|&v| power_of_two(v, saturate, round)).collect();
            Ok(Tensor::from_bits(to, x.shape(), bits))
        }
        Some(kind) if saturate && kind.width() == 8 && x.dtype() != to => {
            let limit = largest(kind);
            let clamped = x.to_f64().iter().map(|v| v.clamp(-limit, limit)).collect();
            Ok(floats_to_tensor(to, x.shape(), clamped))
        }
        _ => cast(x, to),
    }
}

/// Returns the largest finite value of an 8-bit float.
fn largest(kind: FloatKind) -> f64 {
    let all = (0..=255).map(|bits| float::to_f64(kind, bits));
    all.filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// Returns the exponent of `v`, rounded, as `f8E8M0FNU` bits. The sign is ignored.
fn power_of_two(v: f32, saturate: bool, round: RoundMode) -> u8 {
    const NAN: u8 = 0xff;
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xff) as u8, bits & 0x7f_ffff);
    let up = match round {
        RoundMode::Up => fraction > 0,
        RoundMode::Down => false,
        // Subnormal numbers have no implicit bit.
        RoundMode::Nearest => fraction > 0x40_0000 || fraction == 0x40_0000 && exponent > 0,
    };
    match exponent {
        NAN => NAN,
        _ if !up || (saturate && exponent == NAN - 1) => exponent,
        _ => exponent + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_truncate_and_saturate() {
        let x = Tensor::from_vec(&[4], vec![-1.9f32, 300.0, f32::NAN, 2.5]);
        assert_eq!(cast(&x, DType::U8).unwrap().to_i64().unwrap(), [0, 255, 0, 2]);
        assert_eq!(cast(&x, DType::I4).unwrap().to_i64().unwrap(), [-1, -4, 0, 2]);
        assert_eq!(cast(&x, DType::I32).unwrap().to_i64().unwrap(), [-1, 300, 0, 2]);
        assert_eq!(cast(&x, DType::Bool).unwrap().to_i64().unwrap(), [1, 1, 1, 1]);
        assert_eq!(cast(&Tensor::scalar(1e30), DType::U64).unwrap().as_slice::<u64>()[0], u64::MAX);
    }

    #[test]
    fn integers_wrap_and_round() {
        let x = Tensor::from_vec(&[2], vec![257i64, (1 << 53) + 1]);
        assert_eq!(cast(&x, DType::U8).unwrap().to_i64().unwrap(), [1, 1]);
        assert_eq!(cast(&x, DType::F16).unwrap().to_f64(), [257.0, f64::INFINITY]);
        let odd = Tensor::scalar(16_777_217i32);
        assert_eq!(cast(&odd, DType::F32).unwrap().to_f64(), [16_777_216.0]);
        let four = cast(&Tensor::from_vec(&[2], vec![7i8, 9]), DType::I4).unwrap();
        assert_eq!((four.to_i64().unwrap(), four.bytes()[1]), (vec![7, -7], 9));
        let big = Tensor::scalar(u64::MAX);
        assert_eq!(cast(&big, DType::I8).unwrap().to_i64().unwrap(), [-1]);
    }

    #[test]
    fn eight_bit_floats_saturate_on_demand() {
        let x = Tensor::from_vec(&[3], vec![1e6f32, f32::NEG_INFINITY, 0.3]);
        let run = |to, saturate| cast_with(&x, to, saturate, RoundMode::Up).unwrap().to_f64();
        assert_eq!(run(DType::F8E4M3FN, true), [448.0, -448.0, 0.312_5]);
        assert!(run(DType::F8E4M3FN, false)[..2].iter().all(|v| v.is_nan()));
        assert_eq!(run(DType::F8E5M2, false), [f64::INFINITY, f64::NEG_INFINITY, 0.312_5]);
        assert_eq!(run(DType::F4E2M1FN, true), [6.0, -6.0, 0.5]);
        let scale = |v: f32, round| cast_with(&Tensor::scalar(v), DType::F8E8M0FNU, true, round).unwrap().to_f64()[0];
        assert_eq!(scale(3.0, RoundMode::Up), 4.0);
        assert_eq!(scale(3.0, RoundMode::Nearest), 4.0);
        assert_eq!(scale(2.9, RoundMode::Nearest), 2.0);
        assert_eq!(scale(3.9, RoundMode::Down), 2.0);
    }
}
