//! Hand-written parts of custom forms, for what MLIR writes by hand too: `custom<Name>($a, type($b))` in a format.

use super::format::Values;
use super::format_parse::{State, give, given, insert_terminator, result_types, type_list_until};
use super::format_print::{attr_dict, attr_text, is_plain, unspelled, value_types};
use super::parse::{PResult, ParsedOp, Parser, ValueRef};
use super::print::Printer;
use crate::affine::AffineMap;
use crate::context::{Attr, Context, Str, Type};
use crate::loc::Loc;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::OpInfo;
use smallvec::SmallVec;
use std::io;

/// A part of a custom form with its own reader and writer.
pub struct Directive {
    /// The name in `custom<Name>`.
    pub name: &'static str,
    /// Reads it. The parameters are those in the format.
    pub parse: fn(&mut OpParser<'_, '_>, &[Param]) -> ParseResult<()>,
    /// Writes it. The blank before it is written already.
    pub print: fn(&mut OpPrinter<'_, '_>, &[Param]) -> io::Result<()>,
}

/// What a directive is about. Indices count the groups of one kind in the declaration.
#[derive(Clone, Copy, Debug)]
pub enum Param {
    /// `$operand`
    Operand(usize),
    /// `$attribute`; `attr-dict` leaves it out
    Attr(usize),
    /// `$region`
    Region(usize),
    /// `$successor`
    Successor(usize),
    /// `type($values)`
    Types(Values),
}

/// The error is a diagnostic with its place.
pub type ParseResult<T> = PResult<T>;

/// A declared argument of a region: `%name: type`.
pub type RegionArg<'a> = (ValueRef<'a>, Type, Loc);

/// What directives read an op through.
pub struct OpParser<'p, 'a> {
    pub(super) p: &'p mut Parser<'a>,
    pub(super) s: &'p mut State<'a>,
    pub(super) op: &'p mut ParsedOp,
}

