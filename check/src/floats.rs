//! Floats: on which of them programs are run, and which results are taken for equal.
//!
//! Rounding and algebra are told apart by running a program once more with all its floats as `f64`: what an op means there
//! is what it means anyway, so nothing is declared twice.

use crate::input::Input;
use crate::options::{Floats, Options};
use crate::outcome::{Outcome, Relation, Runner};
use crate::random::Random;
use crate::seen::same_bits;
use gradus_ir::{Context, DType, Diagnostic, Module, Op, Type, symbol_name, verify};
use std::cell::OnceCell;

/// What may differ in [`Floats::Approximate`], of the larger number.
const PERCENT: f64 = 0.01;

/// By so much inputs are shaken to see what results are made of.
const SHAKE: f64 = 1e-12;
/// Of so much, relatively, results may differ in [`Floats::Algebra`].
const ALGEBRA: f64 = 1e-9;
/// By so much inputs are shaken to see whether results jump.
const NUDGE: f64 = 1e-4;
/// What changes by more than this part of itself when inputs are nudged has jumped.
const JUMP: f64 = 0.1;
/// So often inputs are shaken.
const SHAKES: u64 = 4;
/// Rounding errors may be so many times as large as they are before, or as shaken inputs show.
const SLACK: f64 = 8.0;

/// The program with `f64` for all smaller floats. Errors say what is not valid then.
pub fn widened(m: &Module) -> Result<Module, Vec<Diagnostic>> {
    let ctx = m.ctx.clone();
    let mut wide = m.clone();
    wide.retype(&|ty| if ctx.float_kind(ty).is_some() { Type::F64 } else { ty });
    verify(&wide)?;
    Ok(wide)
}

/// A function, and itself with wide floats.
struct Side<'m> {
    m: &'m Module,
    op: Op,
    wide: OnceCell<Option<(Module, Op)>>,
}

impl<'m> Side<'m> {
    fn new((m, op): (&'m Module, Op)) -> Side<'m> {
        Side { m, op, wide: OnceCell::new() }
    }

    /// What comes of it with wide floats; `None` if it has no meaning with them.
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

/// Says whether runs of a function may stand for those before.
pub(crate) struct Judge<'m> {
    before: Side<'m>,
    after: Side<'m>,
    options: Options,
}

impl<'m> Judge<'m> {
    pub(crate) fn new(before: (&'m Module, Op), after: (&'m Module, Op), options: Options) -> Judge<'m> {
        Judge { before: Side::new(before), after: Side::new(after), options }
    }

    /// Whether a run may stand for the one before on the same input.
    pub(crate) fn relation(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        let approximate = self.options.floats == Floats::Approximate;
        if approximate && after.relation_by(before, about_the_same) == Relation::Refines {
            return Relation::Refines;
        }
        let by = match self.options.floats {
            Floats::Bits => return after.relation(before),
            Floats::Exact => return self.exact(input, before, after),
            Floats::Algebra | Floats::Rounding | Floats::Approximate => after.relation_by(before, |_, _| true),
        };
        let close = |relation| if self.jumps(input, before) { Relation::Close } else { relation };
        match by {
            Relation::Refines if after.relation_by(before, same_numbers) == Relation::Refines => Relation::Refines,
            Relation::Refines => match self.tolerances(input, before) {
                Some(tolerances) if is_near(before, after, &tolerances) => Relation::Refines,
                Some(_) => close(Relation::Differs),
                None => Relation::Close,
            },
            Relation::Differs => close(Relation::Differs),
            other => other,
        }
    }

    /// Equal numbers. Others count if neither side was rounded: with wide floats, each gives the same.
    fn exact(&self, input: &Input, before: &Outcome, after: &Outcome) -> Relation {
        let relation = after.relation_by(before, same_numbers);
        if relation != Relation::Differs {
            return relation;
        }
        let is_exact = |side: &Side<'_>, outcome: &Outcome| {
            side.run_wide(input, &self.options).is_none_or(|wide| {
                wide.relation_by(outcome, same_numbers) != Relation::Differs
                    && outcome.relation_by(&wide, same_numbers) != Relation::Differs
            })
        };
        let exact = is_exact(&self.before, before) && is_exact(&self.after, after);
        if exact { Relation::Differs } else { Relation::Close }
    }

