//! Rules about networks, in groups that are asked for by name.
//!
//! | group | file | what it is for |
//! |---|---|---|
//! | `graph-algebra` | `algebra.rs` | transposes, reshapes and constants change places; what follows each other becomes one |
//! | `graph-fuse` | `algebra.rs` | normalization and sums go into convolutions |
//! | `graph-merge` | `merge.rs` | products and convolutions that share an input become one |
//! | `mul-as-conv` | `choices.rs` | products of elements as depthwise convolutions |
//! | `matmul-as-conv` | `choices.rs` | products of matrices as 1x1 convolutions, and back |
//! | `conv-as-3x3` | `choices.rs` | 1x1 convolutions as 3x3 ones, which can become one with others |

mod algebra;
mod choices;
mod merge;
mod natives;
mod parts;

pub(super) use natives::NATIVES;

use gradus_ir::rules::RuleGroup;

pub(super) const GROUPS: &[RuleGroup] = &[
    RuleGroup {
        name: "graph-algebra",
        doc: "transposes, reshapes and constants change places",
        rules: algebra::ALGEBRA,
    },
    RuleGroup { name: "graph-fuse", doc: "normalization and sums go into convolutions", rules: algebra::FUSE },
    RuleGroup {
        name: "graph-merge",
        doc: "products and convolutions that share an input become one",
        rules: merge::MERGE,
    },
    RuleGroup { name: "mul-as-conv", doc: "products of elements as depthwise convolutions", rules: choices::MUL },
    RuleGroup {
        name: "matmul-as-conv",
        doc: "products of matrices as 1x1 convolutions, and back",
        rules: choices::MATMUL,
    },
    RuleGroup { name: "conv-as-3x3", doc: "convolutions of one position as such of 3x3", rules: choices::ENLARGE },
];
