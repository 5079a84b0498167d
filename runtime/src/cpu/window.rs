//! Kernels of table-driven pools and depthwise convolutions.

use super::addr::bounds;
use super::narrow::Narrow;
use super::operands::Operands;
use super::{Kernel, Prepared, constant};
use crate::gemm::Isa;
use crate::window::{Reduction, WindowTable, Windows};
use gradus_ir::{Module, OpArgs};

/// Prepares `addr.pool`.
pub(super) fn pool(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let channels = usize::try_from(args.int("run")?).ok()?;
    let is_max = args.int("kind") == Some(0);
    windows(args, channels, None, is_max)
}

/// Prepares `addr.depthwise`.
pub(super) fn depthwise(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let w = constant(args, "b")?;
    let &[_, channels] = w.shape() else { return None };
    let weights = Narrow::of(args, 0)?.floats(w.bytes()).into_owned();
    // Padding is skipped, but zero times a non-finite weight is NaN.
    if weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    windows(args, channels, Some(weights), false)
}

/// Prepares windows over an image, with optional weights.
fn windows(args: &OpArgs<'_>, channels: usize, weights: Option<Vec<f32>>, is_max: bool) -> Option<Prepared> {
    let table = constant(args, "bases")?;
    let kind = Narrow::of(args, 0)?;
    let &[_, positions] = table.shape() else { return None };
    let places = WindowTable::new(&table.as_slice::<i32>(), positions).ok()?;
    let range = bounds(args);
    let mut operands = Operands::new(args);
    let [bias, add] = ["bias", "add"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let [bias, add] = [bias, add].map(|input| input.map(|i| kind.floats(data[i])));
        let reduction = match &weights {
            Some(weights) => Reduction::Weighted(weights),
            None if is_max => Reduction::Max,
            None => Reduction::Sum,
        };
        let (a, bias, add) = (&kind.floats(data[0]), bias.as_deref(), add.as_deref());
        let windows = Windows { a, places: &places, channels, reduction, bias, add, range };
        kind.write(out, |c| Ok(windows.compute(Isa::best(), workers, c)?))
    });
    Some(kernel.into())
}
