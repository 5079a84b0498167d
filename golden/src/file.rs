//! Golden files and their chunks.

use crate::case::Case;
use crate::shown;
use gradus::Tool;
use gradus::expected::{expects_any, near_misses};
use gradus::filecheck::{Options, Text, directive_places};
use gradus::runline::{Pipeline, Stage, pipelines};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The separator between the programs of a file.
const MARKER: &str = "// -----";

/// The suffixes of FileCheck directives.
const SUFFIXES: [&str; 6] = ["-NEXT", "-SAME", "-NOT", "-DAG", "-LABEL", "-EMPTY"];

/// A golden file.
pub struct Golden {
    /// The tool whose commands run.
    pub tool: Arc<Tool>,
    /// Name such as `passes/cse/basic`.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    text: String,
    /// Its RUN lines.
    pub runs: Vec<Pipeline>,
    /// Its programs.
    pub cases: Vec<Case>,
}

impl Golden {
    /// Reads a golden file. A file without RUN line or without assertion is an error.
    pub fn read(tool: &Arc<Tool>, folder: &Path, path: &Path, work: &Path) -> Result<Golden, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let runs = runs(tool, &text)?;
        let name = path.strip_prefix(folder).expect("is inside").with_extension("").display().to_string();
        let mut golden = Golden { tool: tool.clone(), name, path: path.to_owned(), text, runs, cases: Vec::new() };
        golden.check_directives()?;
        if let Some(line) = near_misses(&golden.text).first() {
            return Err(format!(
                "line {line}: expected-* needs a severity, maybe a place (@+1, @below, ...), and {{{{text}}}} at the end"
            ));
        }
        golden.cases = golden.chunks(work)?;
        Ok(golden)
    }

    /// Whether FileCheck decides; otherwise each chunk has a snapshot or expected diagnostics.
    pub fn is_checked(&self) -> bool {
        self.runs.iter().any(|run| run.check().is_some())
    }

    /// Whether the exit status of the command, such as `gradus check`, decides.
    pub fn is_run(&self) -> bool {
        self.runs[0].stages[0].words.get(1).is_some_and(|word| word == "check")
    }

    /// Whether `update-checks` wrote the directives.
    pub fn is_generated(&self) -> bool {
        gradus::is_generated(&self.text)
    }

    /// Returns the shell command that runs the whole file.
    pub fn reproduce(&self) -> String {
        let file = shown(&self.path);
        let lines: Vec<String> = self.runs.iter().map(|run| run.text.replace("%s", &file)).collect();
        format!("reproduce with: {}", lines.join("\n                "))
    }

    /// Checks that every line that looks like a directive is read by some run.
    fn check_directives(&self) -> Result<(), String> {
        let checks = || self.runs.iter().flat_map(|run| &run.stages).filter(|s| s.is_check());
        let used: BTreeSet<String> = checks().flat_map(Stage::prefixes).collect();
        for (i, line) in self.text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            let Some((word, _)) = comment.trim_start().split_once(':') else { continue };
            let base =
                SUFFIXES.iter().find_map(|s| word.strip_suffix(s)).or_else(|| Some(word.split_once("-COUNT-")?.0));
            let upper =
                |w: &str| w.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
            let base = base.unwrap_or(if word.starts_with("CHECK") { word } else { "" });
            if !base.is_empty() && upper(base) && !used.contains(base) {
                return Err(format!("line {}: no RUN line passes to FileCheck the prefix '{base}'", i + 1));
            }
        }
        let options = |prefixes| Options { check_prefixes: prefixes, ..Options::default() };
        let text = Text { name: "", bytes: self.text.as_bytes() };
        let reads_any = |c: Vec<String>| !directive_places(&options(c), text).is_empty();
        match checks().find(|c| !reads_any(c.prefixes())) {
            Some(check) => Err(format!("'{}' asserts nothing: there are no such directives", check.words.join(" "))),
            None => Ok(()),
        }
    }

    fn chunks(&self, work: &Path) -> Result<Vec<Case>, String> {
        let lines: Vec<&str> = self.text.lines().collect();
        let splits = self.runs[0].stages[0].words.iter().any(|w| w.starts_with("--split-input-file"));
        // With FileCheck, the RUN line decides whether the file is split.
        let divided = splits || !self.is_checked() && !self.is_run();
        let markers = (0..lines.len()).filter(|&i| divided && lines[i].starts_with(MARKER)).map(|i| i + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(markers).collect();
        let chunk = |(i, &start): (usize, &usize)| {
            let end = starts.get(i + 1).map_or(lines.len(), |next| next - 1);
            let number = (starts.len() > 1).then_some(i + 1);
            self.chunk(&lines[start..end], start, number, work)
        };
        starts.iter().enumerate().map(chunk).collect()
    }

    /// Creates the chunk of these lines.
    fn chunk(&self, lines: &[&str], start: usize, number: Option<usize>, work: &Path) -> Result<Case, String> {
        if lines.iter().all(|l| l.trim().is_empty() || l.trim_start().starts_with("//")) {
            return Err(format!("the chunk from line {} on is empty, so it asserts nothing", start + 1));
        }
        let expects = expects_any(&lines.join("\n"));
        let asserted = expects || self.is_checked() || self.is_run() || self.runs.iter().any(|r| r.stages[0].inverted);
        if !asserted && self.name.starts_with("errors") {
            return Err(format!("the chunk from line {} on expects no error, but is in a folder of errors", start + 1));
        }
        let name = self.name.clone() + &number.map_or(String::new(), |n| format!("#{n}"));
        let input = work.join(format!("{}.mlir", name.replace(['/', '#'], "-")));
        // Empty lines in front preserve the line numbers of the golden file in messages.
        let padded = format!("{}{}\n", "\n".repeat(start), lines.join("\n"));
        std::fs::write(&input, padded).map_err(|e| e.to_string())?;
        let (file, lines) = (self.path.clone(), (start + 1, start + lines.len()));
        let one_of_several = number.is_some();
        let tool = self.tool.clone();
        Ok(Case { tool, name, file, lines, one_of_several, input, runs: self.runs.clone(), expects })
    }
}

/// Parses the RUN lines; the first line of the file has to be one.
fn runs(tool: &Tool, text: &str) -> Result<Vec<Pipeline>, String> {
    let runs = pipelines(tool, text)?;
    let opt = |run: &Pipeline| {
        let first = &run.stages[0];
        let file = first.words.iter().filter(|w| *w == "%s").count() + usize::from(first.input.is_some());
        let known = |w: &[String]| w[0] == tool.name && matches!(w[1].as_str(), "opt" | "check");
        first.words.get(..2).is_some_and(known) && file == 1
    };
    if runs.first().is_none_or(|run| run.line != 1) || !runs.iter().all(opt) {
        let line = format!("// RUN: {} opt %s ...", tool.name);
        return Err(format!("the first line must be '{line}', and others must begin so too"));
    }
    Ok(runs)
}
