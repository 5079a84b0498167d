//! Matrix products: `MatMul` with NumPy semantics, and `Gemm`.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::gemm::{Matrix, Packed, gemm as product};
use crate::num::{Num, dispatch, wide};
use crate::shape::{broadcast_shapes, checked_elements, matmul_output_dims};
use crate::walk::{BroadcastWalk, zip_map};
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// `MatMul` (1, 9, 13): the product of matrices, batches of matrices (which broadcast) or vectors, as NumPy's `matmul`.
/// Every type except `Bool`; integers wrap.
pub fn matmul(a: &Tensor, b: &Tensor) -> KernelResult {
    if a.dtype() != b.dtype() {
        return Err(format!("matmul of {a:?} and {b:?}").into());
    }
    dispatch!(number, "matmul", (a, b), T => {
        let (a_elements, b_elements) = (a.as_slice::<T>(), b.as_slice::<T>());
        let add = |c: &mut T, s| *c = c.add(s);
        let (shape, out) = stacked(&a_elements, a.shape(), &b_elements, b.shape(), T::NOTHING, add)?;
        Ok(Tensor::from_vec(&shape, out))
    })
}

/// Returns the product of two matrices without the products with zeros of the sparse operand.
pub fn sparse_matmul(a: &Tensor, b: &Tensor, right_is_sparse: bool) -> KernelResult {
    let (&[m, k], &[l, n]) = (a.shape(), b.shape()) else { return Err(format!("a product of {a:?} and {b:?}").into()) };
    if k != l || a.dtype() != b.dtype() {
        return Err(format!("a product of {a:?} and {b:?}").into());
    }
    dispatch!(number, "matmul", (a, b), T => {
        let (left, right) = (a.as_slice::<T>(), b.as_slice::<T>());
        let mut sums: Vec<Option<T>> = vec![None; checked_elements(&[m, n])?];
        for (row, sums) in left.chunks_exact(k.max(1)).zip(sums.chunks_exact_mut(n.max(1))) {
            for (&x, factors) in row.iter().zip(right.chunks_exact(n.max(1))) {
                for (sum, &y) in sums.iter_mut().zip(factors) {
                    if (if right_is_sparse { y } else { x }) != T::ZERO {
                        *sum = Some(sum.unwrap_or(T::NOTHING).add(x.mul(y)));
                    }
                }
            }
        }
        Ok(Tensor::from_vec(&[m, n], sums.into_iter().map(|sum| sum.unwrap_or(T::ZERO)).collect::<Vec<T>>()))
    })
}

/// A sparse matrix by compressed rows, of which row `m` has the nonzeros behind the end of row `m - 1` up to `ends[m]`.
pub struct CompressedRows<'a> {
    /// The nonzeros.
    pub values: &'a Tensor,
    /// For each, the element of the buffer by which the first column multiplies it.
    pub offsets: &'a [i32],
    /// The end of each row.
    pub ends: &'a [i32],
}

/// Multiplies a sparse matrix and elements of a buffer: column `n` reads those `places[n]` behind the offsets. Sums begin with the bias of
/// their row and are in the order of the nonzeros.
///
/// # Errors
/// Ends that are not in order, an element outside of the buffer, or other types.
pub fn compressed_rows(a: &Tensor, rows: &CompressedRows<'_>, places: &[usize], bias: Option<&Tensor>) -> KernelResult {
    let CompressedRows { values, offsets, ends } = *rows;
    let is_ended = ends.is_sorted() && ends.first().is_none_or(|&end| end >= 0);
    if a.dtype() != values.dtype() || bias.is_some_and(|bias| bias.len() != ends.len()) {
        return Err(format!("a product of {values:?} and {a:?}").into());
    }
    if !is_ended || ends.last().map_or(0, |&end| end as usize) > offsets.len().min(values.len()) {
        return Err("ends of rows that are not in order, or beyond the nonzeros".into());
    }
    dispatch!(float, "a sparse product", (a, values), T => {
        let (elements, factors) = (a.as_slice::<T>(), values.as_slice::<T>());
        let bias = bias.map(wide).transpose()?;
        let bias = bias.as_ref().map(|bias| bias.as_slice::<T>());
        let mut out = Vec::with_capacity(checked_elements(&[ends.len(), places.len()])?);
        let mut first = 0;
        for (row, &end) in ends.iter().enumerate() {
            let range = first..end as usize;
            let start = bias.as_ref().map_or(if range.is_empty() { T::ZERO } else { T::NOTHING }, |bias| bias[row]);
            for place in places {
                let mut sum = start;
                for i in range.clone() {
                    let at = usize::try_from(offsets[i]).ok().and_then(|at| at.checked_add(*place));
                    let x = at.and_then(|at| elements.get(at)).ok_or("an address outside of the buffer")?;
                    sum = sum.add(factors[i].mul(*x));
                }
                out.push(sum);
            }
            first = end as usize;
        }
        Ok(Tensor::from_vec(&[ends.len(), places.len()], out))
    })
}

