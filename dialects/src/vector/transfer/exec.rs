//! Execution of `transfer_read` and `transfer_write`.

use super::map_and_bounds;
use crate::memref::indices;
use crate::vector::contract::dims;
use crate::vector::data;
use crate::vector::masking::surrounding;
use crate::vector::memory_exec::{group, mask, one, stored};
use gradus_ir::effects::is_memory;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{OpArgs, Type};

/// The source of one vector element.
enum ElementSource {
    /// In bounds, at these indices.
    At(Vec<i64>),
    /// Out of bounds.
    Nowhere,
    /// Masked off.
    Masked,
}

/// Returns the extents of the memref or tensor.
fn sizes(base: &Datum) -> Result<Vec<i64>, Trap> {
    match base {
        Datum::MemRef(view) => Ok(view.sizes.to_vec()),
        base => match base.shape() {
            Some(shape) => Ok(shape.iter().map(|&d| d as i64).collect()),
            None => base.memref().map(|_| Vec::new()),
        },
    }
}

/// Returns the source of each element of a vector of type `ty`. A violated `in_bounds`, and an out-of-bounds first
/// element along other dimensions, are undefined behavior.
fn places(args: &OpArgs<'_>, data: &[Datum], ty: Type, around: Option<&[bool]>) -> Result<Vec<ElementSource>, Trap> {
    let op = args.op.ok_or_else(|| Trap::unsupported("an op outside of a program"))?;
    let (map, bounds) = map_and_bounds(args.module, op).ok_or_else(|| Trap::unsupported("a transfer without a map"))?;
    let (sizes, at) = (sizes(one(args, data, "base")?)?, indices(group(args, data, "indices"))?);
    let dims = dims(map);
    if let Some(d) = (0..sizes.len()).find(|&d| !dims.contains(&Some(d)) && !(0..sizes[d]).contains(&at[d])) {
        return Err(Trap::Ub(format!("index {} is out of bounds of dimension {d} of size {}", at[d], sizes[d])));
    }
    let mask = if args.operand("mask").is_empty() { None } else { Some(mask(args, data)?) };
    let shows = |linear: usize| {
        [mask.as_deref(), around].into_iter().flatten().all(|mask| mask.get(linear).copied().unwrap_or(true))
    };
    let extents = data::extents(args.ctx(), ty)?;
    let mut used: Vec<(usize, usize)> = dims.iter().enumerate().filter_map(|(i, d)| d.map(|d| (d, i))).collect();
    used.sort_unstable();
    let mask_shape: Vec<usize> = used.iter().map(|&(_, i)| extents[i]).collect();
    let place = |index: Vec<usize>| {
        let linear = data::linear_index(&mask_shape, used.iter().map(|&(_, i)| index[i]));
        if !shows(linear) {
            return Ok(ElementSource::Masked);
        }
        let mut place = at.clone();
        for &(dim, i) in &used {
            place[dim] = at[dim].wrapping_add(index[i] as i64);
            if (0..sizes[dim]).contains(&place[dim]) {
                continue;
            }
            let promised = bounds.get(i) == Some(&true);
            let reason = "a transfer goes beyond the end against its promise";
            return if promised { Err(Trap::Ub(reason.into())) } else { Ok(ElementSource::Nowhere) };
        }
        Ok(ElementSource::At(place))
    };
    data::indices(&extents).map(place).collect()
}

/// Checks that vector and source have the same element type; other transfers are unsupported.
fn same_elements(args: &OpArgs<'_>, source: Type, ty: Type) -> Result<(), Trap> {
    let ctx = args.ctx();
    if ctx.element_type(source) == ctx.element_type(ty) {
        return Ok(());
    }
    Err(Trap::unsupported("a transfer between elements of different types"))
}

pub(super) fn read(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ty = args.result_types[0];
    same_elements(args, args.operand_type(0), ty)?;
    if data[0] == Datum::Poison && !is_memory(args.module, args.operands[0]) {
        return Ok(vec![Datum::Poison]);
    }
    let padding = one(args, data, "padding")?;
    let around = surrounding(args, memory)?;
    let passthru = around
        .as_ref()
        .and_then(|a| a.passthru.as_ref())
        .map(|d| stored(d, data::extents(args.ctx(), ty)?.iter().product()))
        .transpose()?;
    let element = |(n, place): (usize, ElementSource)| match (place, &data[0]) {
        (ElementSource::Masked, _) => Ok(passthru.as_ref().map_or(padding, |list| &list[n]).clone()),
        (ElementSource::Nowhere, _) => Ok(padding.clone()),
        (ElementSource::At(at), base) => match base.shape() {
            Some(shape) => data::element_of(base, data::position(shape, &at)?),
            None => memory.load(base.memref()?, &at),
        },
    };
    let places = places(args, data, ty, around.as_ref().map(|a| a.mask.as_slice()))?;
    let all: Vec<Datum> = places.into_iter().enumerate().map(element).collect::<Result<_, _>>()?;
    data::value_of(args.ctx(), ty, &all).map(|v| vec![v])
}

pub(super) fn write(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let ty = args.operand_type(0);
    same_elements(args, args.operand_type(1), ty)?;
    let tensor = !args.result_types.is_empty();
    if tensor && data[1] == Datum::Poison {
        return Ok(vec![Datum::Poison]);
    }
    let around = surrounding(args, memory)?;
    let places = places(args, data, ty, around.as_ref().map(|a| a.mask.as_slice()))?;
    let elements = stored(&data[0], places.len())?;
    let written = elements.iter().zip(places).filter_map(|(element, place)| match place {
        ElementSource::At(at) => Some((element, at)),
        ElementSource::Nowhere | ElementSource::Masked => None,
    });
    let Some(shape) = data[1].shape() else {
        for (element, at) in written {
            memory.store(element.clone(), data[1].memref()?, &at)?;
        }
        return Ok(Vec::new());
    };
    let (mut all, mut numbers) = (Vec::new(), Vec::new());
    for (element, at) in written {
        all.push(element.clone());
        numbers.push(data::position(shape, &at)?);
    }
    Ok(vec![data::put_scalars(&all, &data[1], &numbers)?])
}
