//! `dense<...>`, `array<...>`, `sparse<...>` and `dense_resource<...>`. Elements go straight from the text into bytes.

use super::attrs::{float_from_integer, float_literal, sign};
use super::grammar::Rule;
use super::int::{IntError, byte_size, int_value, push_bytes};
use super::source::{Source, string_end};
use super::strings::{name, unescape};
use super::{FineError, FineParser, Result, hex};
use crate::attrs::{AttrData, Dense};
use crate::context::{Attr, Context, Type};
use crate::float::FloatKind;
use crate::types::{Signedness, TypeData};
use bytes::Bytes;
use pest::iterators::Pair;
use smallvec::SmallVec;

/// Elements may take this much memory, plus this many times the length of their text: some types are very wide.
const MAX_BYTES: usize = 16 << 20;
const MAX_BYTES_PER_BYTE: usize = 64;

/// How an element's text becomes bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elem {
    Bool(Signedness),
    Int(u32, Signedness),
    Index,
    Float(FloatKind),
    /// Of some other type: strings.
    Text,
}

/// The parts of an element: two for a complex number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Format {
    elem: Elem,
    complex: bool,
}

impl Format {
    fn of(ctx: &Context, ty: Type) -> Format {
        let elem = |ty| match *ctx.type_data(ty) {
            TypeData::Integer { width: 1, sign } => Elem::Bool(sign),
            TypeData::Integer { width, sign } => Elem::Int(width, sign),
            TypeData::Index => Elem::Index,
            TypeData::Float(kind) => Elem::Float(kind),
            _ => Elem::Text,
        };
        match *ctx.type_data(ty) {
            TypeData::Complex(part) => Format { elem: elem(part), complex: true },
            _ => Format { elem: elem(ty), complex: false },
        }
    }

    /// Bytes of an element.
    fn size(self) -> usize {
        let part = match self.elem {
            Elem::Bool(_) => 1,
            Elem::Int(width, _) => byte_size(width),
            Elem::Index => 8,
            Elem::Float(kind) => byte_size(kind.width()),
            Elem::Text => 0,
        };
        if self.complex { 2 * part } else { part }
    }
}

/// What a list of elements was found to be.
#[derive(Default)]
struct Elements {
    data: Vec<u8>,
    strings: Vec<Box<[u8]>>,
    /// How many, a complex number counting once if it was written as one.
    count: usize,
    /// The extents that the brackets show.
    shape: SmallVec<[usize; 6]>,
}

