//! Operations that only move elements. They work on bytes, so one implementation serves every element type.
//!
//! Most of them copy a strided view of the operand; [`copy_view`] merges axes so that contiguous elements move at once.

use crate::KernelResult;
use crate::shape::{
    checked_elements, flatten_dims, normalize_axes, normalize_axis, product, reshape_dims, squeeze_dims, strides,
    unsqueeze_dims,
};
use gradus_ir::Violation;
use gradus_ir::tensor::{DType, Tensor};

/// Creates a tensor of `bytes`.
pub(super) fn from_bytes(dtype: DType, shape: &[usize], bytes: Vec<u8>) -> KernelResult {
    Ok(Tensor::new(dtype, shape.to_vec(), bytes.into())?)
}

/// Allocates a buffer for a result of `shape`.
pub(super) fn buffer(dtype: DType, shape: &[usize]) -> Result<Vec<u8>, Violation> {
    Ok(Vec::with_capacity(checked_elements(shape)? * dtype.size()))
}

/// Returns row-major strides as signed numbers.
pub(super) fn signed_strides(shape: &[usize]) -> Vec<isize> {
    strides(shape).into_iter().map(usize::cast_signed).collect()
}

/// Copies the elements at `offset + index * view_strides` (in elements) for every index into `shape`, all of which must
/// be in bounds.
pub(super) fn copy_view(src: &Tensor, shape: &[usize], view_strides: &[isize], offset: usize) -> KernelResult {
    let n = checked_elements(shape)?;
    if n == 0 {
        return from_bytes(src.dtype(), shape, Vec::new());
    }
    let mut axes: Vec<(usize, isize)> = Vec::with_capacity(shape.len());
    for (&extent, &stride) in shape.iter().zip(view_strides).filter(|(extent, _)| **extent != 1) {
        match axes.last_mut() {
            Some((last, outer)) if *outer == stride * extent.cast_signed() => {
                (*last, *outer) = (*last * extent, stride);
            }
            _ => axes.push((extent, stride)),
        }
    }
    let out = match src.dtype().size() {
        1 => copy_axes::<1>(src.bytes(), &axes, offset, n),
        2 => copy_axes::<2>(src.bytes(), &axes, offset, n),
        4 => copy_axes::<4>(src.bytes(), &axes, offset, n),
        _ => copy_axes::<8>(src.bytes(), &axes, offset, n),
    };
    from_bytes(src.dtype(), shape, out)
}

/// [`copy_view`] for elements of `N` bytes and merged axes.
fn copy_axes<const N: usize>(src: &[u8], axes: &[(usize, isize)], offset: usize, n: usize) -> Vec<u8> {
    let src = src.as_chunks::<N>().0;
    let mut out: Vec<[u8; N]> = Vec::with_capacity(n);
    let (&(run, step), outer) = axes.split_last().unwrap_or((&(1, 1), &[]));
    let mut index = vec![0usize; outer.len()];
    let mut at = offset;
    loop {
        match step {
            1 => out.extend_from_slice(&src[at..at + run]),
            0 => out.extend(std::iter::repeat_n(src[at], run)),
            _ => out.extend((0..run.cast_signed()).map(|i| src[at.wrapping_add_signed(i * step)])),
        }
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return out.into_flattened();
            }
            axis -= 1;
            let (extent, stride) = outer[axis];
            index[axis] += 1;
            at = at.wrapping_add_signed(stride);
            if index[axis] < extent {
                break;
            }
            at = at.wrapping_add_signed(-stride * extent.cast_signed());
            index[axis] = 0;
        }
    }
}

/// `Transpose` (1, 13, 21): reorders axes so that axis `i` of the result is axis `perm[i]` of `x`; reverses them when
/// `perm` is empty.
pub fn transpose(x: &Tensor, perm: &[i64]) -> KernelResult {
    let rank = x.rank();
    let reversed: Vec<usize> = (0..rank).rev().collect();
    let perm = if perm.is_empty() { reversed } else { normalize_axes(perm, rank)? };
    if perm.len() != rank {
        return Err(format!("a permutation of {rank} axes cannot have {} entries", perm.len()).into());
    }
    let from = signed_strides(x.shape());
    let shape: Vec<usize> = perm.iter().map(|&p| x.shape()[p]).collect();
    copy_view(x, &shape, &perm.iter().map(|&p| from[p]).collect::<Vec<_>>(), 0)
}

