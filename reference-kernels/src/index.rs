//! Gathering and scattering by index tensors. Indices are `i32` or `i64`; negative ones count from the end,
//! out-of-range ones are an error.

use crate::KernelResult;
use crate::binary::{add, max2, min2, mul};
use crate::movement::from_bytes;
use crate::num::{Num, compute_type, dispatch};
use crate::shape::{checked_elements, normalize_axis, product, strides};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor, checked_len};
use std::borrow::Cow;

/// Returns the elements of an integer tensor, without a copy if they are `i64`.
pub(super) fn integers(t: &Tensor) -> Option<Cow<'_, [i64]>> {
    if t.dtype() == DType::I64 { Some(t.as_slice::<i64>()) } else { t.to_i64().map(Cow::Owned) }
}

/// Returns the elements of an index tensor.
fn indices_of(t: &Tensor) -> Result<Cow<'_, [i64]>, Violation> {
    integers(t).ok_or_else(|| format!("indices should be integers, not {}", t.dtype()).into())
}

/// Normalizes an index into an axis of extent `n`; negative ones count from the end.
pub fn resolve(index: i64, n: usize) -> Result<usize, Violation> {
    let at = if index < 0 { index.wrapping_add(n.cast_signed() as i64) } else { index };
    let at = usize::try_from(at).ok().filter(|&at| at < n);
    at.ok_or_else(|| format!("index {index} is out of range for an extent of {n}").into())
}

/// Returns the runs of `run` bytes at positions `at`, in runs, of every `n` runs of `src`.
fn take_runs(src: &[u8], run: usize, n: usize, at: &[usize]) -> Vec<u8> {
    fn take<const N: usize>(src: &[u8], n: usize, at: &[usize]) -> Vec<u8> {
        let src = src.as_chunks::<N>().0;
        let mut out = Vec::with_capacity(src.len() / n * at.len());
        src.chunks_exact(n).for_each(|block| out.extend(at.iter().map(|&p| block[p])));
        out.into_flattened()
    }
    match run {
        1 => take::<1>(src, n, at),
        2 => take::<2>(src, n, at),
        4 => take::<4>(src, n, at),
        8 => take::<8>(src, n, at),
        _ => {
            let mut out = Vec::with_capacity(src.len() / n * at.len());
            for block in src.chunks_exact(n * run) {
                at.iter().for_each(|&p| out.extend_from_slice(&block[p * run..][..run]));
            }
            out
        }
    }
}

/// Copies the runs of `run` bytes of `src` to positions `at`, in runs, of `out`; the last one at a position wins.
pub(super) fn put_runs(out: &mut [u8], run: usize, at: &[usize], src: &[u8]) {
    fn put<const N: usize>(out: &mut [u8], at: &[usize], src: &[u8]) {
        let (out, src) = (out.as_chunks_mut::<N>().0, src.as_chunks::<N>().0);
        at.iter().zip(src).for_each(|(&p, &v)| out[p] = v);
    }
    match run {
        1 => put::<1>(out, at, src),
        2 => put::<2>(out, at, src),
        4 => put::<4>(out, at, src),
        8 => put::<8>(out, at, src),
        _ => at.iter().enumerate().for_each(|(i, &p)| out[p * run..][..run].copy_from_slice(&src[i * run..][..run])),
    }
}

/// Returns the elements of `x` at flat positions `at`.
pub(super) fn take_elements(x: &Tensor, shape: &[usize], at: &[usize]) -> KernelResult {
    from_bytes(x.dtype(), shape, take_runs(x.bytes(), x.dtype().size(), x.len().max(1), at))
}

/// `Gather` (1, 11, 13): the slices of `x` along `axis` at `indices`. The axis is replaced by the shape of `indices`.
pub fn gather(x: &Tensor, indices: &Tensor, axis: i64) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let n = x.shape()[axis];
    let mut at = Vec::with_capacity(indices.len());
    for &i in &*indices_of(indices)? {
        at.push(resolve(i, n)?);
    }
    let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
    let run = product(&x.shape()[axis + 1..]).wrapping_mul(x.dtype().size());
    let empty = checked_elements(&shape)? == 0;
    from_bytes(x.dtype(), &shape, if empty { vec![] } else { take_runs(x.bytes(), run, n, &at) })
}

