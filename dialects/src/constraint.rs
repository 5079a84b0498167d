//! Type and attribute constraints shared by dialects.

use gradus_ir::{Attr, AttrData, AttrKind, AttrText, Context, DType, Signedness, Type, TypeConstraint, TypeData};

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident = $summary:literal, $check:expr;)*) => {
        $($(#[$doc])* pub const $name: TypeConstraint = TypeConstraint { summary: $summary, check: $check, only: None };)*
    };
}

/// Whether the type, or the element type of a vector or tensor, passes `check`.
fn like(ctx: &Context, ty: Type, check: fn(&Context, Type) -> bool) -> bool {
    match ctx.type_data(ty) {
        TypeData::Vector { elem, .. } | TypeData::Tensor { elem, .. } | TypeData::UnrankedTensor(elem) => {
            check(ctx, *elem)
        }
        _ => check(ctx, ty),
    }
}

fn signless(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Integer { sign: Signedness::Signless, .. })
}

fn signless_or_index(ctx: &Context, ty: Type) -> bool {
    signless(ctx, ty) || ty == Type::INDEX
}

fn float(ctx: &Context, ty: Type) -> bool {
    ctx.float_kind(ty).is_some()
}

fn tensor(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Tensor { .. } | TypeData::UnrankedTensor(_))
}

fn tensor_of(ctx: &Context, ty: Type, check: fn(&Context, Type) -> bool) -> bool {
    tensor(ctx, ty) && check(ctx, ctx.element_type(ty))
}

fn integer(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Integer { .. })
}

