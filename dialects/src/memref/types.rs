//! Type constraints on memrefs, and attribute kinds.

use crate::constraint::kind;
use gradus_ir::{AttrData, AttrKind, AttrText, Context, Int, Signedness, Type, TypeConstraint, TypeData, TypeRelation};

const fn types(summary: &'static str, check: fn(&Context, Type) -> bool) -> TypeConstraint {
    TypeConstraint { summary, check, only: None }
}

fn ranked(ctx: &Context, ty: Type) -> Option<(&[i64], Type)> {
    match ctx.type_data(ty) {
        TypeData::MemRef { shape, elem, .. } => Some((shape, *elem)),
        _ => None,
    }
}

fn number(ctx: &Context, ty: Type) -> bool {
    signless(ctx, ty) || ctx.float_kind(ty).is_some()
}

fn signless(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Integer { sign: Signedness::Signless, .. })
}

/// Memrefs with a strided layout.
pub const STRIDED: TypeConstraint = types("strided memref of any type values", |c, t| c.strided_layout(t).is_some());
/// Strided memrefs of rank 0.
pub const STRIDED_0D: TypeConstraint = types("strided memref of any type values of rank 0", |c, t| {
    ranked(c, t).is_some_and(|(shape, _)| shape.is_empty()) && c.strided_layout(t).is_some()
});
/// Memrefs of rank 1 or more, or of unknown rank.
pub const WITH_DIMENSIONS: TypeConstraint =
    types("unranked.memref of any type values or non-0-ranked.memref of any type values", |c, t| {
        match c.type_data(t) {
            TypeData::MemRef { shape, .. } => !shape.is_empty(),
            other => matches!(other, TypeData::UnrankedMemRef { .. }),
        }
    });
/// Memrefs of rank 1.
pub const VECTOR_LIKE: TypeConstraint =
    types("1D memref of any type values", |c, t| ranked(c, t).is_some_and(|(shape, _)| shape.len() == 1));
/// Memrefs that hold a shape: rank 1, integer elements.
pub const SHAPE: TypeConstraint = types("1D memref of signless integer or index values", |c, t| {
    ranked(c, t).is_some_and(|(shape, elem)| shape.len() == 1 && (signless(c, elem) || elem == Type::INDEX))
});
/// Memrefs of bytes, rank 1.
pub const BYTES: TypeConstraint = types("1D memref of 8-bit signless integer values", |c, t| {
    ranked(c, t).is_some_and(|(shape, elem)| shape.len() == 1 && elem == Type::I8)
});
/// Memrefs of static shape.
pub const STATIC: TypeConstraint =
    types("statically shaped memref of any type values", |c, t| ranked(c, t).is_some() && c.static_shape(t).is_some());
/// Element types of atomic ops.
pub const NUMBER: TypeConstraint = types("signless integer or floating-point", number);
/// Memrefs that atomic ops access.
pub const NUMBERS: TypeConstraint = types("memref of signless integer or floating-point values", |c, t| {
    ranked(c, t).is_some_and(|(_, elem)| number(c, elem))
});

/// An alignment in bytes.
pub const ALIGNMENT: AttrKind = kind(
    "64-bit signless integer attribute whose value is positive and whose value is a power of two > 0",
    |c, a| matches!(c.attr_data(a), AttrData::Integer { ty: Type::I64, value: Int::Small(v) } if *v > 0 && v.count_ones() == 1),
);
/// A positive 32-bit integer.
pub const POSITIVE_I32: AttrKind = AttrKind {
    text: AttrText::Bare(Type::I32),
    ..kind(
        "32-bit signless integer attribute whose value is positive",
        |c, a| matches!(c.attr_data(a), AttrData::Integer { ty: Type::I32, value: Int::Small(v) } if *v > 0),
    )
};
/// A boolean.
pub const BOOL: AttrKind = kind("bool attribute", |c, a| c.as_bool(a).is_some());

/// Returns the relation that the values of a group are elements of the memref `memref`.
pub const fn element_of_memref(to: &'static str, summary: &'static str) -> TypeRelation {
    TypeRelation::Derived { to, from: "memref", of: |c, t| c.shape(t).map(|_| c.element_type(t)), summary }
}
