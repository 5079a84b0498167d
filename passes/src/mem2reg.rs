//! `mem2reg`: promotion of memory slots to SSA values.

use gradus_dialects::scf::drop_undefined_parallel;
use gradus_ir::branch::{carried_group, carry_also};
use gradus_ir::dominance::{Dominance, is_graph, successors};
use gradus_ir::pass::Rewrites;
use gradus_ir::{
    Block, Builder, Diagnostic, Loc, Module, Op, OpState, Pass, PassContext, PassInfo, Region, SlotRole, Type,
    TypeData, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::{BTreeSet, BinaryHeap};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "mem2reg",
    class: "Mem2Reg",
    doc: "Promote memory slots to SSA values

# Before / After

```mlir
%m = memref.alloca() : memref<i32>
memref.store %a, %m[] : memref<i32>
%0 = memref.load %m[] : memref<i32>       // all three are erased; uses of %0 become uses of %a
```

# Does

Promotes allocations of a single element that are only loaded from and stored to in their own region. Block arguments are placed at
the iterated dominance frontier of the stores where the slot is live (pruned SSA: Cytron et al., 1991). An uninitialized slot reads
as poison.

# Refuses

Slots whose address escapes or is used in nested regions, and branches that do not declare their successor operands.

# Cost

Linear in the number of ops, plus, for each slot, the number of branches in the blocks that its stores dominate.",
    statistics: &[("num-promoted", "Number of slots promoted")],
    rewrites: Rewrites::Tags(&["promote"]),
    make: |_| Ok(Box::new(Mem2Reg)),
    ..PassInfo::DEFAULT
};

struct Mem2Reg;

impl Pass for Mem2Reg {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let dominance = Dominance::new(m, op);
        // Promotion erases ops, but none with regions.
        let regions: Vec<Region> = m.ops_under(op).into_iter().flat_map(|op| m.regions(op)).copied().collect();
        for region in regions {
            if is_graph(m, region) {
                continue;
            }
            // A promoted slot may have held the address of another.
            while let promoted @ 1.. = promote_region(m, region, &dominance, cx) {
                cx.count("num-promoted", promoted);
            }
        }
        drop_undefined_parallel(m, op);
        Ok(())
    }
}

/// A memory slot under promotion.
struct Slot {
    alloc: Op,
    ty: Type,
    /// Poison for reads of an uninitialized slot, created on demand.
    unwritten: Option<Value>,
}

fn role(m: &Module, op: Op) -> Option<SlotRole> {
    m.info(op)?.slot
}

/// Returns the element type of a promotable slot.
fn promotable(m: &Module, alloc: Op, region: Region) -> Option<Type> {
    if role(m, alloc) != Some(SlotRole::Alloc) {
        return None;
    }
    let slot = m.result(alloc, 0);
    let TypeData::MemRef { shape, elem, layout: None, .. } = m.ctx.type_data(m.value_type(slot)) else { return None };
    let good_use = |(user, i): (Op, usize)| {
        let here = m.parent_block(user).and_then(|b| m.parent_region(b)) == Some(region);
        here && matches!((role(m, user), i), (Some(SlotRole::Load), 0) | (Some(SlotRole::Store), 1))
    };
    (shape.iter().all(|&d| d == 1) && m.uses(slot).all(good_use)).then_some(*elem)
}

fn promote_region(m: &mut Module, region: Region, dominance: &Dominance, cx: &mut PassContext<'_>) -> u64 {
    let mut slots: Vec<Slot> = Vec::new();
    let mut index: FxHashMap<Value, usize> = FxHashMap::default();
    for op in m.region_blocks(region).flat_map(|b| m.block_ops(b)) {
        if let Some(ty) = promotable(m, op, region).filter(|_| cx.allows("promote", m, op)) {
            index.insert(m.result(op, 0), slots.len());
            slots.push(Slot { alloc: op, ty, unwritten: None });
        }
    }
    if slots.is_empty() || !(m.has_one_block(region) || branches_can_carry(m, region)) {
        return 0;
    }
    let order = dominance.preorder(m, region);
    let args =
        if order.len() > 1 { place_arguments(m, &order, dominance, &slots, &index) } else { FxHashMap::default() };
    let current = vec![None; slots.len()];
    let mut rename = Rename { m, slots, index, args, current, log: Vec::new(), dead: Vec::new() };
    rename.run(region, &order, dominance);
    let Rename { slots, dead, .. } = rename;
    for op in dead.into_iter().rev() {
        m.erase_op(op);
    }
    let n = slots.len() as u64;
    for slot in slots {
        m.erase_op(slot.alloc);
    }
    n
}

