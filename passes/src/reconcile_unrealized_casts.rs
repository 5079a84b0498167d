//! `reconcile-unrealized-casts`: removal of conversion casts that cancel.

use gradus_ir::conversion::{CAST, reconcile_casts};
use gradus_ir::pass::Rewrites;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "reconcile-unrealized-casts",
    doc: "Remove conversion casts that cancel

# Before / After

```mlir
%0 = builtin.unrealized_conversion_cast %a : i32 to i64
%1 = builtin.unrealized_conversion_cast %0 : i64 to i32      // uses of %1 become uses of %a; both casts are erased
```

# Does

Replaces a chain of `builtin.unrealized_conversion_cast` that returns to its original types by the original values, and erases
unused casts. Run it after the conversions that left such casts.

# Refuses

Nothing; casts that do not cancel stay.

# Cost

Linear in the number of ops.",
    statistics: &[("num-removed", "Number of casts removed")],
    rewrites: Rewrites::Tags(&["reconcile"]),
    make: |_| Ok(Box::new(ReconcileUnrealizedCasts)),
    ..PassInfo::DEFAULT
};

struct ReconcileUnrealizedCasts;

impl Pass for ReconcileUnrealizedCasts {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let name = m.ctx.op_name(CAST);
        let mut casts = m.ops_under(op);
        casts.retain(|&inner| m.name(inner) == name && cx.allows("reconcile", m, inner));
        let left = reconcile_casts(m, &casts);
        cx.count("num-removed", (casts.len() - left.len()) as u64);
        Ok(())
    }
}
