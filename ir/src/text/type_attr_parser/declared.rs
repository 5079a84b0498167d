//! Parsing of declared types and attributes, and of attributes in the syntax of their kind.

use super::source::skip_blank;
use super::{ParseError, Result, TypeAttrParser};
use crate::constraint::{AttrSpec, AttrText};
use crate::intern::{Attr, Type};
use crate::parametric::{AttrInfo, ParamError, Parametric, TypeInfo};
use crate::text::cursor::Cursor;
use crate::text::diag::hint;
use crate::text::options::Reader;
use crate::text::param_format::ParamElem;

/// Beginnings of messages that do not name the parameter.
const GENERAL: [&str; 2] = ["expected attribute value", "expected non-function type"];

/// Parsed parameters, each with the byte offset of its text.
struct Params {
    values: Vec<Option<Attr>>,
    places: Vec<usize>,
    /// Byte offset of the whole.
    start: usize,
}

impl Params {
    /// Places the error of a declaration in the text.
    fn locate(&self, decl: &Parametric, text: &str, error: ParamError) -> ParseError {
        let param = decl.params.iter().position(|spec| Some(spec.name) == error.param);
        let Some(at) = param.map(|i| self.places[i]).filter(|&at| at > 0) else {
            return ParseError::new(self.start, error.message);
        };
        // Offsets in a string are counted after its quote.
        let quote = usize::from(text.as_bytes().get(at) == Some(&b'"'));
        ParseError::new((at + quote + error.at).min(text.len()), error.message)
    }
}

