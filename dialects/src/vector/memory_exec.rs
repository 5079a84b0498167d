//! Execution of memory ops. Out-of-bounds access and a poison mask are undefined behavior.

use super::data;
use crate::memref::indices;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory};
use gradus_ir::{OpArgs, Type};

/// Calls `f` with the linear index of each element of a vector at `at`, and its indices in memory.
fn for_each(
    args: &OpArgs<'_>,
    ty: Type,
    at: &[i64],
    mut f: impl FnMut(usize, &[i64]) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let extents = data::extents(args.ctx(), ty)?;
    let first = at.len().checked_sub(extents.len());
    let first = first.ok_or_else(|| Trap::unsupported("a vector of more dimensions than the memory"))?;
    let mut place = at.to_vec();
    for (n, index) in data::indices(&extents).enumerate() {
        for (i, own) in index.into_iter().enumerate() {
            place[first + i] = at[first + i].wrapping_add(own as i64);
        }
        f(n, &place)?;
    }
    Ok(())
}

/// Returns the operands of a group.
pub(super) fn group<'d>(args: &OpArgs<'_>, data: &'d [Datum], name: &str) -> &'d [Datum] {
    data.get(args.operand_range(name)).unwrap_or(&[])
}

/// Returns the operand of a group of one.
pub(super) fn one<'d>(args: &OpArgs<'_>, data: &'d [Datum], name: &str) -> Result<&'d Datum, Trap> {
    group(args, data, name).first().ok_or_else(|| Trap::unsupported("an operand is missing"))
}

/// Returns the elements of a mask. Poison is undefined behavior, since it would control accesses.
pub(super) fn mask(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<bool>, Trap> {
    let mask = data::elements(one(args, data, "mask")?)?;
    let mask = mask.filter(|mask| !mask.contains(&Datum::Poison));
    let mask = mask.ok_or_else(|| Trap::Ub("an access to memory under a poison mask".into()))?;
    Ok(mask.iter().map(|m| *m != Datum::Int(0)).collect())
}

/// Returns the elements to store; all poison for a poison vector.
pub(super) fn stored(value: &Datum, n: usize) -> Result<Vec<Datum>, Trap> {
    Ok(data::elements(value)?.unwrap_or_else(|| vec![Datum::Poison; n]))
}

/// Returns the memref and the indices of the vector.
fn place<'d>(args: &OpArgs<'_>, data: &'d [Datum]) -> Result<(&'d MemRef, Vec<i64>), Trap> {
    Ok((one(args, data, "base")?.memref()?, indices(group(args, data, "indices"))?))
}

/// Whether the memref has vector elements.
fn in_vectors(args: &OpArgs<'_>, base: usize) -> bool {
    let ctx = args.ctx();
    super::types::vector(ctx, ctx.element_type(args.operand_type(base))).is_some()
}

pub(super) fn load(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), ty) = (place(args, data)?, args.result_types[0]);
    if in_vectors(args, 0) {
        return Ok(vec![memory.load(view, &at)?]);
    }
    let mut all = Vec::new();
    for_each(args, ty, &at, |_, index| {
        all.push(memory.load(view, index)?);
        Ok(())
    })?;
    data::value_of(args.ctx(), ty, &all).map(|v| vec![v])
}

pub(super) fn store(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), ty) = (place(args, data)?, args.operand_type(0));
    if in_vectors(args, 1) {
        memory.store(data[0].clone(), view, &at)?;
        return Ok(Vec::new());
    }
    let all = stored(&data[0], data::extents(args.ctx(), ty)?.iter().product())?;
    for_each(args, ty, &at, |n, index| memory.store(all[n].clone(), view, index))?;
    Ok(Vec::new())
}

pub(super) fn masked_load(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), mask, ty) = (place(args, data)?, mask(args, data)?, args.result_types[0]);
    let mut all = stored(one(args, data, "pass_thru")?, mask.len())?;
    for_each(args, ty, &at, |n, index| {
        if mask[n] {
            all[n] = memory.load(view, index)?;
        }
        Ok(())
    })?;
    data::value_of(args.ctx(), ty, &all).map(|v| vec![v])
}

pub(super) fn masked_store(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), mask) = (place(args, data)?, mask(args, data)?);
    let ty = args.operand_type(data.len() - 1);
    let all = stored(one(args, data, "valueToStore")?, mask.len())?;
    for_each(args, ty, &at, |n, index| if mask[n] { memory.store(all[n].clone(), view, index) } else { Ok(()) })?;
    Ok(Vec::new())
}

/// Returns the indices `n` positions later in the last dimension.
fn after(at: &[i64], n: usize) -> Result<Vec<i64>, Trap> {
    let mut at = at.to_vec();
    let last = at.last_mut().ok_or_else(|| Trap::unsupported("a row of memory without dimensions"))?;
    *last = last.wrapping_add(n as i64);
    Ok(at)
}

pub(super) fn expand(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), mask, ty) = (place(args, data)?, mask(args, data)?, args.result_types[0]);
    let mut all = stored(one(args, data, "pass_thru")?, mask.len())?;
    for (n, (element, _)) in all.iter_mut().zip(&mask).filter(|(_, mask)| **mask).enumerate() {
        *element = memory.load(view, &after(&at, n)?)?;
    }
    data::value_of(args.ctx(), ty, &all).map(|v| vec![v])
}

pub(super) fn compress(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ((view, at), mask) = (place(args, data)?, mask(args, data)?);
    let all = stored(one(args, data, "valueToStore")?, mask.len())?;
    for (n, (element, _)) in all.into_iter().zip(&mask).filter(|(_, mask)| **mask).enumerate() {
        memory.store(element, view, &after(&at, n)?)?;
    }
    Ok(Vec::new())
}