/// Whether all branches between the blocks declare their successor operands, so that operands can be added.
fn branches_can_carry(m: &Module, region: Region) -> bool {
    let branch = |op: Op| (0..m.successors(op).len()).all(|i| carried_group(m, op, i).is_some());
    m.region_blocks(region).filter_map(|b| m.last_op(b)).all(branch)
}

/// New block arguments: for each block, the slots and arguments.
type Arguments = FxHashMap<Block, Vec<(usize, Value)>>;

/// Adds block arguments at the iterated dominance frontier of stores, where the slot is live.
fn place_arguments(
    m: &mut Module,
    order: &[Block],
    dominance: &Dominance,
    slots: &[Slot],
    index: &FxHashMap<Value, usize>,
) -> Arguments {
    let mut preds: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
    for &block in order {
        for to in successors(m, block) {
            preds.entry(to).or_default().push(block);
        }
    }
    let tree = DominatorTree::new(m, order, dominance);
    let (reads, writes) = accesses(m, order, slots.len(), index);
    let mut args = Arguments::default();
    for (i, slot) in slots.iter().enumerate() {
        let live = live_blocks(&reads[i], &writes[i], &preds);
        for block in tree.iterated_frontier(&writes[i], |block| live.contains(&block)) {
            let loc = m.loc(slot.alloc);
            let arg = m.add_block_arg(block, slot.ty, loc);
            args.entry(block).or_default().push((i, arg));
        }
    }
    args
}

/// Returns, for each slot, the blocks that read it before writing it, and the blocks that write it. An allocation writes poison: a slot
/// of a loop's body is a new one in each iteration, and lives in blocks only that its allocation dominates.
fn accesses(
    m: &Module,
    order: &[Block],
    slots: usize,
    index: &FxHashMap<Value, usize>,
) -> (Vec<Vec<Block>>, Vec<Vec<Block>>) {
    let (mut reads, mut writes) = (vec![Vec::new(); slots], vec![Vec::new(); slots]);
    for &block in order {
        for op in m.block_ops(block) {
            let Some(role) = role(m, op) else { continue };
            let slot = match role {
                SlotRole::Alloc => m.results(op).next(),
                SlotRole::Load => m.operands(op).first().copied(),
                SlotRole::Store => m.operands(op).get(1).copied(),
            };
            let Some(&i) = slot.and_then(|slot| index.get(&slot)) else { continue };
            if writes[i].last() != Some(&block) {
                let list = if role == SlotRole::Load { &mut reads[i] } else { &mut writes[i] };
                list.push(block);
            }
        }
    }
    (reads, writes)
}

/// Returns the blocks at whose start the slot is live.
fn live_blocks(reads: &[Block], writes: &[Block], preds: &FxHashMap<Block, Vec<Block>>) -> FxHashSet<Block> {
    let writes: FxHashSet<Block> = writes.iter().copied().collect();
    let mut live: FxHashSet<Block> = FxHashSet::default();
    let mut work = reads.to_vec();
    while let Some(block) = work.pop() {
        if live.insert(block) {
            work.extend(preds.get(&block).into_iter().flatten().filter(|p| !writes.contains(*p)));
        }
    }
    live
}

/// The dominator tree of a region's blocks, which are numbered in pre-order, so that a subtree is a range.
struct DominatorTree<'a> {
    order: &'a [Block],
    rank: FxHashMap<Block, usize>,
    /// Distance from the entry.
    depth: Vec<u32>,
    /// One past the last block of the subtree.
    end: Vec<usize>,
    successors: Vec<SmallVec<[usize; 2]>>,
}

