//! Source texts for locations.

use crate::intern::Str;
use std::sync::{Arc, OnceLock};

/// A parsed text.
pub struct SourceFile {
    /// The name in locations: the path as given, or `-`.
    pub name: Str,
    /// The text.
    pub text: Arc<String>,
    /// The line and column of its start in the named file; (1, 1) for a whole file.
    pub start: (u32, u32),
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// Creates a source text that starts at a line and column of the named file.
    pub(crate) fn new(name: Str, text: Arc<String>, start: (u32, u32)) -> SourceFile {
        SourceFile { name, text, start, lines: OnceLock::new() }
    }

    /// Returns the 1-based line and column (in bytes, as in MLIR) of a byte offset.
    pub fn line_col(&self, offset: usize) -> (u32, u32) {
        let lines = self.lines.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect()
        });
        let line = lines.partition_point(|&start| start as usize <= offset);
        let column = (offset - lines[line - 1] as usize) as u32;
        (self.start.0 + line as u32 - 1, column + if line == 1 { self.start.1 } else { 1 })
    }
}
