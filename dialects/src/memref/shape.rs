//! Reassociation of dimensions: `collapse_shape`, `expand_shape`.

use super::CastOp;
use super::cast::{castable, replace_by_cast};
use super::types::STRIDED;
use crate::constraint::{I64_ARRAY, INDEX};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{
    REASSOCIATION, ReshapeOps, collapse_of_expand, compose_reshapes, expand_of_collapse, fold_reshape,
    reassociation_attr, reassociation_of, runtime_entries,
};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::{StridedLayout, times};
use gradus_ir::memory::MemRef;
use gradus_ir::{
    Context, DYNAMIC, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type, Violation, op,
};

/// Collapses groups of consecutive dimensions into one each. Yields poison if a group is not contiguous.
///
/// ```mlir
/// %0 = memref.collapse_shape %m [[0, 1], [2]] : memref<?x4x5xf32> into memref<?x5xf32>
/// ```
#[op(
    "memref.collapse_shape",
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)",
    verify = verify_collapse,
    fold = |args, _| fold_reshape(args, ExpandShapeOp::INFO),
    eval = collapse,
    result_names = |_, _| vec![(0, "collapse_shape".to_owned())],
    patterns = &[
        Pattern { name: "compose-collapses", run: compose_reshapes },
        Pattern { name: "collapse-of-expand", run: |r, op| collapse_of_expand(r, op, &RESHAPES) },
        Pattern { name: "collapse-of-cast", run: collapse_of_cast },
    ]
)]
pub struct CollapseShapeOp {
    /// Source memref.
    src: Operand<STRIDED>,
    /// Groups of dimensions to collapse.
    reassociation: Attribute<REASSOCIATION>,
    /// Collapsed memref.
    result: OpResult<STRIDED>,
}

/// Expands dimensions into groups of dimensions. Yields poison if the sizes of a group do not multiply to the size of
/// the source dimension.
///
/// ```mlir
/// %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [%n, 4, 5] : memref<?x5xf32> into memref<?x4x5xf32>
/// ```
#[op(
    "memref.expand_shape",
    directives = &[&DYNAMIC_INDEX_LIST],
    format = "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape) attr-dict `:` type($src) `into` type($result)",
    verify = verify_expand,
    fold = |args, _| fold_reshape(args, CollapseShapeOp::INFO),
    eval = expand,
    result_names = |_, _| vec![(0, "expand_shape".to_owned())],
    patterns = &[
        Pattern { name: "compose-expansions", run: compose_reshapes },
        Pattern { name: "expand-of-collapse", run: |r, op| expand_of_collapse(r, op, &RESHAPES) },
    ]
)]
pub struct ExpandShapeOp {
    /// Source memref.
    src: Operand<STRIDED>,
    /// Groups of result dimensions, one per source dimension.
    reassociation: Attribute<REASSOCIATION>,
    /// Dynamic sizes of the result.
    output_shape: Operands<INDEX>,
    /// Sizes of the result, with placeholders for dynamic ones.
    static_output_shape: Attribute<I64_ARRAY>,
    /// Expanded memref.
    result: OpResult<STRIDED>,
}

static RESHAPES: ReshapeOps =
    ReshapeOps { expand: ExpandShapeOp::INFO, collapse: CollapseShapeOp::INFO, cast: CastOp::INFO, castable };

/// Verifies that the groups collapse `expanded` to `collapsed`.
fn verify_groups(collapsed: &[i64], expanded: &[i64], groups: &[Vec<i64>]) -> Result<(), Violation> {
    if collapsed.len() != groups.len() {
        let (found, expected) = (groups.len(), collapsed.len());
        return Err(format!("invalid number of reassociation groups: found {found}, expected {expected}").into());
    }
    let mut next = 0;
    for (i, (group, &size)) in groups.iter().zip(collapsed).enumerate() {
        if group.is_empty() {
            return Err("reassociation indices must not be empty".into());
        }
        let mut product = 1;
        let mut open = false;
        for &dim in group {
            if dim != next {
                return Err("reassociation indices must be contiguous".into());
            }
            next += 1;
            let Some(&extent) = usize::try_from(dim).ok().and_then(|d| expanded.get(d)) else {
                return Err(format!("reassociation index {dim} is out of bounds").into());
            };
            open |= extent == DYNAMIC;
            product = times(product, extent);
        }
        if open != (size == DYNAMIC) {
            return Err(
                format!("collapsed dim ({i}) must be dynamic if and only if reassociation group is dynamic").into()
            );
        }
        if !open && product != size {
            return Err(format!("collapsed dim size ({size}) must equal reassociation group size ({product})").into());
        }
    }
    if collapsed.is_empty() {
        let units = expanded.iter().all(|&d| d == 1);
        return if units { Ok(()) } else { Err("rank 0 memrefs can only be extended/collapsed with/from ones".into()) };
    }
    if next != expanded.len() as i64 {
        let rank = expanded.len();
        return Err(format!("expanded rank ({rank}) inconsistent with number of reassociation indices ({next})").into());
    }
    Ok(())
}

