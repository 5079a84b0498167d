//! `bufferization`: tensors as memory, and memory as tensors.

use crate::constraint::{MEMREF, TENSOR, UNIT};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::{Access, AttrKind, AttrText, Context, Dialect, Effects, OpArgs, OpDecl, Type, TypeRelation, op};

/// A keyword that sets a unit attribute.
const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

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
/// %0 = bufferization.to_tensor %m : memref<4x8xf32> to tensor<4x8xf32>
/// ```
#[op(
    "bufferization.to_tensor",
    effects = Effects::Memory(&[(Access::Read, "buffer")]),
    relations = &[CONTENTS],
    format = "$buffer (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` type($buffer) `to` type($result)",
    exec = to_tensor
)]
pub struct ToTensorOp {
    /// Memref to read.
    buffer: Operand<MEMREF>,
    /// Whether no other op reads the memref as a tensor.
    restrict: OptAttribute<FLAG>,
    /// Whether the memref may be written when the tensor is updated.
    writable: OptAttribute<FLAG>,
    /// Elements.
    result: OpResult<TENSOR>,
}

/// Memory with the elements of a tensor. With `read_only`, a write to it is undefined behavior; without, it is a copy.
///
/// ```mlir
/// %0 = bufferization.to_buffer %t read_only : tensor<4x8xf32> to memref<4x8xf32>
/// ```
#[op(
    "bufferization.to_buffer",
    effects = Effects::Memory(&[(Access::Alloc, "buffer")]),
    relations = &[TypeRelation::Derived {
        to: "tensor",
        from: "buffer",
        of: contents_type,
        summary: "type of 'tensor' is the tensor equivalent of 'buffer'",
    }],
    format = "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($buffer)",
    exec = to_buffer,
    result_names = |_, _| vec![(0, "buffer".to_owned())]
)]
pub struct ToBufferOp {
    /// Elements.
    tensor: Operand<TENSOR>,
    /// Whether the memref is only read.
    read_only: OptAttribute<FLAG>,
    /// Memref.
    buffer: OpResult<MEMREF>,
}

/// The tensor type with the shape and elements of a memref type.
pub fn contents_type(ctx: &Context, memref: Type) -> Option<Type> {
    Some(ctx.tensor_type(ctx.shape(memref)?, ctx.element_type(memref)))
}

fn to_tensor(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let dtype = args.ctx().dtype(args.ctx().element_type(args.operand_type(0)));
    let dtype = dtype.ok_or_else(|| Trap::unsupported("a tensor of elements of this type"))?;
    Ok(vec![memory.load_tensor(data[0].memref()?, dtype)?])
}

fn to_buffer(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    let sizes: Vec<i64> = match &data[0] {
        Datum::Tensor(tensor) => tensor.shape().iter().map(|&d| d as i64).collect(),
        _ => args.ctx().static_shape(ty).ok_or_else(|| Trap::unsupported("memory of unknown size"))?.to_vec(),
    };
    let view = memory.alloc_memref(args.ctx(), ty, &sizes, &[], Storage::Stack)?;
    memory.store_tensor(&data[0], &view)?;
    if args.flag("read_only") {
        memory.freeze(view.buffer)?;
    }
    Ok(vec![Datum::MemRef(Box::new(view))])
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "bufferization",
    doc: "Tensors as memory, and memory as tensors.",
    ops: &[ToBufferOp::INFO, ToTensorOp::INFO],
    ..Dialect::DEFAULT
};
