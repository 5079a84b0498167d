//! Control-flow simplification: unreachable blocks, dead block arguments and equal blocks.

use crate::branch::{carried_group, carried_ranges};
use crate::dominance::successors;
use crate::effects::is_removable;
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::pass::{ActionUnit, Actions};
use crate::traits::Traits;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// The degree of control-flow simplification after each round. Unreachable blocks are always erased before a round, so
/// that patterns do not see them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RegionSimplification {
    /// No simplification.
    Disabled,
    /// Erases unreachable blocks and dead block arguments.
    #[default]
    Normal,
    /// Also merges equal blocks, and replaces block arguments that always have the same value.
    Aggressive,
}

/// Simplifies all regions under `root`. Returns the number of changes.
pub(crate) fn simplify_regions(
    m: &mut Module,
    root: Op,
    level: RegionSimplification,
    mut actions: Option<&mut Actions>,
) -> u64 {
    if level == RegionSimplification::Disabled {
        return 0;
    }
    let mut changes = 0;
    let mut stack = m.regions(root).to_vec();
    while let Some(region) = stack.pop() {
        let is_code = m.region_op(region).is_some_and(|parent| m.has_trait(parent, Traits::MACHINE_CODE));
        if m.entry(region).is_some() && !m.has_one_block(region) && !is_code && allows(&mut actions, m, region) {
            changes += erase_unreachable(m, region) + erase_unneeded(m, region);
            if level == RegionSimplification::Aggressive {
                changes += merge_equal(m, region) + replace_constant_args(m, region);
            }
        }
        for block in m.region_blocks(region) {
            stack.extend(m.block_ops(block).flat_map(|op| m.regions(op).iter().copied()));
        }
    }
    changes
}

/// Erases the unreachable blocks of all regions under `root`. Returns their number.
pub(crate) fn erase_unreachable_blocks(m: &mut Module, root: Op) -> u64 {
    let mut erased = 0;
    let mut stack = m.regions(root).to_vec();
    while let Some(region) = stack.pop() {
        if m.entry(region).is_some() && !m.has_one_block(region) {
            erased += erase_unreachable(m, region);
        }
        for block in m.region_blocks(region) {
            stack.extend(m.block_ops(block).flat_map(|op| m.regions(op).iter().copied()));
        }
    }
    erased
}

fn allows(actions: &mut Option<&mut Actions>, m: &Module, region: Region) -> bool {
    const TAG: &str = "simplify-region";
    let Some(actions) = actions else { return true };
    let allowed = actions.begin(TAG, "", ActionUnit::Region(region), m);
    if allowed {
        actions.end(TAG, true);
    }
    allowed
}

/// Erases the blocks that are unreachable from the entry.
fn erase_unreachable(m: &mut Module, region: Region) -> u64 {
    let mut stack: Vec<Block> = m.entry(region).into_iter().collect();
    let mut reachable: FxHashSet<Block> = stack.iter().copied().collect();
    while let Some(block) = stack.pop() {
        stack.extend(successors(m, block).filter(|&next| reachable.insert(next)));
    }
    let dead: Vec<Block> = m.region_blocks(region).filter(|block| !reachable.contains(block)).collect();
    m.erase_blocks(&dead);
    dead.len() as u64
}

/// The predecessors of each block: the terminator and the successor index.
type Preds = FxHashMap<Block, Vec<(Op, usize)>>;

fn predecessors(m: &Module, region: Region) -> Preds {
    let mut preds = Preds::default();
    for block in m.region_blocks(region) {
        let Some(last) = m.last_op(block) else { continue };
        for (i, &to) in m.successors(last).iter().enumerate() {
            preds.entry(to).or_default().push((last, i));
        }
    }
    preds
}

/// The successor operands of all branches of a region whose operands do not change meanwhile.
struct Carried(FxHashMap<Op, SmallVec<[Range<usize>; 2]>>);

impl Carried {
    fn new(m: &Module, region: Region) -> Carried {
        let branches = m.region_blocks(region).filter_map(|block| m.last_op(block));
        Carried(branches.map(|op| (op, carried_ranges(m, op))).collect())
    }

    /// Returns the operands of a branch that become arguments of its successor `i`; `None` if undeclared or mismatched. In
    /// constant time: a branch may have many successors.
    fn forwarded(&self, m: &Module, branch: Op, i: usize) -> Option<Range<usize>> {
        carried_group(m, branch, i)?;
        let (range, block) = (self.0.get(&branch)?.get(i)?.clone(), *m.successors(branch).get(i)?);
        (range.len() == m.block_args(block).len() && range.end <= m.operands(branch).len()).then_some(range)
    }
}

/// The live values of a region: those that reach a side effect, a nested region or a region exit.
struct Needed<'a> {
    m: &'a Module,
    region: Region,
    preds: &'a Preds,
    carried: &'a Carried,
    ops: FxHashSet<Op>,
    args: FxHashSet<Value>,
    pending: Vec<Pending>,
}

