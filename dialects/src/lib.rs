//! The dialects of Gradus. Each is one file or folder; an op's declaration holds its operands, attributes, text format,
//! verification, folding and semantics.
//!
//! The feature `graph`, on by default, enables the dialects of networks: `graph`, `addr`, `cluster`, `layout`, `nna`, `npu` and `sparse`.
//!
//! [`DIALECTS`] is the registry. To add a dialect, write its file and add two lines here: the module and the entry.

use gradus_ir::{Context, Dialect};
use std::sync::Arc;

pub mod a64;
pub mod a64_ext;
#[cfg(feature = "graph")]
pub mod addr;
pub mod affine;
pub mod arith;
pub mod builtin;
pub mod cf;
#[cfg(feature = "graph")]
pub mod cluster;
mod columns;
pub mod constraint;
pub mod directives;
pub mod func;
#[cfg(feature = "graph")]
pub mod graph;
#[cfg(feature = "graph")]
pub mod layout;
pub mod loops;
pub mod math;
pub mod memref;
#[cfg(feature = "graph")]
pub mod nna;
#[cfg(feature = "graph")]
pub mod npu;
pub mod op_cost;
pub mod patterns;
pub mod rewrite;
pub mod scf;
pub mod sched;
#[cfg(feature = "graph")]
pub mod sparse;
pub mod tensor;
pub mod ub;
pub mod vector;
pub mod views;
pub mod x64;

pub use columns::Columns;

/// All dialects, alphabetically. Listings use this order.
pub const DIALECTS: &[&Dialect] = &[
    &a64::DIALECT,
    &a64_ext::DIALECT,
    #[cfg(feature = "graph")]
    &addr::DIALECT,
    &affine::DIALECT,
    &arith::DIALECT,
    &builtin::DIALECT,
    &cf::DIALECT,
    #[cfg(feature = "graph")]
    &cluster::DIALECT,
    &func::DIALECT,
    #[cfg(feature = "graph")]
    &graph::DIALECT,
    #[cfg(feature = "graph")]
    &layout::DIALECT,
    &math::DIALECT,
    &memref::DIALECT,
    #[cfg(feature = "graph")]
    &nna::DIALECT,
    #[cfg(feature = "graph")]
    &npu::DIALECT,
    &rewrite::DIALECT,
    &scf::DIALECT,
    &sched::DIALECT,
    #[cfg(feature = "graph")]
    &sparse::DIALECT,
    &tensor::DIALECT,
    &ub::DIALECT,
    &vector::DIALECT,
    &x64::DIALECT,
];

/// Returns a context with all dialects registered.
pub fn context() -> Arc<Context> {
    Context::new(DIALECTS)
}
