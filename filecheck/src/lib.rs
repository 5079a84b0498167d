//! FileCheck: whether a text matches the `CHECK` lines of a file. Syntax, semantics and exit status are those of LLVM
//! 22's tool; in addition, misspelt directives are errors (see [`near_miss`]).
//!
//! ```
//! use gradus_filecheck::{Options, Text, Verdict, check};
//!
//! let checks = Text { name: "f.mlir", bytes: b"// CHECK: [[V:%.*]] = arith.addi\n// CHECK-NEXT: return [[V]]\n" };
//! let input = Text { name: "<stdin>", bytes: b"  %0 = arith.addi %a, %b : i32\n  return %0 : i32\n" };
//! assert_eq!(check(&Options::default(), checks, input).verdict, Verdict::Pass);
//! ```
//!
//! A check file is parsed into directives ([`check_file`]), whose patterns ([`pattern`]) are sequences of text, regular expressions
//! and variables; [`number`] has the numeric ones. [`run`] matches them in order against the input, and [`report`]
//! formats failures.

mod check_file;
mod directive;
pub mod ere;
mod format;
mod near_miss;
mod number;
mod pattern;
mod report;
mod run;
mod source;
#[cfg(test)]
mod tests;
mod variables;

pub use directive::{Location, directive_places};

use report::Report;
use source::{SourceText, Sources};

/// A text with its name in messages.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The name.
    pub name: &'a str,
    /// The text, which need not be UTF-8.
    pub bytes: &'a [u8],
}

/// The conditions under which the annotated input is dumped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Dump {
    /// Never.
    Never,
    /// If a check failed.
    #[default]
    Fail,
    /// Always, in full.
    Always,
}

/// The lines of the input to dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    /// All lines.
    All,
    /// Annotated lines with context.
    Annotation,
    /// Lines with errors, with context.
    Error,
}

/// The command-line options; each field has the flag's name.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the command's help says what they mean")]
pub struct Options {
    pub check_prefixes: Vec<String>,
    pub comment_prefixes: Vec<String>,
    pub implicit_check_not: Vec<String>,
    pub defines: Vec<String>,
    pub match_full_lines: bool,
    pub strict_whitespace: bool,
    pub ignore_case: bool,
    pub enable_var_scope: bool,
    pub allow_empty: bool,
    pub allow_unused_prefixes: bool,
    pub allow_deprecated_dag_overlap: bool,
    pub allow_near_misses: bool,
    pub dump_input: Dump,
    /// Default: errors, or all lines if the input is always dumped.
    pub dump_input_filter: Option<Filter>,
    pub dump_input_context: usize,
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            check_prefixes: Vec::new(),
            comment_prefixes: Vec::new(),
            implicit_check_not: Vec::new(),
            defines: Vec::new(),
            match_full_lines: false,
            strict_whitespace: false,
            ignore_case: false,
            enable_var_scope: false,
            allow_empty: false,
            allow_unused_prefixes: false,
            allow_deprecated_dag_overlap: false,
            allow_near_misses: false,
            dump_input: Dump::Fail,
            dump_input_filter: None,
            dump_input_context: 5,
            verbose: false,
        }
    }
}

impl Options {
    /// Returns the prefixes of directives.
    pub fn prefixes(&self) -> Vec<&str> {
        or_default(&self.check_prefixes, &["CHECK"])
    }

    /// Returns the prefixes that turn the rest of a line into a comment.
    pub fn comments(&self) -> Vec<&str> {
        or_default(&self.comment_prefixes, &["COM", "RUN"])
    }
}

fn or_default<'a>(given: &'a [String], default: &[&'a str]) -> Vec<&'a str> {
    if given.is_empty() { default.to_vec() } else { given.iter().map(String::as_str).collect() }
}

/// The result of a check; the discriminants are exit statuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The input matches.
    Pass = 0,
    /// The input does not match.
    Fail = 1,
    /// The check file is invalid, or there is nothing to check.
    Unusable = 2,
}

/// The result of a check with its report.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub verdict: Verdict,
    /// The printable report.
    pub report: String,
}

/// Checks `input` against the directives in `checks`.
pub fn check(options: &Options, checks: Text<'_>, input: Text<'_>) -> Outcome {
    let unusable = |report: String| Outcome { verdict: Verdict::Unusable, report };
    if let Err(message) = validate_prefixes(options) {
        return unusable(format!("error: {message}\n"));
    }
    if input.bytes.is_empty() && !options.allow_empty {
        return unusable(format!("error: '{}' is empty; --allow-empty accepts that\n", input.name));
    }
    let mut sources = Sources::new(SourceText::read(checks, options), SourceText::read(input, options));
    let file = match check_file::read(options, &mut sources) {
        Ok(file) => file,
        Err(messages) => {
            let mut report = Report::default();
            messages.iter().for_each(|m| report.say(&sources, m));
            return unusable(report.text);
        }
    };
    let mut report = Report::default();
    let passed = run::run(options, &sources, file, &mut report);
    let dump = match options.dump_input {
        Dump::Never => false,
        Dump::Fail => !passed,
        Dump::Always => true,
    };
    if dump {
        report.dump(options, &sources);
    }
    Outcome { verdict: if passed { Verdict::Pass } else { Verdict::Fail }, report: report.text }
}

fn validate_prefixes(options: &Options) -> Result<(), String> {
    let (checks, comments) = (options.prefixes(), options.comments());
    let given = options.check_prefixes.iter().map(|p| ("check", p));
    for (kind, prefix) in given.chain(options.comment_prefixes.iter().map(|p| ("comment", p))) {
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if prefix.is_empty() {
            return Err(format!("supplied {kind} prefix must not be the empty string"));
        }
        if !prefix.bytes().all(word) {
            return Err(format!(
                "supplied {kind} prefix must start with a letter and contain only alphanumeric characters, hyphens, and \
                 underscores: '{prefix}'"
            ));
        }
        if checks.iter().chain(&comments).filter(|p| *p == prefix).count() > 1 {
            return Err(format!("supplied {kind} prefix must be unique among check and comment prefixes: '{prefix}'"));
        }
    }
    Ok(())
}
