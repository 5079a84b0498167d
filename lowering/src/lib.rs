//! Gradus's lowerings: the edges between the languages that it knows.
//!
//! Each edge is one file, named `from_to`, and holds everything about that step: [`onnx_to_graph`] reads an ONNX model
//! as a program of the `graph` dialect. What belongs to a format rather than to an edge, such as the messages of an
//! ONNX file, is in a module named after the format.
//!
//! ONNX models are read with the feature `onnx`, which is on by default.
//!
//! [`PASSES`] is the registry of the edges that are passes: to add one, write its file and add two lines here.

use gradus_ir::PassInfo;

mod affine_to_scf;
mod graph_to_addr;
#[cfg(feature = "onnx")]
pub mod onnx;
#[cfg(feature = "onnx")]
pub mod onnx_to_graph;
mod scf_to_cf;
pub mod targets;

/// All passes that lower, alphabetically. The order is that of listings; nothing else depends on it.
pub const PASSES: &[&PassInfo] = &[&graph_to_addr::INFO, &scf_to_cf::INFO, &affine_to_scf::INFO];
