//! Reductions of types: one type or extent at a time, replaced in the whole program.

use crate::reduction::{Reduction, Site};
use gradus_ir::float::FloatKind;
use gradus_ir::{Attr, AttrData, Context, DYNAMIC, Int, Module, Op, Traits, Type, TypeData};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) const REDUCTIONS: &[Reduction] = &[
    Reduction::new("smaller extents", extents, replace_all).one_at_a_time(),
    Reduction::new("smaller types", scalars, replace_all).one_at_a_time(),
];

/// Returns all types of values and their component types, ordered by key.
fn types(m: &Module) -> BTreeSet<Type> {
    let (mut found, mut stack) = (BTreeSet::new(), Vec::new());
    for op in m.ops_under(m.root()) {
        stack.extend(m.results(op).map(|v| m.value_type(v)));
        let blocks = m.regions(op).iter().flat_map(|&r| m.region_blocks(r));
        stack.extend(blocks.flat_map(|b| m.block_args(b)).map(|&v| m.value_type(v)));
        stack.extend(m.inherent_attr(op, "function_type").and_then(|a| m.ctx.as_type(a)));
        while let Some(ty) = stack.pop() {
            if !found.insert(ty) {
                continue;
            }
            match m.ctx.type_data(ty) {
                TypeData::Function { inputs, results } => stack.extend(inputs.iter().chain(results)),
                TypeData::Tuple(all) => stack.extend(all.iter()),
                _ if m.ctx.is_shaped(ty) => stack.push(m.ctx.element_type(ty)),
                _ => {}
            }
        }
    }
    found
}

/// Returns scalar types and narrower replacements, the narrowest first.
fn scalars(m: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for ty in types(m) {
        match m.ctx.type_data(ty) {
            TypeData::Integer { width, sign } => {
                let smaller = [8, 16, 32].into_iter().filter(|w| w < width);
                found.extend(smaller.map(|w| Site::Type(ty, m.ctx.int_type(w, *sign))));
            }
            TypeData::Float(_) => {
                let width = m.ctx.float_kind(ty).map_or(0, FloatKind::width);
                let smaller = [(16, Type::F16), (32, Type::F32)].into_iter().filter(|(w, _)| *w < width);
                found.extend(smaller.map(|(_, to)| Site::Type(ty, to)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the extents above 1 with the smaller ones among 1, 2 and 3; dynamic extents with all three.
fn extents(m: &Module) -> Vec<Site> {
    let shapes = types(m).into_iter().filter_map(|ty| m.ctx.shape(ty));
    let all: BTreeSet<i64> = shapes.flatten().copied().filter(|&d| d > 1 || d == DYNAMIC).collect();
    let smaller =
        |d: i64| [1, 2, 3].into_iter().filter(move |&n| d == DYNAMIC || n < d).map(move |n| Site::Extent(d, n));
    all.into_iter().flat_map(smaller).collect()
}

fn replace_all(m: &mut Module, sites: &[Site]) {
    let mut map = TypeSubstitution { ctx: m.ctx.clone(), sites, types: FxHashMap::default() };
    for op in m.ops_under(m.root()) {
        map.op(m, op);
    }
}

/// A substitution of types.
struct TypeSubstitution<'a> {
    ctx: Arc<Context>,
    sites: &'a [Site],
    types: FxHashMap<Type, Type>,
}

impl TypeSubstitution<'_> {
    fn op(&mut self, m: &mut Module, op: Op) {
        for value in m.results(op) {
            let ty = self.ty(m.value_type(value));
            m.set_value_type(value, ty);
        }
        let blocks = m.regions(op).iter().flat_map(|&r| m.region_blocks(r));
        for arg in blocks.flat_map(|b| m.block_args(b).to_vec()).collect::<Vec<_>>() {
            let ty = self.ty(m.value_type(arg));
            m.set_value_type(arg, ty);
        }
        let is_constant = m.has_trait(op, Traits::CONSTANT_LIKE);
        let (props, attrs) = (self.attr(m.props(op), is_constant), self.attr(m.attrs(op), false));
        m.set_props(op, props);
        m.set_attrs(op, attrs);
    }

    /// Replaces types within types. Terminates, because the structure of a type is kept.
    fn ty(&mut self, ty: Type) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let chosen = self.sites.iter().find_map(|site| match *site {
            Site::Type(from, to) if from == ty => Some(to),
            _ => None,
        });
        let new = chosen.unwrap_or_else(|| {
            let data = self.data(self.ctx.clone().type_data(ty));
            if data == *self.ctx.type_data(ty) { ty } else { self.ctx.ty(data) }
        });
        self.types.insert(ty, new);
        new
    }

    fn data(&mut self, data: &TypeData) -> TypeData {
        let mut data = data.clone();
        match &mut data {
            TypeData::Function { inputs, results } => {
                inputs.iter_mut().chain(results.iter_mut()).for_each(|ty| *ty = self.ty(*ty));
            }
            TypeData::Tuple(all) => all.iter_mut().for_each(|ty| *ty = self.ty(*ty)),
            TypeData::Vector { shape, elem, .. } | TypeData::Tensor { shape, elem, .. } => {
                self.shape(shape);
                *elem = self.ty(*elem);
            }
            TypeData::MemRef { shape, elem, .. } => {
                self.shape(shape);
                *elem = self.ty(*elem);
            }
            TypeData::UnrankedTensor(elem) | TypeData::UnrankedMemRef { elem, .. } | TypeData::Complex(elem) => {
                *elem = self.ty(*elem);
            }
            _ => {}
        }
        data
    }

    fn shape(&self, shape: &mut [i64]) {
        for extent in shape {
            let new = self.sites.iter().find_map(|site| match *site {
                Site::Extent(from, to) if from == *extent => Some(to),
                _ => None,
            });
            *extent = new.unwrap_or(*extent);
        }
    }

    /// Replaces types within an attribute. Numbers change their types only in constants; elsewhere the op's declaration
    /// fixes them.
    fn attr(&mut self, attr: Attr, of_constant: bool) -> Attr {
        let ctx = self.ctx.clone();
        match ctx.attr_data(attr) {
            AttrData::Type(ty) => ctx.type_attr(self.ty(*ty)),
            AttrData::Array(list) => {
                let new: Vec<Attr> = list.iter().map(|&a| self.attr(a, of_constant)).collect();
                if new == **list { attr } else { ctx.array_attr(&new) }
            }
            AttrData::Dict(entries) => {
                let new: Vec<_> = entries.iter().map(|&(name, a)| (name, self.attr(a, of_constant))).collect();
                if new == **entries { attr } else { ctx.dict_attr(new) }
            }
            AttrData::Integer { ty, value: Int::Small(v) } if of_constant => {
                let new = self.ty(*ty);
                let width = ctx.int_width(new).filter(|w| (1..=64).contains(w));
                match width.filter(|_| new != *ty) {
                    Some(width) => ctx.int_attr(new, v << (64 - width) >> (64 - width)),
                    None => attr,
                }
            }
            AttrData::Float { ty, .. } if of_constant => {
                let new = self.ty(*ty);
                if new == *ty { attr } else { ctx.float_attr(new, ctx.as_float(attr).unwrap_or(0.0)) }
            }
            AttrData::Dense(_) if of_constant => {
                let Some(ty) = ctx.attr_type(attr) else { return attr };
                let new = self.ty(ty);
                let number = ctx.as_uniform(attr).unwrap_or(1.0);
                if new == ty { attr } else { ctx.uniform_attr(new, number).unwrap_or(attr) }
            }
            _ => attr,
        }
    }
}
