//! Conversion of pest pairs to attributes.

use super::grammar::Rule;
use super::int::{IntError, int_value};
use super::source::{Source, skip_blank};
use super::strings::{name, unescape};
use super::{ParseError, Result, TypeAttrParser};
use crate::attrs::AttrData;
use crate::intern::{Attr, Str, Type};
use crate::types::{DYNAMIC, Signedness, TypeData};
use crate::values::float::{self, FloatKind};
use pest::iterators::{Pair, Pairs};

impl TypeAttrParser<'_> {
    /// Converts a pair of one of the alternatives of `attr`. `ty` is its type if the context gives it; then the text
    /// must not spell it.
    pub(super) fn attr_pair(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>, ty: Option<Type>) -> Result<Attr> {
        self.count();
        let at = src.start(&pair);
        match pair.as_rule() {
            Rule::simple => self.simple(src, pair, ty),
            Rule::array => {
                let elems: Result<Vec<Attr>> = pair.into_inner().map(|p| self.attr_pair(src, p, None)).collect();
                Ok(self.ctx.array_attr(&elems?))
            }
            Rule::dict => self.dict_pair(src, pair),
            Rule::symbol => self.symbol(src, pair),
            Rule::keyword => Ok(match src.str(&pair) {
                "true" => Attr::TRUE,
                "false" => Attr::FALSE,
                _ => Attr::UNIT,
            }),
            Rule::affine_map | Rule::affine_set => self.affine(src, pair),
            Rule::location => {
                let inner = pair.into_inner().next();
                self.loc_pair(src, inner.ok_or_else(|| ParseError::new(at, "expected location instance"))?)
            }
            Rule::type_attr => self.type_attr(src, pair),
            Rule::strided => self.strided(src, pair),
            Rule::distinct => self.distinct(src, pair),
            Rule::dense | Rule::dense_array | Rule::sparse | Rule::dense_resource => self.elements(src, pair, ty),
            _ => Err(ParseError::new(at, "expected attribute value")),
        }
    }

    /// Converts a number, a string, or a dialect attribute: the forms with an optional trailing type.
    fn simple(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>, known: Option<Type>) -> Result<Attr> {
        let at = src.start(&pair);
        let mut inner = pair.into_inner();
        let Some(text) = inner.next() else { return Err(ParseError::new(at, "expected attribute value")) };
        let ty = self.of_type(src, &mut inner, known)?;
        match text.as_rule() {
            Rule::literal => self.number(src.str(&text), at, ty),
            Rule::string => {
                let value = unescape(src.str(&text), at)?.as_ref().into();
                Ok(self.intern(AttrData::String { value, ty: ty.unwrap_or(Type::NONE) }))
            }
            _ => self.dialect_attr(src.str(&text), at, ty.unwrap_or(Type::NONE)),
        }
    }

    /// Returns the trailing type (the next pair), or else the type given by the context.
    pub(super) fn of_type(
        &mut self,
        src: &Source<'_>,
        inner: &mut Pairs<'_, Rule>,
        known: Option<Type>,
    ) -> Result<Option<Type>> {
        match inner.next() {
            None => Ok(known),
            Some(pair) if known.is_some() => Err(ParseError::new(src.start(&pair), "the type is not repeated here")),
            Some(pair) => self.type_pair(src, pair).map(Some),
        }
    }

    fn type_attr(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let at = src.start(&pair);
        let inner = pair.into_inner().next().ok_or_else(|| ParseError::new(at, "expected attribute value"))?;
        let is_word = matches!(inner.as_rule(), Rule::number_type | Rule::scalar_type);
        let word = src.str(&inner);
        let ty =
            self.type_pair(src, inner).map_err(|error| match is_word && error.message.starts_with("expected") {
                true => ParseError::new(at, format!("expected attribute value, found '{word}'")),
                false => error,
            })?;
        Ok(self.ctx.type_attr(ty))
    }

    /// Converts an integer or float; the default types are `i64` and `f64`.
    fn number(&mut self, text: &str, at: usize, ty: Option<Type>) -> Result<Attr> {
        let (negative, digits) = sign(text);
        if !digits.starts_with("0x") && digits.contains('.') {
            let ty = ty.unwrap_or(Type::F64);
            let Some(kind) = self.ctx.float_kind(ty) else {
                return Err(ParseError::new(at, "floating point value not valid for specified type"));
            };
            let bits = float_literal(kind, digits, negative);
            return Ok(self.float_bits(ty, bits.ok_or_else(|| ParseError::new(at, "invalid floating point literal"))?));
        }
        let ty = ty.unwrap_or(Type::I64);
        if let Some(kind) = self.ctx.float_kind(ty) {
            let bits = float_from_integer(kind, digits, negative).map_err(|message| ParseError::new(at, message))?;
            return Ok(self.float_bits(ty, bits));
        }
        let (width, sign) = match *self.ctx.type_data(ty) {
            TypeData::Integer { width, sign } => (width, sign),
            TypeData::Index => (64, Signedness::Signed),
            _ => return Err(ParseError::new(at, "integer literal not valid for specified type")),
        };
        if negative && sign == Signedness::Unsigned {
            return Err(ParseError::new(at, "negative integer literal not valid for unsigned integer type"));
        }
        match int_value(digits, negative, width, sign) {
            Ok(value) => Ok(self.intern(AttrData::Integer { ty, value })),
            Err(IntError::OutOfRange) => Err(ParseError::new(at, "integer constant out of range for attribute")),
            Err(IntError::TooLong) => Err(ParseError::new(at, "integer literal too long")),
        }
    }

    fn float_bits(&mut self, ty: Type, bits: u128) -> Attr {
        self.intern(AttrData::Float { ty, bits: [bits as u64, (bits >> 64) as u64] })
    }

    fn dict_pair(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let mut entries: Vec<(Str, Attr, usize)> = Vec::new();
        for entry in pair.into_inner() {
            let at = src.start(&entry);
            let mut inner = entry.into_inner();
            let key = inner.next().map_or("", |key| src.str(&key));
            let key = name(key, at)?;
            if key.is_empty() {
                return Err(ParseError::new(at, "expected valid attribute name"));
            }
            let key = self.ctx.str(&key);
            let value = match inner.next() {
                Some(value) => self.attr_pair(src, value, None)?,
                None => Attr::UNIT,
            };
            entries.push((key, value, at));
        }
        let ctx = self.ctx;
        if !entries.is_sorted_by(|a, b| ctx.text(a.0) < ctx.text(b.0)) {
            entries.sort_by(|a, b| ctx.text(a.0).cmp(ctx.text(b.0)));
            if let Some(twice) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let message = format!("duplicate key '{}' in dictionary attribute", ctx.text(twice[1].0));
                return Err(ParseError::new(twice[1].2, message));
            }
        }
        Ok(ctx.dict_attr(entries.into_iter().map(|(key, value, _)| (key, value)).collect()))
    }

    fn symbol(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let names = pair.into_inner().map(|part| Ok(self.ctx.str(&name(&src.str(&part)[1..], src.start(&part) + 1)?)));
        let names: Vec<Str> = names.collect::<Result<_>>()?;
        let (root, nested) = names.split_first().ok_or_else(|| ParseError::new(0, "expected symbol name"))?;
        Ok(self.intern(AttrData::Symbol { root: *root, nested: nested.into() }))
    }

    fn strided(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let mut inner = pair.into_inner();
        let strides = inner.next().map(Pair::into_inner).into_iter().flatten();
        let strides: Box<[i64]> = strides.map(|p| stride(src.str(&p), src.start(&p))).collect::<Result<_>>()?;
        let offset = inner.next().map_or(Ok(0), |p| stride(src.str(&p), src.start(&p)))?;
        Ok(self.intern(AttrData::Strided { offset, strides }))
    }

    fn distinct(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let at = src.start(&pair);
        let mut inner = pair.into_inner();
        let number = inner.next().and_then(|p| unsigned(src.str(&p)));
        let number = number.ok_or_else(|| ParseError::new(at, "expected an unsigned 64-bit integer"))?;
        let marked = inner.next().map_or(Ok(Attr::UNIT), |pair| self.attr_pair(src, pair, None))?;
        let mut known = self.aliases.distinct.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(&attr) = known.get(&number) {
            return match self.ctx.attr_data(attr) {
                AttrData::Distinct { inner, .. } if *inner == marked => Ok(attr),
                AttrData::Distinct { inner, .. } => {
                    let previous = self.ctx.display_attr(*inner);
                    let message = format!("referenced attribute does not match previous definition: {previous}");
                    Err(ParseError::new(at, message))
                }
                _ => Err(ParseError::new(at, "expected distinct attribute")),
            };
        }
        let id = self.ctx.next_distinct.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let attr = self.ctx.attr(AttrData::Distinct { id, inner: marked });
        known.insert(number, attr);
        Ok(attr)
    }
}

