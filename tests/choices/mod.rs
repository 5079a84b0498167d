//! The extraction of `saturate` for targets is optimal and preserves the results: elementwise products, matrix
//! products, products with sparse constants, and chains of them.
//!
//! | file | contents |
//! |---|---|
//! | `programs.rs` | the programs |
//! | `by_rules.rs` | the cheapest program, with each rule applied or not at each op |
//! | `by_classes.rs` | the cheapest choice of a node per e-class |
//! | `products.rs` | elementwise products of any shape become convolutions where these cost less |
//! | `machines.rs` | what is chosen for a machine runs on it |
//!
//! Neither uses the extractor. The first uses no e-graph and only implementation rules; the second uses everything that
//! the rules of the target make equal.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

mod by_classes;
mod by_rules;
mod machines;
mod products;
mod programs;
use crate::support::reports;
use gradus::Tool;
use gradus::check::{Input, Outcome, Seen, run};
use gradus::cost::CostModel;
use gradus::egraph::report::Report;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{Context, Module, Op, ParseOptions, Type, parse_module};
use programs::Program;
use std::sync::Arc;

/// The targets with implementation choices.
const TARGETS: [&str; 4] = ["cpu", "nna", "npu", "cluster"];

/// The groups of rules that offer implementations.
const IMPLEMENTATIONS: [&str; 4] = ["sparse", "mul-as-conv", "matmul-as-conv", "matmul-on-nna"];

/// Maximum number of choices of a program.
const MOST: u64 = 1 << 16;

/// Number of random chains.
const CHAINS: u64 = 120;

/// Number of executions of a chosen program.
const RUNS: u64 = 2;

fn model(ctx: &Context, target: &str) -> &'static CostModel {
    CostModel::named(ctx, target).expect("there is such a target")
}

fn function(m: &Module) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == "func.func").expect("there is a function")
}

/// Runs `saturate` and returns its report and result.
fn saturated(tool: &Tool, m: &Module, options: &str) -> (Report, Module) {
    let mut after = m.clone();
    let mut found = reports(tool, &mut after, options).unwrap_or_else(|said| panic!("{}", said.join("\n")));
    (found.pop().expect("the function has a report"), after)
}

/// Totals over many programs.
#[derive(Default)]
struct Totals {
    programs: u64,
    left_out: u64,
    assignments: u64,
    cheaper: u64,
    proven: u64,
}

impl Totals {
    fn add(&mut self, report: &Report, assignments: u64) {
        self.programs += 1;
        self.assignments += assignments;
        self.cheaper += u64::from(report.after < report.before);
        self.proven += u64::from(report.bound == Some(report.after));
    }

    fn show(&self, what: &str) {
        let Totals { programs, left_out, assignments, cheaper, proven } = self;
        println!(
            "{what}: {programs} programs with {assignments} assignments; {cheaper} became cheaper, {proven} are proven to \
             be optimal; {left_out} with more than {MOST} assignments left out"
        );
    }
}

/// Compares the extraction with the cheapest program by rules.
fn compare_by_rules(programs: &[Program]) -> Totals {
    let (tool, mut totals) = (Tool::gradus(), Totals::default());
    let ctx = tool.context();
    for program in programs {
        let m = program.parse(&ctx);
        for target in TARGETS {
            let model = model(&ctx, target);
            let groups: Vec<&str> = IMPLEMENTATIONS.into_iter().filter(|name| model.groups.contains(name)).collect();
            let cost_fn = model.cost_fn(&ctx).expect("its machine is valid");
            let Some((best, assignments)) = by_rules::cheapest(&m, &cost_fn, &groups, MOST) else {
                totals.left_out += 1;
                continue;
            };
            let options = format!("target={target} associate=false rules={}", groups.join(","));
            let (report, after) = saturated(&tool, &m, &options);
            let what = || format!("{target}\n{}\n{}", program.text, after.to_text(Default::default()));
            assert!(report.saturated, "{}: {}", report.end, what());
            assert_eq!(report.before, by_rules::price(&m, function(&m), &cost_fn), "before, for {}", what());
            assert_eq!(report.after, best, "of {assignments} programs for {}", what());
            assert_eq!(
                report.after,
                by_rules::price(&after, function(&after), &cost_fn),
                "what was made, for {}",
                what()
            );
            compare_results(program, &m, &after);
            totals.add(&report, assignments);
        }
    }
    totals
}

