//! Selection and naming of aliases for types and attributes, as in mlir-opt.

use super::options::PrintOptions;
use crate::attrs::{AttrData, Piece};
use crate::context::Context;
use crate::entity::SideTable;
use crate::intern::{Attr, Type};
use crate::module::{AliasHints, Module};
use crate::types::TypeData;
use rustc_hash::FxHashMap;

/// Number of elements above which a tuple gets an alias.
const MAX_TUPLE: usize = 16;
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 4 << 20;

/// A type or an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Aliased {
    /// `#name`
    Attr(Attr),
    /// `!name`
    Type(Type),
}

/// A collector of aliases, which visits types and attributes in print order.
pub(crate) struct AliasBuilder<'a> {
    pub(super) ctx: &'a Context,
    hints: &'a AliasHints,
    index: FxHashMap<Aliased, usize>,
    seen: Vec<VisitedAlias<'a>>,
    /// Types and attributes visited that neither need an alias nor contain one that does: nearly all.
    plain_types: SideTable<Type, bool>,
    plain_attrs: SideTable<Attr, bool>,
}

/// A visited type or attribute.
struct VisitedAlias<'a> {
    value: Aliased,
    base: Option<&'a str>,
    /// Nesting depth of aliases: 0 if it neither needs an alias nor contains one that does, else greater than its
    /// children's.
    depth: usize,
    /// Whether the definition may be printed at the end of the file.
    deferrable: bool,
    /// Indices of the types and attributes that it contains.
    children: Vec<usize>,
}

