//! Dominance: which values are defined wherever an op runs.
//!
//! Immediate dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). A region of one block
//! costs nothing but the numbers of its ops.

use crate::entity::SideTable;
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::traits::Traits;
use rustc_hash::FxHashMap;

/// Dominance facts about the ops under one op. Valid until ops or blocks are moved, made or erased.
pub struct Dominance {
    /// The place of an op in its block, from 1; 0 for ops not under the root.
    order: SideTable<Op, u32>,
    /// For blocks of regions with several; absent: unreachable.
    tree: FxHashMap<Block, Node>,
}

/// A place in a dominator tree. A block dominates those that a walk of the tree meets between entering and leaving it.
#[derive(Clone, Copy)]
struct Node {
    parent: Block,
    enter: u32,
    leave: u32,
}

impl Dominance {
    /// Computes the facts for everything under `root`.
    pub fn new(m: &Module, root: Op) -> Dominance {
        Dominance::of_all(m, vec![root])
    }

    /// Computes the facts for everything under some ops.
    pub(crate) fn of_all(m: &Module, roots: Vec<Op>) -> Dominance {
        let mut d = Dominance { order: SideTable::new(0), tree: FxHashMap::default() };
        let mut stack = roots;
        while let Some(op) = stack.pop() {
            for &region in m.regions(op) {
                for block in m.region_blocks(region) {
                    for (i, op) in m.block_ops(block).enumerate() {
                        d.order[op] = i as u32 + 1;
                        if !m.regions(op).is_empty() {
                            stack.push(op);
                        }
                    }
                }
                if !m.has_one_block(region) && m.entry(region).is_some() {
                    d.add_region(m, region);
                }
            }
        }
        d
    }

    fn add_region(&mut self, m: &Module, region: Region) {
        let order = reverse_postorder(m, region);
        let index: FxHashMap<Block, usize> = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let mut preds = vec![Vec::new(); order.len()];
        for (i, &block) in order.iter().enumerate() {
            for to in successors(m, block) {
                preds[index[&to]].push(i);
            }
        }
        let mut idom = vec![usize::MAX; order.len()];
        idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for i in 1..order.len() {
                let known = preds[i].iter().copied().filter(|&p| idom[p] != usize::MAX);
                let new = known.reduce(|a, b| intersect(&idom, a, b)).unwrap_or(0);
                changed |= std::mem::replace(&mut idom[i], new) != new;
            }
        }
        // A dominator comes before what it dominates, so sizes of subtrees add up from the end, and places follow.
        let mut size = vec![1u32; order.len()];
        for i in (1..order.len()).rev() {
            size[idom[i]] += size[i];
        }
        let mut next = vec![0; order.len()];
        for i in 0..order.len() {
            let enter = if i == 0 { 0 } else { next[idom[i]] };
            if i > 0 {
                next[idom[i]] += size[i];
            }
            next[i] = enter + 1;
            self.tree.insert(order[i], Node { parent: order[idom[i]], enter, leave: enter + size[i] });
        }
    }

    /// Whether the block can be reached from its region's entry.
    pub fn is_reachable(&self, m: &Module, block: Block) -> bool {
        m.parent_region(block).is_some_and(|r| m.has_one_block(r)) || self.tree.contains_key(&block)
    }

    /// The block that every path to `block` goes through last before it; the entry's is itself. `None` for unreachable
    /// blocks and in regions of one block.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        self.tree.get(&block).map(|node| node.parent)
    }

    /// Whether every path to `b` goes through `a`, both of one region. A block dominates itself.
    pub fn block_dominates(&self, a: Block, b: Block) -> bool {
        if a == b {
            return true;
        }
        match (self.tree.get(&a), self.tree.get(&b)) {
            (Some(a), Some(b)) => a.enter <= b.enter && b.enter < a.leave,
            _ => false,
        }
    }

    /// The reachable blocks of a region, in an order in which a dominator comes before all that it dominates, and these
    /// directly after it.
    pub fn preorder(&self, m: &Module, region: Region) -> Vec<Block> {
        let mut blocks: Vec<Block> = m.region_blocks(region).collect();
        if blocks.len() > 1 {
            blocks.retain(|b| self.tree.contains_key(b));
            blocks.sort_unstable_by_key(|b| self.tree[b].enter);
        }
        blocks
    }

    /// Whether `a` is before `b` in the same block.
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        self.order[a] < self.order[b]
    }

    /// Whether `value` is defined wherever operands of `user` are read. In graph regions every value of the region is.
    pub fn dominates(&self, m: &Module, value: Value, user: Op) -> bool {
        let (block, def_op) = match m.def(value) {
            Def::Arg(block, _) => (Some(block), None),
            Def::Result(op, _) => (m.parent_block(op), Some(op)),
        };
        let Some(block) = block else { return false };
        let region = m.parent_region(block);
        // The op around the use that is in the same region as the definition.
        let mut user = user;
        let user_block = loop {
            let Some(user_block) = m.parent_block(user) else { return false };
            if user_block == block || m.parent_region(user_block) == region {
                break user_block;
            }
            let Some(up) = m.block_op(user_block) else { return false };
            user = up;
        };
        if region.is_some_and(|r| is_graph(m, r)) {
            return true;
        }
        if user_block != block {
            // What never runs needs nothing.
            return self.block_dominates(block, user_block) || !self.is_reachable(m, user_block);
        }
        def_op.is_none_or(|def| self.order[def] < self.order[user])
    }
}

