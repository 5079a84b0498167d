//! Dominance: which values are defined wherever an op runs.
//!
//! Immediate dominators by Lengauer and Tarjan (1979). A region of one block costs nothing but the numbers of its ops.

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
        let walk = Walk::new(m, region);
        let idom = immediate_dominators(m, &walk);
        // A dominator comes before what it dominates, so sizes of subtrees add up from the end, and places follow.
        let order = walk.reverse_postorder();
        let mut size = vec![1u32; order.len()];
        for &i in order[1..].iter().rev() {
            size[idom[i]] += size[i];
        }
        let mut next = vec![0; order.len()];
        for i in order {
            let enter = if i == 0 { 0 } else { next[idom[i]] };
            if i > 0 {
                next[idom[i]] += size[i];
            }
            next[i] = enter + 1;
            let parent = walk.blocks[idom[i]];
            self.tree.insert(walk.blocks[i], Node { parent, enter, leave: enter + size[i] });
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
    let walk = Walk::new(m, region);
    walk.reverse_postorder().into_iter().map(|i| walk.blocks[i]).collect()
}

/// A depth-first walk of the blocks of a region, which numbers them as it meets them, from the entry as 0.
struct Walk {
    blocks: Vec<Block>,
    index: FxHashMap<Block, usize>,
    /// The block from which each was first met; the entry's is itself.
    parents: Vec<usize>,
    postorder: Vec<usize>,
}

impl Walk {
    fn new(m: &Module, region: Region) -> Walk {
        let mut walk = Walk { blocks: vec![], index: FxHashMap::default(), parents: vec![], postorder: vec![] };
        let Some(entry) = m.entry(region) else { return walk };
        let enter = |walk: &mut Walk, block, parent| {
            let i = walk.blocks.len();
            walk.index.insert(block, i);
            walk.blocks.push(block);
            walk.parents.push(parent);
            (i, m.last_op(block).map_or(&[][..], |op| m.successors(op)))
        };
        let mut stack = vec![enter(&mut walk, entry, 0)];
        while let Some((at, todo)) = stack.last_mut() {
            let from = *at;
            match todo.split_last() {
                Some((&next, rest)) => {
                    *todo = rest;
                    if m.parent_region(next) == Some(region) && !walk.index.contains_key(&next) {
                        stack.push(enter(&mut walk, next, from));
                    }
                }
                None => {
                    walk.postorder.push(from);
                    stack.pop();
                }
            }
        }
        walk
    }

    fn reverse_postorder(&self) -> Vec<usize> {
        self.postorder.iter().rev().copied().collect()
    }
}

/// The immediate dominators of the blocks of a walk, by their numbers; the entry's is itself. O(e log n) for e branches
/// among n blocks: the simple version of Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators" (1979).
fn immediate_dominators(m: &Module, walk: &Walk) -> Vec<usize> {
    let n = walk.blocks.len();
    let mut preds = vec![Vec::new(); n];
    for (i, &block) in walk.blocks.iter().enumerate() {
        for to in successors(m, block) {
            if let Some(&to) = walk.index.get(&to) {
                preds[to].push(i);
            }
        }
    }
    let (semi, label) = ((0..n).collect(), (0..n).collect());
    let mut forest = Forest { ancestor: vec![None; n], semi, label, path: Vec::new() };
    let mut idom = vec![0; n];
    let mut buckets = vec![Vec::new(); n];
    for w in (1..n).rev() {
        for &v in &preds[w] {
            let u = forest.eval(v);
            forest.semi[w] = forest.semi[w].min(forest.semi[u]);
        }
        buckets[forest.semi[w]].push(w);
        let parent = walk.parents[w];
        forest.ancestor[w] = Some(parent);
        for v in std::mem::take(&mut buckets[parent]) {
            let u = forest.eval(v);
            idom[v] = if forest.semi[u] < forest.semi[v] { u } else { parent };
        }
    }
    for w in 1..n {
        if idom[w] != forest.semi[w] {
            idom[w] = idom[idom[w]];
        }
    }
    idom
}

