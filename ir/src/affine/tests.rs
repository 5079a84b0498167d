//! Expressions, maps and sets compared with mlir-opt's output, and at limits.

use super::AffineExpr::{Constant, Dim, Symbol};
use super::*;

/// The expected texts are mlir-opt 22's.
#[test]
fn simplifies_and_prints_as_mlir() {
    let (d0, d1, s0) = (|| Dim(0), || Dim(1), || Symbol(0));
    for (expr, expected) in [
        (Constant(4) + d0(), "d0 + 4"),
        (s0() + d0() + Constant(2) + d1() - Constant(5), "d0 + s0 + d1 - 3"),
        (d0() * Constant(2) + d0() * Constant(-2), "0"),
        (d0() - s0() * Constant(2), "d0 - s0 * 2"),
        (-(d0() + Constant(1)), "-(d0 + 1)"),
        (d0() - (s0() + Constant(1)), "d0 - (s0 + 1)"),
        (d0() - s0().floor_div(Constant(2)), "d0 - s0 floordiv 2"),
        (d0() - d0().floor_div(s0()) * s0(), "d0 mod s0"),
        (d0() - d0().floor_div(Constant(5)) * Constant(5), "d0 mod 5"),
        ((d0() * Constant(4) + d1()).modulo(Constant(4)), "d1 mod 4"),
        ((d0() * Constant(4) + d1()).floor_div(Constant(4)), "d0 + d1 floordiv 4"),
        (d0().modulo(Constant(8)).modulo(Constant(4)), "d0 mod 4"),
        (d0().modulo(Constant(0)), "d0 mod 0"),
        (Constant(5).floor_div(Constant(-2)), "-3"),
        (Constant(i64::MAX) + Constant(1), "9223372036854775807 + 1"),
        (d0() * Constant(i64::MAX) * Constant(2), "d0 * -2"),
    ] {
        assert_eq!(expr.to_string(), expected);
    }
}

#[test]
fn rejects_what_is_not_affine() {
    for op in [AffineBinOp::Mul, AffineBinOp::Mod, AffineBinOp::FloorDiv, AffineBinOp::CeilDiv] {
        assert!(AffineExpr::checked_binary(op, Dim(0), Dim(1)).is_err());
        let semi_affine = AffineExpr::checked_binary(op, Dim(0), Symbol(0));
        assert!(semi_affine.is_ok_and(|expr| !expr.is_pure_affine() && !expr.is_symbolic_or_constant()));
    }
}

#[test]
fn maps_and_sets() {
    let map = AffineMap::new(2, 1, [Dim(0) + Symbol(0), Constant(0)]);
    assert_eq!(map.to_string(), "(d0, d1)[s0] -> (d0 + s0, 0)");
    assert_eq!(map.eval(&[3, 4], &[5]), Ok(vec![8, 0]));
    assert_eq!(map.eval(&[i64::MAX, 4], &[5]), Err(NoValue::Overflow));
    let swap = AffineMap::permutation(&[1, 0]).expect("a permutation");
    assert_eq!(AffineMap::permutation(&[1, 1]), None);
    assert!(!swap.is_identity() && swap.compose(&swap).is_some_and(|map| map.is_identity()));
    assert_eq!(map.compose(&map).map(|map| map.to_string()), Some("(d0, d1)[s0, s1] -> (d0 + s1 + s0, 0)".into()));
    let set = IntegerSet::new(1, 0, [(Dim(0) - Constant(1), false), (Dim(0), true)]);
    assert_eq!(set.to_string(), "(d0) : (d0 - 1 >= 0, d0 == 0)");
    assert_eq!(IntegerSet::new(0, 0, []).to_string(), "() : (0 == 0)");
}

#[test]
fn divisions_evaluate_like_their_definitions() {
    let value = |expr: AffineExpr, at| expr.eval(&[at], &[]).ok();
    assert_eq!(value(Dim(0).floor_div(Constant(4)), -7), Some(-2));
    assert_eq!(value(Dim(0).ceil_div(Constant(4)), -7), Some(-1));
    assert_eq!(value(Dim(0).modulo(Constant(4)), -7), Some(1));
    assert_eq!(value(Dim(0).modulo(Constant(0)), 1), None);
    assert_eq!(value(Dim(0).ceil_div(Constant(1 << 62)), i64::MAX), Some(2));
}

/// Operations on a tree of this depth must neither overflow the stack nor take quadratic time.
#[test]
fn deep_expressions() {
    const TERMS: u32 = 100_000;
    let build = || (0..TERMS).fold(Constant(1), |sum, dim| sum + Dim(dim) * Constant(2));
    let sum = build();
    assert_eq!(sum, build());
    assert!(sum.to_string().ends_with("+ d99999 * 2 + 1"));
    let ones = vec![1; TERMS as usize];
    assert_eq!(sum.eval(&ones, &[]), Ok(200_001));
    let halves = sum.clone().floor_div(Constant(2)) + sum.clone().modulo(Constant(2));
    assert_eq!(halves.eval(&ones, &[]), Ok(100_001));
    assert_eq!(sum.replace(&[Constant(0)], &[]).eval(&ones, &[]), Ok(199_999));
    let at_limit = (0..rules::MAX_RULE_DEPTH - 2).fold(Dim(0), |sum, dim| sum + Dim(dim + 1) * Constant(2));
    assert_eq!(at_limit.clone().modulo(Constant(2)), Dim(0).modulo(Constant(2)));
    assert!(at_limit.floor_div(Constant(2)).to_string().starts_with("d0 floordiv 2 + d1 + d2 +"));
}

/// Simplification divides a part of a sum, which may overflow where the sum does not.
#[test]
fn dividends_fit_by_ranges_or_since_they_are_known() {
    let (a, b, four) = (|| Symbol(0), || Symbol(1), || Constant(4));
    let all = [(None, None); 2];
    let near = [(Some(-(1 << 60)), Some(1 << 60)); 2];
    for (expr, expected) in [
        ((a() * four() + b()).floor_div(four()), [true, true, true]),
        ((b().modulo(four()) - a()).floor_div(four()), [false, true, false]),
        ((b() - a()).floor_div(four()), [false, true, true]),
        ((b() - a() + Constant(3)).ceil_div(Constant(2)).modulo(four()), [false, true, true]),
        ((b() * Constant(2) - a() * Constant(2)).floor_div(Constant(6)), [false, true, false]),
        ((a() * Constant(16)).floor_div(Constant(3)), [false, false, false]),
        (a() * Constant(i64::MAX) + b().floor_div(Constant(3)), [true, true, true]),
    ] {
        let distance = b() - a();
        let other = Constant(0);
        let fits = [
            expr.dividends_fit(0, &all, &other),
            expr.dividends_fit(0, &near, &other),
            expr.dividends_fit(0, &all, &distance),
        ];
        assert_eq!(fits, expected, "{expr}");
    }
    let twice = b() * Constant(2) - a() * Constant(2);
    assert!((b() - a()).floor_div(four()).dividends_fit(0, &all, &twice));
    assert_eq!((b().modulo(four()) - a()).floor_div(four()).eval(&[], &[i64::MIN, 0]), Err(NoValue::Overflow));
    assert_eq!((b() - a()).floor_div(four()).eval(&[], &[i64::MIN, i64::MIN + 8]), Ok(2));
}
