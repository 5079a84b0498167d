//! Sorting and selection.

use crate::KernelResult;
use crate::cast::cast;
use crate::index::{ScatterReduction, gather, gather_elements, scatter_elements};
use crate::movement::{around, buffer, from_bytes, transpose};
use crate::num::{Num, dispatch};
use crate::reduce::arg_max;
use crate::shape::{normalize_axis, product};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};
use std::cmp::Ordering;

/// Returns the total order of elements; NaN is the largest.
fn order<T: Num>(a: &T, b: &T) -> Ordering {
    let is_nan = |v: &T| v.partial_cmp(v).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// `TopK` (1, 10, 11, 24): the `k` largest (or smallest) elements along `axis`, sorted, and their indices; the lowest
/// index first among equal elements.
pub fn top_k(x: &Tensor, k: i64, axis: i64, largest: bool) -> Result<[Tensor; 2], Violation> {
    let axis = normalize_axis(axis, x.rank())?;
    let (extent, (outer, inner)) = (x.shape()[axis], around(x.shape(), axis));
    let k = usize::try_from(k).ok().filter(|&k| k <= extent).ok_or_else(|| format!("{k} of {extent} elements"))?;
    let mut shape = x.shape().to_vec();
    shape[axis] = k;
    let indices = dispatch!(number, "top_k", (x), T => {
        let data = x.as_slice::<T>();
        let mut out = vec![0; super::shape::checked_elements(&shape)?];
        let lanes = if data.is_empty() { 0 } else { outer * inner };
        for (o, i) in (0..lanes).map(|lane| (lane / inner, lane % inner)) {
            let at = |e: usize| &data[(o * extent + e) * inner + i];
            let mut order_of: Vec<usize> = (0..extent).collect();
            order_of.sort_by(|&a, &b| if largest { order(at(b), at(a)) } else { order(at(a), at(b)) });
            order_of.iter().take(k).enumerate().for_each(|(n, &e)| out[(o * k + n) * inner + i] = e as i64);
        }
        Ok(Tensor::from_vec(&shape, out))
    })?;
    Ok([gather_elements(x, &indices, axis as i64)?, indices])
}

/// `Hardmax` (1, 11, 13): 1 at the first maximum along `axis`, 0 elsewhere. `flatten` (before opset 13) flattens the
/// axes from `axis` on.
pub fn hardmax(x: &Tensor, axis: i64, flatten: bool) -> KernelResult {
    if flatten {
        let matrix = super::movement::flatten(x, normalize_axis(axis, x.rank())? as i64)?;
        return Ok(hardmax(&matrix, 1, false)?.reshape(x.shape().to_vec())?);
    }
    let at = arg_max(x, axis, true, false)?;
    let filled = |shape: &[usize], v: u8| cast(&Tensor::from_bools(shape, vec![v; product(shape)]), x.dtype());
    scatter_elements(&filled(x.shape(), 0)?, &at, &filled(at.shape(), 1)?, axis, ScatterReduction::Assign)
}

/// `NonZero` (9, 13): the coordinates of the nonzero elements in row-major order, one row per axis.
pub fn non_zero(x: &Tensor) -> KernelResult {
    let flags = cast(x, DType::Bool)?;
    let found: Vec<usize> = (0..x.len()).filter(|&i| flags.bytes()[i] != 0).collect();
    let steps = super::shape::strides(x.shape());
    let row = |(&step, &extent): (&usize, &usize)| found.iter().map(move |&i| (i / step % extent) as i64);
    let out = steps.iter().zip(x.shape()).flat_map(row).collect();
    Ok(Tensor::from_vec(&[x.rank(), found.len()], out))
}

/// `Compress` (9, 11, 28): the slices along `axis`, or the elements, where `condition` holds; `condition` may be
/// shorter than the axis.
pub fn compress(x: &Tensor, condition: &Tensor, axis: Option<i64>) -> KernelResult {
    if condition.dtype() != DType::Bool || condition.rank() != 1 {
        return Err(format!("compress needs a vector of booleans, not {condition:?}").into());
    }
    let chosen: Vec<i64> = (0i64..).zip(condition.bytes()).filter(|(_, c)| **c != 0).map(|(i, _)| i).collect();
    let chosen = Tensor::from_vec(&[chosen.len()], chosen);
    match axis {
        Some(axis) => gather(x, &chosen, axis),
        None => gather(&x.reshape(vec![x.len()])?, &chosen, 0),
    }
}

/// `Unique` (11, 28): the unique slices along `axis`, or the unique elements, sorted or by first occurrence; the index
/// of each first occurrence; the inverse mapping; and the counts.
pub fn unique(x: &Tensor, axis: Option<i64>, sorted: bool) -> Result<[Tensor; 4], Violation> {
    let flat = if axis.is_none() { x.reshape(vec![x.len()])? } else { x.clone() };
    let axis = normalize_axis(axis.unwrap_or(0), flat.rank())?;
    let count = flat.shape()[axis];
    let order = slice_order(&flat, axis)?;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, same) in order {
        match groups.last_mut() {
            Some(group) if same => group.push(i),
            _ => groups.push(vec![i]),
        }
    }
    if !sorted {
        groups.sort_by_key(|g| g[0]);
    }
    let vector = |v: Vec<i64>| Tensor::from_vec(&[v.len()], v);
    let mut inverse = vec![0; count];
    for (n, group) in groups.iter().enumerate() {
        group.iter().for_each(|&i| inverse[i] = n as i64);
    }
    let first = vector(groups.iter().map(|g| g[0] as i64).collect());
    let counts = vector(groups.iter().map(|g| g.len() as i64).collect());
    Ok([gather(&flat, &first, axis as i64)?, first, vector(inverse), counts])
}

