//! Rewrite rules for neural networks: those of canonicalization (`canonical.rs`), and others in named groups.
//!
//! | group | file | purpose |
//! |---|---|---|
//! | `graph-algebra` | `algebra.rs` | commuting transposes, reshapes and constants with other ops; composition |
//! | `graph-fuse` | `algebra.rs` | folding normalizations, scales and sums into convolutions, and formulas into the functions that they are |
//! | `graph-merge` | `merge.rs` | merging products and convolutions with a common input |
//! | `mul-as-conv` | `choices.rs`, `broadcast.rs`, `rounding.rs` | elementwise products as depthwise convolutions |
//! | `matmul-as-conv` | `choices.rs` | matrix products as 1x1 convolutions, and back |
//! | `conv-as-3x3` | `choices.rs` | 1x1 convolutions as 3x3 convolutions, which can merge with others |

mod algebra;
mod broadcast;
mod canonical;
mod choices;
mod extents;
mod functions;
mod merge;
mod pads;
mod poison;
mod rounding;
mod slice_bounds;

pub(super) use canonical::CANONICAL;
pub(super) use functions::FUNCTIONS;

use gradus_ir::rules::RuleGroup;

pub(super) const GROUPS: &[RuleGroup] = &[
    RuleGroup {
        name: "graph-algebra",
        doc: "commutes transposes, reshapes and constants with other ops",
        rules: algebra::ALGEBRA,
    },
    RuleGroup {
        name: "graph-fuse",
        doc: "folds normalizations, scales and sums into convolutions, and formulas into the functions that they are",
        rules: algebra::FUSE,
    },
    RuleGroup { name: "graph-merge", doc: "merges products and convolutions with a common input", rules: merge::MERGE },
    RuleGroup { name: "mul-as-conv", doc: "elementwise products as depthwise convolutions", rules: choices::MUL },
    RuleGroup { name: "matmul-as-conv", doc: "matrix products as 1x1 convolutions, and back", rules: choices::MATMUL },
    RuleGroup { name: "conv-as-3x3", doc: "1x1 convolutions as 3x3 convolutions", rules: choices::ENLARGE },
];
