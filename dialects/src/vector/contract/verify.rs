//! Verifiers of `contract` and `outerproduct`.

use super::{ContractionOp, OuterProductOp, dims, loop_extents, maps_of};
use crate::vector::reduce::{is_supported, kind_of};
use crate::vector::types::{check, same_element, scalable, shape, vector, vector_type};
use gradus_ir::affine::AffineMap;
use gradus_ir::{Context, Module, Op, Signedness, Type, TypeData, Violation};

pub(super) fn verify_contract(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ContractionOp(op), &m.ctx);
    same_element(m, this.lhs(m), this.rhs(m), "lhs and rhs")?;
    let types = [this.lhs(m), this.rhs(m), this.acc(m)].map(|v| m.value_type(v));
    let elem = ctx.element_type(types[0]);
    let signed = matches!(ctx.type_data(elem), TypeData::Integer { sign, .. } if *sign != Signedness::Signless);
    check(!signed, || "only supports signless integer types".into())?;
    let listed = this.indexing_maps(m).and_then(|a| ctx.as_array(a)).map_or(0, <[_]>::len);
    check(listed == 3, || "expected an indexing map for each vector operand".into())?;
    let maps = maps_of(ctx, this.indexing_maps(m));
    let reductions = reductions(m, op);
    for (i, &ty) in types.iter().enumerate() {
        let Some(map) = maps.get(i) else { return Err(format!("expected indexing map {i} to have no symbols").into()) };
        verify_map(map, i, reductions.len(), shape(ctx, ty).len())?;
    }
    let pairs = shared_dims(&maps, &reductions, true);
    check(!pairs.is_empty(), || "expected at least one contracting dimension pair".into())?;
    let same = |&(a, b): &(usize, usize)| shape(ctx, types[0])[a] == shape(ctx, types[1])[b];
    check(pairs.iter().all(same), || "invalid contracting dimension map".into())?;
    let batch = shared_dims(&maps, &reductions, false);
    check(batch.iter().all(same), || "invalid batch dimension map".into())?;
    verify_output(ctx, &maps, &types, m.value_type(this.result(m)), &pairs, &batch)?;
    let sums = ctx.element_type(m.value_type(this.result(m)));
    check(is_supported(ctx, &kind_of(m, op), sums), || "unsupported contraction type".into())?;
    verify_all_used(ctx, &maps)
}

/// Returns which dimensions are reductions.
fn reductions(m: &Module, op: Op) -> Vec<bool> {
    let types = m.inherent_attr(op, "iterator_types").and_then(|a| m.ctx.as_array(a)).unwrap_or(&[]);
    types.iter().map(|&a| crate::vector::types::word(&m.ctx, a) == "reduction").collect()
}

fn verify_map(map: &AffineMap, i: usize, inputs: usize, rank: usize) -> Result<(), Violation> {
    check(map.num_symbols == 0, || format!("expected indexing map {i} to have no symbols"))?;
    check(map.num_dims as usize == inputs, || format!("expected indexing map {i} to have {inputs} number of inputs"))?;
    check(map.results.len() == rank, || format!("expected indexing map {i} to have {rank} number of outputs"))?;
    let dims = dims(map);
    let once = |(i, d): (usize, &Option<usize>)| d.is_some() && !dims[..i].contains(d);
    check(dims.iter().enumerate().all(once), || {
        format!("expected indexing map {i} to be a projected permutation of its inputs")
    })
}

/// Returns the dimensions common to both factors, either contracted or batch, as positions in each.
fn shared_dims(maps: &[&AffineMap], reductions: &[bool], combined: bool) -> Vec<(usize, usize)> {
    let [lhs, rhs, out] = [0, 1, 2].map(|i| dims(maps[i]));
    let shared = |(i, d): (usize, &Option<usize>)| {
        let wanted = d.is_some_and(|d| reductions[d]) == combined && (combined || out.contains(d));
        let j = rhs.iter().position(|other| other == d)?;
        wanted.then_some((i, j))
    };
    lhs.iter().enumerate().filter_map(shared).collect()
}

