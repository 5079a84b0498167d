//! Semi-affine expressions: products and quotients of variables.

use super::expr::{AffineBinOp, AffineExpr};
use super::flat::{Flat, variable};

/// Cancels symbols that are factors of a dividend: `(s0 * d0) floordiv s0` is `d0`.
pub(super) fn cancel_symbols(expr: &AffineExpr) -> AffineExpr {
    let simple = expr.fold(
        |leaf| Some(leaf.clone()),
        |node, lhs, rhs| {
            let plain = |lhs, rhs| AffineExpr::binary(node.op(), lhs, rhs);
            Some(match (node.op(), &rhs) {
                (AffineBinOp::Add | AffineBinOp::Mul, _) => plain(lhs, rhs),
                (op, &AffineExpr::Symbol(by)) => match divide(&lhs, by, op) {
                    Some(_) if op == AffineBinOp::Mod => AffineExpr::Constant(0),
                    Some(quotient) => quotient,
                    None => plain(lhs, rhs),
                },
                _ => plain(lhs, rhs),
            })
        },
    );
    simple.unwrap_or_else(|| expr.clone())
}

/// Returns the quotient by a symbol, if the division is evidently exact. In nested quotients of the same kind the
/// dividend is divided: `(s0 * d0 floordiv 2) floordiv s0` is `d0 floordiv 2`.
fn divide(expr: &AffineExpr, by: u32, kind: AffineBinOp) -> Option<AffineExpr> {
    let mut divisors = Vec::new();
    let mut at = expr;
    while let Some(node) = at.node().filter(|node| node.op() == kind && kind != AffineBinOp::Mod) {
        divisors.push(node.rhs());
        at = node.lhs();
    }
    let quotient = divide_exactly(at, by)?;
    Some(divisors.into_iter().rev().fold(quotient, |q, divisor| AffineExpr::binary(kind, q, divisor.clone())))
}

/// Returns the expression with one factor, a symbol, removed.
fn divide_exactly(expr: &AffineExpr, by: u32) -> Option<AffineExpr> {
    let Some(node) = expr.node() else {
        return match *expr {
            AffineExpr::Constant(0) => Some(AffineExpr::Constant(0)),
            AffineExpr::Symbol(symbol) if symbol == by => Some(AffineExpr::Constant(1)),
            _ => None,
        };
    };
    let deeper = |expr: &AffineExpr| stacker::maybe_grow(64 << 10, 1 << 20, || divide_exactly(expr, by));
    let (lhs, rhs) = (node.lhs(), node.rhs());
    match node.op() {
        AffineBinOp::Add => Some(deeper(lhs)? + deeper(rhs)?),
        AffineBinOp::Mod => Some(deeper(lhs)?.modulo(deeper(rhs)?)),
        AffineBinOp::Mul => match deeper(lhs) {
            Some(quotient) => Some(quotient * rhs.clone()),
            None => Some(lhs.clone() * deeper(rhs)?),
        },
        AffineBinOp::FloorDiv | AffineBinOp::CeilDiv => None,
    }
}

/// Returns the sum with its terms ordered by their first variable: `d0 + d0 * s0 + s0 + d1 * s1 + s1`.
pub(super) fn ordered_sum(flat: &Flat, num_dims: u32, num_symbols: u32) -> AffineExpr {
    use AffineExpr::{Constant, Dim, Symbol};
    let (mut early, mut late) = (i64::MIN + 1.., i64::from(num_dims.max(num_symbols))..);
    let (mut terms, mut rest) = (Vec::new(), Vec::new());
    for (&number, &factor) in &flat.sum.terms {
        let expr = variable(number, num_dims, num_symbols, &flat.locals);
        // By the first variable; then: the dimension itself, quotients and remainders of it, products with symbols by
        // number, and others. The sort is stable, so that sorting is idempotent.
        let key = match (&expr, expr.node().map(|node| (node.lhs(), node.rhs()))) {
            (&Dim(dim), _) => Some((dim, i64::MIN)),
            (&Symbol(symbol), _) => Some((symbol, late.next().unwrap_or(i64::MAX))),
            (_, Some((&Dim(dim), Constant(_)))) => Some((dim, early.next().unwrap_or(0))),
            (_, Some((&Dim(dim), &Symbol(symbol)))) => Some((dim, i64::from(symbol))),
            (_, Some((&Symbol(symbol), Symbol(_) | Constant(_)))) => Some((symbol, late.next().unwrap_or(i64::MAX))),
            _ => None,
        };
        let term = expr * Constant(factor);
        match key {
            Some(key) => terms.push((key, term)),
            None => rest.push(term),
        }
    }
    terms.sort_by_key(|&(key, _)| key);
    let all = terms.into_iter().map(|(_, term)| term).chain(rest);
    all.fold(Constant(0), |sum, term| sum + term) + Constant(flat.sum.constant)
}