/// Returns the type of `source` with another shape: identity layout is kept, others are computed by `layout`.
fn reshaped_type(
    ctx: &Context,
    source: Type,
    shape: &[i64],
    layout: impl FnOnce(StridedLayout) -> Option<StridedLayout>,
) -> Option<Type> {
    let layout = match ctx.has_identity_layout(source) {
        true => None,
        false => Some(layout(ctx.strided_layout(source)?)?),
    };
    Some(ctx.memref_type(shape, ctx.element_type(source), layout.as_ref(), ctx.memory_space(source)))
}

/// Returns the layout after collapsing; `None` if a group is known not to be contiguous. The stride of a group is that
/// of its last dimension of size other than one.
fn collapsed_layout(layout: &StridedLayout, shape: &[i64], groups: &[Vec<i64>]) -> Option<StridedLayout> {
    let mut strides = Vec::with_capacity(groups.len());
    for group in groups {
        let dims: Vec<usize> = group.iter().map(|&d| d as usize).collect();
        let last = dims.iter().rposition(|&d| shape[d] != 1).unwrap_or(0);
        let open = shape[dims[last]] == DYNAMIC && last > 0;
        let stride = if open { DYNAMIC } else { layout.strides[dims[last]] };
        strides.push(stride);
        let mut expected = stride;
        for pair in dims.windows(2).rev() {
            expected = times(expected, shape[pair[1]]);
            let have = layout.strides[pair[0]];
            if shape[pair[0]] != 1 && expected != DYNAMIC && have != DYNAMIC && expected != have {
                return None;
            }
        }
    }
    Some(StridedLayout { offset: layout.offset, strides: strides.into() })
}

/// Returns the layout after expanding dimensions to `shape`.
fn expanded_layout(layout: &StridedLayout, shape: &[i64], groups: &[Vec<i64>]) -> StridedLayout {
    let mut strides = vec![1; shape.len()];
    for (group, &stride) in groups.iter().zip(&layout.strides) {
        let mut stride = stride;
        for &dim in group.iter().rev() {
            strides[dim as usize] = stride;
            stride = times(stride, shape[dim as usize]);
        }
    }
    StridedLayout { offset: layout.offset, strides: strides.into() }
}

/// Returns the type of `source` after collapsing, with the result shape `shape` if known.
fn collapsed_type(ctx: &Context, source: Type, groups: &[Vec<i64>], shape: Option<&[i64]>) -> Option<Type> {
    let from = ctx.shape(source)?;
    let product = |group: &Vec<i64>| group.iter().fold(1, |n, &d| times(n, from[d as usize]));
    let products: Vec<i64> = groups.iter().map(product).collect();
    reshaped_type(ctx, source, shape.unwrap_or(&products), |layout| collapsed_layout(&layout, from, groups))
}

fn verify_collapse(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let collapse = CollapseShapeOp(op);
    let (from, to) = (m.value_type(collapse.src(m)), m.value_type(collapse.result(m)));
    let (shape, new) = (ctx.shape(from).unwrap_or(&[]), ctx.shape(to).unwrap_or(&[]));
    let (r0, r1) = (shape.len(), new.len());
    if r0 < r1 {
        return Err(format!("has source rank {r0} and result rank {r1}. This is not a collapse ({r0} < {r1}).").into());
    }
    let groups = reassociation_of(ctx, collapse.reassociation(m));
    verify_groups(new, shape, &groups)?;
    let want = collapsed_type(ctx, from, &groups, Some(new))
        .ok_or("invalid source layout map or collapsing non-contiguous dims")?;
    if want != to {
        let (want, have) = (ctx.display_type(want), ctx.display_type(to));
        return Err(format!("expected collapsed type to be '{want}' but found '{have}'").into());
    }
    Ok(())
}