impl FineParser<'_> {
    /// One of the four forms.
    pub(super) fn elements(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>, known: Option<Type>) -> Result<Attr> {
        let at = src.start(&pair);
        let rule = pair.as_rule();
        let mut inner = pair.into_inner();
        let Some(body) = inner.next() else { return Err(FineError::new(at, "expected '<'")) };
        if rule == Rule::dense_resource {
            let key = self.ctx.str(&name(src.str(&body), src.start(&body))?);
            let (ty, _) = self.shaped_type(src, &mut inner, known, at)?;
            return Ok(self.intern(AttrData::DenseResource { key, ty }));
        }
        let (start, end) = src.span(&body);
        let text = src.str(&body).get(1..end - start - 1).unwrap_or("");
        let start = start + 1;
        if rule == Rule::dense_array {
            return self.dense_array(text, start);
        }
        let (ty, shape) = self.shaped_type(src, &mut inner, known, at)?;
        let Some(shape) = shape else {
            return Err(FineError::new(at, "elements literal type must have static shape"));
        };
        let result = match rule {
            Rule::sparse => self.sparse(text, ty, &shape),
            _ => self.dense(text, ty, &shape),
        };
        // Errors about all of it are told at the attribute, others where they are in the body.
        result.map_err(|(offset, message)| FineError::new(offset.map_or(at, |offset| start + offset), message))
    }

    /// The shaped type of an elements attribute, and its extents when they are static.
    fn shaped_type(
        &mut self,
        src: &Source<'_>,
        inner: &mut pest::iterators::Pairs<'_, Rule>,
        known: Option<Type>,
        at: usize,
    ) -> Result<(Type, Option<Vec<usize>>)> {
        let Some(ty) = self.of_type(src, inner, known)? else {
            return Err(FineError::new(at, "expected ':' and a type after the elements"));
        };
        if !self.ctx.is_shaped(ty) {
            return Err(FineError::new(at, "elements literal must be a shaped type"));
        }
        let shape = self.ctx.shape(ty).and_then(|s| s.iter().map(|&d| usize::try_from(d).ok()).collect());
        Ok((ty, shape))
    }

    /// The body of `dense<...>`, or one of the two of `sparse<...>`, as an attribute of type `ty`.
    fn dense(&mut self, body: &str, ty: Type, shape: &[usize]) -> ElementsResult<Attr> {
        let elem_ty = self.ctx.element_type(ty);
        let format = Format::of(self.ctx, elem_ty);
        let mut reader = Reader::new(body, format);
        reader.skip_blank();
        let total = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if reader.peek() == Some(b'"') && format.elem != Elem::Text {
            return self.hex(reader, ty, total);
        }
        if format.complex && format.elem == Elem::Text {
            return Err((None, "invalid element type".into()));
        }
        let splat_of_strings = reader.peek() == Some(b'"');
        let elements = reader.read()?;
        if !elements.shape.is_empty() && elements.shape[..] != *shape {
            let message = "inferred shape of elements literal";
            let show = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            let (found, wanted) = (show(&elements.shape), show(shape));
            return Err((None, format!("{message} ([{found}]) does not match type ([{wanted}])")));
        }
        if elements.count == 0 && total != Some(0) {
            let ty = self.ctx.display_type(ty);
            return Err((None, format!("parsed zero elements, but type ('{ty}') expected at least 1")));
        }
        let mut values = elements.strings;
        if format.elem == Elem::Text {
            if splat_of_strings || (values.len() > 1 && values.iter().all(|v| *v == values[0])) {
                values.truncate(1);
            }
            return Ok(self.intern(AttrData::DenseStrings { ty, values: values.into() }));
        }
        if elements.shape.is_empty() && elements.count > 1 && total != Some(elements.count) {
            return Err((None, format!("parsed {} elements for a type of another number", elements.count)));
        }
        Ok(self.dense_bytes(ty, format.size(), elements.data))
    }

    /// Keeps one element for all if they are equal.
    fn dense_bytes(&mut self, ty: Type, size: usize, mut data: Vec<u8>) -> Attr {
        let splat = !data.is_empty() && data[size..] == data[..data.len() - size];
        if splat {
            data.truncate(size);
            data.shrink_to_fit();
        }
        // Elements without bits (`i0`) take no bytes at all; one stands for all.
        let splat = splat || size == 0;
        self.intern(AttrData::Dense(Box::new(Dense { ty, splat, data: Bytes::from(data) })))
    }

    /// `"0x..."`: the elements' bytes; one element stands for all, and booleans are packed eight to a byte.
    fn hex(&mut self, reader: Reader<'_>, ty: Type, total: Option<usize>) -> ElementsResult<Attr> {
        let malformed = || (Some(reader.at), "expected string containing hex digits starting with `0x`".to_string());
        let literal = reader.text[reader.at..].trim_ascii_end().as_bytes();
        // Whatever else the string holds is no digit, a quote neither.
        let digits = literal.strip_prefix(b"\"0x").and_then(|rest| rest.strip_suffix(b"\"")).ok_or_else(malformed)?;
        let mut data = hex::decode(digits).ok_or_else(malformed)?;
        let format = reader.format;
        let ctx = self.ctx;
        let wrong_size = || {
            let ty = ctx.display_type(ty);
            (None, format!("elements hex data size is invalid for provided type: '{ty}'"))
        };
        let is_bool = matches!(format.elem, Elem::Bool(_));
        if is_bool && !format.complex {
            let total = total.ok_or_else(wrong_size)?;
            if matches!(data[..], [0 | 0xff]) && total != 0 {
                data = vec![data[0] & 1];
            } else if data.len() == total.div_ceil(8) {
                data = (0..total).map(|i| data[i / 8] >> (i % 8) & 1).collect();
            } else {
                return Err(wrong_size());
            }
        } else if total.and_then(|n| n.checked_mul(format.size())) != Some(data.len())
            && (data.len() != format.size() || total == Some(0))
        {
            return Err(wrong_size());
        }
        if is_bool {
            data.iter_mut().for_each(|byte| *byte &= 1);
        }
        Ok(self.dense_bytes(ty, format.size(), data))
    }

    /// `array<i32: 1, 2>`
    fn dense_array(&mut self, body: &str, start: usize) -> Result<Attr> {
        let (word, list) = body.split_once(':').map_or((body, None), |(word, list)| (word, Some(list)));
        let elem = self.ty(word.trim()).map_err(|error| {
            let blank = word.len() - word.trim_start().len();
            FineError { offset: start + blank + error.offset, ..error }
        })?;
        let format = Format::of(self.ctx, elem);
        match format.elem {
            _ if format.complex => return Err(FineError::new(start, "expected integer or float type")),
            Elem::Text | Elem::Index => {
                return Err(FineError::new(start, format!("expected integer or float type, got: '{}'", word.trim())));
            }
            Elem::Int(width, _) if width % 8 != 0 || width == 0 => {
                return Err(FineError::new(start, "element type bitwidth must be a multiple of 8"));
            }
            Elem::Float(kind) if kind.width() % 8 != 0 => {
                return Err(FineError::new(start, "element type bitwidth must be a multiple of 8"));
            }
            _ => {}
        }
        let data = match list {
            None => Vec::new(),
            Some(list) => {
                let start = start + word.len() + 1;
                let mut reader = Reader::new(list, format);
                reader.is_array = true;
                let place =
                    |(offset, message): (Option<usize>, String)| FineError::new(start + offset.unwrap_or(0), message);
                reader.read_flat().map_err(place)?
            }
        };
        Ok(self.intern(AttrData::DenseArray { elem, data: data.into() }))
    }

    /// `sparse<indices, values>`
    fn sparse(&mut self, body: &str, ty: Type, shape: &[usize]) -> ElementsResult<Attr> {
        let elem = self.ctx.element_type(ty);
        let rank = shape.len();
        let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let Some(comma) = top_level_comma(body) else {
            if !body.trim().is_empty() {
                return Err((Some(body.len()), "expected ','".into()));
            }
            let indices_ty = self.ctx.tensor_type(&[0, size(rank)], Type::I64);
            let values_ty = self.ctx.tensor_type(&[0], elem);
            let indices = self.dense_bytes(indices_ty, 8, Vec::new());
            let values = self.dense("", values_ty, &[0])?;
            return Ok(self.intern(AttrData::Sparse { ty, indices, values }));
        };
        let (head, tail) = (&body[..comma], &body[comma + 1..]);
        let inferred = |text: &str, format| Reader::new(text, format).read().map(|elements| elements.shape);
        if head.trim_start().starts_with('"') {
            return Err((Some(0), "expected element literal of primitive type".into()));
        }
        let mut indices_shape = inferred(head, Format { elem: Elem::Index, complex: false })?;
        if indices_shape.is_empty() {
            indices_shape = SmallVec::from_slice(&[1, rank]);
        }
        let in_tail = |(offset, message): (Option<usize>, String)| (offset.map(|o| o + comma + 1), message);
        let mut values_shape: SmallVec<[usize; 6]> = match tail.trim_start().starts_with('"') {
            true => SmallVec::new(),
            false => inferred(tail, Format::of(self.ctx, elem)).map_err(in_tail)?,
        };
        if values_shape.is_empty() {
            values_shape.push(indices_shape[0]);
        }
        let dims = |shape: &[usize]| shape.iter().map(|&d| size(d)).collect::<Vec<_>>();
        let indices_ty = self.ctx.tensor_type(&dims(&indices_shape), Type::I64);
        let values_ty = self.ctx.tensor_type(&dims(&values_shape), elem);
        let indices = self.dense(head, indices_ty, &indices_shape)?;
        let values = self.dense(tail, values_ty, &values_shape).map_err(in_tail)?;
        self.check_sparse(indices, &indices_shape, &values_shape, ty)?;
        Ok(self.intern(AttrData::Sparse { ty, indices, values }))
    }

    /// Every value needs an index, and every index must lie in the shape.
    fn check_sparse(
        &self,
        indices: Attr,
        indices_shape: &[usize],
        values_shape: &[usize],
        ty: Type,
    ) -> ElementsResult<()> {
        let shape = self.ctx.shape(ty).unwrap_or_default();
        let rank = if indices_shape.len() == 1 { 1 } else { indices_shape[1] };
        if rank != shape.len() || indices_shape.len() > 2 || values_shape != [indices_shape[0]] {
            let message = format!(
                "expected shape ({shape:?}); inferred shape of indices literal ({indices_shape:?}); \
                 inferred shape of values literal ({values_shape:?})"
            );
            return Err((None, message));
        }
        let AttrData::Dense(dense) = self.ctx.attr_data(indices) else { return Ok(()) };
        let index = |at: usize| {
            let bytes = if dense.splat { dense.data.get(..8) } else { dense.data.get(8 * at..8 * at + 8) };
            bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, i64::from_le_bytes)
        };
        // One row speaks for all when they are equal.
        let rows = if dense.splat { indices_shape[0].min(1) } else { indices_shape[0] };
        for row in 0..rows {
            let values: Vec<i64> = (0..rank).map(|i| index(row * rank + i)).collect();
            let inside = values.iter().zip(shape).all(|(&v, &d)| (0..d).contains(&v));
            if !inside {
                let message = format!("sparse index #{row} is not contained within the value shape");
                let ty = self.ctx.display_type(ty);
                return Err((None, format!("{message}, with index={values:?}, and type='{ty}'")));
            }
        }
        Ok(())
    }
}