/// A worklist entry: a live op or block argument whose operands are still to be marked.
enum Pending {
    Op(Op),
    /// Argument `.1` of a block.
    Arg(Block, u32),
}

impl Needed<'_> {
    fn find(&mut self) {
        let m = self.m;
        for op in m.region_blocks(self.region).flat_map(|block| m.block_ops(block)) {
            if !is_removable(m, op) || !m.regions(op).is_empty() {
                self.op(op);
            }
        }
        while let Some(pending) = self.pending.pop() {
            match pending {
                Pending::Op(op) => {
                    self.operands(op);
                    for &inner in &m.ops_under(op)[1..] {
                        m.operands(inner).iter().for_each(|&value| self.value(value));
                    }
                }
                Pending::Arg(block, i) => self.arg(block, i),
            }
        }
    }

    fn op(&mut self, op: Op) {
        if self.ops.insert(op) {
            self.pending.push(Pending::Op(op));
        }
    }

    /// Marks the operands of a live op. Operands forwarded to a block argument are live only if the argument is.
    fn operands(&mut self, op: Op) {
        let m = self.m;
        let mut held_back = vec![false; m.operands(op).len()];
        for (i, &block) in m.successors(op).iter().enumerate() {
            match self.carried.forwarded(m, op, i) {
                Some(range) => held_back[range].fill(true),
                None => m.block_args(block).iter().for_each(|&arg| self.value(arg)),
            }
        }
        for (&value, held_back) in m.operands(op).iter().zip(held_back) {
            if !held_back {
                self.value(value);
            }
        }
    }

    fn value(&mut self, value: Value) {
        let m = self.m;
        match m.def(value) {
            Def::Result(op, _) => {
                if m.parent_block(op).and_then(|b| m.parent_region(b)) == Some(self.region) {
                    self.op(op);
                }
            }
            Def::Arg(block, i) => {
                if m.parent_region(block) == Some(self.region) && self.args.insert(value) {
                    self.pending.push(Pending::Arg(block, i));
                }
            }
        }
    }

    /// Marks the operands that branches forward to a live argument.
    fn arg(&mut self, block: Block, i: u32) {
        for &(terminator, successor) in self.preds.get(&block).map_or(&[][..], Vec::as_slice) {
            if let Some(range) = self.carried.forwarded(self.m, terminator, successor) {
                self.value(self.m.operands(terminator)[range.start + i as usize]);
            }
        }
    }
}

/// Erases dead block arguments, the operands forwarded to them, and ops used only by dead values.
fn erase_unneeded(m: &mut Module, region: Region) -> u64 {
    let blocks: Vec<Block> = m.region_blocks(region).skip(1).collect();
    if blocks.iter().all(|&block| m.block_args(block).is_empty()) {
        return 0;
    }
    let preds = predecessors(m, region);
    let (ops, args) = (FxHashSet::default(), FxHashSet::default());
    let carried = Carried::new(m, region);
    let mut needed = Needed { m, region, preds: &preds, carried: &carried, ops, args, pending: Vec::new() };
    needed.find();
    let (needed_ops, needed_args) = (needed.ops, needed.args);
    let dead: Vec<Op> =
        m.region_blocks(region).flat_map(|b| m.block_ops(b)).filter(|op| !needed_ops.contains(op)).collect();
    let mut changes = dead.len() as u64;
    let kept = |&block: &Block| {
        let keep: Vec<bool> = m.block_args(block).iter().map(|arg| needed_args.contains(arg)).collect();
        keep.contains(&false).then_some((block, keep))
    };
    let fewer: Vec<(Block, Vec<bool>)> = blocks.iter().filter_map(kept).collect();
    forward_less(m, &preds, &carried, &fewer);
    dead.iter().for_each(|&op| m.set_operands(op, &[]));
    dead.into_iter().for_each(|op| m.erase_op(op));
    for (block, keep) in fewer {
        changes += keep.iter().filter(|keep| !**keep).count() as u64;
        m.retain_block_args(block, |i| keep[i]);
    }
    changes
}

/// Drops the operands that branches forward to arguments of blocks that are not kept. Each branch is changed once, since it may
/// have many of the blocks as successors.
fn forward_less(m: &mut Module, preds: &Preds, carried: &Carried, fewer: &[(Block, Vec<bool>)]) {
    let mut dropped: IndexMap<Op, Vec<bool>, FxBuildHasher> = IndexMap::default();
    for (block, keep) in fewer {
        for &(branch, i) in preds.get(block).map_or(&[][..], Vec::as_slice) {
            let Some(range) = carried.forwarded(m, branch, i) else { continue };
            let drops = dropped.entry(branch).or_insert_with(|| vec![false; m.operands(branch).len()]);
            drops[range].iter_mut().zip(keep).for_each(|(drop, keep)| *drop = !keep);
        }
    }
    for (branch, drops) in dropped {
        m.retain_operands(branch, |i| !drops[i]);
    }
}

