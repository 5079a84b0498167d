//! Formats of declared types and attributes: literals, parameters and optional groups, from `<` to `>`.

use super::format_lexer::FormatLexer;
use crate::context::Context;
use crate::diag::hint;
use crate::parametric::Parametric;

/// An element of a format.
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
    let own = format!("format of '{}': ", decl.name);
    Some(format!("its format: {}", why.strip_prefix(&own).unwrap_or(why)))
}

/// Parses the format of a declaration. An error is a mistake in the declaration.
fn parse(decl: &Parametric, text: &str) -> Result<Vec<ParamElem>, String> {
    let mut parser = ParamFormatParser { decl, lexer: FormatLexer::new(decl.name, text) };
    let elems = parser.elems(false)?.0;
    let is =
        |elem: Option<&ParamElem>, bracket: &str| matches!(elem, Some(ParamElem::Literal(text)) if text == bracket);
    if !is(elems.first(), "<") || !is(elems.last(), ">") {
        return Err(format!("format of '{}': it begins with `<` and ends with `>`", decl.name));
    }
    let unprinted = (0..decl.params.len()).find(|&i| !prints(&elems, i));
    match unprinted {
        Some(i) => Err(format!("format of '{}': it has no parameter '{}'", decl.name, decl.params[i].name)),
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
    lexer: FormatLexer<'a>,
}

impl ParamFormatParser<'_> {
    /// Parses elements up to the end or, in a group, the closing parenthesis. Returns them and the anchor.
    fn elems(&mut self, group: bool) -> Result<(Vec<ParamElem>, Option<usize>), String> {
        let (mut elems, mut anchor) = (Vec::new(), None);
        loop {
            if self.lexer.at_end() {
                return if group { Err(self.lexer.error("expected ')'")) } else { Ok((elems, anchor)) };
            }
            if group && self.lexer.eat(")") {
                return Ok((elems, anchor));
            }
            let elem = self.elem()?;
            if self.lexer.eat("^") {
                match elem {
                    ParamElem::Param(i) => anchor = Some(i),
                    _ => return Err(self.lexer.error("this cannot be an anchor")),
                }
            }
            elems.push(elem);
        }
    }

    fn elem(&mut self) -> Result<ParamElem, String> {
        if let Some(text) = self.lexer.literal()? {
            return Ok(match text {
                "" => ParamElem::Space(false),
                " " => ParamElem::Space(true),
                _ => ParamElem::Literal(text.to_owned()),
            });
        }
        if self.lexer.eat("(") {
            let (then, anchor) = self.elems(true)?;
            self.lexer.expect("?")?;
            let Some(anchor) = anchor else { return Err(self.lexer.error("an optional group needs an anchor (^)")) };
            let mut otherwise = Vec::new();
            if self.lexer.eat(":") {
                self.lexer.expect("(")?;
                otherwise = self.elems(true)?.0;
                self.lexer.expect("?")?;
            }
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
