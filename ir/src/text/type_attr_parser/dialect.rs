//! Parsing of dialect types and attributes, which are kept as text, and of aliases, which look alike.

use super::source::string_end;
use super::{ParseError, Result, TypeAttrParser};
use crate::attrs::Piece;
use crate::constraint::AttrText;
use crate::context::Context;
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::text::cursor::Cursor;
use crate::text::diag::hint;
use crate::text::options::Reader;
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

impl<'s> Name<'s> {
    /// Returns the name of a type or attribute, without its parameters.
    fn mnemonic(&self) -> &'s str {
        self.body.split('<').next().unwrap_or("").trim_end()
    }

    /// Returns a cursor after the mnemonic, in the whole text without the bracket of `#dialect<rest>`.
    fn params<'n>(&self, name: &'n str, reader: Reader) -> Cursor<'n> {
        let mut cur = Cursor::of_reader(&name[..self.at + self.body.len()], reader);
        cur.pos = self.at + self.mnemonic().len();
        cur
    }

    /// Returns the error of a name that the dialect does not declare, if it declares others.
    fn unknown(&self, what: &str, at: usize, declared: &[&'static str]) -> Result<()> {
        if declared.is_empty() {
            return Ok(());
        }
        let (mnemonic, dialect) = (self.mnemonic(), self.dialect);
        let near = hint(mnemonic, declared.iter().copied());
        Err(ParseError::new(at + self.at, format!("unknown {what} `{mnemonic}` in dialect `{dialect}`{near}")))
    }
}

/// Runs a parser on the parameters after a name at byte `offset`, and checks that it reads them all.
fn whole<'n, T>(cur: &mut Cursor<'n>, offset: usize, parse: impl FnOnce(&mut Cursor<'n>) -> Result<T>) -> Result<T> {
    let result = parse(cur).and_then(|value| {
        cur.skip_space();
        if cur.at_end() { Ok(value) } else { Err(ParseError::new(cur.pos, "expected no parameters here")) }
    });
    result.map_err(|e| ParseError { offset: offset + e.offset, ..e })
}

/// Returns the canonical text of the body of a declared enumeration; `None` for other attributes. Offsets of errors are
/// relative to the body.
fn canonical_enum(ctx: &Context, name: &Name<'_>, reader: Reader) -> Result<Option<String>> {
    let enums = ctx.dialect(name.dialect).map_or(&[][..], |dialect| dialect.enums);
    let Some(kind) = enums.iter().find(|kind| kind.mnemonic() == Some(name.mnemonic())) else { return Ok(None) };
    let AttrText::Words { mnemonic, words, flags, .. } = kind.text else { return Ok(None) };
    let mut cur = Cursor::of_reader(name.body, reader);
    cur.pos = mnemonic.len();
    let given = match cur.eat("<") {
        true => listed_words(&mut cur, words)?,
        false => return Err(ParseError::new(cur.pos, "expected '<'")),
    };
    let text = match (flags, &given[..]) {
        (Some(flags), given) => flags.in_order(words, given),
        (None, [word]) => (*word).to_owned(),
        (None, _) => return Err(ParseError::new(cur.pos, "expected one word only")),
    };
    Ok(Some(format!("{mnemonic}<{text}>")))
}

/// Parses a comma-separated list of words, each an identifier or a string, and the bracket that closes it.
fn listed_words<'a>(cur: &mut Cursor<'a>, known: &[&str]) -> Result<Vec<&'a str>> {
    let mut words = Vec::new();
    loop {
        cur.skip_space();
        let at = cur.pos;
        let word = cur.word_or_string();
        if !known.contains(&word) {
            let near = hint(word, known.iter().copied());
            return Err(ParseError::new(at, format!("expected one of: {}{near}", known.join(", "))));
        }
        words.push(word);
        if !cur.eat(",") {
            let closed = cur.eat(">") && cur.at_end();
            return if closed { Ok(words) } else { Err(ParseError::new(cur.pos, "expected '>'")) };
        }
    }
}

impl TypeAttrParser<'_> {
    /// Parses `!alias`, `!dialect.rest` or `!dialect<rest>`.
    pub(super) fn dialect_type(&mut self, name: &str, offset: usize) -> Result<Type> {
        let Some(parts) = split(name) else {
            return self.aliased(name, offset).map(|key| Type::new(key as usize));
        };
        check_namespace(&parts, offset)?;
        let types = self.ctx.dialect(parts.dialect).map_or(&[][..], |dialect| dialect.types);
        if let Some(info) = types.iter().find(|info| info.decl.mnemonic() == parts.mnemonic()) {
            return whole(&mut parts.params(name, self.reader), offset, |cur| self.declared_type(cur, info));
        }
        parts.unknown("type", offset, &types.iter().map(|info| info.decl.mnemonic()).collect::<Vec<_>>())?;
        let body = self.pieces(parts.body, offset + parts.at)?;
        Ok(self.ctx.ty(TypeData::Dialect { dialect: self.ctx.str(parts.dialect), body }))
    }

    /// Parses `#alias`, `#dialect.rest` or `#dialect<rest>`; the latter two with the trailing type `ty`.
    pub(super) fn dialect_attr(&mut self, name: &str, offset: usize, ty: Type) -> Result<Attr> {
        let Some(parts) = split(name) else {
            return self.aliased(name, offset).map(|key| Attr::new(key as usize));
        };
        check_namespace(&parts, offset)?;
        let dialect = self.ctx.dialect(parts.dialect);
        let attrs = dialect.map_or(&[][..], |dialect| dialect.attrs);
        if let Some(info) = attrs.iter().find(|info| info.decl.mnemonic() == parts.mnemonic()) {
            return whole(&mut parts.params(name, self.reader), offset, |cur| self.declared_attr(cur, info, ty));
        }
        let enums = dialect.map_or(&[][..], |dialect| dialect.enums).iter().filter_map(|kind| kind.mnemonic());
        let known: Vec<&str> = enums.collect();
        if !attrs.is_empty() && !known.contains(&parts.mnemonic()) {
            let attrs = attrs.iter().map(|info| info.decl.mnemonic());
            parts.unknown("attribute", offset, &attrs.chain(known).collect::<Vec<_>>())?;
        }
        let in_name = |e: ParseError| ParseError { offset: offset + parts.at + e.offset, ..e };
        let body = match canonical_enum(self.ctx, &parts, self.reader).map_err(in_name)? {
            Some(body) => Box::new([Piece::Text(body.into())]),
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
