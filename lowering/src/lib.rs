//! Lowerings: the edges between dialects and formats.
//!
//! Each edge is one file, named `from_to`, with everything about that step: [`onnx_to_graph`] imports an ONNX model
//! into the `graph` dialect. Parts of a format, such as the messages of an ONNX file, are in a module named after the
//! format.
//!
//! The features `graph`, the lowering of networks, and `onnx`, the import of ONNX models, are on by default.
//!
//! [`PASSES`] is the registry of edges that are passes. To add one, write its file and add two lines here.

use gradus_ir::PassInfo;

mod affine_to_scf;
#[cfg(feature = "graph")]
mod emit;
#[cfg(feature = "graph")]
mod f32_to_bf16;
#[cfg(feature = "graph")]
mod f32_to_f16;
#[cfg(feature = "graph")]
mod form_steps;
#[cfg(feature = "graph")]
pub mod graph_to_addr;
#[cfg(feature = "graph")]
pub mod graph_to_cluster;
#[cfg(feature = "graph")]
pub mod graph_to_npu;
#[cfg(feature = "graph")]
pub mod matmul_to_nna;
#[cfg(feature = "onnx")]
pub mod onnx;
#[cfg(feature = "onnx")]
pub mod onnx_to_graph;
#[cfg(feature = "graph")]
mod operands;
#[cfg(feature = "graph")]
mod partition;
#[cfg(feature = "graph")]
mod qdq_to_integer;
mod scf_to_cf;
#[cfg(feature = "graph")]
mod sparse_product;
#[cfg(feature = "graph")]
pub mod sparse_to_a64;
#[cfg(feature = "graph")]
pub mod sparse_to_x64;

/// All lowering passes. The order affects listings only.
pub const PASSES: &[&PassInfo] = &[
    #[cfg(feature = "graph")]
    &f32_to_bf16::INFO,
    #[cfg(feature = "graph")]
    &f32_to_f16::INFO,
    #[cfg(feature = "graph")]
    &form_steps::INFO,
    #[cfg(feature = "graph")]
    &graph_to_addr::INFO,
    #[cfg(feature = "graph")]
    &graph_to_cluster::INFO,
    #[cfg(feature = "graph")]
    &graph_to_npu::INFO,
    #[cfg(feature = "graph")]
    &matmul_to_nna::INFO,
    #[cfg(feature = "graph")]
    &qdq_to_integer::INFO,
    #[cfg(feature = "graph")]
    &sparse_to_a64::INFO,
    #[cfg(feature = "graph")]
    &sparse_to_x64::INFO,
    &scf_to_cf::INFO,
    &affine_to_scf::INFO,
];
