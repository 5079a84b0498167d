//! Conversion between element types.

use super::KernelResult;
use super::num::{Num, dispatch};
use gradus_ir::tensor::{DType, Elem, Tensor};
use half::{bf16, f16};

/// `Cast` (6, 9, 13, 19): every element as `to`.
///
/// Floats become integers by truncation towards zero, saturating when out of range, with 0 for NaN; integers become
/// narrower integers by dropping high bits, as in C; everything but zero becomes `true`; floats round to nearest even.
pub fn cast(x: &Tensor, to: DType) -> KernelResult {
    if x.dtype() == to {
        return Ok(x.clone());
    }
    if x.dtype() == DType::Bool {
        return from_source::<u8>(x, to, i128::from, f64::from);
    }
    match x.dtype() {
        DType::F32 => from_f32(x, to),
        d if d.is_float() => dispatch!(float, "cast", d, T => from_source::<T>(x, to, |_| 0, Num::to_f64)),
        d => dispatch!(int, "cast", d, T => from_source::<T>(x, to, i128::from, Num::to_f64)),
    }
}

/// The common source type, with the direct conversions that need no detour through `f64`.
fn from_f32(x: &Tensor, to: DType) -> KernelResult {
    match to {
        DType::F16 => convert(x, f16::from_f32),
        DType::BF16 => convert(x, bf16::from_f32),
        DType::F64 => convert::<f32, f64>(x, f64::from),
        _ => from_source::<f32>(x, to, |_| 0, f64::from),
    }
}

/// Applies `f` to every element.
fn convert<S: Elem, R: Elem>(x: &Tensor, f: impl Fn(S) -> R) -> KernelResult {
    Ok(Tensor::from_vec(x.shape(), x.as_slice::<S>().iter().map(|&v| f(v)).collect()))
}

/// Converts from `S`, given its values as integers (when it is an integer type) and as floats.
fn from_source<S: Num>(x: &Tensor, to: DType, int: impl Fn(S) -> i128, float: impl Fn(S) -> f64) -> KernelResult {
    match to {
        DType::Bool => {
            let out = x.as_slice::<S>().iter().map(|&v| u8::from(v != S::ZERO)).collect();
            Ok(Tensor::from_bools(x.shape(), out))
        }
        // Both roundings, to 64-bit integers' f64 and on to a narrower float, must not compound.
        DType::F32 if !x.dtype().is_float() => convert::<S, f32>(x, |v| int(v) as f32),
        to if to.is_float() || x.dtype().is_float() => {
            dispatch!(number, "cast", to, R => convert::<S, R>(x, |v| R::from_f64(float(v))))
        }
        to => dispatch!(int, "cast", to, R => convert::<S, R>(x, |v| int(v) as R)),
    }
}

/// Whether the element type computes in `f32`.
fn is_half(t: &Tensor) -> bool {
    matches!(t.dtype(), DType::F16 | DType::BF16)
}

/// Runs `f` on `f32` copies of 16-bit float operands and rounds the result back; `None` when `x`, the first, is not a
/// 16-bit float.
pub(super) fn via_f32(
    x: &Tensor,
    rest: &[Option<&Tensor>],
    f: impl Fn(&Tensor, &[Option<&Tensor>]) -> KernelResult,
) -> Option<KernelResult> {
    if !is_half(x) {
        return None;
    }
    let run = || {
        let widen = |t: &Tensor| if is_half(t) { cast(t, DType::F32) } else { Ok(t.clone()) };
        let wide = widen(x)?;
        let rest: Vec<Option<Tensor>> = rest.iter().map(|t| t.map(widen).transpose()).collect::<Result<_, _>>()?;
        let rest: Vec<Option<&Tensor>> = rest.iter().map(Option::as_ref).collect();
        cast(&f(&wide, &rest)?, x.dtype())
    };
    Some(run())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_truncate_and_saturate() {
        let x = Tensor::from_vec(&[4], vec![-1.9f32, 300.0, f32::NAN, 2.5]);
        assert_eq!(cast(&x, DType::U8).unwrap().to_i64().unwrap(), [0, 255, 0, 2]);
        assert_eq!(cast(&x, DType::I32).unwrap().to_i64().unwrap(), [-1, 300, 0, 2]);
        assert_eq!(cast(&x, DType::Bool).unwrap().to_i64().unwrap(), [1, 1, 1, 1]);
    }

    #[test]
    fn integers_wrap_and_round() {
        let x = Tensor::from_vec(&[2], vec![257i64, (1 << 53) + 1]);
        assert_eq!(cast(&x, DType::U8).unwrap().to_i64().unwrap(), [1, 1]);
        assert_eq!(
            cast(&x, DType::F16).unwrap().to_f64(),
            [257.0, f64::INFINITY].map(|v| if v == 257.0 { 257.0 } else { v })
        );
        let odd = Tensor::scalar(16_777_217i32);
        assert_eq!(cast(&odd, DType::F32).unwrap().to_f64(), [16_777_216.0]);
    }
}
