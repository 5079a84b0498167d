//! Reports as text.

use super::{Choice, Report, Step, Whole, terms::show, terms::show_with};
use gradus_cost::NEVER;
use std::fmt::Write as _;

/// Number of levels of operands that are printed.
const LEVELS: u32 = 3;

/// Formats reports, one after the other.
pub fn text(reports: &[Report]) -> String {
    let texts: Vec<String> = reports.iter().map(one).collect();
    texts.join("\n")
}

fn one(report: &Report) -> String {
    let Report { function, target, before, after, end, .. } = report;
    let bound = match report.bound {
        Some(bound) if bound == *after => ", and no choice that the rules reached costs less".to_owned(),
        Some(bound) => format!(", and none costs less than {bound}"),
        None => String::new(),
    };
    let [before, after] = [*before, *after].map(priced);
    let mut out = format!("{function}: {end}\n  cost ({target}): {before} before, {after} chosen{bound}\n");
    if !report.changed {
        out.push_str("  it stays as it was\n");
    }
    iterations(report, &mut out);
    rules(report, &mut out);
    for (i, step) in report.steps.iter().enumerate() {
        if i == 0 {
            out.push_str("\n  rewrites from the program to the selected one:\n");
        }
        let _ = writeln!(out, "    {}. {}", i + 1, sentence(report, step));
    }
    if report.is_cut {
        out.push_str("    ... and more that were not looked for\n");
    }
    if !report.choices.is_empty() {
        out.push_str("\n  alternatives, and the cost of the function with each:\n");
    }
    report.choices.iter().for_each(|choice| candidates(report, choice, &mut out));
    out
}

/// Formats a cost, or says that the target cannot run an op.
pub(super) fn priced(cost: u64) -> String {
    if cost >= NEVER { "cannot run".to_owned() } else { cost.to_string() }
}

fn iterations(report: &Report, out: &mut String) {
    let _ = writeln!(out, "\n  {:>9}  {:>7}  {:>7}  {:>7}", "iteration", "nodes", "classes", "matches");
    for (i, iteration) in report.iterations.iter().enumerate() {
        let _ = writeln!(out, "  {i:>9}  {:>7}  {:>7}  {:>7}", iteration.nodes, iteration.classes, iteration.matches);
    }
}

fn rules(report: &Report, out: &mut String) {
    let width = report.rules.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(4);
    for (i, (name, rule)) in report.rules.iter().enumerate() {
        if i == 0 {
            let _ = writeln!(
                out,
                "\n  {:width$}  {:>7}  {:>7}  {:>7}  {:>7}",
                "rule", "matches", "new", "refused", "rests"
            );
        }
        let (matches, applied, refused, rests) = (rule.matches, rule.applied, rule.refused, rule.rests);
        let _ = writeln!(out, "  {name:width$}  {matches:>7}  {applied:>7}  {refused:>7}  {rests:>7}");
    }
}

fn sentence(report: &Report, step: &Step) -> String {
    let [left, right] = [step.left, step.right].map(|node| show(&report.terms, node, LEVELS));
    let needs: Vec<String> = step.needs.iter().map(|need| (need + 1).to_string()).collect();
    let after = if needs.is_empty() { String::new() } else { format!(" (after {})", needs.join(", ")) };
    format!("{}{after}: {left} = {right}", step.rule)
}

fn candidates(report: &Report, choice: &Choice, out: &mut String) {
    let _ = match &choice.name {
        Some(name) => writeln!(out, "    {name}"),
        None => writeln!(out, "    #{}", choice.class),
    };
    for candidate in &choice.candidates {
        let (mark, why) = match candidate.whole {
            Whole::Chosen => ("->", priced(report.after)),
            Whole::Cost(cost) => ("", priced(cost)),
            Whole::Unknown => ("", "not counted".to_owned()),
            Whole::Itself => ("", "made of itself".to_owned()),
        };
        let node = show_with(&report.terms, candidate.node, &candidate.operands, LEVELS);
        let _ = writeln!(out, "      {mark:2} {node}: {why}");
    }
    if choice.more > 0 {
        let _ = writeln!(out, "         ... and {} more", choice.more);
    }
}
