//! Operations that create tensors: constants, ranges, one-hot vectors and triangles.

use crate::KernelResult;
use crate::cast::{cast, from_f64s};
use crate::index::resolve;
use crate::movement::from_bytes;
use crate::num::unsupported;
use crate::shape::{checked_elements, normalize_axis, product};
use gradus_ir::Violation;
use gradus_ir::eval::ints_to_tensor;
use gradus_ir::tensor::{DType, Tensor};

/// `ConstantOfShape` (9, 20, 21): a tensor filled with the single element of `value`.
pub fn constant_of_shape(shape: &[i64], value: &Tensor) -> KernelResult {
    let dims: Option<Vec<usize>> = shape.iter().map(|&d| usize::try_from(d).ok()).collect();
    let dims = dims.ok_or_else(|| format!("{shape:?} is not a shape"))?;
    if value.len() != 1 {
        return Err(format!("constant_of_shape needs one element, not {value:?}").into());
    }
    from_bytes(value.dtype(), &dims, value.bytes().repeat(checked_elements(&dims)?))
}

/// `Range` (11): from `start` towards `limit` (exclusive) by `delta`; all scalars of one type.
pub fn range(start: &Tensor, limit: &Tensor, delta: &Tensor) -> KernelResult {
    let count = range_len(start, limit, delta)?.ok_or("range with a step of 0, or whose length is not a number")?;
    let count = checked_elements(&[usize::try_from(count).unwrap_or(usize::MAX)])?;
    // f64 cannot represent all 64-bit integers.
    if let (Some(first), Some(step)) = (start.to_i64(), delta.to_i64()) {
        let values: Vec<i64> = (0i64..).take(count).map(|i| first[0].wrapping_add(step[0].wrapping_mul(i))).collect();
        return Ok(ints_to_tensor(start.dtype(), &[count], &values));
    }
    let (first, step) = (start.to_f64()[0], delta.to_f64()[0]);
    Ok(from_f64s(start.dtype(), &[count], (0..count).map(|i| first + i as f64 * step).collect()))
}

/// Returns the number of elements of a [`range`]; `None` if the step is 0 or it is not a number.
///
/// # Errors
/// Operands that are not three scalars of one type of numbers.
pub fn range_len(start: &Tensor, limit: &Tensor, delta: &Tensor) -> Result<Option<u128>, Violation> {
    if [limit, delta].iter().any(|t| t.dtype() != start.dtype()) || [start, limit, delta].iter().any(|t| t.len() != 1) {
        return Err("range needs three scalars of one type".into());
    }
    if start.dtype() == DType::Bool {
        return Err(unsupported("range", DType::Bool).into());
    }
    if let (Some(start), Some(limit), Some(delta)) = (start.to_i64(), limit.to_i64(), delta.to_i64()) {
        let [start, limit, delta] = [start, limit, delta].map(|t| i128::from(t[0]));
        let distance = if delta > 0 { limit - start } else { start - limit };
        return Ok((delta != 0).then(|| u128::try_from(distance).unwrap_or(0).div_ceil(delta.unsigned_abs())));
    }
    let [start, limit, delta] = [start, limit, delta].map(|t| t.to_f64()[0]);
    let count = ((limit - start) / delta).ceil();
    Ok((delta != 0.0 && !count.is_nan()).then_some(count as u128))
}

