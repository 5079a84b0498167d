//! The table of ONNX operators in `docs/src/onnx-coverage.md`, generated from ONNX's operators, the dialect's ops, and
//! the passing tests.

use super::onnx::{CASES, Case};
use super::onnx_cpu::How;
use crate::support::root;
use gradus::ir::OpInfo;
use gradus::lowering::onnx::domains;
use gradus::lowering::onnx_to_graph::has_form;
use gradus::networks::graph;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The test that writes the document.
const COMMAND: &str = "INSTA_UPDATE=always cargo test --release --test suite conformance::onnx";

/// An operator of ONNX.
struct Operator {
    name: &'static str,
    /// The versions of the operator set that changed it.
    versions: Vec<i64>,
    /// The types other than numeric tensors that it uses.
    about: &'static str,
    attributes: Vec<&'static str>,
}

fn operators() -> Vec<Operator> {
    let rows = include_str!("onnx_operators.tsv").lines().skip(1).map(|l| l.split('\t').collect::<Vec<_>>());
    let operator = |row: Vec<&'static str>| Operator {
        name: row[0],
        versions: row[1].split(' ').map(|v| v.parse().expect("versions are numbers")).collect(),
        about: row[2],
        attributes: row[3].split_whitespace().collect(),
    };
    rows.map(operator).collect()
}

/// Returns the op that an operator becomes.
fn op(operator: &Operator) -> Option<&'static OpInfo> {
    // A replaced operator is imported under its new name; random numbers are constants.
    let newest = gradus::lowering::onnx::opset::newest_name(operator.name, 1);
    graph::operator(newest).filter(|_| newest != "Constant" || operator.name == newest)
}

/// Formats `passed / total`; empty without tests.
fn score(passed: impl Iterator<Item = bool>) -> String {
    let (mut count, mut total) = (0, 0);
    for passed in passed {
        count += usize::from(passed);
        total += 1;
    }
    if total == 0 { String::new() } else { format!("{count} / {total}") }
}

/// Formats how the op of an operator ran on the `cpu` target, and in how many tests.
fn on_cpu(operator: &Operator) -> String {
    let Some(info) = op(operator) else { return String::new() };
    let mut counts: BTreeMap<How, usize> = BTreeMap::new();
    for how in CASES.iter().filter(|c| c.ops.contains(&operator.name)).filter_map(|c| c.on_cpu.as_ref().ok()) {
        how.get(info.name).into_iter().for_each(|&how| *counts.entry(how).or_default() += 1);
    }
    let all = [How::Tables, How::Kernels, How::Reference, How::Gone];
    let count = |how: How| Some(format!("{} {}", how.name(), counts.get(&how)?));
    all.into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// Returns the reason why an operator has no op.
fn reason(operator: &Operator) -> String {
    match operator.about {
        "graphs" if has_form(operator.name) => "ops of `scf`".to_owned(),
        _ if has_form(operator.name) => "none: known at import".to_owned(),
        "random numbers" if operator.name.starts_with("Random") => "a constant, if there is a seed".to_owned(),
        "random numbers" if matches!(operator.name, "Bernoulli" | "Multinomial") => {
            "compared with a constant, if there is a seed".to_owned()
        }
        "" => "not supported yet".to_owned(),
        about => format!("{about} are not supported"),
    }
}

/// The tiers of the tests.
const TIERS: [(&str, &str); 5] = [
    ("A", "A: convolutional networks"),
    ("B", "B: transformers"),
    ("C", "C: quantized networks"),
    ("D", "D: control flow and sequences"),
    ("E", "E: other operators"),
];

fn document() -> String {
    let operators = operators();
    let covered = operators.iter().filter(|o| op(o).is_some()).count();
    let flow = operators.iter().filter(|o| op(o).is_none() && has_form(o.name)).count();
    let newest = operators.iter().flat_map(|o| &o.versions).max().expect("there are operators");
    let mut text = format!(
        "# ONNX coverage\n\n\
         Written by `{COMMAND}`; a test compares it.\n\n\
         {covered} of the {} operators of ONNX up to operator set {newest} are ops of the `graph` dialect, and {flow} become others at\n\
         import. A model of an older version is converted to the newest operators first.\n\n## Tests\n\n\
         ONNX's node tests in `tests/conformance`: number of tests that pass, of their total. Plain tests have static shapes and\n\
         common element types, so that the shapes of their outputs are inferred at import.\n\n\
         On the `cpu` target the program is compiled and run by kernels, with the same tolerances: once with all inputs as arguments,\n\
         and once with all but the first as constants, like the weights of a model.\n\n\
         | tier | plain | special | plain on cpu | special on cpu |\n|---|---|---|---|---|\n",
        operators.len()
    );
    for (tier, name) in TIERS {
        let of = |plain: bool, passed: fn(&Case) -> bool| {
            score(CASES.iter().filter(|c| c.tier == tier && c.plain == plain).map(passed))
        };
        let scores = [false, true].map(|on_cpu| {
            let passed = if on_cpu { |c: &Case| c.on_cpu.is_ok() } else { |c: &Case| c.outcome.is_ok() };
            format!("{} | {}", of(true, passed), of(false, passed))
        });
        let _ = writeln!(text, "| {name} | {} |", scores.join(" | "));
    }
    text.push_str("\nFailing tests, with the reason:\n\n");
    for case in CASES.iter() {
        if let Err(why) = &case.outcome {
            let _ = writeln!(text, "- `{}`: {why}", case.name);
        } else if let Err(why) = &case.on_cpu {
            let _ = writeln!(text, "- `{}`, on the cpu target: {why}", case.name);
        }
    }
    let of_domain = |(domain, names): (&str, Vec<&str>)| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("of `{domain}`: {}", names.join(", "))
    };
    let others: Vec<String> = domains::operators().map(of_domain).collect();
    let _ = writeln!(
        text,
        "\n## Other forms\n\nThe graphs of `If`, `Loop`, `Scan` and `SequenceMap` become regions of `scf.if`, `scf.for` and `scf.while`; a condition that\n\
         is known selects its branch at import. Optional values are the values themselves. Sequences are values of type\n\
         `!graph.sequence`. These operators of other domains become standard ones, {}.",
        others.join("; ")
    );
    text.push_str(
        "\n## Operators\n\nVersions are the operator sets that changed the operator; models of all of them are imported. A test counts for every\n\
         operator that it uses.\n\n\
         The last column says how the op ran on the `cpu` target when all inputs but the first are constants, and in how many\n\
         tests: by address tables, by another kernel, at least once by reference evaluation, or not at all, since it was\n\
         folded, merged with another op, or dead.\n\n\
         | operator | versions | op | plain tests | special tests | on cpu |\n|---|---|---|---|---|---|\n",
    );
    for operator in &operators {
        let versions: Vec<String> = operator.versions.iter().map(i64::to_string).collect();
        let place = op(operator).map_or_else(|| reason(operator), |info| format!("`{}`", info.name));
        let using = |plain| CASES.iter().filter(move |c| c.ops.contains(&operator.name) && c.plain == plain);
        let of = |plain| score(using(plain).map(|c| c.outcome.is_ok()));
        let (versions, cpu) = (versions.join(", "), on_cpu(operator));
        let _ = writeln!(text, "| {} | {versions} | {place} | {} | {} | {cpu} |", operator.name, of(true), of(false));
    }
    text
}

