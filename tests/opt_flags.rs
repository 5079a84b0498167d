//! Flags of `gradus opt` that write files or reports, and flags that must not affect the output.

use crate::support::{Output, gradus};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  %1 = arith.addi %0, %a : i32
  %2 = arith.addi %0, %a : i32
  %3 = arith.muli %1, %2 : i32
  return %3 : i32
}
module @inner {
  func.func private @\"weird name/x\"() {
    return
  }
}
";

const PIPELINE: &str = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),cse,builtin.module(func.func(cse)))";

/// A folder with the program in it.
struct Work(tempfile::TempDir);

impl Work {
    fn new(program: &str) -> Work {
        let work = Work(tempfile::tempdir().expect("a folder can be made"));
        std::fs::write(work.path("in.mlir"), program).expect("a file can be written");
        work
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("temporary files have plain names").to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn opt(&self, flags: &[&str]) -> Output {
        let input = self.path("in.mlir");
        gradus(&[&["opt", &input], flags].concat())
    }
}

#[test]
fn dumps_go_into_a_tree_of_files() {
    let work = Work::new(PROGRAM);
    let output = work.opt(&[
        PIPELINE,
        "--mlir-print-ir-after-all",
        "--mlir-print-ir-before=canonicalize",
        &format!("--mlir-print-ir-tree-dir={}", work.path("tree")),
    ]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let root = work.0.path().join("tree");
    let mut files: Vec<PathBuf> = crate::support::files(&root, "mlir");
    files.iter_mut().for_each(|f| *f = f.strip_prefix(&root).expect("is inside").to_owned());
    let module = Path::new("builtin_module_no-symbol-name");
    let expected = [
        "1_cse.mlir",
        "builtin_module_inner/func_func_weird name_x/1_0_0_cse.mlir",
        "func_func_f/0_0_cse.mlir",
        "func_func_f/0_1_canonicalize.mlir",
        "func_func_f/0_2_canonicalize.mlir",
    ];
    assert_eq!(files, expected.map(|f| module.join(f)));
    let last = std::fs::read_to_string(root.join(module).join("func_func_f/0_2_canonicalize.mlir")).expect("is there");
    let expected = "// -----// IR Dump After Canonicalizer (canonicalize) //----- //
func.func @f(%arg0: i32) -> i32 {
  %0 = arith.addi %arg0, %arg0 : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}

";
    assert_eq!(last, expected);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let work = Work::new(PROGRAM);
    std::fs::write(work.path("tree"), "").expect("a file can be written");
    let tree = format!("--mlir-print-ir-tree-dir={}", work.path("tree"));
    let output = work.opt(&["--cse", "--mlir-print-ir-after-all", &tree]);
    assert!(output.code == 1 && output.err.contains("cannot write"), "{}", output.err);
}

#[test]
fn a_reproducer_runs_the_same_pipeline_on_the_same_program() {
    let work = Work::new(PROGRAM);
    let reproducer = format!("--mlir-generate-reproducer={}", work.path("out.mlir"));
    let options = "--canonicalize=max-iterations=3 disable-patterns=a,b";
    let first = work.opt(&["--cse", options, &reproducer, "--verify-each=false", "--mlir-disable-threading"]);
    let again = gradus(&["opt", &work.path("out.mlir"), "--run-reproducer", "--dump-pass-pipeline"]);
    assert_eq!((first.code, again.code), (0, 0));
    assert_eq!(again.out, first.out);
    assert!(again.err.contains("canonicalize{disable-patterns={a,b}  max-iterations=3 "), "{}", again.err);
    let text = work.read("out.mlir");
    let expected = "\
      pipeline: \"builtin.module(cse,canonicalize{disable-patterns={a,b}  max-iterations=3 max-num-rewrites=-1 \
                    region-simplify=normal test-convergence=false top-down=true})\",
      disable_threading: true,
      verify_each: false
    }
  }
#-}
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_report_of_the_time_has_a_row_for_each_step() {
    let work = Work::new(PROGRAM);
    let run =
        |flags: &[&str]| work.opt(&[&[PIPELINE, "--mlir-timing", "--mlir-disable-threading"], flags].concat()).err;
    let text = run(&[]);
    let names: Vec<&str> = text.lines().skip(6).filter_map(|l| l.split_once("%)  ")).map(|l| l.1).collect();
    let steps = ["Parser", "'func.func' Pipeline", "  CSE", "  Canonicalizer", "CSE", "'builtin.module' Pipeline"];
    assert_eq!(
        names,
        [&steps[..], &["  'func.func' Pipeline", "    CSE", "Output", "Rest", "Total"]].concat(),
        "{text}"
    );
    let json = run(&["--mlir-output-format=json", "--mlir-timing-display=list"]);
    assert!(json.starts_with("[\n{\"wall\": {\"duration\": ") && json.ends_with("\"name\": \"Total\"}\n]\n"), "{json}");
    assert_eq!(json.matches("\"name\": \"CSE\"").count(), 1, "{json}");
}

#[test]
fn actions_are_written_to_files() {
    let work = Work::new(PROGRAM);
    let (log, profile) = (work.path("log"), work.path("profile"));
    let output = work.opt(&["--cse", &format!("--log-actions-to={log}"), &format!("--profile-actions-to={profile}")]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let expected = "\
[thread gradus] begins (no breakpoint) Action `pass-execution` running `CSE` on Operation `builtin.module` (module {...})`
[thread gradus] begins (no breakpoint) Action `cse (%2 = arith.addi %0, %arg0 : i32)`
[thread gradus] completed `cse`
[thread gradus] completed `pass-execution`
";
    assert_eq!(work.read("log"), expected);
    let events = work.read("profile");
    assert!(events.starts_with("[{") && events.ends_with("}]") && events.lines().count() == 4, "{events}");
    let phases: Vec<&str> = events.split("\"ph\": \"").skip(1).map(|e| &e[..1]).collect();
    assert_eq!(phases, ["B", "B", "E", "E"]);
}

#[test]
fn what_exists_is_listed() {
    let passes = gradus(&["opt", "--list-passes"]).out;
    assert!(
        passes.starts_with("Passes:\n")
            && passes.contains("\n  --canonicalize ")
            && passes.contains("\n    --max-iterations=<long> "),
        "{passes}"
    );
    assert!(gradus(&["opt", "--show-dialects"]).out.starts_with("Available Dialects: a64,a64_ext,addr,affine,arith,"));
    let all = gradus(&["list"]).out;
    let headings: Vec<&str> = all.lines().filter(|l| !l.starts_with(' ') && l.ends_with(':')).collect();
    assert_eq!(
        headings,
        ["dialects:", "ops:", "types:", "attributes:", "passes:", "rules:", "rule-groups:", "targets:"]
    );
    for kind in ["ops", "types", "attributes", "passes", "targets"] {
        let own = gradus(&["list", kind]).out;
        assert!(!own.is_empty() && all.contains(&own), "{kind}");
    }
    let help = gradus(&["opt", "--help"]).out;
    for heading in
        ["Passes, in the order given:", "Running passes:", "Printing between passes:", "Reports:", "Printing:"]
    {
        assert!(help.contains(heading), "{heading}");
    }
}

#[test]
fn one_op_is_one_op() {
    let work = Work::new("func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n");
    let output = work.opt(&["--no-implicit-module"]);
    let message = "in.mlir:0:0: error: source must contain a single top-level operation, found: 2\n";
    assert!(output.code == 1 && output.err.ends_with(message), "{}", output.err);
}

#[test]
fn a_program_that_is_not_verified_is_printed_in_generic_form() {
    let work = Work::new("func.func @f(%a: i32) {\n  %0 = \"arith.addi\"(%a, %a) : (i32, i32) -> i64\n  return\n}\n");
    let output = work.opt(&[concat!("--mlir-very-un", "safe-disable-verifier-on-parsing")]);
    assert!(output.code == 0 && output.out.contains("\"arith.addi\"(%arg0, %arg0)"), "{}", output.err);
    let noted = work.opt(&[]);
    assert!(noted.err.contains("note: see current operation: %0 = \"arith.addi\"(%arg0, %arg0)"), "{}", noted.err);
    assert!(!work.opt(&["--mlir-print-op-on-diagnostic=false"]).err.contains("note:"));
}

/// Functions with work for each pass, deterministic.
fn large_program(functions: usize) -> String {
    let mut text = String::from("func.func private @elsewhere(i32) -> i32\n%top = arith.constant 1 : i32\n");
    let mut state = 1u32;
    for f in 0..functions {
        text += &format!("func.func @f{f}(%v0: i32, %v1: i32) -> i32 {{\n");
        for v in 2..300 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (a, b) = (v - 1 - state as usize % 2, v - 1 - (state >> 8) as usize % v.min(9));
            text += &match state >> 28 {
                0..=3 => format!("  %v{v} = arith.constant {} : i32\n", state >> 16 & 7),
                4..=8 => format!("  %v{v} = arith.addi %v{a}, %v{b} : i32\n"),
                9..=12 => format!("  %v{v} = arith.xori %v{a}, %v{b} : i32\n"),
                _ => format!("  %v{v} = func.call @elsewhere(%v{a}) : (i32) -> i32\n"),
            };
        }
        text += "  return %v299 : i32\n}\n";
    }
    text
}

#[test]
fn the_number_of_threads_does_not_show() {
    let work = Work::new(&large_program(30));
    for passes in [
        &["--canonicalize", "--cse", "--dce"][..],
        &["--pass-pipeline=builtin.module(func.func(cse,canonicalize{top-down=false}),dce,func.func(dce,cse))"],
    ] {
        let run = |threads: &str| work.opt(&[passes, &["--mlir-pass-statistics", threads]].concat());
        let one = run("--mlir-disable-threading");
        assert_eq!(one.code, 0, "{}", one.err);
        for threads in ["--threads=2", "--threads=7"] {
            let several = run(threads);
            assert!(several.out == one.out, "{passes:?} {threads}");
            assert_eq!(several.err, one.err);
        }
    }
}

/// A branch with twenty thousand successors that carry operands, and as many conditionals and cases.
#[test]
fn successors_conditionals_and_cases_may_be_many() {
    const N: usize = 20_000;
    let repeat = |item: &dyn Fn(usize) -> String| (0..N).map(item).collect::<String>();
    let cases = repeat(&|i| format!(",\n    {i}: ^b{i}(%x : i32)"));
    let blocks = repeat(&|i| format!("^b{i}(%y{i}: i32):\n  return %y{i} : i32\n"));
    let switch = format!(
        "func.func @f(%c: i32, %x: i32) -> i32 {{\n  cf.switch %c : i32, [\n    default: ^d{cases}\n  ]\n^d:\n  return \
         %c : i32\n{blocks}}}\n"
    );
    let output = Work::new(&switch).opt(&["--sccp"]);
    assert_eq!((output.code, output.out.matches("return").count()), (0, N + 1), "{}", output.err);
    let row = repeat(&|i| {
        let old = if i == 0 { "x".into() } else { format!("v{}", i - 1) };
        format!(
            "  %v{i} = scf.if %c -> (i32) {{\n    %a{i} = arith.addi %{old}, %x : i32\n    scf.yield %a{i} : i32\n  }} \
             else {{\n    scf.yield %{old} : i32\n  }}\n"
        )
    });
    let row = format!("func.func @f(%c: i1, %x: i32) -> i32 {{\n{row}  return %v{} : i32\n}}\n", N - 1);
    let output = Work::new(&row).opt(&["--canonicalize"]);
    assert_eq!((output.code, output.out.matches("scf.if").count()), (0, 1), "{}", output.err);
    let cases =
        repeat(&|i| format!("  case {i} {{\n    %a{i} = arith.addi %x, %x : i32\n    scf.yield %a{i} : i32\n  }}\n"));
    let switch = format!(
        "func.func @f(%c: index, %x: i32) -> i32 {{\n  %r = scf.index_switch %c -> i32\n{cases}  default {{\n    \
         scf.yield %x : i32\n  }}\n  return %r : i32\n}}\n"
    );
    for pass in ["--sccp", "--loop-invariant-code-motion", "--control-flow-sink"] {
        let output = Work::new(&switch).opt(&[pass]);
        assert_eq!((output.code, output.out.matches("case").count()), (0, N), "{pass}: {}", output.err);
    }
}

/// A branch with twenty thousand successors, each with a dead argument.
#[test]
fn dead_arguments_may_be_many() {
    const N: usize = 20_000;
    let repeat = |item: &dyn Fn(usize) -> String| (0..N).map(item).collect::<String>();
    let cases = repeat(&|i| format!(",\n    {i}: ^b{i}(%x, %c : i32, i32)"));
    let blocks =
        repeat(&|i| format!("^b{i}(%y{i}: i32, %z{i}: i32):\n  call @g{}(%y{i}) : (i32) -> ()\n  return\n", i % 2));
    let program = format!(
        "func.func private @g0(i32)\nfunc.func private @g1(i32)\nfunc.func @f(%c: i32, %x: i32) {{\n  cf.switch %c : \
         i32, [\n    default: ^d{cases}\n  ]\n^d:\n  return\n{blocks}}}\n"
    );
    let output = Work::new(&program).opt(&["--canonicalize"]);
    assert_eq!((output.code, output.out.matches("(%arg1 : i32)").count()), (0, N), "{}", output.err);
}

/// Twenty thousand nested loops that store to a slot, and a loop with as many back edges.
#[test]
fn back_edges_may_be_many() {
    const N: usize = 20_000;
    let step = |i: usize| {
        format!(
            "  %v{i} = memref.load %m[] : memref<i32>\n  %w{i} = arith.addi %v{i}, %a : i32\n  memref.store %w{i}, \
             %m[] : memref<i32>\n"
        )
    };
    let heads: String = (0..N).map(|i| format!("^h{i}:\n  cf.br ^h{}\n", i + 1)).collect();
    let latches: String =
        (0..N).map(|i| format!("^l{i}:\n{}  cf.cond_br %c, ^h{}, ^l{}\n", step(i), N - 1 - i, i + 1)).collect();
    let nest = format!("{heads}^h{N}:\n  cf.br ^l0\n{latches}^l{N}:\n");
    let blocks: String = (0..N).map(|i| format!("^h{i}:\n{}  cf.cond_br %c, ^h0, ^h{}\n", step(i), i + 1)).collect();
    for (blocks, arguments) in [(nest, N), (format!("{blocks}^h{N}:\n"), 1)] {
        let program = format!(
            "func.func @f(%a: i32, %c: i1) -> i32 {{\n  %m = memref.alloca() : memref<i32>\n  memref.store %a, %m[] : \
             memref<i32>\n  cf.br ^h0\n{blocks}  %r = memref.load %m[] : memref<i32>\n  return %r : i32\n}}\n"
        );
        let output = Work::new(&program).opt(&["--mem2reg"]);
        let counts = [": i32):", "memref"].map(|text| output.out.matches(text).count());
        assert_eq!((output.code, counts), (0, [arguments, 0]), "{}", output.err);
    }
}

/// Returns 50,000 private functions, each of which calls the next.
fn call_chain() -> String {
    let call = |i: usize| format!("func.func private @f{i}() {{\n  call @f{}() : () -> ()\n  return\n}}\n", i + 1);
    let chain: String = (0..50_000).map(call).collect();
    format!(
        "func.func @f() {{\n  call @f0() : () -> ()\n  return\n}}\n{chain}func.func private @f50000() {{\n  return\n}}\n"
    )
}

#[test]
fn calls_may_be_many_and_deep() {
    let output = Work::new(&call_chain()).opt(&["--inline"]);
    assert_eq!((output.code, output.out.matches("func.func").count()), (0, 1), "{}", output.err);
    // Functions that call each other in a circle are inlined once each in each of four iterations.
    const N: usize = 20_000;
    let circle: String = (0..N)
        .map(|i| format!("func.func private @g{i}() {{\n  call @g{}() : () -> ()\n  return\n}}\n", (i + 1) % N))
        .collect();
    let program = format!("func.func @f() {{\n  call @g0() : () -> ()\n  return\n}}\n{circle}");
    let output = Work::new(&program).opt(&["--inline", "--mlir-pass-statistics"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains(&format!("{} num-inlined", 4 * N)), "{}", output.err);
    let calls: String = (0..50_000).map(|i| format!("  %{i} = call @g(%a) : (i32) -> i32\n")).collect();
    let callee = "func.func private @g(%a: i32) -> i32 {\n  %c = arith.constant 7 : i32\n  return %c : i32\n}\n";
    let program = format!("{callee}func.func @f(%a: i32) -> i32 {{\n{calls}  return %49999 : i32\n}}\n");
    let output = Work::new(&program).opt(&["--sccp"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("  return %c7_i32 : i32"), "{}", &output.out[output.out.len() - 300..]);
}
