//! The dialects of networks, each one file or folder, and the passes on them.
//!
//! Networks are read into `graph`, ops of ONNX. Passes choose layouts, whose ops are of `layout`; lowering makes products by address
//! tables (`addr`), sparse products (`sparse`) and steps with memory (`sched`).
//!
//! [`DIALECTS`] and [`PASSES`] are the registries. To add a dialect or a pass, write its file and add two lines: the module and the entry.

use gradus_ir::{Context, Dialect};
use std::sync::Arc;

pub mod addr;
pub mod columns;
pub mod graph;
pub mod layer;
pub mod layout;
mod passes;
pub mod sched;
pub mod sparse;

pub use columns::Columns;
pub use passes::PASSES;

/// The dialects of this crate, alphabetically.
pub const DIALECTS: &[&Dialect] =
    &[&addr::DIALECT, &graph::DIALECT, &layer::DIALECT, &layout::DIALECT, &sched::DIALECT, &sparse::DIALECT];

/// Returns a context with these dialects and MLIR's.
pub fn context() -> Arc<Context> {
    Context::new(&[gradus_dialects::DIALECTS, DIALECTS].concat())
}
