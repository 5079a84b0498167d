//! `tensor.collapse_shape` and `tensor.expand_shape`.

use super::cast::{before_cast, cast_before, replace_and_cast};
use super::types::{castable, dynamic_dims, is_tensor, shape, with_shape};
use super::{CastOp, FromElementsOp, SplatOp, data, names};
use crate::constraint::{I64_ARRAY, INDEX, TENSOR};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{self, Mixed, REASSOCIATION, Reassociation, ReshapeOps, add_mixed, constant_entry, mixed_entries};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Context, DYNAMIC, Effects, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter,
    Type, Value, Violation, op,
};

/// Collapses groups of adjacent dimensions into one each.
///
/// ```mlir
/// %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
/// ```
#[op(
    "tensor.collapse_shape",
    effects = Effects::MayUb,
    verify = verify_collapse,
    fold = |args, constants| fold_reshape(args, constants, ExpandShapeOp::INFO),
    eval = collapse,
    moves = &["src"],
    patterns = &[COMPOSE, COLLAPSE_OF_EXPAND, COLLAPSE_OF_CAST, RESHAPE_OF_SCALARS],
    result_names = |_, _| names("collapsed"),
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)"
)]
pub struct CollapseShapeOp {
    /// Tensor before the collapse.
    src: Operand<TENSOR>,
    /// Groups of dimensions to collapse.
    reassociation: Attribute<REASSOCIATION>,
    /// Collapsed tensor.
    result: OpResult<TENSOR>,
}

/// Expands dimensions into groups of dimensions. Extents of a group that do not multiply to the source extent are
/// undefined behavior.
///
/// ```mlir
/// %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [%n, 3, 4] : tensor<?x4xf32> into tensor<?x3x4xf32>
/// ```
#[op(
    "tensor.expand_shape",
    effects = Effects::MayUb,
    directives = &[&DYNAMIC_INDEX_LIST],
    verify = verify_expand,
    fold = |args, constants| fold_reshape(args, constants, CollapseShapeOp::INFO),
    eval = expand,
    moves = &["src"],
    patterns = &[COMPOSE, EXPAND_OF_COLLAPSE, CONSTANT_EXTENTS, RESHAPE_OF_SCALARS],
    result_names = |_, _| names("expanded"),
    format = "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape)
              attr-dict `:` type($src) `into` type($result)"
)]
pub struct ExpandShapeOp {
    /// Tensor before the expansion.
    src: Operand<TENSOR>,
    /// Dynamic extents of the result.
    output_shape: Operands<INDEX>,
    /// Groups of result dimensions, one per source dimension.
    reassociation: Attribute<REASSOCIATION>,
    /// Extents of the result, with placeholders for dynamic ones.
    static_output_shape: Attribute<I64_ARRAY>,
    /// Expanded tensor.
    result: OpResult<TENSOR>,
}

const OPS: ReshapeOps =
    ReshapeOps { expand: ExpandShapeOp::INFO, collapse: CollapseShapeOp::INFO, cast: CastOp::INFO, castable };

/// Merges two consecutive collapses or expansions.
const COMPOSE: Pattern = Pattern { name: "compose reshapes", run: |r, op| views::compose_reshapes(r, op) };

const COLLAPSE_OF_EXPAND: Pattern =
    Pattern { name: "collapse of expand", run: |r, op| views::collapse_of_expand(r, op, &OPS) };

const EXPAND_OF_COLLAPSE: Pattern =
    Pattern { name: "expand of collapse", run: |r, op| views::expand_of_collapse(r, op, &OPS) };

/// Collapses the source of a cast that loses static extents.
const COLLAPSE_OF_CAST: Pattern = Pattern { name: "collapse of cast", run: collapse_of_cast };

/// Makes constant extents static where the source permits it.
const CONSTANT_EXTENTS: Pattern = Pattern { name: "constant extents", run: constant_extents };

/// Creates `tensor.from_elements` and `tensor.splat` directly in the reshaped type.
const RESHAPE_OF_SCALARS: Pattern = Pattern { name: "reshape of scalars", run: reshape_of_scalars };

// ---- verification

fn reshape_of(m: &Module, op: Op) -> (Type, Type, Reassociation) {
    let groups = views::reassociation_of(&m.ctx, m.inherent_attr(op, "reassociation"));
    (m.value_type(m.operands(op)[0]), m.value_type(m.result(op, 0)), groups)
}

