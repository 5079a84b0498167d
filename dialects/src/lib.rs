//! Gradus's dialects: one file (or folder) each, with everything about an op at its declaration: operands, attributes,
//! text format, verification, folding, meaning.
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

/// All dialects, alphabetically. The order is that of listings; nothing else depends on it.
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

/// A context in which all dialects are registered.
pub fn context() -> Arc<Context> {
    Context::new(DIALECTS)
}
