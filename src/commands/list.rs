//! `gradus list`: registered declarations, one per line.

use crate::pass_flags::{flag, option_line};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgMatches, Command};
use gradus_ir::rules::Rule;
use gradus_ir::{Dialect, Module, PrintOptions};
use std::fmt::Write;

/// The declaration.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(_: &Tool) -> Command {
    Command::new("list")
        .about("List dialects, ops, passes with their options or rules, a line each")
        .after_help("Examples:\n  gradus list passes\n  gradus list ops | grep conv\n  gradus list rules --as-ir")
        .arg(Arg::new("WHAT").required(true).value_parser(["dialects", "ops", "passes", "rules", "rule-groups"]))
        .arg(flag("as-ir", "Print rules as IR"))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let what: &String = matches.get_one("WHAT").expect("is required");
    if matches.get_flag("as-ir") {
        return if what == "rules" { rules(tool, streams) } else { Err(Failure::Usage("--as-ir prints rules".into())) };
    }
    let rows: Vec<(&str, &str)> = match what.as_str() {
        "dialects" => tool.dialects.iter().map(|d| (d.name, d.doc)).collect(),
        "ops" => tool.dialects.iter().flat_map(|d| d.ops).map(|info| (info.name, info.summary())).collect(),
        "rules" => tool.dialects.iter().flat_map(all_rules).map(|rule| (rule.name, rule.text)).collect(),
        "rule-groups" => {
            tool.dialects.iter().flat_map(|d| d.rule_groups).map(|group| (group.name, group.doc)).collect()
        }
        _ => tool.passes.iter().map(|info| (info.name, info.doc)).collect(),
    };
    let options = |name: &str| {
        tool.passes.iter().find(|info| what == "passes" && info.name == name).map_or(&[][..], |i| i.options)
    };
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, doc) in rows {
        let summary = doc.lines().next().unwrap_or("").trim_end_matches('.');
        let _ = writeln!(text, "{name:width$}  {summary}");
        for option in options(name) {
            let _ = writeln!(text, "{:width$}    {}", "", option_line(option));
        }
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// The rules of a dialect, followed by those of its groups.
fn all_rules(dialect: &&'static Dialect) -> impl Iterator<Item = &'static Rule> + use<> {
    dialect.rules.iter().chain(dialect.rule_groups.iter().flat_map(|group| group.rules))
}

/// Prints all declared rules as IR.
fn rules(tool: &Tool, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = tool.context();
    let mut m = Module::new(ctx.clone());
    for rule in ctx.all_rules() {
        gradus_dialects::rewrite::write(&mut m, rule);
    }
    let text = m.to_text(PrintOptions::default());
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}
