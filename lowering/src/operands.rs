//! Operands as lowerings require them: constants, extents and quantizations, or the reason why they are not.

use gradus_ir::{DType, Module, Refusal, Tensor, Value};

/// Returns the elements of a constant.
pub(crate) fn constant(m: &Module, value: Value) -> Result<Tensor, Refusal> {
    let tensor = m.constant(value).and_then(|attr| m.ctx.dense_tensor(attr));
    tensor.ok_or(Refusal::of(value, "a parameter that is not constant"))
}

/// Returns the elements of a constant of integers.
pub(crate) fn integers(m: &Module, value: Value) -> Result<Vec<i64>, Refusal> {
    constant(m, value)?.to_i64().ok_or(Refusal::of(value, "a parameter that is not integer"))
}

/// Returns the elements of a constant of f32.
pub(crate) fn scales(m: &Module, value: Value) -> Result<Vec<f32>, Refusal> {
    let tensor = constant(m, value)?;
    let is_f32 = tensor.dtype() == DType::F32;
    is_f32.then(|| tensor.as_slice::<f32>().into_owned()).ok_or(Refusal::of(value, "a scale of another type than f32"))
}

/// Returns the only element of a constant of f32.
pub(crate) fn scale(m: &Module, value: Value) -> Result<f32, Refusal> {
    match scales(m, value)?[..] {
        [scale] => Ok(scale),
        ref all => Err(Refusal::of(value, "{} scales instead of one").with([all.len()])),
    }
}

/// Returns the only element of a constant of integers.
pub(crate) fn zero_point(m: &Module, value: Value) -> Result<i64, Refusal> {
    match integers(m, value)?[..] {
        [zero] => Ok(zero),
        ref all => Err(Refusal::of(value, "{} zero points instead of one").with([all.len()])),
    }
}

/// Returns the zero point of weights, which is the same for all kernels.
pub(crate) fn common_zero_point(m: &Module, value: Value) -> Result<i64, Refusal> {
    let zeros = integers(m, value)?;
    let zero = zeros.first().copied().filter(|zero| zeros.iter().all(|other| other == zero));
    zero.ok_or(Refusal::of(value, "zero points of the weights that differ between kernels"))
}

/// Returns the extents of a tensor, none of which is 0.
pub(crate) fn extents(m: &Module, value: Value) -> Result<Vec<usize>, Refusal> {
    let extents = m.ctx.static_shape(m.value_type(value)).ok_or(Refusal::of(value, "an unknown extent"))?;
    let extents = extents.iter().map(|&d| usize::try_from(d).ok().filter(|&d| d > 0)).collect::<Option<_>>();
    extents.ok_or(Refusal::of(value, "an extent of 0"))
}