impl<'a> AliasBuilder<'a> {
    /// Creates a collector that prefers the names in `hints`.
    pub(crate) fn new(ctx: &'a Context, hints: &'a AliasHints) -> AliasBuilder<'a> {
        AliasBuilder {
            ctx,
            hints,
            index: FxHashMap::default(),
            seen: Vec::new(),
            plain_types: SideTable::new(false),
            plain_attrs: SideTable::new(false),
        }
    }

    /// Whether no visited type or attribute needs an alias.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Visits a type and the types and attributes that it contains.
    pub(crate) fn visit_type(&mut self, ty: Type) {
        self.visit(Aliased::Type(ty), false);
    }

    /// Visits an attribute and the types and attributes that it contains.
    pub(crate) fn visit_attr(&mut self, attr: Attr) {
        self.visit(Aliased::Attr(attr), false);
    }

    /// Visits the attributes of an op's two dictionaries, merged in order of their names, as MLIR does.
    pub(crate) fn visit_dicts(&mut self, props: Attr, attrs: Attr) {
        if self.plain_attrs[props] && self.plain_attrs[attrs] {
            return;
        }
        let ctx = self.ctx;
        let (mut first, mut second) = (ctx.dict_entries(props), ctx.dict_entries(attrs));
        while let Some(next) = first.first().or(second.first()) {
            let from_second = second.first().is_some_and(|other| ctx.text(other.0) < ctx.text(next.0));
            let list = if from_second || first.is_empty() { &mut second } else { &mut first };
            self.visit_attr(list[0].1);
            *list = &list[1..];
        }
        for dict in [props, attrs] {
            self.plain_attrs[dict] = ctx.dict_entries(dict).iter().all(|entry| self.plain_attrs[entry.1]);
        }
    }

    /// Visits the location of an op, whose alias may be defined at the end of the file.
    pub(crate) fn visit_loc(&mut self, loc: Attr, can_be_deferred: bool) {
        self.visit(Aliased::Attr(loc), can_be_deferred);
    }

    /// Names the aliases; [`define_aliases`](super::define_aliases::define_aliases) prints their definitions.
    pub(super) fn name(self) -> Aliases {
        let mut named: Vec<(VisitedAlias<'a>, &str)> =
            self.seen.into_iter().filter_map(|seen| seen.base.map(|base| (seen, base))).collect();
        // Types come before attributes; the sort is stable and otherwise keeps visit order.
        let is_attr = |value: Aliased| matches!(value, Aliased::Attr(_));
        named.sort_by(|(a, a_base), (b, b_base)| {
            (a.depth, is_attr(a.value), *a_base).cmp(&(b.depth, is_attr(b.value), *b_base))
        });
        let mut aliases = Aliases::default();
        let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
        for (seen, base) in named {
            let prefix = if is_attr(seen.value) { '#' } else { '!' };
            let ends_in_digit = base.ends_with(|c: char| c.is_ascii_digit());
            let mut name = format!("{prefix}{base}{}", if ends_in_digit { "_" } else { "" });
            let count = counts.entry(base).or_default();
            if *count > 0 {
                super::type_attr_parser::push_i64(*count as i64, &mut name);
            }
            *count += 1;
            aliases.names.insert(seen.value, name.into());
            if seen.deferrable { aliases.bottom.push(seen.value) } else { aliases.top.push(seen.value) }
        }
        aliases
    }

    /// Visits a type or attribute once. Returns its depth and index.
    fn visit(&mut self, value: Aliased, deferrable: bool) -> (usize, usize) {
        let plain = match value {
            Aliased::Attr(attr) => self.plain_attrs[attr],
            Aliased::Type(ty) => self.plain_types[ty],
        };
        if plain {
            return (0, usize::MAX);
        }
        if let Some(&i) = self.index.get(&value) {
            if !deferrable {
                self.must_come_first(i);
            }
            return (self.seen[i].depth, i);
        }
        let i = self.seen.len();
        self.index.insert(value, i);
        let base = self.base(value);
        let depth = usize::from(base.is_some());
        self.seen.push(VisitedAlias { value, base, depth, deferrable, children: Vec::new() });
        let mut children = Vec::new();
        let deepest = stacker::maybe_grow(RED_ZONE, STACK, || {
            let mut nested = Nested { builder: self, deferrable, deepest: 0, children: &mut children };
            match value {
                Aliased::Attr(attr) => nested.parts_of_attr(attr),
                Aliased::Type(ty) => nested.parts_of_type(ty),
            }
            nested.deepest
        });
        if depth + deepest == 0 {
            self.seen.pop();
            self.index.remove(&value);
            match value {
                Aliased::Attr(attr) => self.plain_attrs[attr] = true,
                Aliased::Type(ty) => self.plain_types[ty] = true,
            }
            return (0, usize::MAX);
        }
        let seen = &mut self.seen[i];
        seen.children = children;
        if deepest > 0 {
            seen.depth = deepest + 1;
        }
        (seen.depth, i)
    }

    /// Marks an alias, and those in its definition, as used before the end of the file.
    fn must_come_first(&mut self, i: usize) {
        let mut pending = vec![i];
        while let Some(i) = pending.pop() {
            if std::mem::take(&mut self.seen[i].deferrable) {
                pending.extend_from_slice(&self.seen[i].children);
            }
        }
    }

    /// Returns the base name of the alias, if the type or attribute gets one.
    fn base(&self, value: Aliased) -> Option<&'a str> {
        let own = match value {
            Aliased::Attr(attr) => match self.ctx.attr_data(attr) {
                AttrData::AffineMap(_) => Some("map"),
                AttrData::IntegerSet(_) => Some("set"),
                AttrData::Distinct { inner, .. } if *inner != Attr::UNIT => Some("distinct"),
                AttrData::LocUnknown | AttrData::LocFile { .. } | AttrData::LocName { .. } => Some("loc"),
                AttrData::LocCallSite { .. } | AttrData::LocFused { .. } => Some("loc"),
                _ => None,
            },
            Aliased::Type(ty) => match self.ctx.type_data(ty) {
                TypeData::Tuple(elems) if elems.len() > MAX_TUPLE => Some("tuple"),
                _ => None,
            },
        };
        let hint = || match value {
            Aliased::Attr(attr) => self.hints.attrs.get(&attr),
            Aliased::Type(ty) => self.hints.types.get(&ty),
        };
        own.or_else(|| hint().map(|&base| self.ctx.text(base)))
    }
}

/// Whether no type and no attribute of the context needs an alias, except locations, which are not printed. This is
/// cheaper than to visit all ops: most share their types and attributes.
pub(super) fn is_context_plain(m: &Module, options: PrintOptions) -> bool {
    let ctx = &*m.ctx;
    if options.debug_info || ctx.num_types_and_attrs() > m.num_ops() {
        return false;
    }
    let mut builder = AliasBuilder::new(ctx, &m.alias_hints);
    let mut is_plain = |value| builder.visit(value, false).0 == 0;
    // The attributes of ops are in dictionaries.
    let is_dict = |attr: &Attr| matches!(ctx.attr_data(*attr), AttrData::Dict(_));
    ctx.all_types().all(|ty| is_plain(Aliased::Type(ty)))
        && ctx.all_attrs().filter(is_dict).all(|dict| is_plain(Aliased::Attr(dict)))
}

