//! Tensors of numbers: integers wrapped, floats rounded to the element type, and back.

use crate::values::float;
use crate::values::tensor::{DType, Tensor};
use crate::values::trap::Trap;

/// Returns the integers of a tensor; `i1` is sign-extended, as scalars are.
pub(crate) fn ints(tensor: &Tensor) -> Result<Vec<i64>, Trap> {
    let mut ints = tensor.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
    if tensor.dtype() == DType::Bool {
        ints.iter_mut().for_each(|v| *v = -*v);
    }
    Ok(ints)
}

/// Returns the tensor of `values`, each wrapped to the integer type.
pub fn ints_to_tensor(dtype: DType, shape: &[usize], values: &[i64]) -> Tensor {
    match dtype {
        DType::Bool => Tensor::from_bools(shape, values.iter().map(|&v| (v & 1) as u8).collect()),
        DType::I8 => Tensor::from_vec(shape, values.iter().map(|&v| v as i8).collect()),
        DType::U8 => Tensor::from_vec(shape, values.iter().map(|&v| v as u8).collect()),
        DType::I16 => Tensor::from_vec(shape, values.iter().map(|&v| v as i16).collect()),
        DType::U16 => Tensor::from_vec(shape, values.iter().map(|&v| v as u16).collect()),
        DType::I32 => Tensor::from_vec(shape, values.iter().map(|&v| v as i32).collect()),
        DType::U32 => Tensor::from_vec(shape, values.iter().map(|&v| v as u32).collect()),
        DType::U64 => Tensor::from_vec(shape, values.iter().map(|&v| v as u64).collect()),
        narrow if narrow.is_narrow() => Tensor::from_bits(narrow, shape, values.iter().map(|&v| v as u8).collect()),
        _ => Tensor::from_vec(shape, values.to_vec()),
    }
}

/// Returns the tensor of `values`, each rounded to the float type.
pub fn floats_to_tensor(dtype: DType, shape: &[usize], values: Vec<f64>) -> Tensor {
    let singles = || values.iter().map(|&v| f32_to_odd(v));
    match (dtype, dtype.float_kind()) {
        (DType::F16, _) => Tensor::from_vec(shape, singles().map(half::f16::from_f32).collect()),
        (DType::BF16, _) => Tensor::from_vec(shape, singles().map(half::bf16::from_f32).collect()),
        (DType::F32, _) => Tensor::from_vec(shape, values.iter().map(|&v| v as f32).collect()),
        (narrow, Some(kind)) if narrow.is_narrow() => {
            let bits = |&v: &f64| float::from_f64(kind, v) as u8;
            Tensor::from_bits(narrow, shape, values.iter().map(bits).collect())
        }
        _ => Tensor::from_vec(shape, values),
    }
}

/// Returns `value` as an `f32`, an inexact result rounded to the neighbour with an odd significand: rounding that to a
/// narrower format is rounding `value` once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn f32_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || nearest.is_nan() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers halfway between two neighbours of a format and a little beside them, where rounding twice goes wrong.
    #[test]
    fn floats_round_once() {
        for dtype in [DType::BF16, DType::F16] {
            let kind = dtype.float_kind().expect("a float");
            let value = |bits: u64| float::to_f64(kind, u128::from(bits));
            let halfway = (0..0x1_0000).map(|bits| (value(bits) + value((bits + 1) & 0xffff)) / 2.0);
            let beside =
                |v: f64| [v, v * (1.0 + f64::EPSILON), v * (1.0 - f64::EPSILON), v * (1.0 + 1e-9), v * (1.0 - 1e-9)];
            let all: Vec<f64> =
                halfway.flat_map(beside).chain([f64::MAX, 1e-300, -1e-300, 65519.999, 3.4e38]).collect();
            let rounded = floats_to_tensor(dtype, &[all.len()], all.clone()).to_f64();
            for (v, r) in all.iter().zip(rounded) {
                let once = float::to_f64(kind, float::from_f64(kind, *v));
                assert!(
                    r.to_bits() == once.to_bits() || r.is_nan() && once.is_nan(),
                    "{v:e} becomes {r:e}, not {once:e}"
                );
            }
        }
    }
}
