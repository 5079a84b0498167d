//! The passes on the dialects of networks, one file each.

use gradus_ir::PassInfo;

mod by_patterns;
mod choose_layouts;
mod divide_images;
mod expand_composed_ops;
mod flatten_elementwise;
mod fold_packs;
mod fold_shuffles;
mod fuse_attention;
mod fuse_epilogues;
mod overlap_bands;
mod pack_panels;
mod plan_memory;
mod propagate_layouts;

/// The passes of this crate, alphabetically. The order affects listings only.
pub const PASSES: &[&PassInfo] = &[
    &choose_layouts::INFO,
    &divide_images::INFO,
    &expand_composed_ops::INFO,
    &flatten_elementwise::INFO,
    &fold_packs::INFO,
    &fold_shuffles::INFO,
    &fuse_attention::INFO,
    &fuse_epilogues::INFO,
    &overlap_bands::INFO,
    &pack_panels::INFO,
    &plan_memory::INFO,
    &propagate_layouts::INFO,
];