/// Where the comma is that is in no bracket and no string.
fn top_level_comma(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let (mut depth, mut i) = (0usize, 0);
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            b'"' => {
                i = string_end(bytes, i + 1);
                continue;
            }
            b',' if depth == 0 => return Some(i),
            _ => {}
        }
        i += 1;
    }
    None
}

/// An error at a byte of the body, or about the attribute as a whole.
type ElementsResult<T> = std::result::Result<T, (Option<usize>, String)>;

/// Reads elements one after the other, without recursion.
struct Reader<'s> {
    text: &'s str,
    at: usize,
    format: Format,
    /// Dense arrays have rules of their own: negative unsigned values wrap, booleans are words.
    is_array: bool,
}

impl<'s> Reader<'s> {
    fn new(text: &'s str, format: Format) -> Reader<'s> {
        Reader { text, at: 0, format, is_array: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, message: &str) -> ElementsResult<T> {
        Err((Some(self.at), message.into()))
    }

    #[inline]
    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.text.as_bytes().get(self.at + 1) == Some(&b'/') => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Nested lists: an element, or `[...]`.
    fn read(mut self) -> ElementsResult<Elements> {
        let mut out = Elements::default();
        out.data.reserve((self.text.len() / 2).min(MAX_BYTES));
        // How many elements each open bracket holds so far, and how many every bracket at that depth must hold.
        let mut open: SmallVec<[usize; 6]> = SmallVec::new();
        let mut extents: SmallVec<[Option<usize>; 6]> = SmallVec::new();
        let mut rank = None;
        const RANKS: &str = "tensor literal is invalid; ranks are not consistent between elements";
        self.skip_blank();
        if self.peek().is_none() {
            return Ok(out);
        }
        loop {
            // An element or a list begins here.
            if self.peek() == Some(b'[') {
                self.at += 1;
                if open.len() >= super::MAX_DEPTH {
                    return self.fail("nesting deeper than 256 levels");
                }
                open.push(0);
                if extents.len() < open.len() {
                    extents.push(None);
                }
                self.skip_blank();
                if self.peek() != Some(b']') {
                    continue;
                }
                if rank.is_some_and(|rank| rank != open.len()) {
                    return self.fail(RANKS);
                }
                rank = Some(open.len());
            } else {
                if rank.is_some_and(|rank| rank != open.len()) {
                    return self.fail(RANKS);
                }
                rank = Some(open.len());
                self.element(&mut out)?;
                self.check_size(&out)?;
            }
            // It ended; so may the lists around it.
            loop {
                self.skip_blank();
                let Some(count) = open.last_mut() else {
                    return if self.at == self.text.len() {
                        out.shape = extents.into_iter().map(|extent| extent.unwrap_or(0)).collect();
                        Ok(out)
                    } else {
                        self.fail("expected '>'")
                    };
                };
                match self.text.as_bytes().get(self.at) {
                    Some(b']') => {
                        // A list that was not opened just now ends after its last element.
                        let just_opened = self.text.as_bytes()[..self.at].trim_ascii_end().ends_with(b"[");
                        let count = if just_opened { 0 } else { *count + 1 };
                        let extent = &mut extents[open.len() - 1];
                        if *extent.get_or_insert(count) != count {
                            return self.fail(RANKS);
                        }
                        open.pop();
                        self.at += 1;
                    }
                    Some(b',') => {
                        *count += 1;
                        self.at += 1;
                        self.skip_blank();
                        break;
                    }
                    _ => return self.fail("expected ',' or ']'"),
                }
            }
        }
    }

    /// Elements between commas.
    fn read_flat(&mut self) -> ElementsResult<Vec<u8>> {
        let mut out = Elements::default();
        loop {
            self.skip_blank();
            self.element(&mut out)?;
            self.check_size(&out)?;
            self.skip_blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                None => return Ok(out.data),
                _ => return self.fail("expected '>' to close an array attribute"),
            }
        }
    }

    fn check_size(&self, out: &Elements) -> ElementsResult<()> {
        if out.data.len() > MAX_BYTES && out.data.len() / MAX_BYTES_PER_BYTE > self.text.len() {
            return self.fail("the elements take too much memory");
        }
        Ok(())
    }

    /// One element, or the two parts of a complex number.
    #[inline]
    fn element(&mut self, out: &mut Elements) -> ElementsResult<()> {
        out.count += 1;
        if self.peek() != Some(b'(') {
            if self.format.complex {
                return self.fail("expected a complex element, such as (1.0, 2.0)");
            }
            return self.part(out);
        }
        if !self.format.complex {
            return self.fail("expected element literal of primitive type");
        }
        self.at += 1;
        self.skip_blank();
        self.part(out)?;
        self.skip_blank();
        if self.peek() != Some(b',') {
            return self.fail("expected ',' between complex elements");
        }
        self.at += 1;
        self.skip_blank();
        self.part(out)?;
        self.skip_blank();
        if self.peek() != Some(b')') {
            return self.fail("expected ')' after complex elements");
        }
        self.at += 1;
        Ok(())
    }

    /// A number, a boolean or a string.
    #[inline]
    fn part(&mut self, out: &mut Elements) -> ElementsResult<()> {
        let start = self.at;
        match self.format.elem {
            Elem::Text => {
                if self.peek() != Some(b'"') {
                    return self.fail("expected string literal");
                }
                self.at = string_end(self.text.as_bytes(), start + 1);
                let literal = &self.text[start..self.at];
                if literal.len() < 2 || !literal.ends_with('"') {
                    return Err((Some(start), "expected '\"' in string literal".into()));
                }
                let value = unescape(literal, start).map_err(|error| (Some(error.offset), error.message))?;
                out.strings.push(value.as_ref().into());
                Ok(())
            }
            elem => {
                let literal = self.word();
                let result = push_element(elem, literal, self.is_array, &mut out.data);
                result.map_err(|message| (Some(start), message.into()))
            }
        }
    }

    /// The letters and digits here, with a minus sign before them.
    #[inline]
    fn word(&mut self) -> &'s str {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
            while matches!(bytes.get(self.at), Some(b' ' | b'\t')) {
                self.at += 1;
            }
        }
        while let Some(&byte) = bytes.get(self.at) {
            // A sign belongs to a number only after the `e` of its exponent.
            let in_exponent = (byte == b'-' || byte == b'+') && bytes[self.at - 1] | 0x20 == b'e' && self.at > start;
            if byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || in_exponent {
                self.at += 1;
            } else {
                break;
            }
        }
        &self.text[start..self.at]
    }
}

