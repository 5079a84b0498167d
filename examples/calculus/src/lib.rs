//! The `calculus` tool: Gradus with derivatives and integrals, which rules compute.
//!
//! A value that is computed from symbols is a function of them, and the ops of `arith` and `math` are those of functions. The
//! derivative of a function is another one; no number can be computed from a number for it, so that no interpreter runs it,
//! and rules are all that is known of it.

mod ops;
mod rules;

use gradus::prelude::*;

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "calculus",
    doc: "Functions of symbols, their derivatives and integrals.",
    ops: &[ops::SymbolOp::INFO, ops::DerivativeOp::INFO, ops::IntegralOp::INFO],
    rule_groups: &[
        RuleGroup { name: "derive", doc: "derivatives of functions", rules: rules::DERIVE },
        RuleGroup { name: "integrate", doc: "integrals of functions", rules: rules::INTEGRATE },
        RuleGroup { name: "simplify", doc: "sums and products of floats", rules: rules::SIMPLIFY },
    ],
    rule_functions: rules::FUNCTIONS,
    ..Dialect::DEFAULT
};

/// Returns the tool.
pub fn tool() -> Tool {
    Tool::new("calculus").with_dialects(&[&DIALECT])
}
