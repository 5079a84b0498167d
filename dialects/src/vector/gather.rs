//! `vector.gather` and `vector.scatter`.

use super::data;
use super::mask::surrounding;
use super::memory_exec::{group, mask, one, stored};
use super::memory_patterns as patterns;
use super::memory_verify::{PASS_THRU, access, same_shape, same_type};
use super::types::{INDEX_VECTOR, RANKED_MASK, RANKED_VECTOR, TENSOR_OR_MEMREF, check};
use crate::constraint::{INDEX, RANKED_TENSOR};
use crate::memref::indices;
use crate::memref::types::ALIGNMENT;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Access, Effects, Module, Op, OpArgs, Tensor, Value, Violation, op};

/// Masked gather: loads the elements with true mask at individual offsets in the last dimension. Other elements are
/// those of `pass_thru`.
///
/// ```mlir
/// %0 = vector.gather %m[%i] [%d], %k, %p
///   : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
/// ```
#[op(
    "vector.gather",
    effects = Effects::MemoryOf(&[(Access::Read, "base")]),
    verify = verify_gather,
    exec = gather,
    patterns = patterns::GATHER,
    format = "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($indices) `,` type($mask) `,` type($pass_thru) `into` type($result)"
)]
pub struct GatherOp {
    /// Source memref or tensor.
    base: Operand<TENSOR_OR_MEMREF>,
    /// Indices of the base element.
    offsets: Operands<INDEX>,
    /// Offsets from the base element.
    indices: Operand<INDEX_VECTOR>,
    /// Mask of the elements to load.
    mask: Operand<RANKED_MASK>,
    /// Elements where the mask is false.
    pass_thru: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of addresses, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Gathered elements.
    result: OpResult<RANKED_VECTOR>,
}

/// Masked scatter: stores the elements with true mask at individual offsets in the last dimension, in order.
///
/// ```mlir
/// vector.scatter %m[%i] [%d], %k, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
/// ```
#[op(
    "vector.scatter",
    effects = Effects::MemoryOf(&[(Access::Write, "base")]),
    verify = verify_scatter,
    exec = scatter,
    patterns = patterns::SCATTER,
    format = "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($indices) `,` type($mask) `,` type($valueToStore) (`->` type($result)^)?"
)]
pub struct ScatterOp {
    /// Destination memref or tensor.
    base: Operand<TENSOR_OR_MEMREF>,
    /// Indices of the base element.
    offsets: Operands<INDEX>,
    /// Offsets from the base element.
    indices: Operand<INDEX_VECTOR>,
    /// Mask of the elements to store.
    mask: Operand<RANKED_MASK>,
    /// Stored vector.
    #[name = "valueToStore"]
    value_to_store: Operand<RANKED_VECTOR>,
    /// Guaranteed alignment of addresses, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Updated tensor, for a tensor destination.
    result: OptResult<RANKED_TENSOR>,
}

fn verify_base(m: &Module, base: Value) -> Result<(), Violation> {
    check(m.ctx.shape(m.value_type(base)).is_some(), || "requires base to be a memref or ranked tensor type".into())
}

fn verify_gather(m: &Module, op: Op) -> Result<(), Violation> {
    let this = GatherOp(op);
    verify_base(m, this.base(m))?;
    access(m, this.base(m), this.result(m), &this.offsets(m), "result")?;
    same_shape(m, this.result(m), this.indices(m), "expected result dim to match indices dim")?;
    same_shape(m, this.result(m), this.mask(m), "expected result dim to match mask dim")?;
    same_type(m, this.pass_thru(m), this.result(m), PASS_THRU)
}

fn verify_scatter(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, words) = (ScatterOp(op), "valueToStore");
    verify_base(m, this.base(m))?;
    access(m, this.base(m), this.value_to_store(m), &this.offsets(m), words)?;
    same_shape(m, this.value_to_store(m), this.indices(m), "expected valueToStore dim to match indices dim")?;
    same_shape(m, this.value_to_store(m), this.mask(m), "expected valueToStore dim to match mask dim")
}

/// Returns the address of each element; poison offsets are undefined behavior.
fn places(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Vec<i64>>, Trap> {
    let at = indices(group(args, data, "offsets"))?;
    let distances = data::elements(one(args, data, "indices")?)?;
    let distances = distances.ok_or_else(|| Trap::Ub("an access to memory at a poison index".into()))?;
    let place = |distance: &Datum| {
        let mut at = at.clone();
        let last = at.last_mut().ok_or_else(|| Trap::unsupported("elements of memory without dimensions"))?;
        *last = last.wrapping_add(distance.int()?);
        Ok(at)
    };
    distances.iter().map(place).collect()
}

/// Returns the linear index of a tensor element.
fn linear_index(tensor: &Tensor, place: &[i64]) -> Result<usize, Trap> {
    data::position(tensor.shape(), place)
}

fn gather(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (places, mut mask, ty) = (places(args, data)?, mask(args, data)?, args.result_types[0]);
    if is_memory(args) {
        data[0].memref()?;
    }
    let mut all = stored(one(args, data, "pass_thru")?, mask.len())?;
    if let Some(around) = surrounding(args, memory)? {
        mask.iter_mut().zip(around.mask).for_each(|(own, shows)| *own &= shows);
    }
    for ((element, place), _) in all.iter_mut().zip(&places).zip(&mask).filter(|(_, mask)| **mask) {
        *element = match &data[0] {
            tensor if !is_memory(args) => match tensor.masked() {
                Some((dense, _)) => data::element_of(tensor, linear_index(dense, place)?)?,
                None => Datum::Poison,
            },
            base => memory.load(base.memref()?, place)?,
        };
    }
    data::value_of(args.ctx(), ty, &all).map(|v| vec![v])
}

fn is_memory(args: &OpArgs<'_>) -> bool {
    matches!(args.ctx().type_data(args.operand_type(0)), gradus_ir::TypeData::MemRef { .. })
}

fn scatter(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (places, mask) = (places(args, data)?, mask(args, data)?);
    let all = stored(one(args, data, "valueToStore")?, mask.len())?;
    let written = all.iter().zip(&places).zip(&mask).filter(|(_, mask)| **mask).map(|(pair, _)| pair);
    if is_memory(args) {
        let base = data[0].memref()?;
        for (element, place) in written {
            memory.store(element.clone(), base, place)?;
        }
        return Ok(vec![Datum::Poison; args.result_types.len()]);
    }
    if args.result_types.is_empty() {
        return Ok(Vec::new());
    }
    let Some((dense, _)) = data[0].masked() else { return Ok(vec![Datum::Poison]) };
    let (mut elements, mut numbers) = (Vec::new(), Vec::new());
    for (element, place) in written {
        elements.push(element.clone());
        numbers.push(linear_index(dense, place)?);
    }
    Ok(vec![data::put_scalars(&elements, &data[0], &numbers)?])
}
