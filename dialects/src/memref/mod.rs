//! `memref`: buffers, views of them, and access to their elements.
//!
//! A memref is a strided view of a buffer: an offset, and a size and a stride per dimension. Ops that create views have
//! no effects; a view that contradicts its type, or exceeds its source, is poison. Access out of bounds, to freed
//! memory, or at a poison index is undefined behavior. New memory is poison until written.

mod access;
mod alias;
mod alloc;
mod assumption;
mod atomic;
mod cast;
mod dim;
mod dma;
mod global;
mod metadata;
mod scope;
mod shape;
mod subview;
mod transpose;
pub mod types;
mod view;

pub use access::{CopyOp, LoadOp, PrefetchOp, StoreOp};
pub use alias::may_alias;
pub use alloc::{AllocOp, AllocaOp, DeallocOp, ReallocOp};
pub use assumption::{AssumeAlignmentOp, DistinctObjectsOp};
pub use atomic::{ATOMIC_KIND, AtomicRMWOp, AtomicYieldOp, GenericAtomicRMWOp, combining_op};
pub use cast::{CastOp, MemorySpaceCastOp, castable, fold_casts};
pub use dim::{DimOp, RankOp};
pub use dma::{CopyEndpoint, DmaStartOp, DmaWaitOp, transfer};
pub use global::{GetGlobalOp, GlobalOp};
pub use metadata::{ExtractAlignedPointerAsIndexOp, ExtractStridedMetadataOp, ReinterpretCastOp};
pub use scope::{AllocaScopeOp, AllocaScopeReturnOp};
pub use shape::{CollapseShapeOp, ExpandShapeOp};
pub use subview::{SubViewOp, subview_type};
pub use transpose::TransposeOp;
pub use view::{ReshapeOp, ViewOp};

use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Dialect, Module, OpDecl, Value};

/// Returns the rank of a ranked memref.
fn rank(m: &Module, memref: Value) -> usize {
    m.ctx.shape(m.value_type(memref)).map_or(0, <[i64]>::len)
}

/// Converts to an index. Poison is undefined behavior.
fn index(datum: &Datum) -> Result<i64, Trap> {
    match datum {
        Datum::Poison => Err(Trap::Ub("a memory access or allocation has a poison index".into())),
        known => known.int(),
    }
}

/// Converts to indices. Poison is undefined behavior.
pub(crate) fn indices(data: &[Datum]) -> Result<Vec<i64>, Trap> {
    data.iter().map(index).collect()
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "memref",
    doc: "Buffers, views of them, and access to their elements.",
    ops: &[
        AllocOp::INFO,
        AllocaOp::INFO,
        AllocaScopeOp::INFO,
        AllocaScopeReturnOp::INFO,
        AssumeAlignmentOp::INFO,
        AtomicRMWOp::INFO,
        AtomicYieldOp::INFO,
        CastOp::INFO,
        CollapseShapeOp::INFO,
        CopyOp::INFO,
        DeallocOp::INFO,
        DimOp::INFO,
        DistinctObjectsOp::INFO,
        DmaStartOp::INFO,
        DmaWaitOp::INFO,
        ExpandShapeOp::INFO,
        ExtractAlignedPointerAsIndexOp::INFO,
        ExtractStridedMetadataOp::INFO,
        GenericAtomicRMWOp::INFO,
        GetGlobalOp::INFO,
        GlobalOp::INFO,
        LoadOp::INFO,
        MemorySpaceCastOp::INFO,
        PrefetchOp::INFO,
        RankOp::INFO,
        ReallocOp::INFO,
        ReinterpretCastOp::INFO,
        ReshapeOp::INFO,
        StoreOp::INFO,
        SubViewOp::INFO,
        TransposeOp::INFO,
        ViewOp::INFO,
    ],
    constant: None,
    ..Dialect::DEFAULT
};
