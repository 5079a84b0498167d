//! Which types the ops accept, kinds of attributes, and vector types made of others.

use crate::constraint::kind;
use gradus_ir::{Attr, AttrData, AttrKind, AttrText, Context, Module, Type, TypeConstraint, TypeData, Value};

const fn types(summary: &'static str, check: fn(&Context, Type) -> bool) -> TypeConstraint {
    TypeConstraint { summary, check, only: None }
}

/// The extents of a vector, which of them are scalable, and its elements.
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

/// Vectors that have a dimension.
pub(super) const RANKED_VECTOR: TypeConstraint = types("vector of any type values", |c, t| ranked(c, t).is_some());
/// Vectors without scalable dimensions.
pub(super) const FIXED_VECTOR: TypeConstraint =
    types("fixed-length vector of any type values", |c, t| vector(c, t).is_some_and(|v| !v.1.contains(&true)));
/// Vectors of floats.
pub(super) const FLOAT_VECTOR: TypeConstraint =
    types("vector of floating-point values", |c, t| vector(c, t).is_some_and(|v| c.float_kind(v.2).is_some()));
/// Vectors of booleans.
pub(super) const MASK: TypeConstraint =
    types("vector of 1-bit signless integer values", |c, t| vector(c, t).is_some_and(|v| v.2 == Type::I1));
/// Vectors of booleans that have a dimension.
pub(super) const RANKED_MASK: TypeConstraint =
    types("vector of 1-bit signless integer values", |c, t| ranked(c, t).is_some_and(|v| v.2 == Type::I1));
/// Vectors of booleans that have a dimension, none of them scalable.
pub(super) const FIXED_MASK: TypeConstraint = types("fixed-length vector of 1-bit signless integer values", |c, t| {
    ranked(c, t).is_some_and(|v| v.2 == Type::I1 && !v.1.contains(&true))
});
/// Vectors of integers that have a dimension.
pub(super) const INDEX_VECTOR: TypeConstraint =
    types("vector of integer or index values", |c, t| ranked(c, t).is_some_and(|v| integer_or_index(c, v.2)));
/// Vectors of indices with one dimension.
pub(super) const STEP_VECTOR: TypeConstraint = types("vector of index values of ranks 1", |c, t| {
    vector(c, t).is_some_and(|v| v.0.len() == 1 && v.2 == Type::INDEX)
});
/// Vectors with one dimension. The summary is MLIR's.
pub(super) const VECTOR_1D: TypeConstraint = types(" of ranks 1", |c, t| vector(c, t).is_some_and(|v| v.0.len() == 1));
/// Vectors with one dimension, a scalable one. The summary is MLIR's.
pub(super) const SCALABLE_1D: TypeConstraint = types(" of ranks 1", |c, t| vector(c, t).is_some_and(|v| v.1 == [true]));
/// Tensors and memrefs.
pub(super) const TENSOR_OR_MEMREF: TypeConstraint =
    types("Tensor or MemRef of any type values", |c, t| c.is_shaped(t) && vector(c, t).is_none());
/// Vectors, tensors and memrefs.
pub(super) const SHAPED: TypeConstraint = types("shaped of any type values", Context::is_shaped);
/// What `vector.print` prints. The summary is MLIR's.
pub(super) const PRINTABLE: TypeConstraint = types("", |c, t| {
    let elem = vector(c, t).map_or(t, |v| v.2);
    integer_or_index(c, elem) || c.float_kind(elem).is_some()
});

/// How two elements are combined into one.
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
/// What a dimension of a contraction is.
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
/// What is printed after a value.
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
/// `array<i64: 1, 0>`, spelled `[1, 0]`
pub(super) const I64_LIST: AttrKind = AttrKind { text: AttrText::Ints(Type::I64), ..crate::constraint::I64_ARRAY };
/// `[1, 2]`
pub(super) const INT_ARRAY: AttrKind = kind("64-bit integer array attribute", |c, a| {
    let is_int = |&e: &Attr| matches!(c.attr_data(e), AttrData::Integer { ty: Type::I64, .. });
    c.as_array(a).is_some_and(|list| list.iter().all(is_int))
});
/// `[true, false]`
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
/// A vector type, some of whose dimensions may be scalable.
pub(super) fn vector_type(ctx: &Context, shape: &[i64], scalable: &[bool], elem: Type) -> Type {
    ctx.ty(TypeData::Vector { shape: shape.into(), scalable: scalable.into(), elem })
}

/// The extents of a vector; none of any other type.
pub(super) fn shape(ctx: &Context, ty: Type) -> &[i64] {
    vector(ctx, ty).map_or(&[], |v| v.0)
}

/// Which dimensions of a vector are scalable.
pub(super) fn scalable(ctx: &Context, ty: Type) -> &[bool] {
    vector(ctx, ty).map_or(&[], |v| v.1)
}

/// How many dimensions of a vector are scalable.
pub(super) fn scalables(ctx: &Context, ty: Type) -> usize {
    scalable(ctx, ty).iter().filter(|&&s| s).count()
}

/// Whether a dimension of a vector is scalable.
pub(super) fn is_scalable(ctx: &Context, ty: Type) -> bool {
    scalable(ctx, ty).contains(&true)
}

/// The number of elements of a vector, of a scalable one for the smallest machine.
pub(super) fn count(ctx: &Context, ty: Type) -> i64 {
    shape(ctx, ty).iter().fold(1, |n: i64, &d| n.saturating_mul(d))
}

/// The vector without its first `n` dimensions: an element, if there are no others.
pub(super) fn without_leading(ctx: &Context, ty: Type, n: usize) -> Type {
    match vector(ctx, ty) {
        Some((shape, scalable, elem)) if n < shape.len() => vector_type(ctx, &shape[n..], &scalable[n..], elem),
        _ => ctx.element_type(ty),
    }
}

/// The word of an enumeration of the dialect: `add` for `#vector.kind<add>`.
pub(super) fn word(ctx: &Context, attr: Attr) -> String {
    let text = ctx.display_attr(attr);
    text.split(['<', '>']).nth(1).unwrap_or("").to_owned()
}

/// Checks that two values have the same type of elements.
pub(super) fn same_element(m: &Module, a: Value, b: Value, what: &str) -> Result<(), String> {
    let elem = |v| m.ctx.element_type(m.value_type(v));
    if elem(a) == elem(b) { Ok(()) } else { Err(format!("failed to verify that {what} have same element type")) }
}

/// An error unless `holds`.
pub(super) fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}
