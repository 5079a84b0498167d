//! The dialects of machines: instructions of processors (`x64`, `a64`) and of the simulated machines (`npu`, `nna`, `cluster`), with their
//! verifiers and semantics. Each is one file or folder.
//!
//! [`DIALECTS`] is the registry. To add a dialect, write its file and add two lines here: the module and the entry.

use gradus_ir::{Context, Dialect};
use std::sync::Arc;

pub mod a64;
pub mod a64_ext;
pub mod cluster;
pub mod code;
mod filling;
pub mod nna;
pub mod npu;
mod parameters;
pub mod patterns;
pub mod x64;

/// The dialects of this crate, alphabetically.
pub const DIALECTS: &[&Dialect] =
    &[&a64::DIALECT, &a64_ext::DIALECT, &cluster::DIALECT, &nna::DIALECT, &npu::DIALECT, &x64::DIALECT];

/// Returns a context with these dialects, those of networks and MLIR's.
pub fn context() -> Arc<Context> {
    Context::new(&[gradus_dialects::DIALECTS, gradus_networks::DIALECTS, DIALECTS].concat())
}