/// Whether values of the region may be used before they are defined. The regions of unregistered ops may be such, unless
/// they have several blocks.
pub fn is_graph(m: &Module, region: Region) -> bool {
    match m.region_op(region).and_then(|op| m.info(op)) {
        Some(info) => info.traits.has(Traits::GRAPH_REGION),
        None => m.has_one_block(region),
    }
}

/// The blocks that a block's last op may go to.
pub fn successors(m: &Module, block: Block) -> impl Iterator<Item = Block> + '_ {
    m.last_op(block).into_iter().flat_map(|op| m.successors(op).iter().copied())
}

/// The blocks reachable from the entry, each before those that only it leads to.
pub(crate) fn reverse_postorder(m: &Module, region: Region) -> Vec<Block> {
    let Some(entry) = m.entry(region) else { return Vec::new() };
    let mut order = Vec::new();
    let mut seen: rustc_hash::FxHashSet<Block> = [entry].into_iter().collect();
    let mut stack = vec![(entry, successors(m, entry).collect::<Vec<_>>())];
    while let Some((block, todo)) = stack.last_mut() {
        match todo.pop() {
            Some(next) if m.parent_region(next) == Some(region) => {
                if seen.insert(next) {
                    stack.push((next, successors(m, next).collect()));
                }
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The nearest common dominator of two blocks, by their numbers in reverse postorder.
fn intersect(idom: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = idom[a];
        }
        while b > a {
            b = idom[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, ParseOptions, parse_module};

    #[test]
    fn a_diamond_and_a_loop() {
        let text = r#""t.f"() ({
            ^a: "t.br"()[^b, ^c] : () -> ()
            ^b: "t.br"()[^d] : () -> ()
            ^c: "t.br"()[^d] : () -> ()
            ^d: "t.br"()[^c, ^e] : () -> ()
            ^e: "t.end"() : () -> ()
            ^f: "t.br"()[^e] : () -> ()
        }) : () -> ()"#;
        let ctx = Context::new(&[]);
        let m = parse_module(
            &ctx,
            "t",
            text.to_owned(),
            ParseOptions { allow_unregistered: true, ..ParseOptions::default() },
        )
        .expect("IR");
        let region = m.regions(m.first_op(m.body()).expect("one op"))[0];
        let blocks: Vec<Block> = m.region_blocks(region).collect();
        let d = Dominance::new(&m, m.root());
        let dominated = |i: usize| -> Vec<usize> {
            (0..blocks.len()).filter(|&j| d.block_dominates(blocks[i], blocks[j])).collect()
        };
        assert_eq!(
            (0..6).map(dominated).collect::<Vec<_>>(),
            [vec![0, 1, 2, 3, 4], vec![1], vec![2], vec![3, 4], vec![4], vec![5]]
        );
        assert_eq!(d.immediate_dominator(blocks[3]), Some(blocks[0]));
        assert!(!d.is_reachable(&m, blocks[5]));
    }
}
