//! The dialects of Gradus that are MLIR's, and `rewrite`. Each is one file or folder; an op's declaration holds its operands, attributes, text
//! format, verification, folding and semantics. Those of networks and machines are crates of their own.
//!
//! [`DIALECTS`] is the registry. To add a dialect, write its file and add two lines here: the module and the entry.

use gradus_ir::{Context, Dialect};
use std::sync::Arc;

pub mod affine;
pub mod arith;
pub mod builtin;
pub mod cf;
pub mod constraint;
pub mod directives;
pub mod func;
pub mod loops;
pub mod math;
pub mod memref;
pub mod op_cost;
pub mod rewrite;
pub mod scf;
pub mod tensor;
pub mod ub;
pub mod vector;
pub mod views;

/// The dialects of this crate, alphabetically.
pub const DIALECTS: &[&Dialect] = &[
    &affine::DIALECT,
    &arith::DIALECT,
    &builtin::DIALECT,
    &cf::DIALECT,
    &func::DIALECT,
    &math::DIALECT,
    &memref::DIALECT,
    &rewrite::DIALECT,
    &scf::DIALECT,
    &tensor::DIALECT,
    &ub::DIALECT,
    &vector::DIALECT,
];

/// Returns a context with these dialects.
pub fn context() -> Arc<Context> {
    Context::new(DIALECTS)
}
