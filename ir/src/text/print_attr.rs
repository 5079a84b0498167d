//! Printing of types and attributes, exactly as in mlir-opt.

use super::print_alias::{AliasBuilder, Aliases};
use super::type_attr_parser::{int_from_bytes, push_hex, push_i64, push_int};
use crate::attrs::{AttrData, Dense, Int, Piece};
use crate::context::Context;
use crate::intern::{Attr, Str, Type};
use crate::types::{DYNAMIC, Signedness, TypeData};
use crate::values::float::{self, FloatKind};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Number of elements above which a non-splat constant is printed as hexadecimal bytes.
const MAX_LISTED: usize = 100;

/// Maximum stack in bytes that the printer uses between two stack checks.
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 4 << 20;

/// The elision of an attribute's type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elide {
    /// The type is printed.
    Never,
    /// The type is omitted if it is the default, as in arrays.
    May,
    /// The type is omitted: it follows from the context.
    Must,
}

/// A printer of types and attributes. It numbers `distinct` attributes in print order, so one printer prints a whole
/// file.
pub(crate) struct AttrPrinter<'a> {
    pub(super) ctx: &'a Context,
    aliases: Option<&'a Aliases>,
    /// The collector of aliases. While it is set, types and attributes are visited instead of printed.
    pub(super) visitor: Option<AliasBuilder<'a>>,
    pub(super) distinct: FxHashMap<Attr, usize>,
    /// Keys of resources, in order of their first mention.
    pub(super) resources: IndexSet<Str>,
    /// Number of elements above which constants are elided.
    elide: Option<usize>,
}