/// Computes a batched matrix product, accumulated onto `start`; zero for empty sums.
pub(super) fn stacked<T: Num, C: Clone + Default>(
    a: &[T],
    a_shape: &[usize],
    b: &[T],
    b_shape: &[usize],
    start: C,
    add: impl Fn(&mut C, T),
) -> Result<(Vec<usize>, Vec<C>), Violation> {
    let shape = matmul_output_dims(a_shape, b_shape)?;
    let k = a_shape[a_shape.len() - 1];
    let mut out = vec![if k == 0 { C::default() } else { start }; checked_elements(&shape)?];
    let mut m = if a_shape.len() > 1 { a_shape[a_shape.len() - 2] } else { 1 };
    let n = if b_shape.len() > 1 { b_shape[b_shape.len() - 1] } else { 1 };
    let mut a_batch = &a_shape[..a_shape.len().saturating_sub(2)];
    let b_batch = &b_shape[..b_shape.len().saturating_sub(2)];
    if out.is_empty() || k == 0 {
        return Ok((shape, out));
    }
    if b_batch.is_empty() {
        // With one right operand, the batch on the left is one tall matrix.
        m *= a_batch.iter().product::<usize>();
        a_batch = &[];
    }
    let (walk, mut done) = (BroadcastWalk::new([a_batch, b_batch])?, 0);
    walk.each_run(|[i, j]| {
        for r in 0..walk.run {
            let (i, j) = (i + r * walk.steps[0], j + r * walk.steps[1]);
            let left = Packed::new(&a[i * m * k..][..m * k], m, k, k, 1);
            let right = Matrix { data: &b[j * k * n..][..k * n], row_step: n, step: 1 };
            product(&left, &right, n, &mut out[done..done + m * n], &add);
            done += m * n;
        }
    });
    Ok((shape, out))
}

/// `Det` (11, 22): the determinants of square float matrices, by elimination in `f64`.
pub fn det(x: &Tensor) -> KernelResult {
    let &[ref batch @ .., n, m] = x.shape() else { return Err(format!("the determinant of {x:?}").into()) };
    if n != m || !x.dtype().is_float() {
        return Err(format!("the determinant of {x:?}").into());
    }
    let (mut data, count) = (x.to_f64(), checked_elements(batch)?);
    let out = if n == 0 {
        vec![1.0; count]
    } else {
        data.chunks_exact_mut(n * n).map(|matrix| matrix_det(matrix, n)).collect()
    };
    Ok(from_f64s(x.dtype(), batch, out))
}

/// Returns the determinant of a square matrix of `n` rows by Gaussian elimination with partial pivoting, which overwrites it.
pub fn matrix_det(matrix: &mut [f64], n: usize) -> f64 {
    let mut product = 1.0;
    for k in 0..n {
        let largest = |a: &usize, b: &usize| matrix[a * n + k].abs().total_cmp(&matrix[b * n + k].abs());
        let pivot = (k..n).max_by(largest).unwrap_or(k);
        if pivot != k {
            (0..n).for_each(|j| matrix.swap(k * n + j, pivot * n + j));
            product = -product;
        }
        product *= matrix[k * n + k];
        if matrix[k * n + k] == 0.0 {
            return 0.0;
        }
        for i in k + 1..n {
            let factor = matrix[i * n + k] / matrix[k * n + k];
            (k..n).for_each(|j| matrix[i * n + j] -= factor * matrix[k * n + j]);
        }
    }
    product
}

/// Attributes of [`gemm`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GemmAttrs {
    /// Scale of the product.
    pub alpha: f32,
    /// Scale of the summand.
    pub beta: f32,
    /// Whether the left operand is transposed.
    pub trans_a: bool,
    /// Whether the right operand is transposed.
    pub trans_b: bool,
}

impl Default for GemmAttrs {
    fn default() -> Self {
        GemmAttrs { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: false }
    }
}

