//! `saturate`.

use crate::equation::Equations;
use crate::explore::{End, Limits, explore};
use crate::program::Program;
use crate::report::{GRAPH, Gather, REPORT};
use crate::{associate, extract, report, write_back};
use gradus_cost::{CostError, CostModel, FLOATS, float_change, rounds};
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::rules::CostFn;
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Traits};
use std::time::Duration;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "saturate",
    doc: "Choose the cheapest program among all that the rules make equal (equality saturation)

# Before / After

```mlir
func.func @f(%a: i32, %b: i32, %c: i32) -> i32 {   // becomes:
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %c : i32                      //   %0 = arith.addi %b, %c : i32
  %2 = arith.addi %0, %1 : i32                      //   %1 = arith.muli %a, %0 : i32
  return %2 : i32
}
```

# Does

Builds one e-graph per function from all ops without effects, applies rules until it is saturated or a limit is reached, and extracts
one node per needed class with least total cost. The rules are the named ones, or without names the canonicalization rules, those
of `--rules=FILE`, the `rewrite.rule` ops of the program, and the groups of the target (`gradus list rules`). Only *equations* are
used: a rule with one side that may be poison where the other is not is left to `canonicalize` and `apply-rules`. Functions whose
cost does not decrease stay unchanged.

Rules that round differently are used by default for targets that compute networks; `floats=exact` excludes them, and
`floats=approx` includes them for other targets.

Associativity needs no rules. A chain of matrix products is split at all positions, sums are sorted, common parts of two sums become
classes, and sums of up to four operands are grouped in all ways. Ops with promises (`overflow<nsw>`) are excluded, and floats are
regrouped only where rounding is allowed. n operands of a chain need n³/6 nodes; a chain that exceeds `max-nodes` (more than 66
operands by default) stays unchanged and is named in the report.

The cost of an extraction counts shared nodes once and values computed only from constants as free. The report has the costs before
and after, and whether the result is proved optimal among what the rules reached, or else a lower bound and the gap in percent; a
larger `max-steps` narrows the gap. Folds and traits of ops are not part of the e-graph: `canonicalize` before applies them.

# Refuses

Unknown names of rules and cost models. Ops with regions or effects stay in place, and their results are leaves.

# Cost

Per function, linear in nodes times iterations, both bounded by limits. Extraction is nearly linear if nothing is shared or the first
choice is proved optimal; otherwise exponential, bounded by `max-steps`.",
    options: &[
        PassOption { name: "target", doc: "Cost model: a target (see 'list targets'), or a count: ops, scalar, flops or arbitrary", kind: OptionKind::Text("ops") },
        PassOption { name: "rules", doc: "Names of rules or rule groups to apply; if empty, those of the target", kind: OptionKind::List },
        PassOption { name: "floats", doc: "exact, or approx to also use rules that round differently; empty for the default of the target", kind: OptionKind::Text("") },
        PassOption { name: "associate", doc: "Add all groupings of associative ops", kind: OptionKind::Bool(true) },
        PassOption { name: "max-iterations", doc: "Max. number of iterations", kind: OptionKind::Int(15) },
        PassOption { name: "max-nodes", doc: "Max. number of distinct e-nodes", kind: OptionKind::Int(50_000) },
        PassOption { name: "max-matches", doc: "Max. number of matches per rule and iteration", kind: OptionKind::Int(2_000) },
        PassOption {
            name: "max-seconds",
            doc: "Max. time per function; 0 for no limit. With a limit, results may differ between runs",
            kind: OptionKind::Int(0),
        },
        PassOption {
            name: "compare-search",
            doc: "Check that incremental search finds all matches",
            kind: OptionKind::Bool(false),
        },
        PassOption { name: "max-steps", doc: "Max. number of steps of extraction and of its proof of optimality", kind: OptionKind::Int(200_000) },
        PassOption { name: "report", doc: "Emit a remark with costs and the reason why the search ended", kind: OptionKind::Bool(false) },
    ],
    statistics: &[
        ("num-functions", "Number of functions whose cost decreased"),
        ("num-nodes", "Number of e-nodes"),
        ("num-saturated", "Number of saturated functions"),
    ],
    rewrites: Rewrites::Names(|ctx| ["saturate"].into_iter().chain(ctx.all_rule_names()).map(str::to_owned).collect()),
    make: |options| {
        let limit = |name: &str| usize::try_from(options.int(name)).map_err(|_| format!("'{name}' must not be negative"));
        let limits = Limits {
            iterations: limit("max-iterations")?,
            nodes: limit("max-nodes")?,
            matches: limit("max-matches")?,
            time: Some(limit("max-seconds")? as u64).filter(|&seconds| seconds > 0).map(Duration::from_secs),
            compares: options.bool("compare-search"),
        };
        let (target, names) = (options.text("target").to_owned(), options.list("rules").to_vec());
        let approx = rounds(options.text("floats"))?;
        let (associate, report) = (options.bool("associate"), options.bool("report"));
        Ok(Box::new(Saturate { target, names, approx, associate, limits, max_steps: limit("max-steps")?, report }))
    },
    samples: &[
        ("target", CostModel::names),
        ("rules", |ctx| ctx.rule_groups().map(|(group, _)| group.name.to_owned()).collect()),
        ("floats", |_| FLOATS.map(str::to_owned).into()),
        ("max-nodes", |_| ["20", "500"].map(str::to_owned).into()),
        ("max-steps", |_| ["1", "100"].map(str::to_owned).into()),
        // With a limit of time, results may differ between runs.
        ("max-seconds", |_| Vec::new()),
    ],
    floats: float_change,
    ..PassInfo::DEFAULT
};

