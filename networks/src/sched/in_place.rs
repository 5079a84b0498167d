//! Steps that write where they read.

use super::{BufferView, StepOp};
use crate::graph::ClipOp;
use gradus_ir::{Module, Op, OpDecl, Traits};

/// Whether each element of an op's only result depends on one element of each operand that is no constant, by the op's declaration.
pub fn is_elementwise(m: &Module, op: Op) -> bool {
    let is_clip = || ClipOp::cast(m, op).is_some_and(|clip| clip.constant_bounds(m).is_some());
    (m.has_trait(op, Traits::ELEMENTWISE) || m.has_trait(op, Traits::BROADCASTING) || is_clip())
        && m.num_results(op) == 1
}

/// Whether an op may write one view to the bytes of another that it reads: an element has the same place in both, and is
/// read before it is written. All ops of such a step are elementwise and compute tensors of this shape, so that an element
/// of a result depends on no other element of the input.
pub fn may_be_in_place(m: &Module, op: Op, read: &BufferView, write: &BufferView) -> bool {
    let is_equal = read.sizes == write.sizes && read.layout.strides == write.layout.strides;
    let Some(body) = StepOp::cast(m, op).and_then(|step| m.entry(step.body(m))) else { return false };
    let has_shape = |op: Op| {
        let shape = m.ctx.static_shape(m.value_type(m.result(op, 0)));
        shape.is_some_and(|shape| shape.iter().map(|&d| d as u64).eq(read.sizes.iter().copied()))
    };
    let mut ops = m.block_ops(body);
    ops.next_back();
    is_equal && read.element == write.element && ops.all(|op| is_elementwise(m, op) && has_shape(op))
}
