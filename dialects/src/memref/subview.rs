//! `subview`: slices of memrefs.

use super::CastOp;
use super::cast::replace_by_cast;
use crate::constraint::{I64_ARRAY, INDEX, MEMREF};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, RankError, Slice, constant_entry, rank_reduced};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::{StridedLayout, plus, times};
use gradus_ir::memory::MemRef;
use gradus_ir::{
    Attr, Context, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits,
    Type, TypeData, Violation, op,
};

/// Strided slice of a memref, given by offsets, sizes and strides. Unit dimensions can be dropped from the result.
/// Yields poison if the slice is out of bounds.
///
/// ```mlir
/// %0 = memref.subview %m[%i, 0] [4, 4] [1, 2] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 2], offset: ?>>
/// ```
#[op(
    "memref.subview",
    traits = Traits::OPERAND_SEGMENTS,
    directives = &[&DYNAMIC_INDEX_LIST],
    format = "$source `` custom<DynamicIndexList>($offsets, $static_offsets) custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) attr-dict `:` type($source) `to` type($result)",
    verify = verify,
    fold = fold,
    eval = subview,
    result_names = |_, _| vec![(0, "subview".to_owned())],
    patterns = &[
        Pattern { name: "constant-entries", run: constant_entries },
        Pattern { name: "subview-of-cast", run: subview_of_cast },
        Pattern { name: "whole-subview", run: whole },
    ]
)]
pub struct SubViewOp {
    /// Source memref.
    source: Operand<MEMREF>,
    /// Dynamic offsets.
    offsets: Operands<INDEX>,
    /// Dynamic sizes.
    sizes: Operands<INDEX>,
    /// Dynamic strides.
    strides: Operands<INDEX>,
    /// Static offsets, with placeholders for dynamic ones.
    static_offsets: Attribute<I64_ARRAY>,
    /// Static sizes, with placeholders for dynamic ones.
    static_sizes: Attribute<I64_ARRAY>,
    /// Static strides, with placeholders for dynamic ones.
    static_strides: Attribute<I64_ARRAY>,
    /// Slice.
    result: OpResult<MEMREF>,
}

impl SubViewOp {
    /// Returns which source dimensions the result drops.
    pub fn dropped_dims(self, m: &Module) -> Option<Vec<bool>> {
        let slice = Slice::of(&m.args(self.0)?);
        let full = subview_type(&m.ctx, m.value_type(self.source(m)), &slice)?;
        dropped_dims(&m.ctx, full, m.value_type(self.result(m)), &slice.sizes)
    }
}

/// Returns the type of a slice of full rank: given sizes, multiplied strides, moved offset.
pub fn subview_type(ctx: &Context, source: Type, slice: &Slice) -> Option<Type> {
    let layout = ctx.strided_layout(source)?;
    let [offsets, sizes, strides] = slice.statics();
    let moved = offsets.iter().zip(&layout.strides).map(|(&offset, &stride)| times(offset, stride));
    let layout = StridedLayout {
        offset: moved.fold(layout.offset, plus),
        strides: layout.strides.iter().zip(&strides).map(|(&a, &b)| times(a, b)).collect(),
    };
    Some(ctx.memref_type(&sizes, ctx.element_type(source), Some(&layout), ctx.memory_space(source)))
}

/// Returns which dimensions are dropped from `full` to `reduced`. Strides disambiguate unit dimensions; of equal ones, the last
/// are kept, as in MLIR.
fn dropped_dims(ctx: &Context, full: Type, reduced: Type, sizes: &[Mixed]) -> Option<Vec<bool>> {
    let (shape, kept) = (ctx.shape(full)?, ctx.shape(reduced)?);
    let (from, to) = (ctx.strided_layout(full)?.strides, ctx.strided_layout(reduced)?.strides);
    let (mut dropped, mut left) = (vec![false; shape.len()], kept.len());
    for i in (0..shape.len()).rev() {
        if left > 0 && (shape[i], from[i]) == (kept[left - 1], to[left - 1]) {
            left -= 1;
        } else if sizes.get(i) == Some(&Mixed::Static(1)) {
            dropped[i] = true;
        } else {
            return None;
        }
    }
    (left == 0).then_some(dropped)
}

