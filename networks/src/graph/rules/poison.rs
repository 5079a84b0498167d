//! Values without poison elements. A poison element makes one element of an elementwise op's result poison, but all of a product's or
//! convolution's: rules that compute elements together that were computed apart hold for these values.

use crate::graph::ConstantOp;
use gradus_ir::entity::SideTable;
use gradus_ir::rules::Arg;
use gradus_ir::symbols::is_public;
use gradus_ir::{Module, Op, OpDecl, Traits, Value};

/// Whether a value is computed from constants and arguments of public functions by ops of this dialect, which make poison of poison
/// only. Linear in the number of these ops.
pub(super) fn is_unpoisoned(m: &Module, x: &[Arg]) -> bool {
    let (mut seen, mut pending) = (SideTable::new(false), vec![x[0].value()]);
    while let Some(value) = pending.pop() {
        let Some(op) = m.defining_op(value) else {
            if !is_from_outside(m, value) {
                return false;
            }
            continue;
        };
        if let Some(constant) = m.constant(value) {
            if constant == m.ctx.poison_attr() {
                return false;
            }
            continue;
        }
        if !is_of_this_dialect(m, op) {
            return false;
        }
        if !std::mem::replace(&mut seen[op], true) {
            pending.extend(m.operands(op));
        }
    }
    true
}

/// Whether a value is an argument of a public function: tensors from outside have no poison elements.
fn is_from_outside(m: &Module, value: Value) -> bool {
    let Some((block, function)) = m.def_block(value).and_then(|block| Some((block, m.block_op(block)?))) else {
        return false;
    };
    let is_entry = m.parent_region(block).and_then(|region| m.entry(region)) == Some(block);
    is_entry && m.has_trait(function, Traits::FUNCTION) && is_public(m, function)
}

fn is_of_this_dialect(m: &Module, op: Op) -> bool {
    m.regions(op).is_empty() && m.shares_dialect(op, ConstantOp::INFO)
}