/// `OneHot` (9, 11): along a new `axis` of extent `depth`, `values[1]` at the index and `values[0]` elsewhere. Indices
/// may have any number type, negative ones count from the end, and out-of-range ones select nothing.
pub fn one_hot(indices: &Tensor, depth: i64, values: &Tensor, axis: i64) -> KernelResult {
    if values.shape() != [2] {
        return Err(format!("one_hot needs an off and an on value, not {values:?}").into());
    }
    let axis = normalize_axis(axis, indices.rank() + 1)?;
    let extent = usize::try_from(depth).map_err(|_| format!("a depth of {depth}"))?;
    let mut shape = indices.shape().to_vec();
    shape.insert(axis, extent);
    let (total, inner) = (checked_elements(&shape)?, product(&indices.shape()[axis..]));
    let hot: Vec<i64> = match indices.to_i64() {
        Some(v) => v,
        None => indices.to_f64().iter().map(|&v| v as i64).collect(),
    };
    let size = values.dtype().size();
    let (off, on) = values.bytes().split_at(size);
    // Fresh zeros are cheaper than copies of them.
    let mut out = if off.iter().all(|&b| b == 0) { vec![0; total * size] } else { off.repeat(total) };
    for (block, indices) in hot.chunks(inner.max(1)).enumerate() {
        for (i, &index) in indices.iter().enumerate() {
            if let Ok(at) = resolve(index, extent) {
                out[((block * extent + at) * inner + i) * size..][..size].copy_from_slice(on);
            }
        }
    }
    from_bytes(values.dtype(), &shape, out)
}

/// `Trilu` (14): keeps the upper (or lower) triangle of the last two axes, from the `k`-th diagonal on, and zeroes the
/// rest.
pub fn trilu(x: &Tensor, k: i64, upper: bool) -> KernelResult {
    let [.., rows, columns] = *x.shape() else {
        return Err(format!("trilu needs matrices, not {:?}", x.shape()).into());
    };
    let (size, mut out) = (x.dtype().size(), x.bytes().to_vec());
    let n = i64::try_from(columns).map_err(|e| e.to_string())?;
    if rows > 0 && columns > 0 {
        for (r, row) in out.chunks_exact_mut(columns * size).enumerate() {
            // First column of the upper part; the diagonal belongs to both parts.
            let diagonal = k.saturating_add((r % rows) as i64);
            let first = if upper { diagonal } else { diagonal.saturating_add(1) }.clamp(0, n);
            let cut = first as usize * size;
            (if upper { &mut row[..cut] } else { &mut row[cut..] }).fill(0);
        }
    }
    from_bytes(x.dtype(), x.shape(), out)
}

/// `EyeLike` (9, 22): ones on the `k`-th diagonal of a matrix of `shape`, zeros elsewhere.
pub fn eye_like(shape: &[usize], k: i64, dtype: DType) -> KernelResult {
    let [rows, columns] = *shape else {
        return Err(format!("eye_like needs a matrix, not {shape:?}").into());
    };
    let mut out = vec![0; checked_elements(shape)?];
    for r in 0..rows {
        let column = k.saturating_add(r as i64);
        if let Some(c) = usize::try_from(column).ok().filter(|&c| c < columns) {
            out[r * columns + c] = 1;
        }
    }
    cast(&Tensor::from_bools(shape, out), dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let run = |a: i64, b: i64, c: i64| range(&Tensor::scalar(a), &Tensor::scalar(b), &Tensor::scalar(c));
        assert_eq!(run(10, 4, -2).unwrap().to_i64().unwrap(), [10, 8, 6]);
        assert!(run(0, 1, 0).is_err() && run(0, i64::MAX, 1).is_err() && run(3, 1, 1).unwrap().is_empty());
        let f = |x: f32| Tensor::scalar(x);
        assert_eq!(range(&f(1.0), &f(5.0), &f(2.0)).unwrap().to_f64(), [1.0, 3.0]);
    }

    #[test]
    fn one_hot_and_triangles() {
        let hot = one_hot(&Tensor::from_vec(&[2], vec![-1i64, 7]), 3, &Tensor::from_vec(&[2], vec![0i32, 5]), -1);
        assert_eq!(hot.unwrap().to_i64().unwrap(), [0, 0, 5, 0, 0, 0]);
        let x = Tensor::from_vec(&[2, 2], vec![1i32, 2, 3, 4]);
        assert_eq!(trilu(&x, 0, true).unwrap().to_i64().unwrap(), [1, 2, 0, 4]);
        assert_eq!(trilu(&x, -1, false).unwrap().to_i64().unwrap(), [0, 0, 3, 0]);
    }
}
