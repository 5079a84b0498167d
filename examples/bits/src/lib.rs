//! The `bits` tool: Gradus with a dialect and three passes of its own.

use gradus::prelude::*;

mod bits_cost;
mod bits_to_arith;
pub mod dialect;
mod raise_rotations;

/// Returns the tool.
pub fn tool() -> Tool {
    Tool::new("bits").with_dialects(&[&dialect::DIALECT]).with_passes(PASSES)
}

const PASSES: &[&PassInfo] = &[&bits_cost::INFO, &bits_to_arith::INFO, &raise_rotations::INFO];
