//! The border between tensors and memory.

use gradus_dialects::constraint::{MEMREF, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::{Access, Context, Effects, OpArgs, Type, TypeRelation, op};

/// The tensor with the elements of a memref.
const CONTENTS: TypeRelation = TypeRelation::Derived {
    to: "result",
    from: "buffer",
    of: contents_type,
    summary: "result type matches tensor equivalent of 'buffer'",
};

/// The elements of a memref, as a tensor.
///
/// ```mlir
/// %0 = sched.to_tensor %m : memref<4x8xf32> to tensor<4x8xf32>
/// ```
#[op(
    "sched.to_tensor",
    effects = Effects::Memory(&[(Access::Read, "buffer")]),
    relations = &[CONTENTS],
    format = "$buffer attr-dict `:` type($buffer) `to` type($result)",
    exec = to_tensor
)]
pub struct ToTensorOp {
    /// Memref to read.
    buffer: Operand<MEMREF>,
    /// Elements.
    result: OpResult<TENSOR>,
}

/// Memory with the elements of a tensor. A write to it is undefined behavior.
///
/// ```mlir
/// %0 = sched.to_buffer %t : tensor<4x8xf32> to memref<4x8xf32>
/// ```
#[op(
    "sched.to_buffer",
    effects = Effects::Memory(&[(Access::Alloc, "buffer")]),
    relations = &[TypeRelation::Derived {
        to: "tensor",
        from: "buffer",
        of: contents_type,
        summary: "type of 'tensor' is the tensor equivalent of 'buffer'",
    }],
    format = "$tensor attr-dict `:` type($tensor) `to` type($buffer)",
    exec = to_buffer,
    result_names = |_, _| vec![(0, "buffer".to_owned())]
)]
pub struct ToBufferOp {
    /// Elements.
    tensor: Operand<TENSOR>,
    /// Memref with the elements of the tensor.
    buffer: OpResult<MEMREF>,
}

/// Returns the tensor type with the shape and elements of a memref type; `None` if these are no elements of tensors.
pub fn contents_type(ctx: &Context, memref: Type) -> Option<Type> {
    let element = Some(ctx.element_type(memref)).filter(|&element| ctx.is_tensor_element(element))?;
    Some(ctx.tensor_type(ctx.shape(memref)?, element))
}

fn to_tensor(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let dtype = args.ctx().dtype(args.ctx().element_type(args.operand_type(0)));
    let dtype = dtype.ok_or_else(|| Trap::unsupported("a tensor of elements of this type"))?;
    Ok(vec![memory.load_tensor(data[0].memref()?, dtype)?])
}

fn to_buffer(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let sizes: Vec<i64> = match data[0].shape() {
        Some(shape) => shape.iter().map(|&d| d as i64).collect(),
        None => args.ctx().static_shape(ty).ok_or_else(|| Trap::unsupported("memory of unknown size"))?.to_vec(),
    };
    let view = memory.alloc_memref(args.ctx(), ty, &sizes, &[], Storage::Stack)?;
    memory.store_tensor(&data[0], &view)?;
    memory.freeze(view.buffer)?;
    Ok(vec![Datum::MemRef(Box::new(view))])
}
