//! Formats of declared types and attributes: literals, parameters and optional groups, from `<` to `>`.

use super::format_elems::FormatElems;
use crate::context::Context;
use crate::parametric::Parametric;
use crate::text::diag::hint;
use crate::text::lexer::{Lexer, Literal};

/// An element of the format of a declared type or attribute.
pub(super) enum ParamElem {
    Literal(String),
    /// An explicit blank (`true`), or no blank (`false`), in place of the default spacing.
    Space(bool),
    /// A parameter, by its index.
    Param(usize),
    /// The first list if the anchor, a parameter, is there; else the second.
    Group {
        then: Vec<ParamElem>,
        otherwise: Vec<ParamElem>,
        anchor: usize,
    },
}

impl Context {
    /// Returns the format of a declared type or attribute, parsed on first use; `None` for the list of its parameters.
    pub(super) fn params_format(&self, decl: &'static Parametric) -> Option<&Result<Vec<ParamElem>, String>> {
        let text = decl.format?;
        self.param_format(decl, || parse(decl, text))
    }
}

/// Returns the mistake in the format of a declared type or attribute.
pub(crate) fn mistake(ctx: &Context, decl: &'static Parametric) -> Option<String> {
    let why = ctx.params_format(decl)?.as_ref().err()?;
    Some(format!("its format: {why}"))
}

/// Parses the format of a declaration. An error is a mistake in the declaration.
fn parse(decl: &Parametric, text: &str) -> Result<Vec<ParamElem>, String> {
    let mut parser = ParamFormatParser { decl, lexer: Lexer::new(text, "_-") };
    let (elems, anchor) = parser.elems(false)?;
    anchor.map_or(Ok(0), |index| parser.anchor(&elems, index))?;
    let is =
        |elem: Option<&ParamElem>, bracket: &str| matches!(elem, Some(ParamElem::Literal(text)) if text == bracket);
    if !is(elems.first(), "<") || !is(elems.last(), ">") {
        return Err("it begins with `<` and ends with `>`".to_owned());
    }
    let unprinted = (0..decl.params.len()).find(|&i| !prints(&elems, i));
    match unprinted {
        Some(i) => Err(format!("it has no parameter '{}'", decl.params[i].name)),
        None => Ok(elems),
    }
}

/// Whether a list of elements prints a parameter.
fn prints(elems: &[ParamElem], param: usize) -> bool {
    elems.iter().any(|elem| match elem {
        ParamElem::Param(i) => *i == param,
        ParamElem::Group { then, otherwise, .. } => prints(then, param) || prints(otherwise, param),
        ParamElem::Literal(_) | ParamElem::Space(_) => false,
    })
}

struct ParamFormatParser<'a> {
    decl: &'a Parametric,
    lexer: Lexer<'a>,
}

impl ParamFormatParser<'_> {
    /// Returns the parameter that is the anchor at an index of a list.
    fn anchor(&self, elems: &[ParamElem], index: usize) -> Result<usize, String> {
        if let ParamElem::Param(i) = elems[index] { Ok(i) } else { Err(self.lexer.error("this cannot be an anchor")) }
    }
}

impl<'a> FormatElems<'a> for ParamFormatParser<'a> {
    type Elem = ParamElem;

    fn lexer(&mut self) -> &mut Lexer<'a> {
        &mut self.lexer
    }

    fn elem(&mut self) -> Result<ParamElem, String> {
        if let Some(literal) = self.lexer.literal()? {
            return Ok(match literal {
                Literal::Text(text) => ParamElem::Literal(text.to_owned()),
                Literal::Space(blank) => ParamElem::Space(blank),
            });
        }
        if self.lexer.eat("(") {
            let (then, anchor, otherwise) = self.group()?;
            let anchor = self.anchor(&then, anchor)?;
            return Ok(ParamElem::Group { then, otherwise, anchor });
        }
        self.lexer.expect("$")?;
        let name = self.lexer.word();
        let names = || self.decl.params.iter().map(|spec| spec.name);
        match names().position(|known| known == name) {
            Some(i) => Ok(ParamElem::Param(i)),
            None => Err(self.lexer.error(&format!("the declaration has no '{name}'{}", hint(name, names())))),
        }
    }
}
