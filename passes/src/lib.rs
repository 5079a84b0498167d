//! Passes on MLIR's dialects and on any IR, and the lowerings between MLIR's dialects, one file or folder each.
//!
//! [`PASSES`] is the registry. To add a pass, write its file and add two lines here: the module and the entry.

use gradus_ir::PassInfo;

mod affine_loop_tile;
mod affine_loop_unroll;
mod affine_to_scf;
mod apply_rules;
mod canonicalize;
mod control_flow_sink;
mod cse;
mod dce;
mod inline;
mod loop_invariant_code_motion;
mod mem2reg;
mod outline_tensor_code;
mod reconcile_unrealized_casts;
pub mod refine_shapes;
mod sccp;
mod scf_for_loop_unroll;
mod scf_parallel_loop_tiling;
mod scf_to_cf;
mod specialize_shapes;
mod strip_debuginfo;
mod symbol_dce;

/// All passes, alphabetically. The order affects listings only.
pub const PASSES: &[&PassInfo] = &[
    &affine_loop_tile::INFO,
    &affine_loop_unroll::INFO,
    &affine_to_scf::INFO,
    &apply_rules::INFO,
    &canonicalize::INFO,
    &control_flow_sink::INFO,
    &cse::INFO,
    &dce::INFO,
    &inline::INFO,
    &loop_invariant_code_motion::INFO,
    &mem2reg::INFO,
    &outline_tensor_code::INFO,
    &reconcile_unrealized_casts::INFO,
    &refine_shapes::INFO,
    &sccp::INFO,
    &scf_for_loop_unroll::INFO,
    &scf_parallel_loop_tiling::INFO,
    &scf_to_cf::INFO,
    &specialize_shapes::INFO,
    &strip_debuginfo::INFO,
    &symbol_dce::INFO,
];
