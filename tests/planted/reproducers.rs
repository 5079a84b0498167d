//! Each planted bug gives a small reproducer: a golden test that fails while the bug exists.

use super::{patterns, rules, tool_with};
use gradus::Tool;
use gradus::check::bisect::{Checked, Subject};
use gradus::ir::pass::{Pipeline, RunOptions};
use gradus::ir::{ParseOptions, PassInfo, parse_module};
use gradus::reduce::{ReduceOptions, StopReason, ops_in_bodies};
use gradus::runline::pipelines;
use gradus_golden::run;
use std::time::{Duration, Instant};

/// Required median and maximum sizes.
const MEDIAN: usize = 8;
const MOST: usize = 15;

/// The size and cost of a reproducer.
struct Found {
    name: &'static str,
    ops: usize,
    sliced: bool,
    candidates: u64,
    time: Duration,
}

/// Tools with a bug: name, program, passes.
fn bugs() -> Vec<(Tool, &'static str, &'static str, String)> {
    let rules = rules::RULES.iter().map(|(rule, program)| {
        (tool_with(rule), rule.name, *program, "builtin.module(cse,canonicalize,symbol-dce)".to_owned())
    });
    let patterns = patterns::PLANTED.iter().map(|(info, program)| {
        let info: &'static PassInfo = info;
        let pipeline = format!("builtin.module(cse,{},canonicalize)", info.name);
        (Tool::gradus().with_passes(&[info]), info.name, *program, pipeline)
    });
    rules.chain(patterns).collect()
}

/// Reduces a bug and checks that the reproducer shows it.
fn reproduce(tool: &Tool, name: &'static str, program: &str, pipeline: &str) -> Result<Found, String> {
    let ctx = tool.context();
    let read = || parse_module(&ctx, "a.mlir", program.to_owned(), ParseOptions::default()).expect("is valid");
    let parse = |text: &str| Pipeline::parse(text, &tool.passes).ok();
    let subject = Subject {
        program: &read,
        pipeline: &|| parse(pipeline).expect("the pipeline is right"),
        how: RunOptions::default(),
        options: Default::default(),
        executions: &[],
    };
    let Checked::Wrong(culprit) = subject.check() else { return Err(format!("{name}: is not found")) };
    let start = Instant::now();
    let found = subject.reproduce(&culprit, &parse, &ReduceOptions::default());
    let found = found.ok_or_else(|| format!("{name}: there is no reproducer"))?;
    let rewrite = |culprit: &gradus::check::bisect::Culprit| culprit.rewrite.as_ref().map(|r| r.what.clone());
    if rewrite(&culprit).is_none() {
        return Err(format!("{name}: no rewrite is named"));
    }
    if found.culprit.pass != culprit.pass || rewrite(&found.culprit) != rewrite(&culprit) {
        return Err(format!("{name}: the reproducer shows something else: {}", found.culprit.error.render(&ctx)));
    }
    if found.reduced.stop_reason != StopReason::Minimal {
        return Err(format!("{name}: the reproducer could be smaller"));
    }
    let (ops, candidates) = (ops_in_bodies(&found.reduced.module), found.reduced.candidates);
    Ok(Found { name, ops, sliced: found.sliced, candidates, time: start.elapsed() })
}

#[test]
#[allow(clippy::print_stderr, reason = "with --nocapture, the figures of the book")]
fn reproducers_are_small() {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (tool, name, program, pipeline) in bugs() {
        match reproduce(&tool, name, program, &pipeline) {
            Ok(one) => found.push(one),
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    found.sort_by_key(|one| one.ops);
    let line = |one: &Found| {
        let from = if one.sliced { "slice" } else { "program" };
        format!("{:3} ops {:4} candidates {:8.1?} {from:8} {}\n", one.ops, one.candidates, one.time, one.name)
    };
    let table: String = found.iter().map(line).collect();
    eprint!("{table}");
    let (median, most) = (found[found.len() / 2].ops, found[found.len() - 1].ops);
    assert!(found.len() == 47 && median <= MEDIAN && most <= MOST, "median {median}, most {most}:\n{table}");
}

/// The written file is a golden test: its RUN line fails with the bug and succeeds without it.
#[test]
fn reproducers_are_golden_tests() {
    let mut wrong = Vec::new();
    for (tool, name, program, pipeline) in bugs() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = |file: &str| folder.path().join(file).display().to_string();
        let (input, output) = (path("program.mlir"), path("reproducer.mlir"));
        std::fs::write(&input, program).expect("a file can be written");
        let flags = [format!("--pipeline={pipeline}"), format!("--reproducer={output}")];
        let checked = run(&tool, &["check", &input, &flags[0], &flags[1]]);
        let Ok(text) = std::fs::read_to_string(&output) else {
            wrong.push(format!("{name}: there is no reproducer: {}", checked.err));
            continue;
        };
        let again = pipelines(&tool, &text).expect("the RUN line can be read")[0].run(&tool, &output);
        let said = String::from_utf8_lossy(&again.err).into_owned();
        if again.status != 1
            || !said.contains(&format!("pattern: {name}"))
            || !text.contains(&format!("pattern: {name}"))
        {
            wrong.push(format!("{name}: with the bug: exit status {}: {said}\n{text}", again.status));
        }
        // Without the rule, the passes are correct.
        if rules::RULES.iter().any(|(rule, _)| rule.name == name) {
            let sound =
                pipelines(&Tool::gradus(), &text).expect("the RUN line can be read")[0].run(&Tool::gradus(), &output);
            if sound.status != 0 {
                let said = String::from_utf8_lossy(&[sound.out, sound.err].concat()).into_owned();
                wrong.push(format!("{name}: without the bug: {said}\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A pass that runs on one function after another keeps its cause and its reproducer if others follow the wrong one.
#[test]
fn functions_behind_hide_nothing() {
    let mut wrong = Vec::new();
    for (tool, name, program, pipeline) in bugs().into_iter().filter(|bug| bug.2.trim_start().starts_with("func")) {
        let behind = "func.func private @declared()\nfunc.func @faultless(%a: i32) -> i32 {\n  return %a : i32\n}\n";
        let anchored =
            pipeline.replace("builtin.module(", "builtin.module(func.func(").replace(",symbol-dce", "") + ")";
        if let Err(why) = reproduce(&tool, name, &format!("{program}\n{behind}"), &anchored) {
            wrong.push(why);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With passes, the whole program is reduced, and the result is a reproducer too.
#[test]
fn programs_are_reduced_by_their_passes() {
    for (tool, name, program, pipeline) in bugs().into_iter().rev().step_by(9) {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let input = folder.path().join("program.mlir").display().to_string();
        std::fs::write(&input, program).expect("a file can be written");
        let output = run(&tool, &["reduce", &input, &format!("--pipeline={pipeline}")]);
        assert_eq!(output.code, 0, "{name}: {}", output.err);
        let run_line = format!("// RUN: gradus check %s --pass-pipeline='{pipeline}'\n");
        assert!(output.out.starts_with(&run_line), "{name}: {}", output.out);
        assert!(output.out.contains(&format!("pattern: {name}")), "{name}: {}", output.out);
        assert!(output.err.contains("no single step makes it smaller"), "{name}: {}", output.err);
    }
}
