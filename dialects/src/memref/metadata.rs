//! Strided metadata: `extract_strided_metadata`, `reinterpret_cast`, `extract_aligned_pointer_as_index`.

use super::cast::replace_by_cast;
use super::types::{STRIDED, STRIDED_0D};
use super::{CastOp, SubViewOp};
use crate::constraint::{ANY_MEMREF, I64_ARRAY, INDEX};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, Slice, constant_entry, is_constant};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::MemRef;
use gradus_ir::{
    Attr, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits, Type,
    Value, Violation, op,
};

/// Decomposes a strided memref into base buffer, offset, sizes and strides.
///
/// ```mlir
/// %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<10x?xf32> -> memref<f32>, index, index, index, index, index
/// ```
#[op(
    "memref.extract_strided_metadata",
    traits = Traits::SAME_VARIADIC_RESULT_SIZE,
    format = "$source `:` type($source) `->` type(results) attr-dict",
    infer = infer_metadata,
    eval = metadata,
    result_names = metadata_names,
    patterns = &[Pattern { name: "simplify-metadata", run: simplify_metadata }]
)]
pub struct ExtractStridedMetadataOp {
    /// Source memref.
    source: Operand<STRIDED>,
    /// Base buffer, a 0-D memref.
    base_buffer: OpResult<STRIDED_0D>,
    /// Offset, in elements.
    offset: OpResult<INDEX>,
    /// Size of each dimension.
    sizes: OpResults<INDEX>,
    /// Stride of each dimension, in elements.
    strides: OpResults<INDEX>,
}

/// Views the base buffer of a memref with another offset, sizes and strides.
///
/// ```mlir
/// %0 = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 10], strides: [10, 1] : memref<*xf32> to memref<?x10xf32>
/// ```
#[op(
    "memref.reinterpret_cast",
    traits = Traits::OPERAND_SEGMENTS,
    directives = &[&DYNAMIC_INDEX_LIST],
    format = "$source `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `` `,` `sizes` `` `:` custom<DynamicIndexList>($sizes, $static_sizes) `` `,` `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) attr-dict `:` type($source) `to` type($result)",
    verify = verify_reinterpret,
    fold = fold_reinterpret,
    eval = reinterpret,
    result_names = |_, _| vec![(0, "reinterpret_cast".to_owned())],
    patterns = &[
        Pattern { name: "reinterpret-of-view", run: reinterpret_of_view },
        Pattern { name: "reinterpret-of-metadata", run: reinterpret_of_metadata },
        Pattern { name: "constant-entries", run: constant_entries },
    ]
)]
pub struct ReinterpretCastOp {
    /// Source memref, of which only the base buffer matters.
    source: Operand<ANY_MEMREF>,
    /// Dynamic offset.
    offsets: Operands<INDEX>,
    /// Dynamic sizes.
    sizes: Operands<INDEX>,
    /// Dynamic strides.
    strides: Operands<INDEX>,
    /// Static offset, or a placeholder.
    static_offsets: Attribute<I64_ARRAY>,
    /// Static sizes, with placeholders for dynamic ones.
    static_sizes: Attribute<I64_ARRAY>,
    /// Static strides, with placeholders for dynamic ones.
    static_strides: Attribute<I64_ARRAY>,
    /// Source memref.
    result: OpResult<STRIDED>,
}

/// Returns the aligned address of a memref as an index. Cannot be executed: addresses are not modelled.
///
/// ```mlir
/// %0 = memref.extract_aligned_pointer_as_index %m : memref<4xf32> -> index
/// ```
#[op(
    "memref.extract_aligned_pointer_as_index",
    format = "$source `:` type($source) `->` type(results) attr-dict",
    result_names = |_, _| vec![(0, "intptr".to_owned())]
)]
pub struct ExtractAlignedPointerAsIndexOp {
    /// Source memref.
    source: Operand<ANY_MEMREF>,
    /// Address.
    aligned_pointer: OpResult<INDEX>,
}

fn infer_metadata(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let (ctx, source) = (args.ctx(), args.operand_type(0));
    let rank = ctx.shape(source).ok_or("requires a ranked memref")?.len();
    let base = ctx.memref_type(&[], ctx.element_type(source), None, ctx.memory_space(source));
    Ok(std::iter::once(base).chain(std::iter::repeat_n(Type::INDEX, 1 + 2 * rank)).collect())
}

