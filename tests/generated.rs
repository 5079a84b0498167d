//! Properties of generated programs: printing round-trips, passes preserve the meaning, and the number of threads has
//! no effect. `gradus fuzz` runs the same checks on more programs.

use crate::support::{files, gradus, parse, read, root};
use gradus::Tool;
use gradus::generate::campaign::{self, Campaign, CampaignStatistics, FuzzFailure};
use gradus::generate::coverage::InsertionStatistics;
use gradus::generate::programs::FAMILIES;
use gradus::generate::{Library, Limits, grow};
use gradus::ir::pass::{PassEvent, Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::rules::{RuleGroup, rule};
use gradus::ir::{
    Diagnostic, Dialect, Loc, Module, Op, OpDecl, OpInfo, PassInfo, PrintOptions, Traits, parse_module, verify,
};
use gradus::lowering::{graph_to_addr, sparse_to_x64};
use gradus::networks::sparse::MatMulOp;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Number of programs per test.
const PROGRAMS: u64 = 200;

/// Returns the failures of programs, and the statistics of all.
fn findings(
    tool: &Tool,
    pipeline: Option<&str>,
    dialects: &[&str],
    programs: u64,
) -> (Vec<FuzzFailure>, CampaignStatistics) {
    let dialects: Vec<String> = dialects.iter().map(|d| (*d).to_owned()).collect();
    let pipelines: Vec<String> = pipeline.into_iter().map(str::to_owned).collect();
    let campaign = Campaign {
        context: &|| tool.context(),
        seeds: &[],
        dialects: &dialects,
        passes: &tool.passes,
        favourite: tool.passes.iter().find(|info| info.name == "canonicalize").copied(),
        pipelines: &pipelines,
        stages: &[],
        seed: 1,
        limits: Limits::default(),
        options: campaign::options(16),
        executions: &[],
    };
    let found = Mutex::new(Vec::new());
    let add = |finding| found.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    let tally = campaign.run(0..programs, 2, &|_| true, &add);
    (found.into_inner().unwrap_or_else(PoisonError::into_inner), tally)
}

/// Programs from all dialects.
fn programs(tool: &Tool, count: u64) -> impl Iterator<Item = Module> {
    let library = Library::new(&tool.context(), &[]);
    (0..count).map(move |n| {
        let mut statistics = InsertionStatistics::default();
        grow(&library, Random::of(("programs", n)), Limits::default(), &mut statistics).module
    })
}

fn run(tool: &Tool, m: &mut Module, pipeline: &str, threads: usize) {
    let mut pipeline = Pipeline::parse(pipeline, &tool.passes).expect("the pipeline is right");
    let how = RunOptions { threads, ..RunOptions::default() };
    pipeline.run(m, &how, &mut Watch::new(|_| ())).expect("the passes run");
}

#[test]
fn passes_refine_and_texts_are_read_again() {
    let (found, tally) = findings(&Tool::gradus(), None, &[], PROGRAMS);
    let all: Vec<String> =
        found.iter().map(|f| format!("{}: {}\n{}{}", f.number, f.pipeline, f.error, f.text)).collect();
    assert!(all.is_empty(), "{} of {PROGRAMS}:\n{}", all.len(), all.join("\n"));
    let (tried, valid) = tally.statistics.ops();
    assert!(10 * valid > 9 * tried, "only {valid} of {tried} ops were valid at first try");
    let runs = tally.normal + tally.undefined + tally.discarded;
    assert!(10 * tally.normal > 8 * runs, "only {} of {runs} runs ended normally", tally.normal);
    assert!(4 * tally.checked > 3 * (tally.checked + tally.inconclusive), "{} inconclusive", tally.inconclusive);
}

/// A planted unsound rule is found, so the checks are effective.
#[test]
fn a_wrong_rule_is_found() {
    static WRONG: Dialect = Dialect {
        name: "wrong",
        doc: "A wrong rule.",
        rules: &[rule("wrong-shift", "arith.shrsi(arith.shli(x, C), C) => x")],
        ..Dialect::DEFAULT
    };
    let tool = Tool::gradus().with_dialects(&[&WRONG]);
    let (found, _) = findings(&tool, Some("builtin.module(canonicalize)"), &["arith", "func", "wrong"], 5 * PROGRAMS);
    assert!(found.iter().any(|f| f.error.contains("wrong-shift")), "{} findings", found.len());
}

/// With arbitrary costs, every side of a rule is extracted somewhere.
#[test]
fn what_rules_make_equal_is_equal() {
    static WRONG: Dialect = Dialect {
        name: "wrong",
        doc: "A wrong rule.",
        rules: &[rule("wrong-twice", "arith.addi(x, x) => arith.muli(x, 3)")],
        ..Dialect::DEFAULT
    };
    let saturate = Some("builtin.module(saturate{target=arbitrary})");
    let (found, tally) = findings(&Tool::gradus(), saturate, &["arith", "func"], PROGRAMS);
    let all: Vec<String> = found.iter().map(|f| format!("{}: {}\n{}", f.number, f.error, f.text)).collect();
    assert!(all.is_empty(), "{} of {PROGRAMS}:\n{}", all.len(), all.join("\n"));
    assert!(tally.checked > PROGRAMS / 10, "only {} functions were changed", tally.checked);
    let tool = Tool::gradus().with_dialects(&[&WRONG]);
    let (found, _) = findings(&tool, saturate, &["arith", "func", "wrong"], PROGRAMS);
    assert!(!found.is_empty(), "a wrong rule is not found");
}

/// A campaign whose passes never rewrite fails: casts without a meaning occur in no executable program.
#[test]
fn a_campaign_that_reaches_no_rewrite_fails() {
    let out = gradus(&["fuzz", "--count=5", "--reconcile-unrealized-casts"]);
    assert!(out.code == 1 && out.out.contains("  never: reconcile\n"), "{}", out.out);
    assert!(out.err.contains("no program reached a rewrite of the passes: reconcile"), "{}", out.err);
    let out = gradus(&["fuzz", "--count=40", "--dce"]);
    assert!(out.code == 0 && out.out.contains("erase-dead-op"), "{}{}", out.out, out.err);
}

/// Options that the pipeline does not give are drawn, such as groups of rules that no target selects.
#[test]
fn groups_of_rules_are_drawn() {
    static WRONG: Dialect = Dialect {
        name: "wrong",
        doc: "A wrong rule in a group.",
        rule_groups: &[RuleGroup {
            name: "wrong-group",
            doc: "A wrong rule.",
            rules: &[rule("wrong-thrice", "arith.addi(x, x) => arith.muli(x, 3)")],
        }],
        ..Dialect::DEFAULT
    };
    let tool = Tool::gradus().with_dialects(&[&WRONG]);
    let of = |pipeline, programs| findings(&tool, Some(pipeline), &["arith", "func", "wrong"], programs).0;
    let found = of("builtin.module(saturate{target=arbitrary})", 30 * PROGRAMS);
    assert!(found.iter().any(|f| f.pipeline.contains("wrong-group")), "{} findings", found.len());
    let given = of("builtin.module(saturate{target=arbitrary rules=add-add})", PROGRAMS);
    assert!(given.is_empty(), "given rules are kept: {}", given[0].pipeline);
}

#[test]
fn the_same_tape_gives_the_same_program() {
    let library = Library::new(&Tool::gradus().context(), &[]);
    let text = |random| {
        let grown = grow(&library, random, Limits::default(), &mut InsertionStatistics::default());
        verify(&grown.module).expect("what is made is valid");
        (grown.module.to_text(PrintOptions::default()), grown.tape)
    };
    for n in 0..20 {
        let (first, tape) = text(Random::of(n));
        assert_eq!(first, text(Random::of(n)).0);
        assert_eq!(first, text(Random::replay(tape.clone())).0);
        // Any tape gives a valid program.
        let half = tape[..tape.len() / 2].to_vec();
        assert!(!text(Random::replay(half)).0.is_empty());
    }
}

/// Most programs of each family are valid; without a dialect that they use, none is.
#[test]
fn families_are_valid() {
    let ctx = Tool::gradus().context();
    for family in FAMILIES {
        let mut mistakes = Vec::new();
        for n in 0..PROGRAMS {
            let text = (family.draw)(&mut Random::of((family.name, n)));
            let read = parse_module(&ctx, family.name, text.clone(), Default::default());
            if let Err(why) = read.and_then(|m| verify(&m)) {
                mistakes.push(format!("{}{text}", why[0].render(&ctx)));
            }
        }
        let (count, first) = (mistakes.len() as u64, mistakes.first());
        assert!(
            10 * count <= 3 * PROGRAMS,
            "{}: {count} of {PROGRAMS}:\n{}",
            family.name,
            first.unwrap_or(&String::new())
        );
    }
}

/// With a pass under test, programs are directed at what it rewrites.
#[test]
fn campaigns_are_directed() {
    for (pass, rewrite) in [("mem2reg", "promote"), ("scf-for-loop-unroll", "unroll"), ("inline", "inline")] {
        let tool = Tool::gradus();
        let pipeline = format!("builtin.module({pass})");
        let (found, tally) = findings(&tool, Some(&pipeline), &[], PROGRAMS / 2);
        let all: Vec<String> = found.iter().map(|f| format!("{}: {}\n{}", f.number, f.error, f.text)).collect();
        assert!(all.is_empty(), "{pass}: {}", all.join("\n"));
        let times = tally.fired.list().iter().find(|(name, _)| name == rewrite).map_or(0, |(_, n)| *n);
        assert!(times > PROGRAMS / 4, "{pass}: '{rewrite}' applied {times} times");
    }
}

/// Ops are inserted into steps and around them only where the steps stay valid: their bodies use no values but constants.
#[test]
fn programs_with_steps_are_valid() {
    let dialects = ["sched", "graph", "arith", "scf", "memref", "func", "builtin"];
    let (found, _) = findings(&Tool::gradus(), Some("builtin.module(plan-memory)"), &dialects, 5 * PROGRAMS);
    let all: Vec<String> = found.iter().map(|f| format!("{}: {}\n{}", f.number, f.error, f.text)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn threads_do_not_show() {
    let tool = Tool::gradus();
    let all = "builtin.module(canonicalize,cse,inline,sccp,symbol-dce)";
    for mut m in programs(&tool, PROGRAMS / 4) {
        let mut other = m.clone();
        run(&tool, &mut m, all, 1);
        run(&tool, &mut other, all, 3);
        let options = PrintOptions::default();
        assert_eq!(m.to_text(options), other.to_text(options));
    }
}

/// Passes are idempotent, except `cse` and `sccp`, which leave newly dead ops to the next run, as in MLIR.
#[test]
fn a_second_run_changes_nothing() {
    let tool = Tool::gradus();
    for pass in ["dce", "symbol-dce", "loop-invariant-code-motion", "mem2reg", "reconcile-unrealized-casts"] {
        let pipeline = format!("builtin.module({pass})");
        for mut m in programs(&tool, PROGRAMS / 4) {
            run(&tool, &mut m, &pipeline, 1);
            let once = m.to_text(PrintOptions::default());
            run(&tool, &mut m, &pipeline, 1);
            assert_eq!(once, m.to_text(PrintOptions::default()), "{pass}");
        }
    }
}

/// Whether an op that a pass leaves where it is must have a reason.
fn needs_reason(pass: &PassInfo, m: &Module, op: Op) -> bool {
    let is_in = |ops: Vec<&'static OpInfo>| m.is_one_of(op, &ops);
    match pass.name {
        // It leaves alone what is in no program.
        "choose-layers" => false,
        "convert-graph-to-addr" => is_in(graph_to_addr::ops().collect()),
        "convert-sparse-to-a64" => is_in(vec![MatMulOp::INFO]),
        "convert-sparse-to-x64" => is_in(sparse_to_x64::ops().collect()),
        "form-steps" => {
            let has_body = m.regions(op).iter().any(|&region| m.entry(region).is_some());
            let is_scheduled = m.ops_under(op).iter().any(|&op| m.name_text(op).starts_with("sched."));
            m.has_trait(op, Traits::FUNCTION) && has_body && !is_scheduled
        }
        _ if pass.stays == "on the host" => {
            let is_in_program = m.parent_op(op).is_some_and(|around| m.name_text(around).starts_with("layer."));
            m.name_text(op).starts_with("graph.") && !m.is_constant(op) && !is_in_program
        }
        // The others need not take all ops: a convolution in floats may have no quantization after it.
        _ => false,
    }
}

/// Each op that a pass leaves where it is has a remark with the rule that does not hold.
#[test]
fn refused_ops_have_a_reason() {
    let (tool, ctx) = (Tool::gradus(), Tool::gradus().context());
    let families =
        FAMILIES.iter().flat_map(|family| (0..10).map(move |n| (family.draw)(&mut Random::of(("refusals", n)))));
    let golden = ["lowering", "passes"].map(|folder| files(&root().join("tests/golden").join(folder), "mlir")).concat();
    let chunks = golden.iter().flat_map(|file| read(file).split("// -----").map(str::to_owned).collect::<Vec<_>>());
    let programs = families.chain(chunks).filter_map(|text| parse(&ctx, &text).filter(|m| verify(m).is_ok()));
    let programs: Vec<Module> = programs.collect();
    for pass in tool.passes.iter().filter(|pass| !pass.stays.is_empty()) {
        let (mut num_refused, text) = (0, format!("builtin.module({})", pass.name));
        for program in &programs {
            let (mut m, mut refused) = (program.clone(), HashSet::new());
            let named = |m: &Module, op: Op| (m.loc(op), m.name_text(op).to_owned());
            let before: HashSet<(Loc, String)> = m.ops_under(m.root()).into_iter().map(|op| named(&m, op)).collect();
            let mut pipeline = Pipeline::parse(&text, &tool.passes).expect("the pipeline is right");
            let mut watch = Watch::new(|event| {
                if let PassEvent::Diagnostic(Diagnostic { loc, refused: Some(one), .. }) = event {
                    refused.insert((loc, one.op));
                }
            });
            let done = pipeline.run(&mut m, &RunOptions::default(), &mut watch);
            drop(watch);
            num_refused += refused.len();
            for op in m.ops_under(m.root()).into_iter().filter(|_| done.is_ok()) {
                let key = named(&m, op);
                let is_explained = !before.contains(&key) || !needs_reason(pass, &m, op) || refused.contains(&key);
                assert!(
                    is_explained,
                    "--{} leaves an op without a reason:\n{}",
                    pass.name,
                    m.op_text(op, Default::default())
                );
            }
        }
        assert!(num_refused > 0, "--{} refuses no op of {} programs", pass.name, programs.len());
    }
}
