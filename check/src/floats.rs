//! Comparison of floats: the precision in which programs are run, and the tolerance of results.
//!
//! Rounding is told from algebra by running a program again with all its floats as `f64`: the semantics of an op apply
//! to any float type, so that nothing is declared twice.

use crate::input::Input;
use crate::options::{Floats, Options};
use crate::outcome::{Outcome, Relation, Runner};
use crate::rounding::{least, significant_bits};
use crate::seen::{refines_by, same_bits};
use gradus_ir::eval::Datum;
use gradus_ir::float::FloatKind;
use gradus_ir::random::Random;
use gradus_ir::{DType, Diagnostic, Module, Op, OpInfo, Type, Value, symbol_name, verify};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Relative tolerance of [`Floats::Approximate`], of the larger number.
const PERCENT: f64 = 0.01;

/// Absolute tolerance of the same: a rounding of subnormal numbers of f32 loses up to half of the least one, 2^-149.
const SUBNORMAL: f64 = 1.0 / (1_u128 << 127) as f64 / (1 << 18) as f64;

/// Relative perturbation of inputs that measures the conditioning of results.
const SHAKE: f64 = 1e-12;
/// Relative tolerance of [`Floats::Algebra`].
const ALGEBRA: f64 = 1e-9;
/// Relative perturbation of inputs that detects discontinuities.
const NUDGE: f64 = 1e-4;
/// Relative change of a result under that perturbation from which on it counts as discontinuous.
const JUMP: f64 = 0.1;
/// Relative perturbation of floats within a run: a unit in the last place of f32.
const LAST_PLACE: f64 = 1.0 / (1 << 23) as f64;
/// Number of perturbed runs.
const SHAKES: u64 = 4;
/// Number of runs with operands rounded at random before a difference of a program with narrower types counts: several
/// roundings may have to coincide, as those of both sides of a comparison.
const CONFIRMATIONS: u64 = 96;
/// Factor by which rounding errors may exceed those of the original or of perturbed runs.
const SLACK: f64 = 8.0;

/// Factor of the errors of ops in a narrower type: later ops increase them, such as a square.
const NARROW: f64 = 4.0;

/// Returns the program with `f64` in place of all smaller floats, or why it is not valid then.
pub fn widened(m: &Module) -> Result<Module, Vec<Diagnostic>> {
    let ctx = m.ctx.clone();
    let mut wide = m.clone();
    wide.retype(&|ty| if ctx.float_kind(ty).is_some() { Type::F64 } else { ty });
    drop_conversions(m, &mut wide);
    verify(&wide)?;
    Ok(wide)
}

/// Drops the conversions between float types: they are identities when all floats are `f64`.
fn drop_conversions(m: &Module, wide: &mut Module) {
    for op in wide.ops_under(wide.root()) {
        let (&[operand], 1) = (wide.operands(op), wide.num_results(op)) else { continue };
        let result = wide.result(op, 0);
        let is_conversion = wide.info(op).is_some_and(OpInfo::is_elementwise)
            && m.value_type(operand) != m.value_type(result)
            && wide.value_type(operand) == wide.value_type(result);
        if is_conversion {
            wide.replace_all_uses(result, operand);
            wide.erase_op(op);
        }
    }
}

/// A function, and its version in `f64`.
struct Side<'m> {
    m: &'m Module,
    op: Op,
    wide: OnceCell<Option<(Module, Op)>>,
}

