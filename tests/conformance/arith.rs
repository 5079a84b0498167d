//! Arithmetic on constants gives what mlir-opt's folding gives.

use crate::support::{gradus, root};
use std::collections::HashMap;
use std::fmt::Write;

/// Returns an operand or result without the payload and sign of NaN, which arithmetic may choose.
fn plain(op: &str, value: &str) -> String {
    let nan = value.ends_with(": f32") && (value.starts_with("0x7FC") || value.starts_with("0xFFC"));
    if nan && op != "arith.bitcast" { "NaN : f32".to_owned() } else { value.to_owned() }
}

/// Returns the rows of `arith_folds.tsv` as one function.
fn program(rows: &[Vec<&str>]) -> String {
    let mut text = "func.func @f() {\n".to_owned();
    for (i, row) in rows.iter().enumerate() {
        let [op, lhs, rhs, ty, result] = row[..] else { panic!("a row has five columns: {row:?}") };
        let _ = writeln!(text, "%a{i} = arith.constant {lhs}");
        let second = if rhs.is_empty() { String::new() } else { format!(", %b{i}") };
        if !rhs.is_empty() {
            let _ = writeln!(text, "%b{i} = arith.constant {rhs}");
        }
        let of = if op.starts_with("arith.cmp") { "i1" } else { result.rsplit(" : ").next().unwrap_or("") };
        let _ = writeln!(text, "%r{i} = {op} %a{i}{second} : {ty}\n\"t.use\"(%r{i}) {{n = {i}}} : ({of}) -> ()");
    }
    text + "return\n}\n"
}

#[test]
fn arithmetic_on_constants_is_that_of_mlir_opt() {
    let table = std::fs::read_to_string(root().join("tests/conformance/arith_folds.tsv")).expect("the table is there");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split('\t').collect()).collect();
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    std::fs::write(file.path(), program(&rows)).expect("the program can be written");
    let path = file.path().display().to_string();
    let output = gradus(&["opt", &path, "--canonicalize", "--allow-unregistered-dialect"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let lines = output.out.lines().map(str::trim);
    let constants: HashMap<&str, &str> = lines.clone().filter_map(|l| l.split_once(" = arith.constant ")).collect();
    let uses = lines.filter_map(|l| l.strip_prefix("\"t.use\"(")?.split_once(')')).map(|u| u.0);
    let mut wrong = Vec::new();
    for (value, row) in uses.zip(&rows) {
        let have = constants.get(value).copied().unwrap_or("not folded");
        if plain(row[0], have) != plain(row[0], row[4]) {
            wrong.push(format!("{} is {have}", row.join(" ")));
        }
    }
    super::corpus::all_good("rows differ (op, operands, type, mlir-opt's result, ours)", rows.len(), &wrong);
    assert!(rows.len() >= 700, "rows are missing");
}