impl<'a> AttrPrinter<'a> {
    /// Creates a printer that uses `aliases`.
    pub(crate) fn new(ctx: &'a Context, aliases: Option<&'a Aliases>) -> AttrPrinter<'a> {
        let distinct = aliases.map(|aliases| aliases.distinct.clone()).unwrap_or_default();
        AttrPrinter { ctx, aliases, visitor: None, distinct, resources: IndexSet::new(), elide: None }
    }

    /// Elides constants with more elements than `more_than`.
    #[must_use]
    pub(crate) fn eliding(mut self, more_than: Option<usize>) -> AttrPrinter<'a> {
        self.elide = more_than;
        self
    }

    /// Appends a type.
    pub(crate) fn ty(&mut self, ty: Type, out: &mut String) {
        if let Some(visitor) = &mut self.visitor {
            return visitor.visit_type(ty);
        }
        match self.aliases.and_then(|aliases| aliases.ty(ty)) {
            Some(name) => out.push_str(name),
            None => self.ty_written_out(ty, out),
        }
    }

    /// Appends an attribute, with its type if it has one.
    pub(crate) fn attr(&mut self, attr: Attr, out: &mut String) {
        self.attr_or_alias(attr, Elide::Never, out);
    }

    /// Appends an attribute with its type unless that is the default, as in arrays.
    pub(super) fn attr_in_array(&mut self, attr: Attr, out: &mut String) {
        self.attr_or_alias(attr, Elide::May, out);
    }

    /// Appends an attribute whose type follows from the context.
    pub(crate) fn attr_without_type(&mut self, attr: Attr, out: &mut String) {
        self.attr_or_alias(attr, Elide::Must, out);
    }

    /// Appends an attribute, without its alias.
    pub(crate) fn attr_inline(&mut self, attr: Attr, out: &mut String) {
        if self.visitor.is_none() {
            self.attr_written_out(attr, out);
        }
    }

    /// Appends `loc(...)`, with the location's alias if it has one.
    pub(crate) fn trailing_loc(&mut self, loc: Attr, out: &mut String) {
        if let Some(visitor) = &mut self.visitor {
            return visitor.visit_loc(loc, true);
        }
        out.push_str("loc(");
        match self.aliases.and_then(|aliases| aliases.attr(loc)) {
            Some(name) => out.push_str(name),
            None => self.loc_written_out(loc, out),
        }
        out.push(')');
    }

    /// Appends `loc(...)` without the location's alias, as MLIR does for block arguments.
    pub(crate) fn trailing_loc_inline(&mut self, loc: Attr, out: &mut String) {
        if let Some(visitor) = &mut self.visitor {
            return visitor.visit_loc(loc, false);
        }
        out.push_str("loc(");
        self.loc_written_out(loc, out);
        out.push(')');
    }

    /// Appends the entries of a dictionary, without braces.
    pub(crate) fn dict_entries(&mut self, entries: &[(Str, Attr)], out: &mut String) {
        for (i, &(name, value)) in entries.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            push_keyword_or_string(self.ctx.text(name), out);
            if value != Attr::UNIT {
                out.push_str(" = ");
                self.attr(value, out);
            }
        }
    }

    /// Appends comma-separated types.
    pub(crate) fn types(&mut self, types: &[Type], out: &mut String) {
        self.list(types, out, Self::ty);
    }

    /// Appends `(inputs) -> results`.
    pub(crate) fn signature(&mut self, inputs: &[Type], results: &[Type], out: &mut String) {
        out.push('(');
        self.types(inputs, out);
        out.push_str(") -> ");
        match results {
            [one] if !matches!(self.ctx.type_data(*one), TypeData::Function { .. }) => self.ty(*one, out),
            _ => {
                out.push('(');
                self.types(results, out);
                out.push(')');
            }
        }
    }

    /// Appends a type without its alias; nested types and attributes use theirs.
    pub(crate) fn ty_written_out(&mut self, ty: Type, out: &mut String) {
        if matches!(self.ctx.type_data(ty), TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index) {
            return self.ty_inner(ty, out);
        }
        stacker::maybe_grow(RED_ZONE, STACK, || self.ty_inner(ty, out));
    }

    /// Appends an attribute without its alias; nested types and attributes use theirs.
    pub(crate) fn attr_written_out(&mut self, attr: Attr, out: &mut String) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.attr_inner(attr, Elide::Never, out));
    }

    fn attr_or_alias(&mut self, attr: Attr, elide: Elide, out: &mut String) {
        if let Some(visitor) = &mut self.visitor {
            return visitor.visit_attr(attr);
        }
        match self.aliases.and_then(|aliases| aliases.attr(attr)) {
            Some(name) => out.push_str(name),
            None if is_leaf(self.ctx.attr_data(attr)) => self.attr_inner(attr, elide, out),
            None => stacker::maybe_grow(RED_ZONE, STACK, || self.attr_inner(attr, elide, out)),
        }
    }

    fn list<T: Copy>(&mut self, items: &[T], out: &mut String, mut print: impl FnMut(&mut Self, T, &mut String)) {
        for (i, &item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            print(self, item, out);
        }
    }

    fn ty_inner(&mut self, ty: Type, out: &mut String) {
        match self.ctx.type_data(ty) {
            TypeData::Integer { width, sign } => {
                out.push_str(match sign {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                });
                push_i64(i64::from(*width), out);
            }
            TypeData::Float(kind) => out.push_str(kind.name()),
            TypeData::Index => out.push_str("index"),
            TypeData::None => out.push_str("none"),
            TypeData::Complex(elem) => {
                out.push_str("complex<");
                self.ty(*elem, out);
                out.push('>');
            }
            TypeData::Function { inputs, results } => self.signature(inputs, results, out),
            TypeData::Tuple(elems) => {
                out.push_str("tuple<");
                self.types(elems, out);
                out.push('>');
            }
            TypeData::Dialect { dialect, body } => self.dialect_symbol('!', *dialect, body, out),
            TypeData::Declared { name, params } => {
                let decl = self.ctx.type_info(ty).map(|info| &info.decl);
                self.declared('!', *name, decl, params, out);
            }
            _ => self.shaped(ty, out),
        }
    }

    fn shaped(&mut self, ty: Type, out: &mut String) {
        match self.ctx.type_data(ty) {
            TypeData::Vector { shape, scalable, elem } => {
                out.push_str("vector<");
                for (&dim, &scalable) in shape.iter().zip(scalable) {
                    if scalable {
                        out.push('[');
                    }
                    push_i64(dim, out);
                    out.push_str(if scalable { "]x" } else { "x" });
                }
                self.ty(*elem, out);
            }
            TypeData::Tensor { shape, elem, encoding } => {
                out.push_str("tensor<");
                push_shape(shape, out);
                self.ty(*elem, out);
                if let Some(encoding) = encoding {
                    out.push_str(", ");
                    self.attr(*encoding, out);
                }
            }
            TypeData::UnrankedTensor(elem) => {
                out.push_str("tensor<*x");
                self.ty(*elem, out);
            }
            TypeData::MemRef { shape, elem, layout, space } => {
                out.push_str("memref<");
                push_shape(shape, out);
                self.ty(*elem, out);
                for attr in [layout, space].into_iter().flatten() {
                    out.push_str(", ");
                    self.attr_or_alias(*attr, Elide::May, out);
                }
            }
            TypeData::UnrankedMemRef { elem, space } => {
                out.push_str("memref<*x");
                self.ty(*elem, out);
                if let Some(space) = space {
                    out.push_str(", ");
                    self.attr_or_alias(*space, Elide::May, out);
                }
            }
            _ => {}
        }
        out.push('>');
    }

    /// Appends an attribute and, unless it is elided, its type.
    fn attr_inner(&mut self, attr: Attr, elide: Elide, out: &mut String) {
        match self.ctx.attr_data(attr) {
            AttrData::Integer { ty: Type::I1, value } => {
                return out.push_str(if *value == Int::Small(0) { "false" } else { "true" });
            }
            AttrData::Integer { ty, value } => {
                let (width, sign) = int_format(self.ctx, *ty);
                push_int(value, width, sign, out);
                if elide == Elide::May && *ty == Type::I64 {
                    return;
                }
            }
            AttrData::Float { ty, bits } => {
                let start = out.len();
                let bits = u128::from(bits[0]) | u128::from(bits[1]) << 64;
                float::print(self.ctx.float_kind(*ty).unwrap_or(FloatKind::F64), bits, out);
                if elide == Elide::May && *ty == Type::F64 && !out[start..].starts_with("0x") {
                    return;
                }
            }
            AttrData::String { value, .. } => push_string(value, out),
            AttrData::Dialect { dialect, body, .. } => self.dialect_symbol('#', *dialect, body, out),
            AttrData::Declared { name, params, .. } => {
                let decl = self.ctx.attr_info(attr).map(|info| &info.decl);
                self.declared('#', *name, decl, params, out);
            }
            data if self.is_elided(data) => out.push_str("dense_resource<__elided__>"),
            AttrData::Dense(dense) => {
                out.push_str("dense<");
                self.dense(dense, true, out);
                out.push('>');
            }
            AttrData::DenseStrings { ty, values } => {
                out.push_str("dense<");
                self.dense_strings(*ty, values, out);
                out.push('>');
            }
            AttrData::DenseResource { key, .. } => {
                self.resources.insert(*key);
                out.push_str("dense_resource<");
                push_keyword_or_string(self.ctx.text(*key), out);
                out.push('>');
            }
            AttrData::Sparse { indices, values, .. } => {
                out.push_str("sparse<");
                self.sparse(*indices, *values, out);
                out.push('>');
            }
            _ => return self.untyped(attr, out),
        }
        if elide != Elide::Must
            && let Some(ty) = self.ctx.attr_type(attr)
        {
            out.push_str(" : ");
            self.ty(ty, out);
        }
    }

    /// Whether a constant has too many elements to be printed; splats are never elided.
    fn is_elided(&self, data: &AttrData) -> bool {
        let Some(limit) = self.elide else { return false };
        let elements = |ty| self.ctx.static_shape(ty).map_or(0, |s| s.iter().map(|&d| d as usize).product::<usize>());
        match data {
            AttrData::Dense(dense) => !dense.splat && elements(dense.ty) > limit,
            AttrData::DenseStrings { values, .. } => values.len() > limit.max(1),
            AttrData::Sparse { indices, values, .. } => {
                [indices, values].iter().any(|&&part| self.is_elided(self.ctx.attr_data(part)))
            }
            _ => false,
        }
    }

    /// Appends an attribute that has no type.
    fn untyped(&mut self, attr: Attr, out: &mut String) {
        match self.ctx.attr_data(attr) {
            AttrData::Unit => out.push_str("unit"),
            AttrData::Array(elems) => {
                out.push('[');
                self.list(elems, out, Self::attr_in_array);
                out.push(']');
            }
            AttrData::Dict(entries) => {
                out.push('{');
                self.dict_entries(entries, out);
                out.push('}');
            }
            AttrData::Type(ty) => self.ty(*ty, out),
            AttrData::Symbol { root, nested } => {
                symbol_name(self.ctx.text(*root).as_bytes(), out);
                for &name in nested {
                    out.push_str("::");
                    symbol_name(self.ctx.text(name).as_bytes(), out);
                }
            }
            AttrData::AffineMap(map) => {
                let _ = write!(out, "affine_map<{map}>");
            }
            AttrData::IntegerSet(set) => {
                let _ = write!(out, "affine_set<{set}>");
            }
            AttrData::DenseArray { elem, data } => self.dense_array(*elem, data, out),
            AttrData::Strided { offset, strides } => {
                out.push_str("strided<[");
                self.list(strides, out, |_, stride, out| push_dim(stride, out));
                out.push(']');
                if *offset != 0 {
                    out.push_str(", offset: ");
                    push_dim(*offset, out);
                }
                out.push('>');
            }
            AttrData::Distinct { inner, .. } => {
                let next = self.distinct.len();
                let number = *self.distinct.entry(attr).or_insert(next);
                let _ = write!(out, "distinct[{number}]<");
                if *inner != Attr::UNIT {
                    self.attr(*inner, out);
                }
                out.push('>');
            }
            _ => {
                out.push_str("loc(");
                self.loc_written_out(attr, out);
                out.push(')');
            }
        }
    }

    /// Appends a nested location.
    fn inner_loc(&mut self, loc: Attr, out: &mut String) {
        match self.aliases.and_then(|aliases| aliases.attr(loc)) {
            Some(name) => out.push_str(name),
            None => stacker::maybe_grow(RED_ZONE, STACK, || self.loc_written_out(loc, out)),
        }
    }

    fn loc_written_out(&mut self, loc: Attr, out: &mut String) {
        match self.ctx.attr_data(loc) {
            AttrData::LocFile { file, pos: [line, col, end_line, end_col] } => {
                push_string(self.ctx.text(*file).as_bytes(), out);
                let _ = write!(out, ":{line}:{col}");
                let _ = match (line == end_line, col == end_col) {
                    (true, true) => Ok(()),
                    (true, false) => write!(out, " to :{end_col}"),
                    _ => write!(out, " to {end_line}:{end_col}"),
                };
            }
            AttrData::LocName { name, child } => {
                push_string(self.ctx.text(*name).as_bytes(), out);
                if *child != Attr::LOC_UNKNOWN {
                    out.push('(');
                    self.inner_loc(*child, out);
                    out.push(')');
                }
            }
            AttrData::LocCallSite { callee, caller } => {
                out.push_str("callsite(");
                self.inner_loc(*callee, out);
                out.push_str(" at ");
                self.inner_loc(*caller, out);
                out.push(')');
            }
            AttrData::LocFused { locs, meta } => {
                out.push_str("fused");
                if let Some(meta) = meta {
                    out.push('<');
                    self.attr(*meta, out);
                    out.push('>');
                }
                out.push('[');
                self.list(locs, out, Self::inner_loc);
                out.push(']');
            }
            AttrData::LocUnknown => out.push_str("unknown"),
            // Not a location; the parser creates no such attribute.
            _ => self.attr(loc, out),
        }
    }

    /// Appends `#dialect.body` if the body is a name, optionally followed by angle brackets; else `#dialect<body>`.
    fn dialect_symbol(&mut self, prefix: char, dialect: Str, body: &[Piece], out: &mut String) {
        out.push(prefix);
        out.push_str(self.ctx.text(dialect));
        let pretty = is_pretty(body);
        out.push(if pretty { '.' } else { '<' });
        for piece in body {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Twin(_) => {}
                Piece::Attr(attr) => self.attr(*attr, out),
                Piece::Type(ty) => self.ty(*ty, out),
            }
        }
        if !pretty {
            out.push('>');
        }
    }

    fn dense(&mut self, dense: &Dense, hex_allowed: bool, out: &mut String) {
        let (elem, data) = (self.ctx.element_type(dense.ty), dense.data());
        let total = self
            .ctx
            .shape(dense.ty)
            .and_then(|shape| shape.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?)));
        if dense.splat {
            return push_element(self.ctx, elem, &data, out);
        }
        if hex_allowed && total.is_none_or(|n| n > MAX_LISTED) {
            out.push_str("\"0x");
            if self.ctx.int_width(elem) == Some(1) {
                push_hex(&pack_bits(&data), out);
            } else {
                push_hex(&data, out);
            }
            return out.push('"');
        }
        let count = total.unwrap_or(0);
        if count == 0 {
            return;
        }
        let size = data.len() / count;
        let shape = self.ctx.shape(dense.ty).unwrap_or_default();
        let ctx = self.ctx;
        nested(shape, count, out, |i, out| {
            push_element(ctx, elem, data.get(i * size..(i + 1) * size).unwrap_or_default(), out);
        });
    }

    fn dense_strings(&mut self, ty: Type, values: &[Box<[u8]>], out: &mut String) {
        if let [one] = values {
            return push_string(one, out);
        }
        let shape = self.ctx.shape(ty).unwrap_or_default();
        if !values.is_empty() {
            nested(shape, values.len(), out, |i, out| push_string(&values[i], out));
        }
    }

    fn sparse(&mut self, indices: Attr, values: Attr, out: &mut String) {
        let AttrData::Dense(indices) = self.ctx.attr_data(indices) else { return };
        if self.ctx.shape(indices.ty).is_some_and(|shape| shape.contains(&0)) {
            return;
        }
        self.dense(indices, false, out);
        out.push_str(", ");
        match self.ctx.attr_data(values) {
            AttrData::Dense(values) => self.dense(values, true, out),
            AttrData::DenseStrings { ty, values } => self.dense_strings(*ty, values, out),
            _ => {}
        }
    }

    fn dense_array(&mut self, elem: Type, data: &[u8], out: &mut String) {
        out.push_str("array<");
        self.ty(elem, out);
        let width = self.ctx.int_width(elem).or_else(|| self.ctx.float_kind(elem).map(FloatKind::width));
        let size = width.unwrap_or(8).div_ceil(8).max(1) as usize;
        for (i, bytes) in data.chunks(size).enumerate() {
            out.push_str(if i == 0 { ": " } else { ", " });
            push_element(self.ctx, elem, bytes, out);
        }
        out.push('>');
    }
}

