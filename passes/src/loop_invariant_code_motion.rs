//! `loop-invariant-code-motion`: hoisting of loop-invariant ops.

use gradus_ir::control::loops;
use gradus_ir::effects::{Effects, is_speculatable};
use gradus_ir::pass::Rewrites;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Region, Traits, Type, Value};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "loop-invariant-code-motion",
    class: "LoopInvariantCodeMotion",
    doc: "Hoist loop-invariant ops

# Before / After

```mlir
scf.for %i = %a to %b step %c {
  %0 = arith.muli %x, %y : i32      // moves before the loop
}
```

# Does

Visits loops from the inside out. Moves an op of a loop body whose operands are defined outside the loop, with its regions, before
the loop; transitively.

# Refuses

Ops with memory effects, and ops that may be undefined for some operands, since the loop may not run at all: among
them ops on tensors with dynamic extents, or with integers, which may be axes and indices that do not fit.

# Cost

Linear in the number of ops times the depth of nesting.",
    statistics: &[("num-hoisted", "Number of operations hoisted")],
    rewrites: Rewrites::Tags(&["hoist"]),
    make: |_| Ok(Box::new(Licm)),
    ..PassInfo::DEFAULT
};

struct Licm;

impl Pass for Licm {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        // Parents precede nested ops, so the reverse order visits inner loops first.
        for op in m.ops_under(op).into_iter().rev() {
            for (i, is_loop) in loops(m, op).into_iter().enumerate() {
                if is_loop {
                    hoist_from(m, op, m.regions(op)[i], cx);
                }
            }
        }
        Ok(())
    }
}

fn hoist_from(m: &mut Module, around: Op, body: Region, cx: &mut PassContext<'_>) {
    for block in m.region_blocks(body).collect::<Vec<_>>() {
        for op in m.block_ops(block).collect::<Vec<_>>() {
            let can_move = !m.has_trait(op, Traits::TERMINATOR) && is_speculatable(m, op) && fits(m, op);
            let invariant = can_move && is_invariant(m, op, body);
            if invariant && cx.allows("hoist", m, op) {
                m.move_before(op, around);
                cx.count("num-hoisted", 1);
            }
        }
    }
}

/// Whether ops that relate the extents of tensors can be executed on all values: they know the extents, and all numbers are floats. Others may
/// be given extents, axes or indices that do not fit, which only a loop that runs shows.
fn fits(m: &Module, op: Op) -> bool {
    let is_float = |ty: Type| m.ctx.float_kind(m.ctx.element_type(ty)).is_some();
    let is_known = |&v: &Value| match m.value_type(v) {
        ty if m.ctx.is_shaped(ty) => m.ctx.static_shape(ty).is_some() && is_float(ty),
        _ => true,
    };
    let relates = |op: Op| {
        m.info(op)
            .is_some_and(|info| info.infer.is_some() && !info.is_elementwise() && matches!(info.effects, Effects::Pure))
    };
    m.ops_under(op).into_iter().all(|op| !relates(op) || m.operands(op).iter().all(is_known))
}

/// Whether the op and its nested ops use only values defined outside `body` or inside the op.
fn is_invariant(m: &Module, op: Op, body: Region) -> bool {
    let outside = |&v: &Value| !is_defined_in(m, v, body) || m.def_block(v).is_some_and(|b| block_inside(m, b, op));
    m.ops_under(op).into_iter().all(|inner| m.operands(inner).iter().all(outside))
}

fn is_defined_in(m: &Module, value: Value, body: Region) -> bool {
    let mut region = m.def_block(value).and_then(|b| m.parent_region(b));
    while let Some(r) = region {
        if r == body {
            return true;
        }
        region = m.region_op(r).and_then(|op| m.parent_block(op)).and_then(|b| m.parent_region(b));
    }
    false
}

fn block_inside(m: &Module, block: gradus_ir::Block, op: Op) -> bool {
    m.block_op(block).is_some_and(|parent| parent == op || m.is_inside(parent, op))
}
