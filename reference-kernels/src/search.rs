//! Sorting and selection.

use crate::KernelResult;
use crate::cast::cast;
use crate::generate::one_hot;
use crate::index::{gather, gather_elements};
use crate::movement::{around, buffer, from_bytes, transpose};
use crate::num::{Num, dispatch};
use crate::reduce::arg_max;
use crate::shape::normalize_axis;
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};
use std::cmp::Ordering;

/// Returns the total order of elements; NaN is the largest.
fn order<T: Num>(a: &T, b: &T) -> Ordering {
    let is_nan = |v: &T| v.partial_cmp(v).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// Number of elements beyond `2 * k` among which [`top_k`] selects at once.
const BATCH: usize = 32;

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
        let compare = |a: &T, b: &T| if largest { order(b, a) } else { order(a, b) };
        let before = |a: &(T, usize), b: &(T, usize)| compare(&a.0, &b.0).then(a.1.cmp(&b.1));
        // Discards all but the first `k`, of which the last is at the end.
        let keep = |best: &mut Vec<(T, usize)>| {
            if best.len() > k {
                best.select_nth_unstable_by(k - 1, before);
                best.truncate(k);
            }
        };
        let mut best = Vec::new();
        for lane in 0..if out.is_empty() { 0 } else { outer * inner } {
            let (o, i) = (lane / inner, lane % inner);
            best.clear();
            let mut worst = None;
            for (e, &v) in data[o * extent * inner + i..].iter().step_by(inner).take(extent).enumerate() {
                // One comparison rejects most of them; NaN needs the total order.
                if worst.is_some_and(|w| (if largest { v <= w } else { v >= w }) || compare(&v, &w).is_ge()) {
                    continue;
                }
                best.push((v, e));
                if best.len() == 2 * k + BATCH {
                    keep(&mut best);
                    worst = best.last().map(|b| b.0);
                }
            }
            keep(&mut best);
            best.sort_unstable_by(before);
            best.iter().enumerate().for_each(|(n, &(_, e))| out[(o * k + n) * inner + i] = e as i64);
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
    let axis = normalize_axis(axis, x.rank())?;
    let at = arg_max(x, axis as i64, false, false)?;
    let values = cast(&Tensor::from_bools(&[2], vec![0, 1]), x.dtype())?;
    one_hot(&at, x.shape()[axis] as i64, &values, axis as i64)
}

/// `NonZero` (9, 13): the coordinates of the nonzero elements in row-major order, one row per axis.
pub fn non_zero(x: &Tensor) -> KernelResult {
    let flags = cast(x, DType::Bool)?;
    let total = flags.bytes().iter().filter(|f| **f != 0).count();
    let run = x.shape().last().copied().unwrap_or(1).max(1);
    let (mut out, mut found, mut hits) = (vec![0; x.rank() * total], 0, vec![0; run]);
    for (row, flags) in flags.bytes().chunks_exact(run).enumerate() {
        let count = write_hits(flags, &mut hits);
        let mut rest = row;
        for (axis, &extent) in x.shape().iter().enumerate().rev() {
            let column = &mut out[axis * total + found..][..count];
            if axis + 1 == x.rank() {
                column.copy_from_slice(&hits[..count]);
            } else {
                column.fill((rest % extent) as i64);
                rest /= extent;
            }
        }
        found += count;
    }
    Ok(Tensor::from_vec(&[x.rank(), total], out))
}

/// Writes the positions of nonzero flags to the front of `hits`, of the same length, and returns their number.
fn write_hits(flags: &[u8], hits: &mut [i64]) -> usize {
    // Every position is written, because a branch is often mispredicted; the next overwrites one that is no hit.
    let mut count = 0;
    for (i, &flag) in (0i64..).zip(flags) {
        hits[count] = i;
        count += usize::from(flag != 0);
    }
    count
}

/// `Compress` (9, 11, 28): the slices along `axis`, or the elements, where `condition` holds; `condition` may be
/// shorter than the axis.
pub fn compress(x: &Tensor, condition: &Tensor, axis: Option<i64>) -> KernelResult {
    if condition.dtype() != DType::Bool || condition.rank() != 1 {
        return Err(format!("compress needs a vector of booleans, not {condition:?}").into());
    }
    let mut chosen = vec![0; condition.len()];
    let count = write_hits(condition.bytes(), &mut chosen);
    chosen.truncate(count);
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
    let (mut first, mut counts, mut inverse) = (Vec::new(), Vec::new(), vec![0; count]);
    for (i, same) in slice_order(&flat, axis)? {
        if !same {
            first.push(i as i64);
            counts.push(0);
        }
        inverse[i] = first.len() as i64 - 1;
        counts[first.len() - 1] += 1;
    }
    if !sorted {
        let mut by_first: Vec<usize> = (0..first.len()).collect();
        by_first.sort_unstable_by_key(|&g| first[g]);
        let mut number = vec![0; first.len()];
        (0i64..).zip(&by_first).for_each(|(n, &g)| number[g] = n);
        // Slices without elements are in no group.
        inverse.iter_mut().for_each(|g| *g = number.get(*g as usize).copied().unwrap_or(0));
        [first, counts] = [first, counts].map(|list| by_first.iter().map(|&g| list[g]).collect());
    }
    let vector = |v: Vec<i64>| Tensor::from_vec(&[v.len()], v);
    let first = vector(first);
    Ok([gather(&flat, &first, axis as i64)?, first, vector(inverse), vector(counts)])
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
        if width == 1 {
            let mut elements: Vec<(T, usize)> = data.iter().copied().zip(0..).collect();
            elements.sort_by(|a, b| order(&a.0, &b.0));
            let same = |n: usize| n > 0 && order(&elements[n - 1].0, &elements[n].0).is_eq();
            out.extend(elements.iter().enumerate().map(|(n, &(_, i))| (i, same(n))));
            return Ok(Tensor::scalar(0i64));
        }
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
