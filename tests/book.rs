//! The README and the book are up to date: commands print the shown output, code blocks are parts of compiled and
//! tested files, links resolve, and the tutorial's steps produce `examples/bits`.
//!
//! - In a `console` block, a line `$ gradus ...` (or `bits`, `poly` or `toyvec`, in its folder; or `cat FILE`) is a command, run in process, followed by its complete output. Times are not compared.
//! - Code blocks follow a comment: `<!-- part: FILE -->`, lines of that file without their indentation; `<!-- new: FILE -->`, the whole file; `<!-- append: FILE -->`, its end; `<!-- edit: FILE -->`, a `diff` without line numbers.
//! - A picture follows a comment with the command that draws it, without its `--svg`: `<!-- picture: gradus ... -->`.

use crate::support::{files, gradus, read, root};
use gradus::Tool;
use gradus::runline::pipelines;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Minimum number of examples, so that an empty search fails.
const ENOUGH: usize = 30;

/// A fenced block of a document.
struct Block {
    /// The document and the line of the fence, for messages.
    place: String,
    /// The preceding comment: `part: FILE`.
    comment: String,
    language: String,
    text: String,
}

/// Returns the hand-written documents.
fn documents() -> Vec<PathBuf> {
    let written = |path: &PathBuf| !path.starts_with(root().join("docs/src/reference"));
    let book = files(&root().join("docs/src"), "md").into_iter().filter(written);
    [root().join("README.md")].into_iter().chain(book).collect()
}

fn blocks(path: &Path) -> Vec<Block> {
    let text = read(path);
    let (mut found, mut open): (Vec<Block>, Option<&str>) = (Vec::new(), None);
    let mut comment = String::new();
    for (i, line) in text.lines().enumerate() {
        let (fence, language) = line.split_at(line.len() - line.trim_start_matches('`').len());
        if open == Some(line) {
            open = None;
        } else if let Some(block) = found.last_mut().filter(|_| open.is_some()) {
            block.text += &format!("{line}\n");
        } else if fence.len() >= 3 {
            open = Some(fence);
            let place = format!("{}:{}", path.display(), i + 1);
            let (comment, language) = (std::mem::take(&mut comment), language.to_owned());
            found.push(Block { place, comment, language, text: String::new() });
        } else {
            comment = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")).unwrap_or("").to_owned();
        }
    }
    found
}

/// Returns the commands of a block with their output.
fn examples(block: &Block) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("{}: the block does not begin with a command", block.place),
        }
    }
    found
}

/// Returns the output of a command.
fn printed(command: &str) -> Result<String, String> {
    let command = command.replace("cargo run --release -- ", "gradus ");
    if let Some(file) = command.strip_prefix("cat ") {
        return std::fs::read_to_string(root().join(file)).map_err(|e| e.to_string());
    }
    let (tool, folder) = match command.split(' ').next() {
        Some("bits") => (bits::tool(), root().join("examples/bits")),
        Some("poly") => (poly::tool(), root().join("examples/poly")),
        Some("toyvec") => (toyvec::tool(), root().join("examples/toyvec")),
        _ => (Tool::gradus(), root().to_owned()),
    };
    std::env::set_current_dir(folder).map_err(|e| e.to_string())?;
    let runs = pipelines(&tool, &format!("RUN: {command}"))?;
    let output = runs[0].run(&tool, "");
    Ok(String::from_utf8_lossy(&[output.out, output.err].concat()).into_owned())
}

