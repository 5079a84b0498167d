//! Pools and depthwise convolutions by tables.

use super::{Run, addr::bounds, constant};
use crate::gemm::Isa;
use crate::window::{Reduction, Windows};
use gradus_ir::eval::Datum;
use gradus_ir::{DType, Module, Op, OpArgs};

/// `addr.pool`.
pub(super) fn pool(m: &Module, _: Op, args: &OpArgs<'_>) -> Option<Run> {
    let (table, channels) = (constant(m, args, "bases")?, usize::try_from(args.int("run")?).ok()?);
    let reduction = if args.int("kind") == Some(0) { Reduction::Max } else { Reduction::Sum };
    let &[rows, positions] = table.shape() else { return None };
    let bases = table.as_slice::<i32>().into_owned();
    let is_known = m.ctx.dtype(m.ctx.element_type(args.operand_type(0))) == Some(DType::F32);
    is_known.then_some(Box::new(move |data, buffers| {
        let a = data[0].tensor()?.as_slice::<f32>();
        let range = (f32::NEG_INFINITY, f32::INFINITY);
        let mut c = buffers.take(rows * channels);
        let windows = Windows { a: &a, bases: &bases, positions, channels, reduction, bias: None, range };
        windows.compute(Isa::best(), &mut c)?;
        Ok(vec![Datum::Tensor(buffers.tensor(&[rows, channels], c)?)])
    }))
}

/// `addr.depthwise`.
pub(super) fn depthwise(m: &Module, _: Op, args: &OpArgs<'_>) -> Option<Run> {
    let (table, w) = (constant(m, args, "bases")?, constant(m, args, "w").filter(|w| w.dtype() == DType::F32)?);
    let (&[rows, positions], &[_, channels]) = (table.shape(), w.shape()) else { return None };
    let (bases, weights) = (table.as_slice::<i32>().into_owned(), w.as_slice::<f32>().into_owned());
    // What is not there is zero, and is not multiplied: with these that would not be zero.
    if weights.iter().any(|w| !w.is_finite()) || args.opt_operand("add").is_some() {
        return None;
    }
    let bias = match args.opt_operand("bias") {
        Some(_) => Some(constant(m, args, "bias")?.as_slice::<f32>().into_owned()),
        None => None,
    };
    let range = bounds(m, args);
    Some(Box::new(move |data, buffers| {
        let a = data[0].tensor()?.as_slice::<f32>();
        let (reduction, bias) = (Reduction::Weighted(&weights), bias.as_deref());
        let mut c = buffers.take(rows * channels);
        let windows = Windows { a: &a, bases: &bases, positions, channels, reduction, bias, range };
        windows.compute(Isa::best(), &mut c)?;
        Ok(vec![Datum::Tensor(buffers.tensor(&[rows, channels], c)?)])
    }))
}
