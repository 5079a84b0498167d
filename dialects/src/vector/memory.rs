//! Contiguous memory access: `load`, `store`, `maskedload`, `maskedstore`, `expandload`, `compressstore`, `type_cast`.

mod patterns;
mod verify;

use super::memory_exec::{compress, expand, load, masked_load, masked_store, store};
use super::types::{FIXED_MASK, RANKED_MASK, RANKED_VECTOR};
use crate::constraint::{INDEX, MEMREF, VECTOR};
use crate::memref::types::{ALIGNMENT, BOOL, STATIC};
use gradus_ir::{Access, Effects, op};

const READS: Effects = Effects::Memory(&[(Access::Read, "base")]);
const WRITES: Effects = Effects::Memory(&[(Access::Write, "base")]);

/// Loads a vector; its dimensions are the trailing dimensions of the memref.
///
/// ```mlir
/// %0 = vector.load %m[%i, %j] : memref<16x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.load",
    effects = READS,
    verify = verify::load,
    exec = load,
    patterns = patterns::WHOLE,
    format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"
)]
pub struct LoadOp {
    /// Memref that is loaded from.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Whether the access has no temporal locality (nontemporal hint).
    nontemporal: OptAttribute<BOOL>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Loaded vector.
    result: OpResult<VECTOR>,
}

/// Stores a vector; its dimensions are the trailing dimensions of the memref.
///
/// ```mlir
/// vector.store %v, %m[%i, %j] : memref<16x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.store",
    effects = WRITES,
    verify = verify::store,
    exec = store,
    patterns = patterns::WHOLE,
    format = "$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)"
)]
pub struct StoreOp {
    /// Stored vector.
    #[name = "valueToStore"]
    value_to_store: Operand<VECTOR>,
    /// Memref that is stored to.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Whether the access has no temporal locality (nontemporal hint).
    nontemporal: OptAttribute<BOOL>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Loads the elements with true mask; others are those of `pass_thru`.
///
/// ```mlir
/// %0 = vector.maskedload %m[%i], %k, %p : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
/// ```
#[op(
    "vector.maskedload",
    effects = READS,
    verify = verify::masked_load,
    exec = masked_load,
    patterns = patterns::MASKED,
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
)]
pub struct MaskedLoadOp {
    /// Memref that is loaded from.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Mask of the elements to load.
    mask: Operand<RANKED_MASK>,
    /// Elements where the mask is false.
    pass_thru: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Loaded vector.
    result: OpResult<RANKED_VECTOR>,
}

/// Stores the elements with true mask.
///
/// ```mlir
/// vector.maskedstore %m[%i], %k, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
/// ```
#[op(
    "vector.maskedstore",
    effects = WRITES,
    verify = verify::masked_store,
    exec = masked_store,
    patterns = patterns::MASKED,
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
)]
pub struct MaskedStoreOp {
    /// Memref that is stored to.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Mask of the elements to store.
    mask: Operand<RANKED_MASK>,
    /// Stored vector.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Expanding load: loads consecutive elements into the positions with true mask; others are those of `pass_thru`.
///
/// ```mlir
/// %0 = vector.expandload %m[%i], %k, %p : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
/// ```
#[op(
    "vector.expandload",
    effects = READS,
    verify = verify::expand,
    exec = expand,
    patterns = patterns::MASKED,
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
)]
pub struct ExpandLoadOp {
    /// Memref that is loaded from.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Mask of the positions to fill.
    mask: Operand<FIXED_MASK>,
    /// Elements where the mask is false.
    pass_thru: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Loaded vector.
    result: OpResult<RANKED_VECTOR>,
}

/// Compressing store: stores the elements with true mask consecutively.
///
/// ```mlir
/// vector.compressstore %m[%i], %k, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
/// ```
#[op(
    "vector.compressstore",
    effects = WRITES,
    verify = verify::compress,
    exec = compress,
    patterns = patterns::MASKED,
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
)]
pub struct CompressStoreOp {
    /// Memref that is stored to.
    base: Operand<MEMREF>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Mask of the elements to store.
    mask: Operand<FIXED_MASK>,
    /// Stored vector.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Casts a memref to a memref of one vector.
///
/// ```mlir
/// %0 = vector.type_cast %m : memref<4x8xf32> to memref<vector<4x8xf32>>
/// ```
#[op("vector.type_cast", verify = verify::type_cast, format = "$memref attr-dict `:` type($memref) `to` type($result)")]
pub struct TypeCastOp {
    /// Source memref.
    memref: Operand<STATIC>,
    /// Memref of one vector.
    result: OpResult<MEMREF>,
}
