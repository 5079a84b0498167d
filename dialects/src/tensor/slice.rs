//! `tensor.extract_slice`.

use super::cast::{before_cast, replace_and_cast};
use super::types::{shape, with_shape};
use super::{InsertSliceOp, data, names};
use crate::constraint::{I64_ARRAY, INDEX, RANKED_TENSOR};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, RankError, Slice, constant_entry, dropped_dims, fold_entries, rank_reduced};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Context, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, Rewriter, Traits, Type, Value,
    Violation, op,
};

/// Extracts a strided slice. Unit dimensions may be omitted from the result type. An out-of-bounds slice is undefined
/// behavior.
///
/// ```mlir
/// %0 = tensor.extract_slice %a[0, %i] [4, 1] [1, 1] : tensor<8x16xf32> to tensor<4xf32>
/// ```
#[op(
    "tensor.extract_slice",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::NO_CONSTANT_FOLDING),
    effects = Effects::MayUb,
    directives = &[&DYNAMIC_INDEX_LIST],
    verify = verify_extract_slice,
    infer = infer_extract_slice,
    fold = fold_extract_slice,
    eval = extract_slice,
    moves = &["source"],
    patterns = &[CONSTANT_ENTRIES, SLICE_OF_CAST],
    result_names = |_, _| names("extracted_slice"),
    format = "$source `` custom<DynamicIndexList>($offsets, $static_offsets)
              custom<DynamicIndexList>($sizes, $static_sizes)
              custom<DynamicIndexList>($strides, $static_strides)
              attr-dict `:` type($source) `to` type($result)"
)]
pub struct ExtractSliceOp {
    /// Sliced tensor.
    source: Operand<RANKED_TENSOR>,
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
    /// Slice.
    result: OpResult<RANKED_TENSOR>,
}

/// Makes constant offsets, sizes and strides static, and the result type accordingly.
const CONSTANT_ENTRIES: Pattern = Pattern { name: "constant entries", run: constant_entries };

/// Slices the source of a cast that loses static extents.
const SLICE_OF_CAST: Pattern = Pattern { name: "slice of cast", run: slice_of_cast };

// ---- shared by slice ops

/// Verifies the lists of a slice of `whole`, and that `part` is its type, possibly rank-reduced.
pub(super) fn verify_slice(args: &OpArgs<'_>, whole: Type, part: Type) -> Result<(), Violation> {
    let ctx = args.ctx();
    let extents = shape(ctx, whole);
    Slice::verify(args, [extents.len(); 3])?;
    let slice = Slice::of(args);
    let [_, sizes, _] = slice.statics();
    let full = with_shape(ctx, whole, &sizes);
    rank_reduced(ctx, full, part).map_err(|error| match error {
        RankError::Rank => "expected rank to be smaller or equal to the other rank. ".to_owned(),
        RankError::Size => {
            format!("expected type to be '{}' or a rank-reduced version. (size mismatch) ", ctx.display_type(full))
        }
        RankError::Element => format!("expected element type to be '{}'", ctx.display_type(ctx.element_type(whole))),
    })?;
    slice.verify_in_bounds(extents)
}

/// Whether two slices are known to be equal.
pub(super) fn same_slice(m: &Module, a: &Slice, b: &Slice) -> bool {
    let same =
        |(&x, &y): (&Mixed, &Mixed)| x == y || constant_entry(m, x).is_some_and(|n| constant_entry(m, y) == Some(n));
    let lists = [(&a.offsets, &b.offsets), (&a.sizes, &b.sizes), (&a.strides, &b.strides)];
    lists.iter().all(|(x, y)| x.len() == y.len() && x.iter().zip(*y).all(same))
}

/// Whether a slice is known to be the whole `tensor`.
pub(super) fn is_whole(m: &Module, slice: &Slice, tensor: Value) -> bool {
    let extents = shape(&m.ctx, m.value_type(tensor));
    let covers = |(dim, (&size, &extent)): (usize, (&Mixed, &i64))| match (constant_entry(m, size), size) {
        (Some(n), _) => n == extent,
        (None, Mixed::Dynamic(value)) => m.defining_op(value).is_some_and(|op| {
            let is_extent =
                |at: &[Value]| matches!(*at, [v, i] if v == tensor && m.constant_int(i) == Some(dim as i64));
            m.has_trait(op, Traits::EXTENT) && is_extent(m.operands(op))
        }),
        (None, Mixed::Static(_)) => false,
    };
    slice.is_prefix(m) && slice.sizes.iter().zip(extents).enumerate().all(covers)
}

