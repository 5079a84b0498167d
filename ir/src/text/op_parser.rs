//! The parser interface of custom directives.

use super::directive::{OpParser, Param, ParseResult, RegionArg, ValueGroup};
use super::format_parse::{give, given, insert_terminator, result_types, type_list_until};
use super::parser::ValueRef;
use crate::affine::AffineMap;
use crate::context::Context;
use crate::intern::{Attr, Str, Type};
use crate::module::{Block, Region};
use crate::op_info::OpInfo;
use crate::text::loc::Loc;

impl<'a> OpParser<'_, 'a> {
    /// Returns the context.
    pub fn ctx(&self) -> &'a Context {
        self.p.ctx
    }

    /// Returns the declaration of the op.
    pub fn info(&self) -> &'static OpInfo {
        self.p.ctx.op_info(self.op.name).expect("custom forms are those of declared ops")
    }

    /// Skips blanks and returns the next byte; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.p.cur.skip_space();
        self.p.cur.peek()
    }

    /// Skips blanks and returns the byte offset of the next token.
    pub fn offset(&mut self) -> usize {
        self.p.cur.skip_space();
        self.p.cur.pos
    }

    /// Reports an error at a byte offset of the text.
    pub fn error<T>(&self, offset: usize, message: impl Into<String>) -> ParseResult<T> {
        Err(self.p.error(offset, message))
    }

    /// Reports an error at the next token.
    pub fn error_here<T>(&mut self, message: impl Into<String>) -> ParseResult<T> {
        self.p.error_here(message)
    }

    /// Reports an error at the op's name.
    pub fn error_at_op<T>(&self, message: impl Into<String>) -> ParseResult<T> {
        Err(self.p.error(self.op.offset, message))
    }

    /// Reports an error of the custom form at the op's name, with MLIR's prefix: `custom op 'x' ...`.
    pub fn error_of_op<T>(&self, message: &str) -> ParseResult<T> {
        self.error_in_op(self.op.offset, message)
    }

    /// Reports an error of the custom form at a byte offset: `custom op 'x' ...`.
    pub fn error_in_op<T>(&self, offset: usize, message: &str) -> ParseResult<T> {
        self.error(offset, format!("custom op '{}' {message}", self.info().name))
    }

    /// Returns the location of a byte offset.
    pub fn loc(&self, offset: usize) -> Loc {
        self.p.place(offset)
    }

    /// Consumes punctuation if it comes next. Returns whether it did.
    pub fn eat(&mut self, token: &str) -> bool {
        self.p.cur.eat(token)
    }

    /// Consumes punctuation; an error if something else comes next.
    pub fn expect(&mut self, token: &str) -> ParseResult<()> {
        self.p.expect(token)
    }

    /// Consumes a keyword if it comes next. Returns whether it did.
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.p.cur.eat_word(word)
    }

    /// Consumes a keyword; an error if something else comes next.
    pub fn expect_word(&mut self, word: &str) -> ParseResult<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.p.missing_word(word)) }
    }

    /// Consumes the next keyword and returns it; empty if the next token is no keyword.
    pub fn word(&mut self) -> &'a str {
        self.p.cur.skip_space();
        self.p.cur.word()
    }

    /// Parses comma-separated items up to and including `close`; the opening bracket is already consumed.
    pub fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    /// Parses `%name` or `%name#1`.
    pub fn value(&mut self) -> ParseResult<ValueRef<'a>> {
        self.p.value_ref()
    }

    /// Parses comma-separated values; empty if the next token is no value.
    pub fn values(&mut self) -> ParseResult<Vec<ValueRef<'a>>> {
        let mut list = Vec::new();
        if self.peek() == b'%' {
            list.push(self.value()?);
            while self.eat(",") {
                list.push(self.value()?);
            }
        }
        Ok(list)
    }

    /// Returns the type of a value that is already defined; `None` for a forward reference.
    pub fn type_of(&self, value: ValueRef<'_>) -> Option<Type> {
        self.p.type_of(value)
    }

    /// Parses a type.
    pub fn ty(&mut self) -> ParseResult<Type> {
        self.p.ty()
    }

    /// Parses comma-separated types up to `close`, which is not consumed.
    pub fn types_until(&mut self, close: u8) -> ParseResult<Vec<Type>> {
        type_list_until(self.p, close)
    }

    /// Parses the types after `->`: one type, or types in parentheses.
    pub fn result_types(&mut self) -> ParseResult<Vec<Type>> {
        result_types(self.p)
    }

    /// Parses an attribute with its type.
    pub fn attr(&mut self) -> ParseResult<Attr> {
        self.p.attr()
    }

    /// Parses an attribute, such as elements, whose type `ty` is not in the text.
    pub fn attr_of_type(&mut self, ty: Type) -> ParseResult<Attr> {
        let at = self.offset();
        if self.word().is_empty() || self.peek() != b'<' {
            self.p.cur.pos = at;
            return self.attr();
        }
        self.balanced()?;
        let text = self.p.cur.since(at);
        self.p.type_attrs.attr_of_type(text, ty).map_err(|e| self.p.type_attr_error(at, e))
    }

    /// Parses an integer or float literal of type `ty`, which is not in the text.
    pub fn number(&mut self, ty: Type) -> ParseResult<Attr> {
        let at = self.offset();
        let (negative, number) = self.p.cur.signed_number();
        let text = format!("{}{number}", if negative { "-" } else { "" });
        self.p.type_attrs.attr_of_type(&text, ty).map_err(|e| self.p.type_attr_error(at, e))
    }

    /// Parses an integer literal.
    pub fn integer(&mut self) -> ParseResult<i64> {
        let at = self.offset();
        let number = self.number(Type::I64)?;
        match self.ctx().as_int(number) {
            Some(value) => Ok(value),
            None => self.error(at, "expected an integer"),
        }
    }

    /// Whether an integer literal comes next.
    pub fn at_integer(&mut self) -> bool {
        !self.p.cur.clone().signed_number().1.is_empty()
    }

    /// Skips the bracketed text that comes next. Returns its byte offset and the text, brackets included.
    pub fn balanced(&mut self) -> ParseResult<(usize, &'a str)> {
        let at = self.offset();
        match self.p.cur.skip_bracketed() {
            Ok(()) => Ok((at, self.p.cur.since(at))),
            Err(message) => self.error(at, message),
        }
    }

    /// Parses an attribute from a text of its own; errors are reported at `offset`.
    pub fn attr_from(&mut self, offset: usize, text: &str) -> ParseResult<Attr> {
        self.p.type_attrs.attr(text).map_err(|e| self.p.error(offset, e.message))
    }

    /// Parses an affine map attribute (`affine_map<...>` or an alias of one).
    pub fn affine_map(&mut self) -> ParseResult<(Attr, &'a AffineMap)> {
        let at = self.offset();
        let attr = self.attr()?;
        match self.ctx().attr_data(attr) {
            crate::AttrData::AffineMap(map) => Ok((attr, map)),
            _ => self.error(at, "invalid kind of attribute specified"),
        }
    }

    /// Parses `%name: type loc(...)`.
    pub fn argument(&mut self) -> ParseResult<RegionArg<'a>> {
        let value = self.value()?;
        self.expect(":")?;
        let ty = self.ty()?;
        self.argument_of(value, ty)
    }

    /// Completes an argument of known type with the optional trailing location.
    pub fn argument_of(&mut self, value: ValueRef<'a>, ty: Type) -> ParseResult<RegionArg<'a>> {
        let end = value.offset + 1 + value.name.len();
        if self.p.cur.text().as_bytes().get(end) == Some(&b'#') {
            return self.error(end, "result number not allowed in argument list");
        }
        let loc = self.p.trailing_loc()?.unwrap_or(self.p.place(value.offset));
        Ok((value, ty, loc))
    }

    /// Parses the next region, whose entry block has the given arguments, and adds its implicit terminator.
    pub fn region(&mut self, args: &[RegionArg<'a>]) -> ParseResult<Region> {
        let isolated = self.info().traits.has(crate::Traits::ISOLATED);
        let region = self.p.region(isolated, args)?;
        insert_terminator(self.p, self.info(), region, self.op.offset);
        self.op.regions.push(region);
        Ok(region)
    }

    /// Terminates the single block of a region with the op `name`, whose operands are the results of the last op,
    /// unless the block already ends with a terminator.
    pub fn yield_last(&mut self, region: Region, name: &str) {
        let (loc, m) = (self.p.place(self.op.offset), &mut self.p.m);
        let block = m.entry(region).unwrap_or_else(|| m.add_block(region));
        let last = m.last_op(block);
        if last.is_some_and(|op| m.has_trait(op, crate::Traits::TERMINATOR)) {
            return;
        }
        let mut state = crate::OpState::new(self.p.ctx, name, loc);
        state.operands.extend(last.into_iter().flat_map(|op| m.results(op).collect::<Vec<_>>()));
        let end = m.create_op(state);
        m.append_op(block, end);
    }

    /// Parses the next region, whose terminator is explicit.
    pub fn terminated_region(&mut self) -> ParseResult<()> {
        let region = self.p.region(self.info().traits.has(crate::Traits::ISOLATED), &[])?;
        self.op.regions.push(region);
        Ok(())
    }

    /// Moves the region parsed last before the others.
    pub fn move_last_region_first(&mut self) {
        self.op.regions.rotate_right(1);
    }

    /// Adds a region without blocks for one that the text omits.
    pub fn empty_region(&mut self) {
        let region = self.p.m.detached_region();
        self.op.regions.push(region);
    }

    /// Parses `^block` as the next successor.
    pub fn successor(&mut self) -> ParseResult<Block> {
        let block = self.p.successor()?;
        self.op.successors.push(block);
        Ok(block)
    }

    /// Sets the operands of group `to`.
    pub fn set_operands(&mut self, to: Param, list: impl IntoIterator<Item = ValueRef<'a>>) {
        let Param::Operand(i) = to else { panic!("{to:?} is not an operand group") };
        self.s.operands[i] = list.into_iter().collect();
    }

    /// Sets the types of an operand or result group.
    pub fn set_types(&mut self, to: Param, types: Vec<Type>) {
        match to {
            Param::Operand(i) => give(self.s, ValueGroup::Operand(i), types),
            Param::Types(values) => give(self.s, values, types),
            _ => panic!("{to:?} has no types"),
        }
    }

    /// Returns the types set so far for an operand group.
    pub fn types_of(&self, group: Param) -> &[Type] {
        let Param::Operand(i) = group else { panic!("{group:?} is not an operand group") };
        given(self.s, i)
    }

    /// Sets the inherent attribute `to`.
    pub fn set_attr(&mut self, to: Param, value: Attr) {
        let Param::Attr(i) = to else { panic!("{to:?} is not an attribute") };
        let name = self.ctx().str(self.info().attrs[i].name);
        self.s.props.push((name, value));
    }

    /// Sets the inherent attribute `name`, for attributes that are no parameters.
    pub fn set_named_attr(&mut self, name: Str, value: Attr) {
        self.s.props.push((name, value));
    }

    /// Sets the discardable attribute `name`, for ops whose custom form spells such attributes.
    pub fn set_discardable(&mut self, name: Str, value: Attr) {
        self.s.attrs = self.ctx().dict_with(self.s.attrs, name, Some(value));
    }

    /// Parses the optional dictionary of the remaining attributes.
    pub fn attr_dict(&mut self) -> ParseResult<()> {
        if self.peek() == b'{' {
            let dict = self.p.dict()?;
            self.s.add_attrs(self.p.ctx, dict);
        }
        Ok(())
    }

    /// Parses an optional `attributes {...}`.
    pub fn attr_dict_with_keyword(&mut self) -> ParseResult<()> {
        if self.eat_word("attributes") { self.attr_dict() } else { Ok(()) }
    }
}
