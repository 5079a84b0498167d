//! Program families: typical programs of a domain as text, with random structure, geometry and constants.
//!
//! The declarations of single ops do not say how ops are combined: a slot that is stored in branches and loaded at a
//! join, a loop with a remainder, a convolution whose result is clamped. Each family draws such combinations; growth
//! then adds ops and disturbs them. A program need not be valid: it is dropped if the context lacks a dialect.

mod affine;
mod attention;
mod bands;
mod blocks;
mod calls;
mod exact;
mod floats;
mod indices;
mod integers;
mod layouts;
mod moves;
mod network;
mod networks;
mod parallel;
mod qdq;
mod ranges;
mod residuals;
mod rules;
mod scalable;
mod shuffles;
mod sparse;
mod statements;
mod sums;
mod tensors;
mod vectors;
mod views;
mod writer;

use gradus_ir::random::Random;

/// A family of programs.
pub struct Family {
    /// The name, for statistics.
    pub name: &'static str,
    /// Draws a program as text. Its functions are named `made0`, `made1`, ...
    pub draw: fn(&mut Random) -> String,
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family { name: "arithmetic", draw: statements::arithmetic },
    Family { name: "sums", draw: sums::draw },
    Family { name: "ranges", draw: ranges::draw },
    Family { name: "rules", draw: rules::draw },
    Family { name: "loops", draw: statements::loops },
    Family { name: "affine", draw: affine::draw },
    Family { name: "indices", draw: indices::draw },
    Family { name: "parallel", draw: parallel::draw },
    Family { name: "tensors", draw: tensors::draw },
    Family { name: "vectors", draw: vectors::draw },
    Family { name: "scalable", draw: scalable::draw },
    Family { name: "memory", draw: statements::memory },
    Family { name: "views", draw: views::draw },
    Family { name: "blocks", draw: blocks::draw },
    Family { name: "calls", draw: calls::draw },
    Family { name: "networks", draw: networks::images },
    Family { name: "products", draw: networks::products },
    Family { name: "quantized", draw: integers::convolution },
    Family { name: "integer-products", draw: integers::products },
    Family { name: "qdq", draw: qdq::draw },
    Family { name: "layouts", draw: layouts::draw },
    Family { name: "shuffles", draw: shuffles::draw },
    Family { name: "attention", draw: attention::draw },
    Family { name: "sparse", draw: sparse::draw },
    Family { name: "bands", draw: bands::draw },
    Family { name: "residuals", draw: residuals::draw },
    Family { name: "floats", draw: floats::draw },
    Family { name: "exact", draw: exact::draw },
];
