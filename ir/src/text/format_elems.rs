//! The common part of the formats of ops and of declared types and attributes: lists of elements, and optional groups.

use crate::text::lexer::Lexer;

/// A parser of a format.
pub(super) trait FormatElems<'a> {
    /// An element.
    type Elem;

    fn lexer(&mut self) -> &mut Lexer<'a>;

    /// Parses an element.
    fn elem(&mut self) -> Result<Self::Elem, String>;

    /// Parses elements up to the end or, in a group, the closing parenthesis. Returns them and the index of the anchor.
    fn elems(&mut self, group: bool) -> Result<(Vec<Self::Elem>, Option<usize>), String> {
        let (mut elems, mut anchor) = (Vec::new(), None);
        loop {
            if self.lexer().at_end() {
                return if group { Err(self.lexer().error("expected ')'")) } else { Ok((elems, anchor)) };
            }
            if group && self.lexer().eat(")") {
                return Ok((elems, anchor));
            }
            elems.push(self.elem()?);
            if self.lexer().eat("^") {
                anchor = Some(elems.len() - 1);
            }
        }
    }

    /// Parses an optional group after its opening parenthesis: `a $x^ b )?` or `a $x^ b )? : ( c )?`. Returns its elements,
    /// the index of the anchor among them, and those of the alternative.
    #[allow(clippy::type_complexity, reason = "the parts of a group")]
    fn group(&mut self) -> Result<(Vec<Self::Elem>, usize, Vec<Self::Elem>), String> {
        let (then, anchor) = self.elems(true)?;
        self.lexer().expect("?")?;
        let anchor = anchor.ok_or_else(|| self.lexer().error("an optional group needs an anchor (^)"))?;
        let mut otherwise = Vec::new();
        if self.lexer().eat(":") {
            self.lexer().expect("(")?;
            otherwise = self.elems(true)?.0;
            self.lexer().expect("?")?;
        }
        Ok((then, anchor, otherwise))
    }
}
