//! Planted bugs: `gradus check` finds each and names the pass and the rewrite.

mod edits;
mod floats;
mod patterns;
mod reproducers;
mod rule_checker;
mod rules;

use gradus::ir::rules::Rule;
use gradus::ir::{Dialect, PassInfo};
use gradus::{Tool, check};
use gradus_golden::{Output, run};

/// Checks a program with a tool; the flags choose the passes.
fn check_program(tool: &Tool, program: &str, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("program.mlir").display().to_string();
    std::fs::write(&file, program).expect("a file can be written");
    run(tool, &[&["check", &file], flags].concat())
}

/// Returns the error in how a bug was found; `None` if pass and rewrite are named.
fn missed(name: &str, pass: &str, output: &Output) -> Option<String> {
    let pass_named = output.err.contains(&format!("after pass '{pass}'"));
    let rewrite_named = output.err.contains(&format!("pattern: {name}"));
    let found = output.code == 1 && pass_named && rewrite_named;
    (!found).then(|| format!("{name}: exit status {}\n{}{}", output.code, output.out, output.err))
}

/// Gradus with one additional rule.
fn tool_with(rule: &'static Rule) -> Tool {
    let dialect: &'static Dialect = Box::leak(Box::new(Dialect {
        name: "planted",
        doc: "A rule.",
        rules: std::slice::from_ref(rule),
        ..Dialect::DEFAULT
    }));
    Tool::gradus().with_dialects(&[dialect])
}

fn none_missed(missed: impl Iterator<Item = String>) {
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{} are missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn wrong_rules_are_found_and_named() {
    let missed = rules::RULES.iter().filter_map(|(rule, program)| {
        let tool = tool_with(rule);
        let sound = check_program(&Tool::gradus(), program, &["--cse", "--canonicalize", "--symbol-dce"]);
        assert_eq!(sound.code, 0, "{}: without the bug:\n{}{}", rule.name, sound.out, sound.err);
        missed(rule.name, "canonicalize", &check_program(&tool, program, &["--cse", "--canonicalize", "--symbol-dce"]))
    });
    none_missed(missed);
}

/// Only rules that decrease the cost are used.
#[test]
fn saturation_names_wrong_rules() {
    let mut found = 0;
    for (rule, program) in rules::RULES {
        for flag in ["--saturate", "--saturate=target=arbitrary"] {
            let output = check_program(&tool_with(rule), program, &[flag]);
            if output.err.contains("after pass 'saturate'") {
                found += 1;
                assert_eq!(missed(rule.name, "saturate", &output), None);
            }
        }
    }
    assert!(found >= 5, "only {found} programs are wrong");
}

#[test]
fn wrong_patterns_are_found_and_named() {
    let missed = patterns::PLANTED.iter().filter_map(|(info, program)| {
        let info: &'static PassInfo = info;
        let tool = Tool::gradus().with_passes(&[info]);
        let flag = format!("--{}", info.name);
        missed(info.name, info.name, &check_program(&tool, program, &["--cse", &flag, "--canonicalize"]))
    });
    none_missed(missed);
}

/// The result of the in-process interface.
#[test]
fn the_rewrite_has_its_number() {
    let (info, program) = &patterns::PLANTED[0];
    let tool = Tool::gradus().with_passes(&[info]);
    let ctx = tool.context();
    let read =
        || gradus::ir::parse_module(&ctx, "a.mlir", (*program).to_owned(), Default::default()).expect("is valid");
    let subject = check::bisect::Subject {
        program: &read,
        pipeline: &|| {
            let text = format!("builtin.module(cse,{},canonicalize)", info.name);
            gradus::ir::pass::Pipeline::parse(&text, &tool.passes).expect("the pipeline is right")
        },
        how: Default::default(),
        options: Default::default(),
        executions: &[],
    };
    let check::bisect::Checked::Wrong(culprit) = subject.check() else { panic!("a difference") };
    assert_eq!((culprit.pass, culprit.number, culprit.function.as_str()), (info.name, 1, "f"));
    assert_eq!(culprit.rewrite.expect("is found").number, 1);
}

#[test]
fn what_cannot_be_checked_is_no_success() {
    let undefined = "func.func @f(%a: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %0 = arith.divsi %a, %c0 : i64
  %1 = arith.addi %0, %c0 : i64
  return %1 : i64
}
";
    let output = check_program(&Tool::gradus(), undefined, &["--canonicalize"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("@f: inconclusive: it is defined on 0 inputs"), "{}", output.out);
    let nothing = check_program(&Tool::gradus(), "func.func private @f()\n", &["--canonicalize"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
    let endless = "func.func @f(%a: i32) -> i32 {
  cf.br ^a(%a : i32)
^a(%0: i32):
  %c = arith.constant 0 : i32
  %1 = arith.addi %0, %c : i32
  cf.br ^a(%1 : i32)
}
";
    let output = check_program(&Tool::gradus(), endless, &["--canonicalize"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("inconclusive"), "{}", output.out);
}

#[test]
fn all_inputs_are_run_if_there_are_few() {
    let program = "func.func @f(%a: i8) -> i8 {
  %c = arith.constant 1 : i8
  %0 = arith.addi %a, %c : i8
  %1 = arith.subi %0, %c : i8
  return %1 : i8
}
";
    let output = check_program(&Tool::gradus(), program, &["--canonicalize"]);
    assert_eq!((output.code, output.out.as_str()), (0, "@f: no difference on all 256 inputs (0 undefined)\n"));
}

/// If both memrefs alias, the result depends on the order of iterations, which tiling changes.
#[test]
fn races_are_no_differences() {
    let program = "func.func @f(%a: memref<5x5xi32>, %b: memref<5x5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j) = (%c0, %c1) to (%c4, %c5) step (%c1, %c1) {
    %below = arith.addi %i, %c1 : index
    %left = arith.subi %j, %c1 : index
    %v = memref.load %a[%below, %left] : memref<5x5xi32>
    memref.store %v, %b[%i, %j] : memref<5x5xi32>
  }
  return
}
";
    let tiled = ["--scf-parallel-loop-tiling=parallel-loop-tile-sizes=2,2", "--canonicalize"];
    let output = check_program(&Tool::gradus(), program, &tiled);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(output.out.starts_with("@f: no difference on 200 inputs ("), "{}", output.out);
    assert!(!output.out.contains("(0 undefined"), "{}", output.out);
}
