//! RUN lines: the commands of a test in comments at its top, with lit's syntax, executed in process.
//!
//! ```mlir
//! // RUN: gradus opt %s --cse | FileCheck %s
//! // RUN: not gradus opt %s --cze 2>&1 | \
//! // RUN:   FileCheck %s --check-prefix=ERR
//! ```
//!
//! A line is a pipeline of commands of the tool and `FileCheck`, each optionally preceded by `not`, with `%s` for the
//! file. Of the shell, only quotes, `2>&1`, `< %s` and a trailing backslash are supported.

use crate::io::SharedBuffer;
use crate::{Streams, Tool};
use std::ffi::OsString;

/// The keyword of a RUN line.
const KEYWORD: &str = "RUN:";

/// A command of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stage {
    /// Whether the command is expected to fail: `not`.
    pub inverted: bool,
    /// The command and its arguments, with `%s`.
    pub words: Vec<String>,
    /// Whether standard error is redirected to standard output: `2>&1`.
    pub errors_too: bool,
    /// The file redirected to standard input, with `%s`.
    pub input: Option<String>,
}

impl Stage {
    /// Whether the command is FileCheck.
    pub fn is_check(&self) -> bool {
        let words: Vec<&str> = self.words.iter().take(2).map(String::as_str).collect();
        matches!(words[..], ["FileCheck", ..] | [_, "filecheck"])
    }

    /// Returns the directive prefixes of a FileCheck command.
    pub fn prefixes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
            if matches!(name.trim_start_matches('-'), "check-prefix" | "check-prefixes") && name.starts_with('-') {
                let value = value.or_else(|| words.next().map(String::as_str)).unwrap_or("");
                found.extend(value.split(',').map(str::to_owned));
            }
        }
        if found.is_empty() { vec!["CHECK".into()] } else { found }
    }

    /// Returns the arguments of the tool, with `file` for `%s`.
    fn arguments(&self, tool: &Tool, file: &str) -> Vec<OsString> {
        let (first, rest) = self.words.split_first().expect("a command has a name");
        let fixed: &[&str] = if first == "FileCheck" { &[tool.name, "filecheck"] } else { &[tool.name] };
        let words = fixed.iter().map(|w| OsString::from(*w));
        words.chain(rest.iter().map(|w| OsString::from(w.replace("%s", file)))).collect()
    }
}

/// The commands of a RUN line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// The 1-based line of the file on which it begins.
    pub line: usize,
    /// The commands, at least one.
    pub stages: Vec<Stage>,
    /// The source text of the pipeline.
    pub text: String,
}

/// The result of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The exit status of the last command that failed, or 0.
    pub status: u8,
    /// Standard output of the last command.
    pub out: Vec<u8>,
    /// Standard error of all commands.
    pub err: Vec<u8>,
}

/// Parses the RUN lines of a file. A line with unsupported shell syntax or another command is an error.
pub fn pipelines(tool: &Tool, text: &str) -> Result<Vec<Pipeline>, String> {
    let mut found: Vec<Pipeline> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (i, line) in text.lines().enumerate() {
        let Some((_, command)) = line.split_once(KEYWORD) else { continue };
        let (number, mut whole) = open.take().unwrap_or((i + 1, String::new()));
        let command = command.trim();
        whole += command.strip_suffix('\\').unwrap_or(command);
        if command.ends_with('\\') {
            open = Some((number, whole));
        } else {
            found.push(pipeline(tool, number, whole.trim()).map_err(|e| format!("line {number}: {e}"))?);
        }
    }
    match open {
        Some((number, _)) => Err(format!("line {number}: the RUN line goes on, but there is no next one")),
        None => Ok(found),
    }
}

fn pipeline(tool: &Tool, line: usize, text: &str) -> Result<Pipeline, String> {
    let mut stages = vec![Stage::default()];
    let mut words = tokens(text)?.into_iter();
    while let Some(token) = words.next() {
        let stage = stages.last_mut().expect("there is one");
        match token {
            Token::Word(word) if word == "not" && stage.words.is_empty() => stage.inverted = true,
            Token::Word(word) => stage.words.push(word),
            Token::ErrorsToo => stage.errors_too = true,
            Token::Pipe => stages.push(Stage::default()),
            Token::Input => match words.next() {
                Some(Token::Word(word)) => stage.input = Some(word),
                _ => return Err("'<' needs a file".into()),
            },
        }
    }
    for stage in &stages {
        match stage.words.first().map(String::as_str) {
            Some(word) if word == tool.name || word == "FileCheck" => {}
            Some(other) => return Err(format!("'{other}' cannot be run: there are {}, FileCheck, and not", tool.name)),
            None => return Err("a command is missing".into()),
        }
        let other = |w: &&String| w.match_indices('%').any(|(i, _)| !w[i..].starts_with("%s"));
        if let Some(word) = stage.words.iter().filter(|_| !stage.is_check()).find(other) {
            return Err(format!("'{word}': only %s is replaced"));
        }
    }
    Ok(Pipeline { line, stages, text: text.to_owned() })
}

