//! Parsing of `dense<...>`, `array<...>`, `sparse<...>` and `dense_resource<...>`, from text directly to bytes.

use super::elements::{ElementEncoding, ElementFormat, ElementParser, ElementsResult, Shape, excess};
use super::grammar::Rule;
use super::source::{Source, line_end, skip_blank, string_end};
use super::strings::name;
use super::{ParseError, Result, TypeAttrParser, hex};
use crate::attrs::{AttrData, Dense};
use crate::intern::{Attr, Type};
use crate::text::cursor::Cursor;
use pest::iterators::{Pair, Pairs};

impl TypeAttrParser<'_> {
    /// Parses one of the four forms.
    pub(super) fn elements(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>, known: Option<Type>) -> Result<Attr> {
        let at = src.start(&pair);
        let rule = pair.as_rule();
        let mut inner = pair.into_inner();
        let Some(body) = inner.next() else { return Err(ParseError::new(at, "expected '<'")) };
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
            return Err(ParseError::new(at, "elements literal type must have static shape"));
        };
        let result = match rule {
            Rule::sparse => self.sparse(text, ty, &shape),
            _ => self.dense(text, ty, &shape),
        };
        // Errors without an offset are reported at the attribute, others in its body.
        result.map_err(|(offset, message)| ParseError::new(offset.map_or(at, |offset| start + offset), message))
    }

    /// Returns the shaped type of an elements attribute, and its extents if they are static.
    fn shaped_type(
        &mut self,
        src: &Source<'_>,
        inner: &mut Pairs<'_, Rule>,
        known: Option<Type>,
        at: usize,
    ) -> Result<(Type, Option<Vec<usize>>)> {
        let Some(ty) = self.of_type(src, inner, known)? else {
            return Err(ParseError::new(at, "expected ':' and a type after the elements"));
        };
        if !self.ctx.is_shaped(ty) {
            return Err(ParseError::new(at, "elements literal must be a shaped type"));
        }
        let shape = self.ctx.shape(ty).and_then(|s| s.iter().map(|&d| usize::try_from(d).ok()).collect());
        Ok((ty, shape))
    }

    /// Parses the body of `dense<...>`, or one of the two of `sparse<...>`, as an attribute of type `ty`.
    fn dense(&mut self, body: &str, ty: Type, shape: &[usize]) -> ElementsResult<Attr> {
        let elem_ty = self.ctx.element_type(ty);
        let format = ElementFormat::of(self.ctx, elem_ty);
        let mut reader = ElementParser::new(body, format, self.spare);
        reader.skip_blank();
        let total = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if reader.peek() == Some(b'"') && format.elem != ElementEncoding::Text {
            return self.hex(&reader, ty, total);
        }
        if format.complex && format.elem == ElementEncoding::Text {
            return Err((None, "invalid element type".into()));
        }
        let splat_of_strings = reader.peek() == Some(b'"');
        let elements = reader.read()?;
        self.spare = self.spare.saturating_sub(excess(&elements.data, body));
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
        if format.elem == ElementEncoding::Text {
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

    /// Creates a dense attribute; equal elements become a splat.
    fn dense_bytes(&mut self, ty: Type, size: usize, mut data: Vec<u8>) -> Attr {
        let splat = !data.is_empty() && data[size..] == data[..data.len() - size];
        if splat {
            data.truncate(size);
            data.shrink_to_fit();
        }
        // Elements without bits (`i0`) take no bytes; they are a splat.
        let splat = splat || size == 0;
        self.intern(AttrData::Dense(Box::new(Dense::new(ty, splat, data))))
    }

    /// Parses `"0x..."`, the bytes of all elements, or of one for a splat. Booleans are packed eight to a byte.
    fn hex(&mut self, reader: &ElementParser<'_>, ty: Type, total: Option<usize>) -> ElementsResult<Attr> {
        let malformed = || (Some(reader.at), "expected string containing hex digits starting with `0x`".to_string());
        let end = string_end(reader.text.as_bytes(), reader.at + 1);
        if !skip_blank(&reader.text[end..]).is_empty() {
            return Err(malformed());
        }
        let literal = &reader.text.as_bytes()[reader.at..end];
        // Other characters, such as escapes or quotes, are no digits and are rejected by the decoder.
        let digits = literal.strip_prefix(b"\"0x").and_then(|rest| rest.strip_suffix(b"\"")).ok_or_else(malformed)?;
        let mut data = hex::decode(digits).ok_or_else(malformed)?;
        let format = reader.format;
        let ctx = self.ctx;
        let wrong_size = || {
            let ty = ctx.display_type(ty);
            (None, format!("elements hex data size is invalid for provided type: '{ty}'"))
        };
        let is_bool = matches!(format.elem, ElementEncoding::Bool(_));
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
        format.clear_unused_bits(&mut data);
        Ok(self.dense_bytes(ty, format.size(), data))
    }

    /// Parses the body of `array<i32: 1, 2>`.
    fn dense_array(&mut self, body: &str, start: usize) -> Result<Attr> {
        let mut cur = Cursor::of_reader(body, self.reader);
        let in_body = |error: ParseError| ParseError { offset: start + error.offset, ..error };
        let elem = self.ty_at(&mut cur).map_err(in_body)?;
        let word = skip_blank(cur.since(0));
        let has_list = cur.eat(":");
        if !has_list && !cur.at_end() {
            return Err(in_body(ParseError::new(cur.pos, "expected ':' or '>' after the element type")));
        }
        let format = ElementFormat::of(self.ctx, elem);
        match format.elem {
            _ if format.complex => return Err(ParseError::new(start, "expected integer or float type")),
            ElementEncoding::Text | ElementEncoding::Index => {
                return Err(ParseError::new(start, format!("expected integer or float type, got: '{word}'")));
            }
            ElementEncoding::Int(width, _) if width % 8 != 0 => {
                return Err(ParseError::new(start, "element type bitwidth must be a multiple of 8"));
            }
            ElementEncoding::Float(kind) if kind.width() % 8 != 0 => {
                return Err(ParseError::new(start, "element type bitwidth must be a multiple of 8"));
            }
            _ => {}
        }
        let data = match has_list {
            false => Vec::new(),
            true => {
                let (start, list) = (start + cur.pos, cur.rest());
                let mut reader = ElementParser::new(list, format, self.spare);
                reader.is_array = true;
                let place =
                    |(offset, message): (Option<usize>, String)| ParseError::new(start + offset.unwrap_or(0), message);
                let data = reader.read_flat().map_err(place)?;
                self.spare = self.spare.saturating_sub(excess(&data, list));
                data
            }
        };
        Ok(self.intern(AttrData::DenseArray { elem, data: data.into() }))
    }

    /// Parses the body of `sparse<indices, values>`.
    fn sparse(&mut self, body: &str, ty: Type, shape: &[usize]) -> ElementsResult<Attr> {
        let elem = self.ctx.element_type(ty);
        let rank = shape.len();
        let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let Some(comma) = top_level_comma(body) else {
            if !skip_blank(body).is_empty() {
                return Err((Some(body.len()), "expected ','".into()));
            }
            let indices_ty = self.ctx.tensor_type(&[0, size(rank)], Type::I64);
            let values_ty = self.ctx.tensor_type(&[0], elem);
            let indices = self.dense_bytes(indices_ty, 8, Vec::new());
            let values = self.dense("", values_ty, &[0])?;
            return Ok(self.intern(AttrData::Sparse { ty, indices, values }));
        };
        let (head, tail) = (&body[..comma], &body[comma + 1..]);
        let spare = self.spare;
        let inferred =
            |text: &str, format| ElementParser::new(text, format, spare).read().map(|elements| elements.shape);
        if skip_blank(head).starts_with('"') {
            return Err((Some(0), "expected element literal of primitive type".into()));
        }
        let mut indices_shape = inferred(head, ElementFormat { elem: ElementEncoding::Index, complex: false })?;
        if indices_shape.is_empty() {
            indices_shape = Shape::from_slice(&[1, rank]);
        }
        let in_tail = |(offset, message): (Option<usize>, String)| (offset.map(|o| o + comma + 1), message);
        let mut values_shape: Shape = match skip_blank(tail).starts_with('"') {
            true => Shape::new(),
            false => inferred(tail, ElementFormat::of(self.ctx, elem)).map_err(in_tail)?,
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

    /// Checks that every value has an index and that every index is in bounds.
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
        let data = dense.data();
        let index = |at: usize| {
            let bytes = if dense.splat { data.get(..8) } else { data.get(8 * at..8 * at + 8) };
            bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, i64::from_le_bytes)
        };
        // For a splat, checking one row suffices.
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

/// Returns the offset of the comma outside of brackets, strings and comments.
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
            b'/' if bytes.get(i + 1) == Some(&b'/') => i = line_end(bytes, i),
            _ => {}
        }
        i += 1;
    }
    None
}
