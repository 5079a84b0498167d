//! `affine.min` and `affine.max`.

use super::apply::fold_results;
use super::text::{APPLY, map_data};
use super::value_map::AffineValueMap;
use super::{ApplyOp, MAP, divides_by_constants, is_in_divisor, one_result, replace_with_map, set_map};
use crate::constraint::INDEX;
use gradus_ir::affine::{AffineExpr, Linear};
use gradus_ir::{Attr, Effects, Folded, Module, Op, OpArgs, OpDecl, Pattern, Rewriter, Type, Violation, op};
use std::cmp::Ordering;

macro_rules! extreme {
    ($($Op:ident $name:literal $doc:literal $fold:ident $pick:path;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            effects = Effects::MayUb,
            speculatable = divides_by_constants,
            poison_is_ub = is_in_divisor,
            format = "custom<Apply>($map, $operands) attr-dict",
            directives = &[&APPLY],
            verify = verify,
            fold = $fold,
            scalar = |args| one_result(args, $pick),
            patterns = PATTERNS
        )]
        pub struct $Op {
            /// Map with at least one result.
            map: Attribute<MAP>,
            /// Operands of the map: dimensions, then symbols.
            operands: Operands<INDEX>,
            /// Minimum or maximum of the map's results.
            result: OpResult<INDEX>,
        }
    )* };
}

extreme! {
    MinOp "affine.min" "Minimum of affine expressions.\n\n```mlir\n%0 = affine.min affine_map<(d0) -> (d0, 16)>(%i)\n```" fold_min i64::min;
    MaxOp "affine.max" "Maximum of affine expressions.\n\n```mlir\n%0 = affine.max affine_map<(d0) -> (d0, 0)>(%i)\n```" fold_max i64::max;
}

const PATTERNS: &[Pattern] = &[
    Pattern { name: "affine-min-max-of-one", run: single_result },
    Pattern { name: "affine-min-max-duplicates", run: duplicates },
    Pattern { name: "affine-min-max-merge", run: merge },
    Pattern { name: "affine-min-max-compose", run: compose },
    Pattern { name: "affine-min-max-order", run: order },
];

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(map) = m.inherent_attr(op, "map").and_then(|a| map_data(&m.ctx, a)) else { return Ok(()) };
    if m.operands(op).len() != map.num_inputs() {
        return Err("operand count and affine map dimension and symbol count must match".into());
    }
    if map.results.is_empty() {
        return Err("affine map expect at least one result".into());
    }
    Ok(())
}

fn fold_min(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    fold(args, constants, |values| values.into_iter().min())
}

fn fold_max(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    fold(args, constants, |values| values.into_iter().max())
}

/// Folds constant expressions, and a single expression that is an operand.
fn fold(args: &OpArgs<'_>, constants: &[Option<Attr>], pick: fn(Vec<i64>) -> Option<i64>) -> Option<Folded> {
    let ctx = args.ctx();
    let map = map_data(ctx, args.attr("map")?)?;
    if let [result] = &*map.results
        && let Some(value) = AffineValueMap::map(map, args.operands).value_of(result)
    {
        return Some(value.into());
    }
    let values = fold_results(map, |i| ctx.as_int(constants[i]?))?;
    let values: Option<Vec<i64>> = values.into_iter().collect();
    Some(ctx.int_attr(Type::INDEX, pick(values?)?).into())
}

/// Returns the map of `affine.min` or `affine.max` with its operands, with constant operands folded.
pub fn folded_map(m: &Module, op: Op) -> Option<AffineValueMap> {
    let mut applied = applied(m, op)?;
    let known = fold_results(&applied.to_map(), |i| m.constant_int(applied.operands[i]));
    for (expr, value) in applied.exprs.iter_mut().zip(known.into_iter().flatten()) {
        if let Some(value) = value {
            *expr = AffineExpr::Constant(value);
        }
    }
    Some(applied)
}

fn applied(m: &Module, op: Op) -> Option<AffineValueMap> {
    let map = map_data(&m.ctx, m.inherent_attr(op, "map")?)?;
    (map.num_inputs() == m.operands(op).len()).then(|| AffineValueMap::map(map, m.operands(op)))
}

