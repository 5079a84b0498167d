//! `nna`: a 3x3 convolution engine for pixels of 32 channels, beside the vector pipeline of a processor.
//!
//! Source: the seed on products of matrices on a convolution engine. There are two levels: `nna.matmul` chooses the mapping of
//! a product to the engine; an `nna.program` has the instructions of one, and `nna.call` runs it.
//!
//! | file | contents |
//! |---|---|
//! | `choice.rs` | the plan of a product as an attribute |
//! | `matmul.rs` | products and the rules that choose a mapping |
//! | `instruction.rs` | the instructions as ops, from the table of `gradus-simulators` |
//! | `program.rs`, `call.rs` | programs and their calls |

mod call;
mod choice;
mod instruction;
mod matmul;
mod program;

pub use call::{CallOp, PlanFigures, Prepared};
pub use choice::ProductChoice;
pub use instruction::{inst_of, op_of};
pub use matmul::MatMulOp;
pub use program::{ProgramOp, code_of, define};

use gradus_ir::rules::RuleGroup;
use gradus_ir::{AttrDecl, Dialect, OpDecl, OpInfo};

const OPS: &[&OpInfo] = &{
    const OWN: [&OpInfo; 4] = [CallOp::INFO, MatMulOp::INFO, ProgramOp::INFO, instruction::PackedInstructionsOp::INFO];
    let mut all = [CallOp::INFO; OWN.len() + instruction::OPS.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OWN.len() { OWN[i] } else { instruction::OPS[i - OWN.len()] };
        i += 1;
    }
    all
};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "nna",
    doc: "A 3x3 convolution engine: mappings of products to it, programs of its instructions, and their calls.",
    ops: OPS,
    attrs: &[choice::PlanAttr::INFO],
    rule_groups: &[RuleGroup {
        name: "matmul-on-nna",
        doc: "matrix products on the 3x3 convolution engine",
        rules: matmul::RULES,
    }],
    rule_functions: matmul::FUNCTIONS,
    ..Dialect::DEFAULT
};
