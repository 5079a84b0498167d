//! Which memory the iterations of affine loops use: whether they depend on each other so that their order matters, and how
//! much memory it is.

use super::applied::Applied;
use super::range::ranges;
use super::text::map_data;
use super::{ForOp, LoadOp, StoreOp};
use crate::loops::CountedLoop;
use gradus_ir::affine::Linear;
use gradus_ir::{Attr, Effects, Module, Op, OpDecl, Type, Value, ValueList};
use std::collections::{BTreeMap, HashMap};

/// An access to an element.
struct Access {
    memory: Value,
    writes: bool,
    at: Applied,
}

/// The accesses in a loop; `None` if there are ops that may use memory in other ways. Ops that are not declared are taken
/// to use none.
fn accesses(m: &Module, root: ForOp) -> Option<Vec<Access>> {
    let mut found = Vec::new();
    for op in m.ops_under(root.0) {
        let known = if let Some(load) = LoadOp::cast(m, op) {
            access(m, false, load.memref(m), load.map(m), &load.indices(m))
        } else if let Some(store) = StoreOp::cast(m, op) {
            access(m, true, store.memref(m), store.map(m), &store.indices(m))
        } else {
            is_harmless(m, op).then_some(())?;
            continue;
        };
        found.push(known?);
    }
    Some(found)
}

fn access(m: &Module, writes: bool, memory: Value, map: Option<Attr>, operands: &ValueList) -> Option<Access> {
    let mut at = Applied::map(map_data(&m.ctx, map?)?, operands);
    at.compose(m);
    Some(Access { memory, writes, at })
}

/// Whether the op itself uses no memory.
fn is_harmless(m: &Module, op: Op) -> bool {
    m.info(op).is_none_or(|info| matches!(info.effects, Effects::Pure | Effects::MayUb | Effects::Recursive))
}

/// Whether the memory is a view of other memory.
fn is_view(m: &Module, memory: Value) -> bool {
    let is_memory = |&v: &Value| m.value_type(v) != Type::INDEX && m.ctx.shape(m.value_type(v)).is_some();
    m.defining_op(memory).is_some_and(|op| m.operands(op).iter().any(is_memory))
}

/// Whether the iterations of a perfect nest may run in any order in which none of its loops goes backwards: then it can be
/// tiled, and its loops interchanged. Values of memref type that are no views are taken to be different memory.
pub fn is_permutable(m: &Module, nest: &[ForOp]) -> bool {
    let Some(all) = nest.first().and_then(|&root| accesses(m, root)) else { return false };
    let vars: Vec<Value> = nest.iter().map(|l| m.block_args(l.body(m))[0]).collect();
    let mut by_memory: BTreeMap<Value, Vec<&Access>> = BTreeMap::new();
    all.iter().for_each(|a| by_memory.entry(a.memory).or_default().push(a));
    let any_writes = all.iter().any(|a| a.writes);
    if any_writes && by_memory.len() > 1 && by_memory.keys().any(|&memory| is_view(m, memory)) {
        return false;
    }
    let space = Space { m, nest, vars };
    by_memory.values().all(|accesses| {
        let places: Vec<Place> = accesses.iter().map(|a| space.place(a)).collect();
        let mut kinds: Vec<(bool, &Place)> = accesses.iter().map(|a| a.writes).zip(&places).collect();
        // Many accesses to few places are the rule; pairs of the same kinds say the same.
        kinds.sort_unstable();
        kinds.dedup();
        let writes = kinds.iter().filter(|(writes, _)| *writes);
        kinds.len() <= MAX_PLACES
            && writes.flat_map(|w| kinds.iter().map(move |a| (w, a))).all(|(w, a)| space.allows(w.1, a.1))
    })
}

/// More different places of one memref than this are not compared with each other.
const MAX_PLACES: usize = 256;

/// A position: for each dimension, what is known of it.
type Place = Vec<Option<Subscript>>;

/// The sum of multiples of induction variables of the nest and of values that do not change in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subscript {
    /// Factors of the nest's induction variables, outermost first.
    steps: Vec<i64>,
    /// Factors of other values.
    fixed: BTreeMap<Value, i64>,
    constant: i64,
}

struct Space<'m> {
    m: &'m Module,
    nest: &'m [ForOp],
    vars: Vec<Value>,
}

