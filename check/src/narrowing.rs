//! Losses by ops in narrower float types than those of the original.

use crate::rounding::{least, significant_bits};
use gradus_ir::effects::is_removable;
use gradus_ir::float::FloatKind;
use gradus_ir::{Module, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Factor of the errors of ops in a narrower type: later ops increase them, such as a square.
const NARROW: f64 = 4.0;

/// The losses by ops in a narrower type than those of the original.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Narrowing {
    /// The narrowest such type.
    pub(crate) kind: Option<FloatKind>,
    /// Bound of the relative errors.
    pub(crate) relative: f64,
    /// Bound of the errors of numbers that are subnormal in the type.
    pub(crate) absolute: f64,
}

/// The versions of a program that passes make one after another.
#[derive(Debug)]
pub(crate) struct Versions {
    /// The precision of the widest type of the first version.
    widest: u32,
    /// The least number of ops of each precision in any version.
    fewest: FxHashMap<u32, u64>,
    /// The largest losses of any version: constants may stay, rounded, when the ops in the narrower type are gone.
    lost: Narrowing,
}

impl Versions {
    pub(crate) fn new(original: &Module) -> Versions {
        let ops = ops_by_precision(original);
        let widest = ops.keys().last().copied().unwrap_or(0);
        let fewest = ops.iter().map(|(&bits, (count, _))| (bits, *count)).collect();
        Versions { widest, fewest, lost: Narrowing::default() }
    }

    /// Adds a version, and returns the losses of all by ops in narrower types than the widest, constants included, which round
    /// once each. As many as each earlier version has of a type do not count.
    pub(crate) fn add(&mut self, version: &Module) -> Narrowing {
        let ops = ops_by_precision(version);
        let mut sum = Narrowing::default();
        for (bits, (count, kind)) in ops.range(..self.widest) {
            let more = count.saturating_sub(self.fewest.get(bits).copied().unwrap_or(0));
            if more > 0 {
                sum.kind = sum.kind.or(Some(*kind));
                sum.relative += NARROW * more as f64 * f64::exp2(-f64::from(*bits));
                sum.absolute += NARROW * more as f64 * least(*kind);
            }
        }
        self.fewest.iter_mut().for_each(|(bits, count)| *count = (*count).min(ops.get(bits).map_or(0, |now| now.0)));
        self.lost = self.lost.with(sum);
        self.lost
    }
}

impl Narrowing {
    /// Returns the larger losses of both.
    fn with(self, other: Narrowing) -> Narrowing {
        let kinds = [self.kind, other.kind].into_iter().flatten();
        Narrowing {
            kind: kinds.min_by_key(|&kind| significant_bits(kind)),
            relative: self.relative.max(other.relative),
            absolute: self.absolute.max(other.absolute),
        }
    }
}

/// Returns the number of ops of each precision, with a type of that precision. Ops that lead to nothing do not count: any pass may erase them.
fn ops_by_precision(m: &Module) -> BTreeMap<u32, (u64, FloatKind)> {
    let (mut found, mut dead) = (BTreeMap::new(), FxHashSet::<Op>::default());
    for op in m.ops_under(m.root()).into_iter().rev() {
        if is_removable(m, op) && m.results(op).all(|v| m.uses(v).all(|(user, _)| dead.contains(&user))) {
            dead.insert(op);
            continue;
        }
        let kinds = m.results(op).filter_map(|v| float_kind(m, v));
        let Some(kind) = kinds.min_by_key(|&kind| significant_bits(kind)) else { continue };
        found.entry(significant_bits(kind)).or_insert((0, kind)).0 += 1;
    }
    found
}

pub(crate) fn float_kind(m: &Module, value: Value) -> Option<FloatKind> {
    m.ctx.float_kind(m.ctx.element_type(m.value_type(value)))
}

/// Returns the precisions of the floats of a program, in bits.
fn precisions(m: &Module) -> impl Iterator<Item = u32> + '_ {
    let values = m.ops_under(m.root()).into_iter().flat_map(|op| m.results(op).chain(m.operands(op).iter().copied()));
    values.filter_map(|value| float_kind(m, value)).map(significant_bits)
}

/// Returns the least precision of the floats of a program.
pub(crate) fn precision(m: &Module) -> u32 {
    precisions(m).min().unwrap_or(DOUBLE)
}

/// Whether a program has floats of 64 bits, whose roundings a version in `f64` does not show.
pub(crate) fn has_doubles(m: &Module) -> bool {
    precisions(m).any(|bits| bits == DOUBLE)
}

/// The precision of `f64`.
const DOUBLE: u32 = 53;
