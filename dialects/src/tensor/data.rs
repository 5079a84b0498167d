//! Run-time tensors: elements, and copies of slices.

use gradus_ir::element_limit::is_within_element_limit;
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::float::FloatKind;
use gradus_ir::tensor::checked_len;
use gradus_ir::{Attr, Dense};
use gradus_ir::{AttrData, Context, DType, DYNAMIC, Int, Tensor, Type, TypeData};

/// Maximum number of elements of a tensor.
const MAX_ELEMENTS: usize = 1 << 26;

/// Converts `sizes` to a shape. Negative sizes are undefined behavior, too large ones unsupported.
pub(crate) fn extents(sizes: &[i64]) -> Result<Vec<usize>, Trap> {
    let one = |&n: &i64| usize::try_from(n).map_err(|_| Trap::Ub(format!("a tensor has the negative extent {n}")));
    let shape: Vec<usize> = sizes.iter().map(one).collect::<Result<_, _>>()?;
    match checked_len(&shape) {
        Some(n) if is_within_element_limit(n) && n <= MAX_ELEMENTS => Ok(shape),
        _ => Err(Trap::unknown(format!("tensors of more than {MAX_ELEMENTS} elements"))),
    }
}

/// Returns the extents of `ty`, with dynamic ones taken from `sizes`.
pub(crate) fn sizes_of(ctx: &Context, ty: Type, sizes: &[Datum]) -> Result<Vec<usize>, Trap> {
    let mut sizes = sizes.iter();
    let known = |&dim: &i64| match if dim == DYNAMIC { sizes.next() } else { None } {
        Some(size) => size.int(),
        None => Ok(dim),
    };
    let all: Vec<i64> = super::types::shape(ctx, ty).iter().map(known).collect::<Result<_, _>>()?;
    extents(&all)
}

/// Whether a shape matches the type `ty`. An op whose result does not match yields poison rather than undefined
/// behavior, so that ops can be reordered.
pub(crate) fn has_type(ctx: &Context, ty: Type, shape: &[usize]) -> bool {
    let fits = |(&d, &n): (&i64, &usize)| d == DYNAMIC || usize::try_from(d) == Ok(n);
    ctx.shape(ty).is_none_or(|want| want.len() == shape.len() && want.iter().zip(shape).all(fits))
}

/// Returns the storage type of the elements of `ty`.
pub(crate) fn dtype(ctx: &Context, ty: Type) -> Result<DType, Trap> {
    ctx.dtype(ctx.element_type(ty)).ok_or_else(|| Trap::unsupported("tensors of this element type"))
}

/// Returns the linear index of `indices`. Out-of-bounds indices are undefined behavior.
pub(crate) fn position(shape: &[usize], indices: &[i64]) -> Result<usize, Trap> {
    let mut at = 0;
    for (dim, (&size, &index)) in shape.iter().zip(indices).enumerate() {
        let inside = usize::try_from(index).ok().filter(|&i| i < size);
        let outside = || Trap::Ub(format!("index {index} is out of bounds of dimension {dim} of size {size}"));
        at = at * size + inside.ok_or_else(outside)?;
    }
    Ok(at)
}

/// Returns the element at a linear index.
pub(crate) fn element(tensor: &Tensor, at: usize) -> Result<Datum, Trap> {
    let one = take(tensor, &[], [at]);
    if tensor.dtype().is_float() {
        return Ok(Datum::Float(one.to_f64()[0]));
    }
    let bits = match tensor.dtype() {
        // A bit is its own sign, as for scalars.
        DType::Bool => -i64::from(one.bytes()[0]),
        DType::U64 => one.as_slice::<u64>()[0] as i64,
        _ => one.to_i64().map_or(0, |v| v[0]),
    };
    Ok(Datum::Int(bits))
}

/// Returns the element at a linear index of a tensor or vector, which may be poison.
pub(crate) fn element_of(datum: &Datum, at: usize) -> Result<Datum, Trap> {
    let Some((tensor, mask)) = datum.masked() else { return Ok(Datum::Poison) };
    if mask.is_some_and(|mask| mask[at]) { Ok(Datum::Poison) } else { element(tensor, at) }
}

