//! The dialects of Gradus. Each is one file or folder; an op's declaration holds its operands, attributes, text format,
//! verification, folding and semantics.
//!
//! [`DIALECTS`] is the registry. To add a dialect, write its file and add two lines here: the module and the entry.

use gradus_ir::{Context, Dialect};
use std::sync::Arc;

pub mod addr;
pub mod affine;
pub mod arith;
pub mod builtin;
pub mod cf;
pub mod constraint;
pub mod directives;
pub mod func;
pub mod graph;
pub mod layout;
pub mod loops;
pub mod math;
pub mod memref;
pub mod nna;
pub mod rewrite;
pub mod scf;
pub mod sparse;
pub mod tensor;
pub mod ub;
pub mod vector;
pub mod views;

/// All dialects, alphabetically. Listings use this order.
pub const DIALECTS: &[&Dialect] = &[
    &addr::DIALECT,
    &affine::DIALECT,
    &arith::DIALECT,
    &builtin::DIALECT,
    &cf::DIALECT,
    &func::DIALECT,
    &graph::DIALECT,
    &layout::DIALECT,
    &math::DIALECT,
    &memref::DIALECT,
    &nna::DIALECT,
    &rewrite::DIALECT,
    &scf::DIALECT,
    &sparse::DIALECT,
    &tensor::DIALECT,
    &ub::DIALECT,
    &vector::DIALECT,
];

/// Returns a context with all dialects registered.
pub fn context() -> Arc<Context> {
    Context::new(DIALECTS)
}