impl<'a> OpParser<'_, 'a> {
    /// The context.
    pub fn ctx(&self) -> &'a Context {
        self.p.ctx
    }

    /// The declaration of the op.
    pub fn info(&self) -> &'static OpInfo {
        self.s.info
    }

    /// The byte that comes next, after blanks; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.p.cur.skip_space();
        self.p.cur.peek()
    }

    /// Where the next token begins, in bytes.
    pub fn offset(&mut self) -> usize {
        self.p.cur.skip_space();
        self.p.cur.pos
    }

    /// An error at a byte of the text.
    pub fn error<T>(&self, offset: usize, message: impl Into<String>) -> ParseResult<T> {
        Err(self.p.error(offset, message))
    }

    /// An error at the next token.
    pub fn error_here<T>(&mut self, message: impl Into<String>) -> ParseResult<T> {
        self.p.error_here(message)
    }

    /// An error at the op's name.
    pub fn error_at_op<T>(&self, message: impl Into<String>) -> ParseResult<T> {
        Err(self.p.error(self.op.offset, message))
    }

    /// An error of the custom form, at the op's name, in MLIR's words: `custom op 'x' ...`.
    pub fn error_of_op<T>(&self, message: &str) -> ParseResult<T> {
        self.error_in_op(self.op.offset, message)
    }

    /// An error of the custom form at a byte of the text: `custom op 'x' ...`.
    pub fn error_in_op<T>(&self, offset: usize, message: &str) -> ParseResult<T> {
        self.error(offset, format!("custom op '{}' {message}", self.s.info.name))
    }

    /// The location of a byte of the text.
    pub fn loc(&self, offset: usize) -> Loc {
        self.p.place(offset)
    }

    /// Takes punctuation if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        self.p.cur.eat(token)
    }

    /// Takes punctuation.
    pub fn expect(&mut self, token: &str) -> ParseResult<()> {
        self.p.expect(token)
    }

    /// Takes a keyword if it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.p.cur.eat_word(word)
    }

    /// Takes a keyword.
    pub fn expect_word(&mut self, word: &str) -> ParseResult<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.p.missing_word(word)) }
    }

    /// The keyword that comes next; empty when none does.
    pub fn word(&mut self) -> &'a str {
        self.p.cur.skip_space();
        self.p.cur.word()
    }

    /// Items separated by commas, up to `close`, which is taken; the opening bracket is taken already.
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

    /// `%name` or `%name#1`
    pub fn value(&mut self) -> ParseResult<ValueRef<'a>> {
        self.p.value_ref()
    }

    /// Values separated by commas; none when no value comes next.
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

    /// The type of a value that is defined already.
    pub fn type_of(&self, value: ValueRef<'_>) -> Option<Type> {
        self.p.type_of(value)
    }

    /// A type.
    pub fn ty(&mut self) -> ParseResult<Type> {
        self.p.ty()
    }

    /// Types separated by commas up to `close`, which is not taken.
    pub fn types_until(&mut self, close: u8) -> ParseResult<Vec<Type>> {
        type_list_until(self.p, close)
    }

    /// What follows `->`: a type, or types in parentheses.
    pub fn result_types(&mut self) -> ParseResult<Vec<Type>> {
        result_types(self.p)
    }

    /// An attribute, with its type.
    pub fn attr(&mut self) -> ParseResult<Attr> {
        self.p.attr()
    }

    /// An attribute whose type is `ty` and is not written, such as elements.
    pub fn attr_of_type(&mut self, ty: Type) -> ParseResult<Attr> {
        let at = self.offset();
        if self.word().is_empty() || self.peek() != b'<' {
            self.p.cur.pos = at;
            return self.attr();
        }
        self.balanced()?;
        let text = self.p.cur.since(at);
        self.p.fine.attr_of_type(text, ty).map_err(|e| self.p.fine_error(at, e))
    }

    /// An integer or float literal of type `ty`, written without it.
    pub fn number(&mut self, ty: Type) -> ParseResult<Attr> {
        let at = self.offset();
        let sign = if self.eat("-") { "-" } else { "" };
        let text = format!("{sign}{}", self.p.cur.number());
        self.p.fine.attr_of_type(&text, ty).map_err(|e| self.p.fine_error(at, e))
    }

    /// An integer literal.
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
        let byte = self.peek();
        byte.is_ascii_digit() || (byte == b'-' && self.p.cur.peek_at(1).is_ascii_digit())
    }

    /// The text up to the bracket that closes the one that comes next, brackets included, and where it begins.
    pub fn balanced(&mut self) -> ParseResult<(usize, &'a str)> {
        let at = self.offset();
        self.p.cur.skip_balanced().map_err(|at| self.p.error(at, "this bracket is never closed"))?;
        Ok((at, self.p.cur.since(at)))
    }

    /// The attribute that a text spells; an error in it is reported at `offset`.
    pub fn attr_from(&mut self, offset: usize, text: &str) -> ParseResult<Attr> {
        self.p.fine.attr(text).map_err(|e| self.p.error(offset, e.message))
    }

    /// An affine map attribute (`affine_map<...>` or an alias of one).
    pub fn affine_map(&mut self) -> ParseResult<(Attr, &'a AffineMap)> {
        let at = self.offset();
        let attr = self.attr()?;
        match self.ctx().attr_data(attr) {
            crate::AttrData::AffineMap(map) => Ok((attr, map)),
            _ => self.error(at, "invalid kind of attribute specified"),
        }
    }

    /// `%name: type loc(...)`
    pub fn argument(&mut self) -> ParseResult<RegionArg<'a>> {
        let value = self.value()?;
        self.expect(":")?;
        let ty = self.ty()?;
        self.argument_of(value, ty)
    }

    /// An argument whose type is known, with the location that may follow.
    pub fn argument_of(&mut self, value: ValueRef<'a>, ty: Type) -> ParseResult<RegionArg<'a>> {
        let end = value.offset + 1 + value.name.len();
        if self.p.cur.text().as_bytes().get(end) == Some(&b'#') {
            return self.error(end, "result number not allowed in argument list");
        }
        let loc = self.p.trailing_loc()?.unwrap_or(self.p.place(value.offset));
        Ok((value, ty, loc))
    }

    /// Reads the next region, whose entry block has the arguments, and gives it its implicit terminator.
    pub fn region(&mut self, args: &[RegionArg<'a>]) -> ParseResult<Region> {
        let isolated = self.s.info.traits.has(crate::Traits::ISOLATED);
        let region = self.p.region(isolated, args)?;
        insert_terminator(self.p, self.s.info, region, self.op.offset);
        self.op.regions.push(region);
        Ok(region)
    }

    /// Ends the one block of a region with the op `name`, which gets the results of the op before it, unless it ends with a
    /// terminator.
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

    /// Reads the next region, which must spell its terminator.
    pub fn terminated_region(&mut self) -> ParseResult<()> {
        let region = self.p.region(self.s.info.traits.has(crate::Traits::ISOLATED), &[])?;
        self.op.regions.push(region);
        Ok(())
    }

    /// The region that was read last comes before the others.
    pub fn move_last_region_first(&mut self) {
        self.op.regions.rotate_right(1);
    }

    /// The next region is not in the text, and has no blocks.
    pub fn empty_region(&mut self) {
        let region = self.p.m.detached_region();
        self.op.regions.push(region);
    }

    /// Reads `^block` as the next successor.
    pub fn successor(&mut self) -> ParseResult<Block> {
        let block = self.p.successor()?;
        self.op.successors.push(block);
        Ok(block)
    }

    /// The operands of group `to` are those.
    pub fn set_operands(&mut self, to: Param, list: impl IntoIterator<Item = ValueRef<'a>>) {
        let Param::Operand(i) = to else { panic!("{to:?} is not an operand group") };
        self.s.operands[i] = list.into_iter().collect();
    }

    /// The types of an operand or result group are those.
    pub fn set_types(&mut self, to: Param, types: Vec<Type>) {
        match to {
            Param::Operand(i) => give(self.s, Values::Operand(i), types),
            Param::Types(values) => give(self.s, values, types),
            _ => panic!("{to:?} has no types"),
        }
    }

    /// The types that were given to an operand group so far.
    pub fn types_of(&self, group: Param) -> &[Type] {
        let Param::Operand(i) = group else { panic!("{group:?} is not an operand group") };
        given(self.s, i)
    }

    /// The inherent attribute `to` is that.
    pub fn set_attr(&mut self, to: Param, value: Attr) {
        let Param::Attr(i) = to else { panic!("{to:?} is not an attribute") };
        let name = self.ctx().str(self.s.info.attrs[i].name);
        self.s.props.push((name, value));
    }

    /// The inherent attribute of that name is that, for attributes that are no parameters.
    pub fn set_named_attr(&mut self, name: Str, value: Attr) {
        self.s.props.push((name, value));
    }

    /// The discardable attribute of that name is that, for ops whose form spells such.
    pub fn set_discardable(&mut self, name: Str, value: Attr) {
        self.s.attrs = self.ctx().dict_with(self.s.attrs, name, Some(value));
    }

    /// The dictionary of the other attributes, if one comes next.
    pub fn attr_dict(&mut self) -> ParseResult<()> {
        if self.peek() == b'{' {
            let dict = self.p.dict()?;
            self.s.add_attrs(self.p.ctx, dict);
        }
        Ok(())
    }

    /// `attributes {...}`, if it comes next.
    pub fn attr_dict_with_keyword(&mut self) -> ParseResult<()> {
        if self.eat_word("attributes") { self.attr_dict() } else { Ok(()) }
    }
}

/// What directives write an op through.
pub struct OpPrinter<'p, 'm> {
    pub(super) p: &'p mut Printer<'m>,
    pub(super) info: &'static OpInfo,
    /// The op.
    pub op: Op,
}

impl<'m> OpPrinter<'_, 'm> {
    /// The program.
    pub fn module(&self) -> &'m Module {
        self.p.m
    }

    /// The context.
    pub fn ctx(&self) -> &'m Context {
        &self.p.m.ctx
    }

    /// The values of an operand group, or the values whose types a parameter names.
    pub fn group(&self, param: Param) -> ValueList {
        match param {
            Param::Operand(i) | Param::Types(Values::Operand(i)) => self.p.m.operand_group(self.op, i),
            Param::Types(Values::Result(i)) => self.p.m.result_group(self.op, i),
            _ => panic!("{param:?} is not a group of values"),
        }
    }

    /// The types of a parameter's values.
    pub fn group_types(&self, param: Param) -> Vec<Type> {
        match param {
            Param::Operand(i) => value_types(self.p, self.op, Values::Operand(i)),
            Param::Types(values) => value_types(self.p, self.op, values),
            _ => panic!("{param:?} has no types"),
        }
    }

    /// The inherent attribute.
    pub fn inherent(&self, param: Param) -> Option<Attr> {
        let Param::Attr(i) = param else { panic!("{param:?} is not an attribute") };
        self.p.m.inherent_attr(self.op, self.info.attrs[i].name)
    }

    /// The region.
    pub fn region_at(&self, param: Param) -> Region {
        let Param::Region(i) = param else { panic!("{param:?} is not a region") };
        self.p.m.regions(self.op)[i]
    }

    /// Writes text as it is.
    pub fn text(&mut self, text: &str) {
        self.p.out.push_str(text);
    }

    /// Goes to a new line, indented like the op.
    pub fn newline(&mut self) {
        self.p.newline();
    }

    /// Writes a value's name.
    pub fn value(&mut self, value: Value) {
        self.p.value(value);
    }

    /// A value's name, for text that is put together elsewhere.
    pub fn value_text(&self, value: Value) -> String {
        let mut out = String::new();
        self.p.numbers.value(self.p.m, value, &mut out);
        out
    }

    /// Writes values, separated by commas.
    pub fn values(&mut self, values: &[Value]) {
        self.p.values(values);
    }

    /// Writes items, separated by commas.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        for (i, it) in items.into_iter().enumerate() {
            self.p.comma(i);
            item(self, it);
        }
    }

    /// Writes a type.
    pub fn ty(&mut self, ty: Type) {
        self.p.ty(ty);
    }

    /// Writes types, separated by commas.
    pub fn types(&mut self, types: &[Type]) {
        self.list(types, |p, &ty| p.ty(ty));
    }

    /// Writes one type bare, any other number in parentheses.
    pub fn result_types(&mut self, types: &[Type]) {
        self.p.result_types(types);
    }

    /// Writes an attribute with its type.
    pub fn attr(&mut self, attr: Attr) {
        self.p.attrs.attr(attr, &mut self.p.out);
    }

    /// Writes a number without its type.
    pub fn number(&mut self, attr: Attr) {
        self.p.attrs.attr_without_type(attr, &mut self.p.out);
    }

    /// Writes an inherent attribute the way its kind is spelled in formats.
    pub fn spelled(&mut self, param: Param) {
        let Param::Attr(i) = param else { panic!("{param:?} is not an attribute") };
        attr_text(self.p, self.info, self.op, i);
    }

    /// Writes a block's name.
    pub fn block(&mut self, block: Block) {
        self.p.block_name(block);
    }

    /// Writes an op that is in the op's regions, without the names of its results.
    pub fn nested(&mut self, op: Op) -> io::Result<()> {
        self.p.unnamed_op(op)
    }

    /// Writes a region in braces. `args`: whether the entry block's arguments are written; `terminator`: whether the
    /// terminator is.
    pub fn region(&mut self, region: Region, args: bool, terminator: bool) -> io::Result<()> {
        self.p.region(region, args, false, terminator)
    }

    /// Writes a region, with its terminator only if that says something.
    pub fn body(&mut self, region: Region, args: bool) -> io::Result<()> {
        let terminator = !is_plain(self.p.m, self.info, region);
        self.region(region, args, terminator)
    }

    /// Writes ` {...}`: the attributes that the format does not spell.
    pub fn attr_dict(&mut self) {
        attr_dict(self.p, self.info, self.op, false);
    }

    /// Writes ` {...}`: the attributes that neither the format spells nor the list names.
    pub fn attr_dict_without(&mut self, names: &[&str]) {
        let mut dict = unspelled(self.p, self.info, self.op);
        for name in names {
            dict = self.ctx().dict_with(dict, self.ctx().str(name), None);
        }
        if dict != Attr::EMPTY_DICT {
            self.text(" ");
            self.p.dict(dict);
        }
    }

    /// Writes ` attributes {...}`.
    pub fn attr_dict_with_keyword(&mut self) {
        attr_dict(self.p, self.info, self.op, true);
    }
}

/// `custom<ConditionTypes>($c, $r)`: the type of `$r`, after that of `$c` unless it is `i1`.
pub const CONDITION_TYPES: Directive = Directive {
    name: "ConditionTypes",
    parse: |p, params| {
        let mut ty = p.ty()?;
        let mut condition = Type::I1;
        if p.eat(",") {
            condition = std::mem::replace(&mut ty, p.ty()?);
        }
        p.set_types(params[0], vec![condition]);
        p.set_types(params[1], vec![ty]);
        Ok(())
    },
    print: |p, params| {
        let types = [p.group_types(params[0]), p.group_types(params[1])].concat();
        p.types(&types[usize::from(types.first() == Some(&Type::I1))..]);
        Ok(())
    },
};

/// A parameter list read from a format.
pub(super) type Params = SmallVec<[Param; 4]>;
