//! Rewriting: patterns and the greedy driver, declarative rules, simplification of regions, dialect conversion.

pub mod conversion;
pub mod greedy;
pub(crate) mod pattern_rewriter;
pub mod rewrite;
pub mod rules;
pub(crate) mod simplify_regions;
