//! `extract_strided_slice` and `insert_strided_slice`.

mod patterns;

use super::data;
use super::types::{INT_ARRAY, RANKED_VECTOR, check, ints, same_element, scalable, shape, vector_type};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, Traits, Type, TypeRelation, Violation, op};

/// Extracts a block of a vector, given by offsets and sizes in the leading dimensions.
///
/// ```mlir
/// %0 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
/// ```
#[op(
    "vector.extract_strided_slice",
    verify = verify_extract,
    fold = patterns::fold_extract,
    eval = extract,
    moves = &["source"],
    patterns = patterns::EXTRACT,
    format = "$source attr-dict `:` type($source) `to` type($result)"
)]
pub struct ExtractStridedSliceOp {
    /// Vector that is extracted from.
    source: Operand<RANKED_VECTOR>,
    /// Offsets.
    offsets: Attribute<INT_ARRAY>,
    /// Sizes.
    sizes: Attribute<INT_ARRAY>,
    /// Strides; always 1.
    strides: Attribute<INT_ARRAY>,
    /// Block.
    result: OpResult<RANKED_VECTOR>,
}

/// Inserts a block into a vector, aligned with its trailing dimensions.
///
/// ```mlir
/// %0 = vector.insert_strided_slice %b, %v {offsets = [0, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
/// ```
#[op(
    "vector.insert_strided_slice",
    traits = Traits::NO_CONSTANT_FOLDING,
    relations = &[TypeRelation::Same(&["dest", "result"])],
    verify = verify_insert,
    fold = patterns::fold_insert,
    eval = insert,
    moves = &["valueToStore", "dest"],
    format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"
)]
pub struct InsertStridedSliceOp {
    /// Block.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// Destination vector.
    dest: Operand<RANKED_VECTOR>,
    /// Offsets.
    offsets: Attribute<INT_ARRAY>,
    /// Strides; always 1.
    strides: Attribute<INT_ARRAY>,
    /// Updated vector.
    result: OpResult<RANKED_VECTOR>,
}

/// Verifies that every number is at least `low` and at most the extent, or below it if `below`.
fn confined(numbers: &[i64], extents: &[i64], name: &str, low: i64, below: bool) -> Result<(), Violation> {
    for (i, (&n, &extent)) in numbers.iter().zip(extents).enumerate() {
        let end = extent.saturating_add(i64::from(!below));
        check(low <= n && n < end, || format!("expected {name} dimension {i} to be confined to [{low}, {end})"))?;
    }
    Ok(())
}

fn unit_strides(strides: &[i64]) -> Result<(), Violation> {
    check(strides.iter().all(|&s| s == 1), || "expected strides to be confined to [1, 2)".into())
}

/// Verifies that blocks end in bounds.
fn sums(offsets: &[i64], sizes: &[i64], extents: &[i64], what: &str) -> Result<(), Violation> {
    for (i, ((&offset, &size), &extent)) in offsets.iter().zip(sizes).zip(extents).enumerate() {
        let end = extent.saturating_add(1);
        check((0..end).contains(&offset.saturating_add(size)), || {
            format!("expected sum(offsets, {what}) dimension {i} to be confined to [1, {end})")
        })?;
    }
    Ok(())
}

fn whole_scalable(i: usize, size: i64, extent: i64) -> Result<(), Violation> {
    check(size == extent, || {
        format!(
            "expected size at idx={i} to match the corresponding base size from the input vector ({size} vs {extent})"
        )
    })
}

/// Returns the type of a block in the leading dimensions.
fn block_type(m: &Module, source: Type, sizes: &[i64]) -> Type {
    let ctx = &m.ctx;
    let extents = shape(ctx, source);
    let all: Vec<i64> = sizes.iter().chain(&extents[sizes.len().min(extents.len())..]).copied().collect();
    vector_type(ctx, &all, scalable(ctx, source), ctx.element_type(source))
}