/// Compares the extraction with the cheapest choice by classes.
fn compare_by_classes(programs: &[Program]) -> Totals {
    let (tool, mut totals) = (Tool::gradus(), Totals::default());
    let ctx = tool.context();
    for program in programs {
        let m = program.parse(&ctx);
        for target in TARGETS {
            let (report, after) = saturated(&tool, &m, &format!("target={target}"));
            let cost_fn = model(&ctx, target).cost_fn(&ctx).expect("its machine is valid");
            let Some((best, assignments)) = by_classes::cheapest(&ctx, &report, &cost_fn, MOST) else {
                totals.left_out += 1;
                continue;
            };
            let what = || format!("{target}\n{}\n{}", program.text, after.to_text(Default::default()));
            assert_eq!(report.after, best, "of {assignments} choices for {}", what());
            assert_eq!(
                report.after,
                by_rules::price(&after, function(&after), &cost_fn),
                "what was made, for {}",
                what()
            );
            compare_results(program, &m, &after);
            totals.add(&report, assignments);
        }
    }
    totals
}

/// Draws any integers, or small ones as floats, so that sums of products are exact.
fn draw(ctx: &Context, ty: Type, random: &mut Random) -> Datum {
    let shape: Vec<usize> = ctx.static_shape(ty).expect("extents are known").iter().map(|&d| d as usize).collect();
    let dtype = ctx.dtype(ctx.element_type(ty)).expect("elements have values");
    let count = shape.iter().product();
    Datum::Tensor(match dtype.is_float() {
        true => floats_to_tensor(dtype, &shape, (0..count).map(|_| random.pick(&[-1.0, 0.0, 1.0])).collect()),
        false => ints_to_tensor(dtype, &shape, &(0..count).map(|_| random.int(dtype.bits())).collect::<Vec<_>>()),
    })
}

fn results(m: &Module, args: &[Datum], what: &str) -> Vec<Vec<f64>> {
    let input = Input { args: args.to_vec(), ..Input::default() };
    let values = |seen: Seen| match seen {
        Seen::Value(Datum::Tensor(tensor)) => tensor.to_f64(),
        other => panic!("{other:?}, of {what}"),
    };
    match run(m, function(m), &input, 1 << 16) {
        Outcome::Returned { results, .. } => results.into_iter().map(values).collect(),
        other => panic!("{other:?}, of {what}"),
    }
}

/// Checks that both programs give the same numbers, exactly.
fn compare_results(program: &Program, before: &Module, after: &Module) {
    let entry = before.entry(before.regions(function(before))[0]).expect("it has a body");
    for n in 0..RUNS {
        let mut random = Random::of((&program.text, n));
        let args: Vec<Datum> = before
            .block_args(entry)
            .iter()
            .map(|&arg| draw(&before.ctx, before.value_type(arg), &mut random))
            .collect();
        let [was, is] = [before, after].map(|m| results(m, &args, &program.text));
        assert!(was == is, "{}\n{}", program.text, after.to_text(Default::default()));
    }
}

#[test]
fn single_ops_get_the_cheapest_implementation() {
    let programs = programs::singles();
    let by_rules = compare_by_rules(&programs);
    by_rules.show("single ops, by rules");
    let by_classes = compare_by_classes(&programs);
    by_classes.show("single ops, by classes");
    assert!(by_rules.left_out == 0 && by_rules.cheaper > 40 && by_rules.cheaper < by_rules.programs);
    assert!(by_classes.left_out == 0 && by_classes.cheaper > 40);
}

/// Products of 8-bit matrices are the only ones that the 3x3 engine takes.
#[test]
fn integer_products_get_the_cheapest_implementation() {
    let programs = programs::integers();
    let by_rules = compare_by_rules(&programs);
    by_rules.show("integer products, by rules");
    let by_classes = compare_by_classes(&programs);
    by_classes.show("integer products, by classes");
    assert!(by_rules.left_out == 0 && by_rules.cheaper >= programs.len() as u64 / 2);
    assert!(by_classes.left_out == 0 && by_classes.cheaper >= programs.len() as u64 / 2);
}

#[test]
fn chains_get_the_cheapest_implementations() {
    let chains =
        |products: u64, count: u64| (0..count).map(move |n| programs::chain(products, &mut Random::of((products, n))));
    let long: Vec<Program> = chains(2, CHAINS).chain(chains(3, CHAINS)).chain(chains(4, CHAINS / 4)).collect();
    let by_rules = compare_by_rules(&long);
    by_rules.show("chains, by rules");
    let short: Vec<Program> = chains(1, CHAINS).chain(chains(2, CHAINS)).collect();
    let by_classes = compare_by_classes(&short);
    by_classes.show("chains, by classes");
    assert!(by_rules.programs > 10 * by_rules.left_out && by_rules.cheaper > 100);
    assert!(by_classes.programs > 3 * by_classes.left_out && by_classes.cheaper > 100);
}

impl Program {
    fn parse(&self, ctx: &Arc<Context>) -> Module {
        parse_module(ctx, "program.mlir", self.text.clone(), ParseOptions::default())
            .unwrap_or_else(|errors| panic!("{}", errors[0].render(ctx)))
    }
}
