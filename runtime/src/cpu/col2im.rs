//! Sums of blocks at the positions of a sliding window.

use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::narrow::Narrow;
use super::{Kernel, Prepared, dtype, extents};
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::col2im_windows;
use gradus_reference_kernels::shape::Window;

/// Prepares `graph.col2im` of floats of at most 32 bits, f64 and integers: sums of the blocks at each element of an image.
pub(super) fn col2im(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let window = col2im_windows(args)?;
    let places: Vec<_> = (0..window.kernel.iter().product()).map(|tap| places(&window, tap)).collect();
    let (length, area) = (places.first()?.len() * places.len(), window.input.iter().product::<usize>());
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

/// Returns the element of the image of each position of a tap.
fn places(window: &Window, tap: usize) -> Vec<Option<usize>> {
    let place = |output: usize| {
        let (mut tap, mut output, mut at, mut step) = (tap, output, 0, 1);
        for axis in (0..window.input.len()).rev() {
            let from = tap % window.kernel[axis] * window.dilations[axis]
                + output % window.output[axis] * window.strides[axis];
            (tap, output) = (tap / window.kernel[axis], output / window.output[axis]);
            at += from.checked_sub(window.pads_begin[axis]).filter(|&at| at < window.input[axis])? * step;
            step *= window.input[axis];
        }
        Some(at)
    };
    (0..window.output.iter().product()).map(place).collect()
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
