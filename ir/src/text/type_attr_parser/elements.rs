//! Element lists: numbers, booleans and strings in nested brackets, parsed into bytes.

use super::attrs::{float_from_integer, float_literal, sign};
use super::int::{IntError, byte_size, int_value, push_bytes};
use super::source::string_end;
use super::strings::unescape;
use crate::attrs::Int;
use crate::context::Context;
use crate::intern::Type;
use crate::types::{Signedness, TypeData};
use crate::values::float::FloatKind;
use smallvec::SmallVec;

/// The extents of a shape.
pub(super) type Shape = SmallVec<[usize; 6]>;

/// Maximum memory of elements in bytes per byte of text; see [`TypeAttrParser`](super::TypeAttrParser) for the spare memory of
/// very wide types.
const BYTES_PER_BYTE: usize = 64;

/// The encoding of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementEncoding {
    Bool(Signedness),
    Int(u32, Signedness),
    Index,
    Float(FloatKind),
    /// Strings, for other types.
    Text,
}

/// The format of an element: one part, or two for a complex number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ElementFormat {
    pub(super) elem: ElementEncoding,
    pub(super) complex: bool,
}

impl ElementFormat {
    pub(super) fn of(ctx: &Context, ty: Type) -> ElementFormat {
        let elem = |ty| match *ctx.type_data(ty) {
            TypeData::Integer { width: 1, sign } => ElementEncoding::Bool(sign),
            TypeData::Integer { width, sign } => ElementEncoding::Int(width, sign),
            TypeData::Index => ElementEncoding::Index,
            TypeData::Float(kind) => ElementEncoding::Float(kind),
            _ => ElementEncoding::Text,
        };
        match *ctx.type_data(ty) {
            TypeData::Complex(part) => ElementFormat { elem: elem(part), complex: true },
            _ => ElementFormat { elem: elem(ty), complex: false },
        }
    }

    /// Clears the bits of raw elements beyond the width of their type.
    pub(super) fn clear_unused_bits(self, data: &mut [u8]) {
        let width = match self.elem {
            ElementEncoding::Bool(_) => 1,
            ElementEncoding::Int(width, _) => width,
            ElementEncoding::Float(kind) => kind.width(),
            ElementEncoding::Index | ElementEncoding::Text => return,
        };
        let used = width % 8;
        let size = byte_size(width);
        if used != 0 {
            data.chunks_exact_mut(size).for_each(|element| element[size - 1] &= (1 << used) - 1);
        }
    }

    /// Returns the size of an element in bytes.
    pub(super) fn size(self) -> usize {
        let part = match self.elem {
            ElementEncoding::Bool(_) => 1,
            ElementEncoding::Int(width, _) => byte_size(width),
            ElementEncoding::Index => 8,
            ElementEncoding::Float(kind) => byte_size(kind.width()),
            ElementEncoding::Text => 0,
        };
        if self.complex { 2 * part } else { part }
    }
}

/// A parsed element list.
#[derive(Default)]
pub(super) struct Elements {
    /// The bytes of all elements.
    pub(super) data: Vec<u8>,
    /// The elements that are strings.
    pub(super) strings: Vec<Box<[u8]>>,
    /// Number of elements; a complex number written as a pair counts once.
    pub(super) count: usize,
    /// The shape given by the nested brackets.
    pub(super) shape: Shape,
}

/// A result whose error is an offset in the body, or `None` for the whole attribute, and a message.
pub(super) type ElementsResult<T> = Result<T, (Option<usize>, String)>;

/// The open brackets at the current position.
#[derive(Default)]
struct OpenBrackets {
    /// Number of elements or lists so far in each open bracket.
    counts: Shape,
    /// Number of elements of every bracket per depth, known once the first one is closed.
    extents: SmallVec<[Option<usize>; 6]>,
    /// Nesting depth of elements.
    rank: Option<usize>,
}

const RANKS: &str = "tensor literal is invalid; ranks are not consistent between elements";

impl OpenBrackets {
    fn open(&mut self) -> Result<(), String> {
        if self.counts.len() >= super::MAX_DEPTH {
            return Err(super::too_deep());
        }
        self.counts.push(0);
        if self.extents.len() < self.counts.len() {
            self.extents.push(None);
        }
        Ok(())
    }

    /// Checks that an element, or an empty list, is at the same depth as the others.
    fn innermost(&mut self) -> Result<(), &'static str> {
        if *self.rank.get_or_insert(self.counts.len()) == self.counts.len() { Ok(()) } else { Err(RANKS) }
    }

    /// Closes the innermost list, which has `count` elements.
    fn close(&mut self, count: usize) -> Result<(), &'static str> {
        self.counts.pop();
        if *self.extents[self.counts.len()].get_or_insert(count) == count { Ok(()) } else { Err(RANKS) }
    }
}

/// An iterative parser of element lists.
pub(super) struct ElementParser<'s> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    pub(super) format: ElementFormat,
    /// Whether the list is a dense array (`array<...>`): negative unsigned values wrap, and booleans are keywords.
    pub(super) is_array: bool,
    /// Maximum number of bytes of the elements.
    limit: usize,
}

/// Returns the number of bytes of elements beyond `BYTES_PER_BYTE` per byte of text.
pub(super) fn excess(data: &[u8], text: &str) -> usize {
    data.len().saturating_sub(text.len().saturating_mul(BYTES_PER_BYTE))
}