/// Returns the tensor of the elements at linear indices.
pub(crate) fn take(from: &Tensor, shape: &[usize], numbers: impl IntoIterator<Item = usize>) -> Tensor {
    let (size, bytes) = (from.dtype().size(), from.bytes());
    let mut out = Vec::with_capacity(size * checked_len(shape).unwrap_or(0));
    numbers.into_iter().for_each(|at| out.extend_from_slice(&bytes[at * size..(at + 1) * size]));
    Tensor::new(from.dtype(), shape.to_vec(), out.into()).expect("there are as many numbers as elements")
}

/// Returns `to` with the elements at the linear indices `numbers` replaced by the elements of `from`, in order.
pub(crate) fn put(from: &Tensor, to: &Tensor, numbers: impl IntoIterator<Item = usize>) -> Tensor {
    let size = to.dtype().size();
    let mut out = to.bytes().to_vec();
    for (source, at) in from.bytes().chunks_exact(size).zip(numbers) {
        out[at * size..(at + 1) * size].copy_from_slice(source);
    }
    Tensor::new(to.dtype(), to.shape().to_vec(), out.into()).expect("the shape is as before")
}

/// Returns a tensor or vector with the elements at linear indices replaced by scalars, which may be poison.
pub(crate) fn put_scalars(scalars: &[Datum], to: &Datum, numbers: &[usize]) -> Result<Datum, Trap> {
    let Some((dest, mask)) = to.masked() else { return Ok(Datum::Poison) };
    let from = Datum::from_elements(dest.dtype(), &[scalars.len()], scalars)?;
    let Some((from, from_mask)) = from.masked() else { return Ok(Datum::Poison) };
    let tensor = put(from, dest, numbers.iter().copied());
    if mask.is_none() && from_mask.is_none() {
        return Ok(Datum::Tensor(tensor));
    }
    let mut mask = mask.map_or_else(|| vec![false; dest.len()], <[bool]>::to_vec);
    numbers.iter().enumerate().for_each(|(i, &at)| mask[at] = from_mask.is_some_and(|from| from[i]));
    Ok(PoisonTensor::datum(tensor, mask))
}

/// Returns the linear indices of a slice, row by row. An out-of-bounds slice is undefined behavior.
pub(crate) fn part(shape: &[usize], [offsets, sizes, strides]: &[Vec<i64>; 3]) -> Result<Vec<usize>, Trap> {
    let counts = extents(sizes)?;
    let mut numbers = vec![0; usize::from(!counts.contains(&0))];
    for (dim, &extent) in shape.iter().enumerate() {
        let (offset, stride, count) = (offsets[dim], strides[dim], counts[dim]);
        let last = (count as i64 - 1).checked_mul(stride).and_then(|n| n.checked_add(offset));
        let inside = |i: i64| usize::try_from(i).is_ok_and(|i| i < extent);
        if count > 0 && !(inside(offset) && last.is_some_and(inside)) {
            return Err(Trap::Ub(format!("a slice is out of bounds of dimension {dim} of size {extent}")));
        }
        let along = |i: usize| (offset + i as i64 * stride) as usize;
        numbers = numbers.iter().flat_map(|&n| (0..count).map(move |i| n * extent + along(i))).collect();
    }
    Ok(numbers)
}

/// Returns the element at a linear index of a dense constant, for any numeric element type.
pub(crate) fn constant_element(ctx: &Context, tensor: Attr, at: usize) -> Option<Attr> {
    match ctx.attr_data(tensor) {
        AttrData::Dense(dense) => dense_element(ctx, dense, at),
        AttrData::Sparse { ty, indices, values } => sparse_element(ctx, *ty, (*indices, *values), at),
        _ => None,
    }
}