fn verify_collapse(m: &Module, op: Op) -> Result<(), Violation> {
    let (expanded, collapsed, groups) = reshape_of(m, op);
    verify_groups(&m.ctx, expanded, collapsed, &groups)
}

fn verify_expand(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (collapsed, expanded, groups) = reshape_of(m, op);
    let rank = shape(ctx, expanded).len();
    if rank < shape(ctx, collapsed).len() {
        return Err(format!(
            "expected the expanded type, '{}' to have a higher (or same) rank than the collapsed type, '{}'.",
            ctx.display_type(expanded),
            ctx.display_type(collapsed)
        )
        .into());
    }
    let stated = m.args(op).and_then(|args| args.ints("static_output_shape")).unwrap_or_default();
    if stated.len() != rank {
        return Err(format!(
            "expected number of static shape dims to be equal to the output rank ({rank}) but found {} inputs instead",
            stated.len()
        )
        .into());
    }
    let (open, given) = (dynamic_dims(&stated), ExpandShapeOp(op).output_shape(m).len());
    if open != given {
        return Err(format!(
            "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has {open} dynamic dims while output_shape has {given} values"
        ).into());
    }
    verify_groups(ctx, expanded, collapsed, &groups)
}

/// Verifies that `groups` partition the dimensions of `expanded` in order, and match the dimensions of `collapsed`.
fn verify_groups(ctx: &Context, expanded: Type, collapsed: Type, groups: &[Vec<i64>]) -> Result<(), Violation> {
    let (Some(fine), Some(coarse)) = (ctx.shape(expanded), ctx.shape(collapsed)) else {
        return Err("requires ranked tensors".into());
    };
    if groups.iter().any(Vec::is_empty) {
        return Err("reassociation indices must not be empty".into());
    }
    if coarse.len() != groups.len() {
        let (rank, count) = (coarse.len(), groups.len());
        return Err(
            format!("expected collapsed rank ({rank}) to equal the number of reassociation maps ({count}).").into()
        );
    }
    let size = groups.iter().flatten().max().map_or(0, |&last| last.saturating_add(1).max(0));
    if !groups.is_empty() && size != fine.len() as i64 {
        let rank = fine.len();
        return Err(format!(
            "expected reassociation map #0 to have size equal to the expanded rank ({rank}), but it is  {size}."
        )
        .into());
    }
    let mut next = 0..;
    for (i, group) in groups.iter().enumerate() {
        if !group.iter().all(|&dim| next.next() == Some(dim)) {
            return Err(format!("expected reassociation map #{i} to be valid and contiguous.").into());
        }
    }
    for (i, (group, &extent)) in groups.iter().zip(coarse).enumerate() {
        verify_extent(i, extent, joined(fine, group))?;
    }
    let want = ctx.with_element(collapsed, ctx.element_type(expanded));
    if want != collapsed {
        let (want, have) = (ctx.display_type(want), ctx.display_type(collapsed));
        return Err(format!("expected collapsed type to be '{want}', but got '{have}'").into());
    }
    Ok(())
}

fn verify_extent(i: usize, have: i64, want: i64) -> Result<(), Violation> {
    match want {
        _ if have == want => Ok(()),
        DYNAMIC => Err(format!(
            "expected dimension {i} of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic"
        ).into()),
        _ => Err(format!("expected dimension {i} of collapsed type to be static value of {want}").into()),
    }
}

/// Returns the extent of a collapsed group.
fn joined(shape: &[i64], group: &[i64]) -> i64 {
    let extents = group.iter().filter_map(|&i| shape.get(usize::try_from(i).ok()?));
    extents.fold(1, |n, &d| if n == DYNAMIC || d == DYNAMIC { DYNAMIC } else { n.saturating_mul(d) })
}

// ---- folding

fn fold_reshape(args: &OpArgs<'_>, constants: &[Option<Attr>], inverse: &'static gradus_ir::OpInfo) -> Option<Folded> {
    let constant = constants[0].and_then(|c| data::retyped_constant(args.ctx(), c, *args.result_types.first()?, false));
    constant.map(Folded::from).or_else(|| views::fold_reshape(args, inverse))
}

fn collapse_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let (_, to, groups) = reshape_of(m, op);
    let Some(source) = before_cast(m, m.operands(op)[0]) else { return false };
    let known = shape(ctx, m.value_type(source));
    let shape: Vec<i64> = groups.iter().map(|group| joined(known, group)).collect();
    let mut state = OpState::new(ctx, CollapseShapeOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    state.inherent(ctx, "reassociation", m.inherent_attr(op, "reassociation"));
    state.result_types.push(with_shape(ctx, to, &shape));
    replace_and_cast(r, op, state)
}

