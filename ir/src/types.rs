//! Types: MLIR's builtin ones, declared ones by their parameters, and unknown ones as their text.

use crate::attrs::Piece;
use crate::intern::{Attr, Str, Type};
use crate::values::float::FloatKind;

/// A dynamic extent (`?`).
pub const DYNAMIC: i64 = i64::MIN;

/// Multiple of the minimum length that scalable vectors have in executions (`vscale`). Machines may have others, so
/// constants are not folded with it.
pub const VSCALE: i64 = 2;

/// Maximum bit width of an integer type, as in MLIR.
pub(crate) const MAX_INT_WIDTH: u32 = (1 << 24) - 1;

/// The signedness of an integer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are MLIR's")]
pub enum Signedness {
    Signless,
    Signed,
    Unsigned,
}

/// The structure of a [`Type`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// `i32`, `si8`, `ui1`.
    Integer {
        /// The width in bits, at most [`MAX_INT_WIDTH`].
        width: u32,
        /// The signedness prefix.
        sign: Signedness,
    },
    /// `f32` and the like.
    Float(FloatKind),
    /// `index`: the address width of the machine; 64 bits here.
    Index,
    /// `none`
    None,
    /// `complex<f32>`
    Complex(Type),
    /// `(i32) -> i64`
    Function {
        /// Parameter types.
        inputs: Box<[Type]>,
        /// Result types.
        results: Box<[Type]>,
    },
    /// `tuple<i32, f32>`
    Tuple(Box<[Type]>),
    /// `vector<4x[8]xf32>`
    Vector {
        /// Extents, all positive.
        shape: Box<[i64]>,
        /// Whether each extent is scalable (multiplied by `vscale`).
        scalable: Box<[bool]>,
        /// Element type.
        elem: Type,
    },
    /// `tensor<4x?xf32, #encoding>`
    Tensor {
        /// Extents, or [`DYNAMIC`].
        shape: Box<[i64]>,
        /// Element type.
        elem: Type,
        /// The attribute after the element type.
        encoding: Option<Attr>,
    },
    /// `tensor<*xf32>`
    UnrankedTensor(Type),
    /// `memref<4x?xf32, layout, space>`
    MemRef {
        /// Extents, or [`DYNAMIC`].
        shape: Box<[i64]>,
        /// Element type.
        elem: Type,
        /// An affine map, a strided layout or a dialect's layout; `None` is the identity.
        layout: Option<Attr>,
        /// Memory space; `None` is the default.
        space: Option<Attr>,
    },
    /// `memref<*xf32, space>`
    UnrankedMemRef {
        /// Element type.
        elem: Type,
        /// Memory space.
        space: Option<Attr>,
    },
    /// A declared type: `!poly.ring<17, 4>`.
    Declared {
        /// The name, with the dialect: `poly.ring`.
        name: Str,
        /// The parameters, in the order of the declaration; `None` for an absent one without a default.
        params: Box<[Option<Attr>]>,
    },
    /// A type that no registered dialect declares, kept as its text: `!llvm.ptr`, `!foo<"x">`.
    Dialect {
        /// The name before the dot or bracket.
        dialect: Str,
        /// The rest, with the types and attributes that it mentions by alias.
        body: Box<[Piece]>,
    },
}
