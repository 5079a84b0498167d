//! `--verify-diagnostics`: comments in the program state the expected diagnostics. Unexpected and missing diagnostics
//! are errors. Rules and messages follow mlir-opt:
//!
//! ```mlir
//! // expected-error@+1 {{part of the message}}
//! // expected-note@below {{on the next line without such a comment}}
//! // expected-warning@above {{on the previous line without such a comment}}
//! // expected-remark@unknown {{without a place in the file}}
//! // expected-error-re@-2 {{with a regular expression: {{[0-9]+}} bytes}}
//! ```
//!
//! A line has at most one, at its end. Notes that only Gradus adds as a hint need not be listed.

use gradus_filecheck::ere::{self, Flags, Regex, RegexNode};
use gradus_ir::diag::Severity;
use gradus_ir::{Attr, AttrData, Context, Diagnostic, Loc};
use std::fmt::Write;
use std::sync::Arc;

/// The severities, spelled as in comments.
const SEVERITIES: [Severity; 4] = [Severity::Error, Severity::Warning, Severity::Remark, Severity::Note];
/// Beginnings of hint notes, which mlir-opt does not emit.
const HINTS: [&str; 5] =
    ["did you mean ", "first defined here", "opened here", "in a region of this operation", "defined here, but "];

/// The strictness of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Unexpected and missing diagnostics are errors.
    All,
    /// Only missing diagnostics are errors.
    OnlyExpected,
}

/// An expected diagnostic.
struct Expected {
    severity: Severity,
    /// Its 1-based line; `None` for a diagnostic without a location.
    line: Option<i64>,
    /// Byte offset of the comment.
    place: usize,
    /// The text that the message contains.
    text: String,
    /// The regular expression, for `-re`.
    regex: Option<Regex>,
    matched: bool,
}

/// The comparison of the diagnostics of a file with the expected ones.
pub struct Verifier {
    ctx: Arc<Context>,
    name: String,
    source: u32,
    level: Level,
    expected: Vec<Expected>,
    failed: bool,
    report: String,
}

impl Verifier {
    /// Parses the comments of a file.
    pub fn new(name: &str, text: &Arc<String>, level: Level) -> Verifier {
        let ctx = Context::new(&[]);
        let source = ctx.add_source(name, text.clone());
        let (expected, failed) = (Vec::new(), false);
        let mut v = Verifier { ctx, name: name.to_owned(), source, level, expected, failed, report: String::new() };
        v.read(text);
        v
    }

    /// Compares a diagnostic and its notes.
    pub(crate) fn process(&mut self, ctx: &Context, d: &Diagnostic) {
        self.one(ctx, d.severity, d.loc, &d.message);
        for (loc, message) in &d.notes {
            self.one(ctx, Severity::Note, *loc, message);
        }
    }

    /// Returns whether all expectations hold, and the rendered errors otherwise.
    pub fn finish(mut self) -> (bool, String) {
        let missing = std::mem::take(&mut self.expected).into_iter().filter(|e| !e.matched);
        // Expectations without a line come last.
        let (here, nowhere): (Vec<Expected>, Vec<Expected>) = missing.partition(|e| e.line.is_some());
        for e in here.iter().chain(&nowhere) {
            let message = format!("expected {} \"{}\" was not produced", e.severity.word(), e.text);
            self.complain(e.line.is_some().then_some(e.place), &message, e.text.len());
        }
        (!self.failed, self.report)
    }

    fn read(&mut self, text: &str) {
        // The last line with other contents than such a comment, and the comments that refer to the next one.
        let (mut last, mut waiting) = (1, Vec::new());
        let mut start = 0;
        let count = text.split('\n').count() as i64;
        for (i, line) in text.split('\n').enumerate() {
            let number = i as i64 + 1;
            if let Some(found) = comment(line) {
                let line = match found.place {
                    Some(LineSpecifier::Offset(n)) => Some(number.saturating_add(n)),
                    Some(LineSpecifier::Above) => Some(last),
                    Some(LineSpecifier::Below) => Some(count),
                    Some(LineSpecifier::Unknown) => None,
                    None => Some(number),
                };
                if self.add(&found, line, start + found.start) && found.place == Some(LineSpecifier::Below) {
                    waiting.push(self.expected.len() - 1);
                }
            } else {
                waiting.drain(..).for_each(|e: usize| self.expected[e].line = Some(number));
                last = number;
            }
            start += line.len() + 1;
        }
    }

    fn add(&mut self, found: &Comment<'_>, line: Option<i64>, place: usize) -> bool {
        let regex = match found.is_regex.then(|| regex(found.text)).transpose() {
            Ok(regex) => regex,
            Err(message) => {
                self.complain(Some(place), &message, found.text.len());
                return false;
            }
        };
        let text = found.text.to_owned();
        self.expected.push(Expected { severity: found.severity, line, place, text, regex, matched: false });
        true
    }

    fn one(&mut self, ctx: &Context, severity: Severity, loc: Loc, message: &str) {
        let line = self.line_of(ctx, loc);
        let mut near = None;
        for e in &mut self.expected {
            let here = match line {
                Some(line) => line.is_some() && e.line == line,
                None => e.line.is_none(),
            };
            if !here || !e.fits(message) {
                continue;
            }
            if e.severity == severity {
                e.matched = true;
                return;
            }
            near = Some((e.line.is_some().then_some(e.place), e.severity));
        }
        let hint = severity == Severity::Note && HINTS.iter().any(|h| message.starts_with(h));
        if self.level == Level::OnlyExpected || hint {
            return;
        }
        if let Some((place, expected)) = near {
            let text = format!("'{}' diagnostic emitted when expecting a '{}'", severity.word(), expected.word());
            self.complain(place, &text, 0);
            return;
        }
        self.failed = true;
        let text = format!("unexpected {}: {message}", severity.word());
        self.report += &Diagnostic::error(loc, text).render(ctx);
    }

