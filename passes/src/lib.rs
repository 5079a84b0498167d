//! Passes within a level, one file each.
//!
//! The feature `graph`, on by default, enables the passes on dialects of networks.
//!
//! [`PASSES`] is the registry. To add a pass, write its file and add two lines here: the module and the entry.

use gradus_ir::PassInfo;

mod affine_loop_tile;
mod affine_loop_unroll;
mod apply_rules;
#[cfg(feature = "graph")]
mod by_patterns;
mod canonicalize;
#[cfg(feature = "graph")]
mod choose_layouts;
mod control_flow_sink;
mod cse;
mod dce;
#[cfg(feature = "graph")]
mod divide_images;
#[cfg(feature = "graph")]
mod fold_packs;
#[cfg(feature = "graph")]
mod fold_shuffles;
#[cfg(feature = "graph")]
mod fuse_attention;
#[cfg(feature = "graph")]
mod fuse_epilogues;
mod inline;
mod loop_invariant_code_motion;
mod mem2reg;
#[cfg(feature = "graph")]
mod overlap_bands;
#[cfg(feature = "graph")]
mod pack_panels;
mod plan_memory;
#[cfg(feature = "graph")]
mod propagate_layouts;
mod reconcile_unrealized_casts;
mod sccp;
mod scf_for_loop_unroll;
mod scf_parallel_loop_tiling;
mod strip_debuginfo;
mod symbol_dce;

/// All passes, alphabetically. The order affects listings only.
pub const PASSES: &[&PassInfo] = &[
    &affine_loop_tile::INFO,
    &affine_loop_unroll::INFO,
    &apply_rules::INFO,
    &canonicalize::INFO,
    #[cfg(feature = "graph")]
    &choose_layouts::INFO,
    &control_flow_sink::INFO,
    &cse::INFO,
    &dce::INFO,
    #[cfg(feature = "graph")]
    &divide_images::INFO,
    #[cfg(feature = "graph")]
    &fold_packs::INFO,
    #[cfg(feature = "graph")]
    &fold_shuffles::INFO,
    #[cfg(feature = "graph")]
    &fuse_attention::INFO,
    #[cfg(feature = "graph")]
    &fuse_epilogues::INFO,
    &inline::INFO,
    &loop_invariant_code_motion::INFO,
    &mem2reg::INFO,
    #[cfg(feature = "graph")]
    &overlap_bands::INFO,
    #[cfg(feature = "graph")]
    &pack_panels::INFO,
    &plan_memory::INFO,
    #[cfg(feature = "graph")]
    &propagate_layouts::INFO,
    &reconcile_unrealized_casts::INFO,
    &sccp::INFO,
    &scf_for_loop_unroll::INFO,
    &scf_parallel_loop_tiling::INFO,
    &strip_debuginfo::INFO,
    &symbol_dce::INFO,
];