fn metadata_names(m: &Module, op: Op) -> Vec<(usize, String)> {
    let rank = ExtractStridedMetadataOp(op).sizes(m).len();
    let mut names = vec![(0, "base_buffer".to_owned()), (1, "offset".to_owned())];
    if rank > 0 {
        names.extend([(2, "sizes".to_owned()), (2 + rank, "strides".to_owned())]);
    }
    names
}

fn metadata(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    let base = MemRef { offset: 0, sizes: Default::default(), strides: Default::default(), ..view.clone() };
    let numbers = std::iter::once(&view.offset).chain(&view.sizes).chain(&view.strides);
    Ok(std::iter::once(Datum::MemRef(Box::new(base))).chain(numbers.map(|&n| Datum::Int(n))).collect())
}

/// Returns static offset, sizes and strides, with placeholders.
fn known_metadata(m: &Module, memref: Value) -> Option<Vec<i64>> {
    let ty = m.value_type(memref);
    let layout = m.ctx.strided_layout(ty)?;
    Some([&[layout.offset], m.ctx.shape(ty)?, &layout.strides].concat())
}

/// Folds static metadata to constants, and extracts metadata of a ranked cast from its source.
fn simplify_metadata(r: &mut Rewriter<'_>, op: Op) -> bool {
    let constant = constant_metadata(r, op);
    super::cast::fold_casts(r, op, None) || constant
}

fn constant_metadata(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(known) = known_metadata(m, ExtractStridedMetadataOp(op).source(m)) else { return false };
    let numbers: Vec<(Value, i64)> = m.results(op).skip(1).zip(known).collect();
    let mut changed = false;
    for (result, n) in numbers {
        if n == DYNAMIC || r.module().is_unused(result) {
            continue;
        }
        let attr = r.module().ctx.int_attr(Type::INDEX, n);
        let Some(constant) = r.constant(op, attr, Type::INDEX) else { continue };
        r.replace_value(result, &[constant]);
        changed = true;
    }
    changed
}

fn verify_reinterpret(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let cast = ReinterpretCastOp(op);
    let (from, to) = (m.value_type(cast.source(m)), m.value_type(cast.result(m)));
    let (have, want) = (ctx.display_type(from), ctx.display_type(to));
    let args = m.args(op).ok_or("is not registered")?;
    let shape = ctx.shape(to).unwrap_or(&[]);
    Slice::verify(&args, [1, shape.len(), shape.len()])?;
    let of_both = format!("specified for source type '{have}' and result memref type '{want}'");
    if ctx.memory_space(from) != ctx.memory_space(to) {
        return Err(format!("different memory spaces {of_both}").into());
    }
    if ctx.element_type(from) != ctx.element_type(to) {
        return Err(format!("different element types {of_both}").into());
    }
    let [offsets, sizes, strides] = Slice::of(&args).statics();
    let differs = |(have, want): (&i64, &i64)| *have != DYNAMIC && have != want;
    let number = |n: i64| if n == DYNAMIC { "dynamic".to_owned() } else { n.to_string() };
    if let Some(i) = shape.iter().zip(&sizes).position(differs) {
        let want = number(sizes[i]);
        return Err(format!("expected result type with size = {want} instead of {} in dim = {i}", shape[i]).into());
    }
    let layout = ctx
        .strided_layout(to)
        .ok_or_else(|| format!("expected result type to have strided layout but found '{want}'"))?;
    if differs((&layout.offset, &offsets[0])) {
        let want = number(offsets[0]);
        return Err(format!("expected result type with offset = {want} instead of {}", layout.offset).into());
    }
    if let Some(i) = layout.strides.iter().zip(&strides).position(differs) {
        let want = number(strides[i]);
        return Err(
            format!("expected result type with stride = {want} instead of {} in dim = {i}", layout.strides[i]).into()
        );
    }
    Ok(())
}