fn verify_expand(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let expand = ExpandShapeOp(op);
    let (from, to) = (m.value_type(expand.src(m)), m.value_type(expand.result(m)));
    let (shape, new) = (ctx.shape(from).unwrap_or(&[]), ctx.shape(to).unwrap_or(&[]));
    let (r0, r1) = (shape.len(), new.len());
    if r0 > r1 {
        return Err(
            format!("has source rank {r0} and result rank {r1}. This is not an expansion ({r0} > {r1}).").into()
        );
    }
    let groups = reassociation_of(ctx, expand.reassociation(m));
    verify_groups(shape, new, &groups)?;
    let want = reshaped_type(ctx, from, new, |layout| Some(expanded_layout(&layout, new, &groups)))
        .ok_or("invalid source layout map")?;
    if want != to {
        let (want, have) = (ctx.display_type(want), ctx.display_type(to));
        return Err(format!("expected expanded type to be '{want}' but found '{have}'").into());
    }
    let stated = expand.static_output_shape(m).and_then(|a| ctx.as_ints(a)).unwrap_or_default();
    if stated.len() != r1 {
        let found = stated.len();
        return Err(format!(
            "expected number of static shape bounds to be equal to the output rank ({r1}) but found {found} inputs instead"
        ).into());
    }
    let (open, given) = (stated.iter().filter(|&&d| d == DYNAMIC).count(), expand.output_shape(m).len());
    if open != given {
        return Err(format!(
            "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has {open} dynamic dims while output_shape has {given} values"
        ).into());
    }
    match new.iter().zip(&stated).position(|(&size, &stated)| size != DYNAMIC && size != stated) {
        Some(pos) => Err(format!("invalid output shape provided at pos {pos}").into()),
        None => Ok(()),
    }
}

/// Returns the product of a group of sizes; `None` on overflow.
fn product(sizes: &[i64], group: &[i64]) -> Option<i64> {
    let mut sizes = group.iter().map(|&d| sizes[d as usize]);
    if sizes.clone().any(|n| n == 0) { Some(0) } else { sizes.try_fold(1i64, i64::checked_mul) }
}

fn collapse(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    let groups = reassociation_of(args.ctx(), args.attr("reassociation"));
    let sizes: Option<Vec<i64>> = groups.iter().map(|group| product(&view.sizes, group)).collect();
    let Some(sizes) = sizes else { return Ok(vec![Datum::Poison]) };
    let layout = StridedLayout { offset: view.offset, strides: view.strides.clone() };
    Ok(vec![match collapsed_layout(&layout, &view.sizes, &groups) {
        Some(layout) => reshaped(view, &sizes, layout),
        None if view.is_empty() => reshaped(view, &sizes, StridedLayout::row_major(&sizes)),
        None => Datum::Poison,
    }])
}

fn expand(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    let groups = reassociation_of(args.ctx(), args.attr("reassociation"));
    let sizes = runtime_entries(args, data, "output_shape", "static_output_shape")?;
    let fits = |(group, &size): (&Vec<i64>, &i64)| product(&sizes, group) == Some(size);
    if sizes.iter().any(|&n| n < 0) || !groups.iter().zip(&view.sizes).all(fits) {
        return Ok(vec![Datum::Poison]);
    }
    let layout = StridedLayout { offset: view.offset, strides: view.strides.clone() };
    Ok(vec![reshaped(view, &sizes, expanded_layout(&layout, &sizes, &groups))])
}

fn reshaped(view: &MemRef, sizes: &[i64], layout: StridedLayout) -> Datum {
    let bytes = view.bytes;
    Datum::MemRef(Box::new(MemRef { bytes, ..MemRef::strided(view.buffer, sizes, layout) }))
}

/// Moves a cast to a less specific type behind the collapse.
fn collapse_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let collapse = CollapseShapeOp(op);
    let Some(cast) = CastOp::defining(m, collapse.src(m)).filter(|c| c.loses_static_info(m)) else { return false };
    let source = cast.source(m);
    let groups = reassociation_of(&m.ctx, collapse.reassociation(m));
    let Some(ty) = collapsed_type(&m.ctx, m.value_type(source), &groups, None) else { return false };
    if ty == m.value_type(collapse.result(m)) {
        r.modify(op, |m| m.set_operand(op, 0, source));
        return true;
    }
    let mut state = OpState::new(&m.ctx, CollapseShapeOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    state.inherent(&m.ctx, "reassociation", Some(reassociation_attr(&m.ctx, &groups)));
    state.result_types.push(ty);
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    replace_by_cast(r, op, value)
}
