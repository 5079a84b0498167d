//! Dominance: the values that are available at each op.
//!
//! Immediate dominators by Lengauer and Tarjan (1979). Regions of one block need op numbers only.

use crate::entity::SideTable;
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::traits::Traits;
use rustc_hash::FxHashMap;

/// The dominator trees of all regions under an op. Invalidated when ops or blocks are moved, created or erased.
pub struct Dominance {
    /// The 1-based position of an op in its block; 0 for ops not under the root.
    order: SideTable<Op, u32>,
    /// Tree nodes of blocks in regions of several blocks; unreachable blocks are absent.
    tree: FxHashMap<Block, DominatorNode>,
}

/// A node of a dominator tree, with its pre-order interval: a block dominates exactly the blocks in its interval.
#[derive(Clone, Copy)]
struct DominatorNode {
    parent: Block,
    enter: u32,
    leave: u32,
}

impl Dominance {
    /// Computes dominance for everything under `root`.
    pub fn new(m: &Module, root: Op) -> Dominance {
        Dominance::of_all(m, vec![root])
    }

    /// Computes dominance for everything under several ops.
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
        let walk = DepthFirstWalk::new(m, region);
        let idom = immediate_dominators(m, &walk);
        // Reverse postorder visits dominators first, so subtree sizes add up from the end, and pre-order positions
        // follow.
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
            self.tree.insert(walk.blocks[i], DominatorNode { parent, enter, leave: enter + size[i] });
        }
    }

    /// Whether the block is reachable from its region's entry.
    pub fn is_reachable(&self, m: &Module, block: Block) -> bool {
        m.parent_region(block).is_some_and(|r| m.has_one_block(r)) || self.tree.contains_key(&block)
    }

    /// Returns the immediate dominator of `block`; the entry's is itself. `None` for unreachable blocks and in regions
    /// of one block.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        self.tree.get(&block).map(|node| node.parent)
    }

    /// Whether `a` dominates `b`, both of one region. A block dominates itself.
    pub fn block_dominates(&self, a: Block, b: Block) -> bool {
        if a == b {
            return true;
        }
        match (self.tree.get(&a), self.tree.get(&b)) {
            (Some(a), Some(b)) => a.enter <= b.enter && b.enter < a.leave,
            _ => false,
        }
    }

    /// Returns the reachable blocks of a region in pre-order of the dominator tree.
    pub fn preorder(&self, m: &Module, region: Region) -> Vec<Block> {
        let mut blocks: Vec<Block> = m.region_blocks(region).collect();
        if blocks.len() > 1 {
            blocks.retain(|b| self.tree.contains_key(b));
            blocks.sort_unstable_by_key(|b| self.tree[b].enter);
        }
        blocks
    }

    /// Whether `a` precedes `b` in the same block.
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        self.order[a] < self.order[b]
    }

    /// Whether `value` dominates the operands of `user`. In graph regions every value of the region does.
    pub fn dominates(&self, m: &Module, value: Value, user: Op) -> bool {
        let (block, def_op) = match m.def(value) {
            Def::Arg(block, _) => (Some(block), None),
            Def::Result(op, _) => (m.parent_block(op), Some(op)),
        };
        let Some(block) = block else { return false };
        let region = m.parent_region(block);
        // The ancestor of the use in the region of the definition.
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
            // Any value dominates unreachable uses.
            return self.block_dominates(block, user_block) || !self.is_reachable(m, user_block);
        }
        def_op.is_none_or(|def| self.order[def] < self.order[user])
    }
}

/// Whether the region is a graph region. Regions of unregistered ops are assumed to be, unless they have several
/// blocks.
pub fn is_graph(m: &Module, region: Region) -> bool {
    match m.region_op(region).and_then(|op| m.info(op)) {
        Some(info) => info.traits.has(Traits::GRAPH_REGION),
        None => m.has_one_block(region),
    }
}

/// Returns the successors of a block.
pub fn successors(m: &Module, block: Block) -> impl Iterator<Item = Block> + '_ {
    m.last_op(block).into_iter().flat_map(|op| m.successors(op).iter().copied())
}

/// Returns the reachable blocks in reverse postorder.
pub(crate) fn reverse_postorder(m: &Module, region: Region) -> Vec<Block> {
    let walk = DepthFirstWalk::new(m, region);
    walk.reverse_postorder().into_iter().map(|i| walk.blocks[i]).collect()
}

/// A depth-first traversal of a region's blocks, numbered in pre-order from the entry, 0.
struct DepthFirstWalk {
    blocks: Vec<Block>,
    index: FxHashMap<Block, usize>,
    /// The parent in the depth-first tree; the entry's is itself.
    parents: Vec<usize>,
    postorder: Vec<usize>,
}

impl DepthFirstWalk {
    fn new(m: &Module, region: Region) -> DepthFirstWalk {
        let mut walk =
            DepthFirstWalk { blocks: vec![], index: FxHashMap::default(), parents: vec![], postorder: vec![] };
        let Some(entry) = m.entry(region) else { return walk };
        let enter = |walk: &mut DepthFirstWalk, block, parent| {
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

/// Returns the immediate dominators of the traversed blocks, by number; the entry's is itself. O(e log n) for e
/// branches among n blocks: the simple version of Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators"
/// (1979).
fn immediate_dominators(m: &Module, walk: &DepthFirstWalk) -> Vec<usize> {
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

/// The part of the depth-first tree whose semidominators are known, with path compression.
struct Forest {
    ancestor: Vec<Option<usize>>,
    semi: Vec<usize>,
    /// The block of least semidominator on the compressed path to the ancestor.
    label: Vec<usize>,
    /// Scratch memory for paths.
    path: Vec<usize>,
}

impl Forest {
    /// Returns the block of least semidominator on the path from below the root of its tree to `v`.
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

    /// Returns the region of an op with `n` blocks, where block `i` branches to `to(i)`.
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
            // A block dominates the blocks that become unreachable without it.
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
        // A chain whose blocks may branch back to its start; and a chain upward that every block of the first may
        // enter.
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