/// min(a) = a
fn single_result(rw: &mut Rewriter<'_>, op: Op) -> bool {
    match applied(rw.module(), op) {
        Some(applied) if applied.exprs.len() == 1 => replace_with_map(rw, op, ApplyOp::INFO.name, &applied),
        _ => false,
    }
}

/// min(a, b, a) = min(a, b)
fn duplicates(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(old) = applied(rw.module(), op) else { return false };
    let mut new = old.clone();
    new.drop_duplicates();
    new != old && set_map(rw, op, "map", 0, &new)
}

/// min(min(a, b), c) = min(c, a, b)
fn merge(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(old) = applied(m, op) else { return false };
    let inner = |expr: &AffineExpr| {
        let def = m.defining_op(old.value_of(expr)?).filter(|&def| m.name(def) == m.name(op))?;
        applied(m, def)
    };
    let (mut exprs, mut merged) = (Vec::new(), Vec::new());
    for expr in &old.exprs {
        match inner(expr) {
            Some(inner) => merged.push(inner),
            None => exprs.push(expr.clone()),
        }
    }
    let size = merged.iter().fold(exprs.len(), |n, i| n + i.exprs.len());
    if merged.is_empty() || size > MAX_RESULTS.max(old.exprs.len()) {
        return false;
    }
    let (mut dims, mut symbols) = (old.dims().to_vec(), old.symbols().to_vec());
    for inner in &merged {
        let (d, s) = (dims.len() as u32, symbols.len() as u32);
        exprs.extend(inner.exprs.iter().map(|expr| {
            expr.map_leaves(|leaf| match *leaf {
                AffineExpr::Dim(dim) => AffineExpr::Dim(d + dim),
                AffineExpr::Symbol(symbol) => AffineExpr::Symbol(s + symbol),
                _ => leaf.clone(),
            })
        }));
        dims.extend(inner.dims());
        symbols.extend(inner.symbols());
    }
    let (num_dims, num_symbols) = (dims.len() as u32, symbols.len() as u32);
    let new = AffineValueMap { num_dims, num_symbols, exprs, operands: [dims, symbols].concat() };
    set_map(rw, op, "map", 0, &new)
}

/// Maximum number of expressions after merging, which can double their number at each step.
const MAX_RESULTS: usize = 1024;

/// Composes the `affine.apply` ops that compute the operands, and simplifies.
fn compose(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(old) = applied(m, op) else { return false };
    let mut new = old.clone();
    new.simplify_all(m);
    new != old && set_map(rw, op, "map", 0, &new)
}

/// Sorts the expressions by their coefficients, if all are linear.
fn order(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(mut applied) = applied(rw.module(), op) else { return false };
    let mut rows = Vec::new();
    for expr in &applied.exprs {
        let linear = expr.is_pure_affine().then(|| expr.linear(applied.num_dims, applied.num_symbols));
        let Some(linear) = linear.flatten() else { return false };
        rows.push((linear, expr.clone()));
    }
    if rows.is_sorted_by(|a, b| compare(&a.0, &b.0).is_le()) {
        return false;
    }
    rows.sort_by(|a, b| compare(&a.0, &b.0));
    applied.exprs = rows.into_iter().map(|row| row.1).collect();
    set_map(rw, op, "map", 0, &applied)
}

/// Compares coefficients, zeros included, then constants.
fn compare(a: &Linear, b: &Linear) -> Ordering {
    let (mut left, mut right) = (a.terms.iter().peekable(), b.terms.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return a.constant.cmp(&b.constant),
            (Some((i, c)), Some((j, d))) if i == j => c.cmp(d),
            (Some((i, c)), Some((j, _))) if i < j => (**c).cmp(&0),
            (Some((_, c)), None) => (**c).cmp(&0),
            (_, Some((_, d))) => 0.cmp(*d),
        };
        if order.is_ne() {
            return order;
        }
        left.next();
        right.next();
    }
}
