//! Ranges and divisors of values from loop bounds, and the simplifications that they permit.

use super::ForOp;
use super::value_map::AffineValueMap;
use gradus_ir::affine::{AffineBinOp, AffineExpr, Range};
use gradus_ir::{Def, Module, OpDecl, Value};

/// Returns the `affine.for` whose induction variable is the value.
fn loop_of(m: &Module, value: Value) -> Option<ForOp> {
    let Def::Arg(block, 0) = m.def(value) else { return None };
    ForOp::cast(m, m.block_op(block)?)
}

/// Returns the ranges of the operands, as far as loop bounds are constant.
pub(super) fn ranges(m: &Module, operands: &[Value]) -> Vec<Range> {
    operands.iter().map(|&v| range(m, v)).collect()
}

fn range(m: &Module, value: Value) -> Range {
    let Some(bounds) = loop_of(m, value).and_then(|l| l.bounds(m)) else { return (None, None) };
    let (lower, upper) = (bounds.lower.single_constant(), bounds.upper.single_constant());
    // With both bounds known, the last value is a whole number of steps from the first.
    let last = upper.and_then(|upper| {
        let last = upper.checked_sub(1)?;
        match lower {
            Some(lower) => last.checked_sub(last.checked_sub(lower)?.checked_rem(bounds.step)?),
            None => Some(last),
        }
    });
    (lower, last)
}

/// Simplifies quotients and remainders by the ranges and divisors of the operands.
pub(super) fn simplify_divisions(m: &Module, applied: &mut AffineValueMap) {
    if !applied.exprs.iter().any(divides) {
        return;
    }
    let known = DivisionSimplifier { ranges: ranges(m, &applied.operands), m, applied };
    let exprs: Vec<AffineExpr> = known.applied.exprs.iter().map(|expr| known.simplify(expr)).collect();
    applied.exprs = exprs;
}

/// Whether the expression contains a division or remainder.
fn divides(expr: &AffineExpr) -> bool {
    expr.fold(
        |_| Some(false),
        |node, lhs, rhs| Some(lhs || rhs || !matches!(node.op(), AffineBinOp::Add | AffineBinOp::Mul)),
    )
    .unwrap_or(false)
}

struct DivisionSimplifier<'a> {
    ranges: Vec<Range>,
    m: &'a Module,
    applied: &'a AffineValueMap,
}

