//! `tensor`: tensors as values: creation, elements, slices, reshapes and casts.
//!
//! Static extents are guarantees: a cast that does not match, and an out-of-bounds slice or index, are undefined
//! behavior. Uninitialized elements are poison; since tensors cannot hold single poison elements yet, such a tensor is
//! poison as a whole.

mod cast;
mod concat;
mod create;
pub(crate) mod data;
mod element;
mod gather;
mod generate;
mod insert_slice;
mod pad;
mod reassociate;
mod shape;
mod slice;
mod types;

pub use cast::{BitcastOp, CastOp, before_cast};
pub use concat::ConcatOp;
pub use create::{EmptyOp, FromElementsOp, SplatOp};
pub use element::{ExtractOp, InsertOp};
pub use gather::{GatherOp, ScatterOp};
pub use generate::{GenerateOp, YieldOp};
pub use insert_slice::{InsertSliceOp, ParallelInsertSliceOp};
pub use pad::PadOp;
pub use reassociate::{CollapseShapeOp, ExpandShapeOp};
pub use shape::{DimOp, RankOp, ReshapeOp};
pub use slice::ExtractSliceOp;
pub use types::{general, join, keeps_extents, with_shape};

use gradus_ir::{Dialect, Module, OpDecl, Value};

/// Returns the name of an op's result.
fn names(name: &str) -> Vec<(usize, String)> {
    vec![(0, name.to_owned())]
}

/// Returns the destination operand of the op that defines `value`, which has the same shape.
fn destination(m: &Module, value: Value) -> Option<Value> {
    let insert = InsertOp::defining(m, value).map(|op| op.dest(m));
    let slice = || InsertSliceOp::defining(m, value).map(|op| op.dest(m));
    insert.or_else(slice).or_else(|| ScatterOp::defining(m, value).map(|op| op.dest(m)))
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "tensor",
    doc: "Tensors as values: elements, slices, reshapes, casts.",
    ops: &[
        CastOp::INFO,
        BitcastOp::INFO,
        DimOp::INFO,
        RankOp::INFO,
        ReshapeOp::INFO,
        EmptyOp::INFO,
        SplatOp::INFO,
        FromElementsOp::INFO,
        GenerateOp::INFO,
        YieldOp::INFO,
        ExtractOp::INFO,
        InsertOp::INFO,
        ExtractSliceOp::INFO,
        InsertSliceOp::INFO,
        ParallelInsertSliceOp::INFO,
        CollapseShapeOp::INFO,
        ExpandShapeOp::INFO,
        ConcatOp::INFO,
        PadOp::INFO,
        GatherOp::INFO,
        ScatterOp::INFO,
    ],
    constant: None,
    ..Dialect::DEFAULT
};
