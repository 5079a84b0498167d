//! Canonicalization of `from_elements` and `to_elements`.

use super::{FromElementsOp, ToElementsOp};
use crate::vector::build::{delinearize, linear, numbers};
use crate::vector::element::{ExtractOp, create_extract, static_positions};
use crate::vector::reshape::{BroadcastOp, replace_by_broadcast, replace_by_shape_cast, splat_of};
use crate::vector::types::{count, is_scalable, shape};
use gradus_ir::{
    Attr, Def, FoldResult, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value,
};

pub(super) const FROM_ELEMENTS: &[Pattern] = &[
    Pattern { name: "elements of one scalar", run: of_one_scalar },
    Pattern { name: "elements of a vector", run: of_vector },
    Pattern { name: "elements extracted in order", run: of_extracts },
];

pub(super) const TO_ELEMENTS: &[Pattern] = &[Pattern { name: "elements of broadcast", run: elements_of_broadcast }];

/// Returns the vector whose elements these are, all and in order.
fn taken_apart(m: &Module, elements: &[Value]) -> Option<Value> {
    let op = ToElementsOp::defining(m, *elements.first()?)?;
    let in_order = |(i, &v): (usize, &Value)| m.def(v) == Def::Result(op.0, i as u32);
    let all = m.num_results(op.0) == elements.len() && elements.iter().enumerate().all(in_order);
    all.then(|| op.source(m))
}

pub(super) fn fold_from_elements(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let source = taken_apart(args.module, args.operands)?;
    (Some(&args.module.value_type(source)) == args.result_types.first()).then(|| source.into())
}

pub(super) fn fold_to_elements(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (m, source) = (args.module, args.operands[0]);
    if let Some(from) = FromElementsOp::defining(m, source) {
        return Some(Folded::Results(from.elements(m).into_iter().map(FoldResult::Value).collect()));
    }
    let scalar = splat_of(m, source)?;
    Some(Folded::Results(vec![FoldResult::Value(scalar); args.result_types.len()]))
}

fn of_one_scalar(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let elements = m.operands(op);
    let Some(&first) = elements.first() else { return false };
    elements.iter().all(|&v| v == first) && replace_by_broadcast(r, op, first)
}

fn of_vector(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(source) = taken_apart(m, m.operands(op)) else { return false };
    replace_by_shape_cast(r, op, source)
}

/// Replaces consecutive elements of a vector by a slice.
fn of_extracts(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (ctx, elements) = (&m.ctx, m.operands(op));
    let Some(source) = elements.first().and_then(|&v| ExtractOp::defining(m, v)).map(|e| e.source(m)) else {
        return false;
    };
    let ty = m.value_type(source);
    let (extents, len) = (shape(ctx, ty), elements.len() as i64);
    let place = |&v: &Value| {
        let extract = ExtractOp::defining(m, v).filter(|e| e.source(m) == source)?;
        let at = static_positions(m, extract.0).filter(|at| at.len() == extents.len())?;
        Some(linear(extents, &at))
    };
    let Some(places) = elements.iter().map(place).collect::<Option<Vec<i64>>>() else { return false };
    let start = places[0];
    if is_scalable(ctx, ty) || start % len != 0 || !places.iter().zip(start..).all(|(&n, want)| n == want) {
        return false;
    }
    let rest = |i: &usize| extents[*i..].iter().product::<i64>() == len;
    let Some(leading) = (0..=extents.len()).find(rest) else { return false };
    let at = numbers(&delinearize(&extents[..leading], start / len));
    let part = if at.is_empty() { Some(source) } else { create_extract(r, op, source, &at) };
    part.is_some_and(|part| {
        let vector = r.module().ctx.is_shaped(r.module().value_type(part));
        if vector { replace_by_shape_cast(r, op, part) } else { replace_by_broadcast(r, op, part) }
    })
}

/// Decomposes a broadcast into the elements of its source.
fn elements_of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(broadcast) = BroadcastOp::defining(m, ToElementsOp(op).source(m)) else { return false };
    let source = broadcast.source(m);
    let (from, to) = (m.value_type(source), m.value_type(broadcast.vector(m)));
    if !m.ctx.is_shaped(from) || is_scalable(&m.ctx, from) {
        return false;
    }
    let (own, all) = (shape(&m.ctx, from).to_vec(), shape(&m.ctx, to).to_vec());
    let total = count(&m.ctx, to);
    let mut state = OpState::new(&m.ctx, ToElementsOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    let Ok(new) = r.create_before(op, state) else { return false };
    let elements: Vec<Value> = r.module().results(new).collect();
    let leading = all.len() - own.len();
    let element = |n: i64| {
        let index = delinearize(&all, n);
        let at: Vec<i64> = index[leading..].iter().zip(&own).map(|(&i, &d)| i.min(d - 1)).collect();
        elements[linear(&own, &at) as usize]
    };
    let values: Vec<Value> = (0..total).map(element).collect();
    r.replace(op, &values);
    true
}
