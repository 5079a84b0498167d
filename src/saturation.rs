//! The flags of `gradus opt` for reports of the pass `saturate`.

use crate::{Failure, Streams, io};
use clap::{Arg, ArgMatches};
use gradus_egraph::report::{GRAPH, REPORT, Report, dot, json, svg, text};
use std::any::Any;

/// The reports that passes made.
#[derive(Default)]
pub struct Reports(Vec<Report>);

/// Returns the flags.
pub fn arguments() -> impl Iterator<Item = Arg> {
    let report = "Write what saturate chose and why: as JSON if the file ends in .json, else as text; - for comments";
    let graph = "Write what saturate found equal, as a picture: FILE.svg, or FILE.dot for Graphviz";
    let file = |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("FILE").help(help);
    [file(REPORT, report), file(GRAPH, graph)].into_iter().map(|arg| arg.help_heading("Reports"))
}

fn path<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    // Other commands run passes without these flags.
    matches.try_get_one::<String>(name).ok().flatten().map(String::as_str)
}

/// Returns the names of the requested reports.
pub fn wanted(matches: &ArgMatches) -> Vec<&'static str> {
    [REPORT, GRAPH].into_iter().filter(|name| path(matches, name).is_some()).collect()
}

/// Checks that the requested picture formats exist.
pub fn check(matches: &ArgMatches) -> Result<(), Failure> {
    match path(matches, GRAPH) {
        Some(path) if !path.ends_with(".dot") && !path.ends_with(".svg") => {
            Err(Failure::Usage(format!("--{GRAPH}: '{path}' ends in neither .dot nor .svg")))
        }
        _ => Ok(()),
    }
}

impl Reports {
    /// Adds a report, if it is one of `saturate`.
    pub fn add(&mut self, report: Box<dyn Any>) {
        self.0.extend(report.downcast().ok().map(|report| *report));
    }

    /// Writes the requested files.
    pub fn write(&self, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
        if let Some(path) = path(matches, REPORT) {
            let text = match path {
                // Comments, so that the output remains a program.
                "-" => text(&self.0).lines().map(|line| format!("// {line}").trim_end().to_owned() + "\n").collect(),
                path if path.ends_with(".json") => json(&self.0),
                _ => text(&self.0),
            };
            io::write(path, streams, |out| out.write_all(text.as_bytes()))?;
        }
        if let Some(path) = path(matches, GRAPH) {
            let text = match path.ends_with(".dot") {
                true => dot(&self.0),
                false => svg(&self.0).map_err(|why| Failure::Input(format!("cannot write '{path}': {why}")))?,
            };
            io::write(path, streams, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}
