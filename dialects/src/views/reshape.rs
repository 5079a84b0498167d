//! Folding and composition of expansions and collapses of tensors and memrefs.

use super::mixed::{Mixed, add_mixed, constant_entry, mixed_entries};
use super::reassociation::{Reassociation, collapsing, compose, reassociation_attr, reassociation_of, regroup};
use gradus_ir::{
    Context, DYNAMIC, Folded, Module, Op, OpArgs, OpInfo, OpState, PatternRewriter, Rewriter, Type, Value,
};

/// The reshape ops of a dialect. Expansion and collapse have an operand `src` and an attribute `reassociation`; the
/// expansion has its shape in `output_shape` and `static_output_shape`.
pub struct ReshapeOps {
    /// Expansion of dimensions.
    pub expand: &'static OpInfo,
    /// Collapse of dimensions.
    pub collapse: &'static OpInfo,
    /// Cast that keeps the shape.
    pub cast: &'static OpInfo,
    /// Whether a cast between two types is valid.
    pub castable: fn(&Context, Type, Type) -> bool,
}

/// An expansion or collapse in the IR.
struct Reshape {
    src: Value,
    from: Type,
    to: Type,
    groups: Reassociation,
}

impl Reshape {
    fn of(m: &Module, op: Op) -> Reshape {
        let src = m.operands(op)[0];
        let groups = reassociation_of(&m.ctx, m.inherent_attr(op, "reassociation"));
        Reshape { src, from: m.value_type(src), to: m.value_type(m.result(op, 0)), groups }
    }

    /// Returns the defining op of `value` if it is the reshape `info`.
    fn defining(m: &Module, value: Value, info: &'static OpInfo) -> Option<(Op, Reshape)> {
        let op = m.defining_op(value).filter(|&op| m.is_one_of(op, &[info]))?;
        Some((op, Reshape::of(m, op)))
    }
}

fn shape(ctx: &Context, ty: Type) -> &[i64] {
    ctx.shape(ty).unwrap_or(&[])
}

fn dynamic(shape: &[i64]) -> usize {
    shape.iter().filter(|&&d| d == DYNAMIC).count()
}

/// Folds an identity reshape, and a reshape of its inverse.
pub fn fold_reshape(args: &OpArgs<'_>, inverse: &'static OpInfo) -> Option<Folded> {
    let (m, ctx) = (args.module, args.ctx());
    let (src, to) = (args.operands[0], *args.result_types.first()?);
    if m.value_type(src) == to {
        return Some(src.into());
    }
    let (_, before) = Reshape::defining(m, src, inverse)?;
    if before.from != to {
        return None;
    }
    let (from, between) = (shape(ctx, before.from), shape(ctx, before.to));
    let groups = reassociation_of(ctx, args.attr("reassociation"));
    let few = |group: &Vec<i64>| {
        let dims = group.iter().filter_map(|&i| from.get(usize::try_from(i).ok()?));
        dims.filter(|&&d| d == DYNAMIC).count() < 2
    };
    let undone =
        dynamic(from) < 2 || (groups == before.groups && (from.len() < between.len() || groups.iter().all(few)));
    undone.then(|| before.src.into())
}

/// Merges two consecutive expansions or collapses.
pub fn compose_reshapes(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(info) = m.info(op) else { return false };
    let second = Reshape::of(m, op);
    let Some((_, first)) = Reshape::defining(m, second.src, info) else { return false };
    let identity = [first.from, second.from, second.to].iter().all(|&ty| m.ctx.has_identity_layout(ty));
    let Some(groups) = compose(&first.groups, &second.groups).filter(|_| identity) else { return false };
    let output = output_shape(m, op);
    replace(r, op, info, first.src, &groups, &output)
}

/// Replaces a collapse of an expansion by one reshape or a cast, if the groups of one refine those of the other.
pub fn collapse_of_expand(r: &mut Rewriter<'_>, op: Op, ops: &ReshapeOps) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let collapse = Reshape::of(m, op);
    let Some((first, expand)) = Reshape::defining(m, collapse.src, ops.expand) else { return false };
    let identity = [collapse.from, expand.from, expand.to].iter().all(|&ty| ctx.has_identity_layout(ty));
    if !identity || expand.from == collapse.to {
        return false;
    }
    let (rank, new_rank) = (shape(ctx, expand.from).len(), shape(ctx, collapse.to).len());
    let shrinks = rank > new_rank;
    let (fine, coarse) = if shrinks { (&expand.groups, &collapse.groups) } else { (&collapse.groups, &expand.groups) };
    let Some(groups) = regroup(fine, coarse) else { return false };
    if shrinks {
        return replace(r, op, ops.collapse, expand.src, &groups, &[]);
    }
    if rank == new_rank {
        return cast(r, op, ops, expand.src);
    }
    let sizes = output_shape(m, first);
    let output: Option<Vec<Mixed>> = collapse.groups.iter().map(|group| product(r, op, &sizes, group)).collect();
    output.is_some_and(|output| replace(r, op, ops.expand, expand.src, &groups, &output))
}

