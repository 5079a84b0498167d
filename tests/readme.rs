//! The README's and the book's console examples print what they say.
//!
//! In a block marked `console`, a line `$ gradus ...` (or `$ cargo run --release -- ...`) is a command, run in process
//! from the root of the repository, and the lines after it are all that it prints.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command and what it is said to print.
struct Example {
    line: usize,
    command: String,
    output: String,
}

fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (i, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            found.push(Example { line: i + 1, command: command.to_owned(), output: String::new() });
        } else if inside && let Some(example) = found.last_mut() {
            example.output.push_str(line);
            example.output.push('\n');
        }
    }
    found
}

/// The arguments of a command that this test can run.
fn arguments(command: &str) -> Option<Vec<OsString>> {
    let rest = command.strip_prefix("gradus ").or_else(|| command.strip_prefix("cargo run --release -- "))?;
    Some(std::iter::once("gradus").chain(rest.split_whitespace()).map(OsString::from).collect())
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).expect("docs/ exists") {
        paths.push(entry.expect("docs/ can be listed").path());
    }
    paths.retain(|p| p.extension().is_some_and(|e| e == "md"));
    paths.sort();
    paths
}

#[test]
fn console_examples_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::set_current_dir(root).expect("the root exists");
    let mut count = 0;
    for path in documents(root) {
        let text = std::fs::read_to_string(&path).expect("a document is text");
        for example in examples(&text) {
            let place = format!("{}:{}: $ {}", path.display(), example.line, example.command);
            let args = arguments(&example.command).unwrap_or_else(|| panic!("{place}: not a gradus command"));
            let (mut out, mut err) = (Vec::new(), Vec::new());
            gradus::run(args, &mut gradus::Streams::new(&mut out, &mut err));
            let printed = String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err);
            assert_eq!(printed.trim_end(), example.output.trim_end(), "{place}");
            count += 1;
        }
    }
    assert!(count >= 6, "the README shows what the tool does");
}

#[test]
fn included_files_are_what_they_are_said_to_be() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("README.md")).expect("the README is text");
    let (_, after) = text.split_once("<!-- include ").expect("the tour is included");
    let (path, rest) = after.split_once(" -->\n```mlir\n").expect("a block follows");
    let (shown, _) = rest.split_once("```").expect("the block ends");
    assert_eq!(shown, std::fs::read_to_string(root.join(path)).expect("the file exists"), "{path}");
}
