//! Tensor types: constraints, cast compatibility and joins.

use gradus_ir::{Attr, Context, DYNAMIC, Type, TypeConstraint, TypeData};

/// Tensors of static shape.
pub(super) const STATIC_TENSOR: TypeConstraint = TypeConstraint {
    summary: "statically shaped tensor of any type values",
    check: |c, t| matches!(c.type_data(t), TypeData::Tensor { .. }) && c.static_shape(t).is_some(),
    only: None,
};

/// Tensors of rank 1 or more, or of unknown rank.
pub(super) const SIZED_TENSOR: TypeConstraint = TypeConstraint {
    summary: "non-0-ranked or unranked tensor",
    check: |c, t| match c.type_data(t) {
        TypeData::Tensor { shape, .. } => !shape.is_empty(),
        data => matches!(data, TypeData::UnrankedTensor(_)),
    },
    only: None,
};

/// Tensors of integers and floats.
pub(super) const NUMBER_TENSOR: TypeConstraint = TypeConstraint {
    summary: "tensor of signless integer or unsigned integer or signed integer or floating-point values",
    check: |c, t| {
        let elem = c.element_type(t);
        is_tensor(c, t) && elem != Type::INDEX && (c.int_width(elem).is_some() || c.float_kind(elem).is_some())
    },
    only: None,
};

/// Tensors of indices.
pub(super) const INDEX_TENSOR: TypeConstraint = TypeConstraint {
    summary: "ranked tensor of signless integer or index values",
    check: |c, t| matches!(c.type_data(t), TypeData::Tensor { .. }) && is_signless_or_index(c, c.element_type(t)),
    only: None,
};

/// Tensors that hold a shape.
pub(super) const SHAPE_TENSOR: TypeConstraint = TypeConstraint {
    summary: "1D tensor of signless integer or index values",
    check: |c, t| matches!(c.shape(t), Some([_])) && (INDEX_TENSOR.check)(c, t),
    only: None,
};

pub(super) fn is_tensor(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::UnrankedTensor(_))
}

fn is_signless_or_index(ctx: &Context, ty: Type) -> bool {
    (crate::constraint::INT_OR_INDEX.check)(ctx, ty)
}

/// Returns the extents of a ranked tensor; empty for other types.
pub(super) fn shape(ctx: &Context, ty: Type) -> &[i64] {
    ctx.shape(ty).unwrap_or(&[])
}

/// Returns the number of dynamic extents.
pub(super) fn dynamic_dims(shape: &[i64]) -> usize {
    shape.iter().filter(|&&d| d == DYNAMIC).count()
}

/// Returns the element type of a ranked tensor, for type relations.
pub(super) fn ranked_element(ctx: &Context, ty: Type) -> Option<Type> {
    match ctx.type_data(ty) {
        TypeData::Tensor { elem, .. } => Some(*elem),
        _ => None,
    }
}

/// Returns the encoding attribute.
fn encoding(ctx: &Context, ty: Type) -> Option<Attr> {
    match ctx.type_data(ty) {
        TypeData::Tensor { encoding, .. } => *encoding,
        _ => None,
    }
}

/// Returns a tensor type with the element type and encoding of `ty`.
pub fn with_shape(ctx: &Context, ty: Type, shape: &[i64]) -> Type {
    let (elem, encoding) = (ctx.element_type(ty), encoding(ctx, ty));
    ctx.ty(TypeData::Tensor { shape: shape.into(), elem, encoding })
}

/// Returns the most specific type of a tensor that has both types; `None` if they are incompatible.
pub fn join(ctx: &Context, a: Type, b: Type) -> Option<Type> {
    if !is_tensor(ctx, a) || !is_tensor(ctx, b) || ctx.element_type(a) != ctx.element_type(b) {
        return None;
    }
    let (Some(x), Some(y)) = (ctx.shape(a), ctx.shape(b)) else {
        return Some(if ctx.shape(a).is_some() { a } else { b });
    };
    let both = |(&p, &q): (&i64, &i64)| match (p, q) {
        (DYNAMIC, known) | (known, DYNAMIC) => Some(known),
        _ => (p == q).then_some(p),
    };
    let joined: Option<Vec<i64>> = x.iter().zip(y).map(both).collect();
    (x.len() == y.len()).then_some(())?;
    Some(ctx.tensor_type(&joined?, ctx.element_type(a)))
}

/// Returns the most specific type of which tensors of both types are; `None` if their element types differ.
pub fn general(ctx: &Context, a: Type, b: Type) -> Option<Type> {
    let elem = ctx.element_type(a);
    (is_tensor(ctx, a) && is_tensor(ctx, b) && elem == ctx.element_type(b)).then_some(())?;
    if a == b {
        return Some(a);
    }
    Some(match (ctx.shape(a), ctx.shape(b)) {
        (Some(x), Some(y)) if x.len() == y.len() => {
            let both: Vec<i64> = x.iter().zip(y).map(|(&p, &q)| if p == q { p } else { DYNAMIC }).collect();
            ctx.tensor_type(&both, elem)
        }
        _ => ctx.ty(TypeData::UnrankedTensor(elem)),
    })
}

/// Whether `tensor.cast` is valid between two types.
pub(super) fn castable(ctx: &Context, from: Type, to: Type) -> bool {
    join(ctx, from, to).is_some()
}

/// Whether `to` has all static extents of `from`; both have the same rank, element type and encoding.
pub fn keeps_extents(ctx: &Context, from: Type, to: Type) -> bool {
    let (Some(x), Some(y)) = (ctx.shape(from), ctx.shape(to)) else { return false };
    is_tensor(ctx, from)
        && is_tensor(ctx, to)
        && ctx.element_type(from) == ctx.element_type(to)
        && encoding(ctx, from) == encoding(ctx, to)
        && x.len() == y.len()
        && x.iter().zip(y).all(|(&a, &b)| a == DYNAMIC || b != DYNAMIC)
}
