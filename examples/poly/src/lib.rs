//! The `poly` tool: rings of polynomials as in lattice cryptography, with types, constants and values of its own.

mod element;
mod lowering;
mod ops;
mod residue;
mod ring;

pub use element::Element;
pub use ops::*;
pub use residue::Residue;
pub use ring::{AS_COEFFICIENTS, Poly, Ring};

use gradus::prelude::*;

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "poly",
    doc: "Rings of polynomials.",
    ops: &[ConstantOp::INFO, AddOp::INFO, SubOp::INFO, MulOp::INFO, EvalOp::INFO],
    types: &[Ring::INFO, Residue::INFO],
    attrs: &[Element::INFO],
    constant: Some("poly.constant"),
    rules: ops::RULES,
    representations: &[&AS_COEFFICIENTS],
    ..Dialect::DEFAULT
};

/// Returns the tool.
pub fn tool() -> Tool {
    Tool::new("poly").with_dialects(&[&DIALECT]).with_passes(&[&lowering::INFO])
}
