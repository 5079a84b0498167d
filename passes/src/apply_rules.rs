//! `apply-rules`: greedy application of rewrite rules.

use gradus_cost::{CostError, CostModel, FLOATS, float_change, given, keep_named, rounds};
use gradus_dialects::scf::drop_undefined_parallel;
use gradus_ir::greedy::{GreedyOptions, RegionSimplification};
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::rules::{CompiledRule, RuleSet};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo};
use std::sync::Arc;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "apply-rules",
    doc: "Apply rewrite rules of files and of the program greedily

# Before / After

```mlir
rewrite.rule @subtract_itself {
  %x = value
  %difference = op \"arith.subi\"(%x, %x)
  match %difference
  %zero = number 0.0
  replace %zero
}
func.func @f(%a: i32) -> i32 {
  %0 = arith.subi %a, %a : i32      // becomes: %c0_i32 = arith.constant 0 : i32
  return %0 : i32
}
```

# Does

Applies the rules of `--rules=FILE` and the `rewrite.rule` ops of the module with the greedy driver of `canonicalize`, in order of
benefit, to a fixpoint. The driver also folds constants and erases dead ops; other patterns and rules are not applied.

With a `target`, the rules that `saturate` uses for it are included, and a rule applies only where it lowers the cost: the new ops
cost less than the ops that become dead. The result is a local optimum; `saturate` searches globally.

# Refuses

A program without rules, and unknown rule names. A rule set that does not terminate stops at `max-num-rewrites` with a warning.

# Cost

Linear in the number of ops and of changes.",
    anchor: Some("builtin.module"),
    options: &[
        PassOption {
            name: "max-num-rewrites",
            doc: "Max. number of rewrites within an iteration; negative for 4 * (number of ops) + 1000",
            kind: OptionKind::Int(-1),
        },
        PassOption { name: "rules", doc: "Names of the rules to apply; all if empty", kind: OptionKind::List },
        PassOption { name: "target", doc: "Apply a rule only where it lowers the cost on this target, see 'saturate'", kind: OptionKind::Text("") },
        PassOption { name: "floats", doc: "exact, or approx to also use rules that round differently; empty for the default of the target", kind: OptionKind::Text("") },
    ],
    statistics: &[("num-changes", "Number of changes")],
    make: |options| {
        let limit = u64::try_from(options.int("max-num-rewrites")).ok();
        let target = Some(options.text("target")).filter(|name| !name.is_empty()).map(str::to_owned);
        let approx = rounds(options.text("floats"))?;
        Ok(Box::new(ApplyRules { limit, names: options.list("rules").to_vec(), target, approx }))
    },
    samples: &[("target", CostModel::names), ("floats", |_| FLOATS.map(str::to_owned).into())],
    floats: float_change,
    ..PassInfo::DEFAULT
};

struct ApplyRules {
    limit: Option<u64>,
    names: Vec<String>,
    target: Option<String>,
    /// Whether rules that round are used; `None` for the default of the target.
    approx: Option<bool>,
}

impl ApplyRules {
    /// Returns the selected rules, and the cost that they lower.
    fn rules(&self, m: &Module, op: Op) -> Result<RuleSet, Diagnostic> {
        let Some(target) = &self.target else { return Ok(RuleSet::new(self.given_rules(m, op)?)) };
        let error = |error: CostError| Diagnostic::error(m.loc(op), error.to_string());
        let model = CostModel::named(&m.ctx, target).map_err(error)?;
        let approx = self.approx.unwrap_or(model.approx);
        let mut all = model.rules(m, op, &self.names, approx)?;
        all.retain(|rule| approx || !rule.approx);
        let mut rules = RuleSet::new(all);
        rules.cost_fn = Some(model.cost_fn(&m.ctx).map_err(error)?);
        Ok(rules)
    }

    /// Returns the selected rules of the user.
    fn given_rules(&self, m: &Module, op: Op) -> Result<Vec<CompiledRule>, Diagnostic> {
        let mut all = given(m)?;
        if all.is_empty() {
            let message = "there are no rules: name a file with '--rules', or put 'rewrite.rule' into the program";
            return Err(Diagnostic::error(m.loc(op), message));
        }
        keep_named(m, op, &mut all, &self.names)?;
        Ok(all)
    }
}

impl Pass for ApplyRules {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let rules = self.rules(m, op)?;
        let limit = self.limit.unwrap_or(4 * m.num_ops() as u64 + 1000);
        let driver = GreedyOptions {
            max_rewrites: Some(limit),
            max_iterations: Some(2),
            regions: RegionSimplification::Disabled,
            patterns: Some(&[]),
            rules: Some(Arc::new(rules)),
            ..GreedyOptions::default()
        };
        let done = driver.run(m, op, cx.actions());
        drop_undefined_parallel(m, op);
        cx.count("num-changes", done.changes);
        if !done.converged {
            let message = format!("rules still apply after {limit} rewrites; they may undo each other");
            cx.emit(Diagnostic::warning(m.loc(op), message));
        }
        Ok(())
    }
}
