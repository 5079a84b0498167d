//! Verifiers of memory ops.

use super::{CompressStoreOp, ExpandLoadOp, LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp, TypeCastOp};
use crate::vector::access::{PASS_THRU, access, rank, same_shape, same_type};
use crate::vector::types::{check, count, is_scalable, shape, vector};
use gradus_ir::{Context, Module, Op, Type, Value, ValueList, Violation};

/// Verifies that the innermost stride is one.
fn unit_stride(ctx: &Context, base: Type, value: Type) -> Result<(), Violation> {
    if !is_scalable(ctx, value) && count(ctx, value) == 1 {
        return Ok(());
    }
    let layout = ctx.strided_layout(base);
    check(layout.is_some_and(|l| l.strides.last().is_none_or(|&s| s == 1)), || {
        "most minor memref dim must have unit stride".into()
    })
}

/// Operand names of `load` and `store` in messages.
struct OperandNames {
    rank: &'static str,
    vectors: &'static str,
    elements: &'static str,
}

fn whole(m: &Module, base: Value, value: Value, indices: &ValueList, words: &OperandNames) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let (memory, ty) = (m.value_type(base), m.value_type(value));
    unit_stride(ctx, memory, ty)?;
    let dims = ctx.shape(memory).map_or(0, <[i64]>::len);
    let elem = ctx.element_type(memory);
    let in_vectors = vector(ctx, elem).is_some();
    check(in_vectors || shape(ctx, ty).len() <= dims, || words.rank.into())?;
    check(!in_vectors || elem == ty, || words.vectors.into())?;
    check(in_vectors || elem == ctx.element_type(ty), || words.elements.into())?;
    rank(m, base, indices)
}

pub(super) fn load(m: &Module, op: Op) -> Result<(), Violation> {
    let this = LoadOp(op);
    let words = OperandNames {
        rank: "destination memref has lower rank than the result vector",
        vectors: "base memref and result vector types should match",
        elements: "base and result element types should match",
    };
    whole(m, this.base(m), this.result(m), &this.indices(m), &words)
}

pub(super) fn store(m: &Module, op: Op) -> Result<(), Violation> {
    let this = StoreOp(op);
    let words = OperandNames {
        rank: "source memref has lower rank than the vector to store",
        vectors: "base memref and valueToStore vector types should match",
        elements: "base and valueToStore element type should match",
    };
    whole(m, this.base(m), this.value_to_store(m), &this.indices(m), &words)
}

pub(super) fn masked_load(m: &Module, op: Op) -> Result<(), Violation> {
    let this = MaskedLoadOp(op);
    access(m, this.base(m), this.result(m), &this.indices(m), "result")?;
    same_shape(m, this.result(m), this.mask(m), "expected result shape to match mask shape")?;
    same_type(m, this.pass_thru(m), this.result(m), PASS_THRU)
}

pub(super) fn masked_store(m: &Module, op: Op) -> Result<(), Violation> {
    let this = MaskedStoreOp(op);
    access(m, this.base(m), this.value_to_store(m), &this.indices(m), "valueToStore")?;
    same_shape(m, this.value_to_store(m), this.mask(m), "expected valueToStore shape to match mask shape")
}

pub(super) fn expand(m: &Module, op: Op) -> Result<(), Violation> {
    let this = ExpandLoadOp(op);
    access(m, this.base(m), this.result(m), &this.indices(m), "result")?;
    same_shape(m, this.result(m), this.mask(m), "expected result dim to match mask dim")?;
    same_type(m, this.pass_thru(m), this.result(m), PASS_THRU)
}

pub(super) fn compress(m: &Module, op: Op) -> Result<(), Violation> {
    let this = CompressStoreOp(op);
    access(m, this.base(m), this.value_to_store(m), &this.indices(m), "valueToStore")?;
    same_shape(m, this.value_to_store(m), this.mask(m), "expected valueToStore dim to match mask dim")
}

pub(super) fn type_cast(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (TypeCastOp(op), &m.ctx);
    let [from, to] = [this.memref(m), this.result(m)].map(|v| m.value_type(v));
    check(ctx.has_identity_layout(from), || "expects operand to be a memref with identity layout".into())?;
    check(ctx.has_identity_layout(to), || "expects result to be a memref with identity layout".into())?;
    check(ctx.memory_space(from) == ctx.memory_space(to), || "expects result in same memory space".into())?;
    let scalar = |ty| ctx.element_type(ctx.element_type(ty));
    check(scalar(from) == scalar(to), || {
        format!("expects result and operand with same underlying scalar type: '{}'", ctx.display_type(to))
    })?;
    let extents = |ty| [ctx.shape(ty).unwrap_or(&[]), shape(ctx, ctx.element_type(ty))].concat();
    check(extents(from) == extents(to), || {
        format!("expects concatenated result and operand shapes to be equal: '{}'", ctx.display_type(to))
    })
}