fn reinterpret(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let source = data[0].memref()?;
    let [offsets, sizes, strides] = Slice::evaluate(args, data)?;
    let &[offset] = offsets.as_slice() else { return Err(Trap::unsupported("more than one offset")) };
    if sizes.iter().any(|&n| n < 0) {
        return Ok(vec![Datum::Poison]);
    }
    let mut view = MemRef::strided(source.buffer, &sizes, StridedLayout { offset, strides: strides.into() });
    view.bytes = source.bytes;
    let fits = super::cast::fits(args.ctx(), &view, args.result_types[0]);
    Ok(vec![if fits { Datum::MemRef(Box::new(view)) } else { Datum::Poison }])
}

/// Folds a cast that changes nothing.
fn fold_reinterpret(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (source, ty) = (args.operands[0], *args.result_types.first()?);
    let unmoved = args.ints("static_offsets").is_some_and(|o| o == [0]);
    let same = args.module.value_type(source) == ty && args.ctx().static_shape(ty).is_some();
    (same && unmoved).then(|| source.into())
}

/// Bypasses another cast, or a subview at offset zero, since only the base buffer matters.
fn reinterpret_of_view(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let source = ReinterpretCastOp(op).source(m);
    let unmoved =
        |subview: &SubViewOp| m.args(subview.0).is_some_and(|args| is_constant(m, &Slice::of(&args).offsets, 0));
    let before = ReinterpretCastOp::defining(m, source)
        .map(|cast| cast.source(m))
        .or_else(|| CastOp::defining(m, source).map(|cast| cast.source(m)))
        .or_else(|| SubViewOp::defining(m, source).filter(unmoved).map(|subview| subview.source(m)));
    let Some(before) = before else { return false };
    r.modify(op, |m| m.set_operand(op, 0, before));
    true
}

/// Returns offset, sizes and strides of a cast, with those known from its type or constants made static.
fn known_entries(m: &Module, op: Op) -> Option<Slice> {
    let mut slice = Slice::of(&m.args(op)?);
    let known = known_metadata(m, ReinterpretCastOp(op).result(m))?;
    let lists = slice.offsets.iter_mut().chain(&mut slice.sizes).chain(&mut slice.strides);
    for (entry, known) in lists.zip(known) {
        if known != DYNAMIC {
            *entry = Mixed::Static(known);
        } else if let Some(n) = constant_entry(m, *entry).filter(|&n| n >= 0) {
            // The verifier rejects negative sizes, even in unreachable code.
            *entry = Mixed::Static(n);
        }
    }
    Some(slice)
}

/// Simplifies a cast of an extracted base buffer: to the memref itself if all metadata are its own, else to a cast of
/// the memref.
fn reinterpret_of_metadata(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let base = ReinterpretCastOp(op).source(m);
    let Some(metadata) = ExtractStridedMetadataOp::defining(m, base) else { return false };
    let source = metadata.source(m);
    let (Some(entries), Some(known)) = (known_entries(m, op), known_metadata(m, source)) else { return false };
    let results = m.results(metadata.0).skip(1);
    let same = |(value, &known): (Value, &i64), entry: &Mixed| match *entry {
        Mixed::Static(n) => n == known,
        Mixed::Dynamic(v) => v == value && known == DYNAMIC,
    };
    let entries = [entries.offsets, entries.sizes, entries.strides].concat();
    if entries.len() == known.len() && results.zip(&known).zip(&entries).all(|(a, b)| same(a, b)) {
        return replace_by_cast(r, op, source);
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

/// Makes constant and known entries static, in a more specific type.
fn constant_entries(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(entries) = known_entries(m, op) else { return false };
    if m.args(op).is_none_or(|args| Slice::of(&args) == entries) {
        return false;
    }
    let source = ReinterpretCastOp(op).source(m);
    let (from, ctx) = (m.value_type(source), &m.ctx);
    let [offsets, sizes, strides] = entries.statics();
    let layout = StridedLayout { offset: offsets[0], strides: strides.into() };
    let ty = ctx.memref_type(&sizes, ctx.element_type(from), Some(&layout), ctx.memory_space(from));
    let mut state = OpState::new(ctx, ReinterpretCastOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    entries.add_to(ctx, &mut state);
    state.result_types.push(ty);
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    replace_by_cast(r, op, value)
}
