//! Memory dependences between iterations of affine loops, and memory footprints.

use super::range::{gcd, ranges};
use super::text::map_data;
use super::value_map::AffineValueMap;
use super::{ForOp, LoadOp, StoreOp, VectorLoadOp, VectorStoreOp};
use crate::loops::CountedLoop;
use crate::memref;
use gradus_ir::affine::{AffineMap, Linear};
use gradus_ir::{DYNAMIC, Effects, Module, Op, OpDecl, Type, Value};
use std::collections::{BTreeMap, HashMap};

/// A read or write of a box of elements.
struct BoxAccess {
    memory: Value,
    writes: bool,
    /// Subscripts of the first element.
    at: AffineValueMap,
    /// Number of elements per dimension.
    widths: Vec<i64>,
}

/// Returns the accesses in a loop; `None` if other ops may access memory.
fn accesses(m: &Module, root: ForOp) -> Option<Vec<BoxAccess>> {
    let mut found = Vec::new();
    for op in m.ops_under(root.0) {
        match access(m, op) {
            Some(access) => found.push(access),
            None => is_harmless(m, op).then_some(())?,
        }
    }
    Some(found)
}

/// Returns the access of a load or store.
fn access(m: &Module, op: Op) -> Option<BoxAccess> {
    let (writes, memory, element) = if let Some(load) = LoadOp::cast(m, op) {
        (false, load.memref(m), load.result(m))
    } else if let Some(load) = VectorLoadOp::cast(m, op) {
        (false, load.memref(m), load.result(m))
    } else if let Some(load) = memref::LoadOp::cast(m, op) {
        (false, load.memref(m), load.result(m))
    } else if let Some(store) = StoreOp::cast(m, op) {
        (true, store.memref(m), store.value(m))
    } else if let Some(store) = VectorStoreOp::cast(m, op) {
        (true, store.memref(m), store.value(m))
    } else {
        let store = memref::StoreOp::cast(m, op)?;
        (true, store.memref(m), store.value(m))
    };
    let indices = &m.operands(op)[if writes { 2 } else { 1 }..];
    let mut at = match m.inherent_attr(op, "map") {
        Some(map) => AffineValueMap::map(map_data(&m.ctx, map)?, indices),
        None => AffineValueMap::map(&AffineMap::identity(indices.len() as u32), indices),
    };
    at.compose(m);
    let mut widths = vec![1; at.exprs.len()];
    // Memref elements may be vectors themselves.
    if m.value_type(element) != m.ctx.element_type(m.value_type(memory)) {
        let shape = m.ctx.shape(m.value_type(element))?;
        widths.splice(widths.len().checked_sub(shape.len())?.., shape.iter().copied());
    }
    Some(BoxAccess { memory, writes, at, widths })
}

/// Whether the op itself accesses no memory.
fn is_harmless(m: &Module, op: Op) -> bool {
    m.info(op).is_some_and(|info| matches!(info.effects, Effects::Pure | Effects::MayUb | Effects::Recursive))
}

/// Whether a perfect loop nest is fully permutable, so that it can be tiled and interchanged: no dependence has a
/// negative distance in any of its loops.
pub fn is_permutable(m: &Module, nest: &[ForOp]) -> bool {
    let Some(all) = nest.first().and_then(|&root| accesses(m, root)) else { return false };
    let vars: Vec<Value> = nest.iter().map(|l| m.block_args(l.body(m))[0]).collect();
    let mut by_memory: BTreeMap<Value, Vec<&BoxAccess>> = BTreeMap::new();
    all.iter().for_each(|a| by_memory.entry(a.memory).or_default().push(a));
    if may_share(m, &by_memory) {
        return false;
    }
    let space = LoopNest { m, nest, vars };
    by_memory.values().all(|accesses| {
        let places: Vec<AccessSubscripts> = accesses.iter().map(|a| space.place(a)).collect();
        let mut kinds: Vec<(bool, &AccessSubscripts)> = accesses.iter().map(|a| a.writes).zip(&places).collect();
        // Many accesses have equal subscripts; compare each pair of kinds once.
        kinds.sort_unstable();
        kinds.dedup();
        let writes = kinds.iter().filter(|(writes, _)| *writes);
        kinds.len() <= MAX_PLACES
            && writes.flat_map(|w| kinds.iter().map(move |a| (w, a))).all(|(w, a)| space.allows(w.1, a.1))
    })
}

/// Whether a memref that is written may alias another one.
fn may_share(m: &Module, by_memory: &BTreeMap<Value, Vec<&BoxAccess>>) -> bool {
    if by_memory.len() > MAX_PLACES {
        return true;
    }
    let written = by_memory.iter().filter(|(_, accesses)| accesses.iter().any(|a| a.writes)).map(|(&memory, _)| memory);
    let others = |memory: Value| by_memory.keys().filter(move |&&other| other != memory);
    written.into_iter().any(|memory| others(memory).any(|&other| memref::may_alias(m, memory, other)))
}

/// Maximum number of memrefs, and of distinct accesses of one, that are compared pairwise.
const MAX_PLACES: usize = 256;

/// The known subscript of each dimension of an access.
type AccessSubscripts = Vec<Option<Subscript>>;

/// An affine subscript: a linear combination of the nest's induction variables and loop-invariant values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subscript {
    /// Coefficients of the nest's induction variables, outermost first.
    steps: Vec<i64>,
    /// Coefficients of loop-invariant values.
    fixed: BTreeMap<Value, i64>,
    constant: i64,
    /// Number of elements accessed at once.
    width: i64,
}