impl<'m> Side<'m> {
    fn new((m, op): (&'m Module, Op)) -> Side<'m> {
        Side { m, op, wide: OnceCell::new() }
    }

    /// Returns the outcome in `f64`; `None` if the function has no valid version in `f64`.
    fn run_wide(&self, input: &Input, options: &Options) -> Option<Outcome> {
        let make = || {
            let wide = widened(self.m).ok()?;
            let name = symbol_name(self.m, self.op);
            let op = wide.block_ops(wide.body()).find(|&op| symbol_name(&wide, op) == name)?;
            Some((wide, op))
        };
        let (wide, op) = self.wide.get_or_init(make).as_ref()?;
        let input = input.map_floats(&mut |value| value, |_| DType::F64);
        Some(Runner::new(wide, options).run(*op, &input))
    }
}

/// The decision whether runs of a transformed function refine those of the original, in a float mode.
pub(crate) struct Judge<'m> {
    before: Side<'m>,
    after: Side<'m>,
    options: Options,
    narrowing: Narrowing,
    /// Whether a constant of the original program is not finite.
    has_special_constants: OnceCell<bool>,
}

/// The losses by ops in a narrower type than those of the original.
#[derive(Clone, Copy, Default, Debug)]
struct Narrowing {
    /// The narrowest such type.
    kind: Option<FloatKind>,
    /// Bound of the relative errors.
    relative: f64,
    /// Bound of the errors of numbers that are subnormal in the type.
    absolute: f64,
}

impl<'m> Judge<'m> {
    /// Creates a judge. `versions` are those of the transformed function that were compared before.
    pub(crate) fn new(
        before: (&'m Module, Op),
        after: (&'m Module, Op),
        options: Options,
        versions: &mut Option<Versions>,
    ) -> Judge<'m> {
        let narrowing = match options.floats {
            Floats::Bits | Floats::Exact => Narrowing::default(),
            _ => versions.get_or_insert_with(|| Versions::new(before.0)).add(after.0),
        };
        let (before, after) = (Side::new(before), Side::new(after));
        Judge { before, after, options, narrowing, has_special_constants: OnceCell::new() }
    }

    /// Returns the relation of a run to the original run on the same input.
    pub(crate) fn relation(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        let snapped = (self.options.floats == Floats::Quantized).then(|| after.within_step_of(before));
        let after = snapped.as_ref().unwrap_or(after);
        let approximate = self.options.floats == Floats::Approximate;
        if approximate && after.relation_by(before, about_the_same) == Relation::Refines {
            return Relation::Refines;
        }
        let relation = match self.options.floats {
            Floats::Bits => return after.relation(before),
            Floats::Exact => self.exact(input, before, after),
            Floats::Algebra | Floats::Rounding | Floats::Quantized | Floats::Approximate => {
                match self.rounded(input, before, after, SHAKES) {
                    Relation::Differs if self.narrowing.kind.is_some() => {
                        self.rounded(input, before, after, CONFIRMATIONS)
                    }
                    relation => relation,
                }
            }
        };
        // A zero of a matrix times infinity is no number, and nothing where zeros are left out.
        let is_special = || {
            overflows(before, after)
                && after.relation_by(before, about_the_same_or_special) == Relation::Refines
                && *self.has_special_constants.get_or_init(|| has_special_constants(self.before.m))
        };
        if relation == Relation::Differs && is_special() { Relation::Close } else { relation }
    }

    /// Returns the relation apart from roundings, which `runs` runs of the original measure.
    fn rounded(&self, input: &Input, before: &Outcome, after: &Outcome, runs: u64) -> Relation {
        let approximate = self.options.floats == Floats::Approximate;
        let close = |relation| if self.jumps(input, before) { Relation::Close } else { relation };
        match after.relation_by(before, any_floats) {
            Relation::Refines if after.relation_by(before, same_numbers) == Relation::Refines => Relation::Refines,
            Relation::Refines => match self.tolerances(input, before, runs) {
                Some(tolerances) if is_near(before, after, &tolerances, approximate) => Relation::Refines,
                // The narrower type may lack the range.
                Some(_) if self.narrowing.relative > 0.0 && overflows(before, after) => Relation::Close,
                Some(_) => close(Relation::Differs),
                None => Relation::Close,
            },
            Relation::Differs if self.are_ties(input, before, after, runs) => Relation::Close,
            other => other,
        }
    }

    /// Returns the relation with equal numbers. A difference counts only if neither side was rounded: if its `f64`
    /// version gives the same, or the same apart from floats if other values differ.
    fn exact(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        let relation = after.relation_by(before, same_numbers);
        if relation != Relation::Differs {
            return relation;
        }
        let differs_otherwise = after.relation_by(before, any_floats) == Relation::Differs;
        let same = if differs_otherwise { any_floats } else { same_numbers };
        let is_exact = |side: &Side<'_>, outcome: &Outcome| {
            side.run_wide(input, &self.options).is_some_and(|wide| {
                wide.relation_by(outcome, same) != Relation::Differs
                    && outcome.relation_by(&wide, same) != Relation::Differs
            })
        };
        let exact = is_exact(&self.before, before) && is_exact(&self.after, after);
        if exact { Relation::Differs } else { Relation::Close }
    }

