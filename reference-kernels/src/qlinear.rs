//! Elementwise operations on quantized tensors.

use crate::num::unsupported;
use crate::quant::{QuantizeAttrs, Quantized, dequantize_linear, quantize_linear};
use crate::{KernelResult, add, mul};
use gradus_ir::tensor::{DType, Tensor};

/// Number of values of an 8-bit integer.
const VALUES: usize = 256;

/// Dequantizes both operands, combines them in `f32`, and quantizes the result. All parameters are scalars.
fn elementwise(
    f: impl Fn(&Tensor, &Tensor) -> KernelResult,
    a: Quantized<'_>,
    b: Quantized<'_>,
    y_scale: &Tensor,
    y_zero: &Tensor,
) -> KernelResult {
    let parameters = [a, b].into_iter().flat_map(|q| [q.scale, q.zero]).chain([y_scale, y_zero]);
    if let Some(one) = parameters.into_iter().find(|one| !one.shape().is_empty()) {
        return Err(format!("a scale or zero point of shape {:?} is not a scalar", one.shape()).into());
    }
    let real = |q: Quantized<'_>| dequantize_linear(q.value, q.scale, Some(q.zero), DType::F32, 0, 0);
    let attrs =
        QuantizeAttrs { to: y_zero.dtype(), precision: Some(DType::F32), axis: 0, block_size: 0, saturate: true };
    quantize_linear(&f(&real(a)?, &real(b)?)?, y_scale, Some(y_zero), &attrs)
}

/// `com.microsoft.QLinearAdd` (1): the sum of quantized tensors, with broadcasting, requantized by `y_scale` and `y_zero`.
pub fn qlinear_add(a: Quantized<'_>, b: Quantized<'_>, y_scale: &Tensor, y_zero: &Tensor) -> KernelResult {
    elementwise(add, a, b, y_scale, y_zero)
}

/// `com.microsoft.QLinearMul` (1): the product of quantized tensors, with broadcasting, requantized by `y_scale` and
/// `y_zero`.
pub fn qlinear_mul(a: Quantized<'_>, b: Quantized<'_>, y_scale: &Tensor, y_zero: &Tensor) -> KernelResult {
    elementwise(mul, a, b, y_scale, y_zero)
}

/// `tosa.table`: replaces each 8-bit integer by an element of a table, which begins with the one for the least integer. The
/// table is `[256]`, or `[C, 256]` with a row for each index along `axis`.
pub fn table(x: &Tensor, table: &Tensor, axis: usize) -> KernelResult {
    let (op, bytes) = ("table", x.bytes());
    let first = match x.dtype() {
        DType::U8 => 0,
        // The bytes of negative integers are those from 128 on.
        DType::I8 => 128,
        other => return Err(unsupported(op, other).into()),
    };
    let (extent, inner) = match table.shape() {
        &[VALUES] => (1, bytes.len()),
        &[n, VALUES] if x.shape().get(axis) == Some(&n) => (n, x.shape()[axis + 1..].iter().product()),
        other => {
            return Err(format!("{op}: a table of {other:?} does not fit {:?} along axis {axis}", x.shape()).into());
        }
    };
    if table.dtype().size() != 1 || table.dtype().is_float() {
        return Err(unsupported(op, table.dtype()).into());
    }
    let entry = |(i, &byte): (usize, &u8)| {
        let row = i / inner.max(1) % extent;
        table.bytes()[row * VALUES + usize::from(byte.wrapping_add(first))]
    };
    let out: Vec<u8> = bytes.iter().enumerate().map(entry).collect();
    Ok(Tensor::new(table.dtype(), x.shape().to_vec(), out.into())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_begin_with_the_least_integer() {
        let x = Tensor::from_vec(&[2, 2], vec![-128i8, -1, 0, 127]);
        let one = Tensor::from_vec(&[256], (0..=255).collect::<Vec<u8>>());
        assert_eq!(table(&x, &one, 1).unwrap().to_i64().unwrap(), [0, 127, 128, 255]);
        let rows = Tensor::from_vec(&[2, 256], (0..512).map(|i| (i / 256 + i % 2) as u8).collect::<Vec<u8>>());
        assert_eq!(table(&x, &rows, 1).unwrap().to_i64().unwrap(), [0, 2, 0, 2]);
        assert!(table(&x, &rows, 2).is_err() && table(&x, &x, 0).is_err());
    }

    #[test]
    fn sums_saturate() {
        let (scale, zero) = (Tensor::scalar(0.5f32), Tensor::scalar(3u8));
        let value = Tensor::from_vec(&[3], vec![0u8, 4, 255]);
        let q = Quantized { value: &value, scale: &scale, zero: &zero };
        assert_eq!(qlinear_add(q, q, &scale, &zero).unwrap().to_i64().unwrap(), [0, 5, 255]);
        assert_eq!(qlinear_mul(q, q, &scale, &zero).unwrap().to_i64().unwrap(), [7, 3, 255]);
    }
}