enum Token {
    Word(String),
    Pipe,
    ErrorsToo,
    Input,
}

/// Splits a command line by the supported rules of a shell.
fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = if quote.is_none() && rest.starts_with("2>&1") && word.is_none() { 4 } else { c.len_utf8() };
        let operator = match (c, quote) {
            _ if len == 4 && c == '2' => Some(Token::ErrorsToo),
            ('|', None) => Some(Token::Pipe),
            ('<', None) => Some(Token::Input),
            ('>' | '&' | ';' | '$' | '`' | '(' | ')' | '\\', None) => {
                return Err(format!("'{c}' is not understood here"));
            }
            _ => None,
        };
        match (c, quote) {
            _ if operator.is_some() => tokens.extend(word.take().map(Token::Word).into_iter().chain(operator)),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ' | '\t', None) => tokens.extend(word.take().map(Token::Word)),
            (c, None) => word.get_or_insert_default().push(c),
        }
        rest = &rest[len..];
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

impl Pipeline {
    /// Returns the last command, if it is FileCheck.
    pub fn check(&self) -> Option<&Stage> {
        self.stages.last().filter(|s| s.is_check())
    }

    /// Runs all commands, with `file` for `%s`.
    pub fn run(&self, tool: &Tool, file: &str) -> Output {
        execute(tool, &self.stages, file)
    }

    /// Runs all commands except the last.
    pub fn run_before_check(&self, tool: &Tool, file: &str) -> Output {
        execute(tool, &self.stages[..self.stages.len() - 1], file)
    }
}

fn execute(tool: &Tool, stages: &[Stage], file: &str) -> Output {
    let mut all = Output::default();
    for stage in stages {
        let input = match &stage.input {
            None => std::mem::take(&mut all.out),
            Some(path) => match std::fs::read(path.replace("%s", file)) {
                Ok(bytes) => bytes,
                Err(e) => {
                    all.err.extend(format!("error: cannot read '{path}': {e}\n").bytes());
                    all.status = 1;
                    continue;
                }
            },
        };
        let (out, err) = (SharedBuffer::default(), SharedBuffer::default());
        let (mut to_out, mut to_err) = (out.clone(), if stage.errors_too { out.clone() } else { err.clone() });
        let status =
            tool.run(stage.arguments(tool, file), &mut Streams::new(&mut to_out, &mut to_err).with_input(&input));
        all.out = out.take();
        all.err.extend(err.take());
        match (status, stage.inverted) {
            (0, false) => {}
            (0, true) => all.status = 1,
            (failed, false) => all.status = failed,
            (_, true) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match pipelines(&Tool::gradus(), text) {
            Err(e) => e,
            Ok(all) => {
                all.iter().map(|p| format!("{:?}", p.stages.iter().map(|s| &s.words).collect::<Vec<_>>())).collect()
            }
        }
    }

    #[test]
    fn lines_are_divided_as_by_a_shell() {
        assert_eq!(
            shown("// RUN: gradus opt %s --p='a b|c' 2>&1 | FileCheck %s"),
            r#"[["gradus", "opt", "%s", "--p=a b|c"], ["FileCheck", "%s"]]"#
        );
        assert_eq!(shown("// RUN: gradus opt \\\n// RUN:   %s\nmodule {}"), r#"[["gradus", "opt", "%s"]]"#);
        let all = pipelines(&Tool::gradus(), "// RUN: not gradus opt - < %s 2>&1").unwrap();
        let stage = &all[0].stages[0];
        assert!(stage.inverted && stage.errors_too && stage.input.as_deref() == Some("%s"), "{stage:?}");
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        assert_eq!(shown("// RUN: cat %s"), "line 1: 'cat' cannot be run: there are gradus, FileCheck, and not");
        assert_eq!(shown("\n// RUN: gradus opt %s > %t"), "line 2: '>' is not understood here");
        assert_eq!(shown("// RUN: gradus opt %t"), "line 1: '%t': only %s is replaced");
        assert_eq!(shown("// RUN: gradus opt '%s"), "line 1: a quote is not closed");
        assert_eq!(shown("// RUN: gradus opt |"), "line 1: a command is missing");
        assert_eq!(shown("// RUN: gradus opt \\"), "line 1: the RUN line goes on, but there is no next one");
    }

    #[test]
    fn pipelines_run() {
        let tool = Tool::gradus();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f.mlir").display().to_string();
        let text = "// RUN: gradus opt %s | gradus opt | FileCheck %s\n// RUN: gradus opt %s | not FileCheck %s -check-prefix=B\n\
                    // CHECK: func.func private @f()\n// B: @g\nfunc.func private @f()\n";
        std::fs::write(&file, text).unwrap();
        for pipeline in pipelines(&tool, text).unwrap() {
            let output = pipeline.run(&tool, &file);
            assert_eq!(output.status, 0, "{}", String::from_utf8_lossy(&output.err));
        }
    }
}
