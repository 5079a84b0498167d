//! Mistakes in formats: what they cannot read, and what they do not print.

use super::directive::{Param, ValueGroup};
use super::format::FormatElem;
use crate::context::Context;
use crate::op_info::{Arity, GroupSpec, OpInfo, TypeRelation, ValueSpec};
use crate::traits::Traits;

/// Returns the mistakes in a declaration's format.
pub(crate) fn mistakes(ctx: &Context, info: &'static OpInfo) -> Vec<String> {
    let Some(format) = ctx.format(ctx.op_name(info.name)).filter(|_| info.format.is_some()) else { return Vec::new() };
    let format = match format {
        Ok(format) => format,
        Err(why) => return vec![format!("its format: {why}")],
    };
    let mut printed = Printed::of(info);
    printed.visit(&format.elems);
    printed.mistakes()
}

/// The parts of an op that a format prints.
struct Printed {
    info: &'static OpInfo,
    operands: Vec<bool>,
    regions: Vec<bool>,
    successors: Vec<bool>,
    /// Whether the types of operand groups are known, then of result groups.
    types: Vec<bool>,
    attr_dict: bool,
    directives: Vec<&'static str>,
    function: bool,
}

impl Printed {
    fn of(info: &'static OpInfo) -> Printed {
        let values = info.operands.iter().chain(info.results);
        Printed {
            info,
            operands: vec![false; info.operands.len()],
            regions: vec![false; info.regions.len()],
            successors: vec![false; info.successors.len()],
            types: values.map(|spec| spec.ty.only.is_some()).collect(),
            attr_dict: false,
            directives: Vec::new(),
            function: false,
        }
    }

    fn visit(&mut self, elems: &[FormatElem]) {
        for elem in elems {
            match elem {
                FormatElem::Literal(_) | FormatElem::Space(_) | FormatElem::Attr(_) => {}
                FormatElem::Operand(i) => self.operands[*i] = true,
                FormatElem::Region(i) => self.regions[*i] = true,
                FormatElem::Successor(i) => self.successors[*i] = true,
                FormatElem::AllOperands => self.operands.fill(true),
                FormatElem::AllRegions => self.regions.fill(true),
                FormatElem::AllSuccessors => self.successors.fill(true),
                FormatElem::AttrDict { .. } => self.attr_dict = true,
                FormatElem::Type(values) => self.typed(*values),
                FormatElem::FunctionalType(from, to) => {
                    self.typed(*from);
                    self.typed(*to);
                }
                FormatElem::Group { then, otherwise, .. } => {
                    self.visit(then);
                    self.visit(otherwise);
                }
                FormatElem::Function => self.function = true,
                FormatElem::Custom(directive, params) => {
                    self.directives.push(directive.name);
                    params.iter().for_each(|param| self.param(*param));
                }
            }
        }
    }

    fn param(&mut self, param: Param) {
        match param {
            Param::Operand(i) => self.operands[i] = true,
            Param::Region(i) => self.regions[i] = true,
            Param::Successor(i) => self.successors[i] = true,
            Param::Types(values) => self.typed(values),
            Param::Attr(_) => {}
        }
    }

    fn typed(&mut self, values: ValueGroup) {
        let operands = self.info.operands.len();
        match values {
            ValueGroup::Operand(i) => self.types[i] = true,
            ValueGroup::Result(i) => self.types[operands + i] = true,
            ValueGroup::Operands => self.types[..operands].fill(true),
            ValueGroup::Results => self.types[operands..].fill(true),
        }
    }

    fn mistakes(mut self) -> Vec<String> {
        let info = self.info;
        let mut found = Vec::new();
        for unused in info.directives.iter().filter(|d| !self.directives.contains(&d.name)) {
            found.push(format!("its format does not use its directive '{}'", unused.name));
        }
        // A directive may print what its parameters do not name.
        if self.function || !self.directives.is_empty() {
            return found;
        }
        if !self.attr_dict {
            found.push("its format has no 'attr-dict', so attributes that it does not spell are lost".to_owned());
        }
        let values = |specs: &[ValueSpec]| specs.iter().map(|s| s.name).collect::<Vec<_>>();
        let groups = |specs: &[GroupSpec]| specs.iter().map(|s| s.name).collect::<Vec<_>>();
        let printed = [
            ("operand", &self.operands, values(info.operands)),
            ("region", &self.regions, groups(info.regions)),
            ("successor", &self.successors, groups(info.successors)),
        ];
        for (what, printed, names) in printed {
            let lost = printed.iter().zip(names).filter(|(printed, _)| !**printed);
            found.extend(lost.map(|(_, name)| format!("its format does not print {what} '{name}'")));
        }
        self.derive();
        let open = info.results.iter().zip(&self.types[info.operands.len()..]).filter(|(_, known)| !**known);
        found.extend(
            open.map(|(spec, _)| format!("its format does not print the type of '{}', and none follows", spec.name)),
        );
        found
    }

    /// Marks the types that follow from known ones, as [`crate::typing`] derives them. Operands have the types of the values
    /// that they are.
    fn derive(&mut self) {
        let (info, operands) = (self.info, self.info.operands.len());
        self.types[..operands].fill(true);
        let index = |name: &str| info.operands.iter().chain(info.results).position(|spec| spec.name == name);
        if info.traits.has(Traits::SAME_TYPE) && self.types.contains(&true) {
            self.types.fill(true);
        }
        for relation in info.relations.iter().chain(info.relations) {
            match relation {
                TypeRelation::Same(names) => {
                    let groups: Vec<usize> = names.iter().filter_map(|name| index(name)).collect();
                    let known = groups.iter().any(|&i| self.types[i]);
                    groups.iter().for_each(|&i| self.types[i] |= known);
                }
                TypeRelation::SameOperands => {
                    let known = self.types[..operands].contains(&true);
                    self.types[..operands].iter_mut().for_each(|ty| *ty |= known);
                }
                TypeRelation::Derived { to, from, .. } => {
                    let (Some(to), Some(from)) = (index(to), index(from)) else { continue };
                    self.types[to] |= self.types[from];
                }
            }
        }
        let optional = info.results.iter().all(|spec| spec.arity != Arity::One);
        if (info.infer.is_some() || optional) && !self.types[..operands].contains(&false) {
            self.types.fill(true);
        }
    }
}
