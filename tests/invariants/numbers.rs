//! The numbers of machines: each stands in the description of the machine, and cost functions ask that alone.

use super::{Source, no_failures, sources};
use gradus::targets::TARGETS;
use std::collections::BTreeSet;

/// Constants of cost models that are no numbers of a machine: limits, candidates of a search, sizes of encodings, a unit of statistics.
const OTHERS: [&str; 6] = ["BYTES_PER_LOAD", "BYTES_PER_RESULT", "CHUNKS", "MAX_DEPTH", "MAX_ELEMENTS", "MIB"];

/// Calls that ask for the instruction set of this machine.
const HOST: [&str; 3] = ["is_x86_feature_detected!", "has_narrow_vectors", "ByteIsa::best"];

/// Returns the files that price ops or code by the numbers of a machine.
fn cost_models() -> Vec<Source> {
    let all = ["targets/src", "lowering/src"].into_iter().flat_map(sources);
    let models: Vec<Source> = all.filter(|source| source.text.contains("machine_numbers! {")).collect();
    assert!(models.len() > 4, "only {} cost models are seen", models.len());
    models
}

/// Returns the name of a constant whose value begins with a digit, `const NAME: f64 = 0.5;` or `const NAMES: [u64; 2] = [1, 2];`.
fn numeric_constant(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().split_once("const ")?.1.split_once(':')?;
    let value = rest.split_once(" = ")?.1.trim_start_matches(['[', '(']);
    value.starts_with(|c: char| c.is_ascii_digit()).then_some(name)
}

#[test]
fn cost_models_have_no_numbers_of_machines() {
    let mut failures = Vec::new();
    for source in cost_models() {
        for line in source.text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if let Some(name) = numeric_constant(line).filter(|name| !OTHERS.contains(name)) {
                failures.push(format!("{}: {name}", source.path));
            }
        }
    }
    assert_eq!(numeric_constant("    pub const FETCHED: [f64; 2] = [0.04, 0.24];"), Some("FETCHED"));
    no_failures("a number of a machine stands in its description", &failures);
}

#[test]
fn cost_models_do_not_ask_this_machine() {
    let mut failures = Vec::new();
    for source in cost_models() {
        let lines = source.text.lines().filter(|line| !line.contains("is_host:") && !line.starts_with("use "));
        let asks = lines.filter(|line| HOST.iter().any(|call| line.contains(call)));
        failures.extend(asks.map(|line| format!("{}: {}", source.path, line.trim())));
    }
    no_failures("the description of the machine decides, which the host's features choose", &failures);
}

/// Whether a machine of a simulator is written with the value of a parameter, `NpuMachine { banks: 4, ... }`.
fn has_machine_of_literals(text: &str) -> bool {
    let machines =
        ["ClusterMachine {", "NnaMachine {", "NpuMachine {"].into_iter().flat_map(|name| text.split(name).skip(1));
    let fields = machines.filter_map(|rest| rest.split('}').next()).flat_map(|fields| fields.split(','));
    let mut values = fields.filter_map(|field| field.split_once(": "));
    values.any(|(_, value)| value.trim().starts_with(|c: char| c.is_ascii_digit()))
}

#[test]
fn simulators_have_no_numbers_of_machines() {
    assert!(has_machine_of_literals("let m = NpuMachine { banks: 4, ..NpuMachine::DEFAULT };"));
    let all = ["simulators/src", "dialects/src", "lowering/src", "targets/src"].into_iter().flat_map(sources);
    let with: Vec<String> =
        all.filter(|source| has_machine_of_literals(&source.text)).map(|source| source.path).collect();
    no_failures("the parameters of a simulator's machine are those of its description", &with);
}

/// A further machine of a target has the numbers that differ from those of the first one.
#[test]
fn variants_have_numbers_that_differ() {
    let ctx = gradus::Tool::gradus().context();
    let (mut failures, mut count) = (Vec::new(), 0);
    for model in TARGETS.iter().map(|target| &target.cost) {
        let machines = model.descriptions(&ctx).unwrap_or_else(|errors| panic!("{}", errors[0].render(&ctx)));
        for (variant, machine) in model.variants.iter().zip(&machines[1..]) {
            let keys = keys(variant.description);
            count += keys.len();
            let same = keys.into_iter().filter(|key| machine.value(key) == machines[0].value(key));
            failures.extend(same.map(|key| format!("{}-{}: {key}", model.name, variant.name)));
        }
    }
    assert!(count > 20, "only {count} numbers are seen");
    no_failures("a number stands once", &failures);
}

/// Returns the keys of a description.
fn keys(description: &str) -> BTreeSet<&str> {
    description.lines().filter_map(|line| line.split_once(" = {")).map(|(key, _)| key).collect()
}
