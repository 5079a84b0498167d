//! Extents of tensors and lists of integers, as rules read and write them.

use gradus_ir::rules::Arg;
use gradus_ir::{Attr, Module, Tensor, Type};

/// Returns the extents of a type if all are static.
pub(super) fn dims(m: &Module, ty: Arg) -> Option<Vec<i64>> {
    m.ctx.static_shape(ty.ty()).map(<[i64]>::to_vec)
}

/// Returns extents as a constant. Fails for an extent of 0, which `graph.reshape` would interpret as a copy.
pub(super) fn shape(m: &Module, dims: &[i64]) -> Option<Attr> {
    let ty = m.ctx.tensor_type(&[dims.len() as i64], Type::I64);
    let known = dims.iter().all(|&d| d > 0);
    known.then(|| m.ctx.dense_attr(ty, &Tensor::from_vec(&[dims.len()], dims.to_vec())))
}

pub(super) fn ints(m: &Module, attrs: Arg, name: &str) -> Option<Vec<i64>> {
    m.ctx.dict_get(attrs.attr(), m.ctx.str(name)).and_then(|a| m.ctx.as_ints(a))
}
