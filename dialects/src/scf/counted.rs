//! `scf.for` as a [`CountedLoop`].

use super::ForOp;
use crate::arith::int_predicate::{SLT, ULE, ULT};
use crate::arith::{AddIOp, AndIOp, CmpIOp, MulIOp, RemUIOp, SelectOp, SubIOp};
use crate::loops::CountedLoop;
use gradus_ir::control::Count;
use gradus_ir::{Block, Builder, Loc, Module, Op, Type, Value};
use std::ops::Range;

/// New step and bounds of an unrolled loop.
#[derive(Clone, Copy, Debug)]
pub struct UnrollPlan {
    /// Original step.
    step: Value,
    /// Step of the unrolled loop.
    long_step: Value,
    /// Upper bound of the unrolled loop and lower bound of the epilogue, if there is one.
    split: Option<Value>,
}

/// Operand numbers.
const LOWER: usize = 0;
const UPPER: usize = 1;
const STEP: usize = 2;
const INITS: usize = 3;

impl ForOp {
    fn constant(self, m: &Module, operand: usize) -> Option<i128> {
        m.constant_int(m.operands(self.0)[operand]).map(|value| self.count(m).number(value))
    }

    /// Returns constant bounds and a constant positive step.
    fn constants(self, m: &Module) -> Option<[i128; 3]> {
        let step = self.constant(m, STEP).filter(|&step| step > 0)?;
        Some([self.constant(m, LOWER)?, self.constant(m, UPPER)?, step])
    }
}

/// Returns the maximum value of the bounds' type.
fn greatest(m: &Module, this: ForOp) -> i128 {
    let bits = m.ctx.int_width(m.value_type(this.lower_bound(m))).unwrap_or(64).min(64);
    let signed = u32::from(this.unsigned_cmp(m).is_none());
    (1 << (bits - signed)) - 1
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
        INITS..m.operands(self.0).len()
    }

    fn trip_count(self, m: &Module) -> Option<u64> {
        if self.lower_bound(m) == self.upper_bound(m) {
            return Some(0);
        }
        let [lower, upper, step] = self.constants(m)?;
        let distance = u128::try_from(upper - lower).unwrap_or(0);
        u64::try_from(distance.div_ceil(step.unsigned_abs())).ok()
    }

    fn plan_unroll(self, m: &mut Module, factor: u64, whole: bool) -> Option<UnrollPlan> {
        let most = greatest(m, self) / i128::from(factor);
        let constant_step = self.constant(m, STEP);
        if most == 0 || constant_step.is_some_and(|step| step <= 0 || step > most) {
            return None;
        }
        let step = self.step(m);
        let (loc, count, ty) = (m.loc(self.0), self.count(m), m.value_type(step));
        let mut e = CountEmitter { b: &mut Builder::before(m, self.0), loc, count, ty };
        if let Some([lower, _, width]) = self.constants(e.b.module)
            && let Some(trips) = self.trip_count(e.b.module)
        {
            let end = lower + i128::from(trips / factor * factor) * width;
            let split = if whole { None } else { Some(e.number(end)?) };
            let long_step = e.number(width * i128::from(factor))?;
            return Some(UnrollPlan { step, long_step, split });
        }
        let factor = e.number(factor.into())?;
        if constant_step.is_some() {
            let long_step = e.mul(step, factor);
            let runs = e.is_entered(self);
            return Some(UnrollPlan { step, long_step, split: Some(e.split(self, long_step, runs)) });
        }
        // If the step would overflow, it is kept and the epilogue runs all iterations.
        let most = e.number(most)?;
        let (fits, runs) = (e.compare(ULE, step, most), e.is_entered(self));
        let longer = e.mul(step, factor);
        let long_step = e.select(fits, longer, step);
        let runs = AndIOp::build(e.b, loc, fits, runs, &[]).result(e.b.module);
        Some(UnrollPlan { step, long_step, split: Some(e.split(self, long_step, runs)) })
    }

    fn into_epilogue(self, m: &mut Module, plan: &UnrollPlan) {
        if let Some(begin) = plan.split {
            m.set_operand(self.0, LOWER, begin);
        }
    }

    fn apply_unroll(self, m: &mut Module, plan: &UnrollPlan) {
        if let Some(end) = plan.split {
            m.set_operand(self.0, UPPER, end);
        }
        m.set_operand(self.0, STEP, plan.long_step);
    }

    fn advance_induction_var(b: &mut Builder<'_>, loc: Loc, plan: &UnrollPlan, induction_var: Value, n: u64) -> Value {
        let ty = b.module.value_type(induction_var);
        let count = Count::new(&b.module.ctx, ty, true);
        let mut e = CountEmitter { b, loc, count, ty };
        let n = e.number(n.into()).expect("a factor that fits the type");
        let stride = e.mul(plan.step, n);
        e.add(induction_var, stride)
    }

    fn first_induction_value(self, m: &mut Module) -> Option<Value> {
        Some(self.lower_bound(m))
    }
}

/// A builder of arithmetic on the type of the bounds.
struct CountEmitter<'b, 'm> {
    b: &'b mut Builder<'m>,
    loc: Loc,
    count: Count,
    ty: Type,
}

impl CountEmitter<'_, '_> {
    /// Creates a constant; `None` if it does not fit the type.
    fn number(&mut self, number: i128) -> Option<Value> {
        let attr = self.b.module.ctx.int_attr(self.ty, self.count.value(number)?);
        self.b.constant(attr, self.ty, "arith", self.loc)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        let wraps = self.b.module.ctx.default_attr("#arith.overflow<none>");
        AddIOp::build(self.b, self.loc, a, b, wraps, &[]).result(self.b.module)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        let wraps = self.b.module.ctx.default_attr("#arith.overflow<none>");
        SubIOp::build(self.b, self.loc, a, b, wraps, &[]).result(self.b.module)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        let wraps = self.b.module.ctx.default_attr("#arith.overflow<none>");
        MulIOp::build(self.b, self.loc, a, b, wraps, &[]).result(self.b.module)
    }

    fn compare(&mut self, predicate: i64, a: Value, b: Value) -> Value {
        let predicate = self.b.module.ctx.int_attr(Type::I64, predicate);
        CmpIOp::build(self.b, self.loc, a, b, predicate, &[]).result(self.b.module)
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        SelectOp::build(self.b, self.loc, condition, yes, no, &[self.ty]).result(self.b.module)
    }

    /// Creates the condition that the loop has an iteration.
    fn is_entered(&mut self, this: ForOp) -> Value {
        let m = &*self.b.module;
        let predicate = if this.unsigned_cmp(m).is_some() { ULT } else { SLT };
        let (lower, upper) = (this.lower_bound(m), this.upper_bound(m));
        self.compare(predicate, lower, upper)
    }

    /// Creates the bound between the unrolled loop and the epilogue; the lower bound if the loop does not run. The
    /// distance is unsigned, since it may exceed the signed range.
    fn split(&mut self, this: ForOp, long_step: Value, runs: Value) -> Value {
        let (lower, upper) = (this.lower_bound(self.b.module), this.upper_bound(self.b.module));
        let distance = self.sub(upper, lower);
        let rest = RemUIOp::build(self.b, self.loc, distance, long_step, &[]).result(self.b.module);
        let end = self.sub(upper, rest);
        self.select(runs, end, lower)
    }
}
