//! The second, independent meaning of each op: the data or the test that its semantics is held against. An op without
//! one can mean anything, and checking by execution would not notice.

use super::{loops, tables};
use gradus::Tool;
use std::collections::BTreeSet;

/// Results of mlir-opt's folds, which `tests/conformance` compares.
const FOLDS: &str = include_str!("../conformance/arith_folds.tsv");

/// The passing tests of ONNX by operator, which `tests/conformance` keeps up to date.
const ONNX: &str = include_str!("../../docs/src/onnx-coverage.md");

/// Ops that other tests hold against sums by explicit loops: `tests/a64.rs`, `tests/x64`; or against other ops: `tests/nna.rs`,
/// and the tests of the npu's lowering; ONNX's loops over sequences.
#[rustfmt::skip]
const ELSEWHERE: [&str; 9] = [
    "a64.call", "a64.dispatch", "cluster.call", "graph.sequence_cast", "nna.call", "npu.call", "sparse.conv", "x64.call", "x64.dispatch",
];

/// The ops with a meaning that nothing else confirms yet, a line each.
const OPEN: &str = include_str!("data/open.txt");

/// The ops that pass at least one of ONNX's node tests: rows `| operator | versions | op | passed / all | ...`.
fn onnx_ops() -> impl Iterator<Item = String> {
    ONNX.lines().filter_map(|line| {
        let cells = || line.split('|').map(str::trim);
        let op = cells().find_map(|cell| cell.strip_prefix('`')?.strip_suffix('`'))?;
        let passes =
            |cell: &str| cell.split_once(" / ").and_then(|(passed, _)| passed.parse().ok()).is_some_and(|n: u32| n > 0);
        cells().any(passes).then(|| op.to_owned())
    })
}

/// The ops that have a second meaning.
fn covered() -> BTreeSet<String> {
    let folds = FOLDS.lines().filter_map(|line| line.split(['\t', ' ']).next()).map(str::to_owned);
    let named = tables::ops().chain(ELSEWHERE).map(str::to_owned);
    named.chain(folds).chain(loops::ops()).chain(onnx_ops()).collect()
}

#[test]
fn each_meaning_has_a_second_one() {
    let ctx = Tool::gradus().context();
    let all = ctx.dialects().iter().flat_map(|dialect| dialect.ops);
    let means = all.filter(|op| op.eval.is_some() || op.exec.is_some() || op.runs_regions() || op.jump.is_some());
    let covered = covered();
    let open: BTreeSet<&str> = OPEN.lines().collect();
    let alone: BTreeSet<&str> = means.map(|op| op.name).filter(|&name| !covered.contains(name)).collect();
    let new: Vec<&&str> = alone.difference(&open).collect();
    let gone: Vec<&&str> = open.difference(&alone).collect();
    assert!(new.is_empty(), "these ops need a second meaning, such as loops in tests/meaning/loops: {new:#?}");
    assert!(
        gone.is_empty(),
        "these ops have a second meaning now; take them off tests/meaning/data/open.txt: {gone:#?}"
    );
}