/// A visitor of the types and attributes that one contains.
struct Nested<'b, 'a> {
    builder: &'b mut AliasBuilder<'a>,
    deferrable: bool,
    deepest: usize,
    children: &'b mut Vec<usize>,
}

impl Nested<'_, '_> {
    fn part(&mut self, value: Aliased) {
        let (depth, i) = self.builder.visit(value, self.deferrable);
        if depth > 0 {
            self.deepest = self.deepest.max(depth);
            self.children.push(i);
        }
    }

    fn attr(&mut self, attr: Attr) {
        self.part(Aliased::Attr(attr));
    }

    fn ty(&mut self, ty: Type) {
        self.part(Aliased::Type(ty));
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(_) | Piece::Twin(_) => {}
                Piece::Attr(attr) => self.attr(*attr),
                Piece::Type(ty) => self.ty(*ty),
            }
        }
    }

    fn parts_of_attr(&mut self, attr: Attr) {
        let ctx = self.builder.ctx;
        match ctx.attr_data(attr) {
            // Their types are not visited.
            AttrData::Integer { .. } | AttrData::Float { .. } | AttrData::DenseArray { .. } => return,
            AttrData::Dialect { body, .. } => self.pieces(body),
            AttrData::Declared { params, .. } => params.iter().flatten().for_each(|&param| self.attr(param)),
            AttrData::Distinct { inner, .. } => self.attr(*inner),
            AttrData::Dict(entries) => entries.iter().for_each(|&(_, value)| self.attr(value)),
            AttrData::Array(elems) => elems.iter().for_each(|&elem| self.attr(elem)),
            AttrData::Type(ty) => self.ty(*ty),
            AttrData::LocName { child, .. } if *child != Attr::LOC_UNKNOWN => self.attr(*child),
            AttrData::LocCallSite { callee, caller } => {
                self.attr(*callee);
                self.attr(*caller);
            }
            AttrData::LocFused { locs, meta } => {
                meta.iter().for_each(|&meta| self.attr(meta));
                locs.iter().for_each(|&loc| self.attr(loc));
            }
            _ => {}
        }
        if let Some(ty) = ctx.attr_type(attr) {
            self.ty(ty);
        }
    }

    fn parts_of_type(&mut self, ty: Type) {
        let ctx = self.builder.ctx;
        match ctx.type_data(ty) {
            TypeData::Complex(elem) | TypeData::UnrankedTensor(elem) | TypeData::Vector { elem, .. } => self.ty(*elem),
            TypeData::Function { inputs, results } => inputs.iter().chain(results).for_each(|&ty| self.ty(ty)),
            TypeData::Tuple(elems) => elems.iter().for_each(|&ty| self.ty(ty)),
            TypeData::Tensor { elem, encoding, .. } => {
                self.ty(*elem);
                encoding.iter().for_each(|&attr| self.attr(attr));
            }
            TypeData::MemRef { elem, layout, space, .. } => {
                self.ty(*elem);
                layout.iter().chain(space).for_each(|&attr| self.attr(attr));
            }
            TypeData::UnrankedMemRef { elem, space } => {
                self.ty(*elem);
                space.iter().for_each(|&attr| self.attr(attr));
            }
            TypeData::Dialect { body, .. } => self.pieces(body),
            TypeData::Declared { params, .. } => params.iter().flatten().for_each(|&param| self.attr(param)),
            TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index | TypeData::None => {}
        }
    }
}

/// The aliases of a file.
#[derive(Default)]
pub(crate) struct Aliases {
    pub(super) names: FxHashMap<Aliased, Box<str>>,
    pub(super) top: Vec<Aliased>,
    pub(super) bottom: Vec<Aliased>,
    pub(super) head: String,
    pub(super) tail: String,
    /// Numbers of the `distinct` attributes in the definitions.
    pub(super) distinct: FxHashMap<Attr, usize>,
}

impl Aliases {
    /// Returns the alias of an attribute, with its `#`.
    pub(crate) fn attr(&self, attr: Attr) -> Option<&str> {
        self.names.get(&Aliased::Attr(attr)).map(|name| &**name)
    }

    /// Returns the alias of a type, with its `!`.
    pub(crate) fn ty(&self, ty: Type) -> Option<&str> {
        self.names.get(&Aliased::Type(ty)).map(|name| &**name)
    }

    /// Whether the file has no aliases.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the definitions at the top of the file, one per line.
    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    /// Returns the definitions at the end of the file, one per line: aliases that only locations of ops use.
    pub(crate) fn tail(&self) -> &str {
        &self.tail
    }
}