types! {
    /// Any type.
    ANY = "any type", |_, _| true;
    /// `i1`, and vectors and tensors of it.
    BOOL_LIKE = "bool-like", |c, t| like(c, t, |_, e| e == Type::I1);
    /// Signless integers, and vectors and tensors of them.
    SIGNLESS_INT_LIKE = "signless-integer-like", |c, t| like(c, t, signless);
    /// Signless integers and `index`, and vectors and tensors of them.
    INT_OR_INDEX_LIKE = "signless-integer-like or index-like", |c, t| like(c, t, signless_or_index);
    /// Floats, and vectors and tensors of them.
    FLOAT_LIKE = "floating-point-like", |c, t| like(c, t, float);
    /// Function types.
    FUNCTION = "function type", |c, t| c.function_parts(t).is_some();
    /// Ranked tensors.
    RANKED_TENSOR = "ranked tensor of any type values", |c, t| matches!(c.type_data(t), TypeData::Tensor { .. });
    /// Ranked memrefs.
    MEMREF = "memref of any type values", |c, t| matches!(c.type_data(t), TypeData::MemRef { .. });
    /// Ranked and unranked memrefs.
    ANY_MEMREF = "ranked or unranked memref of any type values", |c, t| {
        matches!(c.type_data(t), TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
    };
    /// Vectors.
    VECTOR = "vector of any type values", |c, t| matches!(c.type_data(t), TypeData::Vector { .. });
    /// Integers of any signedness.
    INTEGER = "integer", integer;
    /// Signless integers and `index`.
    INT_OR_INDEX = "signless integer or index", signless_or_index;
    /// Tensors of any element type.
    TENSOR = "tensor of any type values", tensor;
    /// Tensors of anything but booleans.
    NUMBER_TENSOR = "tensor of numbers", |c, t| tensor_of(c, t, |_, e| e != Type::I1);
    /// Tensors of floats.
    FLOAT_TENSOR = "tensor of floating-point values", |c, t| tensor_of(c, t, float);
    /// Tensors of integers of any signedness.
    INT_TENSOR = "tensor of integer values", |c, t| tensor_of(c, t, integer);
    /// Tensors of 8-bit integers of any signedness.
    BYTE_TENSOR = "tensor of 8-bit integer values", |c, t| tensor_of(c, t, |c, e| integer(c, e) && c.int_width(e) == Some(8));
    /// Tensors of 64-bit integers: shapes, axes, indices.
    I64_TENSOR = "tensor of 64-bit signless integer values", |c, t| tensor_of(c, t, |_, e| e == Type::I64);
    /// Tensors of booleans.
    BOOL_TENSOR = "tensor of 1-bit signless integer values", |c, t| tensor_of(c, t, |_, e| e == Type::I1);
}

/// Constraints satisfied by exactly one type, which custom forms omit.
macro_rules! only {
    ($($(#[$doc:meta])* $name:ident = $summary:literal, $ty:path;)*) => {
        $($(#[$doc])* pub const $name: TypeConstraint =
            TypeConstraint { summary: $summary, check: |_, t| t == $ty, only: Some($ty) };)*
    };
}

only! {
    /// `index`
    INDEX = "index", Type::INDEX;
    /// `i1`
    BOOL = "1-bit signless integer", Type::I1;
}

/// Returns an attribute constraint with the generic attribute syntax.
pub const fn kind(summary: &'static str, check: fn(&Context, Attr) -> bool) -> AttrKind {
    AttrKind { summary, check, text: AttrText::Full }
}

fn int_of(ctx: &Context, attr: Attr, ty: Type) -> bool {
    matches!(ctx.attr_data(attr), AttrData::Integer { ty: t, .. } if *t == ty)
}

/// Any attribute.
pub const ANY_ATTR: AttrKind = kind("any attribute", |_, _| true);
/// A typed attribute: integer, float or elements.
pub const TYPED_ATTR: AttrKind = kind("TypedAttr instance", |c, a| c.attr_type(a).is_some());
/// A string.
pub const STRING: AttrKind = kind("string attribute", |c, a| matches!(c.attr_data(a), AttrData::String { .. }));
/// A string without a type, also in text.
pub const QUOTED: AttrKind = AttrKind {
    text: AttrText::Quoted,
    ..kind("string attribute without a type", |c, a| matches!(c.attr_data(a), AttrData::String { ty: Type::NONE, .. }))
};
/// The name of a symbol.
pub const SYMBOL_NAME: AttrKind = AttrKind { text: AttrText::SymbolName, ..STRING };
/// A symbol reference without nested symbols, `@name`.
pub const FLAT_SYMBOL: AttrKind =
    kind("flat symbol reference attribute", |c, a| c.as_symbol(a).is_some_and(|(_, nested)| nested.is_empty()));
/// A function type.
pub const FUNCTION_TYPE: AttrKind = AttrKind {
    summary: "type attribute of function type",
    check: |c, a| c.as_type(a).is_some_and(|t| c.function_parts(t).is_some()),
    text: AttrText::Type,
};
/// A dictionary.
pub const DICT: AttrKind =
    kind("dictionary of named attribute values", |c, a| matches!(c.attr_data(a), AttrData::Dict(_)));
/// An array.
pub const ARRAY: AttrKind = kind("array attribute", |c, a| c.as_array(a).is_some());
/// An array of dictionaries.
pub const DICT_ARRAY: AttrKind = kind("Array of dictionary attributes", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| matches!(c.attr_data(e), AttrData::Dict(_))))
});
/// A 64-bit integer.
pub const I64: AttrKind = AttrKind {
    summary: "64-bit signless integer attribute",
    check: |c, a| int_of(c, a, Type::I64),
    text: AttrText::Bare(Type::I64),
};
/// A 32-bit float.
pub const F32: AttrKind = AttrKind {
    summary: "32-bit float attribute",
    check: |c, a| matches!(c.attr_data(a), AttrData::Float { ty, .. } if *ty == Type::F32),
    text: AttrText::Bare(Type::F32),
};
/// A 64-bit float.
pub const F64: AttrKind = AttrKind {
    summary: "64-bit float attribute",
    check: |c, a| matches!(c.attr_data(a), AttrData::Float { ty, .. } if *ty == Type::F64),
    text: AttrText::Bare(Type::F64),
};
/// A number: a 64-bit float, spelled without its type.
pub const NUMBER: AttrKind = AttrKind {
    summary: "number",
    check: |c, a| matches!(c.attr_data(a), AttrData::Float { ty, .. } if *ty == Type::F64) && !is_nan(c, a),
    text: AttrText::Number,
};

fn is_nan(ctx: &Context, attr: Attr) -> bool {
    ctx.as_float(attr).is_some_and(f64::is_nan)
}

/// `unit`
pub const UNIT: AttrKind = kind("unit attribute", |_, a| a == Attr::UNIT);
/// `array<i64: ...>`
pub const I64_ARRAY: AttrKind = kind(
    "i64 dense array attribute",
    |c, a| matches!(c.attr_data(a), AttrData::DenseArray { elem, .. } if *elem == Type::I64),
);
/// `array<i64: ...>`, spelled `[1, 0]`.
pub const I64_LIST: AttrKind = AttrKind { text: AttrText::Ints(Type::I64), ..I64_ARRAY };
/// `array<i32: ...>`
pub const I32_ARRAY: AttrKind = kind(
    "i32 dense array attribute",
    |c, a| matches!(c.attr_data(a), AttrData::DenseArray { elem, .. } if *elem == Type::I32),
);

/// A tensor of bytes.
pub const BYTES: AttrKind = kind("tensor of bytes", |c, a| {
    matches!(c.attr_data(a), AttrData::Dense(dense) if c.dtype(c.element_type(dense.ty)) == Some(DType::U8)
        && c.static_shape(dense.ty).is_some_and(|dims| dims.len() == 1))
});

/// A tensor of bytes, also as a resource.
pub const BYTES_OR_RESOURCE: AttrKind = kind("1-D tensor of ui8", |c, a| match c.attr_data(a) {
    AttrData::Dense(dense) => is_bytes(c, dense.ty),
    AttrData::DenseResource { ty, .. } => is_bytes(c, *ty),
    _ => false,
});

fn is_bytes(ctx: &Context, ty: Type) -> bool {
    ctx.dtype(ctx.element_type(ty)) == Some(DType::U8) && ctx.static_shape(ty).is_some_and(|dims| dims.len() == 1)
}
