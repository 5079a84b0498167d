//! `gradus filecheck` gives the verdicts of LLVM's FileCheck, and is stricter where the table says so.

use crate::support::{gradus, root};
use gradus::check_lines::Settings;
use gradus::filecheck::{Options, Text, check};
use std::collections::BTreeSet;

/// A row of the table.
#[derive(Default)]
struct Case {
    name: String,
    flags: Vec<String>,
    /// LLVM's exit status.
    llvm: u8,
    /// The exit status of Gradus.
    status: u8,
    checks: String,
    input: String,
}

fn unescape(text: &str) -> String {
    let codes = [("\\t", "\t"), ("\\r", "\r"), ("\\n", "\n"), ("\\\\", "\\")];
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let code = codes.iter().find(|code| rest.starts_with(code.0));
        out.push_str(code.map_or(&rest[..c.len_utf8()], |code| code.1));
        rest = &rest[code.map_or(c.len_utf8(), |code| code.0.len())..];
    }
    out
}

fn case(section: &str) -> Case {
    let (head, rest) = section.split_once("-- checks\n").expect("a case has checks");
    let (checks, input) = rest.split_once("-- input\n").expect("a case has an input");
    // The empty line between two cases is not part of either.
    let (checks, input) = (checks.to_owned(), input.strip_suffix('\n').unwrap_or(input).to_owned());
    let mut lines = head.lines();
    let name = lines.next().expect("a case has a name").to_owned();
    let mut case = Case { name, checks, input, ..Case::default() };
    for line in lines {
        match line.split_once(": ").unwrap_or((line, "")) {
            ("flags", flags) => case.flags = flags.split_whitespace().map(str::to_owned).collect(),
            ("status", both) => {
                let (llvm, ours) = both.split_once('/').unwrap_or((both, both));
                case.llvm = llvm.parse().expect("a status is a number");
                case.status = ours.parse().expect("a status is a number");
            }
            ("escaped", _) => {
                case.checks = unescape(&case.checks);
                case.input = unescape(&case.input);
            }
            (other, _) => panic!("{}: '{other}' means nothing", case.name),
        }
    }
    case
}

fn cases() -> Vec<Case> {
    let table = std::fs::read_to_string(root().join("tests/filecheck/cases.txt")).expect("the table is there");
    table.split("\n== ").skip(1).map(|s| case(&format!("{s}\n"))).collect()
}

/// Runs a case; returns exit status and output.
fn run(case: &Case, more: &[&str]) -> (u8, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("checks"), &case.checks).expect("a file can be written");
    std::fs::write(path("input"), &case.input).expect("a file can be written");
    let fixed = ["filecheck".to_owned(), path("checks"), "--input-file".into(), path("input")];
    let more = more.iter().map(|&m| m.to_owned());
    let args: Vec<String> = fixed.into_iter().chain(case.flags.iter().cloned()).chain(more).collect();
    let output = gradus(&args);
    (output.code, output.err.replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn every_case_ends_as_in_the_table() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let (status, text) = run(case, &[]);
        if status != case.status {
            wrong.push(format!("{}: {status}, not {}\n{text}", case.name, case.status));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    let names: BTreeSet<&str> = cases.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "names are there once");
    assert!(cases.len() >= 200, "cases are missing: there are {}", cases.len());
}

/// Strictness is the only difference to LLVM.
#[test]
fn without_near_misses_all_is_as_with_llvm() {
    for case in cases().iter().filter(|c| c.status != c.llvm) {
        let (status, text) = run(case, &["--allow-near-misses"]);
        assert_eq!(status, case.llvm, "{}\n{text}", case.name);
    }
}

/// Returns the next number of SplitMix64, which is the same on every machine.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33) as usize
}

/// Returns a text with some bytes changed, duplicated or removed.
fn damaged(text: &str, state: &mut u64) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + next(state) % 4 {
        let (at, other) = (next(state) % (bytes.len() + 1), b"[]{}()#:%\\\n@-+*|\xff\0a9"[next(state) % 20]);
        match next(state) % 4 {
            0 if at < bytes.len() => drop(bytes.remove(at)),
            1 if at < bytes.len() => bytes[at] = other,
            2 => bytes.truncate(at),
            _ => bytes.insert(at, other),
        }
    }
    bytes
}

