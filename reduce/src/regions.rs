//! Reductions that replace an op with regions by one execution of one region.

use crate::reduction::{Reduction, Site};
use crate::substitute::{Prefer, Substitutes};
use gradus_ir::control::{Edge, Point};
use gradus_ir::{Block, Module, Op, Traits, Value, symbol_name};
use rustc_hash::FxHashSet;

pub(crate) const REDUCTIONS: &[Reduction] = &[Reduction::new("run regions once", regions, run_once)];

/// Returns the single-block regions that are not isolated from above.
fn regions(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for op in m.ops_under(m.root()) {
        let closed = op == m.root() || symbol_name(m, op).is_some() || m.has_trait(op, Traits::ISOLATED);
        let one_block = |&i: &usize| m.has_one_block(m.regions(op)[i]);
        found.extend((0..m.regions(op).len()).filter(|_| !closed).filter(one_block).map(|i| Site::Part(op, i)));
    }
    found
}

fn run_once(m: &mut Module, sites: &[Site]) {
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    // An earlier site may have inlined another region of the op, or of an op around it.
    let mut erased = FxHashSet::default();
    for site in sites {
        let &Site::Part(op, i) = site else { continue };
        if erased.contains(&op) {
            continue;
        }
        if let Some(block) = m.parent_block(op)
            && let Some(&region) = m.regions(op).get(i)
            && m.block_op(block).is_some()
            && let Some(body) = m.entry(region)
        {
            erased.extend(m.ops_under(op));
            for kept in m.block_ops(body).flat_map(|inner| m.ops_under(inner)) {
                erased.remove(&kept);
            }
            inline(m, op, i, body, &mut substitutes);
        }
    }
    substitutes.finish(m);
}

/// Moves the ops of a region before its op and erases the op. Returns `None` if values for its arguments or results are
/// missing; the module is then unusable.
fn inline(m: &mut Module, op: Op, i: usize, body: Block, substitutes: &mut Substitutes) -> Option<()> {
    let edges = m.info(op).and_then(|info| info.edges).map(|edges| edges(m, op)).unwrap_or_default();
    let way = |from: Point, to: Point| edges.iter().copied().find(|e| e.from == from && e.to == to);
    let (enter, leave) = (way(Point::Op, Point::Region(i)), way(Point::Region(i), Point::Op));
    for arg in m.block_args(body).to_vec() {
        if m.is_unused(arg) {
            continue;
        }
        let value = match enter.and_then(|edge| carried(m, op, edge, arg, op)) {
            Some(value) => value,
            None => substitutes.find(m, arg, op)?,
        };
        m.replace_all_uses(arg, value);
    }
    let end = m.last_op(body).filter(|&end| m.info(end).is_none_or(|info| info.traits.has(Traits::TERMINATOR)));
    let mut values = Vec::new();
    for (k, result) in m.results(op).enumerate() {
        let yielded = end.and_then(|end| match leave {
            Some(edge) => carried(m, op, edge, result, end),
            None => m.operands(end).get(k).copied().filter(|&v| m.value_type(v) == m.value_type(result)),
        });
        values.push((result, yielded));
    }
    let first = m.first_op(body);
    let last = end.map_or_else(|| m.last_op(body), |end| m.prev_op(end));
    if let (Some(first), Some(last), Some(to)) = (first, last, m.parent_block(op)) {
        m.move_ops(first, last, to, Some(op));
    }
    for (result, yielded) in values.into_iter().filter(|(result, _)| !m.is_unused(*result)).collect::<Vec<_>>() {
        let value = match yielded {
            Some(value) => value,
            None => substitutes.find(m, result, op)?,
        };
        m.replace_all_uses(result, value);
    }
    if m.results(op).all(|v| m.is_unused(v)) {
        m.erase_op(op);
    }
    Some(())
}

/// Returns the value that `source` passes along a control-flow edge to the receiver.
fn carried(m: &Module, op: Op, edge: Edge, receiver: Value, source: Op) -> Option<Value> {
    let at = edge.receivers(m, op).iter().position(|&v| v == receiver)?;
    edge.carried(m, source).get(at).copied().filter(|&v| m.value_type(v) == m.value_type(receiver))
}