/// `Reshape` (5, 13, 14, 19, 21): the same elements under another shape, which may hold one -1 (inferred) and, unless
/// `allow_zero`, zeros (copied from `x`).
pub fn reshape(x: &Tensor, wanted: &[i64], allow_zero: bool) -> KernelResult {
    Ok(x.reshape(reshape_dims(x.shape(), wanted, allow_zero)?)?)
}

/// `Squeeze` (1, 11, 13, 21): removes `axes` of extent 1, or all of them when `None`.
pub fn squeeze(x: &Tensor, axes: Option<&[i64]>) -> KernelResult {
    Ok(x.reshape(squeeze_dims(x.shape(), axes)?)?)
}

/// `Unsqueeze` (1, 11, 13, 21): inserts axes of extent 1, at `axes` of the result.
pub fn unsqueeze(x: &Tensor, axes: &[i64]) -> KernelResult {
    Ok(x.reshape(unsqueeze_dims(x.shape(), axes)?)?)
}

/// `Flatten` (1, 9, 11, 13, 21): a matrix of the axes before `axis` by the axes from it on.
pub fn flatten(x: &Tensor, axis: i64) -> KernelResult {
    Ok(x.reshape(flatten_dims(x.shape(), axis)?)?)
}

/// `Expand` (8, 13): broadcasts `x` with a shape. Unlike numpy's, extents of 1 in `shape` keep `x`'s.
pub fn expand(x: &Tensor, shape: &[i64]) -> KernelResult {
    let wanted: Option<Vec<usize>> = shape.iter().map(|&d| usize::try_from(d).ok()).collect();
    let wanted = wanted.ok_or_else(|| format!("expand to {shape:?}"))?;
    let out = super::shape::broadcast_shapes(x.shape(), &wanted)?;
    let mut from = vec![0; out.len() - x.rank()];
    from.extend(signed_strides(x.shape()).iter().zip(x.shape()).map(|(&s, &d)| if d == 1 { 0 } else { s }));
    copy_view(x, &out, &from, 0)
}

/// `Tile` (6, 13): repeats `x` along every axis.
pub fn tile(x: &Tensor, repeats: &[i64]) -> KernelResult {
    let counts: Option<Vec<usize>> = repeats.iter().map(|&d| usize::try_from(d).ok()).collect();
    let counts =
        counts.filter(|c| c.len() == x.rank()).ok_or_else(|| format!("tile {:?} by {repeats:?}", x.shape()))?;
    let mut shape = Vec::with_capacity(x.rank());
    for (&d, &c) in x.shape().iter().zip(&counts) {
        shape.push(d.checked_mul(c).ok_or("the result is too large")?);
    }
    // Each axis becomes two, of which the outer has stride 0.
    let split: Vec<usize> = counts.iter().zip(x.shape()).flat_map(|(&c, &d)| [c, d]).collect();
    let from: Vec<isize> = signed_strides(x.shape()).into_iter().flat_map(|s| [0, s]).collect();
    Ok(copy_view(x, &split, &from, 0)?.reshape(shape)?)
}

/// `Slice` (1, 10, 11, 13): the elements from `starts` to `ends` (exclusive, clamped; negatives count from the back)
/// by `steps` along `axes`. Empty `axes` means the leading ones, empty `steps` means 1.
pub fn slice(x: &Tensor, starts: &[i64], ends: &[i64], axes: &[i64], steps: &[i64]) -> KernelResult {
    let leading: Vec<i64> = (0i64..).take(starts.len()).collect();
    let axes = normalize_axes(if axes.is_empty() { &leading } else { axes }, x.rank())?;
    if ends.len() != starts.len()
        || axes.len() != starts.len()
        || !matches!(steps.len(), n if n == 0 || n == axes.len())
    {
        return Err("slice requires equal numbers of starts, ends, axes and steps".into());
    }
    let (mut shape, mut view, mut offset) = (x.shape().to_vec(), signed_strides(x.shape()), 0usize);
    for (i, &axis) in axes.iter().enumerate() {
        let step = steps.get(i).copied().unwrap_or(1);
        let (first, count) = slice_axis(shape[axis], starts[i], ends[i], step)?;
        offset += first * view[axis].unsigned_abs();
        shape[axis] = count;
        // With fewer than two elements the step is unused, and might overflow.
        view[axis] = if count > 1 { view[axis] * isize::try_from(step).map_err(|e| e.to_string())? } else { 0 };
    }
    copy_view(x, &shape, &view, offset)
}

