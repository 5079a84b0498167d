//! `affine.for` as a [`CountedLoop`].

use super::range::ranges;
use super::value_map::AffineValueMap;
use super::{ApplyOp, ForOp};
use crate::loops::{CountedLoop, function_start};
use crate::scf::iteration_space::FURTHEST;
use gradus_ir::affine::{AffineExpr, AffineMap, Range as ValueRange};
use gradus_ir::{Block, Builder, InsertPoint, Loc, Module, Op, Traits, Type, Value};
use std::ops::Range;

/// New step and bounds of an unrolled loop.
#[derive(Clone, Debug)]
pub struct UnrollPlan {
    /// Original step.
    step: i64,
    /// Step of the unrolled loop.
    long_step: i64,
    /// Upper bound of the unrolled loop and lower bound of the epilogue, if there is one.
    split: Option<[AffineValueMap; 2]>,
}

impl ForOp {
    /// Returns the distances from the lower bound to the upper bounds.
    fn spans(self, m: &Module) -> Option<AffineValueMap> {
        let [lower, upper] = self.applied_bounds(m)?;
        let [_] = &lower.exprs[..] else { return None };
        let mut both = lower.and(&upper);
        let first = both.exprs.remove(0);
        both.exprs.iter_mut().for_each(|end| *end = end.clone() - first.clone());
        both.compose(m);
        Some(both)
    }

    /// Returns the trip count as the minimum of the results. A loop that does not run may have a negative count.
    fn trips(self, m: &Module) -> Option<AffineValueMap> {
        let step = self.bounds(m)?.step;
        let mut spans = self.spans(m).filter(|_| step > 0)?;
        spans.exprs.iter_mut().for_each(|span| *span = span.clone().ceil_div(AffineExpr::Constant(step)));
        Some(spans)
    }

    /// Returns the upper bound of the unrolled loop and the lower bound of the epilogue. The latter is at least the
    /// original lower bound; the former may be less if the loop does not run. `None` if computing them may overflow where the
    /// original bounds do not.
    fn split(self, m: &Module, factor: i64) -> Option<[AffineValueMap; 2]> {
        let bounds = self.bounds(m)?;
        if let (Some(lower), Some(trips)) = (bounds.lower.single_constant(), bounds.trip_count()) {
            let whole = i128::from(trips) / i128::from(factor) * i128::from(factor) * i128::from(bounds.step);
            let end = i64::try_from(i128::from(lower) + whole).ok()?;
            let end = AffineValueMap::map(&AffineMap::constant(end), &[]);
            return Some([end.clone(), end]);
        }
        let (spans, [lower, upper]) = (self.spans(m)?, self.applied_bounds(m)?);
        let ([span], [_], step @ 1..) = (&spans.exprs[..], &upper.exprs[..], bounds.step) else { return None };
        let trip_count = span.clone().ceil_div(AffineExpr::Constant(step));
        let runs = trip_count.range(spans.num_dims, &known_ranges(m, &spans.operands)).0 >= Some(0);
        let both = lower.and(&spans);
        let (first, span) = (both.exprs[0].clone(), both.exprs[1].clone());
        let count = span.clone().ceil_div(AffineExpr::Constant(step));
        let whole = count.clone() - count.modulo(AffineExpr::Constant(factor));
        let mut end = both.with_exprs(vec![first + whole * AffineExpr::Constant(step), span]);
        end.compose(m);
        let span = end.exprs.pop()?;
        let ranges = self.ranges_around(m, &end.operands);
        end.exprs[0].dividends_fit(end.num_dims, &ranges, &span).then_some(())?;
        end.canonicalize(m);
        let mut begin = if runs { end.clone() } else { end.and(&lower) };
        begin.compose(m);
        Some([end, begin])
    }
}

impl ForOp {
    /// Returns the known ranges of values, among them bounds of the loop.
    fn ranges_around(self, m: &Module, values: &[Value]) -> Vec<ValueRange> {
        let is_bound = |v: Value| {
            let is_one = |bound: &AffineValueMap| matches!(&bound.exprs[..], [expr] if bound.value_of(expr) == Some(v));
            self.applied_bounds(m).is_some_and(|bounds| bounds.iter().any(is_one))
        };
        let furthest = FURTHEST as i64;
        let within = |(least, greatest): ValueRange| {
            (Some(least.unwrap_or(-furthest).max(-furthest)), Some(greatest.unwrap_or(furthest).min(furthest)))
        };
        let known = known_ranges(m, values).into_iter().zip(values);
        known.map(|(range, &v)| if is_bound(v) { within(range) } else { range }).collect()
    }
}

