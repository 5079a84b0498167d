//! `vector.extract` and `vector.insert`.

mod fold;
mod patterns;
mod sources;

use super::data;
use super::types::{check, same_element, shape, vector, without_leading};
use crate::constraint::{ANY, I64_ARRAY, INDEX, VECTOR};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, add_mixed, mixed_entries, runtime_entries};
use fold::{fold_extract, fold_insert};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    DYNAMIC, Module, Op, OpArgs, OpDecl, OpState, PatternRewriter, Rewriter, Traits, Type, TypeRelation, Value,
    Violation, op,
};

/// Extracts the element or sub-vector at a position in the leading dimensions. The position -1, or one out of bounds,
/// yields poison.
///
/// ```mlir
/// %0 = vector.extract %v[1, %i] : f32 from vector<4x8xf32>
/// %1 = vector.extract %v[2] : vector<8xf32> from vector<4x8xf32>
/// ```
#[op(
    "vector.extract",
    directives = &[&DYNAMIC_INDEX_LIST],
    infer = infer_extract,
    verify = verify_extract,
    fold = fold_extract,
    eval = extract,
    moves = &["source"],
    patterns = patterns::EXTRACT,
    format = "$source `` custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict `:` type($result) `from` type($source)"
)]
pub struct ExtractOp {
    /// Vector of the extracted element.
    source: Operand<VECTOR>,
    /// Dynamic positions.
    dynamic_position: Operands<INDEX>,
    /// Static positions, with placeholders for dynamic ones.
    static_position: Attribute<I64_ARRAY>,
    /// Element or sub-vector.
    result: OpResult<ANY>,
}

/// Returns a copy of a vector with the element or sub-vector at a position in the leading dimensions replaced. The
/// position -1, or one out of bounds, yields poison.
///
/// ```mlir
/// %0 = vector.insert %s, %v[1, %i] : f32 into vector<4x8xf32>
/// %1 = vector.insert %p, %v[2] : vector<8xf32> into vector<4x8xf32>
/// ```
#[op(
    "vector.insert",
    traits = Traits::NO_CONSTANT_FOLDING,
    directives = &[&DYNAMIC_INDEX_LIST],
    relations = &[TypeRelation::Same(&["dest", "result"])],
    verify = verify_insert,
    fold = fold_insert,
    eval = insert,
    moves = &["valueToStore", "dest"],
    patterns = patterns::INSERT,
    format = "$valueToStore `,` $dest custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict `:` type($valueToStore) `into` type($dest)"
)]
pub struct InsertOp {
    /// Element or sub-vector.
    #[name = "valueToStore"]
    value_to_store: Operand<ANY>,
    /// Destination vector.
    dest: Operand<VECTOR>,
    /// Dynamic positions.
    dynamic_position: Operands<INDEX>,
    /// Static positions, with placeholders for dynamic ones.
    static_position: Attribute<I64_ARRAY>,
    /// Updated vector.
    result: OpResult<VECTOR>,
}

/// Returns the positions of an op, static and dynamic.
fn positions(m: &Module, op: Op) -> Vec<Mixed> {
    m.with_args(op, |args| mixed_entries(args, "dynamic_position", "static_position")).unwrap_or_default()
}

/// Returns the positions if all are static and not poison.
pub(super) fn static_positions(m: &Module, op: Op) -> Option<Vec<i64>> {
    let known = |p: Mixed| match p {
        Mixed::Static(n) if n >= 0 => Some(n),
        _ => None,
    };
    positions(m, op).into_iter().map(known).collect()
}

fn infer_extract(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let positions = args.ints("static_position").ok_or("requires attribute 'static_position'")?;
    Ok(vec![without_leading(args.ctx(), args.operand_type(0), positions.len())])
}

/// Returns the defining op of the source vector if it is one of these, and the positions.
fn source_and_positions<T: OpDecl>(m: &Module, op: Op) -> Option<(T, Vec<Mixed>)> {
    Some((T::defining(m, ExtractOp(op).source(m))?, positions(m, op)))
}

/// Verifies that there is an operand per placeholder.
fn verify_placeholders(args: &OpArgs<'_>) -> Result<(), Violation> {
    let positions = args.ints("static_position").unwrap_or_default();
    let placeholders = positions.iter().filter(|&&n| n == DYNAMIC).count();
    check(placeholders == args.operand("dynamic_position").len(), || {
        "mismatch between dynamic and static positions (kDynamic marker but no corresponding dynamic position) -- this can only happen due to an incorrect fold/rewrite".into()
    })
}

