//! The local simplification rules of expression constructors.
//!
//! They return `None` where no rule applies. Folding of constants keeps an overflowing operation unfolded; merging of
//! coefficients wraps. Both are MLIR's behavior.

use super::expr::{AffineBinOp, AffineExpr};

/// Maximum depth for rules that descend into operands, which bounds the recursion.
pub(super) const MAX_RULE_DEPTH: u32 = 1000;

pub(super) fn add(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    use AffineExpr::Constant;
    if let (&Constant(left), &Constant(right)) = (lhs, rhs) {
        return left.checked_add(right).map(Constant);
    }
    // Constants go to the right, and symbols to the right of dimensions.
    let symbolic_first = lhs.is_symbolic_or_constant() && !rhs.is_symbolic_or_constant();
    if matches!(lhs, Constant(_)) || symbolic_first || out_of_order(lhs, rhs) {
        return Some(rhs.clone() + lhs.clone());
    }
    let with_constant = lhs.as_binary_const(AffineBinOp::Add);
    if let &Constant(right) = rhs {
        if right == 0 {
            return Some(lhs.clone());
        }
        if let Some((base, left)) = with_constant {
            return Some(base.clone() + Constant(left.wrapping_add(right)));
        }
    }
    // c1 * x + c2 * x is (c1 + c2) * x, where either coefficient may be an absent 1.
    let (left, left_factor) = lhs.as_binary_const(AffineBinOp::Mul).unwrap_or((lhs, 1));
    let (right, right_factor) = rhs.as_binary_const(AffineBinOp::Mul).unwrap_or((rhs, 1));
    if left == right {
        return Some(left.clone() * Constant(left_factor.wrapping_add(right_factor)));
    }
    if let Some((base, constant)) = with_constant {
        return Some(base.clone() + rhs.clone() + Constant(constant));
    }
    fold_remainder(lhs, rhs)
}

/// Whether these are two dimensions or two symbols in descending order.
fn out_of_order(lhs: &AffineExpr, rhs: &AffineExpr) -> bool {
    match (lhs, rhs) {
        (AffineExpr::Dim(left), AffineExpr::Dim(right)) => left > right,
        (AffineExpr::Symbol(left), AffineExpr::Symbol(right)) => left > right,
        _ => false,
    }
}

/// Folds `x - (x floordiv q) * q` to `x mod q`. The negation is a factor `-1`, or `-c` for a constant `q`.
fn fold_remainder(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let (product, factor) = rhs.as_binary(AffineBinOp::Mul)?;
    if *factor == AffineExpr::Constant(-1)
        && let Some((quotient, by)) = product.as_binary(AffineBinOp::Mul)
    {
        let (dividend, divisor) = quotient.as_binary(AffineBinOp::FloorDiv)?;
        return (divisor == by && dividend == lhs).then(|| lhs.clone().modulo(by.clone()));
    }
    let (dividend, divisor) = product.as_binary(AffineBinOp::FloorDiv)?;
    if let (&AffineExpr::Constant(by), &AffineExpr::Constant(factor)) = (divisor, factor)
        && by > 0
        && by == factor.wrapping_neg()
        && dividend == lhs
    {
        return Some(lhs.clone().modulo(divisor.clone()));
    }
    // The dividend may be the last term of a sum.
    let (terms, last) = lhs.as_binary(AffineBinOp::Add)?;
    if lhs.depth() > MAX_RULE_DEPTH {
        return None;
    }
    Some(terms.clone() + add(last, rhs)?)
}

pub(super) fn mul(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    use AffineExpr::Constant;
    if let (&Constant(left), &Constant(right)) = (lhs, rhs) {
        return left.checked_mul(right).map(Constant);
    }
    if !rhs.is_symbolic_or_constant() && !lhs.is_symbolic_or_constant() {
        return None;
    }
    if matches!(lhs, Constant(_)) || !rhs.is_symbolic_or_constant() || out_of_order(lhs, rhs) {
        return Some(rhs.clone() * lhs.clone());
    }
    let scaled = lhs.as_binary_const(AffineBinOp::Mul);
    match (rhs, scaled) {
        (Constant(1), _) => Some(lhs.clone()),
        (Constant(0), _) => Some(Constant(0)),
        (&Constant(right), Some((base, left))) => Some(base.clone() * Constant(left.wrapping_mul(right))),
        (_, Some((base, left))) => Some(base.clone() * rhs.clone() * Constant(left)),
        _ => None,
    }
}

/// Applies the rules that floordiv and ceildiv (`up`) share.
pub(super) fn div(lhs: &AffineExpr, rhs: &AffineExpr, up: bool) -> Option<AffineExpr> {
    let by = nonzero_constant(rhs)?;
    if let &AffineExpr::Constant(value) = lhs {
        let quotient = value.checked_div(by)?;
        let adjusts = value % by != 0 && ((value < 0) == (by < 0)) == up;
        return Some(AffineExpr::Constant(quotient + i64::from(adjusts && up) - i64::from(adjusts && !up)));
    }
    if by == 1 {
        return Some(lhs.clone());
    }
    // (x * c) / d is x * (c / d) if d divides c.
    let (base, factor) = lhs.as_binary_const(AffineBinOp::Mul)?;
    (factor.wrapping_rem(by) == 0).then(|| base.clone() * AffineExpr::Constant(factor.wrapping_div(by)))
}

fn nonzero_constant(expr: &AffineExpr) -> Option<i64> {
    match *expr {
        AffineExpr::Constant(value) if value != 0 => Some(value),
        _ => None,
    }
}

/// Rewrites (x + y) floordiv d to (x floordiv d) + (y floordiv d) if d divides x or y.
pub(super) fn distribute_floor_div(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let by = nonzero_constant(rhs)?;
    let (left, right) = lhs.as_binary(AffineBinOp::Add)?;
    let divides = |expr: &AffineExpr| expr.known_divisor().wrapping_rem(by) == 0;
    let distributes = lhs.depth() <= MAX_RULE_DEPTH && (divides(left) || divides(right));
    distributes.then(|| left.clone().floor_div(rhs.clone()) + right.clone().floor_div(rhs.clone()))
}

pub(super) fn modulo(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let AffineExpr::Constant(by) = *rhs else { return None };
    if by < 1 {
        return None;
    }
    if let &AffineExpr::Constant(value) = lhs {
        return Some(AffineExpr::Constant(value.rem_euclid(by)));
    }
    let divides = |expr: &AffineExpr| expr.known_divisor() % by == 0;
    if divides(lhs) {
        return Some(AffineExpr::Constant(0));
    }
    if lhs.depth() > MAX_RULE_DEPTH {
        return None;
    }
    if let Some((left, right)) = lhs.as_binary(AffineBinOp::Add) {
        let rest = if divides(left) { Some(right) } else { divides(right).then_some(left) };
        return rest.map(|rest| rest.clone().modulo(rhs.clone()));
    }
    // (x mod a) mod b is x mod b if b divides a.
    let (base, inner) = lhs.as_binary_const(AffineBinOp::Mod)?;
    (inner >= 1 && inner % by == 0).then(|| base.clone().modulo(rhs.clone()))
}
