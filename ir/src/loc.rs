//! Where an op comes from: a place in a source text, or any of MLIR's location attributes.

use crate::attrs::AttrData;
use crate::context::{Attr, Context, Str};
use std::sync::{Arc, OnceLock};

/// A location in eight bytes: unknown, a byte of a source text, or a location attribute.
///
/// Every parsed op has a place in the text that it came from; keeping the offset alone costs nothing, and line and column
/// are found when somebody asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loc {
    file: u32,
    pos: u32,
}

const ATTR: u32 = u32::MAX;

impl Loc {
    /// `loc(unknown)`
    pub const UNKNOWN: Loc = Loc { file: ATTR, pos: Attr::LOC_UNKNOWN.0 };

    /// The byte `offset` of source text `source`.
    pub fn source(source: u32, offset: usize) -> Loc {
        Loc { file: source, pos: offset.min(u32::MAX as usize) as u32 }
    }

    /// A location attribute.
    pub fn attr(attr: Attr) -> Loc {
        Loc { file: ATTR, pos: attr.0 }
    }

    /// The source text and the byte in it, for places in a text.
    pub fn as_source(self) -> Option<(u32, usize)> {
        (self.file != ATTR).then_some((self.file, self.pos as usize))
    }

    /// The location as an attribute.
    pub fn to_attr(self, ctx: &Context) -> Attr {
        match self.as_source() {
            None => Attr(self.pos),
            Some((file, offset)) => {
                let source = &ctx.sources[file as usize];
                let (line, col) = source.line_col(offset);
                ctx.attr(AttrData::LocFile { file: source.name, pos: [line, col, line, col] })
            }
        }
    }
}

/// A text that was parsed.
pub struct SourceFile {
    /// Its name in locations: the path as given, or `-`.
    pub name: Str,
    /// Its text.
    pub text: Arc<String>,
    /// The line and the column at which it starts in the file of that name; (1, 1) unless it is a part of the file.
    pub start: (u32, u32),
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The 1-based line and column (in bytes, as MLIR counts) of a byte.
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

impl Context {
    /// Adds a text that locations can point into and returns its number.
    pub fn add_source(&self, name: &str, text: Arc<String>) -> u32 {
        self.add_source_part(name, text, (1, 1))
    }

    /// The same for a part of a file, which starts at a line and a column of it.
    pub fn add_source_part(&self, name: &str, text: Arc<String>, start: (u32, u32)) -> u32 {
        let name = self.str(name);
        self.sources.push(SourceFile { name, text, start, lines: OnceLock::new() }) as u32
    }

    /// A text that was parsed.
    pub fn source(&self, index: u32) -> &SourceFile {
        &self.sources[index as usize]
    }
}