fn verify_extract(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(args) = m.args(op) else { return Ok(()) };
    let (this, ctx) = (ExtractOp(op), &m.ctx);
    let (source, result) = (this.source(m), this.result(m));
    same_element(m, source, result, "operand and result")?;
    let have = m.value_type(result);
    check(vector(ctx, have).is_none_or(|v| !v.0.is_empty()), || {
        "expected a scalar instead of a 0-d vector as the result type".into()
    })?;
    verify_placeholders(&args)?;
    let positions = args.ints("static_position").unwrap_or_default();
    let extents = shape(ctx, m.value_type(source));
    check(positions.len() <= extents.len(), || {
        "expected position attribute of rank no greater than vector rank".into()
    })?;
    for (i, (&at, &extent)) in positions.iter().zip(extents).enumerate() {
        check(at == DYNAMIC || (-1..extent).contains(&at), || {
            let n = i + 1;
            format!(
                "expected position attribute #{n} to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)"
            )
        })?;
    }
    let want = without_leading(ctx, m.value_type(source), positions.len());
    // A vector of one element may stand for the element.
    let one = vector(ctx, have).is_some_and(|v| v.0 == [1] && !v.1[0] && v.2 == want);
    check(want == have || one, || {
        let (want, have) = (ctx.display_type(want), ctx.display_type(have));
        format!("inferred type(s) '{want}' are incompatible with return type(s) of operation '{have}'")
    })
}

fn verify_insert(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(args) = m.args(op) else { return Ok(()) };
    let (this, ctx) = (InsertOp(op), &m.ctx);
    let (value, dest) = (this.value_to_store(m), this.dest(m));
    same_element(m, value, dest, "source operand and result")?;
    let part = vector(ctx, m.value_type(value));
    check(part.is_none_or(|v| !v.0.is_empty()), || {
        "expected a scalar instead of a 0-d vector as the source operand".into()
    })?;
    check(part.is_some() || !ctx.is_shaped(m.value_type(value)), || {
        "expected a scalar or a vector as the source operand".into()
    })?;
    verify_placeholders(&args)?;
    let positions = args.ints("static_position").unwrap_or_default();
    let extents = shape(ctx, m.value_type(dest));
    check(positions.len() <= extents.len(), || {
        "expected position attribute of rank no greater than dest vector rank".into()
    })?;
    match part {
        Some((part, ..)) => check(positions.len() + part.len() == extents.len(), || {
            "expected position attribute rank + source rank to match dest vector rank".into()
        })?,
        None => check(positions.len() == extents.len(), || {
            "expected position attribute rank to match the dest vector rank".into()
        })?,
    }
    for (i, (&at, &extent)) in positions.iter().zip(extents).enumerate() {
        check(at == DYNAMIC || (-1..extent).contains(&at), || {
            let n = i + 1;
            format!(
                "expected position attribute #{n} to be a non-negative integer smaller than the corresponding dest vector dimension"
            )
        })?;
    }
    Ok(())
}

/// Returns the linear index range of a position; `None` out of bounds.
fn part(extents: &[usize], positions: &[i64]) -> Option<std::ops::Range<usize>> {
    let at = data::position(extents.get(..positions.len())?, positions).ok()?;
    let len: usize = extents[positions.len()..].iter().product();
    Some(at * len..(at + 1) * len)
}

fn positions_at_run_time(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<i64>, Trap> {
    runtime_entries(args, data, "dynamic_position", "static_position")
}

fn extract(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let source = data[0].tensor()?;
    let positions = positions_at_run_time(args, data)?;
    let Some(part) = part(source.shape(), &positions) else { return Ok(vec![Datum::Poison]) };
    data::pick(args.ctx(), args.result_types[0], source, part).map(|part| vec![part])
}

fn insert(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let dest = data[1].tensor()?;
    let positions = positions_at_run_time(args, data)?;
    let Some(part) = part(dest.shape(), &positions) else { return Ok(vec![Datum::Poison]) };
    let elements = data::elements(&data[0])?.ok_or_else(|| Trap::unsupported("poison of unknown extents"))?;
    let elements = Datum::from_elements(dest.dtype(), &[elements.len()], &elements)?;
    Ok(vec![Datum::Tensor(data::put(elements.tensor()?, dest, part))])
}

/// Replaces `op` by the sub-vector of `source` at static positions, if the types agree.
pub(super) fn replace_by_extract(r: &mut Rewriter<'_>, op: Op, source: Value, at: &[Mixed]) -> bool {
    let m = r.module();
    let (from, ty) = (m.value_type(source), m.value_type(m.result(op, 0)));
    if from == ty && at.is_empty() {
        r.replace(op, &[source]);
        return true;
    }
    let fits = without_leading(&m.ctx, from, at.len()) == ty && shape(&m.ctx, from).len() >= at.len();
    fits && r.replace_with(op, extract_state(r.module(), op, source, at)).is_ok()
}

/// Creates an extract of `source` at static positions before `op`.
pub(super) fn create_extract(r: &mut Rewriter<'_>, op: Op, source: Value, at: &[Mixed]) -> Option<Value> {
    let state = extract_state(r.module(), op, source, at);
    let new = r.create_before(op, state).ok()?;
    Some(r.module().result(new, 0))
}

fn extract_state(m: &Module, op: Op, source: Value, at: &[Mixed]) -> OpState {
    let mut state = OpState::new(&m.ctx, ExtractOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    add_mixed(&m.ctx, &mut state, "static_position", at);
    state.result_types.push(without_leading(&m.ctx, m.value_type(source), at.len()));
    state
}
