//! Printing of declared types and attributes, and of attributes in the syntax of their kind.

use super::param_format::ParamElem;
use super::print_attr::{AttrPrinter, symbol_name};
use super::spacing::Spacing;
use crate::attrs::{AttrData, Int, Piece};
use crate::constraint::{AttrSpec, AttrText};
use crate::context::Context;
use crate::intern::{Attr, Str, Type};
use crate::parametric::Parametric;

/// Integral numbers below this are printed without an exponent.
const MAX_PLAIN: f64 = 1e15;

/// Returns the text of a number: without a point if it is integral and not large; only a number with a point has an exponent.
fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < MAX_PLAIN {
        return number.to_string();
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

impl AttrPrinter<'_> {
    /// Appends a declared type or attribute: its name and its parameters.
    pub(super) fn declared(
        &mut self,
        sigil: char,
        name: Str,
        decl: Option<&'static Parametric>,
        params: &[Option<Attr>],
        out: &mut String,
    ) {
        out.push(sigil);
        out.push_str(self.ctx.text(name));
        if let Some(decl) = decl {
            self.params(decl, params, out);
        }
    }

    fn params(&mut self, decl: &'static Parametric, params: &[Option<Attr>], out: &mut String) {
        let ctx = self.ctx;
        match ctx.params_format(decl) {
            Some(Ok(format)) => {
                let mut spacing = Spacing { punctuation: false, wanted: false };
                self.formatted(decl, format, params, &mut spacing, out);
            }
            _ => self.listed(decl, params, out),
        }
    }

    /// Appends `<required, optional = value>`; nothing without parameters.
    fn listed(&mut self, decl: &'static Parametric, params: &[Option<Attr>], out: &mut String) {
        let (start, mut separator) = (out.len(), "<");
        for is_required in [true, false] {
            for (spec, &value) in decl.params.iter().zip(params) {
                let Some(value) = value else { continue };
                if (spec.optional || spec.default.is_some()) == is_required || is_default(self.ctx, spec, value) {
                    continue;
                }
                out.push_str(std::mem::replace(&mut separator, ", "));
                let is_flag = matches!(spec.kind.text, AttrText::Flag);
                if !is_required {
                    out.push_str(spec.name);
                    out.push_str(if is_flag { "" } else { " = " });
                }
                if !is_flag {
                    self.attr_of_param(value, &spec.kind.text, out);
                }
            }
        }
        if out.len() > start {
            out.push('>');
        }
    }

    fn formatted(
        &mut self,
        decl: &'static Parametric,
        elems: &[ParamElem],
        params: &[Option<Attr>],
        spacing: &mut Spacing,
        out: &mut String,
    ) {
        for elem in elems {
            match elem {
                ParamElem::Literal(text) => spacing.literal(text, out),
                ParamElem::Space(blank) => spacing.space(*blank, out),
                ParamElem::Param(i) => {
                    if let Some(value) = params[*i] {
                        spacing.value(out);
                        self.attr_of_param(value, &decl.params[*i].kind.text, out);
                    }
                }
                ParamElem::Group { then, otherwise, anchor } => {
                    let is_there = params[*anchor].is_some_and(|v| !is_default(self.ctx, &decl.params[*anchor], v));
                    self.formatted(decl, if is_there { then } else { otherwise }, params, spacing, out);
                }
            }
        }
    }

    /// Appends a parameter in the syntax of its kind; default types of numbers are omitted, as in arrays.
    fn attr_of_param(&mut self, value: Attr, kind: &AttrText, out: &mut String) {
        if let AttrText::Full = kind { self.attr_in_array(value, out) } else { self.attr_of_kind(value, kind, out) }
    }

    /// Appends an attribute in the syntax of its kind.
    pub(super) fn attr_of_kind(&mut self, value: Attr, kind: &AttrText, out: &mut String) {
        let ctx = self.ctx;
        match (kind, ctx.attr_data(value)) {
            (AttrText::Inlined, _) => self.attr_inline(value, out),
            (AttrText::Bare(_) | AttrText::Quoted, _) => self.attr_without_type(value, out),
            (AttrText::Number, AttrData::Float { ty: Type::F64, .. }) => {
                out.push_str(&number_text(ctx.as_float(value).unwrap_or(f64::NAN)));
            }
            (AttrText::SymbolName, AttrData::String { .. }) => {
                symbol_name(ctx.as_str(value).unwrap_or("").as_bytes(), out);
            }
            (AttrText::Type, AttrData::Type(ty)) => self.ty(*ty, out),
            (AttrText::Flag, AttrData::Unit) => {}
            (AttrText::Ints(_), AttrData::DenseArray { .. }) => {
                let words: Vec<String> = ctx.as_ints(value).unwrap_or_default().iter().map(i64::to_string).collect();
                out.push_str(&format!("[{}]", words.join(", ")));
            }
            (AttrText::Cases(_, cases), data) => match case_word(cases, data) {
                Some(word) => out.push_str(word),
                None => self.attr(value, out),
            },
            (AttrText::Words { mnemonic, .. }, AttrData::Dialect { body, .. }) => {
                if let [Piece::Text(text)] = &**body
                    && let Some(words) = text.strip_prefix(mnemonic)
                {
                    out.push_str(words);
                }
            }
            (AttrText::Declared(known), AttrData::Declared { name, params, ty }) if ctx.text(*name) == *known => {
                if let Some(info) = ctx.attr_info(value) {
                    self.params(&info.decl, params, out);
                }
                if *ty != Type::NONE {
                    out.push_str(" : ");
                    self.ty(*ty, out);
                }
            }
            _ => self.attr(value, out),
        }
    }
}

fn is_default(ctx: &Context, spec: &AttrSpec, value: Attr) -> bool {
    spec.default.is_some_and(|text| ctx.default_attr(text) == value)
}

/// Returns the keyword of an enumeration's value, for attributes spelled as keywords.
fn case_word(cases: &[(&'static str, i64)], data: &AttrData) -> Option<&'static str> {
    match data {
        AttrData::Integer { value: Int::Small(v), .. } => cases.iter().find(|c| c.1 == *v).map(|c| c.0),
        _ => None,
    }
}
