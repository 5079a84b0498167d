//! Contractions: `contract`, `outerproduct`, `fma`.

mod text;
mod verify;

use super::data;
use super::masking::{is_masked, surrounding, unmasked};
use super::memory_exec::stored;
use super::reduce::{kind_at_run_time, kind_of};
use super::types::{FLOAT_VECTOR, ITERATOR_TYPES, KIND, MAPS, RANKED_VECTOR, scalable, shape};
use crate::arith;
use crate::constraint::ANY;
use gradus_ir::affine::AffineMap;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Attr, AttrData, Context, Op, OpArgs, OpDecl, OpInfo, OpState, Pattern, PatternRewriter, Rewriter, Traits, Type,
    TypeRelation, op,
};
use text::{CONTRACT, OUTER_PRODUCT};
use verify::{verify_contract, verify_outer_product};

/// Generalized contraction of two vectors: multiplies elements and combines products along reduction dimensions.
///
/// An indexing map per operand and the accumulator assigns iteration dimensions to vector dimensions.
///
/// ```mlir
/// %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
///                                        affine_map<(i, j, k) -> (i, j)>],
///                       iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c
///        : vector<4x8xf32>, vector<8x2xf32> into vector<4x2xf32>
/// ```
#[op(
    "vector.contract",
    directives = &[&CONTRACT],
    relations = &[TypeRelation::Derived {
        to: "result",
        from: "acc",
        of: |_, ty| Some(ty),
        summary: "third operand acc and result have same element type",
    }],
    verify = verify_contract,
    eval = |args, data| unmasked(args).and_then(|()| contract(args, data, None)),
    exec = contract_under_mask,
    traits = Traits::SEES_POISON,
    patterns = &[Pattern { name: "sum of contract", run: sum_of_contract }],
    format = "custom<Contract>($indexing_maps, $iterator_types, $kind, $lhs, $rhs, $acc, type($result))"
)]
pub struct ContractionOp {
    /// Left operand.
    lhs: Operand<RANKED_VECTOR>,
    /// Right operand.
    rhs: Operand<RANKED_VECTOR>,
    /// Accumulator.
    acc: Operand<ANY>,
    /// Indexing maps of the operands and the accumulator.
    indexing_maps: Attribute<MAPS>,
    /// Iterator type of each dimension: parallel or reduction.
    iterator_types: Attribute<ITERATOR_TYPES>,
    /// Combining kind.
    #[default = "#vector.kind<add>"]
    kind: Attribute<KIND>,
    /// Result.
    result: OpResult<ANY>,
}

/// Outer product of two vectors, or product of a vector and a scalar, combined with `acc` if present.
///
/// ```mlir
/// %0 = vector.outerproduct %a, %b : vector<4xf32>, vector<8xf32>
/// %1 = vector.outerproduct %a, %s, %c {kind = #vector.kind<maxnumf>} : vector<4xf32>, f32
/// ```
#[op(
    "vector.outerproduct",
    directives = &[&OUTER_PRODUCT],
    verify = verify_outer_product,
    eval = |args, data| unmasked(args).and_then(|()| outer_product(args, data, None)),
    exec = outer_product_under_mask,
    traits = Traits::SEES_POISON,
    format = "custom<OuterProduct>($lhs, $rhs, $acc, $kind, type($result))"
)]
pub struct OuterProductOp {
    /// Left operand.
    lhs: Operand<RANKED_VECTOR>,
    /// Right operand, a vector or scalar.
    rhs: Operand<ANY>,
    /// Accumulator.
    acc: OptOperand<ANY>,
    /// Combining kind.
    #[default = "#vector.kind<add>"]
    kind: Attribute<KIND>,
    /// Result.
    result: OpResult<RANKED_VECTOR>,
}

/// Fused multiply-add: `lhs * rhs + acc`, rounded once.
///
/// ```mlir
/// %0 = vector.fma %a, %b, %c : vector<4xf32>
/// ```
#[op(
    "vector.fma",
    relations = &[TypeRelation::Same(&["lhs", "rhs", "acc", "result"])],
    eval = fma,
    traits = Traits::SEES_POISON,
    format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"
)]
pub struct FMAOp {
    /// Factor.
    lhs: Operand<FLOAT_VECTOR>,
    /// Factor.
    rhs: Operand<FLOAT_VECTOR>,
    /// Summand.
    acc: Operand<FLOAT_VECTOR>,
    /// Result.
    result: OpResult<FLOAT_VECTOR>,
}

