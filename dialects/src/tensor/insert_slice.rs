//! `tensor.insert_slice` and `tensor.parallel_insert_slice`.

use super::cast::{before_cast, cast_before, replace_and_cast};
use super::slice::{is_whole, part_type, same_slice, verify_slice, with_constants};
use super::types::{shape, with_shape};
use super::{ExtractSliceOp, data, names};
use crate::constraint::{I64_ARRAY, INDEX, RANKED_TENSOR};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, Slice, constant_entry, dropped_dims, rank_reduced};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits,
    TypeRelation, Value, Violation, op,
};

/// Returns a copy of a tensor with a strided slice replaced. The source may omit unit dimensions. An out-of-bounds
/// slice is undefined behavior.
///
/// ```mlir
/// %0 = tensor.insert_slice %s into %a[0, %i] [4, 1] [1, 1] : tensor<4xf32> into tensor<8x16xf32>
/// ```
#[op(
    "tensor.insert_slice",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::NO_CONSTANT_FOLDING),
    effects = Effects::MayUb,
    directives = &[&DYNAMIC_INDEX_LIST],
    relations = &[TypeRelation::Derived {
        to: "result",
        from: "dest",
        of: |_, ty| Some(ty),
        summary: "expected result type to match dest type",
    }],
    verify = verify,
    fold = fold_insert_slice,
    eval = insert_slice,
    moves = &["source", "dest"],
    patterns = &[CONSTANT_ENTRIES, INSERT_OVER_INSERT, INSERT_OF_CAST],
    result_names = |_, _| names("inserted_slice"),
    format = "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets)
              custom<DynamicIndexList>($sizes, $static_sizes)
              custom<DynamicIndexList>($strides, $static_strides)
              attr-dict `:` type($source) `into` type($dest)"
)]
pub struct InsertSliceOp {
    /// Source tensor.
    source: Operand<RANKED_TENSOR>,
    /// Destination tensor.
    dest: Operand<RANKED_TENSOR>,
    /// Dynamic offsets.
    offsets: Operands<INDEX>,
    /// Dynamic sizes.
    sizes: Operands<INDEX>,
    /// Dynamic strides.
    strides: Operands<INDEX>,
    /// Static offsets, with placeholders for dynamic ones.
    static_offsets: Attribute<I64_ARRAY>,
    /// Static sizes, with placeholders.
    static_sizes: Attribute<I64_ARRAY>,
    /// Static strides, with placeholders.
    static_strides: Attribute<I64_ARRAY>,
    /// Updated tensor.
    result: OpResult<RANKED_TENSOR>,
}

/// Inserts a slice into a tensor shared by the iterations of a parallel loop; otherwise as `tensor.insert_slice`.
#[op(
    "tensor.parallel_insert_slice",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::COMBINING),
    effects = Effects::MayUb,
    parents = &["scf.forall.in_parallel"],
    directives = &[&DYNAMIC_INDEX_LIST],
    verify = verify_parallel,
    eval = insert_slice,
    moves = &["source", "dest"],
    patterns = &[CONSTANT_ENTRIES, INSERT_OF_CAST],
    format = "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets)
              custom<DynamicIndexList>($sizes, $static_sizes)
              custom<DynamicIndexList>($strides, $static_strides)
              attr-dict `:` type($source) `into` type($dest)"
)]
pub struct ParallelInsertSliceOp {
    /// Source tensor.
    source: Operand<RANKED_TENSOR>,
    /// Shared tensor.
    dest: Operand<RANKED_TENSOR>,
    /// Dynamic offsets.
    offsets: Operands<INDEX>,
    /// Dynamic sizes.
    sizes: Operands<INDEX>,
    /// Dynamic strides.
    strides: Operands<INDEX>,
    /// Static offsets, with placeholders for dynamic ones.
    static_offsets: Attribute<I64_ARRAY>,
    /// Static sizes, with placeholders.
    static_sizes: Attribute<I64_ARRAY>,
    /// Static strides, with placeholders.
    static_strides: Attribute<I64_ARRAY>,
}

/// Makes constant offsets, sizes and strides static, and casts the source accordingly.
const CONSTANT_ENTRIES: Pattern = Pattern { name: "constant entries", run: constant_entries };

/// Bypasses an earlier insertion at the same slice.
const INSERT_OVER_INSERT: Pattern = Pattern { name: "insert over insert", run: insert_over_insert };

/// Uses the sources of casts that lose static extents.
const INSERT_OF_CAST: Pattern = Pattern { name: "insert of cast", run: insert_of_cast };

/// Returns the operands that both ops have.
fn source_and_dest(m: &Module, op: Op) -> (Value, Value) {
    (m.operands(op)[0], m.operands(op)[1])
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let (source, dest) = source_and_dest(m, op);
    m.args(op).map_or(Ok(()), |args| verify_slice(&args, m.value_type(dest), m.value_type(source)))
}

