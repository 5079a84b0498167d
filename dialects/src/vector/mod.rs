//! `vector`: multi-dimensional vectors as values, an abstraction of machine registers.
//!
//! Vectors have static shapes, and are sliced, reshaped and transposed without memory. Since vectors cannot hold single
//! poison elements yet, one poison element makes the vector poison in execution. Scalable vectors are supported in IR
//! only, not in execution. Poison masks and out-of-bounds accesses are undefined behavior.

mod access;
mod build;
mod contract;
mod create_mask;
mod data;
mod element;
mod elements;
mod gather;
mod mask;
mod masking;
mod memory;
mod memory_exec;
mod misc;
mod reduce;
mod reshape;
mod shuffle;
mod slice;
mod step;
mod transfer;
mod types;

pub use contract::{ContractionOp, FMAOp, OuterProductOp};
pub use create_mask::{ConstantMaskOp, CreateMaskOp};
pub use element::{ExtractOp, InsertOp};
pub use elements::{FromElementsOp, ToElementsOp};
pub use gather::{GatherOp, ScatterOp};
pub use mask::{MaskOp, YieldOp};
pub use memory::{CompressStoreOp, ExpandLoadOp, LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp, TypeCastOp};
pub use misc::{PrintOp, ScalableExtractOp, ScalableInsertOp, VectorScaleOp};
pub use reduce::{MultiDimReductionOp, ReductionOp, ScanOp};
pub use reshape::{BitCastOp, BroadcastOp, ShapeCastOp, TransposeOp};
pub use shuffle::{DeinterleaveOp, InterleaveOp, ShuffleOp};
pub use slice::{ExtractStridedSliceOp, InsertStridedSliceOp};
pub use step::StepOp;
pub use transfer::{TransferReadOp, TransferWriteOp};
pub use types::{ITERATOR_TYPE, KIND, PUNCTUATION};

use gradus_ir::{Dialect, OpDecl};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "vector",
    doc: "Vectors as values: parts, shapes, masks, reductions, and transfers from and to memory.",
    ops: &[
        BitCastOp::INFO,
        BroadcastOp::INFO,
        CompressStoreOp::INFO,
        ConstantMaskOp::INFO,
        ContractionOp::INFO,
        CreateMaskOp::INFO,
        DeinterleaveOp::INFO,
        ExpandLoadOp::INFO,
        ExtractOp::INFO,
        ExtractStridedSliceOp::INFO,
        FMAOp::INFO,
        FromElementsOp::INFO,
        GatherOp::INFO,
        InsertOp::INFO,
        InsertStridedSliceOp::INFO,
        InterleaveOp::INFO,
        LoadOp::INFO,
        MaskOp::INFO,
        MaskedLoadOp::INFO,
        MaskedStoreOp::INFO,
        MultiDimReductionOp::INFO,
        OuterProductOp::INFO,
        PrintOp::INFO,
        ReductionOp::INFO,
        ScalableExtractOp::INFO,
        ScalableInsertOp::INFO,
        ScanOp::INFO,
        ScatterOp::INFO,
        ShapeCastOp::INFO,
        ShuffleOp::INFO,
        StepOp::INFO,
        StoreOp::INFO,
        ToElementsOp::INFO,
        TransferReadOp::INFO,
        TransferWriteOp::INFO,
        TransposeOp::INFO,
        TypeCastOp::INFO,
        VectorScaleOp::INFO,
        YieldOp::INFO,
    ],
    enums: &[&KIND, &ITERATOR_TYPE, &PUNCTUATION],
    ..Dialect::DEFAULT
};