fn verify_output(
    ctx: &Context,
    maps: &[&AffineMap],
    types: &[Type; 3],
    result: Type,
    pairs: &[(usize, usize)],
    batch: &[(usize, usize)],
) -> Result<(), Violation> {
    let lhs = shape(ctx, types[0]).len() - pairs.len();
    let rhs = shape(ctx, types[1]).len() - pairs.len() - batch.len();
    let invalid = || "invalid accumulator/result vector shape".to_owned();
    let vectors = [types[2], result].map(|t| vector(ctx, t).is_some());
    if lhs + rhs == 0 {
        return check(vectors == [false; 2], invalid);
    }
    check(vectors == [true; 2], invalid)?;
    let extents = loop_extents(ctx, maps, types);
    check(extents.iter().all(Option::is_some), || {
        "expected all dimensions to be either a LHS or a RHS dimension".into()
    })?;
    let want: Vec<(i64, bool)> = dims(maps[2]).into_iter().filter_map(|d| *extents.get(d?)?).collect();
    let (sizes, flags): (Vec<i64>, Vec<bool>) = want.into_iter().unzip();
    let want = vector_type(ctx, &sizes, &flags, ctx.element_type(result));
    check(result == want && types[2] == want, || {
        format!("invalid accumulator/result vector shape, expected: '{}'", ctx.display_type(want))
    })
}

/// Verifies that every dimension occurs in an operand.
fn verify_all_used(ctx: &Context, maps: &[&AffineMap]) -> Result<(), Violation> {
    let used: Vec<Option<usize>> = maps.iter().flat_map(|map| dims(map)).collect();
    check((0..maps[0].num_dims as usize).all(|d| used.contains(&Some(d))), || {
        let results: Vec<_> = maps.iter().flat_map(|map| map.results.iter().cloned()).collect();
        let all = ctx.attr(gradus_ir::AttrData::AffineMap(Box::new(AffineMap::new(maps[0].num_dims, 0, results))));
        let text = ctx.display_attr(all);
        let text = text.trim_start_matches("affine_map<").trim_end_matches('>');
        format!("invalid indexing maps are non-invertible: ({text})")
    })
}

pub(super) fn verify_outer_product(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (OuterProductOp(op), &m.ctx);
    same_element(m, this.lhs(m), this.result(m), "lhs operand and result")?;
    same_element(m, this.rhs(m), this.result(m), "rhs operand and result")?;
    let [lhs, rhs, result] = [this.lhs(m), this.rhs(m), this.result(m)].map(|v| m.value_type(v));
    let (a, out) = (shape(ctx, lhs), shape(ctx, result));
    check(a.len() == 1, || "expected 1-d vector for operand #1".into())?;
    let first = || check(a[0] == out[0], || "expected #1 operand dim to match result dim #1".into());
    match vector(ctx, rhs) {
        Some((b, flags, _)) => {
            check(b.len() == 1, || "expected 1-d vector for operand #2".into())?;
            check(out.len() == 2, || "expected 2-d vector result".into())?;
            first()?;
            check(b[0] == out[1], || "expected #2 operand dim to match result dim #2".into())?;
            check(flags[0] || !scalable(ctx, lhs)[0], || {
                "expected either both or only #2 operand dim to be scalable".into()
            })?;
        }
        None => {
            check(out.len() == 1, || "expected 1-d vector result".into())?;
            first()?;
        }
    }
    let flags = [lhs, rhs].into_iter().flat_map(|ty| scalable(ctx, ty)).copied();
    check(flags.eq(scalable(ctx, result).iter().copied()), || {
        "expected result dims to be scalable where the operand dims are".into()
    })?;
    let acc = this.acc(m).map(|v| m.value_type(v));
    check(acc.is_none_or(|acc| acc == result), || "expected operand #3 of same type as result type".into())?;
    let kind = kind_of(m, op);
    check(is_supported(ctx, &kind, ctx.element_type(result)), || "unsupported outerproduct type".into())
}