/// Returns the memref type without the dropped dimensions.
fn without(ctx: &Context, full: Type, dropped: &[bool]) -> Option<Type> {
    let layout = ctx.strided_layout(full)?;
    let keep = |list: &[i64]| -> Vec<i64> {
        list.iter().zip(dropped).filter(|(_, dropped)| !**dropped).map(|(&n, _)| n).collect()
    };
    let strides = keep(&layout.strides).into();
    let layout = StridedLayout { strides, ..layout };
    Some(ctx.memref_type(&keep(ctx.shape(full)?), ctx.element_type(full), Some(&layout), ctx.memory_space(full)))
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (source, result) = (m.value_type(SubViewOp(op).source(m)), m.value_type(SubViewOp(op).result(m)));
    let args = m.args(op).ok_or("is not registered")?;
    let rank = ctx.shape(source).map_or(0, <[i64]>::len);
    Slice::verify(&args, [rank; 3])?;
    let slice = Slice::of(&args);
    let (from, have) = (ctx.display_type(source), ctx.display_type(result));
    if ctx.memory_space(source) != ctx.memory_space(result) {
        return Err(format!(
            "different memory spaces specified for base memref type '{from}' and subview memref type '{have}'"
        )
        .into());
    }
    let full = subview_type(ctx, source, &slice).ok_or_else(|| format!("base type '{from}' is not strided"))?;
    let want = ctx.display_type(full);
    let mismatch = |what: &str| {
        Err(Violation::from(format!(
            "expected result type to be '{want}' or a rank-reduced version. (mismatch of result {what}), but got '{have}'"
        )))
    };
    match rank_reduced(ctx, full, result) {
        Err(RankError::Rank) => {
            return Err(
                format!("expected result rank to be smaller or equal to the source rank, but got '{have}'").into()
            );
        }
        Err(RankError::Size) => return mismatch("sizes"),
        Err(RankError::Element) => {
            let elem = ctx.display_type(ctx.element_type(full));
            return Err(format!("expected result element type to be '{elem}', but got '{have}'").into());
        }
        Ok(()) => {}
    }
    let reduced = dropped_dims(ctx, full, result, &slice.sizes).and_then(|dropped| without(ctx, full, &dropped));
    let layout = reduced.and_then(|ty| ctx.strided_layout(ty));
    if layout.is_none() || layout != ctx.strided_layout(result) {
        return mismatch("layout");
    }
    slice.verify_in_bounds(ctx.shape(source).unwrap_or(&[]))
}

/// Folds a slice that is all of a static memref, and a slice that is all of another slice.
fn fold(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (m, ctx) = (args.module, args.ctx());
    let (source, to) = (args.operands[0], *args.result_types.first()?);
    if m.value_type(source) != to {
        return None;
    }
    let known = |ty: Type| {
        let TypeData::MemRef { layout, .. } = ctx.type_data(ty) else { return false };
        let fixed = |l: StridedLayout| l.offset != DYNAMIC && !l.strides.contains(&DYNAMIC);
        let is_strided = layout.is_some_and(|l| matches!(ctx.attr_data(l), gradus_ir::AttrData::Strided { .. }));
        ctx.static_shape(ty).is_some() && (!is_strided || ctx.strided_layout(ty).is_some_and(fixed))
    };
    if known(to) {
        return Some(source.into());
    }
    let first = SubViewOp::defining(m, source)?;
    let (slice, before) = (Slice::of(args), Slice::of(&m.args(first.0)?));
    (slice.is_prefix(m) && slice.sizes == before.sizes).then(|| source.into())
}

