//! Expansion of affine expressions to arithmetic.

use gradus_dialects::arith::int_predicate::{EQ, SGE, SLT};
use gradus_dialects::arith::{
    AddIOp, AndIOp, CmpIOp, DivSIOp, FloorDivSIOp, MaxSIOp, MinSIOp, MulIOp, RemSIOp, SelectOp, SubIOp,
};
use gradus_ir::affine::{AffineBinOp, AffineBinary, AffineExpr, AffineMap, IntegerSet};
use gradus_ir::conversion::ConversionRewriter;
use gradus_ir::{Builder, InsertPoint, Loc, Module, Op, PatternRewriter, Type, Value};

/// Overflow flags as text.
pub(super) const WRAPS: &str = "#arith.overflow<none>";
pub(super) const NSW: &str = "#arith.overflow<nsw>";
pub(super) const NSW_NUW: &str = "#arith.overflow<nsw, nuw>";

/// A builder of arithmetic at one place.
pub(super) struct ArithmeticBuilder<'b, 'm> {
    pub(super) b: &'b mut Builder<'m>,
    pub(super) loc: Loc,
}

/// Builds ops before an op, at its location.
pub(super) fn emit<T>(
    r: &mut ConversionRewriter<'_>,
    op: Op,
    make: impl FnOnce(&mut ArithmeticBuilder<'_, '_>) -> T,
) -> T {
    let loc = r.module().loc(op);
    r.build(InsertPoint::Before(op), |b| make(&mut ArithmeticBuilder { b, loc }))
}

impl ArithmeticBuilder<'_, '_> {
    pub(super) fn m(&self) -> &Module {
        self.b.module
    }

    /// Creates an index constant.
    pub(super) fn index(&mut self, value: i64) -> Value {
        let attr = self.b.module.ctx.int_attr(Type::INDEX, value);
        self.b.constant(attr, Type::INDEX, "arith", self.loc).expect("arith has constants of type index")
    }

    /// Expands the results of a map.
    pub(super) fn map(&mut self, map: &AffineMap, operands: &[Value]) -> Result<Vec<Value>, String> {
        map.results.iter().map(|expr| self.expr(expr, map.num_dims, operands)).collect()
    }

    /// Expands the maximum or minimum of a map's results.
    pub(super) fn extreme(&mut self, map: &AffineMap, operands: &[Value], max: bool) -> Result<Value, String> {
        let values = self.map(map, operands)?;
        let combined = values.into_iter().reduce(|a, b| match max {
            true => MaxSIOp::build(self.b, self.loc, a, b, &[]).result(self.b.module),
            false => MinSIOp::build(self.b, self.loc, a, b, &[]).result(self.b.module),
        });
        combined.ok_or_else(|| "the map has no results".into())
    }

    /// Expands membership in a set.
    pub(super) fn condition(&mut self, set: &IntegerSet, operands: &[Value]) -> Result<Value, String> {
        let zero = self.index(0);
        let mut all = None;
        for (expr, equality) in &set.constraints {
            let value = self.expr(expr, set.num_dims, operands)?;
            let holds = self.compare(if *equality { EQ } else { SGE }, value, zero);
            all = Some(match all {
                Some(all) => AndIOp::build(self.b, self.loc, all, holds, &[]).result(self.b.module),
                None => holds,
            });
        }
        all.ok_or_else(|| "the set has no constraints".into())
    }