struct LoopNest<'m> {
    m: &'m Module,
    nest: &'m [ForOp],
    vars: Vec<Value>,
}

impl LoopNest<'_> {
    fn place(&self, access: &BoxAccess) -> AccessSubscripts {
        let at = &access.at;
        let sums = at.exprs.iter().map(|expr| expr.linear(at.num_dims, at.num_symbols));
        sums.zip(&access.widths).map(|(sum, &width)| self.subscript(at, sum?, width)).collect()
    }

    fn subscript(&self, at: &AffineValueMap, sum: Linear, width: i64) -> Option<Subscript> {
        let (mut steps, mut fixed) = (vec![0; self.vars.len()], BTreeMap::new());
        for (number, factor) in sum.terms {
            let value = *at.operands.get(number as usize)?;
            match self.vars.iter().position(|&var| var == value) {
                Some(depth) => steps[depth] += factor,
                None if self.is_inside(value) => return None,
                None => *fixed.entry(value).or_default() += factor,
            }
        }
        Some(Subscript { steps, fixed, constant: sum.constant, width })
    }

    fn is_inside(&self, value: Value) -> bool {
        let root = self.nest[0].0;
        let around = self.m.def_block(value).and_then(|block| self.m.block_op(block));
        around.is_some_and(|op| op == root || self.m.is_inside(op, root))
    }

    /// Whether two accesses of the same memref, one of them a write, permit reordering: dependent iterations are
    /// ordered equally by all loops.
    fn allows(&self, a: &AccessSubscripts, b: &AccessSubscripts) -> bool {
        let mut distances: Vec<Option<i64>> = self.nest.iter().map(|l| self.runs_once(*l).then_some(0)).collect();
        for (a, b) in a.iter().zip(b) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            match self.apart(a, b) {
                Distance::Unknown => {}
                Distance::Never => return true,
                Distance::By(depth, distance) => {
                    if distances[depth].is_some_and(|known| known != distance) {
                        return true;
                    }
                    distances[depth] = Some(distance);
                }
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

    /// Returns the dependence distance of two subscripts.
    fn apart(&self, a: &Subscript, b: &Subscript) -> Distance {
        let Some(apart) = a.constant.checked_sub(b.constant).filter(|_| a.fixed == b.fixed) else {
            return Distance::Unknown;
        };
        let width = a.width.max(b.width);
        // The greatest common divisor of the coefficients divides every difference (GCD test).
        let divisor = a.steps.iter().chain(&b.steps).fold(0, |divisor, &step| gcd(divisor, step));
        if width == 1 && divisor > 0 && apart % divisor != 0 {
            return Distance::Never;
        }
        if a.steps != b.steps {
            return Distance::Unknown;
        }
        let mut moving = a.steps.iter().enumerate().filter(|(_, step)| **step != 0);
        match (moving.next(), moving.next()) {
            (None, _) if apart.unsigned_abs() >= width.unsigned_abs() => Distance::Never,
            (Some((depth, &step)), None) if width == 1 => {
                apart.checked_div(step).map_or(Distance::Unknown, |distance| Distance::By(depth, distance))
            }
            (Some((depth, &step)), None) if apart == 0 => {
                let advance = self.nest[depth].bounds(self.m).and_then(|bounds| bounds.step.checked_mul(step));
                match advance.is_some_and(|advance| advance.unsigned_abs() >= width.unsigned_abs()) {
                    true => Distance::By(depth, 0),
                    false => Distance::Unknown,
                }
            }
            _ => Distance::Unknown,
        }
    }

    fn runs_once(&self, this: ForOp) -> bool {
        this.trip_count(self.m).is_some_and(|trips| trips <= 1)
    }
}

/// Distance between iterations that access a common element.
enum Distance {
    /// Unknown.
    Unknown,
    /// No dependence.
    Never,
    /// Constant distance in the induction variable of the loop at a depth.
    By(usize, i64),
}

/// Returns the memory footprint of a loop in bytes: the bounding boxes of the accesses of each memref. `None` if
/// unknown.
pub fn footprint(m: &Module, root: ForOp) -> Option<u64> {
    let mut boxes: HashMap<Value, Vec<(i64, i64)>> = HashMap::new();
    let mut order = Vec::new();
    for BoxAccess { memory, at, widths, .. } in m.ops_under(root.0).into_iter().filter_map(|op| access(m, op)) {
        let (inputs, shape) = (ranges(m, &at.operands), m.ctx.shape(m.value_type(memory))?);
        let extents = at.exprs.iter().zip(&widths).zip(shape).map(|((expr, width), &size)| {
            let (least, greatest) = expr.range(at.num_dims, &inputs);
            let last = (size != DYNAMIC).then(|| size - 1);
            let greatest = greatest.and_then(|v| v.checked_add(width - 1));
            let greatest = greatest.into_iter().chain(last).min()?;
            Some((least.unwrap_or(0).max(0), greatest))
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
            elem => m.ctx.int_width(elem).or_else(|| Some(m.ctx.float_kind(elem)?.width()))?,
        };
        let volume = boxes[&memory].iter().try_fold(u64::from(bits.div_ceil(8)), |volume, &(least, greatest)| {
            volume.checked_mul(greatest.checked_sub(least)?.max(0).unsigned_abs().checked_add(1)?)
        });
        sum.checked_add(volume?)
    })
}