struct Saturate {
    target: String,
    names: Vec<String>,
    /// Whether rules that round are used; `None` for the default of the target.
    approx: Option<bool>,
    associate: bool,
    limits: Limits,
    max_steps: usize,
    report: bool,
}

/// A cost model with the numbers of a machine, and its equations.
struct Chosen {
    model: &'static CostModel,
    cost_fn: CostFn,
    approx: bool,
    equations: Equations,
}

impl Pass for Saturate {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let chosen = self.choose(m, root)?;
        let isolated = |op: &Op| m.has_trait(*op, Traits::ISOLATED) && !m.regions(*op).is_empty();
        let scopes: Vec<Op> = m.ops_under(root).into_iter().filter(isolated).collect();
        for scope in scopes {
            if cx.allows("saturate", m, scope) {
                self.saturate(m, scope, &chosen, cx);
            }
        }
        Ok(())
    }
}

impl Saturate {
    /// Returns the cost model, and the equations among the selected rules.
    fn choose(&self, m: &Module, root: Op) -> Result<Chosen, Diagnostic> {
        let error = |error: CostError| Diagnostic::error(m.loc(root), error.to_string());
        let model = CostModel::named(&m.ctx, &self.target).map_err(error)?;
        let (cost_fn, approx) = (model.cost_fn(&m.ctx).map_err(error)?, self.approx.unwrap_or(model.approx));
        let all = model.rules(m, root, &self.names, approx)?;
        let (equations, refused) = Equations::of(&m.ctx, all, approx);
        let asked = |(name, _): &(_, _)| self.names.iter().any(|n| n == m.ctx.text(*name));
        match refused.into_iter().find(asked) {
            Some((name, why)) => {
                let message = format!("rule '{}' is not an equation: {why}", m.ctx.text(name));
                Err(Diagnostic::error(m.loc(root), message))
            }
            None => Ok(Chosen { model, cost_fn, approx, equations }),
        }
    }

    fn saturate(&self, m: &mut Module, scope: Op, chosen: &Chosen, cx: &mut PassContext<'_>) {
        let equations = &chosen.equations;
        let mut program = Program::new(m, scope);
        if self.associate {
            for left_out in associate::associate(&mut program, chosen.approx, self.limits.nodes) {
                if self.report {
                    cx.emit(Diagnostic::remark(program.m.loc(left_out.op), left_out.to_string()));
                }
            }
        }
        let explored = explore(&mut program, scope, equations, &self.limits, cx.actions());
        let end = explored.end;
        let roots = program.roots();
        let cost = extract::costs(&program, &chosen.cost_fn);
        let extracted = extract::extract(&program, &cost, &roots, self.max_steps);
        cx.count("num-nodes", program.num_nodes() as u64);
        cx.count("num-saturated", u64::from(matches!(end, End::Saturated(_))));
        if self.report && !program.nodes.is_empty() {
            let message = format!("cost {extracted}; {} nodes, {end}", program.num_nodes());
            cx.emit(Diagnostic::remark(program.m.loc(scope), message));
        }
        let changed = extracted.cost < extracted.before && !matches!(end, End::Conflict | End::Missed(_));
        if let End::Missed(rule) = end {
            let name = program.m.ctx.text(equations.rules[rule].name);
            let message = format!("rule '{name}' matches where nothing changed since it was tried");
            cx.emit(Diagnostic::error(program.m.loc(scope), message));
        }
        report::conflict(&program, scope, equations).into_iter().for_each(|error| cx.emit(error));
        if (cx.wants(REPORT) || cx.wants(GRAPH)) && !program.nodes.is_empty() {
            let small = |cost: u128| u64::try_from(cost).unwrap_or(u64::MAX);
            let gather = Gather {
                program: &program,
                scope,
                equations,
                explored: &explored,
                choice: &extracted.choice,
                roots: &roots,
                cost: &cost,
                target: chosen.model.name,
                before: small(extracted.before),
                after: small(extracted.cost),
                bound: Some(small(extracted.bound)),
                changed,
            };
            cx.report(Box::new(gather.report(cx.wants(GRAPH))));
        }
        drop(cost);
        if changed {
            cx.count("num-functions", 1);
            write_back::write_back(&mut program, scope, &extracted.choice, &roots);
        }
        program.close(changed);
    }
}
