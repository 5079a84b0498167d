//! A fast path for dictionaries.
//!
//! Most new dictionaries differ from earlier ones only in a nested number. Dictionaries, lists, strings and plain
//! numbers are taken apart by hand; the remaining values are mostly memoized. Unexpected text is left to the grammar as
//! a whole, which is the only source of error messages.

use super::TypeAttrParser;
use crate::attrs::AttrData;
use crate::intern::{Attr, Str, Type};
use crate::text::cursor::{Cursor, trim_blanks_end};
use crate::types::TypeData;
use crate::values::float;

/// Maximum nesting depth of the fast path; the grammar runs with enough stack for deeper values.
const MAX_QUICK_DEPTH: usize = 16;

impl TypeAttrParser<'_> {
    /// Parses a text that is a dictionary; `None` if the grammar has to.
    pub(super) fn quick_dict(&mut self, text: &str) -> Option<Attr> {
        let mut cur = Cursor::new(text);
        let dict = self.quick_entries(&mut cur, 0)?;
        cur.at_end().then_some(dict)
    }

    fn quick_entries(&mut self, cur: &mut Cursor<'_>, depth: usize) -> Option<Attr> {
        let mut entries: Vec<(Str, Attr)> = Vec::new();
        cur.pos += 1;
        cur.skip_space();
        while cur.peek() != b'}' {
            let key = cur.word();
            if key.is_empty() {
                return None;
            }
            let key = self.ctx.str(key);
            let value = if cur.eat("=") { self.quick_value(cur, depth + 1)? } else { Attr::UNIT };
            entries.push((key, value));
            cur.skip_space();
            match cur.peek() {
                b',' => {
                    cur.pos += 1;
                    cur.skip_space();
                    if cur.peek() == b'}' {
                        return None;
                    }
                }
                b'}' => {}
                _ => return None,
            }
        }
        cur.pos += 1;
        self.count();
        self.size.depth += 1;
        let len = entries.len();
        let dict = self.ctx.dict_attr(entries);
        // A duplicate key is an error, which the grammar path reports.
        (self.ctx.dict_entries(dict).len() == len).then_some(dict)
    }

    fn quick_list(&mut self, cur: &mut Cursor<'_>, depth: usize) -> Option<Attr> {
        let mut list = Vec::new();
        cur.pos += 1;
        cur.skip_space();
        while cur.peek() != b']' {
            list.push(self.quick_value(cur, depth + 1)?);
            cur.skip_space();
            match cur.peek() {
                b',' if cur.peek_at(1) != b']' => cur.pos += 1,
                b']' => {}
                _ => return None,
            }
        }
        cur.pos += 1;
        self.count();
        self.size.depth += 1;
        Some(self.ctx.array_attr(&list))
    }

    fn quick_value(&mut self, cur: &mut Cursor<'_>, depth: usize) -> Option<Attr> {
        cur.skip_space();
        match cur.peek() {
            _ if depth > MAX_QUICK_DEPTH => None,
            b'{' => self.quick_entries(cur, depth),
            b'[' => self.quick_list(cur, depth),
            b'"' => self.quick_string(cur),
            b'-' | b'0'..=b'9' => self.quick_number(cur),
            _ => {
                let text = value_text(cur)?;
                self.attr(text).ok()
            }
        }
    }

    /// Parses a string without escapes and without a type.
    fn quick_string(&mut self, cur: &mut Cursor<'_>) -> Option<Attr> {
        let start = cur.pos + 1;
        if !cur.skip_string() {
            return None;
        }
        let text = &cur.text()[start..cur.pos - 1];
        if text.contains('\\') || cur.clone().eat(":") {
            return None;
        }
        self.count();
        Some(self.ctx.string_attr(text))
    }

    /// Parses a decimal integer or float with an optional type.
    fn quick_number(&mut self, cur: &mut Cursor<'_>) -> Option<Attr> {
        let start = cur.pos;
        cur.pos += usize::from(cur.peek() == b'-');
        let digits = cur.number();
        let text = cur.since(start);
        let ty = if cur.eat(":") {
            cur.skip_space();
            let at = cur.pos;
            if !cur.skip_type() {
                return None;
            }
            Some(self.ty(cur.since(at)).ok()?)
        } else {
            None
        };
        self.count();
        if digits.bytes().all(|b| b.is_ascii_digit()) {
            // There is no -0; the grammar reports it.
            let value = text.parse().ok().filter(|&value| value != 0 || !text.starts_with('-'))?;
            self.quick_int(value, ty.unwrap_or(Type::I64))
        } else if digits.contains('.') {
            self.quick_float(text, ty.unwrap_or(Type::F64))
        } else {
            None
        }
    }

    fn quick_int(&mut self, value: i64, ty: Type) -> Option<Attr> {
        let width = match self.ctx.type_data(ty) {
            TypeData::Index => 64,
            TypeData::Integer { width: width @ 2..=64, .. } if !self.ctx.is_unsigned(ty) => *width,
            _ => return None,
        };
        let fits = width == 64 || (value >= -(1 << (width - 1)) && value < 1 << (width - 1));
        fits.then(|| self.ctx.int_attr(ty, value))
    }

    fn quick_float(&mut self, text: &str, ty: Type) -> Option<Attr> {
        let bits = float::parse_literal(self.ctx.float_kind(ty)?, text)?;
        Some(self.intern(AttrData::Float { ty, bits: [bits as u64, (bits >> 64) as u64] }))
    }
}

/// Returns the text of a value up to the comma or bracket that ends it.
fn value_text<'a>(cur: &mut Cursor<'a>) -> Option<&'a str> {
    let start = cur.pos;
    loop {
        let goes_on = match cur.peek() {
            b'(' | b'[' | b'{' | b'<' => cur.skip_balanced(),
            b'"' => cur.skip_string(),
            b',' | b'}' | b']' => return Some(trim_blanks_end(cur.since(start))),
            b'/' => false,
            0 if cur.at_end() => false,
            _ => {
                cur.pos += 1;
                true
            }
        };
        if !goes_on {
            return None;
        }
    }
}
