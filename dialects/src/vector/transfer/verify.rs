//! Verifiers of `transfer_read` and `transfer_write`.

use super::{TransferReadOp, TransferWriteOp, map_and_bounds, mask_of};
use crate::vector::contract::dims;
use crate::vector::reshape::width;
use crate::vector::types::{check, shape, vector};
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::{AttrData, Module, Op, Type, TypeData, Value, Violation};

fn verify_indices(m: &Module, base: Value, given: usize) -> Result<(), Violation> {
    let rank = m.ctx.shape(m.value_type(base)).map_or(0, <[i64]>::len);
    check(given == rank, || format!("requires {rank} indices"))
}

/// Returns the bits of the innermost row of a possibly vector element type.
fn row_bits(m: &Module, ty: Type) -> i64 {
    width(&m.ctx, ty).saturating_mul(shape(&m.ctx, ty).last().copied().unwrap_or(1))
}

/// Verifies that vector elements consist of whole source elements.
fn verify_bits(m: &Module, source: Type, ty: Type) -> Result<(), Violation> {
    let elem = m.ctx.element_type(source);
    let (own, whole) = (row_bits(m, elem), row_bits(m, ty));
    let of = if vector(&m.ctx, elem).is_some() { "minor 1-D vector of the source" } else { "source element type" };
    check(own == 0 || whole % own == 0, || {
        format!("requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the {of}")
    })
}

fn verify_transfer(m: &Module, op: Op, source: Type, ty: Type, mask: Option<Value>) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some((map, bounds)) = map_and_bounds(m, op) else { return Ok(()) };
    let ranked = matches!(ctx.type_data(source), TypeData::MemRef { .. } | TypeData::Tensor { .. });
    check(ranked, || "requires source to be a memref or ranked tensor type".into())?;
    let in_elements = shape(ctx, ctx.element_type(source)).len();
    let rank = shape(ctx, ty).len().checked_sub(in_elements);
    verify_bits(m, source, ty)?;
    let rank = rank.ok_or("requires source vector element and vector result ranks to match.")?;
    check(map.results.len() == rank, || {
        "requires a permutation_map with result dims of the same rank as the vector type".into()
    })?;
    check(in_elements == 0 || mask.is_none(), || "does not support masks with vector element type".into())?;
    check(map.num_symbols == 0, || "requires permutation_map without symbols".into())?;
    check(map.num_dims as usize == ctx.shape(source).map_or(0, <[i64]>::len), || {
        "requires a permutation_map with input dims of the same rank as the source type".into()
    })?;
    if let (Some(have), Some(want)) = (mask.map(|v| m.value_type(v)), mask_of(ctx, ty, map)) {
        check(have == want, || {
            let (want, have) = (ctx.display_type(want), ctx.display_type(have));
            format!("inferred mask type ('{want}') and mask operand type ('{have}') don't match")
        })?;
    }
    check(bounds.len() == map.results.len(), || {
        let map = ctx.display_attr(ctx.attr(AttrData::AffineMap(Box::new(map.clone()))));
        let n = bounds.len();
        format!("expects the in_bounds attr of same rank as permutation_map results: {map} vs inBounds of size: {n}")
    })
}

/// Verifies that every map result is 0 or a distinct dimension.
fn verify_map(map: &AffineMap) -> Result<(), Violation> {
    let dims = dims(map);
    for (i, (dim, result)) in dims.iter().zip(&map.results).enumerate() {
        let zero = matches!(result, AffineExpr::Constant(0));
        check(dim.is_some() || zero, || {
            "requires a projected permutation_map (at most one dim or the zero constant can appear in each result)"
                .into()
        })?;
        check(dim.is_none() || !dims[..i].contains(dim), || {
            "requires a permutation_map that is a permutation (found one dim used more than once)".into()
        })?;
    }
    Ok(())
}

pub(super) fn verify_read(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (TransferReadOp(op), &m.ctx);
    verify_indices(m, this.base(m), this.indices(m).len())?;
    let [source, padding, ty] = [this.base(m), this.padding(m), this.vector(m)].map(|v| m.value_type(v));
    verify_transfer(m, op, source, ty, this.mask(m))?;
    let elem = ctx.element_type(source);
    if vector(ctx, elem).is_some() {
        check(elem == padding, || "requires source element type and padding type to match.".into())?;
    } else {
        let valid = ctx.int_width(padding).is_some() || ctx.float_kind(padding).is_some();
        check(valid, || "requires valid padding vector elemental type".into())?;
        check(elem == padding, || "requires formal padding and source of the same elemental type".into())?;
    }
    map_and_bounds(m, op).map_or(Ok(()), |(map, _)| verify_map(map))
}

pub(super) fn verify_write(m: &Module, op: Op) -> Result<(), Violation> {
    let this = TransferWriteOp(op);
    let [source, ty] = [this.base(m), this.value_to_store(m)].map(|v| m.value_type(v));
    let tensors = usize::from(matches!(m.ctx.type_data(source), TypeData::Tensor { .. }));
    check(m.num_results(op) == tensors, || {
        let n = m.num_results(op);
        format!("expected the number of tensor results ({n}) to be equal to the number of output tensors ({tensors})")
    })?;
    if let Some(result) = m.results(op).next().map(|result| m.value_type(result)) {
        check(source == result, || {
            let [have, want] = [source, result].map(|ty| m.ctx.display_type(ty).to_string());
            format!("expected type of operand #1 ('{have}') to match type of corresponding result ('{want}')")
        })?;
    }
    verify_indices(m, this.base(m), this.indices(m).len())?;
    let broadcasts = |map: &AffineMap| map.results.iter().any(|e| matches!(e, AffineExpr::Constant(0)));
    check(!map_and_bounds(m, op).is_some_and(|(map, _)| broadcasts(map)), || {
        "should not have broadcast dimensions".into()
    })?;
    verify_transfer(m, op, source, ty, this.mask(m))?;
    map_and_bounds(m, op).map_or(Ok(()), |(map, _)| verify_map(map))
}
