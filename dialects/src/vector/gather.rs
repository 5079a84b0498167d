//! `vector.gather` and `vector.scatter`.

use super::access::{
    PASS_THRU, access, drop_access, known_mask, operand, operands, replace_effect, same_shape, same_type,
};
use super::data;
use super::masking::{is_masked, surrounding};
use super::memory::{MaskedLoadOp, MaskedStoreOp};
use super::memory_exec::{group, mask, one, stored};
use super::step::StepOp;
use super::types::{INDEX_VECTOR, RANKED_MASK, RANKED_VECTOR, TENSOR_OR_MEMREF, check, shape};
use crate::constraint::{INDEX, RANKED_TENSOR};
use crate::memref::indices;
use crate::memref::types::ALIGNMENT;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Access, Effects, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Tensor, TypeData, Value,
    Violation, op,
};

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
    patterns = &[FALSE_MASK, Pattern { name: "gather of a row", run: |r, op| row(r, op, MaskedLoadOp::INFO.name) }],
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
    patterns = &[FALSE_MASK, Pattern { name: "scatter to a row", run: |r, op| row(r, op, MaskedStoreOp::INFO.name) }],
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
    matches!(args.ctx().type_data(args.operand_type(0)), TypeData::MemRef { .. })
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

/// Removes an access with an all-false mask.
const FALSE_MASK: Pattern = Pattern {
    name: "access under a known mask",
    run: |r, op| known_mask(r.module(), op) == Some(false) && drop_access(r, op),
};

/// Whether the offsets are 0, 1, 2, ...
fn in_a_row(m: &Module, distances: Value) -> bool {
    if shape(&m.ctx, m.value_type(distances)).len() != 1 {
        return false;
    }
    if StepOp::defining(m, distances).is_some() {
        return true;
    }
    let constant = m.constant(distances).and_then(|c| m.ctx.dense_tensor(c)).and_then(|t| t.to_i64());
    constant.is_some_and(|list| list.iter().zip(0..).all(|(&n, want)| n == want))
}

/// Replaces accesses at consecutive offsets by a contiguous access.
fn row(r: &mut Rewriter<'_>, op: Op, name: &str) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let (Some(base), Some(distances)) = (operand(m, op, "base"), operand(m, op, "indices")) else { return false };
    let memory = matches!(m.ctx.type_data(m.value_type(base)), TypeData::MemRef { .. });
    if !memory || !in_a_row(m, distances) {
        return false;
    }
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.inherent(&m.ctx, "alignment", m.inherent_attr(op, "alignment"));
    state.operands.push(base);
    state.operands.extend(operands(m, op, "offsets"));
    state.operands.extend(operand(m, op, "mask"));
    state.operands.extend(operand(m, op, "pass_thru").or_else(|| operand(m, op, "valueToStore")));
    if name == MaskedStoreOp::INFO.name {
        return m.num_results(op) == 0 && replace_effect(r, op, state);
    }
    state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
    r.replace_with(op, state).is_ok()
}