/// Returns the slice with constant operands made static, if it is in bounds; `None` if nothing changes.
pub(super) fn with_constants(m: &Module, slice: &Slice, whole: Type) -> Option<Slice> {
    let extents = shape(&m.ctx, whole);
    let lists: [fn(&mut Slice) -> &mut Vec<Mixed>; 3] = [|s| &mut s.offsets, |s| &mut s.sizes, |s| &mut s.strides];
    let (mut best, mut changed) = (slice.clone(), false);
    for (i, list) in lists.into_iter().enumerate() {
        let mut folded = best.clone();
        // Only strides may be negative.
        if !fold_entries(m, list(&mut folded), i == 2) {
            continue;
        }
        if folded.verify_in_bounds(extents).is_err() {
            break;
        }
        (best, changed) = (folded, true);
    }
    changed.then_some(best)
}

/// Returns the type of a slice of `whole`, rank-reduced as `reduced`, the type before folding of sizes, is.
pub(super) fn part_type(ctx: &Context, before: &Slice, after: &Slice, whole: Type, reduced: Type) -> Option<Type> {
    let dropped = dropped_dims(&before.statics()[1], shape(ctx, reduced))?;
    let sizes =
        after.statics()[1].iter().zip(dropped).filter(|(_, dropped)| !dropped).map(|(&n, _)| n).collect::<Vec<_>>();
    Some(with_shape(ctx, whole, &sizes))
}

// ---- tensor.extract_slice

fn verify_extract_slice(m: &Module, op: Op) -> Result<(), Violation> {
    let slice = ExtractSliceOp(op);
    let (whole, part) = (m.value_type(slice.source(m)), m.value_type(slice.result(m)));
    m.args(op).map_or(Ok(()), |args| verify_slice(&args, whole, part))
}

fn infer_extract_slice(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    // The result may be rank-reduced; `verify` checks the type.
    if let [part] = *args.result_types {
        return Ok(vec![part]);
    }
    let sizes = args.ints("static_sizes").ok_or("requires attribute 'static_sizes'")?;
    Ok(vec![with_shape(args.ctx(), args.operand_type(0), &sizes)])
}

fn fold_extract_slice(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, ctx) = (args.module, args.ctx());
    let (source, part) = (args.operands[0], *args.result_types.first()?);
    if let Some(splat) = constants[0].and_then(|c| data::retyped_constant(ctx, c, part, true)) {
        return Some(splat.into());
    }
    let slice = Slice::of(args);
    if m.value_type(source) == part && is_whole(m, &slice, source) {
        return Some(source.into());
    }
    let insert = InsertSliceOp::defining(m, source)?;
    let inserted = insert.source(m);
    let same = m.value_type(inserted) == part && same_slice(m, &slice, &Slice::of(&m.args(insert.0)?));
    same.then(|| inserted.into())
}

fn constant_entries(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let extract = ExtractSliceOp(op);
    let source = extract.source(m);
    let whole = m.value_type(source);
    let Some(before) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    let Some(after) = with_constants(m, &before, whole) else { return false };
    let Some(part) = part_type(&m.ctx, &before, &after, whole, m.value_type(extract.result(m))) else { return false };
    let mut state = OpState::new(&m.ctx, ExtractSliceOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    after.add_to(&m.ctx, &mut state);
    state.result_types.push(part);
    replace_and_cast(r, op, state)
}

fn slice_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(source) = before_cast(m, ExtractSliceOp(op).source(m)) else { return false };
    let Some(slice) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    if slice.verify_in_bounds(shape(&m.ctx, m.value_type(source))).is_err() {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

/// Returns the shape of a slice of these sizes, for a possibly rank-reduced type.
fn part_shape(ctx: &Context, sizes: &[i64], statics: &[i64], part: Type) -> Result<Vec<usize>, Trap> {
    let dropped =
        dropped_dims(statics, shape(ctx, part)).ok_or_else(|| Trap::unsupported("a slice of another type"))?;
    let kept: Vec<i64> = sizes.iter().zip(dropped).filter(|(_, dropped)| !dropped).map(|(&n, _)| n).collect();
    data::extents(&kept)
}

fn extract_slice(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ctx = args.ctx();
    let (tensor, lists) = (data[0].tensor()?, Slice::evaluate(args, data)?);
    let numbers = data::part(tensor.shape(), &lists)?;
    let statics = args.ints("static_sizes").unwrap_or_default();
    let shape = part_shape(ctx, &lists[1], &statics, args.result_types[0])?;
    Ok(vec![Datum::Tensor(data::take(tensor, &shape, numbers))])
}
