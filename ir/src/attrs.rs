//! Attributes: MLIR's builtin ones (locations included), declared ones by their parameters, and unknown ones as their text.

use crate::affine::{AffineMap, IntegerSet};
use crate::intern::{Attr, Str, Type};
use bytes::Bytes;
use std::hash::{Hash, Hasher};
use std::sync::{PoisonError, RwLock};

/// A part of the text of a dialect attribute or type: literal text, or an entity referenced by alias.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Piece {
    /// Text, as written.
    Text(Box<str>),
    /// An attribute referenced by `#alias`.
    Attr(Attr),
    /// A type referenced by `!alias`.
    Type(Type),
    /// No text: a 1-based number that separates attributes with equal text but different alias names.
    Twin(u32),
}

/// An integer of any width in two's complement. Canonical: `Small` whenever the value fits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Int {
    /// Sign-extended from the type's width (zero-extended for unsigned types narrower than 64 bits).
    Small(i64),
    /// Little-endian 64-bit limbs, sign-extended.
    Wide(Box<[u64]>),
}

/// The structure of an [`Attr`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrData {
    /// `unit`
    Unit,
    /// `4 : i32`; `true` and `false` are of type `i1`.
    Integer {
        /// An integer type or `index`.
        ty: Type,
        /// Within the type's range.
        value: Int,
    },
    /// `1.0 : f32`
    Float {
        /// A float type.
        ty: Type,
        /// The value's bits; the lowest 16 bytes hold every float type.
        bits: [u64; 2],
    },
    /// `"text"`, `"text" : type`
    String {
        /// The bytes; as in MLIR, not necessarily UTF-8.
        value: Box<[u8]>,
        /// The type; `Type::NONE` unless written.
        ty: Type,
    },
    /// `[a, b]`
    Array(Box<[Attr]>),
    /// `{a = 1, b}`: sorted by name, as MLIR keeps it, without duplicates.
    Dict(Box<[(Str, Attr)]>),
    /// A type used as an attribute.
    Type(Type),
    /// `@a::@b`
    Symbol {
        /// The first name.
        root: Str,
        /// The names after it.
        nested: Box<[Str]>,
    },
    /// `affine_map<(d0) -> (d0)>`
    AffineMap(Box<AffineMap>),
    /// `affine_set<(d0) : (d0 >= 0)>`
    IntegerSet(Box<IntegerSet>),
    /// `dense<...> : tensor<...>`
    Dense(Box<Dense>),
    /// `dense<["a", "b"]> : tensor<2x!t>`
    DenseStrings {
        /// The shaped type.
        ty: Type,
        /// One string if all are equal, else one per element.
        values: Box<[Box<[u8]>]>,
    },
    /// `array<i32: 1, 2>`
    DenseArray {
        /// The element type.
        elem: Type,
        /// The elements, each in whole bytes, at least one, little-endian.
        data: Box<[u8]>,
    },
    /// `dense_resource<key> : tensor<...>`; the bytes are in the module's resources.
    DenseResource {
        /// The key in the `builtin` section of the resources.
        key: Str,
        /// The shaped type.
        ty: Type,
    },
    /// `sparse<indices, values> : tensor<...>`
    Sparse {
        /// The shaped type.
        ty: Type,
        /// A dense attribute of `i64`, one row per value.
        indices: Attr,
        /// A dense attribute of the element type.
        values: Attr,
    },
    /// `strided<[4, ?], offset: ?>`
    Strided {
        /// In elements, or `DYNAMIC`.
        offset: i64,
        /// In elements, or `DYNAMIC`.
        strides: Box<[i64]>,
    },
    /// `distinct[0]<attr>`: equal only to itself.
    Distinct {
        /// A number unique in the context; printing renumbers.
        id: u32,
        /// The wrapped attribute.
        inner: Attr,
    },
    /// A declared attribute: `#layout.tiled<"NCHW8c">`.
    Declared {
        /// The name, with the dialect: `layout.tiled`.
        name: Str,
        /// The parameters, in the order of the declaration; `None` for an absent one without a default.
        params: Box<[Option<Attr>]>,
        /// `: type` after it; `Type::NONE` unless written.
        ty: Type,
    },
    /// An attribute that no registered dialect declares with parameters, kept as its text: `#arith.fastmath<none>`,
    /// `#foo<"x">`.
    Dialect {
        /// The name before the dot or bracket.
        dialect: Str,
        /// The rest, with the types and attributes that it mentions by alias.
        body: Box<[Piece]>,
        /// `: type` after it; `Type::NONE` unless written.
        ty: Type,
    },
    /// `loc(unknown)`
    LocUnknown,
    /// `loc("file":line:col)`, or a range `loc("file":line:col to line:col)`
    LocFile {
        /// The file's name.
        file: Str,
        /// Start line and column, end line and column; the end equals the start when there is no range.
        pos: [u32; 4],
    },
    /// `loc("name"(child))`
    LocName {
        /// The name.
        name: Str,
        /// The child location; `loc(unknown)` unless written.
        child: Attr,
    },
    /// `loc(callsite(callee at caller))`
    LocCallSite {
        /// The location of the callee.
        callee: Attr,
        /// The location of the call.
        caller: Attr,
    },
    /// `loc(fused<meta>[a, b])`
    LocFused {
        /// The parts, without duplicates.
        locs: Box<[Attr]>,
        /// The metadata in angle brackets.
        meta: Option<Attr>,
    },
}

/// Dense elements: the bytes of one element for a splat, else of every element.
///
/// An element takes its type's bits rounded up to whole bytes, little-endian (a boolean one byte, a complex number two
/// elements). The bytes are shared from file to kernel.
#[derive(Debug)]
pub struct Dense {
    /// A vector or tensor type of static shape.
    pub ty: Type,
    /// Whether the bytes are a splat: one element that stands for all.
    pub splat: bool,
    /// The elements; none once they are released.
    data: RwLock<Bytes>,
}

impl Dense {
    /// Creates elements.
    pub fn new(ty: Type, splat: bool, data: impl Into<Bytes>) -> Dense {
        Dense { ty, splat, data: RwLock::new(data.into()) }
    }

    /// Returns the bytes of the elements. None if they were [released](crate::Context::release_unused_constants).
    pub fn data(&self) -> Bytes {
        self.data.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Frees the elements.
    pub(crate) fn release(&self) {
        *self.data.write().unwrap_or_else(PoisonError::into_inner) = Bytes::new();
    }
}

impl Clone for Dense {
    fn clone(&self) -> Dense {
        Dense::new(self.ty, self.splat, self.data())
    }
}

impl PartialEq for Dense {
    fn eq(&self, other: &Dense) -> bool {
        self.ty == other.ty && self.splat == other.splat && self.data() == other.data()
    }
}

impl Eq for Dense {}

impl Hash for Dense {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.ty, self.splat, self.data()).hash(state);
    }
}