impl<'a> DominatorTree<'a> {
    fn new(m: &Module, order: &'a [Block], dominance: &Dominance) -> DominatorTree<'a> {
        let rank: FxHashMap<Block, usize> = order.iter().enumerate().map(|(i, &block)| (block, i)).collect();
        let to = |&block: &Block| successors(m, block).filter_map(|to| rank.get(&to).copied()).collect();
        let successors = order.iter().map(to).collect();
        let parent = |i: usize| dominance.immediate_dominator(order[i]).map_or(0, |parent| rank[&parent]);
        let (mut depth, mut end): (Vec<u32>, Vec<usize>) = (vec![0; order.len()], (1..=order.len()).collect());
        for i in 1..order.len() {
            depth[i] = depth[parent(i)] + 1;
        }
        for i in (1..order.len()).rev() {
            end[parent(i)] = end[parent(i)].max(end[i]);
        }
        DominatorTree { order, rank, depth, end, successors }
    }

    /// Returns the accepted blocks of the iterated dominance frontier of some blocks, in pre-order. Linear in the number of
    /// branches: Sreedhar and Gao, "A Linear Time Algorithm for Placing phi-Nodes" (1995). Deeper blocks come first; an edge
    /// from the subtree of a block to a block that is not deeper ends in its frontier, and each subtree is visited once.
    fn iterated_frontier(&self, blocks: &[Block], accepts: impl Fn(Block) -> bool) -> Vec<Block> {
        let mut work: BinaryHeap<(u32, usize)> =
            blocks.iter().map(|b| (self.depth[self.rank[b]], self.rank[b])).collect();
        // For each visited block, one past its subtree; and whether a block was found.
        let (mut visited, mut found) = (FxHashMap::default(), BTreeSet::new());
        // Nothing branches to the entry.
        while let Some((depth, root)) = work.pop().filter(|(depth, _)| *depth > 0) {
            let mut at = root;
            while at < self.end[root] {
                if let Some(&end) = visited.get(&at) {
                    at = end;
                    continue;
                }
                for &to in self.successors[at].iter().filter(|&&to| self.depth[to] <= depth) {
                    if accepts(self.order[to]) && found.insert(to) {
                        work.push((self.depth[to], to));
                    }
                }
                at += 1;
            }
            visited.insert(root, self.end[root]);
        }
        found.into_iter().map(|i| self.order[i]).collect()
    }
}

struct Rename<'m> {
    m: &'m mut Module,
    slots: Vec<Slot>,
    index: FxHashMap<Value, usize>,
    args: Arguments,
    /// The current value of each slot.
    current: Vec<Option<Value>>,
    /// Undo log of `current`.
    log: Vec<(usize, Option<Value>)>,
    dead: Vec<Op>,
}

impl Rename<'_> {
    /// Renames in dominator-tree order.
    fn run(&mut self, region: Region, order: &[Block], dominance: &Dominance) {
        // Open blocks with the length of the undo log before them.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for &block in order {
            while let Some(&(_, mark)) = open.last().filter(|o| !dominance.block_dominates(o.0, block)) {
                self.undo_to(mark);
                open.pop();
            }
            open.push((block, self.log.len()));
            self.block(block);
        }
        self.undo_to(0);
        let reached: FxHashSet<Block> = order.iter().copied().collect();
        for block in self.m.region_blocks(region).filter(|b| !reached.contains(b)).collect::<Vec<_>>() {
            self.block(block);
            self.undo_to(0);
        }
    }

    fn set(&mut self, slot: usize, value: Value) {
        let old = self.current[slot].replace(value);
        self.log.push((slot, old));
    }

    fn undo_to(&mut self, mark: usize) {
        for (slot, old) in self.log.drain(mark..).rev() {
            self.current[slot] = old;
        }
    }

    fn block(&mut self, block: Block) {
        for (i, arg) in self.args.get(&block).cloned().unwrap_or_default() {
            self.set(i, arg);
        }
        for op in self.m.block_ops(block).collect::<Vec<_>>() {
            let slot = |i: usize| self.m.operands(op).get(i).and_then(|v| self.index.get(v)).copied();
            match role(self.m, op) {
                Some(SlotRole::Load) => {
                    let Some(i) = slot(0) else { continue };
                    let value = self.value(i);
                    let result = self.m.result(op, 0);
                    self.m.replace_all_uses(result, value);
                    self.dead.push(op);
                }
                Some(SlotRole::Store) => {
                    let Some(i) = slot(1) else { continue };
                    self.set(i, self.m.operands(op)[0]);
                    self.dead.push(op);
                }
                _ => {}
            }
        }
        self.carry(block);
    }

    /// Adds operands for the new arguments of a block's successors.
    fn carry(&mut self, block: Block) {
        let Some(branch) = self.m.last_op(block) else { return };
        for i in 0..self.m.successors(branch).len() {
            let to = self.m.successors(branch)[i];
            let slots = self.args.get(&to).cloned().unwrap_or_default();
            let values: Vec<Value> = slots.into_iter().map(|(slot, _)| self.value(slot)).collect();
            carry_also(self.m, branch, i, &values);
        }
    }

    fn value(&mut self, slot: usize) -> Value {
        if let Some(value) = self.current[slot] {
            return value;
        }
        let Slot { alloc, ty, unwritten } = self.slots[slot];
        let value = unwritten.unwrap_or_else(|| {
            let mut state = OpState::new(&self.m.ctx, "ub.poison", Loc::UNKNOWN);
            state.loc = self.m.loc(alloc);
            state.result_types.push(ty);
            let op = Builder::before(self.m, alloc).create(state);
            self.m.result(op, 0)
        });
        self.slots[slot].unwritten = Some(value);
        value
    }
}