    /// Whether each difference apart from floats is where the original changes too, if its inputs or the last places of its floats are
    /// perturbed, nothing is rounded, or more coarsely: where an integer depends on a float near a discontinuity.
    fn are_ties(&self, input: &Input, before: &Outcome, after: &Outcome, runs: u64) -> bool {
        let by = NUDGE.max(self.narrowing.relative);
        let nudged = (0..SHAKES).filter_map(|number| self.shaken(input, by, number, false));
        let perturbed = (0..4 * SHAKES).map(|seed| {
            let runner = Runner::new(self.before.m, &self.options);
            runner.perturbing_results(LAST_PLACE, seed).run(self.before.op, input)
        });
        let others = nudged.chain(perturbed).chain(self.before.run_wide(input, &self.options));
        let others = others.chain(self.narrow_runs(input, runs));
        let others: Vec<Outcome> = others.collect();
        let (have, want) = (after.places(), before.places());
        let lengths = |places: &[Vec<Datum>]| places.iter().map(Vec::len).collect::<Vec<_>>();
        let changes = |other: &Outcome| other.relation_by(before, any_floats) != Relation::Refines;
        let changed: Vec<Vec<Vec<Datum>>> = others.iter().filter(|other| changes(other)).map(Outcome::places).collect();
        if lengths(&have) != lengths(&want) || changed.iter().any(|places| lengths(places) != lengths(&want)) {
            return !changed.is_empty();
        }
        let is_tie = |place: usize, i: usize| changed.iter().any(|other| differs(&want[place][i], &other[place][i]));
        let all = want.iter().enumerate().flat_map(|(place, data)| (0..data.len()).map(move |i| (place, i)));
        let mut differing = all.filter(|&(place, i)| differs(&want[place][i], &have[place][i])).peekable();
        differing.peek().is_some() && differing.all(|(place, i)| is_tie(place, i))
    }

    /// Returns the tolerance of each observable float; `None` if perturbed inputs take another path.
    fn tolerances(&self, input: &Input, before: &Outcome, runs: u64) -> Option<Vec<Vec<f64>>> {
        if self.options.floats == Floats::Algebra {
            let floor = before.floats().iter().map(|place| vec![ALGEBRA * largest(place); place.len()]).collect();
            return self.add_shaken(input, before, SHAKE, ALGEBRA / SHAKE, floor, false);
        }
        let truth = self.before.run_wide(input, &self.options)?;
        if truth.relation_by(before, any_floats) != Relation::Refines {
            return None;
        }
        let narrow: Vec<Outcome> = self.narrow_runs(input, runs).collect();
        if narrow.iter().any(|narrow| narrow.relation_by(before, any_floats) != Relation::Refines) {
            return None;
        }
        let (gamma, narrowing) = (self.gamma(), self.narrowing);
        let (have, narrow) = (before.floats(), narrow.iter().map(Outcome::floats).collect::<Vec<_>>());
        let floor = have.iter().zip(truth.floats()).enumerate().map(|(i, (have, want))| {
            let narrow = narrow.iter().map(|narrow| largest_error(&narrow[i], &want));
            let error = narrow.fold(largest_error(have, &want), f64::max);
            // Narrow summands that cancel leave their errors.
            let least = SLACK * error + narrowing.absolute + narrowing.relative * largest(&want);
            want.iter().map(|value| least + gamma * value.map_or(0.0, f64::abs)).collect()
        });
        let floor = floor.collect();
        self.add_shaken(input, &truth, gamma, SLACK, floor, true)
    }

