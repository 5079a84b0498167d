//! `cse`: common subexpression elimination.

use gradus_ir::dominance::{Dominance, is_graph};
use gradus_ir::effects::{Access, Effects, for_each_access, is_dead};
use gradus_ir::equal::structurally_equal;
use gradus_ir::pass::Rewrites;
use gradus_ir::{
    Attr, Block, Diagnostic, Module, Op, OpName, Pass, PassContext, PassInfo, Region, Traits, Type, Value,
};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "cse",
    class: "CSE",
    doc: "Eliminate common subexpressions

# Before / After

```mlir
%0 = arith.addi %a, %b : i32
%1 = arith.addi %a, %b : i32        // erased; uses of %1 become uses of %0
```

# Does

Replaces an op by an equal one (name, operands, attributes, result types, regions) that dominates it, and erases dead ops. Operands
of commutative ops may be in any order. An op that only reads memory is merged with an earlier one in its block if no op in between
may write.

# Refuses

Ops with other effects, regions with several blocks, and unregistered ops.

# Cost

Linear in the number of ops.",
    statistics: &[("num-cse'd", "Number of operations CSE'd"), ("num-dce'd", "Number of operations DCE'd")],
    rewrites: Rewrites::Tags(&["cse", "erase-dead-op"]),
    make: |_| Ok(Box::new(Cse)),
    ..PassInfo::DEFAULT
};

struct Cse;

/// The structure of an op without its regions; equal keys are candidates for merging.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    name: OpName,
    props: Attr,
    attrs: Attr,
    operands: smallvec::SmallVec<[Value; 3]>,
    results: smallvec::SmallVec<[Type; 1]>,
    /// For ops that read memory: the block and the number of preceding writes in it.
    epoch: Option<(Block, u32)>,
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// The ops that dominate the current op, with an undo log for scopes.
#[derive(Default)]
struct DominatingOps {
    ops: Map<Key, Op>,
    log: Vec<(Key, Option<Op>)>,
}

impl DominatingOps {
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
        let mut walk =
            CseWalk { m, dominance, cx, known: DominatingOps::default(), dead: Vec::new(), merged: 0, dropped: 0 };
        for region in walk.m.regions(op).to_vec() {
            walk.region(region);
        }
        let CseWalk { cx, dead, merged, dropped, .. } = walk;
        cx.count("num-cse'd", merged);
        cx.count("num-dce'd", dropped);
        // Erased at the end, users before definitions, so that entities in the tables are not reused.
        for op in dead.into_iter().rev() {
            m.erase_op(op);
        }
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

struct CseWalk<'m, 'c> {
    m: &'m mut Module,
    cx: &'m mut PassContext<'c>,
    dominance: Dominance,
    known: DominatingOps,
    dead: Vec<Op>,
    merged: u64,
    dropped: u64,
}

impl CseWalk<'_, '_> {
    /// Visits the blocks of a region in dominator-tree order. Returns the effects of its ops.
    fn region(&mut self, region: Region) -> Touched {
        let mark = self.known.log.len();
        let graph = is_graph(self.m, region);
        let mut touched = Touched::NOTHING;
        // Blocks whose dominated blocks are not all visited.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for block in self.dominance.preorder(self.m, region) {
            while let Some(&(top, mark)) = open.last() {
                if self.dominance.block_dominates(top, block) {
                    break;
                }
                self.known.close(mark);
                open.pop();
            }
            open.push((block, self.known.log.len()));
            touched = touched.max(self.block(block, graph));
        }
        self.known.close(mark);
        touched
    }