/// Returns the known ranges of values; memref extents are nonnegative.
fn known_ranges(m: &Module, values: &[Value]) -> Vec<ValueRange> {
    let is_extent = |&v: &Value| m.defining_op(v).is_some_and(|op| m.has_trait(op, Traits::EXTENT));
    let known = ranges(m, values).into_iter().zip(values);
    known.map(|(range, v)| if is_extent(v) { (Some(0), None) } else { range }).collect()
}

impl CountedLoop for ForOp {
    type UnrollPlan = UnrollPlan;

    fn op(self) -> Op {
        self.0
    }

    fn body(self, m: &Module) -> Block {
        m.only_block(self.region(m))
    }

    fn init_operands(self, m: &Module) -> Range<usize> {
        let all = m.operands(self.0).len();
        all - ForOp::inits(self, m).len()..all
    }

    fn trip_count(self, m: &Module) -> Option<u64> {
        if let Some(trips) = self.bounds(m)?.trip_count() {
            return Some(trips);
        }
        let counts = self.trips(m)?.exprs.iter().map(AffineExpr::constant).collect::<Option<Vec<i64>>>()?;
        counts.into_iter().min().map(|trips| u64::try_from(trips).unwrap_or(0))
    }

    fn is_multiple(self, m: &Module, factor: u64) -> bool {
        if let Some(trips) = self.trip_count(m) {
            return trips % factor == 0;
        }
        let divides = |count: &AffineExpr| count.known_divisor().unsigned_abs().is_multiple_of(factor);
        self.trips(m).is_some_and(|trips| trips.exprs.iter().all(divides))
    }

    fn plan_unroll(self, m: &mut Module, factor: u64, whole: bool) -> Option<UnrollPlan> {
        let (factor, step) = (i64::try_from(factor).ok()?, self.bounds(m)?.step);
        let long_step = step.checked_mul(factor)?;
        let split = if whole { None } else { Some(self.split(m, factor)?) };
        Some(UnrollPlan { step, long_step, split })
    }

    fn into_epilogue(self, m: &mut Module, plan: &UnrollPlan) {
        if let (Some([_, begin]), Some([_, upper])) = (&plan.split, self.applied_bounds(m)) {
            self.set_bounds(m, &[begin.clone(), upper]);
        }
    }

    fn apply_unroll(self, m: &mut Module, plan: &UnrollPlan) {
        if let (Some([end, _]), Some([lower, _])) = (&plan.split, self.applied_bounds(m)) {
            self.set_bounds(m, &[lower, end.clone()]);
        }
        let step = m.ctx.int_attr(Type::INDEX, plan.long_step);
        m.set_attr(self.0, "step", Some(step));
    }

    fn advance_induction_var(b: &mut Builder<'_>, loc: Loc, plan: &UnrollPlan, induction_var: Value, n: u64) -> Value {
        // Cannot overflow: the unrolled step is larger.
        apply(b, loc, &AffineValueMap::shifted(induction_var, plan.step * n as i64))
    }

    fn first_induction_value(self, m: &mut Module) -> Option<Value> {
        let ([lower, _], loc) = (self.applied_bounds(m)?, m.loc(self.0));
        match (&lower.exprs[..], &lower.operands[..]) {
            ([AffineExpr::Constant(value)], _) => {
                let at = function_start(m, self.0).map_or(InsertPoint::Before(self.0), InsertPoint::Start);
                let value = m.ctx.int_attr(Type::INDEX, *value);
                Builder::at(m, at).constant(value, Type::INDEX, "arith", loc)
            }
            ([AffineExpr::Dim(0)], &[value]) => Some(value),
            ([_], _) => Some(apply(&mut Builder::before(m, self.0), loc, &lower)),
            _ => None,
        }
    }
}

/// Creates an `affine.apply`.
fn apply(b: &mut Builder<'_>, loc: Loc, applied: &AffineValueMap) -> Value {
    let map = applied.to_attr(&b.module.ctx);
    ApplyOp::build(b, loc, &applied.operands, map, &[Type::INDEX]).result(b.module)
}
