//! Offloading: programs of a machine compute parts of functions, in which calls of them replace these parts.
//!
//! Each op has a level: ops of the machine that depend on an op of the host, which depends on the machine, have the next one. The ops of
//! the machine of a level are a program. Ops with effects keep their order.

use crate::emit::Emitter;
use gradus_cost::{CostModel, ReadParameters};
use gradus_ir::effects::is_memory_free;
use gradus_ir::pass::Concern;
use gradus_ir::symbols::free_symbol;
use gradus_ir::{Attr, Block, Builder, Diagnostic, Module, Op, PassContext, Refusal, Traits, Value};
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
fn refuse_outside_functions(m: &Module, root: Op, cx: &mut PassContext<'_>) -> Vec<(Op, Block)> {
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

/// A machine that computes levels of a function by programs.
pub(crate) trait Accelerator {
    /// A compiled level.
    type Program;

    /// The start of the symbols of programs, before a number.
    const PREFIX: &'static str;

    /// Refuses an op that no program computes, whatever the others are.
    fn check(&self, m: &Module, op: Op) -> Result<(), Refusal>;

    /// Compiles levels, each with an op of the machine, or returns an op that must stay on the host, and why.
    fn compile(&self, m: &Module, levels: &[Level], cx: &mut PassContext<'_>) -> Programs<Self::Program>;

    /// Counts what a program has, and explains its choices.
    fn report(&self, m: &Module, level: &Level, program: &Self::Program, cx: &mut PassContext<'_>);

    /// Defines a program under a name.
    fn define(&self, b: &mut Builder<'_>, name: &str, level: &Level, program: &Self::Program) -> Option<()>;

    /// Creates the call of a program. `renamed` has the new values of results of earlier programs, by the old ones. Returns the old values
    /// of the results of this one, each with the new one.
    fn call(
        &self,
        e: &mut Emitter<'_, '_>,
        callee: Attr,
        program: &Self::Program,
        renamed: &FxHashMap<Value, Value>,
    ) -> Option<Vec<(Value, Value)>>;
}

/// The programs of levels, or an op that must stay on the host, and why.
pub(crate) type Programs<P> = Result<Vec<P>, (Op, Refusal)>;

/// Reads the machine of a target by the description that the context has of it. Errors are at `root`.
pub(crate) fn machine_of<M>(m: &Module, root: Op, target: &str, read: ReadParameters<M>) -> Result<M, Diagnostic> {
    let description = CostModel::named(&m.ctx, target).and_then(|model| model.machine(&m.ctx)).map_err(String::from);
    let machine = description.and_then(|description| description.parameters(read));
    machine.map_err(|why| Diagnostic::error(m.loc(root), why))
}

/// Replaces ops of networks by calls of programs. Each op of a program is a numbered rewrite.
pub(crate) fn offload<A: Accelerator>(
    m: &mut Module,
    root: Op,
    machine: &A,
    cx: &mut PassContext<'_>,
) -> Result<(), Diagnostic> {
    for (function, block) in refuse_outside_functions(m, root, cx) {
        let (levels, programs) = compile(m, block, machine, cx);
        let Some(end) = m.terminator(block) else { continue };
        let mut renamed = FxHashMap::default();
        // The first level has no ops of the machine.
        for (level, program) in levels.iter().zip(std::iter::once(None).chain(programs.iter().map(Some))) {
            if let Some(program) = program {
                cx.count("num-programs", 1);
                machine.report(m, level, program, cx);
                let call = emit(m, (function, end), machine, (level, program), &mut renamed);
                let why = "the program cannot be created";
                call.ok_or_else(|| Diagnostic::error(m.loc(level.machine[0]), why))?;
            }
            level.host.iter().for_each(|&op| m.move_before(op, end));
            level.machine.iter().rev().for_each(|&op| m.erase_op(op));
        }
    }
    Ok(())
}

/// Compiles a block to programs. Returns its levels, and the programs of all but the first.
fn compile<A: Accelerator>(
    m: &Module,
    block: Block,
    machine: &A,
    cx: &mut PassContext<'_>,
) -> (Vec<Level>, Vec<A::Program>) {
    let mut host = FxHashSet::default();
    let refuse = |host: &mut FxHashSet<Op>, cx: &mut PassContext<'_>, op: Op, refusal: &Refusal| {
        // An op may be refused because of another one, from which it reads.
        let op = if let Concern::Other(other) = refusal.concern { other } else { op };
        stays(m, op, refusal, cx);
        host.insert(op);
    };
    for op in ops(m, block) {
        if let Err(refusal) = machine.check(m, op) {
            refuse(&mut host, cx, op, &refusal);
        }
    }
    let settle = |host: &mut FxHashSet<Op>, cx: &mut PassContext<'_>| loop {
        let levels = levels(m, block, host);
        match machine.compile(m, &levels[1..], cx) {
            Ok(programs) => break (levels, programs),
            Err((op, refusal)) => refuse(host, cx, op, &refusal),
        }
    };
    let (levels, programs) = settle(&mut host, cx);
    let offloaded = levels.iter().flat_map(|level| &level.machine).copied();
    let stopped: Vec<Op> = offloaded.filter(|&op| !cx.allows(OFFLOAD, m, op)).collect();
    if stopped.is_empty() {
        return (levels, programs);
    }
    host.extend(stopped);
    settle(&mut host, cx)
}

/// Defines a program and creates its call before `end`.
fn emit<A: Accelerator>(
    m: &mut Module,
    (function, end): (Op, Op),
    machine: &A,
    (level, program): (&Level, &A::Program),
    renamed: &mut FxHashMap<Value, Value>,
) -> Option<()> {
    let (block, name) = free_symbol(m, function, A::PREFIX)?;
    machine.define(&mut Builder::at_end(m, block), &name, level, program)?;
    let callee = m.ctx.symbol_attr(&name);
    let mut b = Builder::before(m, end);
    let results = machine.call(&mut Emitter::of(&mut b, level.machine[0]), callee, program, renamed)?;
    for (old, new) in results {
        m.replace_all_uses(old, new);
        renamed.insert(old, new);
    }
    Some(())
}