/// Splits off the minus sign and the blanks after it.
pub(super) fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, skip_blank(rest)),
        None => (false, text),
    }
}

/// Parses an unsigned decimal or hexadecimal number.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the bits of a float literal such as `1.5`.
pub(super) fn float_literal(kind: FloatKind, digits: &str, negative: bool) -> Option<u128> {
    let value: f64 = digits.parse().ok()?;
    Some(float::from_f64(kind, if negative { -value } else { value }))
}

/// Returns the bits given by an integer literal, which must be hexadecimal.
pub(super) fn float_from_integer(
    kind: FloatKind,
    digits: &str,
    negative: bool,
) -> std::result::Result<u128, &'static str> {
    if !digits.starts_with("0x") {
        return Err("unexpected decimal integer literal for a floating point value; \
                    add a trailing dot to make the literal a float");
    }
    if negative {
        return Err("hexadecimal float literal should not have a leading minus");
    }
    float::parse_hex(kind, digits).ok_or("hexadecimal float constant out of range for type")
}

/// Parses a stride or an offset.
fn stride(text: &str, at: usize) -> Result<i64> {
    if text == "?" {
        return Ok(DYNAMIC);
    }
    let (negative, digits) = sign(text);
    let value = digits.parse::<i64>().ok().map(|v| if negative { -v } else { v });
    value.ok_or_else(|| ParseError::new(at, "expected a 64-bit signed integer or '?'"))
}
