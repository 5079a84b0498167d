//! Parsing of dialect types and attributes, which are kept as text, and of aliases, which look alike.

use super::source::string_end;
use super::{ParseError, Result, TypeAttrParser};
use crate::attrs::Piece;
use crate::context::Context;
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::op_info::AttrText;
use crate::types::TypeData;

/// The parts of a dialect type or attribute after its sigil.
struct Name<'s> {
    dialect: &'s str,
    /// The text after the dot, or between the angle brackets of the form without a dot.
    body: &'s str,
    /// Byte offset of the body in the name.
    at: usize,
}

/// Splits `#dialect.rest` and `#dialect<rest>`; `None` for an alias.
fn split(name: &str) -> Option<Name<'_>> {
    let stop = name.find(['.', '<'])?;
    let dialect = &name[1..stop];
    Some(if name.as_bytes()[stop] == b'.' {
        Name { dialect, body: &name[stop + 1..], at: stop + 1 }
    } else {
        Name { dialect, body: name[stop + 1..].strip_suffix('>').unwrap_or(""), at: stop + 1 }
    })
}

fn check_namespace(name: &Name<'_>, offset: usize) -> Result<()> {
    let mut bytes = name.dialect.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if starts && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') {
        return Ok(());
    }
    Err(ParseError::new(offset, format!("invalid dialect namespace '{}'", name.dialect)))
}

/// Returns the canonical text of a declared attribute's body. `None` if the dialect declares no attribute of that name.
fn declared_body(ctx: &Context, name: &Name<'_>, offset: usize, ty: Type) -> Result<Option<String>> {
    let mnemonic = name.body.split('<').next().unwrap_or("");
    let kinds = || ctx.dialect(name.dialect).map_or(&[][..], |d| d.attrs).iter().map(|kind| &kind.text);
    let is_named = |text: &&AttrText| match text {
        AttrText::Body(decl) => decl.mnemonic == mnemonic,
        AttrText::Words { mnemonic: other, .. } => *other == mnemonic,
        _ => false,
    };
    let at = offset + name.at;
    let Some(AttrText::Body(decl)) = kinds().find(is_named) else {
        let is_strict = kinds().any(|text| matches!(text, AttrText::Body(_))) && !kinds().any(|text| is_named(&text));
        let message = || format!("unknown attribute `{mnemonic}` in dialect `{}`", name.dialect);
        return if is_strict { Err(ParseError::new(at, message())) } else { Ok(None) };
    };
    let open = at + mnemonic.len();
    let Some(inner) = name.body[mnemonic.len()..].strip_prefix('<').and_then(|b| b.strip_suffix('>')) else {
        return Err(ParseError::new(open, "expected '<'"));
    };
    if ty != Type::NONE {
        return Err(ParseError::new(offset, format!("#{}.{mnemonic} has no type", name.dialect)));
    }
    let printed = (decl.parse)(inner).map_err(|(i, message)| ParseError::new(open + 1 + i, message))?;
    Ok(Some(format!("{mnemonic}<{printed}>")))
}

/// Returns the canonical text of the body of a declared set of flags.
fn flags_in_order(ctx: &Context, name: &Name<'_>) -> Option<String> {
    ctx.dialect(name.dialect)?.attrs.iter().find_map(|kind| {
        let AttrText::Words { mnemonic, words, flags: Some(flags), .. } = kind.text else { return None };
        let list = name.body.strip_prefix(mnemonic)?.strip_prefix('<')?.strip_suffix('>')?;
        Some(format!("{mnemonic}<{}>", flags.in_order(words, list)?))
    })
}

impl TypeAttrParser<'_> {
    /// Parses `!alias`, `!dialect.rest` or `!dialect<rest>`.
    pub(super) fn dialect_type(&mut self, name: &str, offset: usize) -> Result<Type> {
        let Some(parts) = split(name) else {
            return self.aliased(name, offset).map(|key| Type::new(key as usize));
        };
        check_namespace(&parts, offset)?;
        let body = self.pieces(parts.body, offset + parts.at)?;
        Ok(self.ctx.ty(TypeData::Dialect { dialect: self.ctx.str(parts.dialect), body }))
    }

    /// Parses `#alias`, `#dialect.rest` or `#dialect<rest>`; the latter two with the trailing type `ty`.
    pub(super) fn dialect_attr(&mut self, name: &str, offset: usize, ty: Type) -> Result<Attr> {
        let Some(parts) = split(name) else {
            return self.aliased(name, offset).map(|key| Attr::new(key as usize));
        };
        check_namespace(&parts, offset)?;
        let declared = declared_body(self.ctx, &parts, offset, ty)?;
        let body = match declared.or_else(|| flags_in_order(self.ctx, &parts)) {
            Some(flags) => Box::new([Piece::Text(flags.into())]),
            None => self.pieces(parts.body, offset + parts.at)?,
        };
        let dialect = self.ctx.str(parts.dialect);
        Ok(self.intern(crate::attrs::AttrData::Dialect { dialect, body, ty }))
    }

    /// Splits a body at the aliases in it. Undefined names stay text.
    fn pieces(&mut self, body: &str, offset: usize) -> Result<Box<[Piece]>> {
        let bytes = body.as_bytes();
        let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
        while let Some(n) = memchr::memchr3(b'#', b'!', b'"', &bytes[at..]) {
            at += n;
            if bytes[at] == b'"' {
                at = string_end(bytes, at + 1);
                continue;
            }
            let word = bytes[at + 1..].iter().take_while(|b| b.is_ascii_alphanumeric() || b"$._-".contains(b)).count();
            let end = at + 1 + word;
            let name = &body[at..end];
            let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
            if !in_word && bytes.get(end) != Some(&b'<') && self.aliases.contains(name) {
                let key = self.aliased(name, offset + at)? as usize;
                if at > from {
                    pieces.push(Piece::Text(body[from..at].into()));
                }
                pieces.push(match bytes[at] {
                    b'#' => Piece::Attr(Attr::new(key)),
                    _ => Piece::Type(Type::new(key)),
                });
                from = end;
            }
            at = end;
        }
        if from < body.len() || pieces.is_empty() {
            pieces.push(Piece::Text(body[from..].into()));
        }
        Ok(pieces.into())
    }
}