    /// Adds to each tolerance a multiple of the change of its float under perturbation.
    fn add_shaken(
        &self,
        input: &Input,
        base: &Outcome,
        shake: f64,
        times: f64,
        mut tolerances: Vec<Vec<f64>>,
        wide: bool,
    ) -> Option<Vec<Vec<f64>>> {
        let floats = base.floats();
        for number in 0..SHAKES {
            let shaken = self.shaken(input, shake, number, wide)?;
            if shaken.relation_by(base, any_floats) != Relation::Refines {
                return None;
            }
            for ((place, other), tolerances) in floats.iter().zip(shaken.floats()).zip(&mut tolerances) {
                for ((a, b), tolerance) in place.iter().zip(&other).zip(tolerances) {
                    let change = a.zip(*b).map_or(0.0, |(a, b)| (a - b).abs());
                    *tolerance = tolerance.max(times * change);
                }
            }
        }
        Some(tolerances)
    }

    /// Returns the outcome of the original on a perturbed input.
    fn shaken(&self, input: &Input, by: f64, number: u64, wide: bool) -> Option<Outcome> {
        let mut random = Random::of((input.outside, number));
        let mut shake = |value: f64| value * if random.next() & 1 == 0 { 1.0 + by } else { 1.0 - by };
        let input = input.map_floats(&mut shake, |dtype| if wide { DType::F64 } else { dtype });
        match wide {
            true => self.before.run_wide(&input, &self.options),
            false => Some(Runner::new(self.before.m, &self.options).run(self.before.op, &input)),
        }
    }

    /// Whether a result of the original is discontinuous near the input.
    fn jumps(&self, input: &Input, before: &Outcome) -> bool {
        let floats = before.floats();
        (0..SHAKES).any(|number| {
            let Some(nudged) = self.shaken(input, NUDGE, number, false) else { return false };
            let jumped = |(place, other): (&Vec<Option<f64>>, Vec<Option<f64>>)| {
                let most = JUMP * largest(place);
                place.iter().zip(&other).any(|(a, b)| a.zip(*b).is_some_and(|(a, b)| (a - b).abs() > most))
            };
            nudged.relation_by(before, any_floats) != Relation::Refines
                || floats.iter().zip(nudged.floats()).any(jumped)
        })
    }

