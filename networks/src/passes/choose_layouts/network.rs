//! The ops of a block as a network, whose minimum cut is the cheapest assignment of layouts.
//!
//! Nodes on the side of the source compute with channels first, those on the side of the sink with channels last. Edges cost
//! what the op on the other side costs, or the layout change of a value.

use super::super::propagate_layouts::is_free;
use super::cut::{FlowNetwork, NO_CUT, SINK, SOURCE};
use super::forms::{LayoutForms, TargetPrices};
use crate::sparse;
use gradus_dialects::op_cost::OpCost;
use gradus_ir::{Block, Module, Op, Value};
use indexmap::IndexMap;

/// The assignment of layouts to the ops of a block.
pub(super) struct Assignment {
    /// The ops with a choice, whether each has channels first, and its forms.
    pub ops: Vec<(Op, bool, LayoutForms)>,
    /// The values that are computed with channels first and read with channels last by ops that have no layout of their own, with
    /// all readers that have channels last.
    pub changes: Vec<(Value, Vec<Op>)>,
}

/// An op that takes part: its node, and its forms if it has a choice by itself.
struct LayoutNode {
    node: usize,
    form: Option<LayoutForms>,
}

/// Assigns layouts to the ops of a block at least total cost. `None` if no op has a choice.
pub(super) fn assign(m: &mut Module, block: Block, costs: &TargetPrices) -> Option<Assignment> {
    let ops: Vec<Op> = m.block_ops(block).collect();
    let mut network = FlowNetwork::new();
    let mut nodes: IndexMap<Op, LayoutNode> = IndexMap::new();
    let has_sparse = ops.iter().any(|&op| sparse::suits_conv(m, op));
    for op in ops {
        if let Some(form) = LayoutForms::of(m, op, costs, has_sparse) {
            let node = network.add_node();
            network.connect([SOURCE, node], [form.last, 0]);
            network.connect([node, SINK], [form.first, 0]);
            nodes.insert(op, LayoutNode { node, form: Some(form) });
        } else if is_free(m, op) {
            nodes.insert(op, LayoutNode { node: network.add_node(), form: None });
        } else if LayoutForms::is_last(m, op) {
            nodes.insert(op, LayoutNode { node: SINK, form: None });
        }
    }
    nodes.values().any(|node| node.form.is_some()).then_some(())?;
    let values: Vec<(Value, u64)> = images(m, block, costs);
    let node_of = |op: Op| nodes.get(&op).map_or(SOURCE, |node| node.node);
    let owner = |m: &Module, value: Value| m.defining_op(value).map_or(SOURCE, node_of);
    for &(value, cost) in &values {
        // Of equal assignments, one in which an elementwise op has the layout of the op before, which may compute it before its store.
        let cost = cost + u64::from(m.has_one_use(value) && m.uses(value).all(|(user, _)| is_free(m, user)));
        let mut readers: Vec<usize> = m.uses(value).map(|(user, _)| node_of(user)).collect();
        readers.sort_unstable();
        readers.dedup();
        change(&mut network, owner(m, value), &readers, cost);
    }
    let is_first = network.cut();
    let is_changed = |&(value, _): &(Value, u64)| {
        let is_free_last = |(user, _)| {
            nodes.get(&user).is_some_and(|node| !is_first[node.node] && node.node != SINK && node.form.is_none())
        };
        is_first[owner(m, value)] && m.uses(value).any(is_free_last)
    };
    let last_readers = |value: Value| {
        let mut readers: Vec<Op> = m.uses(value).map(|(user, _)| user).collect();
        readers.dedup();
        readers.retain(|&user| !is_first[node_of(user)]);
        (value, readers)
    };
    let changes = values.iter().filter(|value| is_changed(value)).map(|value| last_readers(value.0)).collect();
    let chosen = |(op, LayoutNode { node, form }): (Op, LayoutNode)| Some((op, is_first[node], form?));
    Some(Assignment { changes, ops: nodes.into_iter().filter_map(chosen).collect() })
}

/// Adds the cost of a value's layout change, which is made once for all readers in the other layout.
fn change(network: &mut FlowNetwork, owner: usize, readers: &[usize], cost: u64) {
    if let &[reader] = readers {
        return network.connect([owner, reader], [cost, cost]);
    }
    let [to_last, to_first] = [network.add_node(), network.add_node()];
    network.connect([owner, to_last], [cost, 0]);
    network.connect([to_first, owner], [cost, 0]);
    for &reader in readers {
        network.connect([to_last, reader], [NO_CUT, 0]);
        network.connect([reader, to_first], [NO_CUT, 0]);
    }
}

/// Returns the images that are computed in a block or are its arguments, with the cost of their layout change; those of which it moves
/// no element are left out.
fn images(m: &Module, block: Block, costs: &TargetPrices) -> Vec<(Value, u64)> {
    let results = m.block_ops(block).flat_map(|op| m.results(op));
    let all = m.block_args(block).iter().copied().chain(results).filter(|&v| m.constant(v).is_none());
    let cost = |value: Value| {
        let extents = m.ctx.static_shape(m.value_type(value)).filter(|extents| extents.len() > 2)?;
        let is_moved = extents[1] > 1 && extents[2..].iter().any(|&d| d > 1);
        let elements = extents.iter().fold(1_u64, |n, &d| n.saturating_mul(d.unsigned_abs()));
        is_moved.then(|| (value, costs.price.of(OpCost::Relayout(elements))))
    };
    all.filter_map(cost).collect()
}