fn dense_element(ctx: &Context, dense: &Dense, at: usize) -> Option<Attr> {
    let elem = ctx.element_type(dense.ty);
    let width = ctx.int_width(elem).or_else(|| ctx.float_kind(elem).map(FloatKind::width))?;
    let size = (width as usize).div_ceil(8);
    let start = if dense.splat { 0 } else { at.checked_mul(size)? };
    let data = dense.data();
    let bytes = data.get(start..start.checked_add(size)?)?;
    let mut wide = [0; 16];
    wide.get_mut(..size)?.copy_from_slice(bytes);
    let bits = u128::from_le_bytes(wide);
    if ctx.float_kind(elem).is_some() {
        return Some(ctx.attr(AttrData::Float { ty: elem, bits: [bits as u64, (bits >> 64) as u64] }));
    }
    (width <= 64).then(|| ctx.int_attr(elem, bits as i64))
}

/// Returns the value whose row of indices selects element `at` of a sparse constant; zero if there is none.
fn sparse_element(ctx: &Context, ty: Type, (indices, values): (Attr, Attr), at: usize) -> Option<Attr> {
    let (shape, rows) = (ctx.static_shape(ty)?, ctx.dense_tensor(indices)?.to_i64()?);
    let names = |row: &[i64]| row.iter().zip(shape).fold(0i64, |n, (&i, &d)| n.wrapping_mul(d).wrapping_add(i));
    let row = rows.chunks_exact(shape.len().max(1)).position(|row| names(row) == at as i64);
    match row {
        Some(row) => constant_element(ctx, values, row),
        None => zero(ctx, ctx.element_type(ty)),
    }
}

fn zero(ctx: &Context, ty: Type) -> Option<Attr> {
    match ctx.type_data(ty) {
        TypeData::Float(_) => Some(ctx.float_attr(ty, 0.0)),
        _ if ctx.int_width(ty).is_some() => Some(ctx.attr(AttrData::Integer { ty, value: Int::Small(0) })),
        _ => None,
    }
}

/// Returns the elements of `tensor` as a dense constant of type `ty`; a splat may have any number of elements.
pub(crate) fn retyped_constant(ctx: &Context, tensor: Attr, ty: Type, splat_only: bool) -> Option<Attr> {
    let AttrData::Dense(dense) = ctx.attr_data(tensor) else { return None };
    ctx.static_shape(ty)?;
    (dense.splat || !splat_only).then(|| ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, dense.splat, dense.data())))))
}

/// Returns the bytes of an element with the scalar `value`, for any numeric type.
fn scalar_bytes(ctx: &Context, value: Attr, out: &mut Vec<u8>) -> Option<()> {
    let (width, bits) = match ctx.attr_data(value) {
        AttrData::Float { ty, bits } => (ctx.float_kind(*ty)?.width(), u128::from(bits[0]) | u128::from(bits[1]) << 64),
        AttrData::Integer { ty: Type::I1, value: Int::Small(v) } => (1, u128::from(v & 1 != 0)),
        AttrData::Integer { ty, value: Int::Small(v) } => (ctx.int_width(*ty)?, i128::from(*v) as u128),
        _ => return None,
    };
    let unused = 128u32.checked_sub(width).filter(|&n| n < 128)?;
    let bits = bits << unused >> unused;
    out.extend_from_slice(&bits.to_le_bytes()[..(width as usize).div_ceil(8)]);
    Some(())
}

/// Returns a constant of type `ty` with the elements `scalars`.
pub(crate) fn constant_of(ctx: &Context, scalars: &[Attr], ty: Type) -> Option<Attr> {
    let mut data = Vec::new();
    scalars.iter().try_for_each(|&scalar| scalar_bytes(ctx, scalar, &mut data))?;
    let splat = !scalars.is_empty() && scalars.iter().all(|s| *s == scalars[0]);
    if splat {
        data.truncate(data.len() / scalars.len());
    }
    Some(ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, splat, data)))))
}

/// Returns a splat constant of type `ty`.
pub(crate) fn splat_constant(ctx: &Context, scalar: Attr, ty: Type) -> Option<Attr> {
    ctx.static_shape(ty)?;
    let mut data = Vec::new();
    scalar_bytes(ctx, scalar, &mut data)?;
    Some(ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, true, data)))))
}
