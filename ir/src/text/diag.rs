//! Diagnostics: a message, its location and notes, rendered like clang and mlir-opt: `file:line:col: error: message`,
//! the source line, a caret.

use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::Attr;
use crate::module::Op;
use crate::text::loc::Loc;
use std::fmt::Write;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the field's own")]
pub enum Severity {
    Error,
    Warning,
    Remark,
    Note,
}

impl Severity {
    /// Returns the label in the output.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// A message at a location, with notes at other locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The location.
    pub loc: Loc,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// Attached notes, in order.
    pub notes: Vec<(Loc, String)>,
    /// The op concerned, if any.
    pub op: Option<Op>,
    /// The op that a pass refused, if this is the remark on it.
    pub refused: Option<Box<Refused>>,
}

/// An op that a pass refused, as tools count it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Refused {
    /// The place where it stays, such as `on the host`.
    pub stays: &'static str,
    /// The op's name.
    pub op: String,
    /// The violated rule.
    pub rule: String,
}

impl Diagnostic {
    /// Creates an error.
    pub fn error(loc: Loc, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            loc,
            message: message.into(),
            notes: Vec::new(),
            op: None,
            refused: None,
        }
    }

    /// Creates a warning.
    pub fn warning(loc: Loc, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(loc, message) }
    }

    /// Creates a remark.
    pub fn remark(loc: Loc, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Remark, ..Diagnostic::error(loc, message) }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Sets the op concerned.
    #[must_use]
    pub fn about(mut self, op: Op) -> Diagnostic {
        self.op = Some(op);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, loc: Loc, message: impl Into<String>) -> Diagnostic {
        self.notes.push((loc, message.into()));
        self
    }

    /// Renders the diagnostic with its notes, ending in a newline.
    pub fn render(&self, ctx: &Context) -> String {
        let mut out = String::new();
        render_one(ctx, self.severity, self.loc, &self.message, true, &mut out);
        let mut last = self.loc;
        for (loc, message) in &self.notes {
            // A repeated source line is omitted.
            render_one(ctx, Severity::Note, *loc, message, *loc != last, &mut out);
            last = *loc;
        }
        out
    }
}

/// Maximum length of an excerpt in bytes; longer source lines are cut to a window around the caret.
const MAX_LINE: usize = 160;

fn render_one(ctx: &Context, severity: Severity, loc: Loc, message: &str, show_line: bool, out: &mut String) {
    let word = severity.word();
    let Some((file, offset)) = loc.as_source() else {
        let _ = writeln!(out, "{}: {word}: {message}", describe(ctx, loc.to_attr(ctx)));
        return;
    };
    let source = ctx.source(file);
    let (line, col) = source.line_col(offset.min(source.text.len()));
    let _ = writeln!(out, "{}:{line}:{col}: {word}: {message}", ctx.text(source.name));
    let (text, column) = excerpt(&source.text, offset.min(source.text.len()));
    if show_line && !text.trim().is_empty() {
        let _ = writeln!(out, "{text}\n{:column$}^", "");
    }
}

/// Returns the source line at `offset`, cut to a window if it is long, and the caret's column in characters.
fn excerpt(text: &str, offset: usize) -> (String, usize) {
    let offset = (0..=offset).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let mut start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let mut end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
    if end - start > MAX_LINE {
        start = (start.max(offset.saturating_sub(MAX_LINE / 2))..=offset)
            .find(|&i| text.is_char_boundary(i))
            .unwrap_or(offset);
        end = (offset..=end.min(offset + MAX_LINE / 2)).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(offset);
    }
    let clean = |s: &str| s.replace(|c: char| c.is_control(), " ");
    (clean(text[start..end].trim_end_matches('\r')), text[start..offset].chars().count())
}

/// Renders a location attribute.
fn describe(ctx: &Context, loc: Attr) -> String {
    match ctx.attr_data(loc) {
        AttrData::LocFile { file, pos } => format!("{}:{}:{}", ctx.text(*file), pos[0], pos[1]),
        AttrData::LocName { name, .. } => format!("\"{}\"", ctx.text(*name)),
        AttrData::LocCallSite { callee, .. } => describe(ctx, *callee),
        AttrData::LocFused { locs, .. } if !locs.is_empty() => describe(ctx, locs[0]),
        _ => "<unknown>".to_owned(),
    }
}

/// Returns the candidate nearest to `word`, if near enough to be a typing error.
pub fn suggest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let length = word.chars().count();
    // At least one character must match.
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    candidates
        .filter(|c| c.len().abs_diff(word.len()) <= limit)
        .map(|c| (strsim::osa_distance(word, c), c))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, c)| c)
}

/// Returns the end of a message about an unknown name: `; did you mean 'x'?` with the candidate that [`suggest`] finds,
/// or the empty string.
pub fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    suggest(name, candidates).map_or(String::new(), |near| format!("; did you mean '{near}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn suggestions_are_near_names_only() {
        let names = ["arith.addi", "arith.addf", "func.call"];
        assert_eq!(suggest("arith.adid", names.into_iter()), Some("arith.addi"));
        assert_eq!(suggest("arith.ddf", names.into_iter()), Some("arith.addf"));
        assert_eq!(suggest("scf.for", names.into_iter()), None);
    }

    #[test]
    fn a_caret_points_at_the_byte() {
        let ctx = Context::new(&[]);
        let file = ctx.add_source("f.mlir", Arc::new("a\n  bcd\n".to_owned()));
        let d = Diagnostic::error(Loc::source(file, 5), "bad").note(Loc::UNKNOWN, "see there");
        assert_eq!(d.render(&ctx), "f.mlir:2:4: error: bad\n  bcd\n   ^\n<unknown>: note: see there\n");
    }
}
