//! Transfers between vectors and memrefs or tensors, with permutation, broadcast, masks and out-of-bounds padding:
//! `transfer_read`, `transfer_write`.

mod exec;
mod patterns;
mod text;
mod verify;

use super::types::{BOOL_ARRAY, MAP, MASK, SHAPED, shape, vector, vector_type};
use crate::constraint::{ANY, INDEX, RANKED_TENSOR, VECTOR};
use exec::{read, write};
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::{Access, Context, Effects, Module, Op, Traits, Type, op};
use text::{TRANSFER_READ, TRANSFER_WRITE};
use verify::{verify_read, verify_write};

/// Reads a vector from a memref or tensor.
///
/// The permutation map assigns a source dimension to each vector dimension; 0 broadcasts. Elements that are out of
/// bounds (unless `in_bounds`) or have false mask are the padding value.
///
/// ```mlir
/// %0 = vector.transfer_read %m[%i, %j], %s {in_bounds = [true, false]} : memref<?x?xf32>, vector<4x8xf32>
/// %1 = vector.transfer_read %m[%i, %j], %s {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x8xf32>
/// ```
#[op(
    "vector.transfer_read",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MemoryOf(&[(Access::Read, "base")]),
    directives = &[&TRANSFER_READ],
    verify = verify_read,
    fold = patterns::fold_read,
    exec = read,
    patterns = patterns::READ,
    format = "custom<TransferRead>($base, $indices, $padding, $mask, $permutation_map, $in_bounds, type($vector))"
)]
pub struct TransferReadOp {
    /// Memref or tensor.
    base: Operand<SHAPED>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Padding value.
    padding: Operand<ANY>,
    /// Mask of the elements to read.
    mask: OptOperand<MASK>,
    /// Permutation map from source to vector dimensions.
    permutation_map: Attribute<MAP>,
    /// Whether each vector dimension is guaranteed in bounds.
    in_bounds: Attribute<BOOL_ARRAY>,
    /// Read vector.
    vector: OpResult<VECTOR>,
}

/// Writes a vector to a memref or tensor.
///
/// The permutation map assigns a destination dimension to each vector dimension. Elements that are out of bounds
/// (unless `in_bounds`) or have false mask are not written.
///
/// ```mlir
/// vector.transfer_write %v, %m[%i, %j] : vector<4x8xf32>, memref<?x?xf32>
/// %0 = vector.transfer_write %v, %t[%i, %j] : vector<4x8xf32>, tensor<?x?xf32>
/// ```
#[op(
    "vector.transfer_write",
    traits = Traits::OPERAND_SEGMENTS,
    effects = Effects::MemoryOf(&[(Access::Write, "base")]),
    directives = &[&TRANSFER_WRITE],
    verify = verify_write,
    fold = patterns::fold_write,
    exec = write,
    patterns = patterns::WRITE,
    format = "custom<TransferWrite>($valueToStore, $base, $indices, $mask, $permutation_map, $in_bounds, type($result))"
)]
pub struct TransferWriteOp {
    /// Written vector.
    #[name = "valueToStore"]
    value_to_store: Operand<VECTOR>,
    /// Memref or tensor.
    base: Operand<SHAPED>,
    /// Indices of the first element.
    indices: Operands<INDEX>,
    /// Mask of the elements to write.
    mask: OptOperand<MASK>,
    /// Permutation map from source to vector dimensions.
    permutation_map: Attribute<MAP>,
    /// Whether each vector dimension is guaranteed in bounds.
    in_bounds: Attribute<BOOL_ARRAY>,
    /// Updated tensor, for a tensor destination.
    result: OptResult<RANKED_TENSOR>,
}

/// Returns the permutation map of an op, and which vector dimensions are in bounds.
fn map_and_bounds(m: &Module, op: Op) -> Option<(&AffineMap, Vec<bool>)> {
    let map = super::contract::map_of(&m.ctx, m.inherent_attr(op, "permutation_map")?)?;
    let bounds = m.ctx.as_array(m.inherent_attr(op, "in_bounds")?)?;
    Some((map, bounds.iter().map(|&b| m.ctx.as_bool(b) == Some(true)).collect()))
}

/// Returns the minor identity map; `None` if the source rank is too small.
fn minor_identity(ctx: &Context, source: Type, ty: Type) -> Option<AffineMap> {
    let (rank, extents) = (ctx.shape(source)?.len(), shape(ctx, ty));
    let in_elements = shape(ctx, ctx.element_type(source)).len();
    let first = rank.checked_sub(extents.len().checked_sub(in_elements)?)?;
    Some(AffineMap::new(rank as u32, 0, (first..rank).map(|d| AffineExpr::Dim(d as u32)).collect::<Vec<_>>()))
}

/// Whether a map is the minor identity.
fn is_minor_identity(map: &AffineMap) -> bool {
    let first = (map.num_dims as usize).checked_sub(map.results.len());
    let is_dim =
        |(i, e): (usize, &AffineExpr)| matches!(e, AffineExpr::Dim(d) if Some(*d as usize) == first.map(|f| f + i));
    first.is_some() && map.num_symbols == 0 && map.results.iter().enumerate().all(is_dim)
}

/// Returns the mask type for a permutation map: the transferred dimensions, in source order.
fn mask_of(ctx: &Context, ty: Type, map: &AffineMap) -> Option<Type> {
    let (extents, flags, _) = vector(ctx, ty)?;
    let dims = super::contract::dims(map);
    let mut used: Vec<(usize, usize)> = dims.iter().enumerate().filter_map(|(i, d)| d.map(|d| (d, i))).collect();
    used.sort_unstable();
    if used.iter().any(|&(_, i)| i >= extents.len()) {
        return None;
    }
    if used.is_empty() {
        return Some(vector_type(ctx, &[1], &[false], Type::I1));
    }
    let (sizes, flags): (Vec<i64>, Vec<bool>) = used.iter().map(|&(_, i)| (extents[i], flags[i])).unzip();
    Some(vector_type(ctx, &sizes, &flags, Type::I1))
}

/// Returns the mask type of the op.
pub(super) fn mask_type(m: &Module, op: Op) -> Option<Type> {
    let (map, _) = map_and_bounds(m, op)?;
    mask_of(&m.ctx, vector_of(m, op)?, map)
}

/// Returns the vector type of the op.
fn vector_of(m: &Module, op: Op) -> Option<Type> {
    use gradus_ir::OpDecl;
    let read = TransferReadOp::cast(m, op).map(|r| r.vector(m));
    let value = read.or_else(|| TransferWriteOp::cast(m, op).map(|w| w.value_to_store(m)));
    value.map(|v| m.value_type(v))
}
