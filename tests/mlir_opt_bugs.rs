//! The page "What mlir-opt does wrong" is true: each program and the output of mlir-opt for it have different meanings,
//! and mlir-opt 22.1.8, where it is installed, still prints that output.

use crate::support::{gradus, read, root};
use std::process::Command;

/// Number of rows of the page's table, at least.
const ENOUGH: usize = 14;

/// The version whose output is in the files.
const VERSION: &str = "LLVM version 22.1.8";

/// The programs and their passes: the rows of the page's table.
fn rows() -> Vec<(String, String)> {
    let page = read(&root().join("docs/src/mlir-opt-bugs.md"));
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with("| `")).map(cells);
    let rows: Vec<_> = rows.map(|row| (row[1].clone(), row[2].clone())).collect();
    assert!(rows.len() >= ENOUGH, "the table has {} rows", rows.len());
    rows
}

fn file(name: &str) -> String {
    format!("docs/src/ir/mlir-opt/{name}.mlir")
}

/// The command of mlir-opt, if it is installed in the version of the files.
fn mlir_opt() -> Option<&'static str> {
    ["mlir-opt-22", "mlir-opt"].into_iter().find(|command| {
        let version = Command::new(command).arg("--version").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
    })
}

#[test]
fn meanings_differ() {
    std::env::set_current_dir(root()).expect("the root exists");
    for (name, _) in rows() {
        let output = gradus(&["check".to_owned(), file(&name), file(&format!("{name}_after"))]);
        assert!(output.err.contains("has a different meaning in the second program"), "{name}: {}", output.err);
    }
}

#[test]
fn outputs_are_those_of_mlir_opt() {
    let Some(command) = mlir_opt() else { return };
    for (name, passes) in rows() {
        let pipeline = format!("--pass-pipeline=builtin.module({passes})");
        let output = Command::new(command).arg(pipeline).arg(root().join(file(&name))).output();
        let output = output.expect("it was found before");
        let after = read(&root().join(file(&format!("{name}_after"))));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), after.trim(), "{name}");
    }
}

#[test]
fn a_valid_program_is_made_invalid() {
    let program = root().join(file("subview-strides"));
    let ours = gradus(&["opt".to_owned(), program.display().to_string(), "--canonicalize".to_owned()]);
    assert!(ours.err.is_empty(), "{}", ours.err);
    let Some(command) = mlir_opt() else { return };
    let output = Command::new(command).arg("--canonicalize").arg(program).output().expect("it was found before");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("mismatch of result layout"), "{said}");
}