/// Returns the shape of [`gemm`] of matrices of shapes `a` and `b`.
pub fn gemm_output_dims(a: &[usize], b: &[usize], trans_a: bool, trans_b: bool) -> Result<Vec<usize>, Violation> {
    let (&[r, s], &[t, u]) = (a, b) else {
        return Err(format!("gemm needs matrices, not {a:?} and {b:?}").into());
    };
    let ((m, k), (l, n)) = (if trans_a { (s, r) } else { (r, s) }, if trans_b { (u, t) } else { (t, u) });
    if k == l { Ok(vec![m, n]) } else { Err(format!("gemm of {a:?} and {b:?}: the inner extents differ").into()) }
}

/// `Gemm` (7, 9, 11, 13): `alpha * a * b + beta * c` of matrices, where `c` broadcasts to the product.
pub fn gemm(a: &Tensor, b: &Tensor, c: Option<&Tensor>, attrs: &GemmAttrs) -> KernelResult {
    if a.dtype() != b.dtype() || c.is_some_and(|c| c.dtype() != a.dtype()) {
        return Err(format!("gemm of {a:?}, {b:?} and {c:?}").into());
    }
    let shape = gemm_output_dims(a.shape(), b.shape(), attrs.trans_a, attrs.trans_b)?;
    let size = checked_elements(&shape)?;
    if c.is_some_and(|c| broadcast_shapes(c.shape(), &shape).as_ref() != Ok(&shape)) {
        return Err(format!("gemm: {c:?} does not broadcast to {shape:?}").into());
    }
    let c = c.map(wide).transpose()?;
    let (m, n, k) = (shape[0], shape[1], a.shape()[usize::from(!attrs.trans_a)]);
    dispatch!(number, "gemm", (a, b), T => {
        let (left, right, mut out) = (a.as_slice::<T>(), b.as_slice::<T>(), vec![if k == 0 { T::ZERO } else { T::NOTHING }; size]);
        if size > 0 && k > 0 {
            let (row_step, step) = if attrs.trans_a { (1, m) } else { (k, 1) };
            let packed = Packed::new(&left, m, k, row_step, step);
            let (row_step, step) = if attrs.trans_b { (1, k) } else { (n, 1) };
            product(&packed, &Matrix { data: &right, row_step, step }, n, &mut out, |c, s| *c = c.add(s));
        }
        scale(&mut out, attrs.alpha);
        if let Some(c) = &c {
            let mut added = c.as_slice::<T>().into_owned();
            scale(&mut added, attrs.beta);
            out = zip_map(&BroadcastWalk::new([&shape, c.shape()])?, &out, &added, Num::add);
        }
        Ok(Tensor::from_vec(&shape, out))
    })
}

/// Multiplies by an attribute, in the element type for floats and through `f64` for integers.
fn scale<T: Num>(values: &mut [T], factor: f32) {
    if factor != 1.0 {
        values.iter_mut().for_each(|v| *v = T::from_f64(v.to_f64() * f64::from(factor)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_stacks() {
        let v = Tensor::from_vec(&[2], vec![1i32, 2]);
        assert_eq!(matmul(&v, &v).unwrap().to_i64().unwrap(), [5]);
        let stack = Tensor::from_vec(&[2, 1, 2], vec![1i32, 0, 0, 1]);
        let m = Tensor::from_vec(&[2, 2], vec![1i32, 2, 3, 4]);
        assert_eq!(matmul(&stack, &m).unwrap().to_i64().unwrap(), [1, 2, 3, 4]);
        assert_eq!(matmul(&m, &stack.reshape(vec![2, 2, 1]).unwrap()).unwrap().to_i64().unwrap(), [1, 3, 2, 4]);
        assert!(matmul(&v, &Tensor::scalar(1i32)).is_err());
    }

    #[test]
    fn determinants() {
        let x = Tensor::from_vec(&[2, 2, 2], vec![0f32, 2.0, 3.0, 4.0, 1.0, 2.0, 2.0, 4.0]);
        assert_eq!(det(&x).unwrap().to_f64(), [-6.0, 0.0]);
        assert!(det(&x.reshape(vec![1, 8]).unwrap()).is_err());
    }

    #[test]
    fn scaled_and_transposed() {
        let a = Tensor::from_vec(&[2, 1], vec![1f32, 2.0]);
        let c = Tensor::from_vec(&[1], vec![1f32]);
        let attrs = GemmAttrs { alpha: 2.0, beta: 3.0, trans_a: true, trans_b: false };
        assert_eq!(gemm(&a, &a, Some(&c), &attrs).unwrap().to_f64(), [13.0]);
        assert!(gemm(&a, &a, None, &GemmAttrs::default()).is_err());
    }
}