impl Space<'_> {
    fn place(&self, access: &Access) -> Place {
        let at = &access.at;
        at.exprs.iter().map(|expr| self.subscript(at, expr.linear(at.num_dims, at.num_symbols)?)).collect()
    }

    fn subscript(&self, at: &Applied, sum: Linear) -> Option<Subscript> {
        let (mut steps, mut fixed) = (vec![0; self.vars.len()], BTreeMap::new());
        for (number, factor) in sum.terms {
            let value = *at.operands.get(number as usize)?;
            match self.vars.iter().position(|&var| var == value) {
                Some(depth) => steps[depth] += factor,
                None if self.is_inside(value) => return None,
                None => *fixed.entry(value).or_default() += factor,
            }
        }
        Some(Subscript { steps, fixed, constant: sum.constant })
    }

    fn is_inside(&self, value: Value) -> bool {
        let root = self.nest[0].0;
        let around = self.m.def_block(value).and_then(|block| self.m.block_op(block));
        around.is_some_and(|op| op == root || self.m.is_inside(op, root))
    }

    /// Whether two accesses to the same memory, of which one writes, leave the order of the loops open: whether of each two
    /// iterations that use the same element, one comes first in all loops.
    fn allows(&self, a: &Place, b: &Place) -> bool {
        let mut distances: Vec<Option<i64>> = self.nest.iter().map(|l| self.runs_once(*l).then_some(0)).collect();
        for (a, b) in a.iter().zip(b) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a.steps != b.steps || a.fixed != b.fixed {
                continue;
            }
            let Some(apart) = a.constant.checked_sub(b.constant) else { continue };
            let mut moving = a.steps.iter().enumerate().filter(|(_, step)| **step != 0);
            match (moving.next(), moving.next()) {
                // Never the same element.
                (None, _) if apart != 0 => return true,
                (Some((depth, &step)), None) => {
                    let (Some(distance), Some(0)) = (apart.checked_div(step), apart.checked_rem(step)) else {
                        return true;
                    };
                    if distances[depth].is_some_and(|known| known != distance) {
                        return true;
                    }
                    distances[depth] = Some(distance);
                }
                _ => {}
            }
        }
        let open = distances.iter().filter(|d| d.is_none()).count();
        let known = || distances.iter().flatten();
        match open {
            0 => known().all(|&d| d >= 0) || known().all(|&d| d <= 0),
            1 => known().all(|&d| d == 0),
            _ => false,
        }
    }

    fn runs_once(&self, this: ForOp) -> bool {
        this.trip_count(self.m).is_some_and(|trips| trips <= 1)
    }
}

/// The size in bytes of the memory that a loop uses: of each memref, the least box around all accesses. `None` if that is
/// not known.
pub fn footprint(m: &Module, root: ForOp) -> Option<u64> {
    let mut boxes: HashMap<Value, Vec<(i64, i64)>> = HashMap::new();
    let mut order = Vec::new();
    let elements = m.ops_under(root.0).into_iter().filter_map(|op| {
        let load = LoadOp::cast(m, op).map(|l| access(m, false, l.memref(m), l.map(m), &l.indices(m)));
        load.or_else(|| StoreOp::cast(m, op).map(|s| access(m, true, s.memref(m), s.map(m), &s.indices(m))))
    });
    for element in elements {
        let Access { memory, at, .. } = element?;
        let inputs = ranges(m, &at.operands);
        let extents = at.exprs.iter().map(|expr| match expr.range(at.num_dims, &inputs) {
            (Some(least), Some(greatest)) => Some((least, greatest)),
            _ => None,
        });
        let extents = extents.collect::<Option<Vec<_>>>()?;
        let known = boxes.entry(memory).or_insert_with(|| {
            order.push(memory);
            extents.clone()
        });
        known.iter_mut().zip(extents).for_each(|(k, e)| *k = (k.0.min(e.0), k.1.max(e.1)));
    }
    order.into_iter().try_fold(0u64, |sum, memory| {
        let bits = match m.ctx.element_type(m.value_type(memory)) {
            Type::INDEX => 64,
            elem => m.ctx.int_width(elem).or_else(|| m.ctx.float_kind(elem).map(|kind| kind.width()))?,
        };
        let volume = boxes[&memory].iter().try_fold(u64::from(bits.div_ceil(8)), |volume, &(least, greatest)| {
            volume.checked_mul(greatest.checked_sub(least)?.max(0).unsigned_abs().checked_add(1)?)
        });
        sum.checked_add(volume?)
    })
}
