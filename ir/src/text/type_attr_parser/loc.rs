//! Conversion of pest pairs to locations.

use super::attrs::unsigned;
use super::grammar::Rule;
use super::source::Source;
use super::strings::unescape_name;
use super::{MAX_WEIGHT, ParseError, Result, TypeAttrParser};
use crate::attrs::AttrData;
use crate::intern::Attr;
use indexmap::IndexSet;
use pest::iterators::Pair;

impl TypeAttrParser<'_> {
    /// Converts a pair of one of the alternatives of `loc`.
    pub(super) fn loc_pair(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        self.count();
        let at = src.start(&pair);
        match pair.as_rule() {
            Rule::loc_unknown => Ok(Attr::LOC_UNKNOWN),
            Rule::loc_file => self.file_loc(src, pair),
            Rule::loc_name => {
                let mut inner = pair.into_inner();
                let text = inner.next().map_or("\"\"", |name| src.str(&name));
                let name = self.ctx.str(&unescape_name(text, at)?);
                let child = inner.next().map_or(Ok(Attr::LOC_UNKNOWN), |child| self.loc_pair(src, child))?;
                Ok(self.intern(AttrData::LocName { name, child }))
            }
            Rule::loc_fused => self.fused_loc(src, pair),
            Rule::loc_callsite => {
                let parts = pair.into_inner().map(|part| self.loc_pair(src, part)).collect::<Result<Vec<_>>>()?;
                let [callee, caller] = parts[..] else {
                    return Err(ParseError::new(at, "expected location instance"));
                };
                Ok(self.intern(AttrData::LocCallSite { callee, caller }))
            }
            Rule::dialect_name => {
                let attr = self.dialect_attr(src.str(&pair), at, crate::Type::NONE)?;
                if self.is_loc(attr) {
                    Ok(attr)
                } else {
                    Err(ParseError::new(at, format!("expected location attribute, but got {}", src.str(&pair))))
                }
            }
            _ => Err(ParseError::new(at, "expected location instance")),
        }
    }

    fn is_loc(&self, attr: Attr) -> bool {
        use AttrData::{LocCallSite, LocFile, LocFused, LocName, LocUnknown};
        let data = self.ctx.attr_data(attr);
        matches!(data, LocUnknown | LocFile { .. } | LocName { .. } | LocCallSite { .. } | LocFused { .. })
    }

    /// Converts `"file":line`, `"file":line:col`, `"file":line:col to line:col` or `"file":line:col to :col`.
    fn file_loc(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let mut inner = pair.into_inner();
        let (text, at) = inner.next().map_or(("\"\"", 0), |file| (src.str(&file), src.start(&file)));
        let file = self.ctx.str(&unescape_name(text, at)?);
        let mut pos = [0; 4];
        let mut known = 0;
        for part in inner {
            match part.as_rule() {
                Rule::loc_end_column => {
                    pos[2] = pos[0];
                    pos[3] = position(src, part.into_inner().next())?;
                    known = 4;
                }
                Rule::loc_end => {
                    for (slot, number) in pos[2..].iter_mut().zip(part.into_inner()) {
                        *slot = position(src, Some(number))?;
                    }
                    known = 4;
                }
                _ => {
                    pos[known] = position(src, Some(part))?;
                    known += 1;
                }
            }
        }
        if known < 4 {
            (pos[2], pos[3]) = (pos[0], pos[1]);
        }
        Ok(self.intern(AttrData::LocFile { file, pos }))
    }

    /// Converts a fused location: nested fused locations with the same metadata are flattened; unknown locations and
    /// duplicates are dropped.
    fn fused_loc(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let at = src.start(&pair);
        let mut meta = None;
        let mut locs = IndexSet::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::loc_metadata {
                meta = part.into_inner().next().map(|attr| self.attr_pair(src, attr, None)).transpose()?;
                continue;
            }
            let loc = self.loc_pair(src, part)?;
            match self.ctx.attr_data(loc) {
                AttrData::LocFused { locs: inner, meta: m } if *m == meta => {
                    // Flattened parts count although they are not spelled here, also in total over all locations.
                    self.size.weight = self.size.weight.saturating_add(inner.len() as u64);
                    self.fused_parts += inner.len() as u64;
                    if self.fused_parts > MAX_WEIGHT {
                        return Err(ParseError::new(at, "fused locations of fused locations get too large"));
                    }
                    locs.extend(inner.iter().copied());
                }
                AttrData::LocUnknown => {}
                _ => {
                    locs.insert(loc);
                }
            }
        }
        match (locs.len(), meta) {
            (0, None) => return Ok(Attr::LOC_UNKNOWN),
            (0, Some(_)) => {
                locs.insert(Attr::LOC_UNKNOWN);
            }
            (1, None) => return Ok(locs[0]),
            _ => {}
        }
        let locs = locs.into_iter().collect();
        Ok(self.intern(AttrData::LocFused { locs, meta }))
    }
}

/// Parses a line or column number.
fn position(src: &Source<'_>, pair: Option<Pair<'_, Rule>>) -> Result<u32> {
    let Some(pair) = pair else { return Ok(0) };
    let number = unsigned(src.str(&pair)).and_then(|n| u32::try_from(n).ok());
    number
        .ok_or_else(|| ParseError::new(src.start(&pair), "expected integer line or column number in FileLineColRange"))
}
