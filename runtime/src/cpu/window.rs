//! Kernels of table-driven pools and depthwise convolutions.

use super::addr::elementwise_epilogue;
use super::narrow::{Narrow, WidenedFloats};
use super::operands::Operands;
use super::{Kernel, Prepared, constant, dtype, elementwise, extents, size};
use crate::gemm::Isa;
use crate::window::{
    MaxWindows, PlaneAxis, PlaneFilters, PlaneShape, PlaneSums, Planes, WindowReduction, WindowTable, Windows,
};
use crate::workers::Workers;
use crate::{ElementwiseEpilogue, KernelError};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::addr::{Geometry, bands_of, channels_per_filter, constant_table};
use gradus_networks::layout::SlidingWindow;

/// Prepares `addr.pool` of maxima of bytes.
pub(super) fn byte_pool(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (is_signed, table) = (dtype(m, args.operand_type(0))? == DType::I8, constant_table(args)?);
    let is_byte = size(m, args.operand_type(0))? == extents(m, args.operand_type(0))?.iter().product();
    let places = MaxWindows::new(&table).ok().filter(|_| is_byte && args.int("kind") == Some(0))?;
    let kernel = Kernel::shared([0], move |workers, data, out| {
        places.compute(workers, data[0], is_signed, out).map_err(Trap::from)
    });
    Some(kernel.into())
}

/// Prepares `addr.pool`.
pub(super) fn pool(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    windows(args, None, args.int("kind") == Some(0))
}

/// Prepares `addr.pool` on f64, by loops.
pub(super) fn f64_pool(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (table, is_max) = (constant_table(args)?.into_owned(), args.int("kind") == Some(0));
    let elements = extents(m, args.operand_type(0))?.iter().product::<usize>();
    let is_f64 = dtype(m, args.operand_type(0))? == DType::F64 && table.run() > 0;
    (is_f64 && table.check(i64::try_from(elements).ok()?).is_ok()).then_some(())?;
    let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let (a, out): (&[f64], &mut [f64]) = (elementwise::elements(data[0]), elementwise::elements_mut(out));
        let threads = workers.for_steps((out.len() / 4).saturating_mul(table.runs()));
        workers.share(threads, out.chunks_mut(table.run()).enumerate(), |(row, out)| {
            out.fill(if is_max { f64::NEG_INFINITY } else { 0.0 });
            for start in (0..table.runs()).filter_map(|run| table.run_start(row, run)) {
                let values = out.iter_mut().zip(&a[start as usize..]);
                values.for_each(|(y, &x)| *y = if is_max { larger(*y, x) } else { *y + x });
            }
        });
        Ok(())
    });
    Some(kernel.into())
}

/// Prepares `addr.depthwise`.
pub(super) fn depthwise(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let weights = Narrow::of(args, 0)?.floats(constant(args, "b")?.bytes()).into_owned();
    // Padding is skipped, but zero times a non-finite weight is NaN.
    if weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    windows(args, Some(weights), false)
}

/// Returns the windows along the last axis of an image but `from_last`; a single one for an axis that it does not have.
fn plane_axis(geometry: &Geometry, from_last: usize) -> Option<PlaneAxis> {
    let Some(axis) = geometry.windows.len().checked_sub(from_last + 1) else { return Some(PlaneAxis::ONE) };
    let &SlidingWindow { outputs, taps, stride, dilation, start } = &geometry.windows[axis];
    let [outputs, taps, stride, dilation] = [outputs, taps, stride, dilation].map(|n| i64::try_from(n).ok());
    let (outputs, taps, stride, dilation) = (outputs?, taps?, stride?, dilation?);
    Some(PlaneAxis { input: geometry.sizes[2 + axis], outputs, taps, stride, dilation, start })
}