/// Returns the map of an attribute.
pub(super) fn map_of(ctx: &Context, attr: Attr) -> Option<&AffineMap> {
    match ctx.attr_data(attr) {
        AttrData::AffineMap(map) => Some(map),
        _ => None,
    }
}

/// Returns the maps of an attribute.
pub(super) fn maps_of(ctx: &Context, attr: Option<Attr>) -> Vec<&AffineMap> {
    let list = attr.and_then(|a| ctx.as_array(a)).unwrap_or(&[]);
    list.iter().filter_map(|&a| map_of(ctx, a)).collect()
}

/// Returns the dimension of each map result; `None` for other expressions.
pub(super) fn dims(map: &AffineMap) -> Vec<Option<usize>> {
    use gradus_ir::affine::AffineExpr;
    let dim = |e: &AffineExpr| match e {
        AffineExpr::Dim(d) => Some(*d as usize),
        _ => None,
    };
    map.results.iter().map(dim).collect()
}

/// Returns the extent of each dimension of a contraction, and whether it is scalable.
pub(super) fn loop_extents(ctx: &Context, maps: &[&AffineMap], types: &[Type]) -> Vec<Option<(i64, bool)>> {
    let mut extents = vec![None; maps.first().map_or(0, |map| map.num_dims as usize)];
    for (map, &ty) in maps.iter().zip(types).take(2) {
        for (dim, extent) in
            dims(map).into_iter().zip(shape(ctx, ty).iter().copied().zip(scalable(ctx, ty).iter().copied()))
        {
            if let Some(slot) = dim.and_then(|d| extents.get_mut(d)) {
                slot.get_or_insert(extent);
            }
        }
    }
    extents
}

fn fma(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    eval_op(&OpArgs { info: crate::math::FmaOp::INFO, ..*args }, data)
}

/// Returns the op that extends factors of type `from` to accumulators of type `to`.
fn promotion(ctx: &Context, from: Type, to: Type) -> Option<&'static OpInfo> {
    let (a, b) = (super::reshape::width(ctx, from), super::reshape::width(ctx, to));
    let floats = [from, to].map(|t| ctx.float_kind(t).is_some());
    match floats {
        [true, true] if a < b => Some(arith::ExtFOp::INFO),
        [false, false] if a < b => Some(arith::ExtSIOp::INFO),
        _ => None,
    }
}

/// Extends a factor element to the accumulator type.
fn promoted(args: &OpArgs<'_>, factor: usize, to: Type, value: Datum) -> Result<Datum, Trap> {
    let ctx = args.ctx();
    let from = ctx.element_type(args.operand_type(factor));
    if from == to {
        return Ok(value);
    }
    let info = promotion(ctx, from, to).ok_or_else(|| Trap::unsupported("factors and sums of these types"))?;
    let args = OpArgs { operands: &args.operands[factor..], ..*args };
    data::apply(&args, info, Attr::EMPTY_DICT, to, &[value])
}

/// Returns the extent of each dimension of a contraction.
fn loops(args: &OpArgs<'_>, maps: &[&AffineMap]) -> Result<Vec<usize>, Trap> {
    let mut extents = vec![1; maps[0].num_dims as usize];
    for (i, map) in maps.iter().take(2).enumerate() {
        for (dim, extent) in dims(map).into_iter().zip(data::extents(args.ctx(), args.operand_type(i))?) {
            extents[dim.unwrap_or(0)] = extent;
        }
    }
    if extents.iter().fold(1usize, |n, &d| n.saturating_mul(d)) > MAX_PRODUCTS {
        return Err(Trap::unknown(format!("contractions of more than {MAX_PRODUCTS} products")));
    }
    Ok(extents)
}

/// Maximum number of products that evaluation computes.
const MAX_PRODUCTS: usize = 1 << 24;

fn contract_under_mask(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    match surrounding(args, memory)? {
        None => eval_op(args, data),
        Some(_) if data.contains(&Datum::Poison) => Ok(vec![Datum::Poison]),
        Some(around) => contract(args, data, Some(&around.mask)),
    }
}

fn outer_product_under_mask(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    match surrounding(args, memory)? {
        None => eval_op(args, data),
        Some(_) if data.contains(&Datum::Poison) => Ok(vec![Datum::Poison]),
        Some(around) => outer_product(args, data, Some(&around.mask)),
    }
}