    /// Returns the bound of the relative error after all possible roundings of the original: one for each element of the
    /// largest value, and one for each op. Functions that it calls count too.
    fn gamma(&self) -> f64 {
        let m = self.before.m;
        let ops = m.ops_under(m.root());
        let mut elements = 1i64;
        for value in ops.iter().flat_map(|&op| m.results(op).chain(m.operands(op).iter().copied())) {
            let shape = m.ctx.static_shape(m.value_type(value)).unwrap_or(&[]);
            elements = elements.max(shape.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
        }
        let regrouped = (elements as f64 + ops.len() as f64) * f64::exp2(-f64::from(precision(m)));
        regrouped + self.narrowing.relative
    }

    /// Returns outcomes of the original with operands rounded at random, to the narrowest type that the transformed function has
    /// more of.
    fn narrow_runs(&self, input: &Input, count: u64) -> impl Iterator<Item = Outcome> {
        let side = &self.before;
        self.narrowing.kind.into_iter().flat_map(move |kind| {
            let run = move |seed| Runner::new(side.m, &self.options).rounding_operands(kind, seed).run(side.op, input);
            (0..count).map(run)
        })
    }
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
    fn new(original: &Module) -> Versions {
        let ops = ops_by_precision(original);
        let widest = ops.keys().last().copied().unwrap_or(0);
        let fewest = ops.iter().map(|(&bits, (count, _))| (bits, *count)).collect();
        Versions { widest, fewest, lost: Narrowing::default() }
    }

    /// Adds a version, and returns the losses of all by ops in narrower types than the widest, constants included, which round
    /// once each. As many as each earlier version has of a type do not count.
    fn add(&mut self, version: &Module) -> Narrowing {
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

/// Returns the number of ops of each precision, with a type of that precision.
fn ops_by_precision(m: &Module) -> BTreeMap<u32, (u64, FloatKind)> {
    let mut found = BTreeMap::new();
    for op in m.ops_under(m.root()) {
        let kinds = m.results(op).filter_map(|v| float_kind(m, v));
        let Some(kind) = kinds.min_by_key(|&kind| significant_bits(kind)) else { continue };
        found.entry(significant_bits(kind)).or_insert((0, kind)).0 += 1;
    }
    found
}

fn float_kind(m: &Module, value: Value) -> Option<FloatKind> {
    m.ctx.float_kind(m.ctx.element_type(m.value_type(value)))
}

/// Returns the largest error of an element; infinite if only the correct number is finite.
fn largest_error(have: &[Option<f64>], want: &[Option<f64>]) -> f64 {
    let error = |(have, want): (&Option<f64>, &Option<f64>)| match ((*have)?, (*want)?) {
        (have, want) if have.is_nan() && want.is_finite() => Some(f64::INFINITY),
        (have, want) => Some((have - want).abs()),
    };
    have.iter().zip(want).filter_map(error).fold(0.0, f64::max)
}

/// Returns the least precision of the floats of a program in bits.
fn precision(m: &Module) -> u32 {
    let values = m.ops_under(m.root()).into_iter().flat_map(|op| m.results(op).chain(m.operands(op).iter().copied()));
    values.filter_map(|value| float_kind(m, value)).map(significant_bits).min().unwrap_or(53)
}

/// Whether an element does not refine another, apart from floats.
fn differs(before: &Datum, after: &Datum) -> bool {
    !refines_by(before, after, any_floats)
}

fn any_floats(_: f64, _: f64) -> bool {
    true
}

fn same_numbers(a: f64, b: f64) -> bool {
    a == b || same_bits(a, b)
}

fn largest(place: &[Option<f64>]) -> f64 {
    place.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// Whether all floats are within their tolerances, or if `approximate`, within a percent. Where one was poison, every value is
/// allowed.
fn is_near(before: &Outcome, after: &Outcome, tolerances: &[Vec<f64>], approximate: bool) -> bool {
    let near = |((a, b), tolerance): ((&Option<f64>, &Option<f64>), &f64)| match (a, b) {
        (Some(a), Some(b)) => {
            same_numbers(*a, *b) || (a - b).abs() <= *tolerance || approximate && about_the_same(*a, *b)
        }
        _ => true,
    };
    let (before, after) = (before.floats(), after.floats());
    let mut places = before.iter().zip(&after).zip(tolerances);
    places.all(|((before, after), tolerances)| before.iter().zip(after).zip(tolerances).all(near))
}

/// Whether a number became infinite, or not a number.
fn overflows(before: &Outcome, after: &Outcome) -> bool {
    let (before, after) = (before.floats(), after.floats());
    let finite = |value: &Option<f64>| value.is_some_and(f64::is_finite);
    before.iter().flatten().zip(after.iter().flatten()).any(|(a, b)| finite(a) && b.is_some_and(|b| !b.is_finite()))
}

/// Whether a constant of a program is not finite.
fn has_special_constants(m: &Module) -> bool {
    let values = m.ops_under(m.root()).into_iter().flat_map(|op| m.results(op));
    let constants = values.filter(|&value| float_kind(m, value).is_some()).filter_map(|value| m.constant(value));
    constants.filter_map(|attr| m.ctx.attr_datum(attr)).any(|datum| match datum {
        Datum::Float(number) => !number.is_finite(),
        other => other.masked().is_some_and(|(tensor, _)| tensor.to_f64().iter().any(|number| !number.is_finite())),
    })
}

/// Whether two numbers are within a percent of each other; true if the first is not a number.
fn about_the_same(a: f64, b: f64) -> bool {
    !a.is_finite() || (a - b).abs() <= PERCENT * a.abs().max(b.abs()) + SUBNORMAL
}

fn about_the_same_or_special(a: f64, b: f64) -> bool {
    !b.is_finite() || about_the_same(a, b)
}
