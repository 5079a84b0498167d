//! Canonicalization of `affine.linearize_index` and `affine.delinearize_index`.

use super::{DelinearizeIndexOp, LinearizeIndexOp};
use crate::affine::ApplyOp;
use crate::affine::value_map::map_attr;
use crate::views::{Mixed, add_mixed, fold_entries, split};
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::{Attr, Loc, Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type, Value};

/// Patterns of `affine.delinearize_index`.
pub(super) const DELINEARIZE: &[Pattern] = &[
    Pattern { name: "delinearize-constant-basis", run: constant_basis },
    Pattern { name: "delinearize-linearize-tail", run: cancel_tail },
    Pattern { name: "delinearize-unit-basis", run: drop_units },
    Pattern { name: "delinearize-linearize-split", run: split_last },
];

/// Patterns of `affine.linearize_index`.
pub(super) const LINEARIZE: &[Pattern] = &[
    Pattern { name: "linearize-constant-basis", run: constant_basis },
    Pattern { name: "linearize-delinearize-run", run: cancel_runs },
    Pattern { name: "linearize-leading-zero", run: drop_leading_zero },
    Pattern { name: "linearize-unit-basis", run: drop_unit_components },
];

/// Creates an `affine.delinearize_index` before `at`, with an extra outermost result unless `outer`.
fn make_delinearize(rw: &mut Rewriter<'_>, at: Op, loc: Loc, index: Value, basis: &[Mixed], outer: bool) -> Option<Op> {
    let ctx = rw.module().ctx.clone();
    let mut state = OpState::new(&ctx, DelinearizeIndexOp::INFO.name, loc);
    state.operand_group(&[index]);
    add_mixed(&ctx, &mut state, "static_basis", basis);
    state.result_types.extend(std::iter::repeat_n(Type::INDEX, basis.len() + usize::from(!outer)));
    rw.create_before(at, state).ok()
}

fn linearize_state(m: &Module, loc: Loc, indices: &[Value], basis: &[Mixed], disjoint: bool) -> OpState {
    let mut state = OpState::new(&m.ctx, LinearizeIndexOp::INFO.name, loc);
    state.operand_group(indices);
    add_mixed(&m.ctx, &mut state, "static_basis", basis);
    state.inherent(&m.ctx, "disjoint", disjoint.then_some(Attr::UNIT));
    state.result_types.push(Type::INDEX);
    state
}

fn make_linearize(
    rw: &mut Rewriter<'_>,
    at: Op,
    loc: Loc,
    indices: &[Value],
    basis: &[Mixed],
    disjoint: bool,
) -> Option<Value> {
    let state = linearize_state(rw.module(), loc, indices, basis, disjoint);
    let op = rw.create_before(at, state).ok()?;
    Some(rw.module().result(op, 0))
}

/// Makes constant sizes static.
fn constant_basis(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let (mut basis, mut groups) = match (DelinearizeIndexOp::cast(m, op), LinearizeIndexOp::cast(m, op)) {
        (Some(op), _) => (op.basis(m), vec![vec![op.linear_index(m)]]),
        (_, Some(op)) => (op.basis(m), vec![op.multi_index(m).to_vec()]),
        _ => return false,
    };
    if !fold_entries(m, &mut basis, false) || basis.contains(&Mixed::Static(0)) {
        return false;
    }
    let (statics, values) = split(&basis);
    groups.push(values);
    let ctx = m.ctx.clone();
    let sizes: Vec<i32> = groups.iter().map(|group| group.len() as i32).collect();
    let is_linearize = LinearizeIndexOp::cast(m, op).is_some();
    rw.modify(op, |m| {
        m.set_attr(op, "static_basis", Some(ctx.i64_array_attr(&statics)));
        if is_linearize {
            m.set_attr(op, "operandSegmentSizes", Some(ctx.i32_array_attr(&sizes)));
        }
        m.set_operands(op, &groups.concat());
    });
    true
}

/// Returns the disjoint `affine.linearize_index` that defines the linear index.
fn disjoint_source(m: &Module, op: Op) -> Option<LinearizeIndexOp> {
    let source = LinearizeIndexOp::defining(m, DelinearizeIndexOp(op).linear_index(m))?;
    source.is_disjoint(m).then_some(source)
}

/// Cancels equal trailing sizes of a delinearization of a linearization.
fn cancel_tail(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = DelinearizeIndexOp(op);
    let Some(source) = disjoint_source(m, op) else { return false };
    let (inner, outer) = (source.basis(m), this.basis(m));
    let equal = inner.iter().rev().zip(outer.iter().rev()).take_while(|(a, b)| a == b).count();
    if equal == 0 {
        return false;
    }
    let indices = source.multi_index(m).to_vec();
    let (n, has_outer) = (m.num_results(op), outer.len() == m.num_results(op));
    if equal == inner.len() && equal == outer.len() && indices.len() == n {
        rw.replace(op, &indices);
        return true;
    }
    let (locs, kept) = ((m.loc(source.0), m.loc(op)), indices.len() - equal);
    let rest = &inner[..inner.len() - equal];
    let Some(position) = make_linearize(rw, op, locs.0, &indices[..kept], rest, true) else { return false };
    let split = make_delinearize(rw, op, locs.1, position, &outer[..outer.len() - equal], has_outer);
    let Some(split) = split else { return false };
    let values: Vec<Value> = rw.module().results(split).chain(indices[kept..].iter().copied()).collect();
    rw.replace(op, &values);
    true
}