impl TypeAttrParser<'_> {
    /// Parses the parameters of a declared type at the cursor, which is after its name.
    pub(super) fn declared_type(&mut self, cur: &mut Cursor<'_>, info: &'static TypeInfo) -> Result<Type> {
        let params = self.params(cur, &info.decl)?;
        let ty = self.ctx.declared_type(info, &params.values);
        ty.map_err(|error| params.locate(&info.decl, cur.text(), error))
    }

    /// Parses the parameters of a declared attribute at the cursor, which is after its name; `ty` is the type of a typed
    /// attribute, else `Type::NONE`.
    pub(super) fn declared_attr(&mut self, cur: &mut Cursor<'_>, info: &'static AttrInfo, ty: Type) -> Result<Attr> {
        let params = self.params(cur, &info.decl)?;
        self.make_attr(cur, info, &params, ty)
    }

    /// Parses the parameters of a declared attribute at the cursor, and the type of one that is the value of a constant.
    fn constant_or_untyped(&mut self, cur: &mut Cursor<'_>, info: &'static AttrInfo) -> Result<Attr> {
        let params = self.params(cur, &info.decl)?;
        let ty = if info.value.is_some() && cur.eat(":") { self.ty_at(cur)? } else { Type::NONE };
        self.make_attr(cur, info, &params, ty)
    }

    fn make_attr(&self, cur: &Cursor<'_>, info: &'static AttrInfo, params: &Params, ty: Type) -> Result<Attr> {
        let attr = self.ctx.declared_typed_attr(info, &params.values, ty);
        attr.map_err(|error| params.locate(&info.decl, cur.text(), error))
    }

    fn params(&mut self, cur: &mut Cursor<'_>, decl: &'static Parametric) -> Result<Params> {
        let count = decl.params.len();
        let mut params = Params { values: vec![None; count], places: vec![0; count], start: cur.pos };
        match self.ctx.params_format(decl) {
            None => self.listed(cur, decl, &mut params)?,
            Some(Ok(format)) => self.formatted(cur, decl, format, &mut params)?,
            Some(Err(why)) => return Err(ParseError::new(cur.pos, format!("format of '{}': {why}", decl.name))),
        }
        Ok(params)
    }

    /// Parses `<required, optional = value>`; nothing if no parameter is required and no bracket follows.
    fn listed(&mut self, cur: &mut Cursor<'_>, decl: &'static Parametric, params: &mut Params) -> Result<()> {
        let required = |spec: &AttrSpec| !spec.optional && spec.default.is_none();
        if cur.peek() != b'<' && !decl.params.iter().any(required) {
            return Ok(());
        }
        expect(cur, "<")?;
        let mut first = true;
        for i in (0..decl.params.len()).filter(|&i| required(&decl.params[i])) {
            if !std::mem::take(&mut first) {
                expect(cur, ",")?;
            }
            self.param(cur, decl, i, params)?;
        }
        while !cur.eat(">") {
            if !std::mem::take(&mut first) {
                expect(cur, ",")?;
            }
            cur.skip_space();
            let (at, name) = (cur.pos, cur.word());
            let Some(i) = decl.params.iter().position(|spec| spec.name == name && !required(spec)) else {
                let names = decl.params.iter().filter(|spec| !required(spec)).map(|spec| spec.name);
                let message = match name {
                    "" => "expected '>'".to_owned(),
                    _ => format!("'{}' has no optional parameter '{name}'{}", decl.name, hint(name, names)),
                };
                return Err(ParseError::new(at, message));
            };
            if params.places[i] > 0 {
                return Err(ParseError::new(at, format!("parameter '{name}' is given twice")));
            }
            if matches!(decl.params[i].kind.text, AttrText::Flag) {
                (params.values[i], params.places[i]) = (Some(Attr::UNIT), at);
                continue;
            }
            expect(cur, "=")?;
            self.param(cur, decl, i, params)?;
        }
        Ok(())
    }

    fn formatted(
        &mut self,
        cur: &mut Cursor<'_>,
        decl: &'static Parametric,
        elems: &[ParamElem],
        params: &mut Params,
    ) -> Result<()> {
        for elem in elems {
            match elem {
                ParamElem::Literal(text) => expect(cur, text)?,
                ParamElem::Param(i) => self.param(cur, decl, *i, params)?,
                ParamElem::Group { then, otherwise, .. } => {
                    let taken = is_present(cur, decl.params, then);
                    self.formatted(cur, decl, if taken { then } else { otherwise }, params)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn param(&mut self, cur: &mut Cursor<'_>, decl: &Parametric, i: usize, params: &mut Params) -> Result<()> {
        cur.skip_space();
        params.places[i] = cur.pos;
        let spec = &decl.params[i];
        let is_general = |e: &ParseError| {
            e.offset == params.places[i] && GENERAL.iter().any(|general| e.message.starts_with(general))
        };
        let value = self.attr_of_kind(cur, &spec.kind.text).map_err(|e| match is_general(&e) {
            true => {
                ParseError { message: format!("expected {} for parameter '{}'", spec.kind.summary, spec.name), ..e }
            }
            false => e,
        })?;
        params.values[i] = Some(value);
        Ok(())
    }

    /// Parses a type at the cursor.
    pub(crate) fn ty_at(&mut self, cur: &mut Cursor<'_>) -> Result<Type> {
        cur.skip_space();
        let at = cur.pos;
        let from = |e: ParseError| ParseError { offset: at + e.offset, ..e };
        if self.reader == Reader::Fast
            && cur.skip_type()
            && let Ok(ty) = self.ty(cur.since(at))
        {
            return Ok(ty);
        }
        // The grammar determines where the type ends, the error message and its offset.
        cur.pos = at;
        // Also in the types inside, of which each would else be parsed twice as often as the one around it.
        let reader = std::mem::replace(&mut self.reader, Reader::Grammar);
        let parsed = self.ty_prefix(cur.rest());
        self.reader = reader;
        let (ty, used) = parsed.map_err(from)?;
        cur.pos += used;
        Ok(ty)
    }

    /// Parses an attribute at the cursor, with its type if it has one.
    pub(crate) fn attr_at(&mut self, cur: &mut Cursor<'_>) -> Result<Attr> {
        cur.skip_space();
        let from = |e: ParseError| ParseError { offset: cur.pos + e.offset, ..e };
        let (attr, used) = self.attr_prefix(cur.rest()).map_err(from)?;
        cur.pos += used;
        Ok(attr)
    }

    /// Parses an attribute at the cursor, in the syntax of its kind.
    pub(crate) fn attr_of_kind(&mut self, cur: &mut Cursor<'_>, kind: &AttrText) -> Result<Attr> {
        let ctx = self.ctx;
        cur.skip_space();
        let at = cur.pos;
        let from = |e: ParseError| ParseError { offset: at + e.offset, ..e };
        Ok(match kind {
            AttrText::Full | AttrText::Inlined => self.attr_at(cur)?,
            AttrText::Flag => Attr::UNIT,
            AttrText::Type => ctx.type_attr(self.ty_at(cur)?),
            AttrText::Bare(ty) => {
                let text = match cur.signed_number() {
                    (_, "") => return Err(ParseError::new(at, "expected attribute value")),
                    (negative, number) => format!("{}{number}", if negative { "-" } else { "" }),
                };
                self.attr_of_type(&text, *ty).map_err(from)?
            }
            AttrText::Number => {
                let sign = if cur.eat("-") { -1.0 } else { 1.0 };
                let number = if cur.eat_word("inf") { Some(f64::INFINITY) } else { cur.number().parse().ok() };
                match number.filter(|number: &f64| !number.is_nan()) {
                    Some(number) => ctx.float_attr(Type::F64, sign * number),
                    None => return Err(ParseError::new(at, "expected a number or 'inf'")),
                }
            }
            AttrText::Ints(ty) => {
                let list = skip_blank(bracketed(cur, b'[')?[1..].strip_suffix(']').unwrap_or(""));
                let colon = if list.is_empty() { "" } else { ": " };
                let text = format!("array<{}{colon}{list}>", ctx.display_type(*ty));
                self.attr(&text).map_err(|e| ParseError::new(at, e.message))?
            }
            AttrText::SymbolName => {
                let expected = "expected valid '@'-identifier for symbol name";
                let symbol = if cur.peek() == b'@' { self.attr_at(cur)? } else { Attr::UNIT };
                match ctx.as_symbol(symbol) {
                    Some((root, [])) => ctx.string_attr(ctx.text(root)),
                    Some(_) => return Err(ParseError::new(at, "expected a symbol name")),
                    None => return Err(ParseError::new(at, expected)),
                }
            }
            AttrText::Quoted => {
                let string = cur.peek() == b'"' && cur.skip_string();
                if !string {
                    return Err(ParseError::new(at, "expected a string"));
                }
                self.attr(cur.since(at)).map_err(from)?
            }
            AttrText::Cases(ty, cases) => {
                let word = cur.word_or_string();
                let case = cases.iter().find(|case| case.0 == word);
                let all = || cases.iter().map(|case| case.0).collect::<Vec<_>>().join(", ");
                let case = case.ok_or_else(|| ParseError::new(at, format!("expected one of: {}", all())))?;
                ctx.int_attr(*ty, case.1)
            }
            AttrText::Words { dialect, mnemonic, .. } => {
                let prefix = format!("#{dialect}.{mnemonic}");
                let text = format!("{prefix}{}", bracketed(cur, b'<')?);
                let from = |e: ParseError| ParseError::new(at + e.offset.saturating_sub(prefix.len()), e.message);
                self.attr(&text).map_err(from)?
            }
            AttrText::Declared(name) => match ctx.attr_info_of(name) {
                Some(info) => self.constant_or_untyped(cur, info)?,
                None => return Err(ParseError::new(at, format!("no registered dialect declares '#{name}'"))),
            },
        })
    }
}

/// Whether the attribute of this kind may begin at the cursor.
pub(crate) fn begins(cur: &mut Cursor<'_>, kind: &AttrText) -> bool {
    cur.skip_space();
    match kind {
        AttrText::SymbolName => cur.peek() == b'@',
        AttrText::Quoted => cur.peek() == b'"',
        AttrText::Cases(_, cases) => {
            let word = cur.clone().word_or_string();
            cases.iter().any(|case| case.0 == word)
        }
        AttrText::Words { .. } | AttrText::Declared(_) => cur.peek() == b'<',
        AttrText::Ints(_) => cur.peek() == b'[',
        _ => !matches!(cur.peek(), b':' | b'{' | b'}' | b')' | b',' | b'%' | b'>' | 0),
    }
}

/// Whether the next token begins the optional group.
fn is_present(cur: &mut Cursor<'_>, params: &[AttrSpec], group: &[ParamElem]) -> bool {
    match group.iter().find(|elem| !matches!(elem, ParamElem::Space(_))) {
        Some(ParamElem::Literal(text)) => eat(&mut cur.clone(), text),
        Some(ParamElem::Param(i)) => begins(cur, &params[*i].kind.text),
        _ => false,
    }
}

/// Consumes a literal of a format: a word that no other continues, or punctuation.
pub(crate) fn eat(cur: &mut Cursor<'_>, text: &str) -> bool {
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { cur.eat_word(text) } else { cur.eat(text) }
}

fn expect(cur: &mut Cursor<'_>, text: &str) -> Result<()> {
    if eat(cur, text) { Ok(()) } else { Err(ParseError::new(cur.pos, format!("expected '{text}'"))) }
}

/// Consumes a bracketed text.
fn bracketed<'a>(cur: &mut Cursor<'a>, open: u8) -> Result<&'a str> {
    let at = cur.pos;
    if cur.peek() != open {
        return Err(ParseError::new(at, format!("expected '{}'", open as char)));
    }
    match cur.skip_bracketed() {
        Ok(()) => Ok(cur.since(at)),
        Err(message) => Err(ParseError::new(at, message)),
    }
}
