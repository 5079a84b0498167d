//! Documentation of targets.

use super::cell;
use crate::Tool;
use gradus_cost::MachineNumber;
use gradus_targets::Target;
use std::fmt::Write;

/// Returns the documentation of all targets.
pub(super) fn all(tool: &Tool) -> String {
    std::iter::once("# Targets\n\n".to_owned()).chain(tool.targets.iter().map(|t| page(tool, t))).collect()
}

/// Returns the documentation of a target: pipeline, machine, rule groups and ops.
pub(super) fn page(tool: &Tool, target: &Target) -> String {
    let cost = &target.cost;
    let mut text = format!("## Target `{}`\n\n{}.\n\n", cost.name, capitalized(cost.doc));
    // A malformed embedded description is a mistake of the declaration, which is reported as such.
    let machines = cost.descriptions(&tool.context()).unwrap_or_default();
    let machine = machines.first().cloned().unwrap_or_default();
    match target.pipeline(&machine) {
        Ok(pipeline) => {
            let _ = write!(text, "The pipeline, for `opt --pass-pipeline`:\n\n```text\n{pipeline}\n```\n\n");
        }
        Err(_) => text.push_str("It has costs only: programs are not lowered to it.\n\n"),
    }
    if target.load.is_none() {
        text.push_str("This tool does not execute programs on it.\n\n");
    }
    text.push_str("The machine, which `--machine FILE` replaces:\n\n");
    numbers(machine.numbers().iter(), &mut text);
    for (variant, other) in cost.variants.iter().zip(machines.iter().skip(1)) {
        let _ = write!(text, "With `{}`, these numbers differ:\n\n", variant.name);
        let differing = other.numbers().iter().zip(machine.numbers()).filter(|(number, first)| number != first);
        numbers(differing.map(|(number, _)| number), &mut text);
    }
    let groups = list(cost.groups);
    let floats = if cost.approx { "included" } else { "left out" };
    let _ = write!(text, "Rule groups: {groups}. Rules that round differently are {floats} by default.\n\n");
    let other = if cost.reference.is_some() { "evaluated by reference, and priced so" } else { "never chosen" };
    let _ = write!(text, "Ops that it implements: {}. Others are {other}.\n\n", list(&(cost.ops)()));
    text
}

/// Writes numbers of a machine as a table.
fn numbers<'a>(numbers: impl Iterator<Item = &'a MachineNumber>, text: &mut String) {
    text.push_str("| number | value | unit | source |\n|---|---|---|---|\n");
    for number in numbers {
        let cells = [&number.unit, &number.source].map(|text| cell(text)).join(" | ");
        let _ = writeln!(text, "| `{}` | {} | {cells} |", number.key, number.value);
    }
    text.push('\n');
}

fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + chars.as_str())
}