/// Returns the width and signedness with which integers of a type are printed.
fn int_format(ctx: &Context, ty: Type) -> (u32, Signedness) {
    match *ctx.type_data(ty) {
        TypeData::Integer { width, sign } => (width, sign),
        _ => (64, Signedness::Signless),
    }
}

/// Appends one element of a dense attribute.
fn push_element(ctx: &Context, ty: Type, bytes: &[u8], out: &mut String) {
    match *ctx.type_data(ty) {
        TypeData::Integer { width: 1, .. } => {
            out.push_str(if bytes.first().is_some_and(|&b| b != 0) { "true" } else { "false" });
        }
        TypeData::Float(kind) => {
            let mut wide = [0; 16];
            let n = bytes.len().min(16);
            wide[..n].copy_from_slice(&bytes[..n]);
            float::print(kind, u128::from_le_bytes(wide), out);
        }
        TypeData::Complex(part) => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            out.push('(');
            push_element(ctx, part, re, out);
            out.push(',');
            push_element(ctx, part, im, out);
            out.push(')');
        }
        _ => {
            let (width, sign) = int_format(ctx, ty);
            push_int(&int_from_bytes(bytes, width, sign), width, sign, out);
        }
    }
}

/// Appends elements `0..count` in nested brackets that reflect the shape.
fn nested(shape: &[i64], count: usize, out: &mut String, mut element: impl FnMut(usize, &mut String)) {
    // Number of elements per bracket of each dimension.
    let mut blocks = Vec::with_capacity(shape.len());
    let mut block = 1;
    for &dim in shape.iter().rev() {
        block *= usize::try_from(dim).unwrap_or(1);
        blocks.push(block);
    }
    for i in 0..count {
        let opening = blocks.iter().filter(|&&block| i % block == 0).count();
        if i > 0 {
            out.push_str(", ");
        }
        out.extend(std::iter::repeat_n('[', opening));
        element(i, out);
        let closing = blocks.iter().filter(|&&block| (i + 1) % block == 0).count();
        out.extend(std::iter::repeat_n(']', closing));
    }
}

