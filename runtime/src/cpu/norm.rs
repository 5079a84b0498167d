//! Layer and RMS normalization of contiguous rows.

use super::lanes::{PARTIAL, combined, divided};
use super::{Kernel, Prepared, extents, float, floats, floats_mut, is, position};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use gradus_ir::{DType, Module, OpArgs};
use gradus_reference_kernels::shape::normalize_axis;

/// Prepares `graph.layer_normalization` with one result.
pub(super) fn layer(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    normalization(m, args, true)
}

/// Prepares `graph.rms_normalization`.
pub(super) fn rms(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    normalization(m, args, false)
}

fn normalization(m: &Module, args: &OpArgs<'_>, is_centered: bool) -> Option<Prepared> {
    let shape = extents(m, args.operand_type(0))?;
    let row = &shape[normalize_axis(args.int("axis")?, shape.len()).ok()?..];
    let (scale, bias) = (position(args, "scale")?, position(args, "b"));
    // Scale and bias have an element for each of the row.
    let fits = |i: usize| {
        let own = extents(m, args.operand_type(i))?;
        let (ones, rest) = own.split_at_checked(own.len().checked_sub(row.len())?)?;
        (rest == row && ones.iter().all(|&d| d == 1)).then_some(())
    };
    let operands: Vec<usize> = [0, scale].into_iter().chain(bias).collect();
    operands[1..].iter().try_for_each(|&i| fits(i))?;
    let is_same = args.result_types.len() == 1 && extents(m, args.result_types[0])? == shape;
    if !is_same || !operands.iter().all(|&i| is(args, i, DType::F32)) {
        return None;
    }
    let (extent, epsilon) = (row.iter().product::<usize>().max(1), f64::from(float(args, "epsilon")?));
    let kernel = Kernel::shared(operands, move |workers, data, out| {
        let (x, scale, out) = (floats(data[0]), floats(data[1]), floats_mut(out));
        let bias = data.get(2).map(|bias| floats(bias));
        let (threads, part) = divided(workers, out.len(), extent);
        workers.share(threads, x.chunks(part).zip(out.chunks_mut(part)), |(x, out)| {
            for (x, out) in x.chunks_exact(extent).zip(out.chunks_exact_mut(extent)) {
                run_widest(NormalizedRow { x, scale, bias, epsilon, is_centered, out });
            }
        });
        Ok(())
    });
    Some(kernel.into())
}

/// The normalization of a row.
struct NormalizedRow<'a> {
    x: &'a [f32],
    scale: &'a [f32],
    bias: Option<&'a [f32]>,
    epsilon: f64,
    /// Whether the mean is subtracted.
    is_centered: bool,
    out: &'a mut [f32],
}

impl Loops for NormalizedRow<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let count = self.x.len() as f64;
        let mean = if self.is_centered { sum(self.x, f64::from) / count } else { 0.0 };
        let variance = sum(self.x, |x| (f64::from(x) - mean) * (f64::from(x) - mean)) / count;
        let inverse = 1.0 / (variance + self.epsilon).sqrt();
        let normalized = self.x.iter().map(|&x| ((f64::from(x) - mean) * inverse) as f32);
        let scaled = self.out.iter_mut().zip(normalized).zip(self.scale);
        match self.bias {
            Some(bias) => scaled.zip(bias).for_each(|(((y, x), scale), bias)| *y = x * scale + bias),
            None => scaled.for_each(|((y, x), scale)| *y = x * scale),
        }
    }
}

/// Sums a function of each element.
#[inline(always)]
fn sum(x: &[f32], f: impl Fn(f32) -> f64) -> f64 {
    let mut sums = [0.0; PARTIAL];
    let (chunks, rest) = x.as_chunks::<PARTIAL>();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &x)| *sum += f(x));
    }
    rest.iter().map(|&x| f(x)).sum::<f64>() + combined(sums, |a, b| a + b)
}
