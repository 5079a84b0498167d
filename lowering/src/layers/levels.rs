//! Levels of a function: the ops that are a program of a machine together.
//!
//! Each op has a level: ops of the machine that depend on an op of the host, which depends on the machine, have the next one. The ops of
//! the machine of a level are a program. Ops with effects keep their order.

use gradus_cost::{CostModel, ReadParameters};
use gradus_ir::effects::is_memory_free;
use gradus_ir::pass::Concern;
use gradus_ir::{Block, Diagnostic, Module, Op, OpDecl, PassContext, Refusal, Traits, Value};
use gradus_networks::graph;
use gradus_networks::layer::{FusedOp, LayerProgramOp};
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

/// Whether an op is a layer, or a program of layers.
fn is_layer(m: &Module, op: Op) -> bool {
    LayerProgramOp::cast(m, op).is_some() || FusedOp::cast(m, op).is_some()
}

/// Refuses the ops of networks outside of functions of one block. Returns the blocks of these functions.
pub(super) fn blocks(m: &Module, root: Op, cx: &mut PassContext<'_>) -> Vec<Block> {
    let (mut found, mut inside) = (Vec::new(), FxHashSet::default());
    for op in m.ops_under(root) {
        let mut blocks = m.regions(op).iter().flat_map(|&region| m.region_blocks(region));
        let only = blocks.next().filter(|_| m.has_trait(op, Traits::FUNCTION) && blocks.next().is_none());
        found.extend(only);
        inside.extend(only);
        let is_formed = || m.parent_op(op).is_some_and(|around| is_layer(m, around));
        if is_of_network(m, op) && m.parent_block(op).is_none_or(|block| !inside.contains(&block)) && !is_formed() {
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
pub(super) fn ops(m: &Module, block: Block) -> impl Iterator<Item = Op> {
    m.block_ops(block).filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE) && !m.has_trait(op, Traits::TERMINATOR))
}

/// Returns the levels of the ops of a block, given those of the host. The first has ops of the host that depend on no op of the machine.
fn levels(m: &Module, block: Block, host: &FxHashSet<Op>) -> Vec<Level> {
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

/// Refuses an op, which stays on the host.
pub(super) fn refuse(m: &Module, host: &mut FxHashSet<Op>, op: Op, refusal: &Refusal, cx: &mut PassContext<'_>) {
    // An op may be refused because of another one, from which it reads.
    let op = if let Concern::Other(other) = refusal.concern { other } else { op };
    stays(m, op, refusal, cx);
    host.insert(op);
}

/// A function that makes a program of a level, or returns an op that must stay on the host, and why.
type MakeProgram<'a, P> = dyn FnMut(&Module, &Level, &mut PassContext<'_>) -> Result<P, (Op, Refusal)> + 'a;

/// Divides a block into levels, each with its program, until no op of a program is refused. The first level has no program.
pub(super) fn settle<P>(
    m: &Module,
    block: Block,
    host: &mut FxHashSet<Op>,
    make: &mut MakeProgram<'_, P>,
    cx: &mut PassContext<'_>,
) -> Vec<(Level, Option<P>)> {
    loop {
        let levels = levels(m, block, host);
        let mut programs = Vec::with_capacity(levels.len());
        let mut refused = None;
        for level in &levels {
            match level.machine.is_empty() {
                true => programs.push(None),
                false => match make(m, level, cx) {
                    Ok(program) => programs.push(Some(program)),
                    Err(why) => {
                        refused = Some(why);
                        break;
                    }
                },
            }
        }
        match refused {
            Some((op, refusal)) => refuse(m, host, op, &refusal, cx),
            None => return levels.into_iter().zip(programs).collect(),
        }
    }
}

/// Reads the machine of a target by the description that the context has of it. Errors are at `root`.
pub(crate) fn machine_of<M>(m: &Module, root: Op, target: &str, read: ReadParameters<M>) -> Result<M, Diagnostic> {
    let description = CostModel::named(&m.ctx, target).and_then(|model| model.machine(&m.ctx)).map_err(String::from);
    let machine = description.and_then(|description| description.parameters(read));
    machine.map_err(|why| Diagnostic::error(m.loc(root), why))
}