    /// Expands an expression; operands are dimensions, then symbols.
    pub(super) fn expr(&mut self, expr: &AffineExpr, num_dims: u32, operands: &[Value]) -> Result<Value, String> {
        let mut state = (self, Err("an affine expression of a missing operand".to_owned()));
        // A sum may fit although one of its terms overflows, so only a product that is the whole expression gets `nsw`.
        let is_leaf = |expr: &AffineExpr| expr.node().is_none();
        let whole = expr.node().filter(|node| is_leaf(node.lhs()) && is_leaf(node.rhs()));
        let may_promise = |node: &AffineBinary| whole.is_some_and(|whole| std::ptr::eq(whole, node));
        let value = expr.fold_with(
            &mut state,
            |(e, _), leaf| match *leaf {
                AffineExpr::Dim(dim) => operands.get(dim as usize).copied(),
                AffineExpr::Symbol(symbol) => operands.get(num_dims as usize + symbol as usize).copied(),
                AffineExpr::Constant(value) => Some(e.index(value)),
                AffineExpr::Binary(_) => None,
            },
            |(e, error), node, lhs, rhs| {
                let too_small = node.rhs().constant().is_some_and(|by| by < 1);
                match node.op() {
                    AffineBinOp::Add => Some(e.add(lhs, rhs, WRAPS)),
                    AffineBinOp::Mul => Some(e.mul(lhs, rhs, if may_promise(node) { NSW } else { WRAPS })),
                    op if too_small => {
                        let what = if op == AffineBinOp::Mod { "modulo" } else { "division" };
                        *error = Err(format!("{what} by non-positive value is not supported"));
                        None
                    }
                    AffineBinOp::Mod => Some(e.modulo(lhs, rhs)),
                    AffineBinOp::FloorDiv => Some(e.floor_div(lhs, rhs)),
                    AffineBinOp::CeilDiv => Some(e.ceil_div(lhs, rhs)),
                }
            },
        );
        value.map_or(state.1, Ok)
    }

    pub(super) fn add(&mut self, a: Value, b: Value, promise: &'static str) -> Value {
        let promise = self.b.module.ctx.default_attr(promise);
        AddIOp::build(self.b, self.loc, a, b, promise, &[]).result(self.b.module)
    }

    pub(super) fn mul(&mut self, a: Value, b: Value, promise: &'static str) -> Value {
        let promise = self.b.module.ctx.default_attr(promise);
        MulIOp::build(self.b, self.loc, a, b, promise, &[]).result(self.b.module)
    }

    pub(super) fn floor_div_op(&mut self, a: Value, b: Value) -> Value {
        FloorDivSIOp::build(self.b, self.loc, a, b, &[]).result(self.b.module)
    }

    pub(super) fn div(&mut self, a: Value, b: Value) -> Value {
        DivSIOp::build(self.b, self.loc, a, b, None, &[]).result(self.b.module)
    }

    pub(super) fn rem(&mut self, a: Value, b: Value) -> Value {
        RemSIOp::build(self.b, self.loc, a, b, &[]).result(self.b.module)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        let promise = self.b.module.ctx.default_attr(WRAPS);
        SubIOp::build(self.b, self.loc, a, b, promise, &[]).result(self.b.module)
    }

    fn compare(&mut self, predicate: i64, a: Value, b: Value) -> Value {
        let predicate = self.b.module.ctx.int_attr(Type::I64, predicate);
        CmpIOp::build(self.b, self.loc, a, b, predicate, &[]).result(self.b.module)
    }

    /// Creates the comparison `a < b`.
    pub(super) fn less(&mut self, a: Value, b: Value) -> Value {
        self.compare(SLT, a, b)
    }

    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.b.module.value_type(yes);
        SelectOp::build(self.b, self.loc, condition, yes, no, &[ty]).result(self.b.module)
    }

    /// Expands `mod`: a negative remainder is corrected by the divisor.
    fn modulo(&mut self, a: Value, b: Value) -> Value {
        let rest = self.rem(a, b);
        let zero = self.index(0);
        let negative = self.less(rest, zero);
        let corrected = self.add(rest, b, WRAPS);
        self.select(negative, corrected, rest)
    }

    /// Expands `floordiv`: for negative `a`, `-1 - (-1 - a) / b`, whose truncating division has nonnegative operands.
    fn floor_div(&mut self, a: Value, b: Value) -> Value {
        let (zero, minus_one) = (self.index(0), self.index(-1));
        let negative = self.less(a, zero);
        let flipped = self.sub(minus_one, a);
        let dividend = self.select(negative, flipped, a);
        let quotient = self.div(dividend, b);
        let flipped = self.sub(minus_one, quotient);
        self.select(negative, flipped, quotient)
    }

    /// Expands `ceildiv`: for positive `a`, `(a - 1) / b + 1`; otherwise `a / b`, where truncation rounds up. Unlike
    /// `-(-a / b)` it is correct for the least integer, which has no negation.
    fn ceil_div(&mut self, a: Value, b: Value) -> Value {
        let (zero, one) = (self.index(0), self.index(1));
        let positive = self.less(zero, a);
        let less = self.sub(a, one);
        let dividend = self.select(positive, less, a);
        let quotient = self.div(dividend, b);
        let more = self.add(quotient, one, WRAPS);
        self.select(positive, more, quotient)
    }
}
