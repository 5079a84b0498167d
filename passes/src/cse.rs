//! `cse`.

use gradus_ir::dominance::{Dominance, is_graph};
use gradus_ir::effects::{is_dead, is_memory_free};
use gradus_ir::equal::structurally_equal;
use gradus_ir::pass::Options;
use gradus_ir::{Attr, Block, Diagnostic, Effects, Module, Op, OpName, Pass, PassInfo, Region, Traits, Type, Value};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "cse",
    doc: "Computes equal things once.

# Before / After

```mlir
%0 = arith.addi %a, %b : i32
%1 = arith.addi %a, %b : i32        // dropped; uses of %1 become uses of %0
```

# Does

Replaces an op by an equal one (name, operands, attributes, result types) that dominates it, and drops dead ops. Operands
of commutative ops may be in any order.

# Refuses

To merge ops with effects, with regions of several blocks, or that are not registered.

# Cost

Linear in the number of ops.",
    anchor: None,
    options: &[],
    make: |_: &Options| Ok(Box::new(Cse { merged: 0, dead: 0 })),
};

struct Cse {
    merged: u64,
    dead: u64,
}

/// What makes two ops equal.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    name: OpName,
    props: Attr,
    attrs: Attr,
    operands: smallvec::SmallVec<[Value; 3]>,
    results: smallvec::SmallVec<[Type; 1]>,
    /// The names of the ops directly in its regions: what equal regions have in common, quickly found.
    inner: smallvec::SmallVec<[OpName; 1]>,
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// The ops that dominate the place being looked at, and what to forget when a scope closes.
#[derive(Default)]
struct Known {
    ops: Map<Key, Op>,
    log: Vec<(Key, Option<Op>)>,
}

impl Known {
    fn insert(&mut self, key: Key, op: Op) {
        let old = self.ops.insert(key.clone(), op);
        self.log.push((key, old));
    }

    fn close(&mut self, mark: usize) {
        for (key, old) in self.log.drain(mark..).rev() {
            match old {
                Some(op) => self.ops.insert(key, op),
                None => self.ops.remove(&key),
            };
        }
    }
}

impl Pass for Cse {
    fn run(&mut self, m: &mut Module, op: Op) -> Result<(), Diagnostic> {
        let dominance = Dominance::new(m, op);
        let mut known = Known::default();
        let mut dead = Vec::new();
        for region in m.regions(op).to_vec() {
            self.region(m, region, &dominance, &mut known, &mut dead);
        }
        // Erased at the end, so that keys are not reused while they are in the tables; users before what they use.
        for op in dead.into_iter().rev() {
            m.erase_op(op);
        }
        Ok(())
    }

    fn statistics(&self) -> Vec<(&'static str, u64)> {
        vec![("num-cse'd", self.merged), ("num-dce'd", self.dead)]
    }
}

impl Cse {
    /// Visits the blocks of a region, each with what its dominators know.
    fn region(&mut self, m: &mut Module, region: Region, dom: &Dominance, known: &mut Known, dead: &mut Vec<Op>) {
        let blocks: Vec<Block> = m.region_blocks(region).collect();
        let mark = known.log.len();
        // Blocks that are open: their ops are known while what they dominate is visited.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for block in preorder(m, &blocks, dom) {
            while let Some(&(top, mark)) = open.last() {
                if dom.block_dominates(top, block) {
                    break;
                }
                known.close(mark);
                open.pop();
            }
            open.push((block, known.log.len()));
            for op in m.block_ops(block).collect::<Vec<_>>() {
                self.op(m, op, is_graph(m, region), dom, known, dead);
            }
        }
        known.close(mark);
    }

    fn op(&mut self, m: &mut Module, op: Op, graph: bool, dom: &Dominance, known: &mut Known, dead: &mut Vec<Op>) {
        if is_dead(m, op) {
            self.dead += 1;
            dead.push(op);
            return;
        }
        for region in m.regions(op).to_vec() {
            if m.has_trait(op, Traits::ISOLATED) {
                self.region(m, region, dom, &mut Known::default(), dead);
            } else {
                self.region(m, region, dom, known, dead);
            }
        }
        if graph || !can_merge(m, op) {
            return;
        }
        let key = key_of(m, op);
        let Some(&first) = known.ops.get(&key).filter(|&&first| same_regions(m, first, op)) else {
            return known.insert(key, op);
        };
        for (old, new) in m.results(op).zip(m.results(first)) {
            m.replace_all_uses(old, new);
        }
        self.merged += 1;
        dead.push(op);
    }
}

fn can_merge(m: &Module, op: Op) -> bool {
    let Some(info) = m.info(op) else { return false };
    let regions = m.regions(op);
    !info.traits.has(Traits::TERMINATOR)
        && m.num_results(op) > 0
        && match info.effects {
            Effects::Pure | Effects::MayUb => regions.is_empty(),
            Effects::Recursive => regions.iter().all(|&r| m.has_one_block(r)) && is_memory_free(m, op),
            _ => false,
        }
}

fn same_regions(m: &Module, a: Op, b: Op) -> bool {
    m.regions(a).is_empty() || structurally_equal(m, a, m, b)
}

fn key_of(m: &Module, op: Op) -> Key {
    let mut operands: smallvec::SmallVec<[Value; 3]> = m.operands(op).into();
    if m.has_trait(op, Traits::COMMUTATIVE) && operands.len() >= 2 {
        operands[..2].sort_unstable();
    }
    Key {
        name: m.name(op),
        props: m.props(op),
        attrs: m.attrs(op),
        operands,
        inner: m
            .regions(op)
            .iter()
            .flat_map(|&r| m.region_blocks(r))
            .flat_map(|b| m.block_ops(b))
            .map(|op| m.name(op))
            .collect(),
        results: m.results(op).map(|v| m.value_type(v)).collect(),
    }
}

/// The reachable blocks in an order in which a dominator comes before all that it dominates, and these directly after it.
fn preorder(m: &Module, blocks: &[Block], dom: &Dominance) -> Vec<Block> {
    let Some(&entry) = blocks.first() else { return Vec::new() };
    if blocks.len() == 1 {
        return vec![entry];
    }
    let mut children: Map<Block, Vec<Block>> = Map::default();
    for &block in blocks {
        if let Some(parent) = dom.immediate_dominator(block).filter(|&p| p != block) {
            children.entry(parent).or_default().push(block);
        }
    }
    let (mut order, mut stack) = (Vec::new(), vec![entry]);
    while let Some(block) = stack.pop() {
        debug_assert!(dom.is_reachable(m, block));
        order.push(block);
        stack.extend(children.get(&block).into_iter().flatten().rev());
    }
    order
}
