//! `affine-loop-unroll`: loop unrolling of affine loops.

use gradus_dialects::affine::ForOp;
use gradus_dialects::loops::{CountedLoop, Unroller, innermost_loops, loops_post_order};
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "affine-loop-unroll",
    doc: "Unroll affine loops

# Before / After

```mlir
affine.for %i = 0 to 10 {           // becomes:   affine.for %i = 0 to 8 step 4 {
  \"f\"(%i) : (index) -> ()           //              \"f\"(%i) : (index) -> ()
}                                   //              %1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
                                    //              \"f\"(%1) : (index) -> ()
                                    //              ... (two more)
                                    //            }
                                    //            affine.for %i = 8 to 10 { \"f\"(%i) : (index) -> () }
```

# Does

Unrolls innermost loops. Remaining iterations run in an epilogue loop. A loop with trip count 1 is replaced by its body. If a loop
may not run at all, the epilogue loop starts at the maximum of both lower bounds.

# Refuses

Empty loops, loops with a trip count below the factor, loops whose trip count is a minimum or maximum that the factor may not divide,
and loops whose unrolling would exceed a total of a million ops.

# Cost

Linear in the size of the result.",
    options: &[
        PassOption {
            name: "unroll-factor",
            doc: "Use this unroll factor for all loops being unrolled, set it to -1, and it will fully unroll.",
            kind: OptionKind::Int(4),
        },
        PassOption {
            name: "unroll-up-to-factor",
            doc: "Allow unrolling up to the factor specified",
            kind: OptionKind::Bool(false),
        },
        PassOption {
            name: "unroll-full-threshold",
            doc: "Unroll all loops with trip count less than or equal to this; negative for all innermost loops",
            kind: OptionKind::Int(-1),
        },
        PassOption {
            name: "unroll-num-reps",
            doc: "Unroll innermost loops repeatedly this many times",
            kind: OptionKind::Int(1),
        },
        PassOption {
            name: "cleanup-unroll",
            doc: "Fully unroll loops that would leave a remainder, if possible",
            kind: OptionKind::Bool(false),
        },
    ],
    statistics: &[("num-unrolled", "Number of loops unrolled")],
    rewrites: Rewrites::Tags(&["unroll"]),
    make: |options| Ok(Box::new(Unroll::new(options)?)),
    ..PassInfo::DEFAULT
};

struct Unroll {
    /// The unroll factor; `None` unrolls fully.
    factor: Option<u64>,
    up_to_factor: bool,
    threshold: Option<u64>,
    rounds: i64,
    or_fully: bool,
}

impl Unroll {
    fn new(options: &Options) -> Result<Unroll, String> {
        let factor = match options.int("unroll-factor") {
            -1 => None,
            factor => match u64::try_from(factor) {
                Ok(factor @ 1..) => Some(factor),
                _ => return Err("Invalid option: 'unroll-factor' should be greater than 0 or equal to -1".into()),
            },
        };
        Ok(Unroll {
            factor,
            up_to_factor: options.bool("unroll-up-to-factor"),
            threshold: u64::try_from(options.int("unroll-full-threshold")).ok(),
            rounds: options.int("unroll-num-reps"),
            or_fully: options.bool("cleanup-unroll"),
        })
    }

    fn unroll(&self, unroller: &mut Unroller, m: &mut Module, this: ForOp) -> bool {
        match self.factor {
            None => unroller.unroll_fully(m, this),
            Some(factor) if self.up_to_factor => unroller.unroll_up_to(m, this, factor),
            Some(factor) => unroller.unroll_by(m, this, factor, self.or_fully),
        }
    }
}

impl Pass for Unroll {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut unroller = Unroller::default();
        if let (None, Some(most)) = (self.factor, self.threshold) {
            let mut loops: Vec<ForOp> = loops_post_order(m, op);
            loops.retain(|l| l.trip_count(m).is_some_and(|trips| trips <= most));
            for this in loops {
                if cx.allows("unroll", m, this.0) && unroller.unroll_fully(m, this) {
                    cx.count("num-unrolled", 1);
                }
            }
            return Ok(());
        }
        for _ in 0..self.rounds {
            let mut unrolled = 0;
            for this in innermost_loops::<ForOp>(m, op) {
                unrolled += u64::from(cx.allows("unroll", m, this.0) && self.unroll(&mut unroller, m, this));
            }
            cx.count("num-unrolled", unrolled);
            if unrolled == 0 {
                break;
            }
        }
        Ok(())
    }
}