    /// Returns the line of a location: `None` without a location, `Some(None)` in another file.
    fn line_of(&self, ctx: &Context, loc: Loc) -> Option<Option<i64>> {
        let (file, line) = match loc.as_source() {
            Some((source, offset)) => {
                let source = ctx.source(source);
                (source.name, source.line_col(offset.min(source.text.len())).0)
            }
            None => file_line(ctx, loc.to_attr(ctx))?,
        };
        Some((ctx.text(file) == self.name).then_some(i64::from(line)))
    }

    /// Reports an error at a comment and underlines `len` bytes.
    fn complain(&mut self, place: Option<usize>, message: &str, len: usize) {
        self.failed = true;
        let Some(place) = place else {
            let _ = writeln!(self.report, "<unknown>:0: error: {message}");
            return;
        };
        let mut text = Diagnostic::error(Loc::source(self.source, place), message).render(&self.ctx);
        let line = self.ctx.source(self.source).text[place..].split('\n').next().unwrap_or("");
        text.truncate(text.trim_end().len());
        let _ = writeln!(self.report, "{text}{}", "~".repeat(len.min(line.len()).saturating_sub(1)));
    }
}

impl Expected {
    fn fits(&self, message: &str) -> bool {
        match &self.regex {
            // A match that exceeds the complexity limit counts as no match.
            Some(regex) => regex.find(message.as_bytes()).is_ok_and(|found| found.is_some()),
            None => message.contains(&self.text),
        }
    }
}

/// Returns the file and line of a location: those of its first file location.
fn file_line(ctx: &Context, loc: Attr) -> Option<(gradus_ir::Str, u32)> {
    let mut work = vec![loc];
    while let Some(loc) = work.pop() {
        match ctx.attr_data(loc) {
            AttrData::LocFile { file, pos } => return Some((*file, pos[0])),
            AttrData::LocName { child, .. } => work.push(*child),
            AttrData::LocCallSite { callee, caller } => work.extend([*caller, *callee]),
            AttrData::LocFused { locs, .. } => work.extend(locs.iter().rev()),
            _ => {}
        }
    }
    None
}

/// The line specifier after `@` in a comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineSpecifier {
    Offset(i64),
    Above,
    Below,
    Unknown,
}

/// A comment that states an expected diagnostic.
struct Comment<'a> {
    start: usize,
    severity: Severity,
    is_regex: bool,
    place: Option<LineSpecifier>,
    text: &'a str,
}

/// Returns the comment in a line.
fn comment(line: &str) -> Option<Comment<'_>> {
    let line = line.trim_end();
    line.match_indices("expected-").find_map(|(start, _)| parse(line, start))
}

fn parse(line: &str, start: usize) -> Option<Comment<'_>> {
    let rest = &line[start + "expected-".len()..];
    let severity = SEVERITIES.into_iter().find(|s| rest.starts_with(s.word()))?;
    let rest = &rest[severity.word().len()..];
    let (is_regex, rest) = rest.strip_prefix("-re").map_or((false, rest), |r| (true, r));
    let rest = rest.trim_start_matches(' ');
    let (place, rest) = match rest.strip_prefix('@') {
        Some(rest) => read_place(rest).map(|(place, rest)| (Some(place), rest))?,
        None => (None, rest),
    };
    let text = rest.trim_start_matches(' ').strip_prefix("{{")?.strip_suffix("}}")?;
    Some(Comment { start, severity, is_regex, place, text })
}

fn read_place(rest: &str) -> Option<(LineSpecifier, &str)> {
    for (word, place) in
        [("above", LineSpecifier::Above), ("below", LineSpecifier::Below), ("unknown", LineSpecifier::Unknown)]
    {
        if let Some(rest) = rest.strip_prefix(word) {
            return Some((place, rest));
        }
    }
    let sign = if rest.starts_with('+') { 1 } else { -1 };
    let digits = rest.strip_prefix(['+', '-'])?;
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    // Larger numbers than any line number behave alike.
    let n: i64 = if len == 0 { return None } else { digits[..len].parse().unwrap_or(i64::from(u32::MAX)) };
    Some((LineSpecifier::Offset(sign * n), &digits[len..]))
}

/// Parses text with embedded `{{regular expressions}}`.
fn regex(text: &str) -> Result<Regex, String> {
    let (mut nodes, mut rest, mut groups) = (Vec::new(), text, 0);
    while let Some((literal, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").ok_or("found start of regex with no end '}}'")?;
        nodes.push(RegexNode::Literal(literal.as_bytes().to_vec()));
        let parsed = ere::parse(inner.as_bytes(), groups + 2, Flags::default());
        let (node, more) = parsed.map_err(|e| format!("invalid regex: {e}"))?;
        groups += 1;
        nodes.push(RegexNode::Group(groups, Box::new(node)));
        groups += more;
        rest = after;
    }
    nodes.push(RegexNode::Literal(rest.as_bytes().to_vec()));
    Regex::new(&nodes, &[], false).map_err(|e| format!("invalid regex: {e}"))
}

/// Whether the text contains expected diagnostics.
pub fn expects_any(text: &str) -> bool {
    text.lines().any(|line| comment(line).is_some())
}

/// Returns the 1-based lines that mention an expected diagnostic with wrong syntax, which mlir-opt ignores.
pub fn near_misses(text: &str) -> Vec<usize> {
    let words = SEVERITIES.map(|s| format!("expected-{}", s.word()));
    let missed = |line: &str| words.iter().any(|w| line.contains(w)) && comment(line).is_none();
    text.lines().enumerate().filter(|(_, line)| missed(line)).map(|(i, _)| i + 1).collect()
}