/// Verifies that the destination is a shared output: a block argument of the loop.
fn verify_parallel(m: &Module, op: Op) -> Result<(), Violation> {
    let (_, dest) = source_and_dest(m, op);
    if m.defining_op(dest).is_some() || m.def_block(dest) != m.parent_op(op).and_then(|end| m.parent_block(end)) {
        return Err("may only insert into an output block argument".into());
    }
    verify(m, op)
}

fn fold_insert_slice(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let m = args.module;
    let (source, dest) = (args.operands[0], args.operands[1]);
    let slice = Slice::of(args);
    if m.value_type(source) == m.value_type(dest) && is_whole(m, &slice, dest) {
        return Some(source.into());
    }
    if slice.sizes.iter().any(|&size| constant_entry(m, size) == Some(0)) {
        return Some(dest.into());
    }
    let extract = ExtractSliceOp::defining(m, source).filter(|e| e.source(m) == dest)?;
    same_slice(m, &slice, &Slice::of(&m.args(extract.0)?)).then(|| dest.into())
}

/// Replaces `op` by the same op on other operands, with a cast to the old result type.
fn rebuild(r: &mut Rewriter<'_>, op: Op, source: Value, dest: Value, slice: &Slice) -> bool {
    let m = r.module();
    let mut state = OpState::new(&m.ctx, m.name_text(op), m.loc(op));
    state.operand_group(&[source]);
    state.operand_group(&[dest]);
    slice.add_to(&m.ctx, &mut state);
    if m.num_results(op) > 0 {
        return replace_and_cast(r, op, state);
    }
    let made = r.create_before(op, state).is_ok();
    if made {
        r.erase(op);
    }
    made
}

fn constant_entries(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (source, dest) = source_and_dest(m, op);
    let whole = m.value_type(dest);
    let Some(before) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    let Some(after) = with_constants(m, &before, whole) else { return false };
    let Some(part) = part_type(&m.ctx, &before, &after, whole, m.value_type(source)) else { return false };
    let Some(source) = cast_before(r, op, source, part) else { return false };
    rebuild(r, op, source, dest, &after)
}

fn insert_over_insert(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (source, dest) = source_and_dest(m, op);
    let Some(first) = InsertSliceOp::defining(m, dest) else { return false };
    let (Some(mine), Some(its)) = (m.args(op), m.args(first.0)) else { return false };
    let same =
        m.value_type(source) == m.value_type(first.source(m)) && same_slice(m, &Slice::of(&mine), &Slice::of(&its));
    if !same {
        return false;
    }
    let before = first.dest(m);
    r.modify(op, |m| m.set_operand(op, 1, before));
    true
}

fn insert_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let (source, dest) = source_and_dest(m, op);
    let (new_source, new_dest) = (before_cast(m, source), before_cast(m, dest));
    if new_source.is_none() && new_dest.is_none() {
        return false;
    }
    let (new_source, new_dest) = (new_source.unwrap_or(source), new_dest.unwrap_or(dest));
    let Some(mut slice) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    let Some(dropped) = dropped_dims(&slice.statics()[1], shape(ctx, m.value_type(source))) else { return false };
    let kept = slice.sizes.iter_mut().zip(dropped).filter(|(_, dropped)| !dropped);
    for ((size, _), &extent) in kept.zip(shape(ctx, m.value_type(new_source))) {
        if extent != DYNAMIC {
            *size = Mixed::Static(extent);
        }
    }
    let full = with_shape(ctx, m.value_type(new_dest), &slice.statics()[1]);
    let fits = rank_reduced(ctx, full, m.value_type(new_source)).is_ok()
        && slice.verify_in_bounds(shape(ctx, m.value_type(new_dest))).is_ok();
    fits && rebuild(r, op, new_source, new_dest, &slice)
}

/// Whether a shape equals the sizes of a slice, except for omitted unit dimensions.
fn has_sizes(shape: &[usize], sizes: &[i64]) -> bool {
    let mut left = shape.iter().map(|&extent| extent as i64).peekable();
    sizes.iter().all(|&size| left.next_if_eq(&size).is_some() || size == 1) && left.peek().is_none()
}

fn insert_slice(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, dest) = (data[0].tensor()?, data[1].tensor()?);
    let slice = Slice::evaluate(args, data)?;
    let numbers = data::part(dest.shape(), &slice)?;
    if !has_sizes(source.shape(), &slice[1]) {
        return Err(Trap::Ub("the inserted tensor does not have the sizes of the slice".into()));
    }
    Ok(vec![Datum::Tensor(data::put(source, dest, numbers))])
}
