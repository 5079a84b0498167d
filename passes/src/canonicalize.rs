//! `canonicalize`: folding, canonicalization patterns and rules.

use gradus_ir::greedy::{GreedyOptions, RegionSimplification, canonicalizations};
use gradus_ir::pass::{OptionKind, Options, PassOption, Rewrites};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "canonicalize",
    class: "Canonicalizer",
    doc: "Fold constants and apply canonicalization patterns and rules to a fixpoint

# Before / After

```mlir
%c2 = arith.constant 2 : i32
%0 = arith.addi %c2, %c2 : i32      // becomes: %c4_i32 = arith.constant 4 : i32
```

# Does

Folds ops with constant operands, applies folders, canonicalization patterns and rules, erases dead ops, and keeps one copy of
each constant at the start of its region. Then simplifies the control flow as `region-simplify` selects (unreachable blocks,
unused block arguments) and repeats if that changed anything.

# Refuses

Nothing.

# Cost

Linear in the number of ops and of changes.",
    options: &[
        option("disable-patterns", "Labels of patterns that should be filtered out during application", OptionKind::List),
        option(
            "enable-patterns",
            "Labels of patterns that should be used during application, all other patterns are filtered out",
            OptionKind::List,
        ),
        option(
            "max-iterations",
            "Max. iterations between applying patterns / simplifying regions; negative for no limit",
            OptionKind::Int(10),
        ),
        option(
            "max-num-rewrites",
            "Max. number of pattern rewrites within an iteration; negative for no limit",
            OptionKind::Int(-1),
        ),
        option(
            "region-simplify",
            "Perform control flow optimizations to the region tree",
            OptionKind::Word(
                "normal",
                &[
                    ("disabled", "Don't run any control-flow simplification"),
                    ("normal", "Remove unreachable blocks and unused block arguments"),
                    ("aggressive", "Also merge equal blocks and replace block arguments that always have the same value"),
                ],
            ),
        ),
        option("test-convergence", "Fail if the limits are reached before a fixpoint", OptionKind::Bool(false)),
        option("top-down", "Seed the worklist in general top-down order", OptionKind::Bool(true)),
    ],
    statistics: &[("num-changes", "Number of changes")],
    rewrites: Rewrites::Names(canonicalizations),
    make: |options| Ok(Box::new(Canonicalize::new(options))),
    ..PassInfo::DEFAULT
};

const fn option(name: &'static str, doc: &'static str, kind: OptionKind) -> PassOption {
    PassOption { name, doc, kind }
}

struct Canonicalize {
    options: GreedyOptions,
    test_convergence: bool,
}

impl Canonicalize {
    fn new(options: &Options) -> Canonicalize {
        let limit = |name| u64::try_from(options.int(name)).ok();
        let regions = match options.text("region-simplify") {
            "disabled" => RegionSimplification::Disabled,
            "aggressive" => RegionSimplification::Aggressive,
            _ => RegionSimplification::Normal,
        };
        let greedy = GreedyOptions {
            max_iterations: limit("max-iterations"),
            max_rewrites: limit("max-num-rewrites"),
            top_down: options.bool("top-down"),
            regions,
            patterns: None,
            rules: None,
            enabled: options.list("enable-patterns").to_vec(),
            disabled: options.list("disable-patterns").to_vec(),
        };
        Canonicalize { options: greedy, test_convergence: options.bool("test-convergence") }
    }
}

impl Pass for Canonicalize {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let done = self.options.run(m, op, cx.actions());
        cx.count("num-changes", done.changes);
        if self.test_convergence && !done.converged {
            return Err(Diagnostic::error(m.loc(op), "canonicalization did not converge within its limits"));
        }
        Ok(())
    }

    /// Whether there is no global rewrite limit, which cannot be divided among functions.
    fn is_function_local(&self) -> bool {
        self.options.max_rewrites.is_none()
    }
}