/// Appends the bytes of one number or boolean.
#[inline]
fn push_element(elem: Elem, literal: &str, is_array: bool, out: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
    let (negative, digits) = sign(literal);
    if matches!(digits, "true" | "false") && !negative {
        return match elem {
            Elem::Bool(_) => {
                out.push(u8::from(digits == "true"));
                Ok(())
            }
            Elem::Float(_) => Err("expected floating point literal"),
            _ if is_array => Err("expected integer literal"),
            _ => Err("expected i1 type for 'true' or 'false' values"),
        };
    }
    let is_hex = digits.starts_with("0x") && digits.len() > 2;
    let is_number = digits.as_bytes().first().is_some_and(u8::is_ascii_digit);
    if !is_number {
        return Err(if is_array { "expected integer literal" } else { "expected element literal of primitive type" });
    }
    if is_hex && !digits.as_bytes()[2..].iter().all(u8::is_ascii_hexdigit) {
        return Err("malformed hexadecimal literal");
    }
    match elem {
        Elem::Float(kind) => push_float(kind, digits, negative, is_hex, out),
        _ if !is_hex && digits.contains('.') => Err("expected integer elements, but parsed floating-point"),
        _ if !is_hex && !digits.bytes().all(|b| b.is_ascii_digit()) => Err("malformed integer literal"),
        Elem::Bool(_) if is_array => Err("expected 'true' or 'false' values for i1 type"),
        Elem::Bool(sign) => push_int(digits, negative, 1, sign, false, out),
        Elem::Index => push_int(digits, negative, 64, Signedness::Signed, is_array, out),
        Elem::Int(width, sign) => push_int(digits, negative, width, sign, is_array, out),
        Elem::Text => Err("expected string literal"),
    }
}

