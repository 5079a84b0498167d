//! Preparation of a text for pest: measuring its nesting depth and cutting out long element lists.

use super::{MAX_DEPTH, ParseError, Result, STACK, stack_of, too_deep};
use pest::RuleType;
use pest::iterators::Pair;
use std::borrow::Cow;

/// Minimum length in bytes of an element list that is cut out.
const MIN_CUT: usize = 64;

/// First bytes of the tokens that continue a type or attribute on the next line.
const CONTINUES: [char; 5] = [':', '-', '<', '(', '['];

/// A text from which long element lists (`dense<...>`, `array<...>`, `sparse<...>`) are cut out.
pub(crate) struct Source<'s> {
    full: &'s str,
    /// The shortened text, for pest.
    pub(crate) text: Cow<'s, str>,
    cuts: Vec<Cut>,
    /// Nesting depth of brackets.
    pub(crate) depth: usize,
}

struct Cut {
    /// Offset of the cut in the shortened text.
    at: usize,
    /// Number of bytes removed up to and including this cut.
    missing: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketByte {
    Other,
    Open,
    Close,
    Quote,
    Slash,
}

const CLASSES: [BracketByte; 256] = {
    let mut classes = [BracketByte::Other; 256];
    let mut i = 0;
    while i < 4 {
        classes[b"(<[{"[i] as usize] = BracketByte::Open;
        classes[b")>]}"[i] as usize] = BracketByte::Close;
        i += 1;
    }
    classes[b'"' as usize] = BracketByte::Quote;
    classes[b'/' as usize] = BracketByte::Slash;
    classes
};

impl<'s> Source<'s> {
    /// Creates the source of a text that is parsed by rules without recursion, at its full length.
    pub(crate) fn unlimited(full: &'s str) -> Source<'s> {
        Source { full, text: Cow::Borrowed(full), cuts: Vec::new(), depth: 0 }
    }

    /// Measures and shortens a text. Too deep nesting is an error.
    pub(crate) fn new(full: &'s str) -> Result<Source<'s>> {
        let (depth, bodies) = measure(full)?;
        if bodies.is_empty() {
            return Ok(Source { depth, ..Source::unlimited(full) });
        }
        let (mut text, mut cuts, mut from, mut missing) = (String::new(), Vec::new(), 0, 0);
        for (start, end) in bodies {
            text.push_str(&full[from..start]);
            missing += end - start;
            cuts.push(Cut { at: text.len(), missing });
            from = end;
        }
        text.push_str(&full[from..]);
        Ok(Source { full, text: Cow::Owned(text), cuts, depth })
    }

    /// Runs a parser of the text with enough stack.
    pub(crate) fn with_stack<T>(&self, run: impl FnOnce() -> T) -> T {
        stacker::maybe_grow(stack_of(self.depth), STACK, run)
    }

    /// Maps an offset of the shortened text to the full text.
    pub(crate) fn full_offset(&self, short: usize) -> usize {
        let before = self.cuts.partition_point(|cut| cut.at < short);
        short + before.checked_sub(1).map_or(0, |i| self.cuts[i].missing)
    }

    /// Returns the start and end of a pair in the full text.
    pub(crate) fn span<R: RuleType>(&self, pair: &Pair<'_, R>) -> (usize, usize) {
        let span = pair.as_span();
        (self.full_offset(span.start()), self.full_offset(span.end()))
    }

    /// Returns the start of a pair in the full text.
    pub(crate) fn start<R: RuleType>(&self, pair: &Pair<'_, R>) -> usize {
        self.full_offset(pair.as_span().start())
    }

    /// Returns the full text of a pair.
    pub(crate) fn str<R: RuleType>(&self, pair: &Pair<'_, R>) -> &'s str {
        let (start, end) = self.span(pair);
        &self.full[start..end]
    }
}

/// Returns the nesting depth of a text, and the ranges of its long element lists.
///
/// The depth is an upper bound of the depth that pest finds. The grammar skips comments, but they are text in the body
/// of a dialect attribute; so inside of brackets, opening brackets in comments count and closing ones do not. Likewise,
/// `>=` closes no bracket.
fn measure(text: &str) -> Result<(usize, Vec<(usize, usize)>)> {
    let bytes = text.as_bytes();
    let (mut depth, mut deepest, mut bodies, mut i) = (0usize, 0, Vec::new(), 0);
    while let Some(&byte) = bytes.get(i) {
        match CLASSES[byte as usize] {
            BracketByte::Other => {}
            BracketByte::Open => {
                depth += 1;
                deepest = deepest.max(depth);
                if depth > MAX_DEPTH {
                    return Err(ParseError::new(i, too_deep()));
                }
                if byte == b'<'
                    && opens_elements(&bytes[..i])
                    && bytes.get(i + 1..i + 1 + MIN_CUT).is_some_and(|start| !start.contains(&b'>'))
                    && let Some(end) = elements_end(bytes, i + 1)
                {
                    bodies.push((i + 1, end));
                    i = end;
                    continue;
                }
            }
            BracketByte::Close if is_operator(bytes, i) => {}
            BracketByte::Close => depth = depth.saturating_sub(1),
            BracketByte::Quote => i = string_end(bytes, i + 1) - 1,
            BracketByte::Slash if bytes.get(i + 1) == Some(&b'/') => {
                let end = line_end(bytes, i);
                if depth > 0 {
                    depth += bytes[i..end].iter().filter(|&&b| CLASSES[b as usize] == BracketByte::Open).count();
                }
                deepest = deepest.max(depth);
                if depth > MAX_DEPTH {
                    return Err(ParseError::new(i, too_deep()));
                }
                i = end;
            }
            BracketByte::Slash => {}
        }
        i += 1;
    }
    Ok((deepest, bodies))
}

/// Whether the `>` at `i` is part of `->` or `>=`.
fn is_operator(bytes: &[u8], i: usize) -> bool {
    is_arrow(bytes, i) || bytes[i] == b'>' && bytes.get(i + 1) == Some(&b'=')
}

/// Whether a text ends with a token that another must follow.
fn is_open(text: &[u8]) -> bool {
    text.ends_with(b":") || text.ends_with(b"->") || text.ends_with(b"-")
}

/// Whether the byte at `i` ends `->`.
fn is_arrow(bytes: &[u8], i: usize) -> bool {
    bytes[i] == b'>' && i > 0 && bytes[i - 1] == b'-'
}

/// Returns the offset of the newline, or of the end of the text, that ends the line of `i`.
pub(super) fn line_end(bytes: &[u8], i: usize) -> usize {
    memchr::memchr(b'\n', &bytes[i..]).map_or(bytes.len(), |n| i + n)
}

/// Whether the `<` after this text starts an element list.
fn opens_elements(before: &[u8]) -> bool {
    let word = before.iter().rev().take(7).take_while(|b| b.is_ascii_alphanumeric() || b"_.$-#!".contains(b)).count();
    matches!(&before[before.len() - word..], b"dense" | b"array" | b"sparse")
}

/// Returns the offset of the `>` that ends an element list. Lists contain no angle brackets outside of strings; `None` for one
/// that may contain a comment.
fn elements_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let stop = at + memchr::memchr3(b'>', b'"', b'<', &bytes[at..])?;
        match bytes[stop] {
            b'>' => return memchr::memmem::find(&bytes[start..stop], b"//").is_none().then_some(stop),
            b'"' => at = string_end(bytes, stop + 1),
            _ => return None,
        }
    }
}

/// Returns the offset after the quote that ends a string, or that of the newline or end of text that cuts it short.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(n) = bytes.get(at..).and_then(|rest| memchr::memchr3(b'"', b'\\', b'\n', rest)) {
        at += n;
        match bytes[at] {
            b'"' => return at + 1,
            b'\n' => return at,
            // A backslash does not continue a string on the next line.
            _ => at += if bytes.get(at + 1) == Some(&b'\n') { 1 } else { 2 },
        }
    }
    bytes.len()
}