fn verify_extract(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ExtractStridedSliceOp(op), &m.ctx);
    let (source, result) = (this.source(m), this.result(m));
    same_element(m, source, result, "operand and result")?;
    let ty = m.value_type(source);
    let [offsets, sizes, strides] = ["offsets", "sizes", "strides"].map(|name| ints(m, op, name));
    check(offsets.len() == sizes.len() && offsets.len() == strides.len(), || {
        "expected offsets, sizes and strides attributes of same size".into()
    })?;
    let extents = shape(ctx, ty);
    check(offsets.len() <= extents.len(), || "expected offsets attribute of rank no greater than vector rank".into())?;
    confined(&offsets, extents, "offsets", 0, true)?;
    confined(&sizes, extents, "sizes", 1, false)?;
    unit_strides(&strides)?;
    sums(&offsets, &sizes, extents, "sizes")?;
    let want = block_type(m, ty, &sizes);
    check(m.value_type(result) == want, || format!("expected result type to be '{}'", ctx.display_type(want)))?;
    for (i, &size) in sizes.iter().enumerate().filter(|(i, _)| scalable(ctx, ty)[*i]) {
        whole_scalable(i, size, extents[i])?;
    }
    Ok(())
}

fn verify_insert(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (InsertStridedSliceOp(op), &m.ctx);
    let (value, dest) = (this.value_to_store(m), this.dest(m));
    same_element(m, value, dest, "operand #0 and result")?;
    let (part, whole) = (m.value_type(value), m.value_type(dest));
    let (offsets, strides) = (ints(m, op, "offsets"), ints(m, op, "strides"));
    let (sizes, extents) = (shape(ctx, part), shape(ctx, whole));
    check(offsets.len() == extents.len(), || "expected offsets of same size as destination vector rank".into())?;
    check(strides.len() == sizes.len(), || "expected strides of same size as source vector rank".into())?;
    check(sizes.len() <= extents.len(), || "expected source rank to be no greater than destination rank".into())?;
    let leading = extents.len() - sizes.len();
    let padded: Vec<i64> = std::iter::repeat_n(0, leading).chain(sizes.iter().copied()).collect();
    confined(&offsets, extents, "offsets", 0, true)?;
    unit_strides(&strides)?;
    sums(&offsets, &padded, extents, "source vector shape")?;
    for (i, &size) in sizes.iter().enumerate() {
        let flag = scalable(ctx, part)[i];
        check(flag == scalable(ctx, whole)[i + leading], || {
            format!("mismatching scalable flags (at source vector idx={i})")
        })?;
        if flag {
            whole_scalable(i, size, extents[i + leading])?;
        }
    }
    Ok(())
}

/// Returns the linear indices of a block, row by row.
fn block(extents: &[usize], offsets: &[usize], sizes: &[usize]) -> Vec<usize> {
    let at = |index: Vec<usize>| data::linear_index(extents, index.into_iter().zip(offsets).map(|(i, o)| i + o));
    data::indices(sizes).map(at).collect()
}

/// Converts to extents; an error if negative.
fn sizes(numbers: Option<Vec<i64>>) -> Result<Vec<usize>, Trap> {
    let numbers = numbers.ok_or_else(|| Trap::unsupported("a block without offsets"))?;
    numbers.into_iter().map(|n| usize::try_from(n).map_err(|_| Trap::unsupported("an out-of-bounds block"))).collect()
}

fn extract(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, ty) = (data[0].tensor()?, args.result_types[0]);
    let mut offsets = sizes(args.ints("offsets"))?;
    offsets.resize(source.rank(), 0);
    let block = block(source.shape(), &offsets, &data::extents(args.ctx(), ty)?);
    data::pick(args.ctx(), ty, source, block).map(|block| vec![block])
}

fn insert(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (part, dest) = (data[0].tensor()?, data[1].tensor()?);
    let offsets = sizes(args.ints("offsets"))?;
    let leading = dest.rank() - part.rank();
    let sizes: Vec<usize> = std::iter::repeat_n(1, leading).chain(part.shape().iter().copied()).collect();
    Ok(vec![Datum::Tensor(data::put(part, dest, block(dest.shape(), &offsets, &sizes)))])
}
