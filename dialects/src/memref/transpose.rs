//! `transpose`: permutation of dimensions.

use super::types::STRIDED;
use crate::constraint::kind;
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::MemRef;
use gradus_ir::{
    Attr, AttrData, AttrKind, AttrText, Context, Directive, Folded, Module, Op, OpArgs, OpDecl, Pattern, Rewriter,
    Type, TypeData, Violation, op,
};

/// An affine map.
const MAP: AttrKind = AttrKind {
    text: AttrText::Inlined,
    ..kind("AffineMap attribute", |c, a| matches!(c.attr_data(a), AttrData::AffineMap(_)))
};

/// Permutes the dimensions of a memref, as a view.
///
/// ```mlir
/// %0 = memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
/// ```
#[op(
    "memref.transpose",
    directives = &[&PERMUTATION],
    format = "$in custom<Permutation>($permutation) attr-dict `:` type($in) `to` type($result)",
    verify = verify,
    fold = fold,
    eval = transpose,
    result_names = |_, _| vec![(0, "transpose".to_owned())],
    patterns = &[Pattern { name: "compose-transposes", run: compose }]
)]
pub struct TransposeOp {
    /// Source memref.
    #[name = "in"]
    input: Operand<STRIDED>,
    /// Permutation map: result dimension i is source dimension `map(i)`.
    permutation: Attribute<MAP>,
    /// Transposed memref.
    result: OpResult<STRIDED>,
}

/// A permutation map without the `affine_map` keyword: `(i, j) -> (j, i)`.
const PERMUTATION: Directive = Directive {
    name: "Permutation",
    parse: |p, params| {
        let at = p.offset();
        let (_, dims) = p.balanced()?;
        let symbols = if p.peek() == b'[' { p.balanced()?.1 } else { "" };
        p.expect("->")?;
        let (_, results) = p.balanced()?;
        let map = p.attr_from(at, &format!("affine_map<{dims}{symbols} -> {results}>"))?;
        p.set_attr(params[0], map);
        Ok(())
    },
    print: |p, params| {
        if let Some(AttrData::AffineMap(map)) = p.inherent(params[0]).map(|a| p.ctx().attr_data(a)) {
            p.text(&map.to_string());
        }
        Ok(())
    },
};

/// Returns the dimensions of a permutation map; `None` for other maps.
fn order(ctx: &Context, attr: Option<Attr>) -> Option<Vec<usize>> {
    let AttrData::AffineMap(map) = ctx.attr_data(attr?) else { return None };
    let dim = |e: &AffineExpr| if let AffineExpr::Dim(i) = e { Some(*i) } else { None };
    let dims: Vec<u32> = map.results.iter().map(dim).collect::<Option<_>>()?;
    let is_permutation =
        map.num_symbols == 0 && map.num_dims as usize == dims.len() && AffineMap::permutation(&dims).is_some();
    is_permutation.then(|| dims.into_iter().map(|d| d as usize).collect())
}

fn permuted<T: Copy>(list: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&i| list[i]).collect()
}

/// Returns the memref type with permuted dimensions.
fn transposed_type(ctx: &Context, ty: Type, order: &[usize]) -> Option<Type> {
    let layout = ctx.strided_layout(ty)?;
    let layout = StridedLayout { offset: layout.offset, strides: permuted(&layout.strides, order).into() };
    let shape = permuted(ctx.shape(ty)?, order);
    Some(ctx.memref_type(&shape, ctx.element_type(ty), Some(&layout), ctx.memory_space(ty)))
}

/// Returns the type with its layout as a map, or without layout if it is the identity.
fn canonical(ctx: &Context, ty: Type) -> Type {
    let Some(layout) = ctx.strided_layout(ty) else { return ty };
    let mut data = ctx.type_data(ty).clone();
    if let TypeData::MemRef { shape, layout: slot, .. } = &mut data {
        let plain = StridedLayout::row_major(shape) == layout && !layout.strides.contains(&gradus_ir::DYNAMIC);
        let map = layout.to_map();
        *slot = (!plain && !map.is_identity()).then(|| ctx.attr(AttrData::AffineMap(Box::new(map))));
    }
    ctx.ty(data)
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let transpose = TransposeOp(op);
    let (from, to) = (m.value_type(transpose.input(m)), m.value_type(transpose.result(m)));
    let order = order(ctx, transpose.permutation(m)).ok_or("expected a permutation map")?;
    if ctx.shape(from).is_none_or(|s| s.len() != order.len()) {
        return Err("expected a permutation map of same rank as the input".into());
    }
    let want = transposed_type(ctx, from, &order).map(|ty| canonical(ctx, ty));
    if want.is_some_and(|want| canonical(ctx, to) == want) {
        return Ok(());
    }
    let (have, want) = (ctx.display_type(to), want.map_or(String::new(), |w| ctx.display_type(w)));
    Err(format!("result type '{have}' is not equivalent to the canonical transposed input type '{want}'").into())
}

fn transpose(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let view = data[0].memref()?;
    let order = order(args.ctx(), args.attr("permutation")).ok_or_else(|| Trap::unsupported("no permutation"))?;
    let (sizes, strides) = (permuted(&view.sizes, &order).into(), permuted(&view.strides, &order).into());
    Ok(vec![Datum::MemRef(Box::new(MemRef { sizes, strides, ..view.clone() }))])
}

/// Folds the identity permutation.
fn fold(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let source = *args.operands.first()?;
    let order = order(args.ctx(), args.attr("permutation"))?;
    let same = order.iter().enumerate().all(|(i, &d)| i == d);
    (same && args.result_types.first() == Some(&args.module.value_type(source))).then(|| source.into())
}

/// transpose(transpose(x)) = transpose(x)
fn compose(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ctx = &m.ctx;
    let Some(first) = TransposeOp::defining(m, TransposeOp(op).input(m)) else { return false };
    let map = |op: TransposeOp| match op.permutation(m).map(|a| ctx.attr_data(a)) {
        Some(AttrData::AffineMap(map)) => Some(map),
        _ => None,
    };
    let (Some(second), Some(before)) = (map(TransposeOp(op)), map(first)) else { return false };
    let Some(both) = second.compose(before) else { return false };
    let permutation = ctx.attr(AttrData::AffineMap(Box::new(both)));
    let source = first.input(m);
    r.modify(op, |m| {
        m.set_operand(op, 0, source);
        m.set_attr(op, "permutation", Some(permutation));
    });
    true
}
