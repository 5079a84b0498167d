//! The directives in the text of a check file.

use crate::source::SourceText;
use crate::{Options, Text};
use std::collections::BTreeSet;

/// The kind of a directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectiveKind {
    /// `CHECK:`, or `CHECK-COUNT-n:` for repetitions: anywhere after the previous match.
    Plain(u32),
    /// On the next line.
    Next,
    /// On the same line.
    Same,
    /// Absent between the previous and the next match.
    Not,
    /// In any order with adjacent directives of this kind.
    Dag,
    /// Splits the input into parts that are checked independently.
    Label,
    /// The next line is empty.
    Empty,
    /// The end of the input.
    End,
}

/// The suffixes of directives, and the names of their annotations in the dump.
pub const SUFFIXES: [(&str, DirectiveKind); 6] = [
    ("NEXT", DirectiveKind::Next),
    ("SAME", DirectiveKind::Same),
    ("NOT", DirectiveKind::Not),
    ("DAG", DirectiveKind::Dag),
    ("LABEL", DirectiveKind::Label),
    ("EMPTY", DirectiveKind::Empty),
];

impl DirectiveKind {
    /// Returns the suffix such as `-NEXT`; empty for the plain kind.
    pub fn suffix(self) -> String {
        match self {
            DirectiveKind::Plain(1) => String::new(),
            DirectiveKind::Plain(_) => "-COUNT".into(),
            DirectiveKind::End => "implicit EOF".into(),
            kind => SUFFIXES.iter().find(|s| s.1 == kind).map_or(String::new(), |s| format!("-{}", s.0)),
        }
    }
}

/// The text between a prefix and the pattern.
pub enum Head {
    Comment,
    Directive(DirectiveKind, bool),
    Misspelled,
    BadNot,
    BadCount,
}

/// A directive in the text: `start` of its prefix, and `end` of the text before its pattern.
pub struct Hit {
    /// The index of its prefix among those of directives, then those of comments.
    pub prefix: usize,
    pub head: Head,
    pub start: usize,
    pub end: usize,
}

/// Returns the range of the pattern: from after the blanks behind the colon to the end of the line.
pub fn pattern_range(options: &Options, text: &[u8], colon: usize) -> (usize, usize) {
    let len = text[colon..].iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(text.len() - colon);
    let end = colon + len;
    if options.strict_whitespace && options.match_full_lines {
        return (colon, end);
    }
    let blanks = text[colon..end].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    (colon + blanks, end)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-' || b == b'_'
}

/// Returns all directives and comments in text order. Comment prefixes are numbered after the directive prefixes.
pub fn hits(options: &Options, text: &[u8]) -> Vec<Hit> {
    let (checks, comments) = (options.prefixes(), options.comments());
    let prefixes: Vec<&[u8]> = checks.iter().chain(&comments).map(|p| p.as_bytes()).collect();
    let mut found = Vec::new();
    let mut pos = 0;
    while pos < text.len() {
        // A prefix starts a word, so only word starts are tested.
        if !is_word(text[pos]) {
            pos += 1;
            continue;
        }
        let longest =
            prefixes.iter().enumerate().filter(|(_, p)| text[pos..].starts_with(p)).max_by_key(|(_, p)| p.len());
        let head = longest.and_then(|(i, p)| Some((i, head(text, pos + p.len(), i >= checks.len())?)));
        let Some((prefix, (head, end))) = head else {
            pos += text[pos..].iter().take_while(|b| is_word(**b)).count();
            continue;
        };
        let is_error = matches!(head, Head::Misspelled | Head::BadNot | Head::BadCount);
        found.push(Hit { prefix, head, start: pos, end });
        if is_error {
            break;
        }
        pos = pattern_range(options, text, end).1;
    }
    found
}

/// Returns the directive head at `pos`, after a prefix, and its end.
fn head(text: &[u8], pos: usize, comment: bool) -> Option<(Head, usize)> {
    let rest = &text[pos..];
    if comment {
        return rest.starts_with(b":").then_some((Head::Comment, pos + 1));
    }
    if let Some((literal, len)) = modifiers(rest) {
        return Some((Head::Directive(DirectiveKind::Plain(1), literal), pos + len));
    }
    let misspelled = rest.starts_with(b"_");
    if !misspelled && !rest.starts_with(b"-") {
        return None;
    }
    let (head, end) = suffix(text, pos + 1)?;
    Some((if misspelled { Head::Misspelled } else { head }, end))
}

/// Returns the directive head at `pos`, after a prefix and a hyphen.
fn suffix(text: &[u8], pos: usize) -> Option<(Head, usize)> {
    let rest = &text[pos..];
    if let Some(count) = rest.strip_prefix(b"COUNT-") {
        let digits = count.iter().take_while(|b| b.is_ascii_digit()).count();
        let n = std::str::from_utf8(&count[..digits])
            .ok()
            .and_then(|d| d.parse().ok())
            .filter(|n| (1..1 << 31).contains(n));
        let end = pos + 6 + digits;
        let colon = matches!(count.get(digits), Some(b':' | b'{'));
        return match n {
            Some(n) if colon => {
                modifiers(&count[digits..]).map(|(l, len)| (Head::Directive(DirectiveKind::Plain(n), l), end + len))
            }
            _ => Some((Head::BadCount, end)),
        };
    }
    let combined = ["DAG", "NEXT", "SAME", "EMPTY"].iter().any(|other| {
        let is = |s: String| rest.starts_with(s.as_bytes());
        is(format!("{other}-NOT:")) || is(format!("NOT-{other}:"))
    });
    if combined {
        return Some((Head::BadNot, pos));
    }
    let (name, kind) = SUFFIXES.iter().find(|s| rest.starts_with(s.0.as_bytes()))?;
    let (literal, len) = modifiers(&rest[name.len()..])?;
    Some((Head::Directive(*kind, literal), pos + name.len() + len))
}

/// Parses `:` or `{LITERAL}:`; returns whether it is literal, and its length.
fn modifiers(rest: &[u8]) -> Option<(bool, usize)> {
    if rest.starts_with(b":") {
        return Some((false, 1));
    }
    let blanks = |i: usize| i + rest[i..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut i = 1;
    if !rest.starts_with(b"{") {
        return None;
    }
    loop {
        i = blanks(i);
        rest[i..].strip_prefix(b"LITERAL")?;
        i = blanks(i + 7);
        match rest.get(i)? {
            b',' => i += 1,
            _ => break,
        }
    }
    rest[i..].starts_with(b"}:").then_some((true, i + 2))
}

/// Returns the 0-based lines in which directives and comments of the run start.
pub fn lines_with_directives(options: &Options, source: &SourceText) -> BTreeSet<usize> {
    hits(options, &source.bytes).iter().map(|hit| source.line_col(hit.start).0).collect()
}

/// The position of a directive in a check file.
pub struct Location {
    /// 0-based line.
    pub line: usize,
    /// Byte offset of the prefix in its line.
    pub column: usize,
}

/// Returns the positions of the directives of a run, without comments.
pub fn directive_places(options: &Options, checks: Text<'_>) -> Vec<Location> {
    let exact = Options { strict_whitespace: true, ..options.clone() };
    let source = SourceText::read(checks, &exact);
    let directives = hits(options, &source.bytes).into_iter().filter(|hit| !matches!(hit.head, Head::Comment));
    let places = directives.map(|hit| source.line_col(hit.start));
    places.map(|(line, column)| Location { line, column }).collect()
}
