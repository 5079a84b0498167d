//! `gradus list`: registered declarations, one per line.

use crate::pass_flags::{flag, option_line};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgMatches, Command};
use gradus_ir::pass::PassOption;
use gradus_ir::rules::Rule;
use gradus_ir::{AttrKind, AttrText, Dialect, Module, Parametric, PassInfo, PrintOptions};
use std::fmt::Write;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(_: &Tool) -> Command {
    Command::new("list")
        .about("List dialects, ops, types, attributes, passes with their options, rules and targets, a line each")
        .after_help("Examples:\n  gradus list\n  gradus list ops | grep conv\n  gradus list rules --as-ir")
        .arg(
            Arg::new("WHAT")
                .value_parser(KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>())
                .help("The declarations to list; all of them, under headings, if left out"),
        )
        .arg(flag("as-ir", "Print rules as IR"))
}

/// A kind of declarations.
struct DeclarationTable {
    name: &'static str,
    rows: fn(&Tool) -> Vec<DeclarationRow>,
}

/// The name of a declaration, its summary, and the options of a pass.
struct DeclarationRow {
    name: String,
    summary: &'static str,
    options: &'static [PassOption],
}

/// All kinds, in the order of the whole list.
const KINDS: &[DeclarationTable] = &[
    DeclarationTable { name: "dialects", rows: |tool| rows(tool.dialects.iter().map(|d| (d.name, d.doc))) },
    DeclarationTable { name: "ops", rows: |tool| rows(all_of(tool, |d| d.ops).map(|info| (info.name, info.doc))) },
    DeclarationTable {
        name: "types",
        rows: |tool| all_of(tool, |d| d.types).map(|info| parametric('!', &info.decl)).collect(),
    },
    DeclarationTable {
        name: "attributes",
        rows: |tool| {
            let attrs = all_of(tool, |d| d.attrs).map(|info| parametric('#', &info.decl));
            attrs.chain(all_of(tool, |d| d.enums).filter_map(|kind| enumeration(kind))).collect()
        },
    },
    DeclarationTable { name: "passes", rows: |tool| tool.passes.iter().copied().map(pass).collect() },
    DeclarationTable {
        name: "rules",
        rows: |tool| rows(tool.dialects.iter().flat_map(all_rules).map(|rule| (rule.name, rule.text))),
    },
    DeclarationTable {
        name: "rule-groups",
        rows: |tool| rows(all_of(tool, |d| d.rule_groups).map(|group| (group.name, group.doc))),
    },
    DeclarationTable {
        name: "targets",
        rows: |tool| rows(tool.targets.iter().map(|target| (target.cost.name, target.cost.doc))),
    },
];

/// Returns the declarations of one kind of all dialects.
fn all_of<T: 'static>(tool: &Tool, of: fn(&'static Dialect) -> &'static [T]) -> impl Iterator<Item = &'static T> {
    tool.dialects.iter().flat_map(move |&dialect| of(dialect))
}

fn rows(pairs: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<DeclarationRow> {
    pairs.map(|(name, doc)| DeclarationRow { name: name.to_owned(), summary: summary(doc), options: &[] }).collect()
}

/// Returns the first line, without its full stop.
fn summary(doc: &'static str) -> &'static str {
    doc.lines().next().unwrap_or("").trim_end_matches('.')
}

fn pass(info: &'static PassInfo) -> DeclarationRow {
    DeclarationRow { name: info.name.to_owned(), summary: info.summary(), options: info.options }
}

/// Returns a declared type or attribute, as its text begins: `#layout.tiled`.
fn parametric(sigil: char, decl: &'static Parametric) -> DeclarationRow {
    DeclarationRow { name: format!("{sigil}{}", decl.name), summary: decl.summary(), options: &[] }
}

/// Returns an enumeration, as its text begins: `#arith.fastmath`.
fn enumeration(kind: &'static AttrKind) -> Option<DeclarationRow> {
    let AttrText::Words { dialect, mnemonic, .. } = &kind.text else { return None };
    Some(DeclarationRow { name: format!("#{dialect}.{mnemonic}"), summary: kind.summary, options: &[] })
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let what = matches.get_one::<String>("WHAT");
    if matches.get_flag("as-ir") {
        return match what {
            Some(what) if what == "rules" => rules(tool, streams),
            _ => Err(Failure::Usage("--as-ir prints rules".into())),
        };
    }
    let mut text = String::new();
    for kind in KINDS.iter().filter(|kind| what.is_none_or(|what| what == kind.name)) {
        if what.is_none() {
            let blank = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{blank}{}:", kind.name);
        }
        list(&(kind.rows)(tool), &mut text);
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Writes a line for each row, and for each option of a pass.
fn list(rows: &[DeclarationRow], text: &mut String) {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for DeclarationRow { name, summary, options } in rows {
        let _ = writeln!(text, "{name:width$}  {summary}");
        for option in *options {
            let _ = writeln!(text, "{:width$}    {}", "", option_line(option));
        }
    }
}

/// Returns the rules of a dialect, followed by those of its groups.
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