#[inline]
fn push_float(
    kind: FloatKind,
    digits: &str,
    negative: bool,
    is_hex: bool,
    out: &mut Vec<u8>,
) -> std::result::Result<(), &'static str> {
    const MALFORMED: &str = "malformed floating point literal";
    if is_hex || !digits.contains('.') {
        if !is_hex && !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(MALFORMED);
        }
        let bits = float_from_integer(kind, digits, negative)?;
        out.extend_from_slice(&bits.to_le_bytes()[..byte_size(kind.width())]);
        return Ok(());
    }
    match kind {
        FloatKind::F32 | FloatKind::F64 => {
            let value: f64 = digits.parse().map_err(|_| MALFORMED)?;
            let value = if negative { -value } else { value };
            if kind == FloatKind::F64 {
                out.extend_from_slice(&value.to_le_bytes());
            } else {
                out.extend_from_slice(&(value as f32).to_le_bytes());
            }
        }
        _ => {
            let bits = float_literal(kind, digits, negative).ok_or(MALFORMED)?;
            out.extend_from_slice(&bits.to_le_bytes()[..byte_size(kind.width())]);
        }
    }
    Ok(())
}

#[inline]
fn push_int(
    digits: &str,
    negative: bool,
    width: u32,
    sign: Signedness,
    is_array: bool,
    out: &mut Vec<u8>,
) -> std::result::Result<(), &'static str> {
    // The usual case: small numbers of the usual widths.
    if matches!(width, 8 | 16 | 32 | 64) && digits.len() <= 18 && !digits.starts_with("0x") {
        let value = digits.bytes().fold(0i64, |n, c| n * 10 + i64::from(c - b'0'));
        let limit = if width == 64 { i64::MAX } else { 1 << (width - 1) };
        if value < limit && !(negative && (value == 0 || sign == Signedness::Unsigned)) {
            let value = if negative { -value } else { value };
            out.extend_from_slice(&value.to_le_bytes()[..width as usize / 8]);
            return Ok(());
        }
    }
    if negative && sign == Signedness::Unsigned && !is_array {
        return Err("expected unsigned integer elements, but parsed negative value");
    }
    let value = int_value(digits, negative, width, sign).map_err(|error| match error {
        IntError::OutOfRange => "integer constant out of range for type",
        IntError::TooLong => "integer literal too long",
    })?;
    if width == 1 {
        out.push(u8::from(value != crate::attrs::Int::Small(0)));
    } else {
        push_bytes(&value, width, out);
    }
    Ok(())
}
