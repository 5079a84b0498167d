//! Locations: offsets in a source text, or any of MLIR's location attributes.

use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::Attr;

/// A location in eight bytes: unknown, an offset in a source text, or a location attribute.
///
/// Every parsed op has one. Storing the offset is cheap; line and column are computed on demand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loc {
    file: u32,
    pos: u32,
}

const ATTR: u32 = u32::MAX;

impl Loc {
    /// `loc(unknown)`
    pub const UNKNOWN: Loc = Loc { file: ATTR, pos: Attr::LOC_UNKNOWN.0 };

    /// Returns the location of byte `offset` of source text `source`.
    pub fn source(source: u32, offset: usize) -> Loc {
        Loc { file: source, pos: offset.min(u32::MAX as usize) as u32 }
    }

    /// Returns the location given by a location attribute.
    pub fn attr(attr: Attr) -> Loc {
        Loc { file: ATTR, pos: attr.0 }
    }

    /// Returns the source text and the byte offset; `None` for attributes.
    pub fn as_source(self) -> Option<(u32, usize)> {
        (self.file != ATTR).then_some((self.file, self.pos as usize))
    }

    /// Returns the location as an attribute.
    pub fn to_attr(self, ctx: &Context) -> Attr {
        match self.as_source() {
            None => Attr(self.pos),
            Some((file, offset)) => {
                let source = ctx.source(file);
                let (line, col) = source.line_col(offset);
                ctx.attr(AttrData::LocFile { file: source.name, pos: [line, col, line, col] })
            }
        }
    }

    /// Returns a short name of the place: that of a named location, or file and line. `None` for unknown ones.
    pub fn label(self, ctx: &Context) -> Option<String> {
        let mut attr = self.to_attr(ctx);
        loop {
            match ctx.attr_data(attr) {
                AttrData::LocName { name, .. } => return Some(ctx.text(*name).to_owned()),
                AttrData::LocFile { file, pos } => {
                    let path = ctx.text(*file);
                    return Some(format!("{}:{}", path.rsplit('/').next().unwrap_or(path), pos[0]));
                }
                AttrData::LocCallSite { callee, .. } => attr = *callee,
                AttrData::LocFused { locs, .. } => attr = *locs.first()?,
                _ => return None,
            }
        }
    }
}
