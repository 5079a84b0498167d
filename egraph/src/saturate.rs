//! `saturate`.

use crate::equation::Equations;
use crate::explore::{End, Limits, explore};
use crate::program::Program;
use crate::report::{GRAPH, Gather, REPORT};
use crate::{associate, extract, report, write_back};
use gradus_cost::CostModel;
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Traits};
use std::time::Duration;

/// The declaration.
pub const INFO: PassInfo = PassInfo {
    name: "saturate",
    doc: "Chooses the cheapest of the programs that rules make equal

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

Enters all ops that only compute into an e-graph, for each function one, applies rules to it until nothing new is equal or a
limit is reached, and takes from each class what costs least together. Rules are those that canonicalize, those of
`--rules=FILE`, the `rewrite.rule` ops in the program, and the groups that the target asks for (`gradus list rules`); or those
that are named. Only *equations* are used: where one side of a rule may be poison and the other is not, it is no equation, and
`canonicalize` or `apply-rules` applies it. What costs no less stays as it was.

Rules that round floats otherwise are used for targets that compute networks, unless `floats=exact`; for others only with
`floats=approx`.

What ops are that are declared to be associative is found without rules, at once: a chain of matrix products is split at all
places, sums are sorted so that they are equal in any order, what two of them have in common is computed once, and sums of up to
four operands are grouped in all ways. Ops that promise something (`overflow<nsw>`) stay as they are; floats round, so that
theirs are grouped only where that does not matter. A chain for which there is no room within `max-nodes` stays as it is, and
the report names it: n operands take n³/6 nodes, 66 of them fit by default.

Nodes are chosen such that they cost least together, where what is shared counts once, and what is made of constants only counts
nothing. The report says what the program cost and costs, and that this is optimal among all that is equal, or a lower bound and
what is between in percent; more `max-steps` make that less.

# Refuses

Names of rules and cost models that there are none of. Ops with regions or effects stay where they are; what they compute is
taken as it is.

# Cost

For each function, linear in the number of nodes times iterations; the limits bound both. Choosing is almost linear where nothing
is shared or the first choice proves to be the best; finding the optimum otherwise is exponential, and `max-steps` bounds it.",
    options: &[
        PassOption { name: "target", doc: "What costs are counted for: ops, scalar, flops, cpu, nna, npu, cluster or arbitrary", kind: OptionKind::Text("ops") },
        PassOption { name: "rules", doc: "Names of the rules, or groups of them, that are applied; if there are none, what the target asks for", kind: OptionKind::List },
        PassOption { name: "floats", doc: "exact, or approx to use rules that round otherwise; empty as the target says", kind: OptionKind::Text("") },
        PassOption { name: "associate", doc: "Group the operands of associative ops in other ways", kind: OptionKind::Bool(true) },
        PassOption { name: "max-iterations", doc: "Max. number of times that all rules are tried", kind: OptionKind::Int(15) },
        PassOption { name: "max-nodes", doc: "Max. number of different nodes", kind: OptionKind::Int(50_000) },
        PassOption { name: "max-matches", doc: "Max. number of matches of a rule in an iteration", kind: OptionKind::Int(2_000) },
        PassOption {
            name: "max-seconds",
            doc: "Max. time for a function; 0 for any. With a limit, results may differ from run to run",
            kind: OptionKind::Int(0),
        },
        PassOption {
            name: "compare-search",
            doc: "Check that looking where something changed finds all that looking everywhere does",
            kind: OptionKind::Bool(false),
        },
        PassOption { name: "max-steps", doc: "Max. number of steps to choose nodes, and to prove that none cost less", kind: OptionKind::Int(200_000) },
        PassOption { name: "report", doc: "Say what was chosen, and why it ended", kind: OptionKind::Bool(false) },
    ],
    statistics: &[
        ("num-functions", "Number of functions that became cheaper"),
        ("num-nodes", "Number of nodes of all e-graphs"),
        ("num-saturated", "Number of functions about which the rules say no more"),
    ],
    make: |options| {
        let model = CostModel::named(options.text("target"))?;
        let limit = |name: &str| usize::try_from(options.int(name)).map_err(|_| format!("'{name}' must not be negative"));
        let limits = Limits {
            iterations: limit("max-iterations")?,
            nodes: limit("max-nodes")?,
            matches: limit("max-matches")?,
            time: Some(limit("max-seconds")? as u64).filter(|&seconds| seconds > 0).map(Duration::from_secs),
            compares: options.bool("compare-search"),
        };
        let names = options.list("rules").to_vec();
        let approx = model.rounds(options.text("floats"))?;
        let (associate, report) = (options.bool("associate"), options.bool("report"));
        Ok(Box::new(Saturate { model, names, approx, associate, limits, max_steps: limit("max-steps")?, report }))
    },
    ..PassInfo::DEFAULT
};

struct Saturate {
    model: &'static CostModel,
    names: Vec<String>,
    approx: bool,
    associate: bool,
    limits: Limits,
    max_steps: usize,
    report: bool,
}

impl Pass for Saturate {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let equations = self.equations(m, root)?;
        let isolated = |op: &Op| m.has_trait(*op, Traits::ISOLATED) && !m.regions(*op).is_empty();
        let scopes: Vec<Op> = m.ops_under(root).into_iter().filter(isolated).collect();
        for scope in scopes {
            if cx.allows("saturate", m, scope) {
                self.saturate(m, scope, &equations, cx);
            }
        }
        Ok(())
    }
}

impl Saturate {
    /// The equations among the rules that are to be used.
    fn equations(&self, m: &Module, root: Op) -> Result<Equations, Diagnostic> {
        let all = self.model.rules(m, root, &self.names)?;
        let (equations, refused) = Equations::of(&m.ctx, all, self.approx);
        let asked = |(name, _): &(_, _)| self.names.iter().any(|n| n == m.ctx.text(*name));
        match refused.into_iter().find(asked) {
            Some((name, why)) => {
                let message = format!("rule '{}' is no equation: {why}", m.ctx.text(name));
                Err(Diagnostic::error(m.loc(root), message))
            }
            None => Ok(equations),
        }
    }

    fn saturate(&self, m: &mut Module, scope: Op, equations: &Equations, cx: &mut PassContext<'_>) {
        let mut program = Program::new(m, scope);
        if self.associate {
            for left_out in associate::associate(&mut program, self.approx, self.limits.nodes) {
                if self.report {
                    cx.emit(Diagnostic::remark(program.m.loc(left_out.op), left_out.to_string()));
                }
            }
        }
        let explored = explore(&mut program, equations, &self.limits);
        let end = explored.end;
        let roots = program.roots();
        let cost = extract::costs(&program, self.model);
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
                target: self.model.name,
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
