//! Functions, documentation, and words that code does not contain.

use super::{Source, all_sources, has_word, no_failures, sources};
use gradus::Tool;

/// Lines of a function, from its signature to its closing brace.
const MAX_FUNCTION: usize = 70;
/// Lines of half of all functions.
const MAX_MEDIAN: usize = 25;
/// Percentage of lines that are documentation.
const DOC_SHARE: std::ops::RangeInclusive<usize> = 8..=25;

/// Returns the functions of a file as rustfmt writes them: name, first line from 1, and length in lines.
fn functions(source: &Source) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(name) = function_name(line) else { continue };
        let closes = |line: &&&str| {
            line.split_at_checked(indent).is_some_and(|(a, b)| {
                a.trim().is_empty() && (b.starts_with('}') || b.starts_with(')') && b.ends_with(';'))
            })
        };
        let one_line = line.trim_end().ends_with(['}', ';']);
        let length = if one_line { 1 } else { lines[i..].iter().position(|l| closes(&l)).map_or(1, |n| n + 1) };
        found.push((name.to_owned(), i + 1, length));
    }
    found
}

/// Returns the name of the function whose signature begins in a line.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(public) = rest.strip_prefix("pub") {
        rest = public.trim_start();
        rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    }
    for modifier in ["const ", concat!("un", "safe "), "extern \"C\" "] {
        rest = rest.strip_prefix(modifier).unwrap_or(rest);
    }
    rest.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[test]
fn functions_are_short() {
    let (mut failures, mut lengths) = (Vec::new(), Vec::new());
    for source in all_sources() {
        for (name, line, length) in functions(&source) {
            lengths.push(length);
            if length > MAX_FUNCTION {
                failures.push(format!("{}:{line}: '{name}' has {length} lines", source.path));
            }
        }
    }
    no_failures(&format!("functions have at most {MAX_FUNCTION} lines"), &failures);
    lengths.sort_unstable();
    assert!(lengths.len() > 4000, "only {} functions are seen", lengths.len());
    let median = lengths[lengths.len() / 2];
    assert!(median <= MAX_MEDIAN, "half of all functions have more than {median} lines");
}

/// The lint `missing_docs` holds that public items are documented; this holds that documentation does not outgrow the code.
#[test]
fn documentation_has_its_share() {
    let (mut docs, mut all) = (0, 0);
    for source in all_sources() {
        all += source.text.lines().count();
        docs += source.text.lines().filter(|l| l.trim_start().starts_with("///") || l.starts_with("//!")).count();
    }
    let share = 100 * docs / all;
    assert!(DOC_SHARE.contains(&share), "{share} % of the lines are documentation");
}

#[test]
fn public_items_without_documentation_are_errors() {
    let manifest = std::fs::read_to_string(super::root().join("Cargo.toml")).expect("the workspace has a manifest");
    assert!(manifest.lines().any(|l| l.starts_with("missing_docs = ")), "the lint missing_docs is off");
}

/// No state is shared behind the back of the borrow checker: programs are arenas, and threads have copies.
#[test]
fn nothing_is_counted_or_borrowed_at_run_time() {
    let words = [concat!("Ref", "Cell"), concat!("R", "c")];
    let mut failures = Vec::new();
    for source in all_sources() {
        for (i, line) in source.text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            if words.iter().any(|word| has_word(line, word)) {
                failures.push(format!("{}:{}: {}", source.path, i + 1, line.trim()));
            }
        }
    }
    no_failures("use the arena, a table, or Arc", &failures);
}

/// Passes create ops by name (`OpState::new(..., "cf.br", ...)`) and say what they run on (`anchor`), but do not compare.
#[test]
fn passes_match_no_op_names() {
    let names: Vec<String> =
        Tool::gradus().dialects.into_iter().flat_map(|d| d.ops).map(|info| format!("\"{}\"", info.name)).collect();
    let allowed = ["OpState::new(", "anchor: "];
    let mut failures = Vec::new();
    for source in ["passes/src", "egraph/src"].into_iter().flat_map(sources) {
        for (i, line) in source.text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            let quoted = line.contains('"') && names.iter().any(|name| line.contains(name.as_str()));
            if quoted && !allowed.iter().any(|word| line.contains(word)) {
                failures.push(format!("{}:{}: {}", source.path, i + 1, line.trim()));
            }
        }
    }
    no_failures("ask the declaration for traits, effects and meaning", &failures);
}
