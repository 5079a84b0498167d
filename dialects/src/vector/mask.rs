//! Masks, and ops under them: `create_mask`, `constant_mask`, `mask`, `yield`.

use super::data;
use super::mask_fold as patterns;
use super::mask_text::MASKED;
use super::mask_verify::verify_mask_op;
use super::types::{I64_LIST, MASK, RANKED_MASK, check, scalable, shape};
use crate::constraint::{ANY, INDEX};
use gradus_ir::control::{Event, Next};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Effects, Module, Op, OpArgs, OpDecl, Traits, Value, op};

/// A mask that is true in a block that begins at the first element, of sizes that are known at run time. Negative ones
/// are none, too large ones all.
///
/// ```mlir
/// %0 = vector.create_mask %i, %j : vector<4x8xi1>
/// ```
#[op(
    "vector.create_mask",
    traits = Traits::NO_CONSTANT_FOLDING,
    verify = verify_create,
    eval = create_mask,
    patterns = patterns::CREATE,
    format = "$operands attr-dict `:` type($result)"
)]
pub struct CreateMaskOp {
    /// How many in each dimension.
    operands: Operands<INDEX>,
    /// The mask.
    result: OpResult<MASK>,
}

/// A mask that is true in a block that begins at the first element.
///
/// ```mlir
/// %0 = vector.constant_mask [2, 8] : vector<4x8xi1>
/// ```
#[op(
    "vector.constant_mask",
    verify = verify_constant,
    eval = constant_mask,
    format = "$mask_dim_sizes attr-dict `:` type($result)"
)]
pub struct ConstantMaskOp {
    /// How many in each dimension.
    mask_dim_sizes: Attribute<I64_LIST>,
    /// The mask.
    result: OpResult<MASK>,
}

/// An op that only works on the elements for which a mask is true. Elements of its result that it does not work on are
/// those of `passthru`, if that is given.
///
/// ```mlir
/// %0 = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
/// ```
#[op(
    "vector.mask",
    traits = Traits::SINGLE_BLOCK.and(Traits::MASKING),
    effects = Effects::Recursive,
    directives = &[&MASKED],
    verify_regions = verify_mask_op,
