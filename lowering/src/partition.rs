//! The division of a function into programs and ops of the host.
//!
//! Each op has a level: ops of the machine that depend on an op of the host, which depends on the machine, have the next one. The ops of
//! the machine of a level are a program. Ops with effects keep their order.

use gradus_ir::effects::is_memory_free;
use gradus_ir::{Block, Diagnostic, Module, Op, PassContext, Traits, Value};
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

/// Returns the levels of the ops of a block, without constants and the terminator. The first has ops of the host that depend on no op
/// of the machine.
pub(crate) fn levels(m: &Module, block: Block, is_of_machine: &dyn Fn(Op) -> bool) -> Vec<Level> {
    let mut of: FxHashMap<Value, (usize, bool)> = FxHashMap::default();
    let mut levels = vec![Level::default()];
    // The level of the last op with effects, whose order stays.
    let mut last_access = 0;
    for op in m.block_ops(block) {
        if m.has_trait(op, Traits::CONSTANT_LIKE) || m.has_trait(op, Traits::TERMINATOR) {
            continue;
        }
        let is_machine = is_of_machine(op);
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
type Programs<P> = Result<Vec<P>, (Op, String)>;

/// Compiles a block to programs, each op of which is a numbered rewrite. `compile` gets the ops that stay on the host, and returns an op that must
/// stay too if it fails; a remark says why. `ops_of` returns the ops that a program computes.
pub(crate) fn offload<P>(
    m: &Module,
    mut host: FxHashSet<Op>,
    cx: &mut PassContext<'_>,
    compile: &mut dyn FnMut(&FxHashSet<Op>, &mut PassContext<'_>) -> Programs<P>,
    ops_of: fn(&P) -> &[Op],
) -> Vec<P> {
    let mut settle = |host: &mut FxHashSet<Op>, cx: &mut PassContext<'_>| loop {
        match compile(host, cx) {
            Ok(programs) => break programs,
            Err((op, why)) => {
                cx.emit(Diagnostic::remark(m.loc(op), format!("'{}' stays on the host: {why}", m.name_text(op))));
                cx.count("num-host", 1);
                host.insert(op);
            }
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
