//! `scf-for-loop-unroll`: loop unrolling of `scf.for`.

use gradus_dialects::loops::{Unroller, innermost_loops};
use gradus_dialects::scf::ForOp;
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "scf-for-loop-unroll",
    doc: "Unroll loops of scf

# Before / After

```mlir
scf.for %i = %c0 to %c9 step %c1 {  // becomes:   scf.for %i = %c0 to %c8 step %c4 {
  \"f\"(%i) : (index) -> ()           //              \"f\"(%i) : (index) -> ()
}                                   //              %0 = arith.muli %c1, %c1 : index
                                    //              %1 = arith.addi %i, %0 : index
                                    //              \"f\"(%1) : (index) -> ()
                                    //              ... (two more)
                                    //            }
                                    //            \"f\"(%c8) : (index) -> ()
```

# Does

Unrolls innermost loops. Remaining iterations run in an epilogue loop. A loop with trip count 1 is replaced by its body. Non-constant
bounds and steps are computed before the loop such that a loop with trip count 0 still does not run.

# Refuses

Empty loops, loops with a trip count below the factor, loops whose unrolled step would overflow its type, and loops whose unrolling
would exceed a total of a million ops.

# Cost

Linear in the size of the result.",
    options: &[PassOption {
        name: "unroll-factor",
        doc: "Loop unroll factor, set it to -1, and it will fully unroll.",
        kind: OptionKind::Int(4),
    }],
    statistics: &[("num-unrolled", "Number of loops unrolled")],
    rewrites: Rewrites::Tags(&["unroll"]),
    make: |options| match options.int("unroll-factor") {
        factor @ (-1 | 1..) => Ok(Box::new(Unroll { factor: u64::try_from(factor).ok() })),
        _ => Err("Invalid option: 'unroll-factor' should be greater than 0 or equal to -1".into()),
    },
    ..PassInfo::DEFAULT
};

struct Unroll {
    /// The unroll factor; `None` unrolls fully.
    factor: Option<u64>,
}

impl Pass for Unroll {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut unroller = Unroller::default();
        for this in innermost_loops::<ForOp>(m, op) {
            if !cx.allows("unroll", m, this.0) {
                continue;
            }
            let unrolled = match self.factor {
                None => unroller.unroll_fully(m, this),
                Some(factor) => unroller.unroll_by(m, this, factor, false),
            };
            cx.count("num-unrolled", unrolled.into());
        }
        Ok(())
    }
}
