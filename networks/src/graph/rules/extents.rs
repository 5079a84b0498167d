//! Extents of tensors and lists of integers, as rules read and write them.

use gradus_ir::rules::Arg;
use gradus_ir::{Attr, DYNAMIC, Module, Tensor, Type};

/// Returns the extents of a type if all are static.
pub(super) fn dims(m: &Module, ty: Arg) -> Option<Vec<i64>> {
    m.ctx.static_shape(ty.ty()).map(<[i64]>::to_vec)
}

/// Returns extents as a constant. Fails for an extent of 0, which `graph.reshape` would interpret as a copy.
pub(super) fn shape(m: &Module, dims: &[i64]) -> Option<Attr> {
    dims.iter().all(|&d| d > 0).then(|| list(m, dims.to_vec()))
}

pub(super) fn ints(m: &Module, attrs: Arg, name: &str) -> Option<Vec<i64>> {
    m.ctx.dict_get(attrs.attr(), m.ctx.str(name)).and_then(|a| m.ctx.as_ints(a))
}

/// Returns extents as a constant, with -1 for a dynamic one, as `graph.reshape` takes them. Fails for an extent of 0, and
/// for several dynamic ones.
pub(super) fn inferred_shape(m: &Module, dims: &[i64]) -> Option<Attr> {
    let is_clear = dims.iter().all(|&d| d > 0 || d == DYNAMIC) && dims.iter().filter(|&&d| d == DYNAMIC).count() < 2;
    is_clear.then(|| list(m, dims.iter().map(|&d| if d == DYNAMIC { -1 } else { d }).collect()))
}

/// Returns a list of integers as a constant.
pub(super) fn list(m: &Module, numbers: Vec<i64>) -> Attr {
    let ty = m.ctx.tensor_type(&[numbers.len() as i64], Type::I64);
    m.ctx.dense_attr(ty, &Tensor::from_vec(&[numbers.len()], numbers))
}

/// Returns the elements of a constant of integers.
pub(super) fn positions(m: &Module, constant: Arg) -> Option<Vec<i64>> {
    m.ctx.dense_tensor(constant.attr())?.to_i64()
}
