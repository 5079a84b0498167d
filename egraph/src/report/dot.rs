//! The e-graph in Graphviz's language: classes as boxes of nodes, chosen nodes filled.

use super::{ClassReport, Report, terms::label, text::priced};
use std::fmt::Write as _;

/// Returns all classes of several functions in one graph.
pub fn dot(reports: &[Report]) -> String {
    let mut out = String::from(
        "digraph saturated {\n  compound=true; rankdir=BT; fontname=\"monospace\";\n  \
         node [shape=box, fontname=\"monospace\"]; edge [dir=back];\n",
    );
    for (i, report) in reports.iter().enumerate() {
        let _ = writeln!(out, "  subgraph \"cluster_f{i}\" {{");
        let _ = writeln!(out, "    label=\"{}\"; style=bold;", escape(&title(report)));
        report.classes.iter().for_each(|class| cluster(report, i, class, &mut out));
        out.push_str("  }\n");
        report.classes.iter().for_each(|class| edges(report, i, class, &mut out));
    }
    out + "}\n"
}

/// Returns the title of a function's picture.
pub(super) fn title(report: &Report) -> String {
    let [before, after] = [report.before, report.after].map(priced);
    format!("{}: cost {before}, then {after}; {}", report.function, report.end)
}

/// Returns the caption of a class.
pub(super) fn caption(class: &ClassReport) -> String {
    match &class.name {
        Some(name) => format!("{name} : {}", class.ty),
        None => format!("#{} : {}", class.id, class.ty),
    }
}

fn cluster(report: &Report, i: usize, class: &ClassReport, out: &mut String) {
    let style = if class.is_root { "rounded,bold" } else { "rounded" };
    let color = if class.is_needed { "black" } else { "gray" };
    let _ = writeln!(out, "    subgraph \"cluster_f{i}_c{}\" {{", class.id);
    let _ = writeln!(out, "      label=\"{}\"; style=\"{style}\"; color={color};", escape(&caption(class)));
    for (place, (node, _)) in class.nodes.iter().enumerate() {
        let chosen = class.is_needed && class.chosen == Some(place);
        let fill = if chosen { ", style=filled, fillcolor=palegreen" } else { "" };
        let _ = writeln!(out, "      f{i}_n{node} [label=\"{}\"{fill}];", escape(&label(report, *node)));
    }
    out.push_str("    }\n");
}

fn edges(report: &Report, i: usize, class: &ClassReport, out: &mut String) {
    for (node, operands) in &class.nodes {
        for (position, operand) in operands.iter().enumerate() {
            let Ok(at) = report.classes.binary_search_by_key(operand, |class| class.id) else { continue };
            let Some((first, _)) = report.classes[at].nodes.first() else { continue };
            // An edge to a class ends at its border; Graphviz does not draw one from inside the same class.
            let head =
                if *operand == class.id { String::new() } else { format!("ltail=\"cluster_f{i}_c{operand}\", ") };
            let _ = writeln!(out, "  f{i}_n{first} -> f{i}_n{node} [{head}label=\"{position}\"];");
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
