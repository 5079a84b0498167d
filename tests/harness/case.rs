//! A chunk of a golden file as a test case.

use super::expect::{Expected, expectations};
use std::path::{Path, PathBuf};

/// One chunk.
pub struct Case {
    /// `passes/cse/basic`, with `#2` for the second chunk of several.
    pub name: String,
    /// The golden file.
    pub file: PathBuf,
    /// The first and last line of the chunk in the file.
    lines: (usize, usize),
    /// Whether the file has other chunks.
    one_of_several: bool,
    /// A file with only this chunk, its lines at the numbers that they have in the golden file.
    pub input: PathBuf,
    /// The arguments of the RUN line, with `%s`.
    pub args: Vec<String>,
    /// What is wrong with the program.
    pub expected: Vec<Expected>,
}

impl Case {
    /// The arguments with the chunk's file for `%s`.
    pub fn command(&self) -> Vec<String> {
        let input = self.input.to_str().expect("temporary files have plain names");
        self.args.iter().map(|a| a.replace("%s", input)).collect()
    }

    /// The flags that decide whether the program can be read at all.
    pub fn reading_flags(&self) -> Vec<String> {
        self.args.iter().filter(|a| *a == "--allow-unregistered-dialect").cloned().collect()
    }

    /// Whether the command runs any pass.
    pub fn has_passes(&self) -> bool {
        let is_pass = |a: &String| {
            let name = a.trim_start_matches("--").split('=').next().unwrap_or("");
            name == "pass-pipeline" || gradus::all_passes().iter().any(|p| p.name == name)
        };
        self.args.iter().any(is_pass)
    }

    /// What insta calls the snapshot.
    pub fn snapshot_name(&self) -> String {
        let stem = self.file.file_stem().expect("is a file").to_string_lossy();
        match self.name.split_once('#') {
            Some((_, chunk)) => format!("{stem}.{chunk}"),
            None => stem.into_owned(),
        }
    }

    /// The snapshot's file.
    pub fn snapshot_path(&self) -> PathBuf {
        self.file.with_file_name(format!("{}.snap", self.snapshot_name()))
    }

    /// The command that shows the output, for a shell in the repository.
    pub fn reproduce(&self) -> String {
        let file = self.file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&self.file).display().to_string();
        let quote = |a: &String| if a.contains(['(', ' ', '{']) { format!("'{a}'") } else { a.clone() };
        let line: Vec<String> = self.args.iter().map(quote).collect();
        let line = format!("gradus {}", line.join(" "));
        if !self.one_of_several {
            return format!("reproduce with: {}", line.replace("%s", &file));
        }
        let (first, last) = self.lines;
        format!("reproduce with: sed -n '{first},{last}p' {file} | {}", line.replace("%s", "-"))
    }
}

/// The cases of a file. An error for a file that is not a golden file, or asserts nothing.
pub fn read_file(folder: &Path, file: &Path, work: &Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let args = run_line(&text)?;
    let relative = file.strip_prefix(folder).expect("is inside").with_extension("");
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = std::iter::once(0)
        .chain((0..lines.len()).filter(|&i| lines[i].starts_with("// -----")).map(|i| i + 1))
        .collect();
    let mut cases = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(lines.len(), |next| next - 1);
        let chunk = &lines[start..end];
        if chunk.iter().any(|l| l.contains("// CHECK")) {
            return Err("CHECK lines are not supported: the whole output is compared with the snapshot".into());
        }
        if chunk.iter().all(|l| l.trim().is_empty() || l.trim_start().starts_with("//")) {
            return Err(format!("the chunk from line {} on is empty, so it asserts nothing", start + 1));
        }
        let expected = expectations(chunk, start + 1)?;
        if expected.is_empty() && relative.starts_with("errors") {
            return Err(format!("the chunk from line {} on is among the errors, but expects none", start + 1));
        }
        let several = starts.len() > 1;
        let name = relative.display().to_string() + &if several { format!("#{}", i + 1) } else { String::new() };
        let input = work.join(format!("{}.mlir", name.replace(['/', '#'], "-")));
        // Empty lines in front keep the line numbers of the golden file in messages.
        let padded = format!("{}{}\n", "\n".repeat(start), chunk.join("\n"));
        std::fs::write(&input, padded).map_err(|e| e.to_string())?;
        let (file, args, lines) = (file.to_owned(), args.clone(), (start + 1, end));
        cases.push(Case { name, file, lines, one_of_several: several, input, args, expected });
    }
    Ok(cases)
}

/// The arguments of the first line.
fn run_line(text: &str) -> Result<Vec<String>, String> {
    let line = text.lines().next().unwrap_or("");
    let words = line.strip_prefix("// RUN: gradus ").map(split).unwrap_or_default();
    let good = words.first().is_some_and(|w| w == "opt") && words.iter().filter(|w| *w == "%s").count() == 1;
    if good { Ok(words) } else { Err("the first line must be '// RUN: gradus opt %s ...'".into()) }
}

/// Splits a command line as a shell does, as far as quotes go.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}
