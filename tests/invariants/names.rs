//! One word for one thing, and errors with a meaning: numbers that only fall.

use super::{Source, all_sources};
use std::collections::BTreeMap;

/// Definitions of a type name from which on it is ambiguous.
const AMBIGUOUS: usize = 4;
/// Ambiguous type names. Lower it with each that gets a name of its own.
const MAX_AMBIGUOUS_NAMES: usize = 4;
/// Mentions of `Result<_, String>`. Lower it with each that gets a type that says what failed.
const MAX_STRING_ERRORS: usize = 205;

/// Returns the name of the type or trait that a line defines.
fn defined_type(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(public) = rest.strip_prefix("pub") {
        rest = public.trim_start();
        rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    }
    let keywords = ["struct ", "enum ", "trait ", "union "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some(name).filter(|name| !name.is_empty())
}

#[test]
fn type_names_mean_one_thing() {
    let sources = all_sources();
    let mut definitions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Source { path, text } in &sources {
        for name in text.lines().filter_map(defined_type) {
            definitions.entry(name).or_default().push(path);
        }
    }
    assert!(definitions.len() > 1000, "only {} type names are seen", definitions.len());
    let ambiguous: Vec<String> = definitions
        .iter()
        .filter(|(_, paths)| paths.len() >= AMBIGUOUS)
        .map(|(name, paths)| format!("{name}: {}", paths.join(" ")))
        .collect();
    assert!(
        ambiguous.len() <= MAX_AMBIGUOUS_NAMES,
        "{} type names have {AMBIGUOUS} definitions or more; give one the word for what it is:\n{}",
        ambiguous.len(),
        ambiguous.join("\n")
    );
}

/// Returns the number of `Result<_, String>` in a line of code.
fn string_errors(line: &str) -> usize {
    let results = line.split("Result<").skip(1);
    results.filter(|rest| rest.contains(", String>")).count()
}

#[test]
fn errors_have_types() {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let count = |source: &Source| source.text.lines().filter(is_code).map(string_errors).sum();
    let counts: Vec<(String, usize)> =
        all_sources().iter().map(|source| (source.path.clone(), count(source))).filter(|(_, n)| *n > 0).collect();
    let total: usize = counts.iter().map(|(_, n)| n).sum();
    let shown: Vec<String> = counts.iter().map(|(path, n)| format!("{n} {path}")).collect();
    assert!(
        total <= MAX_STRING_ERRORS,
        "'Result<_, String>' occurs {total} times, above {MAX_STRING_ERRORS}; an error of a type says what failed:\n{}",
        shown.join("\n")
    );
}
