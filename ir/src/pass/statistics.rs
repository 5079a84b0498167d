//! The statistics report, as printed by `--mlir-pass-statistics`.

use super::pipeline::{Pipeline, PipelineStep, Scheduled};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The layout of a report.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Display {
    /// By nesting of the pipeline.
    #[default]
    Nested,
    /// One entry per pass name.
    List,
}

/// Returns the frame of a report's title.
pub(super) fn title(text: &str) -> String {
    let line = format!("==={}===\n", "-".repeat(73));
    format!("{line}{:indent$}{text}\n{line}", "", indent = (80 - text.len()) / 2)
}

impl Pipeline {
    /// Formats the statistics since the pipeline was created.
    pub fn statistics(&self, display: Display) -> String {
        let mut out = title("... Pass statistics report ...");
        match display {
            Display::Nested => self.nested_statistics(0, &mut out),
            Display::List => {
                let mut merged = BTreeMap::new();
                self.merge_statistics(&mut merged);
                for (name, rows) in merged {
                    entry(2, &name, &rows, &mut out);
                }
            }
        }
        out + "\n"
    }

    fn nested_statistics(&self, indent: usize, out: &mut String) {
        for step in &self.steps {
            match step {
                PipelineStep::Pass(pass) => entry(indent, &pass.info.class_name(), &rows(pass), out),
                PipelineStep::Nested(pipelines) => {
                    let mut indent = indent;
                    if let Some(name) = collection_name(pipelines) {
                        entry(indent, &name, &[], out);
                        indent += 2;
                    }
                    for pipeline in pipelines {
                        entry(indent, &pipeline.report_name(), &[], out);
                        pipeline.nested_statistics(indent + 2, out);
                    }
                }
            }
        }
    }

    fn merge_statistics(&self, merged: &mut BTreeMap<String, Vec<Row>>) {
        for step in &self.steps {
            match step {
                PipelineStep::Pass(pass) if pass.counts.is_empty() => {}
                PipelineStep::Pass(pass) => {
                    let rows = rows(pass);
                    let sum = merged.entry(pass.info.class_name()).or_insert_with(|| vec![(0, "", ""); rows.len()]);
                    sum.iter_mut().zip(rows).for_each(|(sum, row)| *sum = (sum.0 + row.0, row.1, row.2));
                }
                PipelineStep::Nested(pipelines) => pipelines.iter().for_each(|p| p.merge_statistics(merged)),
            }
        }
    }

    /// Returns the name of the pipeline in reports.
    pub(super) fn report_name(&self) -> String {
        format!("'{}' Pipeline", self.anchor)
    }
}

/// Returns the name of several pipelines in one step in reports.
pub(super) fn collection_name(pipelines: &[Pipeline]) -> Option<String> {
    let names: Vec<String> = pipelines.iter().map(|p| format!("'{}'", p.anchor)).collect();
    (pipelines.len() > 1).then(|| format!("Pipeline Collection : [{}]", names.join(", ")))
}

/// Value, name and description of a statistic.
type Row = (u64, &'static str, &'static str);

fn rows(pass: &Scheduled) -> Vec<Row> {
    pass.counts.iter().zip(pass.info.statistics).map(|(&n, &(name, doc))| (n, name, doc)).collect()
}

fn entry(indent: usize, name: &str, rows: &[Row], out: &mut String) {
    let _ = writeln!(out, "{:indent$}{name}", "");
    let digits = rows.iter().map(|r| r.0.to_string().len()).max().unwrap_or(0);
    let width = rows.iter().map(|r| r.1.len()).max().unwrap_or(0);
    for (value, name, doc) in rows {
        let _ = writeln!(out, "{:indent$}  (S) {value:digits$} {name:width$} - {doc}", "");
    }
}