/// Replaces each argument for which all branches forward the same value by that value.
fn replace_constant_args(m: &mut Module, region: Region) -> u64 {
    let (preds, carried) = (predecessors(m, region), Carried::new(m, region));
    let (mut changes, mut fewer) = (0, Vec::new());
    for block in m.region_blocks(region).skip(1).collect::<Vec<_>>() {
        let args = m.block_args(block).to_vec();
        let values: Vec<Option<Value>> = (0..args.len()).map(|i| only_value(m, &preds, &carried, block, i)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        for (&arg, &value) in args.iter().zip(&values) {
            if let Some(value) = value {
                m.replace_all_uses(arg, value);
                changes += 1;
            }
        }
        fewer.push((block, values.iter().map(Option::is_none).collect()));
    }
    forward_less(m, &preds, &carried, &fewer);
    for (block, keep) in fewer {
        m.retain_block_args(block, |i| keep[i]);
    }
    changes
}

/// Returns the single value that all branches forward to argument `i`. Arguments of the same block are excluded: they
/// may be replaced themselves.
fn only_value(m: &Module, preds: &Preds, carried: &Carried, block: Block, i: usize) -> Option<Value> {
    let arg = m.block_args(block)[i];
    let mut only = None;
    for &(terminator, successor) in preds.get(&block)? {
        let range = carried.forwarded(m, terminator, successor)?;
        let value = m.operands(terminator)[range.start + i];
        if value != arg && *only.get_or_insert(value) != value {
            return None;
        }
    }
    only.filter(|&value| m.def_block(value) != Some(block))
}

/// Maximum number of blocks with the same outline that are compared.
const MAX_ALIKE: usize = 16;

/// Redirects branches to a block that equals an earlier one, and erases it.
fn merge_equal(m: &mut Module, region: Region) -> u64 {
    let (preds, carried) = (predecessors(m, region), Carried::new(m, region));
    let mut alike: FxHashMap<Vec<u32>, Vec<Block>> = FxHashMap::default();
    let mut merged = Vec::new();
    for block in m.region_blocks(region).skip(1).collect::<Vec<_>>() {
        let branches = preds.get(&block).map_or(&[][..], Vec::as_slice);
        if !is_closed(m, block) || branches.iter().any(|&(op, i)| carried.forwarded(m, op, i).is_none()) {
            continue;
        }
        let candidates = alike.entry(outline(m, block)).or_default();
        match candidates.iter().find(|&&other| same_block(m, other, block)) {
            Some(&other) => {
                for &(terminator, i) in branches {
                    m.set_successor(terminator, i, other);
                }
                merged.push(block);
            }
            None if candidates.len() < MAX_ALIKE => candidates.push(block),
            None => {}
        }
    }
    m.erase_blocks(&merged);
    merged.len() as u64
}

/// Whether the block has no regions and its values are used only inside it.
fn is_closed(m: &Module, block: Block) -> bool {
    let inside = |value: Value| m.uses(value).all(|(user, _)| m.parent_block(user) == Some(block));
    m.block_args(block).iter().all(|&arg| inside(arg))
        && m.block_ops(block).all(|op| m.regions(op).is_empty() && m.results(op).all(inside))
}

/// Returns a fingerprint that equal blocks share.
fn outline(m: &Module, block: Block) -> Vec<u32> {
    let types = m.block_args(block).iter().map(|&arg| m.value_type(arg).0);
    let ops = m.block_ops(block).flat_map(|op| [m.name(op).0, m.props(op).0, m.attrs(op).0]);
    types.chain([u32::MAX]).chain(ops).collect()
}

/// Whether two blocks with the same outline are structurally equal.
fn same_block(m: &Module, a: Block, b: Block) -> bool {
    let mut counterpart: FxHashMap<Value, Value> = FxHashMap::default();
    counterpart.extend(m.block_args(b).iter().copied().zip(m.block_args(a).iter().copied()));
    for (x, y) in m.block_ops(a).zip(m.block_ops(b)) {
        let same_operand = |(&v, w): (&Value, &Value)| v == *counterpart.get(w).unwrap_or(w);
        let same = m.successors(x) == m.successors(y)
            && m.operands(x).len() == m.operands(y).len()
            && m.operands(x).iter().zip(m.operands(y)).all(same_operand)
            && m.results(x).map(|v| m.value_type(v)).eq(m.results(y).map(|v| m.value_type(v)));
        if !same {
            return false;
        }
        counterpart.extend(m.results(y).zip(m.results(x)));
    }
    true
}
