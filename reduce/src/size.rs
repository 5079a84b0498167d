//! The size of a program, in order of preference: fewer endless regions, ops, blocks and values, smaller types, smaller
//! attributes.

use gradus_ir::entity::SideTable;
use gradus_ir::float::FloatKind;
use gradus_ir::{Attr, AttrData, Context, DYNAMIC, Def, Int, Module, Op, OpName, Traits, Type, TypeData};
use rustc_hash::FxHashMap;

/// The size of a program, compared lexicographically.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size {
    /// Number of regions without an exit, whose execution does not terminate.
    pub endless: u64,
    /// Number of ops, including the root.
    pub ops: u64,
    /// Number of ops other than constants.
    pub others: u64,
    /// Number of blocks and control-flow edges.
    pub blocks: u64,
    /// Number of results, block arguments and operands.
    pub values: u64,
    /// Sum of scalar bit widths and dimension extents.
    types: u64,
    /// Number of non-default attributes, plus the distance of constants from zero.
    attrs: u64,
    /// Sum over operands of the nesting distance to their definition.
    sources: u64,
}

/// Cached weights of attributes and types.
pub(crate) struct Weights {
    attrs: SideTable<Attr, Option<u32>>,
    types: SideTable<Type, Option<u32>>,
    /// Weights of the inherent attributes of an op name.
    props: FxHashMap<(OpName, Attr), u32>,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { attrs: SideTable::new(None), types: SideTable::new(None), props: FxHashMap::default() }
    }
}

impl Size {
    pub(crate) fn of(m: &Module, weights: &mut Weights) -> Size {
        let mut size = Size { endless: 0, ops: 0, others: 0, blocks: 0, values: 0, types: 0, attrs: 0, sources: 0 };
        for op in m.ops_under(m.root()) {
            size.add(m, op, weights);
        }
        size
    }

    fn add(&mut self, m: &Module, op: Op, weights: &mut Weights) {
        self.ops += 1;
        self.others += u64::from(!m.has_trait(op, Traits::CONSTANT_LIKE));
        self.blocks += m.successors(op).len() as u64;
        self.values += (m.num_results(op) + m.operands(op).len()) as u64;
        self.attrs += u64::from(weights.props(m, op)) + u64::from(weights.attr(&m.ctx, m.attrs(op)));
        for value in m.results(op) {
            self.types += u64::from(weights.ty(&m.ctx, m.value_type(value)));
        }
        for &region in m.regions(op) {
            let leaves = |b| m.last_op(b).is_none_or(|end| m.successors(end).is_empty());
            self.endless += u64::from(m.entry(region).is_some() && !m.region_blocks(region).any(leaves));
        }
        for block in m.regions(op).iter().flat_map(|&r| m.region_blocks(r)) {
            self.blocks += 1;
            self.values += m.block_args(block).len() as u64;
            for &arg in m.block_args(block) {
                self.types += u64::from(weights.ty(&m.ctx, m.value_type(arg)));
            }
        }
        for &value in m.operands(op) {
            self.sources += match m.def(value) {
                Def::Arg(..) => 0,
                Def::Result(..) if m.constant(value).is_some() => 1,
                Def::Result(..) => 2,
            };
        }
    }
}

/// Returns the number of ops in bodies: all but the root and symbols, including terminators and constants.
pub fn ops_in_bodies(m: &Module) -> usize {
    m.ops_under(m.root()).into_iter().filter(|&op| op != m.root() && gradus_ir::symbol_name(m, op).is_none()).count()
}

impl Weights {
    /// Returns the weight of the inherent attributes; attributes equal to their default weigh 0.
    fn props(&mut self, m: &Module, op: Op) -> u32 {
        let key = (m.name(op), m.props(op));
        if let Some(&known) = self.props.get(&key) {
            return known;
        }
        let ctx = &m.ctx;
        let mut sum = 0u32;
        for &(name, attr) in ctx.dict_entries(m.props(op)) {
            let default =
                m.info(op).and_then(|info| info.attr(ctx.text(name))?.default).map(|text| ctx.default_attr(text));
            if default != Some(attr) {
                sum = sum.saturating_add(1).saturating_add(self.attr(ctx, attr));
            }
        }
        self.props.insert(key, sum);
        sum
    }

    fn attr(&mut self, ctx: &Context, attr: Attr) -> u32 {
        if let Some(known) = self.attrs[attr] {
            return known;
        }
        let sum = |weights: &mut Weights, all: &mut dyn Iterator<Item = Attr>| {
            all.fold(0u32, |sum, a| sum.saturating_add(1).saturating_add(weights.attr(ctx, a)))
        };
        let weight = match ctx.attr_data(attr) {
            AttrData::Unit => 0,
            AttrData::Integer { value: Int::Small(v), ty } => {
                self.ty(ctx, *ty).saturating_add(64 - v.unsigned_abs().leading_zeros())
            }
            AttrData::Float { ty, bits } => {
                let number = ctx.as_float(attr);
                let digits =
                    if number == Some(0.0) || number == Some(1.0) { number.map_or(0, |n| n as u32) } else { 8 };
                self.ty(ctx, *ty).saturating_add(digits + u32::from(bits[0] >> 63 != 0))
            }
            AttrData::Array(list) => sum(self, &mut list.iter().copied()),
            AttrData::Dict(entries) => sum(self, &mut entries.iter().map(|e| e.1)),
            AttrData::Type(ty) => self.ty(ctx, *ty),
            _ => match (ctx.attr_type(attr), ctx.as_uniform(attr)) {
                (Some(ty), Some(number)) => self
                    .ty(ctx, ty)
                    .saturating_add(u32::from(number != 0.0) + u32::from(number != 0.0 && number != 1.0)),
                (Some(ty), None) => self.ty(ctx, ty).saturating_add(8),
                (None, _) => 4,
            },
        };
        self.attrs[attr] = Some(weight);
        weight
    }

    fn ty(&mut self, ctx: &Context, ty: Type) -> u32 {
        if let Some(known) = self.types[ty] {
            return known;
        }
        let extents = |shape: &[i64]| {
            let one = |&d: &i64| if d == DYNAMIC { 1 << 12 } else { u32::try_from(d).unwrap_or(u32::MAX).min(1 << 12) };
            shape.iter().map(one).fold(0u32, u32::saturating_add)
        };
        let weight = match ctx.type_data(ty) {
            TypeData::Integer { width, .. } => *width,
            TypeData::Float(_) => ctx.float_kind(ty).map_or(64, FloatKind::width),
            TypeData::Function { inputs, results } => inputs
                .iter()
                .chain(results)
                .fold(0u32, |sum, &ty| sum.saturating_add(1).saturating_add(self.ty(ctx, ty))),
            TypeData::Vector { shape, elem, .. } => extents(shape).saturating_add(self.ty(ctx, *elem)),
            TypeData::Tensor { shape, elem, encoding } => {
                extents(shape).saturating_add(self.ty(ctx, *elem)).saturating_add(8 * u32::from(encoding.is_some()))
            }
            TypeData::MemRef { shape, elem, layout, space } => {
                let extras = u32::from(layout.is_some()) + u32::from(space.is_some());
                extents(shape).saturating_add(self.ty(ctx, *elem)).saturating_add(8 * extras)
            }
            TypeData::None => 0,
            _ => 64,
        };
        self.types[ty] = Some(weight);
        weight
    }
}
