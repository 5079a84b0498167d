//! A chunk of a golden file as a test case.

use crate::shown;
use gradus::Tool;
use gradus::runline::{Pipeline, Stage};
use std::path::PathBuf;
use std::sync::Arc;

/// One chunk.
pub struct Case {
    /// The tool whose commands run.
    pub tool: Arc<Tool>,
    /// Name such as `passes/cse/basic`, with `#2` for the second of several chunks.
    pub name: String,
    /// The golden file.
    pub file: PathBuf,
    /// The first and last line of the chunk in the file.
    pub lines: (usize, usize),
    /// Whether the file has other chunks.
    pub one_of_several: bool,
    /// A temporary file with only this chunk, at its original line numbers.
    pub input: PathBuf,
    /// The RUN lines.
    pub runs: Vec<Pipeline>,
    /// Whether the chunk expects diagnostics.
    pub expects: bool,
}

impl Case {
    fn first(&self) -> &Stage {
        &self.runs[0].stages[0]
    }

    /// Returns the chunk's file as an argument.
    pub fn input_name(&self) -> &str {
        self.input.to_str().expect("temporary files have plain names")
    }

    /// Whether the first command is expected to accept the file without diagnostics.
    pub fn is_good(&self) -> bool {
        !self.first().inverted
    }

    /// Whether the first command checks passes by execution.
    pub fn is_run(&self) -> bool {
        self.first().words.get(1).is_some_and(|word| word == "check")
    }

    /// Returns the arguments of the first command of the first RUN line, with the chunk's file for `%s`.
    pub fn command(&self) -> Vec<String> {
        let words = self.first().words[1..].iter().map(|a| a.replace("%s", self.input_name()));
        words.chain(self.first().input.iter().map(|_| self.input_name().to_owned())).collect()
    }

    /// Returns the arguments of [`Case::command`], with or without `--verify-diagnostics`.
    pub fn command_verifying(&self, verifying: bool) -> Vec<String> {
        let is_flag = |a: &String| a.starts_with("--verify-diagnostics");
        let mut command = self.command();
        if !verifying {
            command.retain(|a| !is_flag(a));
        } else if !command.iter().any(is_flag) {
            command.push("--verify-diagnostics".into());
        }
        command
    }

    /// Returns the flags that affect parsing.
    pub fn reading_flags(&self) -> Vec<String> {
        self.command().into_iter().filter(|a| *a == "--allow-unregistered-dialect").collect()
    }

    /// Whether the command runs passes.
    pub fn has_passes(&self) -> bool {
        let is_pass = |a: &String| {
            let name = a.trim_start_matches("--").split('=').next().unwrap_or("");
            name == "pass-pipeline" || self.tool.passes.iter().any(|p| p.name == name)
        };
        self.command().iter().any(is_pass)
    }

    /// Returns the snapshot name for insta.
    pub fn snapshot_name(&self) -> String {
        let stem = self.file.file_stem().expect("is a file").to_string_lossy();
        match self.name.split_once('#') {
            Some((_, chunk)) => format!("{stem}.{chunk}"),
            None => stem.into_owned(),
        }
    }

    /// Returns the snapshot's file.
    pub fn snapshot_path(&self) -> PathBuf {
        self.file.with_file_name(format!("{}.snap", self.snapshot_name()))
    }

    /// Returns the shell command that shows the output, relative to the package folder.
    pub fn reproduce(&self) -> String {
        let file = shown(&self.file);
        let line = &self.runs[0].text;
        if !self.one_of_several {
            return format!("reproduce with: {}", line.replace("%s", &file));
        }
        let (first, last) = self.lines;
        format!("reproduce with: sed -n '{first},{last}p' {file} | {}", line.replace("%s", "-"))
    }
}
