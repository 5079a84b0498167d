//! Gathering and scattering by index tensors. Indices are `i32` or `i64`; negative ones count from the end,
//! out-of-range ones are an error.

use crate::KernelResult;
use crate::binary::{add, max2, min2, mul};
use crate::movement::{around, buffer, from_bytes};
use crate::shape::{normalize_axis, product, strides};
use gradus_ir::Violation;
use gradus_ir::tensor::{Tensor, checked_len};

/// Returns the elements of an index tensor.
fn indices_of(t: &Tensor) -> Result<Vec<i64>, Violation> {
    t.to_i64().ok_or_else(|| format!("indices should be integers, not {}", t.dtype()).into())
}

/// Normalizes an index into an axis of extent `n`; negative ones count from the end.
pub fn resolve(index: i64, n: usize) -> Result<usize, Violation> {
    normalize_axis(index, n).map_err(|_| format!("index {index} is out of range for an extent of {n}").into())
}

/// `Gather` (1, 11, 13): the slices of `x` along `axis` at `indices`. The axis is replaced by the shape of `indices`.
pub fn gather(x: &Tensor, indices: &Tensor, axis: i64) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let n = x.shape()[axis];
    let at: Vec<usize> = indices_of(indices)?.into_iter().map(|i| resolve(i, n)).collect::<Result<_, _>>()?;
    let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
    let mut out = buffer(x.dtype(), &shape)?;
    if out.capacity() > 0 {
        let (outer, inner) = around(x.shape(), axis);
        let run = inner * x.dtype().size();
        for o in 0..outer {
            for &i in &at {
                let from = (o * n + i) * run;
                out.extend_from_slice(&x.bytes()[from..from + run]);
            }
        }
    }
    from_bytes(x.dtype(), &shape, out)
}

/// Returns the flat position in `x` of every element of an index tensor that replaces coordinates along `axis`.
fn element_positions(x: &Tensor, indices: &Tensor, axis: usize) -> Result<Vec<usize>, Violation> {
    let fits = indices.rank() == x.rank() && (0..x.rank()).all(|i| i == axis || indices.shape()[i] <= x.shape()[i]);
    if !fits {
        return Err(format!("indices of {:?} do not fit elements of {:?}", indices.shape(), x.shape()).into());
    }
    let (from, into) = (strides(x.shape()), strides(indices.shape()));
    let position = |(flat, index): (usize, i64)| {
        let mut at = 0;
        for i in 0..x.rank() {
            let coordinate = flat / into[i] % indices.shape()[i];
            at += from[i] * if i == axis { resolve(index, x.shape()[i])? } else { coordinate };
        }
        Ok(at)
    };
    indices_of(indices)?.into_iter().enumerate().map(position).collect()
}

/// `GatherElements` (11, 13): for every element of `indices`, the element of `x` at the same coordinates, except that
/// the one along `axis` is the index.
pub fn gather_elements(x: &Tensor, indices: &Tensor, axis: i64) -> KernelResult {
    let positions = element_positions(x, indices, normalize_axis(axis, x.rank())?)?;
    let (mut out, size) = (buffer(x.dtype(), indices.shape())?, x.dtype().size());
    positions.iter().for_each(|&p| out.extend_from_slice(&x.bytes()[p * size..(p + 1) * size]));
    from_bytes(x.dtype(), indices.shape(), out)
}

/// Returns the flat start of every slice selected by `indices` after `batch` leading axes, and the number of elements
/// per slice.
fn slice_positions(x: &Tensor, indices: &Tensor, batch: usize) -> Result<(Vec<usize>, usize), Violation> {
    let wrong = || {
        Violation::from(format!("indices of {:?} do not fit {:?} with {batch} batch axes", indices.shape(), x.shape()))
    };
    let (&depth, rows) = indices.shape().split_last().ok_or_else(wrong)?;
    let end = depth.checked_add(batch).filter(|&e| e <= x.rank() && batch <= rows.len()).ok_or_else(wrong)?;
    if rows[..batch] != x.shape()[..batch] {
        return Err(wrong());
    }
    let (from, values) = (strides(x.shape()), indices_of(indices)?);
    let slice = product(&x.shape()[end..]);
    let total = checked_len(rows).ok_or_else(wrong)?;
    // Indices of depth 0 select the whole tensor and have no elements; the shape alone gives their number.
    super::shape::checked_elements(rows)?;
    let batches = product(&rows[..batch]);
    let (per_batch, whole) = (total.checked_div(batches).unwrap_or(0), x.len().checked_div(batches).unwrap_or(0));
    let position = |row: usize| {
        let mut at = row / per_batch.max(1) * whole;
        for (k, &index) in values[row * depth..(row + 1) * depth].iter().enumerate() {
            at += from[batch + k] * resolve(index, x.shape()[batch + k])?;
        }
        Ok(at)
    };
    Ok(((0..total).map(position).collect::<Result<_, Violation>>()?, slice))
}

/// `GatherND` (11, 12, 13): the slices of `x` at the leading coordinates given by the last axis of `indices`, after
/// `batch_dims` common axes.
pub fn gather_nd(x: &Tensor, indices: &Tensor, batch_dims: i64) -> KernelResult {
    let batch = usize::try_from(batch_dims).map_err(|e| e.to_string())?;
    let (positions, slice) = slice_positions(x, indices, batch)?;
    let end = batch + indices.shape().last().copied().unwrap_or(0);
    let shape = [&indices.shape()[..indices.rank() - 1], &x.shape()[end..]].concat();
    let (mut out, size) = (buffer(x.dtype(), &shape)?, x.dtype().size());
    for p in positions {
        out.extend_from_slice(&x.bytes()[p * size..(p + slice) * size]);
    }
    from_bytes(x.dtype(), &shape, out)
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

/// Combines runs of `run` elements of `updates` with a copy of `x` at `positions`.
fn scatter(x: &Tensor, updates: &Tensor, positions: &[usize], run: usize, how: ScatterReduction) -> KernelResult {
    if updates.dtype() != x.dtype() || positions.len().checked_mul(run) != Some(updates.len()) {
        return Err(format!("updates {updates:?} do not fit {} runs of {run} of {x:?}", positions.len()).into());
    }
    let bytes = run * x.dtype().size();
    let mut out = x.bytes().to_vec();
    for (i, &p) in positions.iter().enumerate() {
        let into = &mut out[p * x.dtype().size()..][..bytes];
        let new = &updates.bytes()[i * bytes..(i + 1) * bytes];
        let combine = match how {
            ScatterReduction::Assign => {
                into.copy_from_slice(new);
                continue;
            }
            ScatterReduction::Add => add,
            ScatterReduction::Mul => mul,
            ScatterReduction::Min => min2,
            ScatterReduction::Max => max2,
        };
        let tensor = |b: &[u8]| from_bytes(x.dtype(), &[run], b.to_vec());
        into.copy_from_slice(combine(&tensor(into)?, &tensor(new)?)?.bytes());
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
