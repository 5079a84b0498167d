//! Type constraints, attribute kinds, and construction of vector types.

use crate::constraint::kind;
use gradus_ir::{
    Attr, AttrData, AttrKind, AttrText, Context, Module, Op, Type, TypeConstraint, TypeData, Value, Violation,
};

const fn types(summary: &'static str, check: fn(&Context, Type) -> bool) -> TypeConstraint {
    TypeConstraint { summary, check, only: None }
}

/// Returns extents, scalability and element type of a vector.
pub(super) fn vector(ctx: &Context, ty: Type) -> Option<(&[i64], &[bool], Type)> {
    match ctx.type_data(ty) {
        TypeData::Vector { shape, scalable, elem } => Some((shape, scalable, *elem)),
        _ => None,
    }
}

fn ranked(ctx: &Context, ty: Type) -> Option<(&[i64], &[bool], Type)> {
    vector(ctx, ty).filter(|v| !v.0.is_empty())
}

fn integer_or_index(ctx: &Context, ty: Type) -> bool {
    ctx.int_width(ty).is_some()
}

/// Vectors of rank 1 or more.
pub(super) const RANKED_VECTOR: TypeConstraint = types("vector of any type values", |c, t| ranked(c, t).is_some());
/// Fixed-length vectors.
pub(super) const FIXED_VECTOR: TypeConstraint =
    types("fixed-length vector of any type values", |c, t| vector(c, t).is_some_and(|v| !v.1.contains(&true)));
/// Vectors of floats.
pub(super) const FLOAT_VECTOR: TypeConstraint =
    types("vector of floating-point values", |c, t| vector(c, t).is_some_and(|v| c.float_kind(v.2).is_some()));
/// Vectors of booleans.
pub(super) const MASK: TypeConstraint =
    types("vector of 1-bit signless integer values", |c, t| vector(c, t).is_some_and(|v| v.2 == Type::I1));
/// Vectors of booleans, rank 1 or more.
pub(super) const RANKED_MASK: TypeConstraint =
    types("vector of 1-bit signless integer values", |c, t| ranked(c, t).is_some_and(|v| v.2 == Type::I1));
/// Fixed-length vectors of booleans, rank 1 or more.
pub(super) const FIXED_MASK: TypeConstraint = types("fixed-length vector of 1-bit signless integer values", |c, t| {
    ranked(c, t).is_some_and(|v| v.2 == Type::I1 && !v.1.contains(&true))
});
/// Vectors of integers, rank 1 or more.
pub(super) const INDEX_VECTOR: TypeConstraint =
    types("vector of integer or index values", |c, t| ranked(c, t).is_some_and(|v| integer_or_index(c, v.2)));
/// Vectors of indices, rank 1.
pub(super) const STEP_VECTOR: TypeConstraint = types("vector of index values of ranks 1", |c, t| {
    vector(c, t).is_some_and(|v| v.0.len() == 1 && v.2 == Type::INDEX)
});
/// Vectors of rank 1. The summary is MLIR's.
pub(super) const VECTOR_1D: TypeConstraint = types(" of ranks 1", |c, t| vector(c, t).is_some_and(|v| v.0.len() == 1));
/// Scalable vectors of rank 1. The summary is MLIR's.
pub(super) const SCALABLE_1D: TypeConstraint = types(" of ranks 1", |c, t| vector(c, t).is_some_and(|v| v.1 == [true]));
/// Tensors and memrefs.
pub(super) const TENSOR_OR_MEMREF: TypeConstraint =
    types("Tensor or MemRef of any type values", |c, t| c.is_shaped(t) && vector(c, t).is_none());
/// Vectors, tensors and memrefs.
pub(super) const SHAPED: TypeConstraint = types("shaped of any type values", Context::is_shaped);
/// Types that `vector.print` accepts. The summary is MLIR's.
pub(super) const PRINTABLE: TypeConstraint = types("", |c, t| {
    let elem = vector(c, t).map_or(t, |v| v.2);
    integer_or_index(c, elem) || c.float_kind(elem).is_some()
});

