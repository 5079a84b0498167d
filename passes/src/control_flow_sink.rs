//! `control-flow-sink`: sinking of ops into regions that run conditionally.

use gradus_ir::control::loops;
use gradus_ir::effects::has_map;
use gradus_ir::effects::is_memory_free;
use gradus_ir::pass::Rewrites;
use gradus_ir::verify::verify_op;
use gradus_ir::{Block, Diagnostic, Module, Op, Pass, PassContext, PassInfo, Region, Traits, Type};
use rustc_hash::FxHashSet;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "control-flow-sink",
    class: "ControlFlowSink",
    doc: "Sink ops into the conditional region that uses them

# Before / After

```mlir
%0 = arith.divsi %x, %y : i32       // moves into the region
scf.if %c {
  \"use\"(%0) : (i32) -> ()
}
```

# Does

Moves an op whose results are used in a single region, which runs at most once per execution of its parent op, to the start of that
region.

# Refuses

Ops with memory effects, loop bodies, and values that their users require to be defined outside, such as affine symbols.

# Cost

Linear in the number of uses times the depth of nesting.",
    statistics: &[("num-sunk", "Number of operations sunk")],
    rewrites: Rewrites::Tags(&["sink"]),
    make: |_| Ok(Box::new(ControlFlowSink)),
    ..PassInfo::DEFAULT
};

struct ControlFlowSink;

impl Pass for ControlFlowSink {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let ops = m.ops_under(op);
        let maps = ops.iter().any(|&op| has_map(m, op));
        for op in ops.into_iter().rev() {
            if m.info(op).is_none_or(|info| info.edges.is_none()) {
                continue;
            }
            for (i, is_loop) in loops(m, op).into_iter().enumerate() {
                if !is_loop {
                    sink_into(m, op, m.regions(op)[i], maps, cx);
                }
            }
        }
        Ok(())
    }
}

fn sink_into(m: &mut Module, around: Op, region: Region, maps: bool, cx: &mut PassContext<'_>) {
    let mut stack: Vec<Op> = m.region_blocks(region).flat_map(|b| m.block_ops(b)).collect();
    stack.reverse();
    while let Some(user) = stack.pop() {
        for value in m.operands(user).to_vec() {
            let Some(op) = m.defining_op(value) else { continue };
            let can = op != around && can_sink(m, op, around, region) && cx.allows("sink", m, op);
            if can && sink(m, op, m.only_block(region), maps) {
                cx.count("num-sunk", 1);
                stack.push(op);
            }
        }
    }
}

/// Moves an op to the start of a block, unless a user requires a value from outside, as affine ops do for symbols; this
/// is verified if the program contains affine `maps`.
fn sink(m: &mut Module, op: Op, entry: Block, maps: bool) -> bool {
    let Some(next) = m.next_op(op) else { return false };
    match m.first_op(entry) {
        Some(first) => m.move_before(op, first),
        None => m.move_to_end(op, entry),
    }
    let valid = !maps || users_are_valid(m, op);
    if !valid {
        m.move_before(op, next);
    }
    valid
}

/// Whether the users of an op are valid, transitively where their results may also be symbols or dimensions.
fn users_are_valid(m: &Module, op: Op) -> bool {
    let (mut stack, mut seen) = (vec![op], FxHashSet::default());
    while let Some(op) = stack.pop() {
        for (user, _) in m.results(op).flat_map(|v| m.uses(v)) {
            if !seen.insert(user) {
                continue;
            }
            if verify_op(m, user).is_err() {
                return false;
            }
            if m.results(user).any(|v| m.value_type(v) == Type::INDEX) {
                stack.push(user);
            }
        }
    }
    true
}

/// Whether the op is outside the region and all of its users are inside.
fn can_sink(m: &Module, op: Op, around: Op, region: Region) -> bool {
    let inside = |user: Op| {
        let mut at = Some(user);
        while let Some(op) = at {
            let home = m.parent_block(op).and_then(|b| m.parent_region(b));
            if home == Some(region) {
                return true;
            }
            at = m.parent_op(op);
        }
        false
    };
    !m.has_trait(op, Traits::TERMINATOR)
        && !inside(op)
        && !m.is_inside(around, op)
        && is_memory_free(m, op)
        && m.results(op).all(|r| m.uses(r).all(|(user, _)| inside(user)))
}