/// Replaces indices of unit dimensions by zero.
fn drop_units(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = DelinearizeIndexOp(op);
    let basis = this.padded_basis(m);
    let is_unit = |size: &Option<Mixed>| *size == Some(Mixed::Static(1));
    if !basis.iter().any(is_unit) {
        return false;
    }
    let (index, loc) = (this.linear_index(m), m.loc(op));
    let zero = m.ctx.int_attr(Type::INDEX, 0);
    let kept: Vec<Mixed> = basis.iter().filter(|size| !is_unit(size)).filter_map(|size| *size).collect();
    let has_outer = basis.iter().find(|size| !is_unit(size)).is_none_or(Option::is_some);
    let Some(zero) = rw.constant(op, zero, Type::INDEX) else { return false };
    let split =
        if kept.is_empty() && has_outer { None } else { make_delinearize(rw, op, loc, index, &kept, has_outer) };
    let mut results = split.into_iter().flat_map(|split| rw.module().results(split)).collect::<Vec<_>>().into_iter();
    let values: Vec<Value> =
        basis.iter().map(|size| if is_unit(size) { zero } else { results.next().unwrap_or(zero) }).collect();
    rw.replace(op, &values);
    true
}

/// Splits the last linearized index if the trailing sizes multiply to its size.
fn split_last(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(source) = disjoint_source(m, op) else { return false };
    let (inner, outer) = (source.basis(m), DelinearizeIndexOp(op).basis(m));
    let Some(&Mixed::Static(target)) = inner.last() else { return false };
    let (mut product, mut count) = (1i64, 0);
    for size in outer.iter().rev() {
        let Mixed::Static(size) = size else { return false };
        product = product.saturating_mul(*size);
        count += 1;
        if product >= target {
            break;
        }
    }
    if product != target || count < 2 {
        return false;
    }
    let has_outer = outer.len() == m.num_results(op);
    let indices = source.multi_index(m).to_vec();
    let (locs, (&last, front)) = ((m.loc(source.0), m.loc(op)), indices.split_last().expect("there is a size for it"));
    let (rest, tail) = outer.split_at(outer.len() - count);
    let Some(position) = make_linearize(rw, op, locs.0, front, &inner[..inner.len() - 1], true) else { return false };
    let Some(first) = make_delinearize(rw, op, locs.1, position, rest, has_outer) else { return false };
    let Some(second) = make_delinearize(rw, op, locs.1, last, tail, true) else { return false };
    let m = rw.module();
    let values: Vec<Value> = m.results(first).chain(m.results(second)).collect();
    rw.replace(op, &values);
    true
}

/// Removes a leading zero index.
fn drop_leading_zero(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = LinearizeIndexOp(op);
    let indices = this.multi_index(m);
    let (Some(&first), basis) = (indices.first(), this.basis(m)) else { return false };
    if m.constant_int(first) != Some(0) {
        return false;
    }
    let rest = if basis.len() == indices.len() { &basis[1..] } else { &basis[..] };
    let state = linearize_state(m, m.loc(op), &indices[1..], rest, this.is_disjoint(m));
    rw.replace_with(op, state).is_ok()
}

/// Removes the index of a unit dimension if it is zero or guaranteed in bounds.
fn drop_unit_components(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = LinearizeIndexOp(op);
    let (indices, basis, disjoint) = (this.multi_index(m), this.padded_basis(m), this.is_disjoint(m));
    let adds = |(index, size): &(&Value, &Option<Mixed>)| {
        **size != Some(Mixed::Static(1)) || !(disjoint || m.constant_int(**index) == Some(0))
    };
    let kept: Vec<(Value, Option<Mixed>)> = indices.iter().zip(&basis).filter(adds).map(|(&v, &s)| (v, s)).collect();
    if kept.len() == indices.len() {
        return false;
    }
    let values: Vec<Value> = kept.iter().map(|k| k.0).collect();
    let sizes: Vec<Mixed> = kept.iter().filter_map(|k| k.1).collect();
    let state = linearize_state(m, m.loc(op), &values, &sizes, disjoint);
    rw.replace_with(op, state).is_ok()
}

/// Consecutive indices that are consecutive results of one `affine.delinearize_index`.
#[derive(Clone)]
struct IndexRun {
    source: DelinearizeIndexOp,
    /// Position among the indices, position among the results, and length.
    at: usize,
    from: usize,
    len: usize,
}

