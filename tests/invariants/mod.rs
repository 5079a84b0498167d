//! The invariants of docs/src/invariants.md that can be read off the code: length of functions, documentation, circles of modules,
//! shared mutable state, op names in passes, numbers of machines, type names, errors, and the number of places that a declaration touches.

mod circles;
mod code;
mod names;
mod numbers;
mod places;

use crate::support::{files, no_failures, read, root, shown, without_tests};
use std::path::{Path, PathBuf};

/// Returns the folders of the workspace's crates with sources, examples aside; the first is that of the tool.
fn source_folders() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let members =
        manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("it lists members");
    let members = members.split('"').skip(1).step_by(2).filter(|member| !member.starts_with("examples/"));
    std::iter::once("src".to_owned()).chain(members.map(|member| format!("{member}/src"))).collect()
}

/// A source file without its tests.
struct Source {
    /// Relative to the repository.
    path: String,
    text: String,
}

/// Returns the source files of a folder that are not tests, each without its tests.
fn sources(folder: &str) -> Vec<Source> {
    let is_test = |path: &Path| {
        let path = path.display().to_string();
        path.ends_with("tests.rs") || path.contains("/tests/")
    };
    let paths: Vec<PathBuf> = files(&root().join(folder), "rs").into_iter().filter(|path| !is_test(path)).collect();
    let source = |path: PathBuf| Source { path: shown(&path), text: without_tests(&read(&path)) };
    paths.into_iter().map(source).collect()
}

/// Returns the source files of all crates.
fn all_sources() -> Vec<Source> {
    source_folders().iter().flat_map(|folder| sources(folder)).collect()
}

/// Whether a text holds a word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}