/// Returns the flat position in `x` of every element of an index tensor that replaces coordinates along `axis`.
fn element_positions(x: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, Violation> {
    let fits = indices.rank() == x.rank() && (0..x.rank()).all(|i| i == axis || indices.shape()[i] <= x.shape()[i]);
    if !fits {
        return Err(format!("indices of {:?} do not fit elements of {:?}", indices.shape(), x.shape()).into());
    }
    let (values, extents, mut steps, n) = (indices_of(indices)?, indices.shape(), strides(x.shape()), x.shape()[axis]);
    let step = std::mem::take(&mut steps[axis]);
    let (last, mut coordinates, mut first) = (x.rank() - 1, vec![0; x.rank()], 0);
    let mut at = Vec::with_capacity(values.len());
    for row in values.chunks_exact(extents[last].max(1)) {
        for (i, &index) in row.iter().enumerate() {
            at.push(first + i * steps[last] + step * resolve(index, n)?);
        }
        for axis in (0..last).rev() {
            coordinates[axis] += 1;
            first += steps[axis];
            if coordinates[axis] < extents[axis] {
                break;
            }
            first -= steps[axis] * extents[axis];
            coordinates[axis] = 0;
        }
    }
    Ok(at)
}

/// `GatherElements` (11, 13): for every element of `indices`, the element of `x` at the same coordinates, except that
/// the one along `axis` is the index.
pub fn gather_elements(x: &Tensor, indices: &Tensor, axis: i64) -> KernelResult {
    let positions = element_positions(x, indices, normalize_axis(axis, x.rank())?)?;
    checked_elements(indices.shape())?;
    take_elements(x, indices.shape(), &positions)
}

/// Returns the position of every slice selected by `indices` after `batch` leading axes, in slices, and the number of
/// elements per slice.
fn slice_positions(x: &Tensor, indices: &Tensor, batch: usize) -> Result<(Vec<usize>, usize), Violation> {
    let wrong = || {
        Violation::from(format!("indices of {:?} do not fit {:?} with {batch} batch axes", indices.shape(), x.shape()))
    };
    let (&depth, rows) = indices.shape().split_last().ok_or_else(wrong)?;
    let end = depth.checked_add(batch).filter(|&e| e <= x.rank() && batch <= rows.len()).ok_or_else(wrong)?;
    if rows[..batch] != x.shape()[..batch] {
        return Err(wrong());
    }
    let (extents, values) = (&x.shape()[batch..end], indices_of(indices)?);
    let steps = strides(extents);
    let total = checked_len(rows).ok_or_else(wrong)?;
    // Indices of depth 0 select the whole tensor and have no elements; the shape alone gives their number.
    checked_elements(rows)?;
    let per_batch = product(&rows[batch..]);
    let mut at = Vec::with_capacity(total);
    for row in 0..total {
        let mut position = row / per_batch * product(extents);
        for ((&index, &step), &n) in values[row * depth..][..depth].iter().zip(&steps).zip(extents) {
            position += step * resolve(index, n)?;
        }
        at.push(position);
    }
    Ok((at, product(&x.shape()[end..])))
}

/// `GatherND` (11, 12, 13): the slices of `x` at the leading coordinates given by the last axis of `indices`, after
/// `batch_dims` common axes.
pub fn gather_nd(x: &Tensor, indices: &Tensor, batch_dims: i64) -> KernelResult {
    let batch = usize::try_from(batch_dims).map_err(|e| e.to_string())?;
    let (positions, slice) = slice_positions(x, indices, batch)?;
    let end = batch + indices.shape().last().copied().unwrap_or(0);
    let shape = [&indices.shape()[..indices.rank() - 1], &x.shape()[end..]].concat();
    let (empty, run) = (checked_elements(&shape)? == 0, slice.wrapping_mul(x.dtype().size()));
    let all = product(&x.shape()[..end]);
    from_bytes(x.dtype(), &shape, if empty { vec![] } else { take_runs(x.bytes(), run, all, &positions) })
}

/// The combination of a scattered element with the existing one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScatterReduction {
    /// Replacement; the last update of an element wins.
    #[default]
    Assign,
    /// Addition.
    Add,
    /// Multiplication.
    Mul,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

/// Combines runs of `run` elements of `updates` with a copy of `x` at `positions`, in runs.
fn scatter(x: &Tensor, updates: &Tensor, positions: &[usize], run: usize, how: ScatterReduction) -> KernelResult {
    if updates.dtype() != x.dtype() || positions.len().checked_mul(run) != Some(updates.len()) {
        return Err(format!("updates {updates:?} do not fit {} runs of {run} of {x:?}", positions.len()).into());
    }
    let bytes = run * x.dtype().size();
    let combine = match how {
        ScatterReduction::Add => add,
        ScatterReduction::Mul => mul,
        ScatterReduction::Min => min2,
        ScatterReduction::Max => max2,
        ScatterReduction::Assign => {
            let mut out = x.bytes().to_vec();
            put_runs(&mut out, bytes, positions, updates.bytes());
            return from_bytes(x.dtype(), x.shape(), out);
        }
    };
    let is_exact = !x.dtype().is_float() || compute_type(x.dtype()) == x.dtype();
    if is_exact && x.dtype() != DType::Bool {
        return dispatch!(number, "scatter", (x, updates), T => {
            let combine = match how {
                ScatterReduction::Add => T::add,
                ScatterReduction::Mul => T::mul,
                ScatterReduction::Min => Num::min,
                _ => Num::max,
            };
            let (mut out, new) = (x.as_slice::<T>().into_owned(), updates.as_slice::<T>());
            for (i, &p) in positions.iter().enumerate() {
                let into = &mut out[p * run..][..run];
                into.iter_mut().zip(&new[i * run..]).for_each(|(a, &b)| *a = combine(*a, b));
            }
            Ok(Tensor::from_vec(x.shape(), out))
        });
    }
    // Narrow floats round after every update.
    let mut out = x.bytes().to_vec();
    for (i, &p) in positions.iter().enumerate() {
        let tensor = |b: &[u8]| from_bytes(x.dtype(), &[run], b[..bytes].to_vec());
        let (old, new) = (tensor(&out[p * bytes..])?, tensor(&updates.bytes()[i * bytes..])?);
        out[p * bytes..][..bytes].copy_from_slice(combine(&old, &new)?.bytes());
    }
    from_bytes(x.dtype(), x.shape(), out)
}

/// `ScatterElements` (11, 13, 16, 18): a copy of `x` in which the elements that [`gather_elements`] would read are
/// combined with those of `updates`, which has the shape of `indices`.
pub fn scatter_elements(
    x: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    axis: i64,
    how: ScatterReduction,
) -> KernelResult {
    if indices.shape() != updates.shape() {
        return Err(format!("updates of {:?} for indices of {:?}", updates.shape(), indices.shape()).into());
    }
    scatter(x, updates, &element_positions(x, indices, normalize_axis(axis, x.rank())?)?, 1, how)
}

/// `ScatterND` (11, 13, 16, 18): a copy of `x` in which the slices that [`gather_nd`] would read are combined with
/// those of `updates`.
pub fn scatter_nd(x: &Tensor, indices: &Tensor, updates: &Tensor, how: ScatterReduction) -> KernelResult {
    let (positions, run) = slice_positions(x, indices, 0)?;
    scatter(x, updates, &positions, run, how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathers() {
        let x = Tensor::from_vec(&[2, 2], vec![1i32, 2, 3, 4]);
        let i = Tensor::from_vec(&[2], vec![-1i64, 0]);
        assert_eq!(gather(&x, &i, 1).unwrap().to_i64().unwrap(), [2, 1, 4, 3]);
        let e = Tensor::from_vec(&[2, 1], vec![1i64, 0]);
        assert_eq!(gather_elements(&x, &e, 1).unwrap().to_i64().unwrap(), [2, 3]);
        assert_eq!(gather_nd(&x, &e, 0).unwrap().to_i64().unwrap(), [3, 4, 1, 2]);
        assert_eq!(gather_nd(&x, &e, 1).unwrap().to_i64().unwrap(), [2, 3]);
        assert!(gather(&x, &Tensor::scalar(2i64), 0).is_err());
        assert!(gather(&x, &Tensor::scalar(1f32), 0).is_err());
    }

    #[test]
    fn scatters() {
        let x = Tensor::from_vec(&[3], vec![1i32, 2, 3]);
        let (i, u) = (Tensor::from_vec(&[2], vec![0i64, 0]), Tensor::from_vec(&[2], vec![5i32, 6]));
        assert_eq!(scatter_elements(&x, &i, &u, 0, ScatterReduction::Add).unwrap().to_i64().unwrap(), [12, 2, 3]);
        let rows = i.reshape(vec![2, 1]).unwrap();
        assert_eq!(scatter_nd(&x, &rows, &u, ScatterReduction::Assign).unwrap().to_i64().unwrap(), [6, 2, 3]);
    }
}