/// Packs booleans, one per byte, into eight per byte.
fn pack_bits(bools: &[u8]) -> Vec<u8> {
    bools.chunks(8).map(|chunk| chunk.iter().enumerate().fold(0, |byte, (i, &b)| byte | (b & 1) << i)).collect()
}

fn is_pretty(mut body: &[Piece]) -> bool {
    if let [rest @ .., Piece::Twin(_)] = body {
        body = rest;
    }
    let Some(Piece::Text(first)) = body.first() else { return false };
    if !first.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let name = first.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_')).count();
    match body {
        [_] if name == first.len() => true,
        [.., Piece::Text(last)] => first[name..].starts_with('<') && last.ends_with('>'),
        _ => false,
    }
}

fn push_dim(dim: i64, out: &mut String) {
    if dim == DYNAMIC {
        out.push('?');
    } else {
        push_i64(dim, out);
    }
}

fn push_shape(shape: &[i64], out: &mut String) {
    for &dim in shape {
        push_dim(dim, out);
        out.push('x');
    }
}

/// Whether the attribute contains no other attribute, so that printing it does not recurse.
fn is_leaf(data: &AttrData) -> bool {
    matches!(
        data,
        AttrData::Unit
            | AttrData::Integer { .. }
            | AttrData::Float { .. }
            | AttrData::String { .. }
            | AttrData::Symbol { .. }
            | AttrData::DenseArray { .. }
    )
}