/// Returns the length of a prefix that contains the type or attribute at the start of a text, and whether it surely
/// contains all of it. It may not if the prefix ends at a line end outside of brackets, at `at_least` bytes or later, where
/// no next line continues it.
pub(super) fn window(text: &str, at_least: usize) -> (usize, bool) {
    let bytes = text.as_bytes();
    // `last` is the end of the last token.
    let (mut depth, mut i, mut begun, mut last) = (0usize, 0, false, 0);
    while let Some(&byte) = bytes.get(i) {
        match CLASSES[byte as usize] {
            BracketByte::Open if byte == b'{' && depth == 0 && begun => return (i, true),
            // Too deep nesting is an error, wherever the text ends.
            BracketByte::Open if depth > MAX_DEPTH => return (i, true),
            BracketByte::Open => depth += 1,
            BracketByte::Close if is_operator(bytes, i) => {}
            BracketByte::Close if depth == 0 => return (i, true),
            BracketByte::Close => depth -= 1,
            BracketByte::Quote => i = string_end(bytes, i + 1) - 1,
            BracketByte::Slash if bytes.get(i + 1) == Some(&b'/') => {
                i = line_end(bytes, i);
                continue;
            }
            _ if depth > 0 => {}
            _ if matches!(byte, b',' | b'%' | b'^' | b'=' | b';') => return (i, true),
            _ if byte == b'\n' && begun && i >= at_least => {
                let rest = skip_blank(&text[i..]);
                if !rest.starts_with(CONTINUES) && !is_open(&bytes[..last]) {
                    return (i, false);
                }
                i = text.len() - rest.len();
                continue;
            }
            _ => {}
        }
        i += 1;
        if !byte.is_ascii_whitespace() {
            (begun, last) = (true, i);
        }
    }
    (text.len(), true)
}

/// Returns the length of a prefix that contains the bracketed text at the start of a text, and its nesting depth: it ends
/// where as many brackets are closed as were opened, or where they are nested too deep.
pub(super) fn bracket_window(text: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut depth, mut deepest, mut i) = (0usize, 0, 0);
    while let Some(&byte) = bytes.get(i) {
        match CLASSES[byte as usize] {
            BracketByte::Other => {}
            BracketByte::Open => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            BracketByte::Close if is_arrow(bytes, i) => {}
            BracketByte::Close => depth = depth.saturating_sub(1),
            BracketByte::Quote => i = string_end(bytes, i + 1) - 1,
            BracketByte::Slash if bytes.get(i + 1) == Some(&b'/') => {
                i = line_end(bytes, i);
                continue;
            }
            BracketByte::Slash => {}
        }
        i += 1;
        if depth == 0 || depth > MAX_DEPTH {
            break;
        }
    }
    (i.min(bytes.len()), deepest)
}

/// Returns the text without leading white space and comments.
pub(super) fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches([' ', '\t', '\n', '\r']);
        if !text.starts_with("//") {
            return text;
        }
        text = memchr::memchr(b'\n', text.as_bytes()).map_or("", |end| &text[end..]);
    }
}