impl<'s> ElementParser<'s> {
    /// Creates a parser whose elements may take `spare` bytes beyond `BYTES_PER_BYTE` per byte of text.
    pub(super) fn new(text: &'s str, format: ElementFormat, spare: usize) -> ElementParser<'s> {
        let limit = spare.saturating_add(text.len().saturating_mul(BYTES_PER_BYTE));
        ElementParser { text, at: 0, format, is_array: false, limit }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, message: &str) -> ElementsResult<T> {
        Err((Some(self.at), message.into()))
    }

    #[inline]
    pub(super) fn skip_blank(&mut self) {
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

    /// Parses an element or nested lists of elements.
    pub(super) fn read(mut self) -> ElementsResult<Elements> {
        let mut out = Elements::default();
        out.data.reserve(self.text.len() / 2);
        let mut brackets = OpenBrackets::default();
        self.skip_blank();
        if self.peek().is_none() {
            return Ok(out);
        }
        loop {
            // An element or a list begins here.
            if self.peek() == Some(b'[') {
                self.at += 1;
                brackets.open().or_else(|message| self.fail(&message))?;
                self.skip_blank();
                if self.peek() != Some(b']') {
                    continue;
                }
                brackets.innermost().and_then(|()| brackets.close(0)).or_else(|message| self.fail(message))?;
                self.at += 1;
            } else {
                brackets.innermost().or_else(|message| self.fail(message))?;
                self.element(&mut out)?;
                self.check_size(&out)?;
            }
            if self.end_of_lists(&mut brackets)? {
                out.shape = brackets.extents.into_iter().map(|extent| extent.unwrap_or(0)).collect();
                return Ok(out);
            }
        }
    }

    /// Closes the lists that end after an element or list. Returns whether all are closed; otherwise another element
    /// follows.
    fn end_of_lists(&mut self, brackets: &mut OpenBrackets) -> ElementsResult<bool> {
        loop {
            self.skip_blank();
            let Some(count) = brackets.counts.last_mut() else {
                return if self.at == self.text.len() { Ok(true) } else { self.fail("expected '>'") };
            };
            *count += 1;
            match self.peek() {
                Some(b']') => {
                    let count = *count;
                    brackets.close(count).or_else(|message| self.fail(message))?;
                    self.at += 1;
                }
                Some(b',') => {
                    self.at += 1;
                    self.skip_blank();
                    return Ok(false);
                }
                _ => return self.fail("expected ',' or ']'"),
            }
        }
    }

    /// Parses comma-separated elements. An element of no bits takes a byte, so that there are as many bytes as elements.
    pub(super) fn read_flat(&mut self) -> ElementsResult<Vec<u8>> {
        let mut out = Elements::default();
        loop {
            self.skip_blank();
            self.element(&mut out)?;
            self.check_size(&out)?;
            self.skip_blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                None if self.format.size() == 0 => return Ok(vec![0; out.count]),
                None => return Ok(out.data),
                _ => return self.fail("expected '>' to close an array attribute"),
            }
        }
    }

    fn check_size(&self, out: &Elements) -> ElementsResult<()> {
        if out.data.len() > self.limit { self.fail("the elements take too much memory") } else { Ok(()) }
    }

    /// Parses one element, or the two parts of a complex number.
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

    /// Parses a number, a boolean or a string.
    #[inline]
    fn part(&mut self, out: &mut Elements) -> ElementsResult<()> {
        let start = self.at;
        match self.format.elem {
            ElementEncoding::Text => {
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

    /// Consumes letters and digits, with an optional minus sign.
    #[inline]
    fn word(&mut self) -> &'s str {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
            self.skip_blank();
        }
        while let Some(&byte) = bytes.get(self.at) {
            // Inside a number, a sign may only follow the `e` of the exponent.
            let in_exponent = self.at > start && (byte == b'-' || byte == b'+') && bytes[self.at - 1] | 0x20 == b'e';
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
fn push_element(elem: ElementEncoding, literal: &str, is_array: bool, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let (negative, digits) = sign(literal);
    if matches!(digits, "true" | "false") && !negative {
        return match elem {
            ElementEncoding::Bool(_) => {
                out.push(u8::from(digits == "true"));
                Ok(())
            }
            ElementEncoding::Float(_) => Err("expected floating point literal"),
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
        ElementEncoding::Float(kind) => push_float(kind, digits, negative, is_hex, out),
        _ if !is_hex && digits.contains('.') => Err("expected integer elements, but parsed floating-point"),
        _ if !is_hex && !digits.bytes().all(|b| b.is_ascii_digit()) => Err("malformed integer literal"),
        ElementEncoding::Bool(_) if is_array => Err("expected 'true' or 'false' values for i1 type"),
        ElementEncoding::Bool(sign) => push_int(digits, negative, 1, sign, false, out),
        ElementEncoding::Index => push_int(digits, negative, 64, Signedness::Signed, is_array, out),
        ElementEncoding::Int(width, sign) => push_int(digits, negative, width, sign, is_array, out),
        ElementEncoding::Text => Err("expected string literal"),
    }
}

#[inline]
fn push_float(
    kind: FloatKind,
    digits: &str,
    negative: bool,
    is_hex: bool,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
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
) -> Result<(), &'static str> {
    // Fast path: short decimal numbers of common widths.
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
        out.push(u8::from(value != Int::Small(0)));
    } else {
        push_bytes(&value, width, out);
    }
    Ok(())
}