/// Any bytes give a verdict.
#[test]
fn damaged_files_have_verdicts() {
    let mut state = 7;
    let mut verdicts = BTreeSet::new();
    for case in cases() {
        for round in 0..30 {
            let (checks, input) = (damaged(&case.checks, &mut state), damaged(&case.input, &mut state));
            let options =
                Options { match_full_lines: round % 7 == 0, ignore_case: round % 5 == 0, ..Options::default() };
            let text = |name, bytes| Text { name, bytes };
            verdicts.insert(check(&options, text("checks", &checks), text("input", &input)).verdict as u8);
            let text = String::from_utf8_lossy(&checks).into_owned();
            let _ = gradus::runline::pipelines(&gradus::Tool::gradus(), &text);
            let _ = gradus::check_lines::blocks(&text, Settings { prefix: "C", prefixes: &[], file: "f" });
        }
    }
    assert_eq!(verdicts.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

/// Damaged expectations and markers are compared as well.
#[test]
fn damaged_expectations_are_compared() {
    let text = "// expected-error-re@+1 {{a {{[0-9]+}} b}}\n\"t.x\"() : () -> ()\n// -----\n// expected-note@below {{x}}\n\
                // -----\n// expected-warning@unknown {{y}}\nfunc.func private @f()\n";
    let mut state = 11;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("f.mlir");
    for _ in 0..500 {
        std::fs::write(&file, damaged(text, &mut state)).expect("a file can be written");
        let path = file.to_str().expect("a temporary file has a plain name");
        let output = gradus(&["opt", path, "--split-input-file", "--verify-diagnostics"]);
        assert!(output.code <= 1, "{}", output.err);
    }
}

/// CHECK lines can be generated for every golden file that succeeds, they hold, and generating them again changes
/// nothing.
#[test]
fn every_golden_file_can_have_check_lines() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("f.mlir").display().to_string();
    let (mut count, mut wrong) = (0, Vec::new());
    for golden in crate::support::files(&root().join("tests/golden"), "mlir") {
        let text = std::fs::read_to_string(&golden).expect("a golden file is text");
        if text.contains("FileCheck") || text.contains("expected-") {
            continue;
        }
        std::fs::write(&file, &text).expect("a file can be written");
        let update = |more: &[&str]| gradus(&[&["update-checks", &file], more].concat());
        let (first, again) = (update(&[]), update(&["--check"]));
        let written = std::fs::read_to_string(&file).expect("the file is there");
        if (first.code, again.code) != (0, 0) || !written.contains("// CHECK") {
            wrong.push(format!("{}: {}{}", golden.display(), first.err, again.err));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 30, "only {count} golden files were tried");
}

/// Hand-written directives stay, and an impossible update is an error with a reason.
#[test]
fn update_checks_leaves_alone_what_it_must() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("f.mlir").display().to_string();
    let run = |text: &str, flags: &[&str]| {
        std::fs::write(&file, text).expect("a file can be written");
        let output = gradus(&[&["update-checks", &file], flags].concat());
        let now = std::fs::read_to_string(&file).expect("the file is there");
        assert_eq!(output.code != 0, now == text, "{now}");
        output.err.replace(&file, "f.mlir")
    };
    let body = "func.func private @f()\n";
    let by_hand = format!("// RUN: gradus opt %s | FileCheck %s\n// CHECK: @f\n{body}");
    assert_eq!(run(&by_hand, &[]), "f.mlir: error: the directives were written by hand; --force replaces them\n");
    assert_eq!(run(&by_hand, &["--force"]), "");
    let check = format!("// RUN: gradus opt %s | FileCheck %s\n{body}");
    assert_eq!(run(&check, &["--check"]), "f.mlir: error: the CHECK lines are not those of the output\n");
    let behind = "// RUN: gradus opt %s | FileCheck %s\nfunc.func private @f() // CHECK: @f\n";
    let message = "f.mlir: error: line 2: a directive after other text on its line cannot be updated\n";
    assert_eq!(run(behind, &["--force"]), message);
    assert_eq!(run(body, &[]), "f.mlir: error: there is no RUN line\n");
    let broken = format!("// RUN: gradus opt %s --cse=x=1 | FileCheck %s\n{body}");
    assert!(run(&broken, &[]).starts_with("f.mlir: error: the RUN line 1 fails:\n"), "{}", run(&broken, &[]));
    let two = format!(
        "// RUN: gradus opt %s | FileCheck %s\n// RUN: gradus opt %s --mlir-print-op-generic | FileCheck %s\n{body}"
    );
    assert_eq!(run(&two, &[]), "f.mlir: error: line 2: the prefix 'CHECK' is for different outputs\n");
}