/// Merges indices that were split by the same sizes.
fn cancel_runs(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = LinearizeIndexOp(op);
    let Some(run) = find_run(m, this) else { return false };
    let (disjoint, loc) = (this.is_disjoint(m), m.loc(op));
    let (before, whole) = (run.source.0, run.len == m.num_results(run.source.0));
    let own: Vec<Option<Mixed>> = this.padded_basis(m)[run.at..run.at + run.len].to_vec();
    let its: Vec<Option<Mixed>> = run.source.padded_basis(m)[run.from..run.from + run.len].to_vec();
    let position = run.source.linear_index(m);
    // A size that only this op has may be defined after the source.
    let Some(size) = product(rw, if own == its { before } else { op }, loc, &own) else { return false };
    let index = if whole {
        Some(position)
    } else {
        let size = if own == its { Some(size) } else { product(rw, before, loc, &its) };
        size.and_then(|size| join(rw, &run, &its, size))
    };
    let Some(index) = index else { return false };
    // Read now, since `join` replaced the results of the source, of which others may be operands too.
    let m = rw.module();
    let (mut indices, mut basis) = (this.multi_index(m).to_vec(), this.padded_basis(m));
    indices.splice(run.at..run.at + run.len, [index]);
    basis.splice(run.at..run.at + run.len, [size]);
    let basis: Vec<Mixed> = basis.into_iter().flatten().collect();
    let state = linearize_state(rw.module(), loc, &indices, &basis, disjoint);
    rw.replace_with(op, state).is_ok()
}

/// Returns the first run of at least two indices.
fn find_run(m: &Module, this: LinearizeIndexOp) -> Option<IndexRun> {
    let (indices, basis) = (this.multi_index(m), this.padded_basis(m));
    let mut at = 0;
    while at < indices.len() {
        let Some(source) = DelinearizeIndexOp::defining(m, indices[at]) else {
            at += 1;
            continue;
        };
        let results: Vec<Value> = m.results(source.0).collect();
        let sizes = source.padded_basis(m);
        let from = results.iter().position(|&r| r == indices[at])?;
        // Outermost sizes do not matter, and `disjoint` implies an omitted size.
        let first = sizes[from] == basis[at] || (at == 0 && from == 0);
        if first || (this.is_disjoint(m) && from == 0 && sizes[0].is_none()) {
            let more =
                indices[at + 1..].iter().zip(&basis[at + 1..]).zip(results[from + 1..].iter().zip(&sizes[from + 1..]));
            let len = 1 + more.take_while(|((i, b), (r, s))| i == r && b == s).count();
            if len > 1 {
                return Some(IndexRun { source, at, from, len });
            }
        }
        at += 1;
    }
    None
}

/// Returns the product of sizes; `Some(None)` if one is omitted.
fn product(rw: &mut Rewriter<'_>, at: Op, loc: Loc, sizes: &[Option<Mixed>]) -> Option<Option<Mixed>> {
    let Some(sizes) = sizes.iter().copied().collect::<Option<Vec<Mixed>>>() else { return Some(None) };
    let mut values = Vec::new();
    let product = sizes.iter().fold(AffineExpr::Constant(1), |product, size| {
        product
            * match *size {
                Mixed::Static(n) => AffineExpr::Constant(n),
                Mixed::Dynamic(value) => {
                    values.push(value);
                    AffineExpr::Symbol(values.len() as u32 - 1)
                }
            }
    });
    if let Some(n) = product.constant() {
        return Some(Some(Mixed::Static(n)));
    }
    if values.is_empty() {
        // The product overflows.
        return None;
    }
    let ctx = rw.module().ctx.clone();
    let mut state = OpState::new(&ctx, ApplyOp::INFO.name, loc);
    state.operands.extend(values.iter().copied());
    let map = AffineMap::new(0, values.len() as u32, [product]);
    state.inherent(&ctx, "map", Some(map_attr(&ctx, map)));
    let apply = rw.create_before(at, state).ok()?;
    Some(Some(Mixed::Dynamic(rw.module().result(apply, 0))))
}

/// Replaces the source by a delinearization in which the run is one dimension, split again for other users. Returns the
/// merged index.
fn join(rw: &mut Rewriter<'_>, run: &IndexRun, sizes: &[Option<Mixed>], size: Option<Mixed>) -> Option<Value> {
    let m = rw.module();
    let (source, index, loc) = (run.source.0, run.source.linear_index(m), m.loc(run.source.0));
    let mut outer = run.source.padded_basis(m);
    outer.splice(run.from..run.from + run.len, [size]);
    let (has_outer, part_has_outer) = (outer[0].is_some(), sizes[0].is_some());
    let outer: Vec<Mixed> = outer.into_iter().flatten().collect();
    let inner: Vec<Mixed> = sizes.iter().flatten().copied().collect();
    let joined = make_delinearize(rw, source, loc, index, &outer, has_outer)?;
    let whole = rw.module().result(joined, run.from);
    let parts = make_delinearize(rw, source, loc, whole, &inner, part_has_outer)?;
    let m = rw.module();
    let results: Vec<Value> = m.results(joined).collect();
    let front = results[..run.from].iter().copied();
    let values: Vec<Value> = front.chain(m.results(parts)).chain(results[run.from + 1..].iter().copied()).collect();
    rw.replace(source, &values);
    Some(whole)
}