/// Replaces `op` by the slice `slice` of `source`, cast to the old type.
fn replace(r: &mut Rewriter<'_>, op: Op, source: gradus_ir::Value, slice: &Slice, dropped: &[bool]) -> bool {
    let m = r.module();
    let full = subview_type(&m.ctx, m.value_type(source), slice);
    let ty = match full {
        Some(full) if dropped.contains(&true) => without(&m.ctx, full, dropped),
        full => full,
    };
    let Some(ty) = ty else { return false };
    let mut state = OpState::new(&m.ctx, SubViewOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    slice.add_to(&m.ctx, &mut state);
    state.result_types.push(ty);
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    replace_by_cast(r, op, value)
}

/// Makes constant entries static.
fn constant_entries(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let source = SubViewOp(op).source(m);
    let Some(mut slice) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    let Some(dropped) = SubViewOp(op).dropped_dims(m) else { return false };
    let shape = m.ctx.shape(m.value_type(source)).unwrap_or(&[]);
    if !slice.fold_constants(m, shape) {
        return false;
    }
    replace(r, op, source, &slice, &dropped)
}

/// Moves a cast to a less specific type behind the slice.
fn subview_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = CastOp::defining(m, SubViewOp(op).source(m)).filter(|c| c.loses_static_info(m)) else {
        return false;
    };
    if m.operands(op).iter().any(|&v| m.constant_int(v).is_some()) {
        return false;
    }
    let (Some(slice), Some(dropped)) = (m.args(op).map(|args| Slice::of(&args)), SubViewOp(op).dropped_dims(m)) else {
        return false;
    };
    let source = cast.source(m);
    // In unreachable code the slice may be statically out of bounds, which the verifier would reject.
    let shape = m.ctx.shape(m.value_type(source)).unwrap_or(&[]);
    slice.verify_in_bounds(shape).is_ok() && replace(r, op, source, &slice, &dropped)
}

/// Replaces a slice of the whole memref by a cast.
fn whole(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let source = SubViewOp(op).source(m);
    let shape = m.ctx.shape(m.value_type(source)).unwrap_or(&[]);
    let Some(slice) = m.args(op).map(|args| Slice::of(&args)) else { return false };
    let rank = m.ctx.shape(m.value_type(SubViewOp(op).result(m))).map_or(0, <[i64]>::len);
    let all = slice.sizes.iter().zip(shape).all(|(&size, &dim)| constant_entry(m, size) == Some(dim));
    if rank != shape.len() || !all || !slice.is_prefix(m) {
        return false;
    }
    replace_by_cast(r, op, source)
}

fn subview(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    let [offsets, sizes, strides] = Slice::evaluate(args, data)?;
    let (ctx, slice) = (args.ctx(), Slice::of(args));
    let dropped = subview_type(ctx, args.operand_type(0), &slice)
        .and_then(|full| dropped_dims(ctx, full, args.result_types[0], &slice.sizes))
        .ok_or_else(|| Trap::unsupported("ambiguous dropped dimensions"))?;
    let mut part = MemRef { sizes: Default::default(), strides: Default::default(), ..view.clone() };
    for (i, &extent) in view.sizes.iter().enumerate() {
        let (offset, size, stride) = (offsets[i], sizes[i], strides[i]);
        if !is_inside(extent, offset, size, stride) {
            return Ok(vec![Datum::Poison]);
        }
        part.offset = part.offset.wrapping_add(offset.wrapping_mul(view.strides[i]));
        if !dropped[i] {
            part.sizes.push(size);
            part.strides.push(view.strides[i].wrapping_mul(stride));
        }
    }
    Ok(vec![Datum::MemRef(Box::new(part))])
}

/// Whether the first and last element are within an extent.
fn is_inside(extent: i64, offset: i64, size: i64, stride: i64) -> bool {
    let inside = |at: i128| (0..i128::from(extent)).contains(&at);
    let last = i128::from(offset) + (i128::from(size) - 1) * i128::from(stride);
    match size {
        0 => (0..=extent).contains(&offset),
        _ => size > 0 && inside(i128::from(offset)) && inside(last),
    }
}
