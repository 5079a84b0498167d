//! Reductions of ops and operands.

use crate::reduction::{Reduction, Site};
use crate::substitute::{Prefer, Substitutes, erase};
use gradus_ir::{Def, Module, Op, Traits, symbol_name};

pub(crate) const COARSE: &[Reduction] =
    &[Reduction::new("drop ops", droppable, |m, sites| drop_ops(m, sites, Prefer::Existing))];

pub(crate) const FINE: &[Reduction] = &[
    Reduction::new("drop ops for arguments", used, |m, sites| drop_ops(m, sites, Prefer::Argument)),
    Reduction::new("return an earlier value", values, return_earlier).one_at_a_time(),
    Reduction::new("ops to zero", computed, |m, sites| drop_ops(m, sites, Prefer::Number(0))),
    Reduction::new("ops to one", computed, |m, sites| drop_ops(m, sites, Prefer::Number(1))),
];

pub(crate) const OPERANDS: &[Reduction] = &[Reduction::new("operands to arguments", operands, to_arguments)];

/// Returns the ops that may be erased, last first.
fn droppable(m: &Module) -> Vec<Site> {
    let stays = |op: Op| {
        op == m.root() || m.has_trait(op, Traits::TERMINATOR) || !m.successors(op).is_empty() || is_symbol(m, op)
    };
    m.ops_under(m.root()).into_iter().rev().filter(|&op| !stays(op)).map(Site::Op).collect()
}

fn is_symbol(m: &Module, op: Op) -> bool {
    symbol_name(m, op).is_some()
}

/// Returns erasable ops whose results are used.
fn used(m: &Module) -> Vec<Site> {
    let is_used = |site: &Site| matches!(*site, Site::Op(op) if m.results(op).any(|v| !m.is_unused(v)));
    droppable(m).into_iter().filter(is_used).collect()
}

/// Returns erasable ops other than constants.
fn computed(m: &Module) -> Vec<Site> {
    let is_computed = |site: &Site| matches!(*site, Site::Op(op) if !m.has_trait(op, Traits::CONSTANT_LIKE));
    used(m).into_iter().filter(is_computed).collect()
}

fn drop_ops(m: &mut Module, sites: &[Site], prefer: Prefer) {
    let ops: Vec<Op> = sites.iter().filter_map(|site| if let Site::Op(op) = *site { Some(op) } else { None }).collect();
    let mut substitutes = Substitutes::new(m, prefer);
    erase(m, &ops, &mut substitutes);
    substitutes.finish(m);
}

/// Returns the op results in blocks that return, those with the most following ops first; at most 16 per block, evenly spaced.
fn values(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for function in functions(m) {
        for block in m.region_blocks(m.regions(function)[0]) {
            if returns(m, block).is_none() {
                continue;
            }
            let ops: Vec<Op> = m.block_ops(block).filter(|&op| m.num_results(op) > 0).collect();
            let step = ops.len().div_ceil(16).max(1);
            found.extend(ops.into_iter().step_by(step).map(|op| Site::Part(op, 0)));
        }
    }
    found
}

/// Returns the functions with a body.
pub(crate) fn functions(m: &Module) -> Vec<Op> {
    let is_function =
        |op: &Op| m.has_trait(*op, Traits::FUNCTION) && m.regions(*op).first().is_some_and(|&r| m.entry(r).is_some());
    m.ops_under(m.root()).into_iter().filter(is_function).collect()
}

/// Returns the terminator of a block that returns values to the caller.
pub(crate) fn returns(m: &Module, block: gradus_ir::Block) -> Option<Op> {
    m.last_op(block).filter(|&op| m.has_trait(op, Traits::RETURN_LIKE) && m.successors(op).is_empty())
}

/// Makes a function return only this value, and erases the ops after it.
fn return_earlier(m: &mut Module, sites: &[Site]) {
    let &[Site::Part(op, i)] = sites else { return };
    let Some(block) = m.parent_block(op) else { return };
    let (Some(function), Some(end)) = (m.block_op(block), returns(m, block)) else { return };
    if i >= m.num_results(op) || m.parent_region(block).is_none_or(|r| !m.has_one_block(r)) {
        return;
    }
    let value = m.result(op, i);
    m.set_operands(end, &[value]);
    let Some(ty) = m.inherent_attr(function, "function_type").and_then(|a| m.ctx.as_type(a)) else { return };
    let Some((inputs, _)) = m.ctx.function_parts(ty) else { return };
    let new = m.ctx.type_attr(m.ctx.function_type(inputs, &[m.value_type(value)]));
    m.set_attr(function, "function_type", Some(new));
    m.set_attr(function, "res_attrs", None);
    let after: Vec<Op> =
        m.block_ops(block).rev().take_while(|&other| other != op).filter(|&other| other != end).collect();
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    erase(m, &after, &mut substitutes);
    substitutes.finish(m);
}

/// Returns the operands that are op results.
fn operands(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for op in m.ops_under(m.root()).into_iter().rev() {
        for (i, &value) in m.operands(op).iter().enumerate() {
            if let Def::Result(..) = m.def(value) {
                found.push(Site::Part(op, i));
            }
        }
    }
    found
}

/// Replaces operands by arguments or constants.
fn to_arguments(m: &mut Module, sites: &[Site]) {
    let mut substitutes = Substitutes::new(m, Prefer::Argument);
    for site in sites {
        let &Site::Part(op, i) = site else { continue };
        let Some(&value) = m.operands(op).get(i) else { continue };
        if m.parent_block(op).is_some()
            && let Some(new) = substitutes.other(m, value, op)
        {
            m.set_operand(op, i, new);
        }
    }
    substitutes.finish(m);
}