/// Returns the start index and number of elements of a slice along an axis of extent `n`, by NumPy's rules.
pub fn slice_axis(n: usize, start: i64, end: i64, step: i64) -> Result<(usize, usize), Violation> {
    let n = i64::try_from(n).map_err(|e| e.to_string())?;
    // Only a descending slice may end before the first element, at -1.
    let (low, high) = if step < 0 { (-1, n - 1) } else { (0, n) };
    let clamp = |v: i64| if v < 0 { v.saturating_add(n) } else { v }.clamp(low, high);
    let (first, last) = (clamp(start), clamp(end));
    let distance = if step < 0 { first - last } else { last - first };
    if step == 0 {
        return Err("a slice cannot have a step of 0".into());
    }
    let count = u64::try_from(distance).unwrap_or(0).div_ceil(step.unsigned_abs());
    let first = if count == 0 { 0 } else { first };
    Ok((usize::try_from(first).map_err(|e| e.to_string())?, usize::try_from(count).map_err(|e| e.to_string())?))
}

/// Products of the extents before and after `axis`.
pub(super) fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (product(&shape[..axis]), product(&shape[axis + 1..]))
}

/// `Concat` (4, 11, 13): concatenates operands, equal in type and all other extents, along `axis`.
pub fn concat(inputs: &[&Tensor], axis: i64) -> KernelResult {
    let first = inputs.first().ok_or("concat needs an operand")?;
    let axis = normalize_axis(axis, first.rank())?;
    let mut shape = first.shape().to_vec();
    shape[axis] = 0;
    for t in inputs {
        let fits = t.rank() == shape.len() && (0..shape.len()).all(|i| i == axis || t.shape()[i] == shape[i]);
        if !fits || t.dtype() != first.dtype() {
            return Err(format!("concat of {first:?} and {t:?} along axis {axis}").into());
        }
        shape[axis] = shape[axis].checked_add(t.shape()[axis]).ok_or("the result is too large")?;
    }
    let mut out = buffer(first.dtype(), &shape)?;
    if out.capacity() > 0 {
        let outer = around(&shape, axis).0;
        for i in 0..outer {
            for t in inputs {
                let run = t.bytes().len() / outer;
                out.extend_from_slice(&t.bytes()[i * run..(i + 1) * run]);
            }
        }
    }
    from_bytes(first.dtype(), &shape, out)
}

/// `Split` (2, 11, 13, 18): splits `x` along `axis` into parts of the given `sizes`, which add up to its extent.
pub fn split(x: &Tensor, axis: i64, sizes: &[usize]) -> Result<Vec<Tensor>, Violation> {
    let axis = normalize_axis(axis, x.rank())?;
    let total = sizes.iter().try_fold(0usize, |sum, &s| sum.checked_add(s));
    if total != Some(x.shape()[axis]) {
        return Err(format!("parts {sizes:?} do not add up to axis {axis} of {:?}", x.shape()).into());
    }
    let (view, mut shape, mut from) = (signed_strides(x.shape()), x.shape().to_vec(), 0);
    let mut part = |&size: &usize| {
        shape[axis] = size;
        let out = copy_view(x, &shape, &view, from * view[axis].unsigned_abs());
        from += size;
        out
    };
    sizes.iter().map(&mut part).collect()
}

/// Sizes of the parts of an axis of extent `n` for `Split` with `num_outputs`: equal, except for a smaller last one.
pub fn split_sizes(n: usize, num_outputs: usize) -> Result<Vec<usize>, Violation> {
    if num_outputs == 0 || num_outputs > super::shape::MAX_ELEMENTS {
        return Err(format!("cannot split into {num_outputs} parts").into());
    }
    let chunk = n.div_ceil(num_outputs);
    Ok((0..num_outputs).map(|i| chunk.min(n.saturating_sub(chunk.saturating_mul(i)))).collect())
}

/// Reshapes, transposes and reshapes, as depth and space rearrangements do.
fn rearrange(x: &Tensor, split: Vec<usize>, perm: &[i64], shape: Vec<usize>) -> KernelResult {
    Ok(transpose(&x.reshape(split)?, perm)?.reshape(shape)?)
}

/// Returns the extents `[N, C, H, W]` and the block size.
fn blocks(op: &str, x: &Tensor, block: i64) -> Result<([usize; 4], usize), Violation> {
    let dims =
        <[usize; 4]>::try_from(x.shape()).map_err(|_| format!("{op} needs [N, C, H, W], not {:?}", x.shape()))?;
    let block = usize::try_from(block).ok().filter(|b| (1..1 << 16).contains(b));
    Ok((dims, block.ok_or_else(|| format!("{op}: the block size is out of range"))?))
}

