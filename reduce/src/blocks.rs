//! Reductions of blocks and branches.

use crate::ops::returns;
use crate::reduction::{Reduction, Site};
use crate::substitute::{Prefer, Substitutes};
use gradus_ir::dominance::successors;
use gradus_ir::{Arity, Block, Module, Op, OpInfo, OpState, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) const REDUCTIONS: &[Reduction] = &[
    Reduction::new("take one side", sides, take_sides),
    Reduction::new("merge blocks", mergeable, merge),
    Reduction::new("return early", branches, return_early),
];

/// Returns the blocks of all regions with more than one block.
pub(crate) fn graph_blocks(m: &Module) -> Vec<Block> {
    let regions = m.ops_under(m.root()).into_iter().flat_map(|op| m.regions(op).to_vec());
    regions.filter(|&r| !m.has_one_block(r)).flat_map(|r| m.region_blocks(r).collect::<Vec<_>>()).collect()
}

/// Returns the blocks that end in a branch, in regions in which another block returns.
fn branches(m: &Module) -> Vec<Site> {
    graph_blocks(m).into_iter().filter(|&b| successors(m, b).next().is_some()).map(Site::Block).collect()
}

/// Replaces terminators by returns of available values of the right types.
fn return_early(m: &mut Module, sites: &[Site]) {
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    let mut regions = Vec::new();
    for site in sites {
        let &Site::Block(block) = site else { continue };
        let (Some(region), Some(branch)) = (m.parent_region(block), m.last_op(block)) else { continue };
        let Some(model) = m.region_blocks(region).find_map(|b| returns(m, b)) else { continue };
        let mut state = OpState::like(m, model);
        let wanted: Vec<Value> = m.operands(model).to_vec();
        let known = |m: &mut Module, value: Value, s: &mut Substitutes| {
            let ty = m.value_type(value);
            let near = m.block_ops(block).rev().skip(1).flat_map(|op| m.results(op)).find(|&v| m.value_type(v) == ty);
            near.or_else(|| s.other(m, value, branch))
        };
        let found: Option<Vec<Value>> = wanted.into_iter().map(|v| known(m, v, &mut substitutes)).collect();
        let Some(found) = found else { continue };
        state.operands = found.into();
        let new = m.create_op(state);
        m.insert_op(block, new, Some(branch));
        erase_terminator(m, branch);
        regions.push(region);
    }
    substitutes.finish(m);
    drop_unreachable(m, &regions);
}

/// Returns the terminators with several successors, paired with each successor: first all first successors, then all second ones.
fn sides(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for op in graph_blocks(m).into_iter().filter_map(|b| m.last_op(b)) {
        let n = m.successors(op).len();
        found.extend((0..n).filter(|_| n > 1).map(|i| (i, Site::Part(op, i))));
    }
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, site)| site).collect()
}

/// Returns a declared op that only branches to one block with operands.
fn plain_branch(m: &Module) -> Option<&'static OpInfo> {
    let is_plain = |info: &&OpInfo| {
        info.traits.has(Traits::TERMINATOR)
            && matches!(info.successors, [one] if one.arity == Arity::One)
            && matches!(info.operands, [all] if all.arity == Arity::Variadic)
            && info.successor_operands.is_some()
            && info.results.is_empty()
            && info.regions.is_empty()
            && info.attrs.iter().all(|a| a.optional)
    };
    m.ctx.dialects().iter().flat_map(|d| d.ops).copied().find(is_plain)
}

fn take_sides(m: &mut Module, sites: &[Site]) {
    let mut regions = Vec::new();
    // An earlier site may be another side of the op.
    let mut done = FxHashSet::default();
    for site in sites {
        let &Site::Part(op, i) = site else { continue };
        if done.contains(&op) {
            continue;
        }
        let (Some(block), Some(&to)) = (m.parent_block(op), m.successors(op).get(i)) else { continue };
        if m.successors(op).len() < 2 {
            continue;
        }
        regions.extend(m.parent_region(block));
        let carried = m.info(op).and_then(|info| info.successor_operands).map(|of| of(m, op, i));
        match (carried, plain_branch(m)) {
            (Some(range), Some(branch)) => {
                let mut state = OpState::new(&m.ctx, branch.name, m.loc(op));
                state.operands = m.operands(op)[range].into();
                state.successors.push(to);
                let new = m.create_op(state);
                m.insert_op(block, new, Some(op));
                erase_terminator(m, op);
                done.insert(op);
            }
            _ => (0..m.successors(op).len()).for_each(|j| m.set_successor(op, j, to)),
        }
    }
    drop_unreachable(m, &regions);
}

