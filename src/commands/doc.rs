//! `gradus doc`: the declaration of a dialect, op or pass, as Markdown.

use crate::all_passes;
use crate::{Failure, Streams, Subcommand};
use clap::{Arg, ArgMatches, Command};
use gradus_dialects::DIALECTS;
use gradus_ir::diag::suggest;
use gradus_ir::{Arity, AttrSpec, Dialect, GroupSpec, OpInfo, PassInfo, Traits, ValueSpec};
use std::fmt::Write;

/// The declaration.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command() -> Command {
    Command::new("doc")
        .about("Print the documentation of a dialect, op or pass as Markdown")
        .after_help("Examples:\n  gradus doc arith.addi\n  gradus doc canonicalize\n  gradus doc > reference.md")
        .arg(Arg::new("NAME").help("A dialect, op or pass; all of them if left out"))
}

fn run(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mut text = String::new();
    match matches.get_one::<String>("NAME") {
        Some(name) => one(name, &mut text)?,
        None => {
            DIALECTS.iter().for_each(|d| dialect(d, &mut text));
            text.push_str("# Passes\n\n");
            all_passes().into_iter().for_each(|info| pass(info, &mut text));
        }
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

fn one(name: &str, text: &mut String) -> Result<(), Failure> {
    let ops = || DIALECTS.iter().flat_map(|d| d.ops);
    if let Some(info) = ops().find(|info| info.name == name) {
        op(info, text);
    } else if let Some(info) = all_passes().into_iter().find(|info| info.name == name) {
        pass(info, text);
    } else if let Some(d) = DIALECTS.iter().find(|d| d.name == name) {
        dialect(d, text);
    } else {
        let known = ops()
            .map(|i| i.name)
            .chain(all_passes().into_iter().map(|p| p.name))
            .chain(DIALECTS.iter().map(|d| d.name));
        let hint = suggest(name, known).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
        return Err(Failure::Input(format!("no dialect, op or pass is called '{name}'{hint}")));
    }
    Ok(())
}

fn dialect(d: &Dialect, text: &mut String) {
    let _ = write!(text, "# Dialect `{}`\n\n{}\n\n", d.name, d.doc);
    d.ops.iter().for_each(|info| op(info, text));
}

fn op(info: &OpInfo, text: &mut String) {
    let _ = write!(text, "## `{}`\n\n{}\n\n", info.name, info.doc);
    let traits: Vec<String> =
        Traits::NAMES.iter().filter(|(_, t)| info.traits.has(*t)).map(|(n, _)| format!("`{n}`")).collect();
    if !traits.is_empty() {
        let _ = write!(text, "Traits: {}. ", traits.join(", "));
    }
    let _ = write!(text, "Effects: `{:?}`.", info.effects);
    if let Some(format) = info.format {
        let _ = write!(text, " Format:\n\n```text\n{format}\n```");
    }
    text.push_str("\n\n");
    let rows: Vec<[String; 4]> = info
        .operands
        .iter()
        .map(|s| value_row("operand", s))
        .chain(info.attrs.iter().map(attr_row))
        .chain(info.results.iter().map(|s| value_row("result", s)))
        .chain(info.regions.iter().map(|s| group_row("region", s)))
        .chain(info.successors.iter().map(|s| group_row("successor", s)))
        .collect();
    if !rows.is_empty() {
        text.push_str("| name | what | which | meaning |\n|---|---|---|---|\n");
    }
    for [name, what, which, doc] in rows {
        let _ = writeln!(text, "| `{name}` | {what} | {which} | {} |", doc.replace('\n', " "));
    }
    text.push('\n');
}

fn value_row(what: &str, spec: &ValueSpec) -> [String; 4] {
    [spec.name.into(), counted(what, spec.arity), spec.ty.summary.into(), spec.doc.into()]
}

fn group_row(what: &str, spec: &GroupSpec) -> [String; 4] {
    [spec.name.into(), counted(what, spec.arity), String::new(), spec.doc.into()]
}

fn attr_row(spec: &AttrSpec) -> [String; 4] {
    let what = if spec.optional { "optional attribute" } else { "attribute" };
    let default = spec.default.map_or(String::new(), |text| format!(", `{text}` if absent"));
    [spec.name.into(), what.into(), format!("{}{default}", spec.kind.summary), spec.doc.into()]
}

fn counted(what: &str, arity: Arity) -> String {
    match arity {
        Arity::One => what.to_owned(),
        Arity::Optional => format!("optional {what}"),
        Arity::Variadic => format!("any number of {what}s"),
    }
}

fn pass(info: &PassInfo, text: &mut String) {
    let body = info.doc.replace("\n# ", "\n### ");
    let _ = write!(text, "## `--{}`\n\n{body}\n\n", info.name);
    for option in info.options {
        let _ = writeln!(text, "- `{}`: {}", option.name, option.doc);
    }
    if !info.options.is_empty() {
        text.push('\n');
    }
}
