//! Canonicalization of `extract` and `insert`.

use super::{ExtractOp, InsertOp, positions, replace_by_extract, source_and_positions, sources, static_positions};
use crate::vector::build::{self, delinearize, linear, numbers, replace_by_poison};
use crate::vector::reshape::{broadcastable, replace_by_broadcast, replace_by_shape_cast};
use crate::vector::types::{count, ints, is_scalable, scalables, shape};
use crate::vector::{BroadcastOp, FromElementsOp, ShapeCastOp, ToElementsOp, TransposeOp};
use crate::views::{Mixed, add_mixed, fold_entries};
use gradus_ir::{Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value};

pub(super) const EXTRACT: &[Pattern] = &[
    Pattern { name: "constant positions", run: constant_positions },
    Pattern { name: "poison position", run: poison_position },
    Pattern { name: "extract of extract", run: of_extract },
    Pattern { name: "extract of insert", run: of_insert },
    Pattern { name: "extract of broadcast", run: of_broadcast },
    Pattern { name: "extract of transpose", run: of_transpose },
    Pattern { name: "extract of shape_cast", run: of_shape_cast },
    Pattern { name: "extract of slice", run: sources::of_slice },
    Pattern { name: "extract of inserted slice", run: sources::of_inserted_slice },
    Pattern { name: "extract of elements", run: sources::of_elements },
    Pattern { name: "extract of shuffle", run: sources::of_shuffle },
    Pattern { name: "extract of mask", run: sources::of_mask },
];

pub(super) const INSERT: &[Pattern] = &[
    Pattern { name: "constant positions", run: constant_positions },
    Pattern { name: "poison position", run: poison_position },
    Pattern { name: "insert over insert", run: over_insert },
    Pattern { name: "insert to broadcast", run: to_broadcast },
    Pattern { name: "inserts to elements", run: to_elements },
];

/// Makes constant in-bounds positions static.
fn constant_positions(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let before = positions(m, op);
    let mut at = before.clone();
    fold_entries(m, &mut at, false);
    let vector = if ExtractOp::cast(m, op).is_some() { ExtractOp(op).source(m) } else { InsertOp(op).dest(m) };
    let extents = shape(&m.ctx, m.value_type(vector));
    for (entry, (old, &extent)) in at.iter_mut().zip(before.iter().zip(extents)) {
        if !matches!(entry, Mixed::Static(n) if *n < extent) {
            *entry = *old;
        }
    }
    if at == before {
        return false;
    }
    let mut state = OpState::of(m.name(op), m.loc(op));
    let fixed = if ExtractOp::cast(m, op).is_some() { 1 } else { 2 };
    state.operands.extend_from_slice(&m.operands(op)[..fixed]);
    add_mixed(&m.ctx, &mut state, "static_position", &at);
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}

fn poison_position(r: &mut Rewriter<'_>, op: Op) -> bool {
    let poison = positions(r.module(), op).contains(&Mixed::Static(-1));
    poison && replace_by_poison(r, op)
}

fn of_extract(r: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((first, at)) = source_and_positions::<ExtractOp>(r.module(), op) else { return false };
    let (source, mut all) = (first.source(r.module()), positions(r.module(), first.0));
    all.extend(at);
    replace_by_extract(r, op, source, &all)
}

fn of_insert(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((insert, at)) = source_and_positions::<InsertOp>(m, op) else { return false };
    let its = positions(m, insert.0);
    let apart = |(a, b): (&Mixed, &Mixed)| matches!((a, b), (Mixed::Static(a), Mixed::Static(b)) if a != b);
    if at.iter().zip(&its).any(apart) {
        let dest = insert.dest(m);
        return replace_by_extract(r, op, dest, &at);
    }
    match at.strip_prefix(its.as_slice()) {
        Some(inside) => {
            let value = insert.value_to_store(m);
            m.ctx.is_shaped(m.value_type(value)) && replace_by_extract(r, op, value, inside)
        }
        None => false,
    }
}

fn of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((broadcast, at)) = source_and_positions::<BroadcastOp>(m, op) else { return false };
    let source = broadcast.source(m);
    let (from, ty) = (m.value_type(source), m.value_type(m.result(op, 0)));
    let extents = shape(&m.ctx, from);
    let leading = shape(&m.ctx, m.value_type(broadcast.vector(m))).len() - extents.len();
    if at.len() > leading || (at.len() == leading && !m.ctx.is_shaped(ty)) {
        let own: Vec<Mixed> = at[leading..]
            .iter()
            .zip(extents)
            .map(|(&entry, &extent)| if extent == 1 { Mixed::Static(0) } else { entry })
            .collect();
        return replace_by_extract(r, op, source, &own);
    }
    broadcastable(&m.ctx, from, ty).is_ok() && replace_by_broadcast(r, op, source)
}

