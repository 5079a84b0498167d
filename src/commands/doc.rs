//! `gradus doc`: documentation as Markdown, of one declaration or as a complete reference with a file per dialect.

mod parametric;
mod target;

use crate::columns::in_columns;
use crate::io::{text, write, write_file};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::diag::suggest;
use gradus_ir::pass::{OptionKind, PassOption};
use gradus_ir::rules::Rule;
use gradus_ir::{Access, Arity, AttrKind, AttrSpec, AttrText, Dialect, Effects};
use gradus_ir::{GroupSpec, OpInfo, PassInfo, Traits, ValueSpec};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

/// First line of generated reference files, which also identifies stale ones.
const NOTE: &str = "<!-- Written by the command `doc` from the declarations; do not edit. -->\n\n";

fn command(_: &Tool) -> Command {
    Command::new("doc")
        .about("Print the documentation of a dialect, op, type, attribute, pass or target as Markdown, or write a reference")
        .after_help(
            "Examples:\n  gradus doc arith.addi\n  gradus doc canonicalize\n  gradus doc cpu\n  gradus doc -o docs/src/reference\n  \
             gradus doc -o docs/src/reference --check",
        )
        .arg(
            Arg::new("NAME")
                .help("A dialect, op, type, attribute, pass or target; all of them if left out")
                .conflicts_with("output"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("FOLDER")
                .help("Folder for the reference: a file per dialect, one for the passes and one for the targets"),
        )
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .requires("output")
                .help("Change nothing; exit with status 1 if a file is out of date"),
        )
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if let Some(folder) = matches.get_one::<String>("output") {
        let files = reference(tool);
        let done = if matches.get_flag("check") {
            compare(tool, folder, &files, streams)
        } else {
            save(folder, &files, streams)
        };
        return done.and_then(|()| check_declarations(tool, streams));
    }
    let text = match matches.get_one::<String>("NAME") {
        Some(name) => one(tool, name)?,
        None => tool.dialects.iter().map(|d| dialect(d)).chain([passes(tool), target::all(tool)]).collect(),
    };
    write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Reports the mistakes in the tool's declarations.
fn check_declarations(tool: &Tool, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mistakes = tool.check_declarations();
    for mistake in &mistakes {
        let _ = writeln!(streams.err, "error: {mistake}");
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Returns the files of the reference, by name.
fn reference(tool: &Tool) -> BTreeMap<String, String> {
    let dialects = tool.dialects.iter().map(|d| (format!("{}.md", d.name), dialect(d)));
    let lists = [("passes.md", passes(tool)), ("targets.md", target::all(tool))];
    let all = dialects.chain(lists.map(|(name, text)| (name.to_owned(), text)));
    all.map(|(name, text)| (name, NOTE.to_owned() + text.trim_end() + "\n")).collect()
}

fn save(folder: &str, files: &BTreeMap<String, String>, streams: &mut Streams<'_>) -> Result<(), Failure> {
    files.iter().try_for_each(|(name, text)| write_file(&Path::new(folder).join(name), text, streams))?;
    for stray in left_over(folder, files, streams) {
        std::fs::remove_file(&stray).map_err(|e| format!("cannot remove '{stray}': {e}"))?;
    }
    Ok(())
}

/// Reports the files that are out of date.
fn compare(
    tool: &Tool,
    folder: &str,
    files: &BTreeMap<String, String>,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for (name, new) in files {
        let path = Path::new(folder).join(name).display().to_string();
        if !text(&path, streams).is_ok_and(|old| *old.text == *new) {
            stale.push(path);
        }
    }
    stale.extend(left_over(folder, files, streams));
    if stale.is_empty() {
        return Ok(());
    }
    for file in stale {
        let _ = writeln!(streams.err, "{file}: error: out of date with the declarations");
    }
    let _ = writeln!(streams.err, "to update the reference: {} doc -o {folder}", tool.name);
    Err(Failure::Reported)
}

/// Returns the generated files whose dialect no longer exists.
fn left_over(folder: &str, files: &BTreeMap<String, String>, streams: &mut Streams<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let unknown = entries.filter(|e| e.file_name().to_str().is_none_or(|name| !files.contains_key(name)));
    let mut found: Vec<String> = unknown.map(|e| e.path().display().to_string()).collect();
    found.retain(|path| path.ends_with(".md") && text(path, streams).is_ok_and(|old| old.text.starts_with(NOTE)));
    found.sort();
    found
}

fn one(tool: &Tool, name: &str) -> Result<String, Failure> {
    let ops = || tool.dialects.iter().flat_map(|d| d.ops);
    if let Some(info) = ops().find(|info| info.name == name) {
        return Ok(op(info));
    }
    if let Some(info) = tool.passes.iter().find(|info| info.name == name) {
        return Ok(pass(info));
    }
    // A target may have the name of its dialect.
    let of_dialect = tool.dialects.iter().find(|d| d.name == name).map(|d| dialect(d));
    let of_target = tool.targets.iter().find(|t| t.cost.name == name).map(|t| target::page(tool, t));
    if of_dialect.is_some() || of_target.is_some() {
        return Ok(of_target.into_iter().chain(of_dialect).collect());
    }
    if let Some(text) = parametric::find(&tool.dialects, name) {
        return Ok(text);
    }
    let others = tool.passes.iter().map(|p| p.name).chain(tool.dialects.iter().map(|d| d.name));
    let others = others.chain(parametric::names(&tool.dialects)).chain(tool.targets.iter().map(|t| t.cost.name));
    let hint = suggest(name, ops().map(|i| i.name).chain(others))
        .map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    Err(Failure::Input(format!("no dialect, op, type, attribute, pass or target is called '{name}'{hint}")))
}

fn dialect(d: &Dialect) -> String {
    let mut text = format!("# Dialect `{}`\n\n{}\n\n", d.name, d.doc);
    text.extend(d.ops.iter().map(|info| op(info)));
    text.push_str(&parametric::of_dialect(d));
    let words: Vec<String> = d.enums.iter().filter_map(|kind| enumeration(kind)).collect();
    if !words.is_empty() {
        let _ = write!(text, "## Enumerations of `{}`\n\n{}\n", d.name, words.concat());
    }
    if !d.rules.is_empty() {
        let _ =
            write!(text, "## Rules of `{}`\n\nWhat `--canonicalize` rewrites, besides folding:\n\n```text\n", d.name);
        let row = |rule: &Rule| [rule.name.to_owned(), rule.text.split_whitespace().collect::<Vec<_>>().join(" ")];
        text += &in_columns(&d.rules.iter().map(row).collect::<Vec<_>>());
        text.push_str("```\n\n");
    }
    text
}

/// Documents an enumeration: `#arith.fastmath<...>` and its words.
fn enumeration(kind: &AttrKind) -> Option<String> {
    let AttrText::Words { dialect, mnemonic, words, .. } = kind.text else { return None };
    let words: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    Some(format!("- `#{dialect}.{mnemonic}<...>`: {}\n", words.join(", ")))
}

fn op(info: &OpInfo) -> String {
    let mut text = format!("## `{}`\n\n{}\n\n", info.name, info.doc);
    match info.format {
        Some(format) => drop(write!(text, "Syntax:\n\n```text\n{} {format}\n```\n\n", info.name)),
        None => drop(write!(text, "Syntax: the generic form.\n\n")),
    }
    let traits: Vec<String> =
        Traits::NAMES.iter().filter(|(_, t)| info.traits.has(*t)).map(|(n, _)| format!("`{n}`")).collect();
    if !traits.is_empty() {
        let _ = write!(text, "Traits: {}. ", traits.join(", "));
    }
    let _ = write!(text, "Effects: {}.\n\n", effects(info.effects));
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
        text.push_str("| name | kind | constraint | description |\n|---|---|---|---|\n");
    }
    for [name, kind, constraint, doc] in &rows {
        let _ = writeln!(text, "| `{name}` | {kind} | {} | {} |", cell(constraint), cell(doc));
    }
    text + if rows.is_empty() { "" } else { "\n" }
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn effects(effects: Effects) -> String {
    let access = |(access, group): &(Access, &str)| {
        let verb = match access {
            Access::Alloc => "allocates",
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Free => "frees",
        };
        if group.is_empty() { format!("{verb} any memory") } else { format!("{verb} `{group}`") }
    };
    match effects {
        Effects::Pure => "none".into(),
        Effects::MayUb => "none; undefined behavior for some operands".into(),
        Effects::Memory([]) => "none visible to other ops, but the op is not moved".into(),
        Effects::Memory(list) => list.iter().map(access).collect::<Vec<_>>().join(", "),
        Effects::MemoryOf(list) => list.iter().map(access).collect::<Vec<_>>().join(", ") + ", if it is a memref",
        Effects::Recursive => "those of the ops in its regions".into(),
        Effects::Unknown => "unknown".into(),
    }
}

fn value_row(kind: &str, spec: &ValueSpec) -> [String; 4] {
    [spec.name.into(), counted(kind, spec.arity), spec.ty.summary.into(), spec.doc.into()]
}

fn group_row(kind: &str, spec: &GroupSpec) -> [String; 4] {
    [spec.name.into(), counted(kind, spec.arity), String::new(), spec.doc.into()]
}

fn attr_row(spec: &AttrSpec) -> [String; 4] {
    let kind = if spec.optional { "optional attribute" } else { "attribute" };
    let default = spec.default.map_or(String::new(), |text| format!(", `{text}` if absent"));
    [spec.name.into(), kind.into(), format!("{}{default}", spec.kind.summary), spec.doc.into()]
}

fn counted(kind: &str, arity: Arity) -> String {
    match arity {
        Arity::One => kind.to_owned(),
        Arity::Optional => format!("optional {kind}"),
        Arity::Variadic => format!("any number of {kind}s"),
    }
}

fn passes(tool: &Tool) -> String {
    std::iter::once("# Passes\n\n".to_owned()).chain(tool.passes.iter().map(|info| pass(info))).collect()
}

fn pass(info: &PassInfo) -> String {
    let body = info.doc.replace("\n# ", "\n### ");
    let mut text = format!("## `--{}`\n\n{body}\n\n", info.name);
    if let Some(anchor) = info.anchor {
        let _ = write!(text, "Runs on `{anchor}`.\n\n");
    }
    if !info.options.is_empty() {
        text.push_str("| option | value | default | meaning |\n|---|---|---|---|\n");
    }
    for PassOption { name, doc, kind } in info.options {
        let (value, default) = (kind.placeholder().replace('|', ", "), kind.default_text());
        let _ = writeln!(text, "| `{name}` | `{value}` | `{default}` | {}{} |", cell(doc), cell(&words(kind)));
    }
    text.push_str(if info.options.is_empty() { "" } else { "\n" });
    for (name, doc) in info.statistics {
        let _ = write!(text, "Counts `{name}`: {doc}.\n\n");
    }
    for property in info.requires {
        let _ = write!(text, "Requires `{}`: {}.\n\n", property.name, property.doc);
    }
    for property in info.establishes {
        let _ = write!(text, "Establishes `{}`: {}.\n\n", property.name, property.doc);
    }
    text
}

/// Returns the documentation of an option's enumeration values.
fn words(kind: &OptionKind) -> String {
    let OptionKind::Word(_, words) = kind else { return String::new() };
    words.iter().map(|(word, doc)| format!("; `{word}`: {doc}")).collect()
}
