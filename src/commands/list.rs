//! `gradus list`: what there is, a line each.

use crate::all_passes;
use crate::{Failure, Streams, Subcommand};
use clap::{Arg, ArgMatches, Command};
use gradus_dialects::DIALECTS;
use std::fmt::Write;

/// The declaration.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command() -> Command {
    Command::new("list")
        .about("List dialects, ops or passes, a line each")
        .after_help("Examples:\n  gradus list passes\n  gradus list ops | grep conv")
        .arg(Arg::new("WHAT").required(true).value_parser(["dialects", "ops", "passes"]))
}

fn run(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let what: &String = matches.get_one("WHAT").expect("is required");
    let rows: Vec<(&str, &str)> = match what.as_str() {
        "dialects" => DIALECTS.iter().map(|d| (d.name, d.doc)).collect(),
        "ops" => DIALECTS.iter().flat_map(|d| d.ops).map(|info| (info.name, info.summary())).collect(),
        _ => all_passes().into_iter().map(|info| (info.name, info.doc)).collect(),
    };
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, doc) in rows {
        let summary = doc.lines().next().unwrap_or("").trim_end_matches('.');
        let _ = writeln!(text, "{name:width$}  {summary}");
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}
