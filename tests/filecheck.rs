//! `gradus filecheck` decides as LLVM's FileCheck does, case by case, and is stricter where the table says so.

mod support;

use std::collections::BTreeSet;
use support::{gradus, root};

/// A row of the table.
#[derive(Default)]
struct Case {
    name: String,
    flags: Vec<String>,
    /// LLVM's exit status.
    llvm: u8,
    /// Ours.
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
    // The empty line between two cases belongs to neither.
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

/// Runs a case; returns the exit status and what was printed.
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

/// Strictness is the only difference.
#[test]
fn without_near_misses_all_is_as_with_llvm() {
    for case in cases().iter().filter(|c| c.status != c.llvm) {
        let (status, text) = run(case, &["--allow-near-misses"]);
        assert_eq!(status, case.llvm, "{}\n{text}", case.name);
    }
}
