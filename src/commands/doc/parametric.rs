//! The documentation of declared types and attributes.

use super::{attr_row, cell};
use gradus_ir::{Dialect, Parametric};
use std::fmt::Write;

/// Returns the types and attributes of a dialect; nothing if it declares none.
pub(super) fn of_dialect(dialect: &Dialect) -> String {
    let types: String = dialect.types.iter().map(|info| one('!', &info.decl)).collect();
    let attrs: String = dialect.attrs.iter().map(|info| one('#', &info.decl)).collect();
    types + &attrs
}

/// Returns the type or attribute with a name, with or without its sigil.
pub(super) fn find(dialects: &[&'static Dialect], name: &str) -> Option<String> {
    let types = dialects.iter().flat_map(|d| d.types).map(|info| ('!', &info.decl));
    let attrs = dialects.iter().flat_map(|d| d.attrs).map(|info| ('#', &info.decl));
    let is_named = |(sigil, decl): &(char, &Parametric)| name.strip_prefix(*sigil).unwrap_or(name) == decl.name;
    types.chain(attrs).find(is_named).map(|(sigil, decl)| one(sigil, decl))
}

/// Returns the names of all types and attributes.
pub(super) fn names(dialects: &[&'static Dialect]) -> impl Iterator<Item = &'static str> {
    let types = dialects.iter().flat_map(|d| d.types).map(|info| info.decl.name);
    types.chain(dialects.iter().flat_map(|d| d.attrs).map(|info| info.decl.name))
}

fn one(sigil: char, decl: &Parametric) -> String {
    let mut text =
        format!("## `{sigil}{}`\n\n{}\n\nSyntax:\n\n```text\n{}\n```\n\n", decl.name, decl.doc, syntax(sigil, decl));
    if !decl.params.is_empty() {
        text.push_str("| name | kind | constraint | description |\n|---|---|---|---|\n");
        for [name, kind, constraint, doc] in decl.params.iter().map(attr_row) {
            let kind = kind.replace("attribute", "parameter");
            let _ = writeln!(text, "| `{name}` | {kind} | {} | {} |", cell(&constraint), cell(&doc));
        }
        text.push('\n');
    }
    if !decl.examples.is_empty() {
        let examples: Vec<String> =
            decl.examples.iter().map(|body| format!("`{}`", decl.example(sigil, body))).collect();
        let _ = write!(text, "Examples: {}.\n\n", examples.join(", "));
    }
    text
}

/// Returns the declared format, or the list of parameters.
fn syntax(sigil: char, decl: &Parametric) -> String {
    if let Some(format) = decl.format {
        return format!("{sigil}{} {format}", decl.name);
    }
    let (required, optional): (Vec<_>, Vec<_>) =
        decl.params.iter().partition(|spec| !spec.optional && spec.default.is_none());
    let required = required.iter().map(|spec| format!("${}", spec.name));
    let optional = optional.iter().map(|spec| format!("[{0} = ${0}]", spec.name));
    let all: Vec<String> = required.chain(optional).collect();
    if all.is_empty() { format!("{sigil}{}", decl.name) } else { format!("{sigil}{}<{}>", decl.name, all.join(", ")) }
}
