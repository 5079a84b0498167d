//! Lowerings: the edges between dialects and formats.
//!
//! Each edge is one file, named `from_to`, with everything about that step: [`onnx_to_graph`] imports an ONNX model
//! into the `graph` dialect. Parts of a format, such as the messages of an ONNX file, are in a module named after the
//! format.
//!
//! The lowerings between MLIR's own dialects are in `gradus-passes`, so that tools without networks have them.
//!
//! [`PASSES`] is the registry of edges that are passes. To add one, write its file and add two lines here.

use gradus_ir::PassInfo;

mod canonicalize_qdq;
mod choose_layers;
mod choose_plans;
mod convert_layers_to_programs;
mod emit;
mod f32_to_bf16;
mod f32_to_f16;
mod form_layers;
mod form_steps;
pub mod graph_to_addr;
pub mod graph_to_cluster;
pub mod graph_to_npu;
pub mod layers;
pub mod matmul_to_nna;
pub mod onnx;
pub mod onnx_to_graph;
mod operands;
mod place_buffers;
mod qdq_to_integer;
mod quantize_intermediates;
mod roads;
mod schedule_layers;
mod sparse_product;
pub mod sparse_to_a64;
pub mod sparse_to_x64;

/// All lowering passes. The order affects listings only.
pub const PASSES: &[&PassInfo] = &[
    &canonicalize_qdq::INFO,
    &choose_layers::INFO,
    &choose_plans::INFO,
    &convert_layers_to_programs::INFO,
    &f32_to_bf16::INFO,
    &f32_to_f16::INFO,
    &form_layers::INFO,
    &form_steps::INFO,
    &graph_to_addr::INFO,
    &graph_to_cluster::INFO,
    &graph_to_npu::INFO,
    &matmul_to_nna::INFO,
    &place_buffers::INFO,
    &qdq_to_integer::INFO,
    &quantize_intermediates::INFO,
    &schedule_layers::INFO,
    &sparse_to_a64::INFO,
    &sparse_to_x64::INFO,
];
