//! `cse`.

use gradus_ir::dominance::{Dominance, is_graph};
use gradus_ir::rewrite::is_dead;
use gradus_ir::{
    Attr, Block, Diagnostic, Effects, Module, Op, OpName, Pass, PassContext, PassInfo, Region, Traits, Type, Value,
};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "cse",
    class: "CSE",
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

To merge ops with effects, with regions, or that are not registered.

# Cost

Linear in the number of ops.",
    statistics: &[("num-cse'd", "Number of operations CSE'd"), ("num-dce'd", "Number of operations DCE'd")],
    make: |_| Ok(Box::new(Cse)),
    ..PassInfo::DEFAULT
};

struct Cse;

/// What makes two ops equal.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    name: OpName,
    props: Attr,
    attrs: Attr,
    operands: smallvec::SmallVec<[Value; 3]>,
    results: smallvec::SmallVec<[Type; 1]>,
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
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let dominance = Dominance::new(m, op);
        let mut run = Run { m, dominance, cx, merged: 0, dead: 0, erased: Vec::new() };
        for region in run.m.regions(op).to_vec() {
            run.region(region, &mut Known::default());
        }
        let (merged, dead, erased) = (run.merged, run.dead, run.erased);
        cx.count("num-cse'd", merged);
        cx.count("num-dce'd", dead);
        // Erased at the end, so that keys are not reused while they are in the tables; users before what they use.
        for op in erased.into_iter().rev() {
            m.erase_op(op);
        }
        Ok(())
    }

    fn is_divisible(&self) -> bool {
        true
    }
}

/// One run of the pass.
struct Run<'r, 'c> {
    m: &'r mut Module,
    dominance: Dominance,
    cx: &'r mut PassContext<'c>,
    merged: u64,
    dead: u64,
    erased: Vec<Op>,
}

impl Run<'_, '_> {
    /// Visits the blocks of a region, each with what its dominators know.
    fn region(&mut self, region: Region, known: &mut Known) {
        let blocks: Vec<Block> = self.m.region_blocks(region).collect();
        let graph = is_graph(self.m, region);
        let mark = known.log.len();
        // Blocks that are open: their ops are known while what they dominate is visited.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for block in preorder(self.m, &blocks, &self.dominance) {
            while let Some(&(top, mark)) = open.last() {
                if self.dominance.block_dominates(top, block) {
                    break;
                }
                known.close(mark);
                open.pop();
            }
            open.push((block, known.log.len()));
            for op in self.m.block_ops(block).collect::<Vec<_>>() {
                self.op(op, graph, known);
            }
        }
        known.close(mark);
    }

    fn op(&mut self, op: Op, graph: bool, known: &mut Known) {
        if is_dead(self.m, op) && self.m.regions(op).is_empty() {
            if self.cx.allows("erase-dead-op", self.m, op) {
                self.dead += 1;
                self.erased.push(op);
            }
            return;
        }
        for region in self.m.regions(op).to_vec() {
            if self.m.has_trait(op, Traits::ISOLATED) {
                self.region(region, &mut Known::default());
            } else {
                self.region(region, known);
            }
        }
        if graph || !can_merge(self.m, op) {
            return;
        }
        let key = key_of(self.m, op);
        let Some(&first) = known.ops.get(&key) else { return known.insert(key, op) };
        if !self.cx.allows("cse", self.m, op) {
            return;
        }
        for (old, new) in self.m.results(op).zip(self.m.results(first)) {
            self.m.replace_all_uses(old, new);
        }
        self.merged += 1;
        self.erased.push(op);
    }
}

fn can_merge(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|i| matches!(i.effects, Effects::Pure | Effects::MayUb) && !i.traits.has(Traits::TERMINATOR))
        && m.regions(op).is_empty()
        && m.num_results(op) > 0
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
