//! Source texts for patterns and messages.

use crate::{Options, Text};

/// A position: the index of a text, and a byte offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourcePosition {
    pub source: usize,
    pub offset: usize,
}

/// Index of the check file.
pub const CHECKS: usize = 0;
/// Index of the input.
pub const INPUT: usize = 1;

/// A text in canonical form: newlines are `\n`, and runs of blanks are one space unless whitespace is significant.
pub struct SourceText {
    pub name: String,
    pub bytes: Vec<u8>,
    lines: Vec<usize>,
}

impl SourceText {
    pub fn read(text: Text<'_>, options: &Options) -> SourceText {
        let mut bytes = Vec::with_capacity(text.bytes.len());
        for (i, &b) in text.bytes.iter().enumerate() {
            let blank = |b: Option<&u8>| matches!(b, Some(b' ' | b'\t'));
            if b == b'\r' && text.bytes.get(i + 1) == Some(&b'\n') {
                continue;
            }
            if options.strict_whitespace || !blank(Some(&b)) {
                bytes.push(b);
            } else if !blank(text.bytes.get(i + 1)) {
                bytes.push(b' ');
            }
        }
        SourceText::new(text.name, bytes)
    }

    /// Creates a text without canonicalization.
    pub fn new(name: &str, bytes: Vec<u8>) -> SourceText {
        let newlines = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(i, _)| i + 1)).collect();
        SourceText { name: name.to_owned(), bytes, lines }
    }

    /// Returns the 0-based line and column of a byte.
    pub fn line_col(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        (line, offset - self.lines[line])
    }

    /// Returns the number of lines; a trailing newline starts none.
    pub fn num_lines(&self) -> usize {
        self.lines.len() - usize::from(self.lines.last() == Some(&self.bytes.len()))
    }

    /// Returns the offset of a 0-based line.
    pub fn start_of(&self, line: usize) -> usize {
        self.lines[line]
    }

    /// Returns a 0-based line without its newline.
    pub fn line(&self, line: usize) -> &[u8] {
        let end = self.lines.get(line + 1).map_or(self.bytes.len(), |next| next - 1);
        &self.bytes[self.lines[line]..end]
    }
}

/// All texts: the check file, the input, and command line arguments.
pub struct Sources(Vec<SourceText>);

impl Sources {
    pub fn new(checks: SourceText, input: SourceText) -> Sources {
        Sources(vec![checks, input])
    }

    /// Adds a text and returns its index.
    pub fn add(&mut self, source: SourceText) -> usize {
        self.0.push(source);
        self.0.len() - 1
    }

    pub fn get(&self, source: usize) -> &SourceText {
        &self.0[source]
    }
}

/// A message about a position.
#[derive(Debug)]
pub struct Message {
    pub severity: &'static str,
    pub place: SourcePosition,
    /// Number of bytes to underline.
    pub len: usize,
    pub text: String,
}

impl Message {
    pub fn error(place: SourcePosition, text: impl Into<String>) -> Message {
        Message { severity: "error", place, len: 0, text: text.into() }
    }

    pub fn note(place: SourcePosition, text: impl Into<String>) -> Message {
        Message { severity: "note", ..Message::error(place, text) }
    }

    /// Sets the number of bytes to underline.
    pub fn over(mut self, len: usize) -> Message {
        self.len = len;
        self
    }
}
