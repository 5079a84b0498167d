//! Vectors in memory, one row after the other: `load`, `store`, `maskedload`, `maskedstore`, `expandload`,
//! `compressstore`, `type_cast`.

use super::memory_exec::{compress, expand, load, masked_load, masked_store, store};
use super::memory_patterns as patterns;
use super::memory_verify as verify;
use super::types::{FIXED_MASK, RANKED_MASK, RANKED_VECTOR};
use crate::constraint::{INDEX, MEMREF, VECTOR};
use crate::memref::types::{ALIGNMENT, BOOL, STATIC};
use gradus_ir::{Access, Effects, op};

const READS: Effects = Effects::Memory(&[(Access::Read, "base")]);
const WRITES: Effects = Effects::Memory(&[(Access::Write, "base")]);

/// Reads a vector: its dimensions are the last ones of the memory.
///
/// ```mlir
/// %0 = vector.load %m[%i, %j] : memref<16x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.load",
    effects = READS,
    verify = verify::load,
    exec = load,
    patterns = patterns::LOAD,
    format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"
)]
pub struct LoadOp {
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Whether it is not worth caching.
    nontemporal: OptAttribute<BOOL>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// The vector.
    result: OpResult<VECTOR>,
}

/// Writes a vector: its dimensions are the last ones of the memory.
///
/// ```mlir
/// vector.store %v, %m[%i, %j] : memref<16x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.store",
    effects = WRITES,
    verify = verify::store,
    exec = store,
    patterns = patterns::STORE,
    format = "$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)"
)]
pub struct StoreOp {
    /// The vector.
    #[name = "valueToStore"]
    value_to_store: Operand<VECTOR>,
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Whether it is not worth caching.
    nontemporal: OptAttribute<BOOL>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Reads the elements for which a mask is true; the others are those of `pass_thru`.
///
/// ```mlir
/// %0 = vector.maskedload %m[%i], %k, %p : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
/// ```
#[op(
    "vector.maskedload",
    effects = READS,
    verify = verify::masked_load,
    exec = masked_load,
    patterns = patterns::MASKED_LOAD,
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
)]
pub struct MaskedLoadOp {
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Which elements are read.
    mask: Operand<RANKED_MASK>,
    /// What the others are.
    pass_thru: Operand<RANKED_VECTOR>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// The vector.
    result: OpResult<RANKED_VECTOR>,
}

/// Writes the elements for which a mask is true.
///
/// ```mlir
/// vector.maskedstore %m[%i], %k, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
/// ```
#[op(
    "vector.maskedstore",
    effects = WRITES,
    verify = verify::masked_store,
    exec = masked_store,
    patterns = patterns::MASKED_STORE,
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
)]
pub struct MaskedStoreOp {
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Which elements are written.
    mask: Operand<RANKED_MASK>,
    /// The vector.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Reads as many elements as a mask has trues, to where these are; the others are those of `pass_thru`.
///
/// ```mlir
/// %0 = vector.expandload %m[%i], %k, %p : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
/// ```
#[op(
    "vector.expandload",
    effects = READS,
    verify = verify::expand,
    exec = expand,
    patterns = patterns::EXPAND,
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
)]
pub struct ExpandLoadOp {
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Where the elements go.
    mask: Operand<FIXED_MASK>,
    /// What the others are.
    pass_thru: Operand<RANKED_VECTOR>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// The vector.
    result: OpResult<RANKED_VECTOR>,
}

/// Writes the elements for which a mask is true, one after the other.
///
/// ```mlir
/// vector.compressstore %m[%i], %k, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
/// ```
#[op(
    "vector.compressstore",
    effects = WRITES,
    verify = verify::compress,
    exec = compress,
    patterns = patterns::COMPRESS,
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
)]
pub struct CompressStoreOp {
    /// Where.
    base: Operand<MEMREF>,
    /// The first element.
    indices: Operands<INDEX>,
    /// Which elements are written.
    mask: Operand<FIXED_MASK>,
    /// The vector.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// A promise about the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// The same memory as one vector.
///
/// ```mlir
/// %0 = vector.type_cast %m : memref<4x8xf32> to memref<vector<4x8xf32>>
/// ```
#[op("vector.type_cast", verify = verify::type_cast, format = "$memref attr-dict `:` type($memref) `to` type($result)")]
pub struct TypeCastOp {
    /// The memory.
    memref: Operand<STATIC>,
    /// The memory as a vector.
    result: OpResult<MEMREF>,
}
