//! Normalization along an axis: softmax, log softmax, local response normalization.

use super::function::exp;
use super::{Kernel, Prepared, extents, float, floats, floats_mut, is};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use gradus_reference_kernels::shape::normalize_axis;

/// Extent of an axis, and product of the extents behind it.
#[derive(Clone, Copy)]
struct Around {
    extent: usize,
    inner: usize,
}

impl Around {
    /// Returns the extents for an op's axis attribute; with `flatten`, all axes from it on are merged.
    fn axis(m: &Module, args: &OpArgs<'_>) -> Option<Around> {
        let shape = extents(m, args.operand_type(0)).filter(|_| is(args, 0, DType::F32))?;
        let axis = normalize_axis(args.int("axis")?, shape.len()).ok()?;
        let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product());
        Some(if args.flag("legacy_flatten") {
            Around { extent: extent * inner, inner: 1 }
        } else {
            Around { extent, inner }
        })
    }
}

/// Number of vector operations per element of a normalization, of 16 elements each: an exponential and a few more.
const STEPS_PER_ELEMENT: usize = 2;

/// Applies `f` to the lanes along an axis, many lanes at once: `f` gets a row of elements per position on the axis.
/// Threads share the extents before the axis.
fn lanes(around: Around, f: impl Fn(&mut [&mut [f32]], &mut [f32], &mut [f32]) + Send + Sync + 'static) -> Prepared {
    Kernel::shared([0], move |workers, data, out| {
        let (x, out) = (floats(data[0]), floats_mut(out));
        out.copy_from_slice(x);
        let Around { extent, inner } = around;
        let block = (extent * inner).max(1);
        let (threads, part) = divided(workers, out.len(), block);
        workers.share(threads, out.chunks_mut(part), |part| {
            let (mut most, mut sum) = (vec![0.0; inner], vec![0.0; inner]);
            for block in part.chunks_exact_mut(block) {
                let mut rows: Vec<&mut [f32]> = block.chunks_exact_mut(inner.max(1)).collect();
                f(&mut rows, &mut most, &mut sum);
            }
        });
        Ok(())
    })
    .into()
}

/// Returns the number of threads for a normalization of `elements`, and the elements of a part: whole blocks.
fn divided(workers: &Workers, elements: usize, block: usize) -> (usize, usize) {
    let threads = workers.for_steps(elements.saturating_mul(STEPS_PER_ELEMENT));
    (threads, (elements / block).div_ceil(Workers::parts(threads)).max(1).saturating_mul(block))
}

/// Subtracts the maximum of each lane and sums the exponentials, which `keep` receives.
fn shifted(rows: &mut [&mut [f32]], most: &mut [f32], sum: &mut [f32], keep: impl Fn(&mut f32, f32)) {
    most.fill(f32::NEG_INFINITY);
    sum.fill(0.0);
    for row in rows.iter() {
        most.iter_mut().zip(row.iter()).for_each(|(most, &x)| *most = if x > *most { x } else { *most });
    }
    for row in rows {
        for ((x, &most), sum) in row.iter_mut().zip(most.iter()).zip(sum.iter_mut()) {
            *x -= most;
            let e = exp(*x);
            *sum += e;
            keep(x, e);
        }
    }
}

/// Prepares `graph.softmax`.
pub(super) fn softmax(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    Some(lanes(Around::axis(m, args)?, |rows, most, sum| {
        shifted(rows, most, sum, |x, e| *x = e);
        for row in rows {
            row.iter_mut().zip(sum.iter()).for_each(|(x, sum)| *x /= sum);
        }
    }))
}

/// Prepares `graph.log_softmax`.
pub(super) fn log_softmax(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    Some(lanes(Around::axis(m, args)?, |rows, most, sum| {
        shifted(rows, most, sum, |_, _| {});
        for row in rows {
            row.iter_mut().zip(sum.iter()).for_each(|(x, sum)| *x -= sum.ln());
        }
    }))
}

/// Prepares `graph.lrn`, over channels (axis 1).
pub(super) fn lrn(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let shape = extents(m, args.operand_type(0)).filter(|d| d.len() >= 2 && is(args, 0, DType::F32))?;
    let (channels, inner) = (shape[1], shape[2..].iter().product::<usize>());
    let size = usize::try_from(args.int("size")?).ok().filter(|&size| size > 0)?;
    let [alpha, beta, bias] = ["alpha", "beta", "bias"].map(|name| float(args, name));
    let (scale, beta, bias) = (alpha? / size as f32, beta?, bias?);
    let (before, after) = ((size - 1) / 2, (size - 1).div_ceil(2));
    // Computes the result of a channel of an image.
    let row = move |x: &[f32], i: usize, row: &mut [f32]| {
        let (first, channel) = (i / channels * channels, i % channels);
        row.fill(0.0);
        for other in channel.saturating_sub(before)..channels.min(channel.saturating_add(after).saturating_add(1)) {
            let squares = x[(first + other) * inner..][..inner].iter().map(|x| x * x);
            row.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
        }
        let x = &x[i * inner..][..inner];
        if beta == 0.75 {
            row.iter_mut().zip(x).for_each(|(y, x)| *y = x / three_quarters(bias + scale * *y));
        } else {
            row.iter_mut().zip(x).for_each(|(y, x)| *y = x / (bias + scale * *y).powf(beta));
        }
    };
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let (x, out, channel) = (floats(data[0]), floats_mut(out), inner.max(1));
        let (threads, part) = divided(workers, out.len(), channel);
        workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| {
            let rows = out.chunks_exact_mut(channel).enumerate();
            rows.for_each(|(j, out)| row(x, i * (part / channel) + j, out));
        });
        Ok(())
    });
    Some(kernel.into())
}

/// Computes x^(3/4).
fn three_quarters(x: f32) -> f32 {
    let root = x.sqrt();
    root * root.sqrt()
}