/// Slices along an axis, stably sorted, each with whether it equals its predecessor.
fn slice_order(x: &Tensor, axis: usize) -> Result<Vec<(usize, bool)>, Violation> {
    let count = x.shape()[axis];
    let others = (0..x.rank()).filter(|&a| a != axis);
    let perm: Vec<i64> = std::iter::once(axis).chain(others).map(|a| a as i64).collect();
    let rows = transpose(x, &perm)?;
    let rows = if x.dtype() == DType::Bool { cast(&rows, DType::U8)? } else { rows };
    let width = rows.len().checked_div(count).unwrap_or(0);
    let (rows, mut out) = (&rows, Vec::with_capacity(if rows.is_empty() { 0 } else { count }));
    dispatch!(number, "unique", (rows), T => {
        let data = rows.as_slice::<T>();
        let row = |i: usize| &data[i * width..(i + 1) * width];
        let compare = |a: usize, b: usize| {
            row(a).iter().zip(row(b)).map(|(a, b)| order(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..out.capacity().min(count)).collect();
        order.sort_by(|&a, &b| compare(a, b));
        let same = |n: usize| n > 0 && compare(order[n - 1], order[n]).is_eq();
        out.extend(order.iter().enumerate().map(|(n, &i)| (i, same(n))));
        Ok(Tensor::scalar(0i64))
    })?;
    Ok(out)
}

/// `ReverseSequence` (10, 28): reverses the first `lengths[b]` slices along the time axis of batch element `b`. The
/// axes are 0 and 1, in either order.
pub fn reverse_sequence(x: &Tensor, lengths: &Tensor, batch_axis: i64, time_axis: i64) -> KernelResult {
    let wrong =
        || Violation::from(format!("reverse_sequence of {x:?} by {lengths:?} along axes {batch_axis} and {time_axis}"));
    let time_first = match (batch_axis, time_axis) {
        (1, 0) => true,
        (0, 1) => false,
        _ => return Err(wrong()),
    };
    let &[n, m, ..] = x.shape() else { return Err(wrong()) };
    let (steps, batch) = if time_first { (n, m) } else { (m, n) };
    let lengths = lengths.to_i64().filter(|l| l.len() == batch).ok_or_else(wrong)?;
    let length = |l: &i64| usize::try_from(*l).ok().filter(|&l| l <= steps).ok_or_else(wrong);
    let lengths = lengths.iter().map(length).collect::<Result<Vec<usize>, Violation>>()?;
    let mut out = buffer(x.dtype(), x.shape())?;
    let run = x.bytes().len().checked_div(n.wrapping_mul(m)).unwrap_or(0);
    for (i, j) in (0..if run > 0 { n } else { 0 }).flat_map(|i| (0..m).map(move |j| (i, j))) {
        let (t, b) = if time_first { (i, j) } else { (j, i) };
        let from = if t < lengths[b] { lengths[b] - 1 - t } else { t };
        let at = if time_first { from * m + b } else { b * m + from };
        out.extend_from_slice(&x.bytes()[at * run..(at + 1) * run]);
    }
    from_bytes(x.dtype(), x.shape(), out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(t: &Tensor) -> Vec<i64> {
        t.to_i64().unwrap()
    }

    #[test]
    fn the_largest_come_first() {
        let x = Tensor::from_vec(&[2, 3], vec![1u8, 7, 7, 9, 0, 3]);
        let [values, indices] = top_k(&x, 2, -1, true).unwrap();
        assert_eq!((ints(&values), ints(&indices)), (vec![7, 7, 9, 3], vec![1, 2, 0, 2]));
        assert_eq!(ints(&top_k(&x, 1, 0, false).unwrap()[0]), [1, 0, 3]);
        assert!(top_k(&x, 4, 1, true).is_err());
        let hot = hardmax(&Tensor::from_vec(&[2, 2], vec![1f32, 1.0, 0.0, 2.0]), 1, false).unwrap();
        assert_eq!(hot.to_f64(), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn selections() {
        let x = Tensor::from_vec(&[2, 2], vec![1f32, -0.0, 3.0, 4.0]);
        assert_eq!(ints(&non_zero(&x).unwrap()), [0, 1, 1, 0, 0, 1]);
        assert_eq!(non_zero(&Tensor::scalar(5i32)).unwrap().shape(), [0, 1]);
        let condition = Tensor::from_bools(&[2], vec![0, 1]);
        assert_eq!(compress(&x, &condition, Some(1)).unwrap().to_f64(), [0.0, 4.0]);
        assert_eq!(compress(&x, &condition, None).unwrap().to_f64(), [0.0]);
    }

    #[test]
    fn differing_slices() {
        let x = Tensor::from_vec(&[6], vec![2i32, 1, 1, 3, 4, 3]);
        let all: Vec<Vec<i64>> = unique(&x, None, false).unwrap().iter().map(ints).collect();
        assert_eq!(all, [vec![2, 1, 3, 4], vec![0, 1, 3, 4], vec![0, 1, 1, 2, 3, 2], vec![1, 2, 2, 1]]);
        let m = Tensor::from_vec(&[3, 2], vec![2i32, 3, 1, 0, 1, 0]);
        let all: Vec<Vec<i64>> = unique(&m, Some(0), true).unwrap().iter().map(ints).collect();
        assert_eq!(all, [vec![1, 0, 2, 3], vec![1, 0], vec![1, 0, 0], vec![2, 1]]);
        assert_eq!(unique(&Tensor::from_vec(&[2], vec![f32::NAN; 2]), None, true).unwrap()[0].len(), 1);
    }

    #[test]
    fn sequences_turn_around() {
        let x = Tensor::from_vec(&[3, 2], vec![1i8, 2, 3, 4, 5, 6]);
        let lengths = Tensor::from_vec(&[2], vec![3i64, 2]);
        assert_eq!(ints(&reverse_sequence(&x, &lengths, 1, 0).unwrap()), [5, 4, 3, 2, 1, 6]);
        assert!(reverse_sequence(&x, &Tensor::from_vec(&[2], vec![4i64, 0]), 1, 0).is_err());
    }
}