    fn block(&mut self, block: Block, graph: bool) -> Touched {
        let (mut all, mut writes) = (Touched::NOTHING, 0);
        for op in self.m.block_ops(block).collect::<Vec<_>>() {
            let inner_dead = self.dead.len();
            let touched = self.op_touches(op);
            if self.is_dead(op, touched) && self.cx.allows("erase-dead-op", self.m, op) {
                // Nested dead ops are erased with the op.
                self.dead.truncate(inner_dead);
                self.dropped += 1;
                self.dead.push(op);
                continue;
            }
            all = all.max(touched);
            writes += u32::from(touched >= Touched::from(Access::Write));
            if graph || !can_merge(self.m, op) {
                continue;
            }
            if touched == Touched::NOTHING {
                self.merge(op, None, inner_dead);
            } else if touched == Touched::from(Access::Read) && self.m.regions(op).is_empty() {
                self.merge(op, Some((block, writes)), inner_dead);
            }
        }
        all
    }

    /// Visits an op's regions and returns its effects.
    fn op_touches(&mut self, op: Op) -> Touched {
        let mut inner = Touched::NOTHING;
        for region in self.m.regions(op).to_vec() {
            let apart = self.m.has_trait(op, Traits::ISOLATED) || self.m.has_trait(op, Traits::MASKING);
            inner = inner.max(if apart {
                let outer = std::mem::take(&mut self.known);
                let touched = stacker::maybe_grow(64 << 10, 1 << 20, || self.region(region));
                self.known = outer;
                touched
            } else {
                stacker::maybe_grow(64 << 10, 1 << 20, || self.region(region))
            });
        }
        match self.m.info(op).map_or(Effects::Unknown, |info| info.effects) {
            Effects::Pure | Effects::MayUb => Touched::NOTHING,
            Effects::Memory(list) => list.iter().map(|e| Touched::from(e.0)).max().unwrap_or(Touched::NOTHING),
            Effects::MemoryOf(_) => {
                let mut touched = Touched::NOTHING;
                for_each_access(self.m, op, &mut |_, (access, _)| {
                    touched = touched.max(Touched::from(access));
                    true
                });
                touched
            }
            Effects::Recursive => inner,
            Effects::Unknown => Touched::UNKNOWN,
        }
    }

    fn is_dead(&self, op: Op, touched: Touched) -> bool {
        let m = &self.m;
        if m.regions(op).is_empty() {
            return is_dead(m, op);
        }
        let kept = m.has_trait(op, Traits::TERMINATOR) || m.has_trait(op, Traits::SYMBOL) || m.info(op).is_none();
        !kept && touched <= Touched::from(Access::Read) && m.results(op).all(|v| m.is_unused(v))
    }

    /// Replaces an op by an equal dominating one, or records it. `inner_dead` is the number of dead ops before its
    /// regions were visited.
    fn merge(&mut self, op: Op, epoch: Option<(Block, u32)>, inner_dead: usize) {
        let m = &mut *self.m;
        let key = key_of(m, op, epoch);
        let Some(&first) = self.known.ops.get(&key) else { return self.known.insert(key, op) };
        if !m.regions(op).is_empty() && !structurally_equal(m, first, m, op) {
            return self.known.insert(key, op);
        }
        if !self.cx.allows("cse", m, op) {
            return;
        }
        for (old, new) in m.results(op).zip(m.results(first)) {
            m.replace_all_uses(old, new);
        }
        self.merged += 1;
        self.dead.truncate(inner_dead);
        self.dead.push(op);
    }
}

/// The strongest memory effect: none, an [`Access`], or unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Touched(u8);

impl Touched {
    const NOTHING: Touched = Touched(0);
    const UNKNOWN: Touched = Touched(u8::MAX);
}

impl From<Access> for Touched {
    fn from(access: Access) -> Touched {
        Touched(1 + access as u8)
    }
}

/// Whether the op may be merged with an equal one.
fn can_merge(m: &Module, op: Op) -> bool {
    let simple = |&r: &Region| m.entry(r).is_none() || m.has_one_block(r);
    !m.has_trait(op, Traits::TERMINATOR) && m.num_results(op) > 0 && m.regions(op).iter().all(simple)
}

fn key_of(m: &Module, op: Op, epoch: Option<(Block, u32)>) -> Key {
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
        epoch,
    }
}
