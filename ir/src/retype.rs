//! Replacement of types throughout a module.

use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value};
use crate::op_info::OpInfo;
use crate::types::TypeData;
use rustc_hash::FxHashMap;

impl Module {
    /// Replaces each scalar type by `of(type)` everywhere, also inside composite types and attributes. Constants keep
    /// their values, rounded if needed. Types fixed by an op's declaration stay; the resulting module may be invalid.
    pub fn retype(&mut self, of: &dyn Fn(Type) -> Type) {
        let ctx = self.ctx.clone();
        let mut retype = Retype { ctx: &ctx, of, types: FxHashMap::default(), attrs: FxHashMap::default() };
        for op in self.ops_under(self.root()) {
            let args = self.regions(op).iter().flat_map(|&r| self.region_blocks(r));
            let args = args.flat_map(|block| self.block_args(block).iter().copied());
            let values: Vec<Value> = self.results(op).chain(args).collect();
            for value in values {
                let ty = retype.ty(self.value_type(value));
                self.set_value_type(value, ty);
            }
            let props = retype.props(self, op);
            self.set_props(op, props);
            let attrs = retype.attr(self.attrs(op));
            self.set_attrs(op, attrs);
        }
    }
}

/// Memoized replacements of types and attributes.
struct Retype<'a> {
    ctx: &'a Context,
    of: &'a dyn Fn(Type) -> Type,
    types: FxHashMap<Type, Type>,
    attrs: FxHashMap<Attr, Attr>,
}

impl Retype<'_> {
    /// Rewrites inherent attributes, except those whose types the declaration fixes.
    fn props(&mut self, m: &Module, op: Op) -> Attr {
        let info: Option<&OpInfo> = m.info(op);
        let entries = self.ctx.dict_entries(m.props(op)).iter().map(|&(name, old)| {
            let new = self.attr(old);
            let spec = info.and_then(|info| info.attr(self.ctx.text(name)));
            let fits = spec.is_none_or(|spec| (spec.kind.check)(self.ctx, new));
            (name, if fits { new } else { old })
        });
        let entries = entries.collect();
        self.ctx.dict_attr(entries)
    }

    fn ty(&mut self, ty: Type) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let ctx = self.ctx;
        let elem = ctx.element_type(ty);
        let new = match ctx.type_data(ty) {
            TypeData::Function { inputs, results } => {
                let inputs = inputs.iter().map(|&ty| self.ty(ty)).collect();
                let results = results.iter().map(|&ty| self.ty(ty)).collect();
                ctx.ty(TypeData::Function { inputs, results })
            }
            TypeData::Tuple(parts) => ctx.ty(TypeData::Tuple(parts.iter().map(|&ty| self.ty(ty)).collect())),
            TypeData::Complex(part) => ctx.ty(TypeData::Complex(self.ty(*part))),
            _ if elem != ty => ctx.with_element(ty, self.ty(elem)),
            _ => (self.of)(ty),
        };
        self.types.insert(ty, new);
        new
    }

    fn attr(&mut self, attr: Attr) -> Attr {
        if let Some(&known) = self.attrs.get(&attr) {
            return known;
        }
        let ctx = self.ctx;
        let new = match ctx.attr_data(attr) {
            AttrData::Type(ty) => ctx.type_attr(self.ty(*ty)),
            AttrData::Float { ty, .. } => {
                let ty = self.ty(*ty);
                ctx.as_float(attr).map_or(attr, |value| ctx.float_attr(ty, value))
            }
            AttrData::Array(parts) => {
                let parts: Vec<Attr> = parts.iter().map(|&part| self.attr(part)).collect();
                ctx.array_attr(&parts)
            }
            AttrData::Dict(entries) => {
                let entries = entries.iter().map(|&(name, value)| (name, self.attr(value))).collect();
                ctx.dict_attr(entries)
            }
            AttrData::Dense(dense) => {
                let ty = self.ty(dense.ty);
                if ty == dense.ty { attr } else { ctx.convert_dense(attr, ty).unwrap_or(attr) }
            }
            _ => attr,
        };
        self.attrs.insert(attr, new);
        new
    }
}
