//! Sums of blocks at the positions of a sliding window.

use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::narrow::Narrow;
use super::{Kernel, Prepared, dtype, extents};
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::col2im_windows;
use gradus_reference_kernels::place_of_tap;

/// Prepares `graph.col2im` of floats of at most 32 bits, f64 and integers: sums of the blocks at each element of an image.
pub(super) fn col2im(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let window = col2im_windows(args)?;
    let outputs: usize = window.output.iter().product();
    let of_tap = |tap: usize| (0..outputs).map(|output| place_of_tap(&window, tap, output)).collect::<Vec<_>>();
    let places: Vec<_> = (0..window.kernel.iter().product()).map(of_tap).collect();
    let (length, area) = (outputs * places.len(), window.input.iter().product::<usize>());
    let [from, to] = [extents(m, args.operand_type(0))?, extents(m, *args.result_types.first()?)?];
    let planes = to.iter().product::<usize>().checked_div(area)?;
    (length > 0 && area > 0 && from.iter().product::<usize>() == planes * length).then_some(())?;
    if let Some(narrow) = Narrow::of(args, 0) {
        let kernel = Kernel::shared([0], move |workers, data, out| {
            let (x, threads) = (narrow.floats(data[0]), workers.for_steps(planes * length));
            narrow.write(out, |out| {
                let planes = x.chunks_exact(length).zip(out.chunks_exact_mut(area));
                workers.share(threads, planes, |(x, out)| add(&places, x, out));
                Ok(())
            })
        });
        return Some(kernel.into());
    }
    dispatch!(dtype(m, args.operand_type(0)).filter(|&kind| kind != DType::Bool)?, T => {
        let kernel = Kernel::shared([0], move |workers, data, out| {
            let planes = elements::<T>(data[0]).chunks_exact(length).zip(elements_mut::<T>(out).chunks_exact_mut(area));
            workers.share(workers.for_steps(data[0].len()), planes, |(x, out)| add(&places, x, out));
            Ok(())
        });
        Some(kernel.into())
    })
}

/// Adds the blocks of an image of one channel.
fn add<T: ElementArithmetic>(places: &[Vec<Option<usize>>], blocks: &[T], out: &mut [T]) {
    out.fill(T::ZERO);
    for (places, blocks) in places.iter().zip(blocks.chunks_exact(blocks.len() / places.len())) {
        for (&at, &x) in places.iter().zip(blocks).filter_map(|(at, x)| Some((at.as_ref()?, x))) {
            out[at] = out[at].plus(x);
        }
    }
}