fn of_transpose(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((transpose, at)) = source_and_positions::<TransposeOp>(m, op) else { return false };
    let order = ints(m, transpose.0, "permutation");
    let (taken, rest) = order.split_at(at.len());
    if !rest.iter().enumerate().all(|(i, &d)| d == (at.len() + i) as i64) {
        return false;
    }
    let mut own = at.clone();
    taken.iter().zip(at).for_each(|(&dim, entry)| own[dim as usize] = entry);
    let source = transpose.vector(m);
    replace_by_extract(r, op, source, &own)
}

fn of_shape_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (ctx, Some(at)) = (&m.ctx, static_positions(m, op)) else { return false };
    let Some(cast) = ShapeCastOp::defining(m, ExtractOp(op).source(m)) else { return false };
    let source = cast.source(m);
    let (from, to, ty) = (m.value_type(source), m.value_type(cast.result(m)), m.value_type(m.result(op, 0)));
    if ctx.is_shaped(ty) && count(ctx, from) == count(ctx, ty) && scalables(ctx, from) == scalables(ctx, ty) {
        return replace_by_shape_cast(r, op, source);
    }
    if is_scalable(ctx, from) || !build::ends_with(ctx, from, ty) {
        return false;
    }
    let extents = shape(ctx, from);
    let leading = &extents[..extents.len() - shape(ctx, ty).len()];
    let own = delinearize(leading, linear(shape(ctx, to), &at) / count(ctx, ty));
    replace_by_extract(r, op, source, &numbers(&own))
}

/// Bypasses an earlier insertion at the same position.
fn over_insert(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = InsertOp::defining(m, InsertOp(op).dest(m)) else { return false };
    if positions(m, first.0) != positions(m, op) {
        return false;
    }
    let before = first.dest(m);
    r.modify(op, |m| m.set_operand(op, 1, before));
    true
}

/// Replaces an insertion of the whole vector by the vector.
fn to_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (value, ty) = (InsertOp(op).value_to_store(m), m.value_type(m.result(op, 0)));
    let from = m.value_type(value);
    let whole = count(&m.ctx, from) == count(&m.ctx, ty) && !is_scalable(&m.ctx, ty);
    let inside = static_positions(m, op).is_some();
    whole && inside && broadcastable(&m.ctx, from, ty).is_ok() && replace_by_broadcast(r, op, value)
}

/// Replaces a chain of insertions of all elements by `vector.from_elements`.
fn to_elements(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let total = usize::try_from(count(&m.ctx, ty)).unwrap_or(usize::MAX);
    let last = !m.uses(m.result(op, 0)).any(|(user, i)| i == 1 && InsertOp::cast(m, user).is_some());
    if !last || is_scalable(&m.ctx, ty) || total > MAX_ELEMENTS {
        return false;
    }
    let Some(parts) = inserted_parts(m, InsertOp(op), total) else { return false };
    let mut elements: Vec<Option<Value>> = vec![None; total];
    for (value, range) in parts {
        let scalars: Vec<Value> = if r.module().ctx.is_shaped(r.module().value_type(value)) {
            let mut state = OpState::new(&r.module().ctx, ToElementsOp::INFO.name, r.module().loc(op));
            state.operand_group(&[value]);
            let Ok(new) = r.create_before(op, state) else { return false };
            r.module().results(new).collect()
        } else {
            vec![value]
        };
        elements[range].iter_mut().zip(scalars).for_each(|(slot, scalar)| *slot = slot.or(Some(scalar)));
    }
    let Some(elements) = elements.into_iter().collect::<Option<Vec<Value>>>() else { return false };
    let mut state = OpState::new(&r.module().ctx, FromElementsOp::INFO.name, r.module().loc(op));
    state.operand_group(&elements);
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

/// Maximum number of elements for conversion to `vector.from_elements`.
const MAX_ELEMENTS: usize = 1024;

/// Returns the sub-vectors inserted by a chain, last one first, with their positions. `None` if they do not cover the
/// vector.
fn inserted_parts(m: &Module, last: InsertOp, total: usize) -> Option<Vec<(Value, std::ops::Range<usize>)>> {
    let (mut parts, mut known, mut missing) = (Vec::new(), vec![false; total], total);
    let mut insert = last;
    loop {
        let at = static_positions(m, insert.0)?;
        let value = insert.value_to_store(m);
        // As in MLIR, a vector of unknown length may be inserted into one of fixed length.
        if is_scalable(&m.ctx, m.value_type(value)) {
            return None;
        }
        let len = usize::try_from(count(&m.ctx, m.value_type(value))).ok()?;
        let start = usize::try_from(linear(shape(&m.ctx, m.value_type(insert.dest(m))), &at)).ok()?;
        let fresh = known[start..start + len].iter_mut().filter(|k| !**k).map(|k| *k = true).count();
        if fresh > 0 {
            parts.push((value, start..start + len));
        }
        missing -= fresh;
        if missing == 0 {
            return Some(parts);
        }
        insert = InsertOp::defining(m, insert.dest(m)).filter(|i| m.has_one_use(i.result(m)))?;
    }
}