/// Erases a terminator without uses.
fn erase_terminator(m: &mut Module, op: Op) {
    if m.results(op).all(|v| m.is_unused(v)) {
        m.erase_op(op);
    }
}

/// Returns the blocks with exactly one predecessor, which has exactly one successor.
fn mergeable(m: &Module) -> Vec<Site> {
    let ways = only_ways(m);
    graph_blocks(m).into_iter().filter(|&b| only_way(m, b, &ways).is_some()).map(Site::Block).collect()
}

/// Returns the branches with a single successor, keyed by that successor.
fn only_ways(m: &Module) -> FxHashMap<Block, Op> {
    let ends = graph_blocks(m).into_iter().filter_map(|b| m.last_op(b));
    ends.filter_map(|op| if let [to] = *m.successors(op) { Some((to, op)) } else { None }).collect()
}

/// Returns the unconditional branch that is the only predecessor edge of a block.
fn only_way(m: &Module, block: Block, ways: &FxHashMap<Block, Op>) -> Option<Op> {
    let is_entry = m.parent_region(block).is_none_or(|r| m.entry(r) == Some(block));
    let branch = ways.get(&block).copied()?;
    (m.num_branches_to(block) == 1 && !is_entry && m.parent_block(branch) != Some(block)).then_some(branch)
}

fn merge(m: &mut Module, sites: &[Site]) {
    let ways = only_ways(m);
    for site in sites {
        let &Site::Block(block) = site else { continue };
        // Merging moves the branch of a merged block into its predecessor, so the branch is looked up again.
        let Some(branch) = only_way(m, block, &ways) else { continue };
        let Some(before) = m.parent_block(branch) else { continue };
        let carried = m.info(branch).and_then(|info| info.successor_operands).map_or(0..0, |of| of(m, branch, 0));
        let values: Vec<Value> = m.operands(branch).get(carried).unwrap_or(&[]).to_vec();
        let args = m.block_args(block).to_vec();
        if values.len() != args.len() || values.iter().any(|v| args.contains(v)) {
            continue;
        }
        args.iter().zip(&values).for_each(|(&arg, &value)| m.replace_all_uses(arg, value));
        erase_terminator(m, branch);
        if let Some(first) = m.first_op(block) {
            m.move_tail(first, before);
        }
        m.erase_block(block);
    }
}

/// Erases unreachable blocks.
fn drop_unreachable(m: &mut Module, regions: &[Region]) {
    let mut done = FxHashSet::default();
    for &region in regions.iter().filter(|&&r| done.insert(r)) {
        let Some(entry) = m.entry(region) else { continue };
        let (mut reached, mut stack) = (FxHashSet::default(), vec![entry]);
        while let Some(block) = stack.pop() {
            if reached.insert(block) {
                stack.extend(successors(m, block));
            }
        }
        let gone: Vec<Block> = m.region_blocks(region).filter(|b| !reached.contains(b)).collect();
        erase_blocks(m, &gone);
    }
}

/// Erases all blocks of a region.
pub(crate) fn clear_region(m: &mut Module, region: Region) {
    let blocks: Vec<Block> = m.region_blocks(region).collect();
    erase_blocks(m, &blocks);
}

/// Erases blocks whose values are used only among themselves.
fn erase_blocks(m: &mut Module, blocks: &[Block]) {
    let ops: Vec<Op> = blocks.iter().flat_map(|&b| m.block_ops(b).collect::<Vec<_>>()).collect();
    for op in ops.into_iter().flat_map(|op| m.ops_under(op)).collect::<Vec<_>>() {
        m.set_operands(op, &[]);
        if !m.successors(op).is_empty() {
            m.set_successors(op, &[]);
        }
    }
    for &block in blocks {
        let unused = |m: &Module| m.block_ops(block).flat_map(|op| m.results(op)).all(|v| m.is_unused(v));
        if unused(m) && m.block_args(block).iter().all(|&v| m.is_unused(v)) {
            m.erase_block(block);
        }
    }
}