/// Appends `"text"` with MLIR's escapes.
pub(crate) fn push_string(bytes: &[u8], out: &mut String) {
    out.push('"');
    push_escaped(bytes, out);
    out.push('"');
}

/// Appends text with MLIR's escapes.
pub(crate) fn push_escaped(bytes: &[u8], out: &mut String) {
    let plain = |b: u8| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\';
    let mut rest = bytes;
    while !rest.is_empty() {
        let run = rest.iter().take_while(|&&b| plain(b)).count();
        out.push_str(std::str::from_utf8(&rest[..run]).unwrap_or_default());
        let Some((&special, after)) = rest[run..].split_first() else { return };
        out.push('\\');
        if special == b'\\' {
            out.push('\\');
        } else {
            push_hex(&[special], out);
        }
        rest = after;
    }
}

/// Appends a name, quoted unless it is a bare identifier.
pub(crate) fn push_keyword_or_string(name: &str, out: &mut String) {
    let bytes = name.as_bytes();
    let bare = bytes.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.iter().all(|&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
    if bare {
        out.push_str(name);
    } else {
        push_string(bytes, out);
    }
}

/// Appends `@name`.
pub(crate) fn symbol_name(name: &[u8], out: &mut String) {
    out.push('@');
    match std::str::from_utf8(name) {
        Ok(name) => push_keyword_or_string(name, out),
        Err(_) => push_string(name, out),
    }
}
