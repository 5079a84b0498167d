//! What directives can write.

use super::attr_dict::{attr_dict, unspelled};
use super::directive::{OpPrinter, Param, Values};
use super::format_print::{attr_text, is_plain, value_types};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::OpInfo;
use std::io;

impl<'m> OpPrinter<'_, 'm> {
    /// The program.
    pub fn module(&self) -> &'m Module {
        self.p.m
    }

    /// The declaration of the op.
    fn info(&self) -> &'static OpInfo {
        self.p.m.info(self.op).expect("custom forms are those of declared ops")
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
        self.p.m.inherent_attr(self.op, self.info().attrs[i].name)
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
        attr_text(self.p, self.info(), self.op, i);
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
        let terminator = !is_plain(self.p.m, self.info(), region);
        self.region(region, args, terminator)
    }

    /// Writes ` {...}`: the attributes that the format does not spell.
    pub fn attr_dict(&mut self) {
        attr_dict(self.p, self.info(), self.op, false);
    }

    /// Writes ` {...}`: the attributes that neither the format spells nor the list names.
    pub fn attr_dict_without(&mut self, names: &[&str]) {
        let mut dict = unspelled(self.p, self.info(), self.op);
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
        attr_dict(self.p, self.info(), self.op, true);
    }
}