#[test]
fn onnx_coverage_is_up_to_date() {
    if std::env::var("GRADUS_ONNX_CORPUS").is_ok() {
        return;
    }
    let (path, have) = (root().join("docs/src/onnx-coverage.md"), document());
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&path, &have).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = have.lines().zip(want.lines()).find(|(a, b)| a != b);
    assert!(have == want, "docs/src/onnx-coverage.md is out of date ({differs:?}); write it with {COMMAND}");
}

/// The ops that run by reference on the `cpu` target in some node test, by the reason. The list only shrinks: an op that has a kernel for all of its
/// tests is removed from it.
#[rustfmt::skip]
const BY_REFERENCE: &[(&str, &[&str])] = &[
    ("the extents of its result are numbers of its operands", &[
        "graph.blackman_window", "graph.hamming_window", "graph.hann_window", "graph.mel_weight_matrix",
    ]),
    ("its kernel lacks a form: random draws, scores as a result, a letter twice in an operand, values beyond the image", &[
        "graph.attention", "graph.dropout", "graph.einsum", "graph.resize",
    ]),
    ("its kernel lacks an element type: 4 or 8 bits of floats, 2 or 4 of integers, two types in one op", &[
        "graph.cast", "graph.cast_like", "graph.dequantize_linear", "graph.pow", "graph.qlinear_matmul", "graph.quantize_linear",
    ]),
    ("an extent is known at run time only", &["graph.add", "graph.cos", "graph.gather", "graph.mul", "graph.softmax", "graph.sub"]),
    ("ops at the same node compute positions", &[
        "graph.concat_from_sequence", "graph.sequence_at", "graph.sequence_empty", "graph.sequence_insert", "graph.sequence_length",
    ]),
];

/// No op runs by reference but those of the list.
#[test]
fn ops_by_reference_are_listed() {
    let all = CASES.iter().filter_map(|case| case.on_cpu.as_ref().ok()).flatten();
    let of_graph = all.filter(|(name, how)| **how == How::Reference && name.starts_with("graph."));
    let found: BTreeSet<&str> = of_graph.map(|(&name, _)| name).collect();
    let listed: BTreeSet<&str> = BY_REFERENCE.iter().flat_map(|(_, names)| *names).copied().collect();
    let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&listed).collect(), listed.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "new by reference: {new:?}; to be removed from the list: {gone:?}");
}

/// Every attribute of the newest version is declared under its own name.
#[test]
fn onnx_attributes_are_declared() {
    // Attributes with another spelling, or about strings.
    let elsewhere =
        ["value_string", "value_strings", "sparse_value", "value_int", "value_ints", "value_float", "value_floats"];
    let mut missing = Vec::new();
    for (operator, info) in operators().iter().filter_map(|o| Some((o, op(o)?))) {
        let undeclared = operator.attributes.iter().filter(|a| info.attr(a).is_none() && !elsewhere.contains(a));
        missing.extend(undeclared.filter(|_| operator.about != "replaced").map(|a| format!("{}: {a}", operator.name)));
    }
    assert!(missing.is_empty(), "attributes without a declaration: {missing:?}");
}