fn contract(args: &OpArgs<'_>, data: &[Datum], mask: Option<&[bool]>) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let elem = ctx.element_type(ty);
    let kind = kind_at_run_time(args, ty);
    let maps = maps_of(ctx, args.attr("indexing_maps"));
    let extents = loops(args, &maps)?;
    let shapes = [0, 1, 2].map(|i| data::extents(ctx, args.operand_type(i)));
    let [lhs, rhs, out] = shapes;
    let (lhs, rhs, out) = (lhs?, rhs?, out?);
    let list = |(datum, shape): (&Datum, &Vec<usize>)| stored(datum, shape.iter().product());
    let mut lists = data.iter().zip([&lhs, &rhs, &out]).map(list).collect::<Result<Vec<_>, Trap>>()?;
    let at = |map: &AffineMap, shape: &[usize], index: &[usize]| {
        data::linear_index(shape, dims(map).into_iter().map(|d| index[d.unwrap_or(0)]))
    };
    let sums = OpArgs { operands: &args.operands[2..], ..*args };
    let times = if ctx.float_kind(elem).is_some() { arith::MulFOp::INFO } else { arith::MulIOp::INFO };
    for (n, index) in data::indices(&extents).enumerate() {
        if mask.is_some_and(|mask| !mask[n]) {
            continue;
        }
        let a = promoted(args, 0, elem, lists[0][at(maps[0], &lhs, &index)].clone())?;
        let b = promoted(args, 1, elem, lists[1][at(maps[1], &rhs, &index)].clone())?;
        let product = data::apply(&sums, times, Attr::EMPTY_DICT, elem, &[a, b])?;
        let to = at(maps[2], &out, &index);
        lists[2][to] = data::combine(&sums, elem, &kind, lists[2][to].clone(), product)?;
    }
    data::value_of(ctx, ty, &lists[2]).map(|v| vec![v])
}

fn outer_product(args: &OpArgs<'_>, data: &[Datum], mask: Option<&[bool]>) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let kind = kind_at_run_time(args, ty);
    let count = |i: usize| Ok::<_, Trap>(data::extents(ctx, args.operand_type(i))?.iter().product());
    let (a, b) = (stored(&data[0], count(0)?)?, stored(&data[1], count(1)?)?);
    let times = if ctx.float_kind(ctx.element_type(ty)).is_some() { arith::MulFOp::INFO } else { arith::MulIOp::INFO };
    let elem = ctx.element_type(ty);
    let mut all = Vec::with_capacity(a.len() * b.len());
    for a in &a {
        for b in &b {
            all.push(data::apply(args, times, Attr::EMPTY_DICT, elem, &[a.clone(), b.clone()])?);
        }
    }
    if let Some(acc) = data.get(2) {
        let sums = stored(acc, all.len())?;
        for (n, (product, sum)) in all.iter_mut().zip(sums).enumerate() {
            *product = match mask.is_none_or(|mask| mask[n]) {
                true => data::combine(args, elem, &kind, sum, product.clone())?,
                false => sum,
            };
        }
    } else if mask.is_some_and(|mask| mask.contains(&false)) {
        return Ok(vec![Datum::Poison]);
    }
    data::value_of(ctx, ty, &all).map(|v| vec![v])
}

/// Moves an integer added to a contraction into its zero accumulator. For floats this would change the rounding order.
fn sum_of_contract(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let this = ContractionOp(op);
    let (acc, result) = (this.acc(m), this.result(m));
    let int = m.ctx.int_width(m.ctx.element_type(m.value_type(result))).is_some();
    let zero = m.constant(acc).is_some_and(|c| m.ctx.is_uniform(c, 0.0));
    if !int || !zero || kind_of(m, op) != "add" || !m.has_one_use(result) {
        return false;
    }
    let sum = m.uses(result).next().and_then(|(user, _)| arith::AddIOp::cast(m, user));
    let Some(sum) = sum.filter(|s| s.lhs(m) != s.rhs(m) && m.parent_block(s.0) == m.parent_block(op)) else {
        return false;
    };
    let other = if sum.lhs(m) == result { sum.rhs(m) } else { sum.lhs(m) };
    let mut state = OpState::like(m, op);
    state.operands.extend([this.lhs(m), this.rhs(m), other]);
    state.result_types.push(m.value_type(result));
    r.replace_with(sum.0, state).is_ok()
}