fn constant_extents(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let (from, to, groups) = reshape_of(m, op);
    let Some(source) = before_cast(m, m.operands(op)[0]) else { return false };
    let known = shape(ctx, m.value_type(source));
    let Some(mut output) = m.args(op).map(|args| mixed_entries(&args, "output_shape", "static_output_shape")) else {
        return false;
    };
    let mut changed = false;
    for (group, _) in groups.iter().zip(known).filter(|(_, extent)| **extent != DYNAMIC) {
        for &i in group {
            let Some(entry) = usize::try_from(i).ok().and_then(|i| output.get_mut(i)) else { return false };
            let Some(n) = constant_entry(m, *entry).filter(|n| *n >= 0) else { continue };
            changed |= std::mem::replace(entry, Mixed::Static(n)) != *entry;
        }
    }
    let old = shape(ctx, to);
    let fine: Vec<i64> =
        output.iter().zip(old).map(|(e, &d)| if d == DYNAMIC { e.or_placeholder() } else { d }).collect();
    let coarse: Vec<i64> = groups.iter().map(|group| joined(&fine, group)).collect();
    let fits = coarse.iter().zip(known).all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC);
    if !changed || !fits {
        return false;
    }
    let (from, to) = (with_shape(ctx, from, &coarse), with_shape(ctx, to, &fine));
    let mut state = OpState::new(ctx, ExpandShapeOp::INFO.name, m.loc(op));
    let reassociation = m.inherent_attr(op, "reassociation");
    let Some(source) = cast_before(r, op, source, from) else { return false };
    let ctx = &r.module().ctx;
    state.operand_group(&[source]);
    add_mixed(ctx, &mut state, "static_output_shape", &output);
    state.inherent(ctx, "reassociation", reassociation);
    state.result_types.push(to);
    replace_and_cast(r, op, state)
}

fn reshape_of_scalars(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (from, to, _) = reshape_of(m, op);
    let source = m.operands(op)[0];
    if m.ctx.static_shape(from).is_none() || m.ctx.static_shape(to).is_none() {
        return false;
    }
    let made = match (FromElementsOp::defining(m, source), SplatOp::defining(m, source)) {
        (Some(elements), _) => elements.0,
        (_, Some(splat)) => splat.0,
        _ => return false,
    };
    let scalars: Vec<Value> = m.operands(made).to_vec();
    let mut state = OpState::new(&m.ctx, m.name_text(made), m.loc(op));
    state.operand_group(&scalars);
    state.result_types.push(to);
    r.replace_with(op, state).is_ok()
}

// ---- semantics

fn run_time_shape(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<i64>, Trap> {
    let stated = views::runtime_entries(args, data, "output_shape", "static_output_shape")?;
    // Static extents of the type take precedence.
    let known = shape(args.ctx(), args.result_types[0]).iter();
    Ok(known.zip(stated).map(|(&d, n)| if d == DYNAMIC { n } else { d }).collect())
}

fn collapse(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensor = data[0].tensor()?;
    let from: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
    let groups = views::reassociation_of(args.ctx(), args.attr("reassociation"));
    let shape: Vec<i64> = groups.iter().map(|group| joined(&from, group)).collect();
    reshaped(args, tensor, &shape)
}

fn expand(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensor = data[0].tensor()?;
    let shape = run_time_shape(args, data)?;
    let groups = views::reassociation_of(args.ctx(), args.attr("reassociation"));
    for (group, &extent) in groups.iter().zip(tensor.shape()) {
        if joined(&shape, group) != extent as i64 {
            return Err(Trap::Ub(format!("the extents of a group do not multiply to {extent}")));
        }
    }
    reshaped(args, tensor, &shape)
}

fn reshaped(args: &OpArgs<'_>, tensor: &gradus_ir::Tensor, shape: &[i64]) -> Result<Vec<Datum>, Trap> {
    debug_assert!(is_tensor(args.ctx(), args.result_types[0]));
    let shape = data::extents(shape)?;
    let reshaped = tensor.reshape(shape).map_err(|_| Trap::Ub("a reshape to another number of elements".into()))?;
    Ok(vec![Datum::Tensor(reshaped)])
}
