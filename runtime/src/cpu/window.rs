//! Pools and depthwise convolutions by tables.

use super::{Run, addr::bounds, constant};
use crate::gemm::Isa;
use crate::window::{Reduction, Windows};
use gradus_ir::eval::Datum;
use gradus_ir::{DType, Module, OpArgs};

/// What is the same each time.
struct Window {
    bases: Vec<i32>,
    rows: usize,
    positions: usize,
    channels: usize,
    range: (f32, f32),
}

impl Window {
    fn of(m: &Module, args: &OpArgs<'_>, channels: usize) -> Option<Window> {
        let table = constant(m, args, "bases")?;
        let &[rows, positions] = table.shape() else { return None };
        let is_known = m.ctx.dtype(m.ctx.element_type(args.operand_type(0))) == Some(DType::F32);
        let bases = table.as_slice::<i32>().into_owned();
        is_known.then_some(Window { bases, rows, positions, channels, range: bounds(m, args) })
    }

    /// Runs it, with weights if `weights` are there. `adds`: the last operand is added.
    fn run(self, is_max: bool, weights: Option<Vec<f32>>, bias: Option<Vec<f32>>, adds: bool) -> Run {
        Box::new(move |data, buffers| {
            let Window { bases, rows, positions, channels, range } = &self;
            let reduction = match &weights {
                Some(weights) => Reduction::Weighted(weights),
                None if is_max => Reduction::Max,
                None => Reduction::Sum,
            };
            let (a, bias) = (data[0].tensor()?.as_slice::<f32>(), bias.as_deref());
            let add = if adds { Some(data[data.len() - 1].tensor()?.as_slice::<f32>()) } else { None };
            let add = add.as_deref();
            let mut c = buffers.take(rows * channels);
            let (positions, channels, range) = (*positions, *channels, *range);
            Windows { a: &a, bases, positions, channels, reduction, bias, add, range }.compute(Isa::best(), &mut c)?;
            Ok(vec![Datum::Tensor(buffers.tensor(&[*rows, channels], c)?)])
        })
    }
}

/// `addr.pool`.
pub(super) fn pool(m: &Module, args: &OpArgs<'_>) -> Option<Run> {
    let window = Window::of(m, args, usize::try_from(args.int("run")?).ok()?)?;
    Some(window.run(args.int("kind") == Some(0), None, None, false))
}

/// `addr.depthwise`.
pub(super) fn depthwise(m: &Module, args: &OpArgs<'_>) -> Option<Run> {
    let w = constant(m, args, "w").filter(|w| w.dtype() == DType::F32)?;
    let &[_, channels] = w.shape() else { return None };
    let weights = w.as_slice::<f32>().into_owned();
    // What is not there is zero, and is not multiplied: with these that would not be zero.
    if weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    let bias = match args.opt_operand("bias") {
        Some(_) => Some(constant(m, args, "bias")?.as_slice::<f32>().into_owned()),
        None => None,
    };
    Some(Window::of(m, args, channels)?.run(false, Some(weights), bias, args.opt_operand("add").is_some()))
}