/// Replaces an expansion of a collapse by one reshape, if the mapping of dimensions is unambiguous.
pub fn expand_of_collapse(r: &mut Rewriter<'_>, op: Op, ops: &ReshapeOps) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let expand = Reshape::of(m, op);
    let Some((_, collapse)) = Reshape::defining(m, expand.src, ops.collapse) else { return false };
    let (from, to) = (shape(ctx, collapse.from), shape(ctx, expand.to));
    if ![expand.from, collapse.from, collapse.to].iter().all(|&ty| ctx.has_identity_layout(ty)) {
        let castable = dynamic(from) == 0 && (ops.castable)(ctx, collapse.from, expand.to);
        return castable && cast(r, op, ops, collapse.src);
    }
    if from.len() == to.len() {
        return false;
    }
    if from.len() > to.len() {
        let Some(groups) = collapsing_groups((from, &collapse.groups), (to, &expand.groups)) else { return false };
        return replace(r, op, ops.collapse, collapse.src, &groups, &[]);
    }
    let Some(groups) = collapsing_groups((to, &expand.groups), (from, &collapse.groups)) else { return false };
    let output = output_shape(m, op);
    replace(r, op, ops.expand, collapse.src, &groups, &output)
}

/// Returns the groups that collapse one shape to the other, given the groups by which both collapse to a third shape.
fn collapsing_groups(from: (&[i64], &[Vec<i64>]), to: (&[i64], &[Vec<i64>])) -> Option<Reassociation> {
    if from.1.is_empty() {
        return collapsing(from.0, to.0);
    }
    let mut groups = Vec::new();
    for (from_group, to_group) in from.1.iter().zip(to.1) {
        let part = |shape: &'_ [i64], group: &[i64]| -> Option<Vec<i64>> {
            group.iter().map(|&i| shape.get(usize::try_from(i).ok()?).copied()).collect()
        };
        let (a, b) = (part(from.0, from_group)?, part(to.0, to_group)?);
        if dynamic(&a) >= 2 && dynamic(&b) >= 2 {
            return None;
        }
        let first = *from_group.first()?;
        if a.len() == b.len() {
            if a != b {
                return None;
            }
            groups.extend((0..a.len() as i64).map(|i| vec![first + i]));
            continue;
        }
        groups.extend(collapsing(&a, &b)?.into_iter().map(|g| g.into_iter().map(|i| first + i).collect()));
    }
    Some(groups)
}

/// Returns the output shape of an expansion; empty for a collapse.
fn output_shape(m: &Module, op: Op) -> Vec<Mixed> {
    m.args(op).map(|args| mixed_entries(&args, "output_shape", "static_output_shape")).unwrap_or_default()
}

/// Returns the product of the sizes of a group, computed before `op` if it is dynamic.
fn product(r: &mut Rewriter<'_>, op: Op, sizes: &[Mixed], group: &[i64]) -> Option<Mixed> {
    let (mut number, mut value) = (1i64, None);
    for &i in group {
        let size = *sizes.get(usize::try_from(i).ok()?)?;
        match (constant_entry(r.module(), size), size) {
            (Some(n), _) => number = number.checked_mul(n)?,
            (None, Mixed::Dynamic(v)) => value = Some(value.map_or(Some(v), |old| multiply(r, op, old, v))?),
            (None, Mixed::Static(_)) => return None,
        }
    }
    let Some(value) = value else { return Some(Mixed::Static(number)) };
    if number == 1 {
        return Some(Mixed::Dynamic(value));
    }
    let attr = r.module().ctx.int_attr(Type::INDEX, number);
    let factor = r.constant(op, attr, Type::INDEX)?;
    multiply(r, op, value, factor).map(Mixed::Dynamic)
}

fn multiply(r: &mut Rewriter<'_>, op: Op, a: Value, b: Value) -> Option<Value> {
    let m = r.module();
    let mut state = OpState::new(&m.ctx, "arith.muli", m.loc(op));
    state.operand_group(&[a, b]);
    let product = r.create_before(op, state).ok()?;
    Some(r.module().result(product, 0))
}

/// Replaces `op` by the reshape `info` of `src` with these groups and, for an expansion, this shape.
fn replace(
    r: &mut Rewriter<'_>,
    op: Op,
    info: &'static OpInfo,
    src: Value,
    groups: &[Vec<i64>],
    output: &[Mixed],
) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let mut state = OpState::new(ctx, info.name, m.loc(op));
    state.operand_group(&[src]);
    state.inherent(ctx, "reassociation", Some(reassociation_attr(ctx, groups)));
    if info.attr("static_output_shape").is_some() {
        add_mixed(ctx, &mut state, "static_output_shape", output);
    }
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}

fn cast(r: &mut Rewriter<'_>, op: Op, ops: &ReshapeOps, src: Value) -> bool {
    let m = r.module();
    let mut state = OpState::new(&m.ctx, ops.cast.name, m.loc(op));
    state.operand_group(&[src]);
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}
