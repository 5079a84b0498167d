//! The division of a function into programs and ops of the host.
//!
//! Each op has a level: ops of the machine that depend on an op of the host, which depends on the machine, have the next one. The ops of
//! the machine of a level are a program. Ops with effects keep their order.

use gradus_ir::effects::is_memory_free;
use gradus_ir::pass::Concern;
use gradus_ir::{Block, Module, Op, PassContext, Refusal, Traits, Value};
use gradus_networks::graph;
use rustc_hash::{FxHashMap, FxHashSet};

/// The tag of the rewrite that makes an op part of a program.
pub(crate) const OFFLOAD: &str = "offload";

/// The ops of a level.
#[derive(Clone, Default, Debug)]
pub(crate) struct Level {
    /// Ops of the machine.
    pub(crate) machine: Vec<Op>,
    /// Ops of the host that depend on the machine's of this level, or on none.
    pub(crate) host: Vec<Op>,
}

/// Whether an op computes something in a network, so that there is a reason if it stays on the host.
pub(crate) fn is_of_network(m: &Module, op: Op) -> bool {
    m.ctx.op_dialect(m.name(op)) == graph::DIALECT.name && !m.has_trait(op, Traits::CONSTANT_LIKE)
}

/// Refuses the ops of networks outside of functions of one block. Returns these functions, each with its block.
pub(crate) fn refuse_outside_functions(m: &Module, root: Op, cx: &mut PassContext<'_>) -> Vec<(Op, Block)> {
    let (mut found, mut inside) = (Vec::new(), FxHashSet::default());
    for op in m.ops_under(root) {
        let mut blocks = m.regions(op).iter().flat_map(|&region| m.region_blocks(region));
        let only = blocks.next().filter(|_| m.has_trait(op, Traits::FUNCTION) && blocks.next().is_none());
        found.extend(only.map(|block| (op, block)));
        inside.extend(only);
        if is_of_network(m, op) && m.parent_block(op).is_none_or(|block| !inside.contains(&block)) {
            stays(m, op, &"a place other than the only block of a function".into(), cx);
        }
    }
    found
}

/// Reports and counts an op of a network that stays on the host.
fn stays(m: &Module, op: Op, refusal: &Refusal, cx: &mut PassContext<'_>) {
    if is_of_network(m, op) {
        cx.refuse(m, op, refusal);
        cx.count("num-host", 1);
    }
}

/// Returns the ops of a block that are divided: all but constants and the terminator.
fn ops(m: &Module, block: Block) -> impl Iterator<Item = Op> {
    m.block_ops(block).filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE) && !m.has_trait(op, Traits::TERMINATOR))
}

/// Returns the levels of the ops of a block, given those of the host. The first has ops of the host that depend on no op of the machine.
pub(crate) fn levels(m: &Module, block: Block, host: &FxHashSet<Op>) -> Vec<Level> {
    let mut of: FxHashMap<Value, (usize, bool)> = FxHashMap::default();
    let mut levels = vec![Level::default()];
    // The level of the last op with effects, whose order stays.
    let mut last_access = 0;
    for op in ops(m, block) {
        let is_machine = !host.contains(&op);
        // Regions use values too.
        let used = m.ops_under(op).into_iter().flat_map(|user| m.operands(user));
        let known = used.filter_map(|v| of.get(v));
        // An op of the machine comes after ops of the host that its operands need.
        let level = known.map(|&(level, machine)| level + usize::from(is_machine && !machine)).max();
        let mut level = level.unwrap_or(0).max(usize::from(is_machine));
        if !is_memory_free(m, op) {
            level = level.max(last_access);
            last_access = level;
        }
        levels.resize_with(levels.len().max(level + 1), Level::default);
        if is_machine {
            levels[level].machine.push(op);
        } else {
            levels[level].host.push(op);
        }
        of.extend(m.results(op).map(|v| (v, (level, is_machine))));
    }
    levels
}

/// The programs of a block, or an op that must stay on the host, and why.
pub(crate) type Programs<P> = Result<Vec<P>, (Op, Refusal)>;

/// Compiles a block to programs, each op of which is a numbered rewrite. `check` refuses ops by themselves; `compile` gets the ops that
/// stay on the host, and returns an op that must stay too if it fails. `ops_of` returns the ops that a program computes.
pub(crate) fn offload<P>(
    m: &Module,
    block: Block,
    cx: &mut PassContext<'_>,
    check: &dyn Fn(Op) -> Result<(), Refusal>,
    compile: &mut dyn FnMut(&FxHashSet<Op>, &mut PassContext<'_>) -> Programs<P>,
    ops_of: fn(&P) -> &[Op],
) -> Vec<P> {
    let mut host = FxHashSet::default();
    let refuse = |host: &mut FxHashSet<Op>, cx: &mut PassContext<'_>, op: Op, refusal: &Refusal| {
        // An op may be refused because of another one, from which it reads.
        let op = if let Concern::Other(other) = refusal.concern { other } else { op };
        stays(m, op, refusal, cx);
        host.insert(op);
    };
    for op in ops(m, block) {
        if let Err(refusal) = check(op) {
            refuse(&mut host, cx, op, &refusal);
        }
    }
    let mut settle = |host: &mut FxHashSet<Op>, cx: &mut PassContext<'_>| loop {
        match compile(host, cx) {
            Ok(programs) => break programs,
            Err((op, refusal)) => refuse(host, cx, op, &refusal),
        }
    };
    let programs = settle(&mut host, cx);
    let ops = programs.iter().flat_map(ops_of).copied();
    let stopped: Vec<Op> = ops.filter(|&op| !cx.allows(OFFLOAD, m, op)).collect();
    if stopped.is_empty() {
        return programs;
    }
    host.extend(stopped);
    settle(&mut host, cx)
}