    /// By how much each float that is seen may differ. `None` if shaken inputs lead elsewhere.
    fn tolerances(&self, input: &Input, before: &Outcome) -> Option<Vec<Vec<f64>>> {
        if self.options.floats == Floats::Algebra {
            let floor = before.floats().iter().map(|place| vec![ALGEBRA * largest(place); place.len()]).collect();
            return self.add_shaken(input, before, SHAKE, ALGEBRA / SHAKE, floor, false);
        }
        let truth = self.before.run_wide(input, &self.options)?;
        if truth.relation_by(before, |_, _| true) != Relation::Refines {
            return None;
        }
        let gamma = self.gamma();
        let have = before.floats();
        let floor = have.iter().zip(truth.floats()).map(|(have, want)| {
            let error = have.iter().zip(&want).filter_map(|(a, b)| Some(((*a)? - (*b)?).abs())).fold(0.0, f64::max);
            want.iter().map(|value| SLACK * error + gamma * value.map_or(0.0, f64::abs)).collect()
        });
        let floor = floor.collect();
        self.add_shaken(input, &truth, gamma, SLACK, floor, true)
    }

    /// Adds to each tolerance how much shaken inputs change the float, so many times.
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
            if shaken.relation_by(base, |_, _| true) != Relation::Refines {
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

    /// What came of it before with floats that are changed a bit.
    fn shaken(&self, input: &Input, by: f64, number: u64, wide: bool) -> Option<Outcome> {
        let mut random = Random::of((input.outside, number));
        let mut shake = |value: f64| value * if random.next() & 1 == 0 { 1.0 + by } else { 1.0 - by };
        let input = input.map_floats(&mut shake, |dtype| if wide { DType::F64 } else { dtype });
        match wide {
            true => self.before.run_wide(&input, &self.options),
            false => Some(Runner::new(self.before.m, &self.options).run(self.before.op, &input)),
        }
    }

    /// Whether a result before jumps when inputs are changed a bit.
    fn jumps(&self, input: &Input, before: &Outcome) -> bool {
        let floats = before.floats();
        (0..SHAKES).any(|number| {
            let Some(nudged) = self.shaken(input, NUDGE, number, false) else { return false };
            let jumped = |(place, other): (&Vec<Option<f64>>, Vec<Option<f64>>)| {
                let most = JUMP * largest(place);
                place.iter().zip(&other).any(|(a, b)| a.zip(*b).is_some_and(|(a, b)| (a - b).abs() > most))
            };
            nudged.relation_by(before, |_, _| true) != Relation::Refines
                || floats.iter().zip(nudged.floats()).any(jumped)
        })
    }

    /// By how much, relatively, numbers may change that pass through all roundings there can be: as many as the largest value
    /// has elements, and one for each op.
    fn gamma(&self) -> f64 {
        let m = self.before.m;
        let ops = m.ops_under(self.before.op);
        let mut elements = 1i64;
        let mut bits = 53;
        for value in ops.iter().flat_map(|&op| m.results(op).chain(m.operands(op).iter().copied())) {
            let ty = m.value_type(value);
            let shape = m.ctx.static_shape(ty).unwrap_or(&[]);
            elements = elements.max(shape.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
            bits = bits.min(significant_bits(&m.ctx, ty));
        }
        (elements as f64 + ops.len() as f64) * f64::exp2(-f64::from(bits))
    }
}

/// How many bits of a number a type holds.
fn significant_bits(ctx: &Context, ty: Type) -> u32 {
    use gradus_ir::float::{from_f64, to_f64};
    let Some(kind) = ctx.float_kind(ctx.element_type(ty)) else { return 53 };
    let holds = |bits: u32| {
        let value = 1.0 + f64::exp2(1.0 - f64::from(bits));
        to_f64(kind, from_f64(kind, value)) == value
    };
    (1..=53).rev().find(|&bits| holds(bits)).unwrap_or(1)
}

fn same_numbers(a: f64, b: f64) -> bool {
    a == b || same_bits(a, b)
}

fn largest(place: &[Option<f64>]) -> f64 {
    place.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// Whether all floats are as near as they must be. Where one was poison, anything may be.
fn is_near(before: &Outcome, after: &Outcome, tolerances: &[Vec<f64>]) -> bool {
    let near = |((a, b), tolerance): ((&Option<f64>, &Option<f64>), &f64)| match (a, b) {
        (Some(a), Some(b)) => same_numbers(*a, *b) || (a - b).abs() <= *tolerance,
        _ => true,
    };
    let (before, after) = (before.floats(), after.floats());
    let mut places = before.iter().zip(&after).zip(tolerances);
    places.all(|((before, after), tolerances)| before.iter().zip(after).zip(tolerances).all(near))
}

/// Within a percent of each other, if the first is a number.
fn about_the_same(a: f64, b: f64) -> bool {
    !a.is_finite() || (a - b).abs() <= PERCENT * a.abs().max(b.abs())
}
