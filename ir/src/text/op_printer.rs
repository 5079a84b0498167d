//! The printer interface of custom directives.

use super::attr_dict::{attr_dict, unspelled};
use super::directive::{OpPrinter, Param, ValueGroup};
use super::format_print::{attr_text, is_plain, value_types};
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::OpInfo;
use std::io;

impl<'m> OpPrinter<'_, 'm> {
    /// Returns the program.
    pub fn module(&self) -> &'m Module {
        self.p.m
    }

    /// Returns the declaration of the op.
    fn info(&self) -> &'static OpInfo {
        self.p.m.info(self.op).expect("custom forms are those of declared ops")
    }

    /// Returns the context.
    pub fn ctx(&self) -> &'m Context {
        &self.p.m.ctx
    }

    /// Returns the values of an operand group or of a `type(...)` parameter.
    pub fn group(&self, param: Param) -> ValueList {
        match param {
            Param::Operand(i) | Param::Types(ValueGroup::Operand(i)) => self.p.m.operand_group(self.op, i),
            Param::Types(ValueGroup::Result(i)) => self.p.m.result_group(self.op, i),
            _ => panic!("{param:?} is not a group of values"),
        }
    }

    /// Returns the types of a parameter's values.
    pub fn group_types(&self, param: Param) -> Vec<Type> {
        match param {
            Param::Operand(i) => value_types(self.p, self.op, ValueGroup::Operand(i)),
            Param::Types(values) => value_types(self.p, self.op, values),
            _ => panic!("{param:?} has no types"),
        }
    }

    /// Returns the inherent attribute of a parameter.
    pub fn inherent(&self, param: Param) -> Option<Attr> {
        let Param::Attr(i) = param else { panic!("{param:?} is not an attribute") };
        self.p.m.inherent_attr(self.op, self.info().attrs[i].name)
    }

    /// Returns the region of a parameter.
    pub fn region_at(&self, param: Param) -> Region {
        let Param::Region(i) = param else { panic!("{param:?} is not a region") };
        self.p.m.regions(self.op)[i]
    }

    /// Prints text verbatim.
    pub fn text(&mut self, text: &str) {
        self.p.out.push_str(text);
    }

    /// Starts a new line at the indentation of the op.
    pub fn newline(&mut self) {
        self.p.newline();
    }

    /// Prints a value's name.
    pub fn value(&mut self, value: Value) {
        self.p.value(value);
    }

    /// Returns a value's name.
    pub fn value_text(&self, value: Value) -> String {
        let mut out = String::new();
        self.p.numbers.value(self.p.m, value, &mut out);
        out
    }

    /// Prints comma-separated values.
    pub fn values(&mut self, values: &[Value]) {
        self.p.values(values);
    }

    /// Prints comma-separated items.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        for (i, it) in items.into_iter().enumerate() {
            self.p.comma(i);
            item(self, it);
        }
    }

    /// Prints a type.
    pub fn ty(&mut self, ty: Type) {
        self.p.ty(ty);
    }

    /// Prints comma-separated types.
    pub fn types(&mut self, types: &[Type]) {
        self.list(types, |p, &ty| p.ty(ty));
    }

    /// Prints one type bare, and any other number of types in parentheses.
    pub fn result_types(&mut self, types: &[Type]) {
        self.p.result_types(types);
    }

    /// Prints an attribute with its type.
    pub fn attr(&mut self, attr: Attr) {
        self.p.attrs.attr(attr, &mut self.p.out);
    }

    /// Prints a number without its type.
    pub fn number(&mut self, attr: Attr) {
        self.p.attrs.attr_without_type(attr, &mut self.p.out);
    }

    /// Prints an inherent attribute in the form that formats use for its kind.
    pub fn spelled(&mut self, param: Param) {
        let Param::Attr(i) = param else { panic!("{param:?} is not an attribute") };
        attr_text(self.p, self.info(), self.op, i);
    }

    /// Prints a block's label.
    pub fn block(&mut self, block: Block) {
        self.p.block_name(block);
    }

    /// Prints an op nested in the op's regions, without its result names.
    pub fn nested(&mut self, op: Op) -> io::Result<()> {
        self.p.unnamed_op(op)
    }

    /// Prints a region in braces. `args`: whether the entry block's arguments are printed; `terminator`: whether the
    /// terminator is printed.
    pub fn region(&mut self, region: Region, args: bool, terminator: bool) -> io::Result<()> {
        self.p.region(region, args, false, terminator)
    }

    /// Prints a region, with its terminator only if it is not the implicit one.
    pub fn body(&mut self, region: Region, args: bool) -> io::Result<()> {
        let terminator = !is_plain(self.p.m, self.info(), region);
        self.region(region, args, terminator)
    }

    /// Prints ` {...}`: the attributes that the format does not spell.
    pub fn attr_dict(&mut self) {
        attr_dict(self.p, self.info(), self.op, false);
    }

    /// Prints ` {...}`: the attributes that the format does not spell and that `names` does not contain.
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

    /// Prints ` {...}`: the attributes that the format does not spell, and others.
    pub fn attr_dict_with(&mut self, others: &[(&str, Attr)]) {
        let mut dict = unspelled(self.p, self.info(), self.op);
        for &(name, attr) in others {
            dict = self.ctx().dict_with(dict, self.ctx().str(name), Some(attr));
        }
        if dict != Attr::EMPTY_DICT {
            self.text(" ");
            self.p.dict(dict);
        }
    }

    /// Prints ` attributes {...}`.
    pub fn attr_dict_with_keyword(&mut self) {
        attr_dict(self.p, self.info(), self.op, true);
    }
}