/// `DepthToSpace` (1, 11, 13): moves blocks of channels of `[N, C, H, W]` to spatial positions. `column_major` is mode
/// `CRD`.
pub fn depth_to_space(x: &Tensor, block: i64, column_major: bool) -> KernelResult {
    let ([n, c, h, w], b) = blocks("depth_to_space", x, block)?;
    if !c.is_multiple_of(b * b) {
        return Err(format!("{c} channels are not a multiple of {b} squared").into());
    }
    let (d, shape) = (c / (b * b), vec![n, c / (b * b), h * b, w * b]);
    if column_major {
        rearrange(x, vec![n, d, b, b, h, w], &[0, 1, 4, 2, 5, 3], shape)
    } else {
        rearrange(x, vec![n, b, b, d, h, w], &[0, 3, 4, 1, 5, 2], shape)
    }
}

/// `SpaceToDepth` (1, 13): moves spatial blocks of `[N, C, H, W]` to channels. `column_major` is mode `CRD`.
pub fn space_to_depth(x: &Tensor, block: i64, column_major: bool) -> KernelResult {
    let ([n, c, h, w], b) = blocks("space_to_depth", x, block)?;
    if !h.is_multiple_of(b) || !w.is_multiple_of(b) {
        return Err(format!("{h} by {w} is not a multiple of {b}").into());
    }
    let perm = if column_major { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] };
    rearrange(x, vec![n, c, h / b, b, w / b, b], &perm, vec![n, c * b * b, h / b, w / b])
}

/// `Shape` (1, 13, 15, 19): the extents of `x` from axis `start` to `end` (exclusive; both clamped, negatives count
/// from the back), as an `i64` vector.
pub fn shape_of(x: &Tensor, start: i64, end: Option<i64>) -> KernelResult {
    let (first, count) = slice_axis(x.rank(), start, end.unwrap_or(i64::MAX), 1)?;
    let dims: Vec<i64> = x.shape()[first..first + count].iter().map(|&d| d.cast_signed() as i64).collect();
    Ok(Tensor::from_vec(&[count], dims))
}

/// `Size` (1, 13, 19): the number of elements, as an `i64` scalar.
pub fn size_of(x: &Tensor) -> KernelResult {
    Ok(Tensor::scalar(i64::try_from(x.len()).map_err(|e| e.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iota(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, (0..shape.iter().product::<usize>()).map(|i| i as i32).collect())
    }

    fn values(t: &KernelResult) -> Vec<i64> {
        t.as_ref().unwrap().to_i64().unwrap()
    }

    #[test]
    fn views() {
        assert_eq!(values(&transpose(&iota(&[2, 3]), &[])), [0, 3, 1, 4, 2, 5]);
        assert_eq!(values(&transpose(&iota(&[1, 2, 2]), &[2, 0, 1])), [0, 2, 1, 3]);
        assert_eq!(values(&tile(&iota(&[2, 2]), &[1, 2])), [0, 1, 0, 1, 2, 3, 2, 3]);
        assert_eq!(values(&expand(&iota(&[2, 1]), &[3])), [0, 0, 0, 1, 1, 1]);
        assert!(transpose(&iota(&[2, 3]), &[0, 0]).is_err());
    }

    #[test]
    fn slices() {
        assert_eq!(values(&slice(&iota(&[5]), &[-1], &[i64::MIN], &[0], &[-2])), [4, 2, 0]);
        assert_eq!(values(&slice(&iota(&[2, 3]), &[1], &[i64::MAX], &[-1], &[])), [1, 2, 4, 5]);
        assert_eq!(values(&slice(&iota(&[4]), &[3], &[1], &[], &[])), [] as [i64; 0]);
        assert!(slice(&iota(&[4]), &[0], &[1], &[0], &[0]).is_err());
    }

    #[test]
    fn joins_and_cuts() {
        let x = iota(&[2, 3]);
        let parts = split(&x, 1, &[1, 2]).unwrap();
        assert_eq!(parts[1].to_i64().unwrap(), [1, 2, 4, 5]);
        assert_eq!(concat(&[&parts[0], &parts[1]], -1).unwrap(), x);
        assert_eq!(split_sizes(7, 3).unwrap(), [3, 3, 1]);
    }

    #[test]
    fn depth_and_space_are_inverse() {
        let x = iota(&[1, 8, 2, 3]);
        for crd in [false, true] {
            assert_eq!(space_to_depth(&depth_to_space(&x, 2, crd).unwrap(), 2, crd).unwrap(), x);
        }
    }
}
