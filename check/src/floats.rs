//! Comparison of floats: exactly where nothing is rounded, and within tolerances where something is.

use crate::input::Input;
use crate::narrowing::{Narrowing, Versions, float_kind, has_doubles, precision};
use crate::options::{Floats, Options};
use crate::outcome::{Outcome, Relation, Runner};
use crate::rounding::greatest;
use crate::seen::{Same, numbers_of, refines_by};
use crate::tolerance::{Numbers, Places, largest};
use crate::transformed::Transformed;
use crate::wide::{WidenedFunction, widened_input};
use gradus_ir::eval::Datum;
use gradus_ir::random::Random;
use gradus_ir::{DType, Module, Op, OpArgs};
use std::cell::OnceCell;
use std::sync::atomic::AtomicBool;

/// Relative tolerance of [`Floats::Approximate`], of the larger number.
const PERCENT: f64 = 0.01;

/// Absolute tolerance of the same: a rounding of subnormal numbers of f32 loses up to half of the least one, 2^-149.
const SUBNORMAL: f64 = 1.0 / (1_u128 << 127) as f64 / (1 << 18) as f64;

/// Relative perturbation of inputs that measures the conditioning of results.
const SHAKE: f64 = 1e-12;
/// Relative perturbation by roundings of `f64`.
const ROUNDINGS: f64 = 1.0 / (1_u64 << 50) as f64;
/// Relative tolerance of [`Floats::Algebra`].
const ALGEBRA: f64 = 1e-9;
/// Relative perturbations of the operands of ops that find the quantized results near the middle of two steps. The larger ones
/// stand for constants that are quantized again, such as biases.
const STEPS: [f64; 3] = [1.0 / 4096.0, 1.0 / 1024.0, 1.0 / 256.0];
/// Those that stand for values between ops that are quantized too.
const COARSE_STEPS: [f64; 3] = [1.0 / 256.0, 1.0 / 128.0, 1.0 / 64.0];
/// Steps by which such values may change a result, however little perturbed operands do.
const FREE_STEPS: u64 = 3;
/// Relative perturbation of inputs that detects discontinuities.
const NUDGE: f64 = 1e-4;
/// Units in the last place that detect discontinuities in narrow types.
const UNITS: f64 = 8.0;
/// Relative change of a result under that perturbation from which on it counts as discontinuous.
const JUMP: f64 = 0.1;
/// Number of perturbed runs.
const SHAKES: u64 = 4;
/// Number of runs with operands rounded at random before a difference counts: several roundings may have to coincide, as
/// those of both sides of a comparison.
const CONFIRMATIONS: u64 = 96;
/// Largest number of perturbed runs, with which a difference is confirmed.
const MORE_SHAKES: u64 = 16;

/// The decision whether runs of a transformed function refine those of the original, in a float mode.
pub(crate) struct Judge<'m> {
    before: WidenedFunction<'m>,
    after: WidenedFunction<'m>,
    options: Options,
    narrowing: Narrowing,
    /// Whether a constant of the original program is not finite, or nearly so.
    has_special_constants: OnceCell<bool>,
    /// Whether either program has floats of 64 bits.
    has_doubles: OnceCell<bool>,
}