/// The part of a walk's tree whose semidominators are known.
struct Forest {
    ancestor: Vec<Option<usize>>,
    semi: Vec<usize>,
    /// The block of least semidominator on the compressed path to the ancestor.
    label: Vec<usize>,
    /// Memory for paths.
    path: Vec<usize>,
}

impl Forest {
    /// The block of least semidominator on the path from below the root of its tree to `v`.
    fn eval(&mut self, v: usize) -> usize {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let mut at = v;
        while let Some(up) = self.ancestor[at] {
            path.push(at);
            at = up;
        }
        // From the top down; the block below the root has nothing to compress.
        for pair in path.windows(2).rev() {
            let (below, above) = (pair[0], pair[1]);
            if self.semi[self.label[above]] < self.semi[self.label[below]] {
                self.label[below] = self.label[above];
            }
            self.ancestor[below] = self.ancestor[above];
        }
        self.path = path;
        self.label[v]
    }
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

    /// The region of an op with `n` blocks, of which block `i` branches to `to(i)`.
    fn graph(n: usize, to: impl Fn(usize) -> Vec<usize>) -> Module {
        let block = |i: usize| {
            let to: Vec<String> = to(i).iter().map(|t| format!("^b{t}")).collect();
            format!("^b{i}: \"t.br\"()[{}] : () -> ()\n", to.join(", ")).replace("[]", "")
        };
        let blocks: String = (0..n).map(block).collect();
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        let text = format!("\"t.f\"() ({{\n{blocks}}}) : () -> ()");
        parse_module(&Context::new(&[]), "t", text, options).expect("IR")
    }

    #[test]
    fn the_definition_holds_of_random_graphs() {
        let mut state = 1u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for _ in 0..200 {
            let n = 2 + random(12);
            let edges: Vec<Vec<usize>> = (0..n).map(|_| (0..random(4)).map(|_| 1 + random(n - 1)).collect()).collect();
            let m = graph(n, |i| edges[i].clone());
            let region = m.regions(m.first_op(m.body()).expect("one op"))[0];
            let blocks: Vec<Block> = m.region_blocks(region).collect();
            let d = Dominance::new(&m, m.root());
            // Without what it dominates, a block is all that leads to it.
            let reached = |without: Option<usize>| {
                let (mut seen, mut stack) = (vec![false; n], vec![0]);
                while let Some(i) = stack.pop().filter(|_| without != Some(0)) {
                    if Some(i) != without && !std::mem::replace(&mut seen[i], true) {
                        stack.extend(&edges[i]);
                    }
                }
                seen
            };
            let all = reached(None);
            for a in (0..n).filter(|&a| all[a]) {
                let rest = reached(Some(a));
                for b in (0..n).filter(|&b| all[b]) {
                    assert_eq!(d.block_dominates(blocks[a], blocks[b]), !rest[b], "{a} {b} {edges:?}");
                }
            }
            assert!((0..n).all(|i| d.is_reachable(&m, blocks[i]) == all[i]));
        }
    }

    #[test]
    fn a_hundred_thousand_back_edges_take_no_time() {
        const N: usize = 100_000;
        // Down a chain, of which each block may go back to its begin; and up another, of which each may go into the first.
        let backward = graph(N, |i| if i + 1 < N { vec![1, i + 1] } else { vec![] });
        let ladder = graph(2 * N, |i| match i {
            _ if i < N => vec![i + 1],
            _ if i + 1 < 2 * N => vec![(2 * N - i).max(1), i + 1],
            _ => vec![],
        });
        for m in [backward, ladder] {
            let region = m.regions(m.first_op(m.body()).expect("one op"))[0];
            let d = Dominance::new(&m, m.root());
            let blocks: Vec<Block> = m.region_blocks(region).collect();
            assert!(blocks.windows(2).all(|pair| d.immediate_dominator(pair[1]) == Some(pair[0])));
        }
    }
}