/// Prepares `addr.conv_planes` on images of one or two dimensions.
pub(super) fn conv_planes(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let kind = Narrow::of(args, 0)?;
    let geometry =
        Geometry::from_attr(args.ctx(), args.attr("geometry")?).filter(|g| (1..3).contains(&g.windows.len()))?;
    let weights = kind.floats(constant(args, "b")?.bytes()).into_owned();
    // Padding is skipped, but zero times a non-finite weight is NaN.
    if weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    let bands = bands_of(args, &geometry)?.map(|n| n as usize);
    let (rows, columns) = (plane_axis(&geometry, 1)?, plane_axis(&geometry, 0)?);
    let [filters, _] = extents(args.module, args.operand_type(1))?[..] else { return None };
    let is_depthwise = filters as i64 == geometry.sizes[1];
    // Rows of one dimension are a single row, whose bands would be of columns.
    let shape = PlaneShape::new(rows, columns, bands)
        .filter(|_| is_depthwise && (bands == [1; 2] || geometry.windows.len() > 1));
    match usize::try_from(channels_per_filter(args, &geometry)?).ok()? {
        1 if let Some(shape) = shape => planes(args, move |[a, bias, add], elementwise, workers, c| {
            let (bias, add) = (bias.as_deref(), add.as_deref());
            let planes = Planes {
                a: a.as_deref().unwrap_or_default(),
                shape: &shape,
                weights: &weights,
                bias,
                add,
                elementwise,
            };
            planes.compute(Isa::best(), workers, c)
        }),
        channels if bands == [1; 2] => {
            let groups = usize::try_from(geometry.sizes[1]).ok()?.checked_div(channels)?;
            let filters = PlaneFilters::new(rows, columns, [groups, channels], &weights)?;
            planes(args, move |[a, bias, add], elementwise, workers, c| {
                let (bias, add) = (bias.as_deref(), add.as_deref());
                let sums = PlaneSums { a: a.as_deref().unwrap_or_default(), bias, add, elementwise };
                filters.compute(Isa::best(), workers, sums, c)
            })
        }
        _ => None,
    }
}

/// Prepares a computation of planes from the image, the bias and the residual in f32, with the functions of each element.
fn planes(
    args: &OpArgs<'_>,
    run: impl Fn([Option<WidenedFloats<'_>>; 3], ElementwiseEpilogue, &Workers, &mut [f32]) -> Result<(), KernelError>
    + Send
    + Sync
    + 'static,
) -> Option<Prepared> {
    let (kind, elementwise) = (Narrow::of(args, 0)?, elementwise_epilogue(args)?);
    let mut operands = Operands::new(args);
    let [bias, add] = ["bias", "add"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let inputs = [Some(0), bias, add].map(|i| i.map(|i| kind.floats(data[i])));
        kind.write(out, |c| run(inputs, elementwise, workers, c).map_err(Trap::from))
    });
    Some(kernel.into())
}

/// Prepares windows over an image, with optional weights.
fn windows(args: &OpArgs<'_>, weights: Option<Vec<f32>>, is_max: bool) -> Option<Prepared> {
    let (kind, elementwise) = (Narrow::of(args, 0)?, elementwise_epilogue(args)?);
    let places = WindowTable::new(&constant_table(args)?).ok()?;
    let mut operands = Operands::new(args);
    let [bias, add] = ["bias", "add"].map(|name| operands.input(name));
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let reduction = match &weights {
            Some(weights) => WindowReduction::Weighted(weights),
            None if is_max => WindowReduction::Max,
            None => WindowReduction::Sum,
        };
        let bias = bias.map(|i| kind.floats(data[i]));
        let (places, bias, isa) = (&places, bias.as_deref(), Isa::best());
        if kind == Narrow::BF16 {
            let [a, add] = [Some(0), add].map(|i| i.map(|i| bytemuck::cast_slice::<u8, u16>(data[i])));
            let windows = Windows { a: a.unwrap_or_default(), places, reduction, bias, add, elementwise };
            return windows.compute(isa, workers, bytemuck::cast_slice_mut(out)).map_err(Trap::from);
        }
        let (a, add) = (&kind.floats(data[0]), add.map(|i| kind.floats(data[i])));
        let windows = Windows { a, places, reduction, bias, add: add.as_deref(), elementwise };
        kind.write(out, |c| windows.compute(isa, workers, c).map_err(Trap::from))
    });
    Some(kernel.into())
}
