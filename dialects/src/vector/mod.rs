//! `vector`: multi-dimensional vectors as values, an abstraction of machine registers.
//!
//! Vectors have static shapes, and are sliced, reshaped and transposed without memory. Since vectors cannot hold single
//! poison elements yet, one poison element makes the vector poison in execution. Scalable vectors are supported in IR
//! only, not in execution. Poison masks and out-of-bounds accesses are undefined behavior.

mod build;
mod contract;
mod contract_text;
mod contract_verify;
mod data;
mod element;
mod element_fold;
mod element_patterns;
mod elements;
mod elements_fold;
mod extract_patterns;
mod gather;
mod mask;
mod mask_fold;
mod mask_text;
mod mask_verify;
mod memory;
mod memory_exec;
mod memory_patterns;
mod memory_verify;
mod misc;
mod reduce;
mod reduce_patterns;
mod reshape;
mod reshape_patterns;
mod shuffle;
mod shuffle_patterns;
mod slice;
mod slice_patterns;
mod step_patterns;
mod transfer;
mod transfer_exec;
mod transfer_patterns;
mod transfer_text;
mod transfer_verify;
mod types;

pub use contract::{ContractionOp, FMAOp, OuterProductOp};
pub use element::{ExtractOp, InsertOp};
pub use elements::{FromElementsOp, StepOp, ToElementsOp};
pub use gather::{GatherOp, ScatterOp};
pub use mask::{ConstantMaskOp, CreateMaskOp, MaskOp, YieldOp};
pub use memory::{CompressStoreOp, ExpandLoadOp, LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp, TypeCastOp};
pub use misc::{PrintOp, ScalableExtractOp, ScalableInsertOp, VectorScaleOp};
pub use reduce::{MultiDimReductionOp, ReductionOp, ScanOp};
pub use reshape::{BitCastOp, BroadcastOp, ShapeCastOp, TransposeOp};
pub use shuffle::{DeinterleaveOp, InterleaveOp, ShuffleOp};
pub use slice::{ExtractStridedSliceOp, InsertStridedSliceOp};
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