impl DivisionSimplifier<'_> {
    fn simplify(&self, expr: &AffineExpr) -> AffineExpr {
        let simple = expr.fold(
            |leaf| Some(leaf.clone()),
            |node, lhs, rhs| {
                let expr = AffineExpr::binary(node.op(), lhs, rhs);
                // Construction may have simplified it.
                let division = expr.node().and_then(|node| {
                    let by = node.rhs().constant().filter(|&by| by > 0)?;
                    let is_division = !matches!(node.op(), AffineBinOp::Add | AffineBinOp::Mul);
                    is_division.then(|| self.division(node.op(), node.lhs(), by))?
                });
                Some(division.unwrap_or(expr))
            },
        );
        simple.unwrap_or_else(|| expr.clone())
    }

    /// Simplifies a quotient or remainder.
    fn division(&self, op: AffineBinOp, lhs: &AffineExpr, by: i64) -> Option<AffineExpr> {
        let constant = |value| Some(AffineExpr::Constant(value));
        if let (Some(least), Some(greatest)) = lhs.range(self.applied.num_dims, &self.ranges) {
            let ceil = |v: i64| v.div_euclid(by) + i64::from(v.rem_euclid(by) != 0);
            match op {
                AffineBinOp::FloorDiv if least.div_euclid(by) == greatest.div_euclid(by) => {
                    return constant(least.div_euclid(by));
                }
                AffineBinOp::CeilDiv if ceil(least) == ceil(greatest) => return constant(ceil(least)),
                AffineBinOp::Mod if least >= 0 && greatest < by => return Some(lhs.clone()),
                _ => {}
            }
        }
        if op == AffineBinOp::Mod && self.divisor(lhs) % by == 0 {
            return constant(0);
        }
        // q * d + r with 0 <= r < d
        let (quotient, rest, divisor) = self.quotient_and_rest(lhs)?;
        match op {
            AffineBinOp::FloorDiv if by % divisor == 0 => Some(quotient.floor_div(AffineExpr::Constant(by))),
            AffineBinOp::Mod if divisor % by == 0 => Some(rest.modulo(AffineExpr::Constant(by))),
            _ => None,
        }
    }

    /// Splits a sum into a multiple of a divisor and a remainder in [0, divisor).
    fn quotient_and_rest(&self, sum: &AffineExpr) -> Option<(AffineExpr, AffineExpr, i64)> {
        let node = sum.node().filter(|node| node.op() == AffineBinOp::Add)?;
        let split = |multiple: &AffineExpr, rest: &AffineExpr| {
            let divisor = self.divisor(multiple);
            (divisor > 0 && self.is_below(rest, divisor)).then(|| (multiple.clone(), rest.clone(), divisor))
        };
        split(node.lhs(), node.rhs()).or_else(|| split(node.rhs(), node.lhs()))
    }

    /// Whether a constant or induction variable is in `0..limit`.
    fn is_below(&self, expr: &AffineExpr, limit: i64) -> bool {
        let (least, greatest) = match *expr {
            AffineExpr::Constant(value) => (Some(value), Some(value)),
            AffineExpr::Dim(_) => {
                let bounds =
                    self.applied.value_of(expr).and_then(|v| loop_of(self.m, v)).and_then(|l| l.bounds(self.m));
                let Some(bounds) = bounds else { return false };
                let upper = bounds.upper.single_constant().and_then(|upper| upper.checked_sub(1));
                (bounds.lower.single_constant(), upper)
            }
            _ => return false,
        };
        least.is_some_and(|v| v >= 0) && greatest.is_some_and(|v| v < limit)
    }

    /// Returns a divisor of the expression's value.
    fn divisor(&self, expr: &AffineExpr) -> i64 {
        let own = expr.known_divisor();
        if !matches!(expr, AffineExpr::Dim(_)) {
            return own;
        }
        let bounds = self.applied.value_of(expr).and_then(|v| loop_of(self.m, v)).and_then(|l| l.bounds(self.m));
        let Some(bounds) = bounds else { return own };
        if bounds.lower.single_constant() == Some(0) {
            return bounds.step;
        }
        let divisors = bounds.lower.results.iter().map(AffineExpr::known_divisor);
        divisors.fold(bounds.step, gcd)
    }
}

/// Returns the greatest common divisor; gcd(0, 0) = 0.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// Removes expressions that are redundant in a maximum (`max`) or minimum, and folds constants.
pub(super) fn drop_redundant(m: &Module, applied: &mut AffineValueMap, max: bool) {
    if applied.operands.is_empty() {
        return;
    }
    let inputs = ranges(m, &applied.operands);
    let bounds: Vec<Range> = applied.exprs.iter().map(|e| e.range(applied.num_dims, &inputs)).collect();
    // Treat a minimum as the maximum of negated ranges.
    let turned =
        |(least, greatest): Range| if max { (least, greatest) } else { (greatest.map(|v| !v), least.map(|v| !v)) };
    let turned: Vec<Range> = bounds.iter().map(|&b| turned(b)).collect();
    let Some(top) = turned.iter().filter_map(|b| b.0).max() else { return };
    // Expressions that reach `top` make all others that cannot exceed it redundant; of equal constants the first stays.
    let reaches = |b: &Range| b.0 == Some(top);
    let is_top_constant = |b: &Range| *b == (Some(top), Some(top));
    let others = turned.iter().filter(|b| reaches(b) && !is_top_constant(b)).count();
    let first = turned.iter().position(is_top_constant);
    let redundant = |i: usize, b: &Range| match b.1 {
        Some(greatest) if greatest < top => true,
        Some(greatest) if greatest > top => false,
        Some(_) if is_top_constant(b) => others > 0 || first != Some(i),
        // It never exceeds `top`, which another expression always reaches.
        Some(_) => true,
        None => false,
    };
    let kept = applied.exprs.iter().zip(&bounds).zip(&turned).enumerate().filter(|(i, (_, b))| !redundant(*i, b));
    let exprs = kept.map(|(_, ((expr, range), _))| match *range {
        (Some(least), Some(greatest)) if least == greatest => AffineExpr::Constant(least),
        _ => expr.clone(),
    });
    applied.exprs = exprs.collect();
}