/// Combining kinds.
pub const KIND: AttrKind = AttrKind {
    summary: "Kind of combining function for contractions and reductions",
    check: |c, a| gradus_ir::verify::has_words(c, a, &KIND.text),
    text: AttrText::Words {
        dialect: "vector",
        mnemonic: "kind",
        words: &[
            "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or", "xor", "maximumf",
            "minimumf",
        ],
        flags: None,
    },
};
/// Iterator types of contractions.
pub const ITERATOR_TYPE: AttrKind = AttrKind {
    summary: "Iterator type",
    check: |c, a| gradus_ir::verify::has_words(c, a, &ITERATOR_TYPE.text),
    text: AttrText::Words {
        dialect: "vector",
        mnemonic: "iterator_type",
        words: &["parallel", "reduction"],
        flags: None,
    },
};
/// Punctuation of `vector.print`.
pub const PUNCTUATION: AttrKind = AttrKind {
    summary: "Punctuation for separating vectors or vector elements",
    check: |c, a| gradus_ir::verify::has_words(c, a, &PUNCTUATION.text),
    text: AttrText::Words {
        dialect: "vector",
        mnemonic: "punctuation",
        words: &["no_punctuation", "newline", "comma", "open", "close"],
        flags: None,
    },
};
/// An integer array, `[1, 2]`.
pub(super) const INT_ARRAY: AttrKind = kind("64-bit integer array attribute", |c, a| {
    let is_int = |&e: &Attr| matches!(c.attr_data(e), AttrData::Integer { ty: Type::I64, .. });
    c.as_array(a).is_some_and(|list| list.iter().all(is_int))
});
/// A boolean array, `[true, false]`.
pub(super) const BOOL_ARRAY: AttrKind = kind("1-bit boolean array attribute", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| c.as_bool(e).is_some()))
});
/// An affine map.
pub(super) const MAP: AttrKind = kind("AffineMap attribute", |c, a| matches!(c.attr_data(a), AttrData::AffineMap(_)));
/// Affine maps.
pub(super) const MAPS: AttrKind = kind("array attribute", |c, a| c.as_array(a).is_some());
/// Iterator types.
pub(super) const ITERATOR_TYPES: AttrKind = kind("Iterator type should be an enum.", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| (ITERATOR_TYPE.check)(c, e)))
});
/// Returns a vector type with optional scalable dimensions.
pub(super) fn vector_type(ctx: &Context, shape: &[i64], scalable: &[bool], elem: Type) -> Type {
    ctx.ty(TypeData::Vector { shape: shape.into(), scalable: scalable.into(), elem })
}

/// Returns the extents of a vector; empty for other types.
pub(super) fn shape(ctx: &Context, ty: Type) -> &[i64] {
    vector(ctx, ty).map_or(&[], |v| v.0)
}

/// Returns which dimensions are scalable.
pub(super) fn scalable(ctx: &Context, ty: Type) -> &[bool] {
    vector(ctx, ty).map_or(&[], |v| v.1)
}

/// Returns the number of scalable dimensions.
pub(super) fn scalables(ctx: &Context, ty: Type) -> usize {
    scalable(ctx, ty).iter().filter(|&&s| s).count()
}

/// Whether a dimension of a vector is scalable.
pub(super) fn is_scalable(ctx: &Context, ty: Type) -> bool {
    scalable(ctx, ty).contains(&true)
}

/// Returns the number of elements; for scalable vectors at `vscale` = 1.
pub(super) fn count(ctx: &Context, ty: Type) -> i64 {
    shape(ctx, ty).iter().fold(1, |n: i64, &d| n.saturating_mul(d))
}

/// Returns the vector without its first `n` dimensions, or the element.
pub(super) fn without_leading(ctx: &Context, ty: Type, n: usize) -> Type {
    match vector(ctx, ty) {
        Some((shape, scalable, elem)) if n < shape.len() => vector_type(ctx, &shape[n..], &scalable[n..], elem),
        _ => ctx.element_type(ty),
    }
}

/// Returns the keyword of an enum attribute: `add` for `#vector.kind<add>`.
pub(super) fn word(ctx: &Context, attr: Attr) -> String {
    let text = ctx.display_attr(attr);
    text.split(['<', '>']).nth(1).unwrap_or("").to_owned()
}

/// Verifies that two values have the same element type.
pub(super) fn same_element(m: &Module, a: Value, b: Value, what: &str) -> Result<(), Violation> {
    let elem = |v| m.ctx.element_type(m.value_type(v));
    if elem(a) == elem(b) { Ok(()) } else { Err(format!("failed to verify that {what} have same element type").into()) }
}

/// Returns an error unless `holds`.
pub(super) fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(message().into()) }
}

/// Returns an integer list attribute of an op.
pub(super) fn ints(m: &Module, op: Op, name: &str) -> Vec<i64> {
    m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
}