/// Returns a report without its numbers.
fn without_times(text: &str) -> String {
    let words = text.split(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn commands_print_what_is_shown() {
    let (mut failures, mut count) = (String::new(), 0);
    for block in documents().iter().flat_map(|path| blocks(path)).filter(|b| b.language == "console") {
        for (command, shown) in examples(&block) {
            let timed = command.contains("-timing") || command.contains("profile-actions");
            let same = |a: &str, b: &str| match timed {
                true => without_times(a.trim_end()) == without_times(b.trim_end()),
                false => a.trim_end() == b.trim_end(),
            };
            let printed = printed(&command).unwrap_or_else(|why| format!("cannot be run: {why}"));
            count += 1;
            if !same(&printed, &shown) {
                failures += &format!("{}: $ {command}\n{printed}\n", block.place);
            }
        }
    }
    assert!(failures.is_empty(), "these commands print something else:\n{failures}");
    assert!(count >= ENOUGH, "only {count} examples were found");
}

/// Whether the lines of `part` are consecutive in `whole`, up to indentation.
fn is_part(part: &str, whole: &str) -> bool {
    let (part, whole): (Vec<&str>, Vec<&str>) = (part.lines().collect(), whole.lines().collect());
    let same = |window: &[&str]| {
        let indent = window[0].len().saturating_sub(part[0].len());
        window.iter().zip(&part).all(|(w, p)| if p.is_empty() { w.is_empty() } else { w.get(indent..) == Some(p) })
    };
    !part.is_empty() && whole.windows(part.len()).any(same)
}

#[test]
fn code_is_that_of_tested_files() {
    let (mut failures, mut count) = (String::new(), 0);
    for block in documents().iter().flat_map(|path| blocks(path)) {
        if !["rust", "mlir", "toml", "diff", "python"].contains(&block.language.as_str()) {
            continue;
        }
        count += 1;
        match block.comment.split_once(": ") {
            // The tutorial's files are compared at the end.
            Some(("new" | "append" | "edit", _)) if block.place.contains("tutorial.md") => {}
            Some(("part", file)) if is_part(&block.text, &read(&root().join(file))) => {}
            Some(("new", file)) if block.text == read(&root().join(file)) => {}
            Some((_, file)) => failures += &format!("{}: this is not what {file} says\n", block.place),
            None => failures += &format!("{}: say where this is from: <!-- part: FILE -->\n", block.place),
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count >= ENOUGH, "only {count} blocks were found");
}

/// Returns the text with a diff applied.
fn edited(text: &str, diff: &str) -> Option<String> {
    let side = |other: char| {
        let lines = diff.lines().filter(|l| !l.starts_with(other));
        lines.map(|l| format!("{}\n", l.get(1..).unwrap_or(""))).collect::<String>()
    };
    let old = side('+');
    (text.matches(&old).count() == 1).then(|| text.replacen(&old, &side('-'), 1))
}

#[test]
fn the_tutorial_ends_with_the_example() {
    let mut have: BTreeMap<String, String> = BTreeMap::new();
    for block in blocks(&root().join("docs/src/tutorial.md")) {
        let Some((what, file)) = block.comment.split_once(": ") else { continue };
        let text = have.entry(file.to_owned()).or_default();
        match what {
            "new" => *text = block.text,
            "append" => *text += &format!("\n{}", block.text),
            "edit" => *text = edited(text, &block.text).unwrap_or_else(|| panic!("{}: cannot be applied", block.place)),
            _ => {}
        }
    }
    let folder = root().join("examples/bits");
    let all = ["rs", "toml", "mlir"].iter().flat_map(|extension| files(&folder, extension));
    let inside = |path: PathBuf| path.strip_prefix(root()).expect("is inside").display().to_string();
    for file in all.map(inside).filter(|file| !file.contains("/target/")) {
        let made = have.get(&file).unwrap_or_else(|| panic!("the tutorial does not make {file}"));
        assert_eq!(*made, read(&root().join(&file)), "{file}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut failures = String::new();
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|f| root().join(f));
    for path in documents().into_iter().chain(others) {
        for (at, link) in read(&path).match_indices("](").map(|(at, _)| at).zip(read(&path).split("](").skip(1)) {
            let target = link.split([')', '#']).next().unwrap_or("");
            let file = path.parent().expect("is in a folder").join(target);
            if !target.is_empty() && !target.contains("://") && !file.exists() {
                failures += &format!("{}, byte {at}: {target}\n", path.display());
            }
        }
    }
    assert!(failures.is_empty(), "links to nothing:\n{failures}");
}

#[test]
fn pictures_are_what_commands_draw() {
    let (mut failures, mut count) = (String::new(), 0);
    for path in documents() {
        let text = read(&path);
        for (comment, picture) in text.lines().zip(text.lines().skip(1)) {
            let command = comment.strip_prefix("<!-- picture: ").and_then(|l| l.strip_suffix(" -->"));
            let file = picture.strip_prefix("![").and_then(|l| l.split_once("](")?.1.strip_suffix(')'));
            let (Some(command), Some(file)) = (command, file) else {
                assert!(command.is_none() && file.is_none(), "{}: {comment}\n{picture}", path.display());
                continue;
            };
            let file = path.parent().expect("is in a folder").join(file);
            count += 1;
            if printed(&format!("{command} --svg -")).as_ref() != Ok(&read(&file)) {
                failures += &format!(
                    "{}: {command} --svg {}\n",
                    path.display(),
                    file.strip_prefix(root()).unwrap_or(&file).display()
                );
            }
        }
    }
    assert!(failures.is_empty(), "draw these again, and look at them:\n{failures}");
    assert!(count >= 5, "only {count} pictures were found");
}

#[test]
fn every_chapter_is_in_the_summary() {
    let folder = root().join("docs/src");
    let summary = read(&folder.join("SUMMARY.md"));
    let chapters = files(&folder, "md").into_iter().map(|p| p.strip_prefix(&folder).expect("is inside").to_owned());
    let missing: Vec<String> = chapters
        .map(|p| p.display().to_string())
        .filter(|p| p != "SUMMARY.md" && !summary.contains(&format!("({p})")))
        .collect();
    assert!(missing.is_empty(), "add these to docs/src/SUMMARY.md: {missing:?}");
}

#[test]
fn the_reference_is_up_to_date() {
    let folder = root().join("docs/src/reference");
    let output = gradus(&["doc", "-o", folder.to_str().expect("the path is UTF-8"), "--check"]);
    assert_eq!(output.code, 0, "{}in the repository: gradus doc -o docs/src/reference", output.err);
}