/// What is known about the floats of a run.
#[derive(Default)]
struct KnownTolerances {
    /// The tolerance of each, by place.
    tolerances: Vec<Vec<f64>>,
    /// Whether those of a place are zero for the lack of range of a narrower type.
    vanishes: bool,
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
            Floats::Declared | Floats::Bits => Narrowing::default(),
            _ => versions.get_or_insert_with(|| Versions::new(before.0)).add(after.0),
        };
        let (before, after) = (WidenedFunction::new(before), WidenedFunction::new(after));
        let (has_special_constants, has_doubles) = (OnceCell::new(), OnceCell::new());
        Judge { before, after, options, narrowing, has_special_constants, has_doubles }
    }

    /// Returns the relation of a run to the original run on the same input.
    pub(crate) fn relation(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        if let Outcome::Unsupported(_, name, _) = after
            && (self.meets_poison(input, before) || self.passes_by(input, name))
        {
            return Relation::Unknown;
        }
        let others = self.with_steps(input, before, after);
        let free = if self.options.floats == Floats::Requantized { FREE_STEPS } else { 0 };
        let snapped = (!others.is_empty()).then(|| after.within_step_of(before, &others, free));
        let after = snapped.as_ref().unwrap_or(after);
        let is_near = || self.is_approximate() && after.relation_by(before, about_the_same) == Relation::Refines;
        let relation = match input.floats {
            Floats::Declared | Floats::Bits => return after.relation(before),
            Floats::Exact if self.differs_exactly(input, before, after) => Relation::Differs,
            _ if is_near() => Relation::Refines,
            _ => self.rounded_twice(input, before, after),
        };
        // A zero of a matrix times infinity is no number, and nothing where zeros are left out.
        let is_special = || {
            overflows(before, after) && self.has_special_constants() && self.is_near_where_finite(input, before, after)
        };
        let is_rounded = || {
            let known = self.tolerances(input, before, after, CONFIRMATIONS);
            self.are_roundings_of_doubles(input, [before, after], known)
        };
        match relation {
            Relation::Differs
                if follows(before, after, &others, STEPS[0])
                    || is_special()
                    || self.lacks_range(input, before, after)
                    || is_rounded()
                    || self.depends_on_signs_of_zeros(input, before, after) =>
            {
                Relation::Close
            }
            relation => relation,
        }
    }

    /// Whether formulas may be right to one percent only.
    fn is_approximate(&self) -> bool {
        matches!(self.options.floats, Floats::Approximate | Floats::Requantized)
    }

    /// Whether a value of the original run is poison: then it does not show which operands the semantics of its ops cover.
    fn meets_poison(&self, input: &Input, before: &Outcome) -> bool {
        before.places().concat().contains(&Datum::Poison)
            || self.notices(input, |_, operands| operands.iter().any(Datum::has_poison))
    }

    /// Whether the original has ops of this name, but does not come to one: the transformed function may evaluate it earlier, on operands that
    /// it is not meant for.
    fn passes_by(&self, input: &Input, name: &str) -> bool {
        let m = self.before.m;
        let has_such = m.ops_under(m.root()).into_iter().any(|op| m.name_text(op) == name);
        has_such && !self.notices(input, |args, _| args.info.name == name)
    }

    /// Whether a run of the original evaluates an op of which a test holds, with its operands.
    fn notices(&self, input: &Input, test: impl Fn(&OpArgs<'_>, &[Datum]) -> bool + Send + Sync) -> bool {
        let flag = AtomicBool::new(false);
        Runner::new(self.before.m, &self.options).noticing(&flag, test).run(self.before.op, input);
        flag.into_inner()
    }

    /// Whether the numbers that did not become infinite, or not a number, differ by roundings only.
    fn is_near_where_finite(&self, input: &Input, before: &Outcome, after: &Outcome) -> bool {
        let is_near = |known: KnownTolerances| is_near(before, after, &known.tolerances, about_the_same_or_special);
        after.relation_by(before, any_floats) == Relation::Refines
            && self.tolerances(input, before, after, CONFIRMATIONS).is_none_or(is_near)
    }

    /// Whether the transformed function may differ as the type of one of its values lacks the range: its version in `f64`, if there is one and
    /// it stays within the range of `f64`, does not differ.
    fn lacks_range(&self, input: &Input, before: &Outcome, after: &Outcome) -> bool {
        let run = |versions: [(&Module, Op); 2], input: &Input| {
            let leaves = AtomicBool::new(false);
            let [old, new] = versions;
            let outcome = Transformed::new(old, new, &self.options).ok()?.noticing_range(&leaves).run(input)?;
            Some((outcome, leaves.into_inner()))
        };
        let is_near = |wide: &Outcome, known: &KnownTolerances| {
            wide.relation_by(before, any_floats) == Relation::Refines
                && is_near(before, wide, &known.tolerances, same_if_finite)
        };
        let narrow = [(self.before.m, self.before.op), (self.after.m, self.after.op)];
        if !run(narrow, input).is_some_and(|(_, leaves)| leaves) {
            return false;
        }
        let Some(known) = self.tolerances(input, before, after, CONFIRMATIONS) else { return true };
        let wide = self.wide().and_then(|versions| run(versions, &widened_input(input)));
        wide.is_none_or(|(wide, leaves)| leaves || is_near(&wide, &known))
    }

    fn has_special_constants(&self) -> bool {
        *self.has_special_constants.get_or_init(|| has_special_constants(self.before.m))
    }

    /// Returns runs of the original with perturbed operands, which take other steps where quantized numbers are near the middle of
    /// two, if the mode allows steps and a number differs.
    fn with_steps(&self, input: &Input, before: &Outcome, after: &Outcome) -> Vec<Outcome> {
        let steps = match self.options.floats {
            Floats::Quantized | Floats::Approximate => Some(STEPS),
            Floats::Requantized => Some(COARSE_STEPS),
            _ => None,
        };
        let differs = || after.relation_by(before, same_if_finite) == Relation::Differs;
        let Some(steps) = steps.filter(|_| differs()) else { return Vec::new() };
        let run = |(seed, by)| self.before.run_perturbed(input, &self.options, (by, seed), false);
        (0..MORE_SHAKES).zip(steps.into_iter().cycle()).filter_map(run).collect()
    }

    /// Returns the relation apart from roundings. A difference counts if many runs that measure roundings confirm it.
    fn rounded_twice(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        match self.rounded(input, before, after, SHAKES) {
            Relation::Differs => self.rounded(input, before, after, CONFIRMATIONS),
            relation => relation,
        }
    }

    /// Returns the relation apart from roundings, which `runs` runs of the original measure.
    fn rounded(&self, input: &Input, before: &Outcome, after: &Outcome, runs: u64) -> Relation {
        let same = if self.is_approximate() { about_the_same } else { same_if_finite };
        let close = |relation| if self.jumps(input, before) { Relation::Close } else { relation };
        match after.relation_by(before, any_floats) {
            Relation::Refines if after.relation_by(before, same_if_finite) == Relation::Refines => Relation::Refines,
            Relation::Refines => match self.tolerances(input, before, after, runs) {
                Some(known) if is_near(before, after, &known.tolerances, same) => {
                    if known.vanishes {
                        Relation::Close
                    } else {
                        Relation::Refines
                    }
                }
                // The narrower type may lack the range.
                Some(_) if self.narrowing.relative > 0.0 && overflows(before, after) => Relation::Close,
                Some(_) => close(Relation::Differs),
                None => Relation::Close,
            },
            Relation::Differs if self.are_ties(input, before, after, runs) => Relation::Close,
            other => other,
        }
    }

    /// Whether numbers, or other values, differ though neither run was rounded: its version in `f64` gives the same, or the same
    /// apart from floats if other values differ. Constants of a narrower type are rounded in both versions.
    fn differs_exactly(&self, input: &Input, before: &Outcome, after: &Outcome) -> bool {
        let is_unknown = || *self.has_doubles.get_or_init(|| has_doubles(self.before.m) || has_doubles(self.after.m));
        if self.narrowing.kind.is_some()
            || after.relation_by(before, same_if_finite) != Relation::Differs
            || is_unknown()
        {
            return false;
        }
        let differs_otherwise = after.relation_by(before, any_floats) == Relation::Differs;
        let same = if differs_otherwise { any_floats } else { same_if_finite };
        let is_exact = |wide: Option<Outcome>, outcome: &Outcome| {
            wide.is_some_and(|wide| {
                wide.relation_by(outcome, same) != Relation::Differs
                    && outcome.relation_by(&wide, same) != Relation::Differs
            })
        };
        // What is rounded before it becomes an integer is not seen in results.
        is_exact(self.before.run_wide(input, &self.options), before)
            && is_exact(self.run_after_wide(input), after)
            && !(differs_otherwise && self.are_ties(input, before, after, SHAKES))
            && !self.are_roundings_of_doubles(input, [before, after], None)
    }

    /// Whether numbers that differ do so by no more than roundings of `f64`, such as a sum that cancels, or by those that are known besides.
    fn are_roundings_of_doubles(
        &self,
        input: &Input,
        [before, after]: [&Outcome; 2],
        known: Option<KnownTolerances>,
    ) -> bool {
        let changes = |wide| self.changes(input, &wide, ROUNDINGS, SHAKES, true);
        let Some([of_inputs, of_operands]) = self.before.run_wide(input, &self.options).and_then(changes) else {
            return false;
        };
        let sums = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| UNITS * (a + b)).collect();
        let mut tolerances: Vec<Vec<f64>> = of_inputs.iter().zip(&of_operands).map(sums).collect();
        let known = known.into_iter().flat_map(|known| known.tolerances).flatten();
        tolerances.iter_mut().flatten().zip(known).for_each(|(tolerance, known)| *tolerance = tolerance.max(known));
        after.relation_by(before, any_floats) == Relation::Refines
            && is_near(before, after, &tolerances, same_if_finite)
    }

    /// Whether each number that differs also does so with other signs of zeros: real numbers have one zero.
    fn depends_on_signs_of_zeros(&self, input: &Input, before: &Outcome, after: &Outcome) -> bool {
        let run = |seed| self.before.run_perturbed(input, &self.options, (0.0, seed), false);
        follows(before, after, &(0..SHAKES).filter_map(run).collect::<Vec<_>>(), 0.0)
    }

    /// Returns both functions in `f64`.
    fn wide(&self) -> Option<[(&Module, Op); 2]> {
        Some([self.before.wide()?, self.after.wide()?])
    }

    /// Returns the outcome of the transformed function in `f64`.
    fn run_after_wide(&self, input: &Input) -> Option<Outcome> {
        let [old, new] = self.wide()?;
        Transformed::new(old, new, &self.options).ok()?.run(&widened_input(input))
    }

    /// Whether each difference apart from floats is where the original changes too, if its inputs or the operands of its ops are
    /// perturbed, nothing is rounded, or more coarsely: where an integer depends on a float near a discontinuity.
    fn are_ties(&self, input: &Input, before: &Outcome, after: &Outcome, runs: u64) -> bool {
        let unit = f64::exp2(-f64::from(precision(self.before.m)));
        let by = NUDGE.max(UNITS * unit).max(self.narrowing.relative);
        let nudged = (0..SHAKES).filter_map(|number| self.shaken(input, by, number, false));
        let operands = (0..SHAKES).filter_map(|n| self.before.run_perturbed(input, &self.options, (by, n), false));
        let others = nudged
            .chain(operands)
            .chain(self.before.run_wide(input, &self.options))
            .chain(self.narrow_runs(input, runs));
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
    fn tolerances(&self, input: &Input, before: &Outcome, after: &Outcome, runs: u64) -> Option<KnownTolerances> {
        let (have, found) = (before.floats(), after.floats());
        if input.floats == Floats::Algebra {
            let [of_inputs, of_operands] = self.changes(input, before, SHAKE, runs, false)?;
            let scaled = |(i, want): (usize, &Vec<Option<f64>>)| {
                let numbers =
                    Numbers { want, changes: &of_inputs[i], spread: &of_operands[i], by: SHAKE, are_rounded: false };
                numbers.magnitudes().into_iter().map(|size| ALGEBRA * size).collect()
            };
            let tolerances = have.iter().enumerate().map(scaled).collect();
            return Some(KnownTolerances { tolerances, vanishes: false });
        }
        // Without a version in `f64`, the original is one of the rounded runs that the perturbed ones are compared with.
        let wide = self.before.run_wide(input, &self.options);
        let (is_wide, truth) = (wide.is_some(), wide.unwrap_or_else(|| before.clone()));
        let narrow: Vec<Outcome> = self.narrow_runs(input, runs).collect();
        if narrow.iter().chain([&truth]).any(|run| run.relation_by(before, any_floats) != Relation::Refines) {
            return None;
        }
        let (by, want) = (self.gamma(), truth.floats());
        let [of_inputs, of_operands] = self.changes(input, &truth, by, runs, is_wide)?;
        let narrow: Vec<Places> = narrow.iter().map(Outcome::floats).collect();
        let mut known = KnownTolerances::default();
        for (i, want) in want.iter().enumerate() {
            let (changes, spread) = (&of_inputs[i], &of_operands[i]);
            let numbers = Numbers { want, changes, spread, by, are_rounded: !is_wide };
            let rounded: Vec<&[Option<f64>]> = [&have].into_iter().chain(&narrow).map(|run| &run[i][..]).collect();
            known.tolerances.push(numbers.tolerances(&rounded, self.narrowing));
            known.vanishes |= self.narrowing.kind.is_some()
                && numbers.vanishes(&found[i], &numbers.tolerances(&rounded[..1], Narrowing::default()));
        }
        Some(known)
    }

    /// Returns the largest change of each float of the original under perturbation of its inputs, and under that of the operands of
    /// its ops, as far as perturbed operands lead to comparable results. `None` if perturbed inputs take another path.
    fn changes(&self, input: &Input, base: &Outcome, by: f64, runs: u64, wide: bool) -> Option<[Vec<Vec<f64>>; 2]> {
        let floats = base.floats();
        let zeros = || floats.iter().map(|place| vec![0.0; place.len()]).collect();
        let (mut of_inputs, mut of_operands): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (zeros(), zeros());
        for number in 0..runs.min(MORE_SHAKES) {
            let shaken = self.shaken(input, by, number, wide)?;
            if shaken.relation_by(base, any_floats) != Relation::Refines {
                return None;
            }
            add_changes(&mut of_inputs, &floats, &shaken);
            let shaken = self.before.run_perturbed(input, &self.options, (by, number), wide);
            if let Some(shaken) = shaken.filter(|run| run.relation_by(base, any_floats) == Relation::Refines) {
                add_changes(&mut of_operands, &floats, &shaken);
            }
        }
        Some([of_inputs, of_operands])
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
        (elements as f64 + ops.len() as f64) * f64::exp2(-f64::from(precision(m)))
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

/// Increases the changes of floats to those in another run.
fn add_changes(changes: &mut [Vec<f64>], base: &[Vec<Option<f64>>], other: &Outcome) {
    for ((changes, base), other) in changes.iter_mut().zip(base).zip(other.floats()) {
        for ((change, a), b) in changes.iter_mut().zip(base).zip(other) {
            *change = change.max(a.zip(b).map_or(0.0, |(a, b)| (a - b).abs()));
        }
    }
}

/// Whether an element does not refine another, apart from floats.
fn differs(before: &Datum, after: &Datum) -> bool {
    !refines_by(before, after, any_floats)
}

/// Whether each number that differs, by more than a relative tolerance, does so in one of `others` too, by at least half as much.
fn follows(before: &Outcome, after: &Outcome, others: &[Outcome], tolerance: f64) -> bool {
    let (want, have) = (before.places(), after.places());
    let others: Vec<Vec<Vec<Datum>>> = others.iter().map(Outcome::places).collect();
    let excused = |place: usize, i: usize| match (&want[place][i], &have[place][i]) {
        (Datum::Float(a), Datum::Float(b)) => {
            let changes = |other: &Vec<Vec<Datum>>| match other.get(place).and_then(|place| place.get(i)) {
                Some(Datum::Float(c)) => (a - c).abs() >= 0.5 * (a - b).abs(),
                _ => false,
            };
            same_if_finite(*a, *b) || (a - b).abs() <= tolerance * a.abs().max(b.abs()) || others.iter().any(changes)
        }
        (a, b) => {
            let other = |other: &Vec<Vec<Datum>>| {
                other.get(place).and_then(|place| place.get(i)).is_some_and(|c| differs(a, c))
            };
            !differs(a, b) || others.iter().any(other)
        }
    };
    let lengths = |places: &[Vec<Datum>]| places.iter().map(Vec::len).collect::<Vec<_>>();
    let all = want.iter().enumerate().flat_map(|(place, data)| (0..data.len()).map(move |i| (place, i)));
    !others.is_empty() && lengths(&want) == lengths(&have) && all.into_iter().all(|(place, i)| excused(place, i))
}

fn any_floats(_: f64, _: f64) -> bool {
    true
}

/// Whether numbers are equal; true if the first is not finite: formulas are equal for real numbers.
fn same_if_finite(a: f64, b: f64) -> bool {
    !a.is_finite() || a == b
}

/// Whether all floats are within their tolerances, or the same by `same`. Where one was poison, every value is allowed.
fn is_near(before: &Outcome, after: &Outcome, tolerances: &[Vec<f64>], same: Same) -> bool {
    let near = |((a, b), tolerance): ((&Option<f64>, &Option<f64>), &f64)| match (a, b) {
        (Some(a), Some(b)) => same(*a, *b) || (a - b).abs() <= *tolerance,
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

/// Whether a constant of a program is not finite, or so large that a sum of a thousand of them is not.
fn has_special_constants(m: &Module) -> bool {
    let values = m.ops_under(m.root()).into_iter().flat_map(|op| m.results(op));
    let constants = values.filter_map(|value| Some((float_kind(m, value)?, m.ctx.attr_datum(m.constant(value)?)?)));
    constants.into_iter().any(|(kind, datum)| {
        let most = greatest(kind) / 1024.0;
        numbers_of(&datum).into_iter().any(|number| number.is_nan() || number.abs() >= most)
    })
}

/// Whether two numbers are within a percent of each other; true if the first is not a number.
fn about_the_same(a: f64, b: f64) -> bool {
    !a.is_finite() || (a - b).abs() <= PERCENT * a.abs().max(b.abs()) + SUBNORMAL
}

fn about_the_same_or_special(a: f64, b: f64) -> bool {
    !b.is_finite() || about_the_same(a, b)
}
