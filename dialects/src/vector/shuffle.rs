//! `shuffle`, `interleave`, `deinterleave`.

mod patterns;

use super::data;
use super::types::{FIXED_VECTOR, RANKED_VECTOR, check, same_element, scalable, shape, vector_type};
use crate::constraint::{I64_LIST, VECTOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, Module, Op, OpArgs, Traits, Type, TypeRelation, Violation, declared_names, op};

/// Selects rows of the concatenation of two vectors; index -1 is poison.
///
/// ```mlir
/// %0 = vector.shuffle %a, %b [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
/// ```
#[op(
    "vector.shuffle",
    infer = infer_shuffle,
    verify = verify_shuffle,
    fold = patterns::fold_shuffle,
    eval = shuffle,
    traits = Traits::SEES_POISON,
    patterns = patterns::SHUFFLE,
    format = "$v1 `,` $v2 $mask attr-dict `:` type($v1) `,` type($v2)"
)]
pub struct ShuffleOp {
    /// First vector.
    v1: Operand<FIXED_VECTOR>,
    /// Second vector.
    v2: Operand<FIXED_VECTOR>,
    /// Row indices.
    mask: Attribute<I64_LIST>,
    /// Selected rows.
    vector: OpResult<RANKED_VECTOR>,
}

/// Interleaves the elements of two vectors along the last dimension.
///
/// ```mlir
/// %0 = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>
/// ```
#[op(
    "vector.interleave",
    relations = &[
        TypeRelation::Same(&["lhs", "rhs"]),
        TypeRelation::Derived {
            to: "result",
            from: "lhs",
            of: doubled,
            summary: "type of 'result' is double the width of the inputs",
        },
    ],
    eval = interleave,
    moves = &["lhs", "rhs"],
    format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
)]
pub struct InterleaveOp {
    /// Even elements.
    lhs: Operand<VECTOR>,
    /// Odd elements.
    rhs: Operand<VECTOR>,
    /// Interleaved elements.
    result: OpResult<RANKED_VECTOR>,
}

/// Splits a vector into even and odd elements along the last dimension.
///
/// ```mlir
/// %even, %odd = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>
/// ```
#[op(
    "vector.deinterleave",
    traits = Traits::NO_CONSTANT_FOLDING,
    relations = &[TypeRelation::Same(&["res1", "res2"])],
    verify = verify_deinterleave,
    eval = deinterleave,
    moves = &["source"],
    result_names = declared_names,
    format = "$source attr-dict `:` type($source) `->` type($res1)"
)]
pub struct DeinterleaveOp {
    /// Interleaved elements.
    source: Operand<RANKED_VECTOR>,
    /// Even elements.
    res1: OpResult<RANKED_VECTOR>,
    /// Odd elements.
    res2: OpResult<RANKED_VECTOR>,
}

fn infer_shuffle(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let ctx = args.ctx();
    let rows = args.ints("mask").unwrap_or_default().len() as i64;
    check(rows > 0, || "invalid mask length".into())?;
    let first = args.operand_type(0);
    let trailing = shape(ctx, first).iter().skip(1).copied();
    let extents: Vec<i64> = std::iter::once(rows).chain(trailing).collect();
    Ok(vec![vector_type(ctx, &extents, &vec![false; extents.len()], ctx.element_type(first))])
}

fn verify_shuffle(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ShuffleOp(op), &m.ctx);
    same_element(m, this.v1(m), this.vector(m), "first operand v1 and result")?;
    same_element(m, this.v2(m), this.vector(m), "second operand v2 and result")?;
    let [a, b, out] = [this.v1(m), this.v2(m), this.vector(m)].map(|v| shape(ctx, m.value_type(v)));
    let scalars = a.is_empty() && b.is_empty() && out.len() == 1;
    check(scalars || (a.len() == out.len() && b.len() == out.len()), || "rank mismatch".into())?;
    let same = scalars || (a[1..] == out[1..] && a[1..] == b[1..]);
    check(same, || "dimension mismatch".into())?;
    let mask = super::types::ints(m, op, "mask");
    check(!mask.is_empty(), || "invalid mask length".into())?;
    check(mask.len() as i64 == out[0], || "mask length mismatch".into())?;
    let rows = a.first().unwrap_or(&1).saturating_add(*b.first().unwrap_or(&1));
    let outside = mask.iter().position(|n| !(-1..rows).contains(n));
    outside.map_or(Ok(()), |i| Err(format!("mask index #{} out of range", i + 1).into()))
}

/// Returns the type with a doubled last dimension.
fn doubled(ctx: &Context, ty: Type) -> Option<Type> {
    let (mut extents, mut flags) = (shape(ctx, ty).to_vec(), scalable(ctx, ty).to_vec());
    match extents.last_mut() {
        Some(last) => *last = last.checked_mul(2)?,
        None => {
            extents.push(2);
            flags.push(false);
        }
    }
    Some(vector_type(ctx, &extents, &flags, ctx.element_type(ty)))
}

fn verify_deinterleave(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (DeinterleaveOp(op), &m.ctx);
    let (source, half) = (m.value_type(this.source(m)), m.value_type(this.res1(m)));
    let even = shape(ctx, source).last().is_some_and(|&d| d % 2 == 0);
    check(even, || {
        "failed to verify that the trailing dimension of the source vector has an even number of elements".into()
    })?;
    check(doubled(ctx, half) == Some(source), || {
        "failed to verify that the trailing dimension of the results is half the width of source trailing dimension"
            .into()
    })
}

fn shuffle(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ctx = args.ctx();
    let mask = args.ints("mask").unwrap_or_default();
    let rows = data::extents(ctx, args.operand_type(0))?.first().map_or(1, |&n| n as i64);
    let lists = [data::elements(&data[0])?, data::elements(&data[1])?];
    let row: usize = data::extents(ctx, args.result_types[0])?[1..].iter().product();
    let element = |n: i64, i: usize| {
        let (list, n) = if n < rows { (&lists[0], n) } else { (&lists[1], n - rows) };
        let at = usize::try_from(n).ok().map(|n| n * row + i);
        list.as_ref().zip(at).and_then(|(list, at)| list.get(at)).cloned().unwrap_or(Datum::Poison)
    };
    let all: Vec<Datum> =
        mask.iter().flat_map(|&n| (0..row).map(move |i| (n, i))).map(|(n, i)| element(n, i)).collect();
    data::value_of(ctx, args.result_types[0], &all).map(|v| vec![v])
}

fn interleave(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (Some(a), Some(b)) = (data::elements(&data[0])?, data::elements(&data[1])?) else {
        return Ok(vec![Datum::Poison]);
    };
    let all: Vec<Datum> = a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect();
    data::value_of(args.ctx(), args.result_types[0], &all).map(|v| vec![v])
}

fn deinterleave(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, ty) = (data[0].tensor()?, args.result_types[0]);
    let half = |first: usize| data::pick(args.ctx(), ty, source, (first..source.len()).step_by(2));
    Ok(vec![half(0)?, half(1)?])
}
