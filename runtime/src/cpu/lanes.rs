//! Normalization along an axis: softmax, log softmax, local response normalization.

use super::function::exp;
use super::narrow::Narrow;
use super::{Kernel, Prepared, extents, float};
use crate::vector::{Loops, MultiplyAdd, Separate, run_widest};
use crate::workers::Workers;
use gradus_ir::{Module, OpArgs};
use gradus_reference_kernels::shape::normalize_axis;

/// Extent of an axis, and product of the extents behind it.
#[derive(Clone, Copy)]
struct Around {
    extent: usize,
    inner: usize,
    /// The float type.
    kind: Narrow,
}

impl Around {
    /// Returns the extents for an op's axis attribute; with `flatten`, all axes from it on are merged.
    fn axis(m: &Module, args: &OpArgs<'_>) -> Option<Around> {
        let (shape, kind) = (extents(m, args.operand_type(0))?, Narrow::of(args, 0)?);
        let axis = normalize_axis(args.int("axis")?, shape.len()).ok()?;
        let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product());
        Some(if args.flag("legacy_flatten") {
            Around { extent: extent * inner, inner: 1, kind }
        } else {
            Around { extent, inner, kind }
        })
    }
}

/// Number of vector operations per element of a normalization, of 16 elements each: an exponential and a few more.
const STEPS_PER_ELEMENT: usize = 2;

/// Applies `f` to the lanes along an axis, many lanes at once: `f` gets a row of elements per position on the axis.
/// Threads share the extents before the axis.
fn lanes(around: Around, f: impl Fn(&mut [&mut [f32]], &mut [f32], &mut [f32]) + Send + Sync + 'static) -> Prepared {
    Kernel::shared([0], move |workers, data, out| {
        let Around { extent, inner, kind } = around;
        let (x, block) = (kind.floats(data[0]), (extent * inner).max(1));
        kind.write(out, |out| {
            out.copy_from_slice(&x);
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
    })
    .into()
}

/// Returns the number of threads for a normalization of `elements`, and the elements of a part: whole blocks.
pub(super) fn divided(workers: &Workers, elements: usize, block: usize) -> (usize, usize) {
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
            let e = exp::<Separate>(*x);
            *sum += e;
            keep(x, e);
        }
    }
}

/// Prepares `graph.softmax`.
pub(super) fn softmax(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let around = Around::axis(m, args)?;
    if around.inner == 1 {
        return Some(rows(around, |x, out| run_widest(Softmax { x, out })));
    }
    Some(lanes(around, |rows, most, sum| {
        shifted(rows, most, sum, |x, e| *x = e);
        for row in rows {
            row.iter_mut().zip(sum.iter()).for_each(|(x, sum)| *x /= sum);
        }
    }))
}

/// Applies `f` to contiguous rows, which threads share.
fn rows(Around { extent, kind, .. }: Around, f: impl Fn(&[f32], &mut [f32]) + Send + Sync + 'static) -> Prepared {
    Kernel::shared([0], move |workers, data, out| {
        let (x, extent) = (kind.floats(data[0]), extent.max(1));
        kind.write(out, |out| {
            let (threads, part) = divided(workers, out.len(), extent);
            workers.share(threads, x.chunks(part).zip(out.chunks_mut(part)), |(x, out)| {
                x.chunks_exact(extent).zip(out.chunks_exact_mut(extent)).for_each(|(x, out)| f(x, out));
            });
            Ok(())
        })
    })
    .into()
}

/// Number of partial results of a reduction of a row: the lanes of the widest vector.
pub(super) const PARTIAL: usize = 16;

/// The softmax of a row.
struct Softmax<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Loops for Softmax<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        self.out.copy_from_slice(self.x);
        let sum = exponentials::<M>(self.out, largest(self.x));
        self.out.iter_mut().for_each(|y| *y /= sum);
    }
}

/// Combines partial results in pairs, which takes as many steps as the logarithm of their number.
#[inline(always)]
pub(super) fn combined<T: Copy>(mut parts: [T; PARTIAL], both: impl Fn(T, T) -> T) -> T {
    let mut width = PARTIAL / 2;
    while width > 0 {
        for i in 0..width {
            parts[i] = both(parts[i], parts[i + width]);
        }
        width /= 2;
    }
    parts[0]
}

/// Returns the elements behind the last whole chunk, filled up with minus infinity.
#[inline(always)]
fn padded(rest: &[f32]) -> [f32; PARTIAL] {
    let mut chunk = [f32::NEG_INFINITY; PARTIAL];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

/// Returns the largest element; minus infinity if there is none, or only NaN.
#[inline(always)]
pub(super) fn largest(x: &[f32]) -> f32 {
    let mut most = [f32::NEG_INFINITY; PARTIAL];
    let (chunks, rest) = x.as_chunks::<PARTIAL>();
    let mut add = |chunk: &[f32; PARTIAL]| {
        for (most, &x) in most.iter_mut().zip(chunk) {
            *most = if x > *most { x } else { *most };
        }
    };
    chunks.iter().for_each(&mut add);
    if !rest.is_empty() {
        add(&padded(rest));
    }
    combined(most, |a, b| if b > a { b } else { a })
}

/// Computes e^x for x up to 0; below the normal numbers, which take a processor many times as long, it is 0.
#[inline(always)]
pub(super) fn share<M: MultiplyAdd>(x: f32) -> f32 {
    /// The logarithm of the least normal number, rounded up.
    const LEAST: f32 = -87.336;
    let e = exp::<M>(if x < LEAST { 0.0 } else { x });
    if x < LEAST { 0.0 } else { e }
}

/// Replaces each element x by e^(x - most), and returns their sum.
#[inline(always)]
pub(super) fn exponentials<M: MultiplyAdd>(x: &mut [f32], most: f32) -> f32 {
    let mut sums = [0.0; PARTIAL];
    let (chunks, rest) = x.as_chunks_mut::<PARTIAL>();
    let mut add = |chunk: &mut [f32; PARTIAL]| {
        for (x, sum) in chunk.iter_mut().zip(&mut sums) {
            *x = share::<M>(*x - most);
            *sum += *x;
        }
    };
    chunks.iter_mut().for_each(&mut add);
    if !rest.is_empty() {
        let mut last = padded(rest);
        add(&mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
    combined(sums, |a, b| a + b)
}

/// The logarithm of the softmax of a row.
struct LogSoftmax<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Loops for LogSoftmax<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let most = largest(self.x);
        self.out.copy_from_slice(self.x);
        let log = exponentials::<M>(self.out, most).ln();
        for (y, x) in self.out.iter_mut().zip(self.x) {
            *y = x - most - log;
        }
    }
}

/// Prepares `graph.log_softmax`.
pub(super) fn log_softmax(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let around = Around::axis(m, args)?;
    if around.inner == 1 {
        return Some(rows(around, |x, out| run_widest(LogSoftmax { x, out })));
    }
    Some(lanes(around, |rows, most, sum| {
        shifted(rows, most, sum, |_, _| {});
        for row in rows {
            row.iter_mut().zip(sum.iter()).for_each(|(x, sum)| *x -= sum.ln());
        }
    }))
}

/// Local response normalization: y = x / (bias + scale · sum of squares of neighbours)^beta.
#[derive(Clone, Copy)]
struct Response {
    around: Around,
    /// Number of neighbours before and after a channel.
    window: [usize; 2],
    scale: f32,
    beta: f32,
    bias: f32,
}

/// Prepares `graph.lrn`.
pub(super) fn lrn(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let size = usize::try_from(args.int("size")?).ok().filter(|&size| size > 0)?;
    let [alpha, beta, bias] = ["alpha", "beta", "bias"].map(|name| float(args, name));
    let window = [(size - 1) / 2, (size - 1).div_ceil(2)];
    let response =
        Response { around: Around::axis(m, args)?, window, scale: alpha? / size as f32, beta: beta?, bias: bias? };
    let kernel = Kernel::shared([0], move |workers, data, out| {
        // A block is all channels of a position, or a channel of all positions.
        let Around { extent, inner, kind } = response.around;
        let (x, block) = (kind.floats(data[0]), if inner == 1 { extent.max(1) } else { inner.max(1) });
        kind.write(out, |out| {
            let (threads, part) = divided(workers, out.len(), block);
            workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| {
                let mut squares = Vec::new();
                for (j, out) in out.chunks_exact_mut(block).enumerate() {
                    let index = i * (part / block) + j;
                    run_widest(Responses { response, x: &x, index, squares: &mut squares, out });
                }
            });
            Ok(())
        })
    });
    Some(kernel.into())
}

/// The results of a position or of a channel.
struct Responses<'a> {
    response: Response,
    x: &'a [f32],
    /// The position or channel.
    index: usize,
    /// Scratch memory.
    squares: &'a mut Vec<f32>,
    out: &'a mut [f32],
}

impl Loops for Responses<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let Responses { response, x, index: number, squares, out } = self;
        match response.around.inner {
            1 => response.of_position::<M>(&x[number * out.len()..][..out.len()], squares, out),
            _ => response.of_channel::<M>(x, number, out),
        }
    }
}

impl Response {
    /// Computes the result of a channel of an image.
    #[inline(always)]
    fn of_channel<M: MultiplyAdd>(&self, x: &[f32], i: usize, out: &mut [f32]) {
        let (Around { extent, inner, .. }, [before, after]) = (self.around, self.window);
        let (first, channel) = (i / extent * extent, i % extent);
        out.fill(0.0);
        for other in channel.saturating_sub(before)..extent.min(channel.saturating_add(after).saturating_add(1)) {
            for (sum, x) in out.iter_mut().zip(&x[(first + other) * inner..][..inner]) {
                *sum += x * x;
            }
        }
        self.divide::<M>(&x[i * inner..][..inner], out);
    }

    /// Computes the result of all channels at a position; `squares` is scratch memory.
    #[inline(always)]
    fn of_position<M: MultiplyAdd>(&self, x: &[f32], squares: &mut Vec<f32>, out: &mut [f32]) {
        let [before, after] = self.window.map(|count| count.min(x.len()));
        squares.clear();
        squares.resize(before, 0.0);
        squares.extend(x.iter().map(|x| x * x));
        squares.resize(squares.len() + after, 0.0);
        out.fill(0.0);
        for first in 0..=before + after {
            for (sum, square) in out.iter_mut().zip(&squares[first..]) {
                *sum += square;
            }
        }
        self.divide::<M>(x, out);
    }

    /// Divides elements by the power of the scaled sums, which the result replaces.
    #[inline(always)]
    fn divide<M: MultiplyAdd>(&self, x: &[f32], sums: &mut [f32]) {
        let &Response { scale, beta, bias, .. } = self;
        let mut is_usual = beta == 0.75;
        for y in sums.iter_mut() {
            *y = bias + scale * *y;
            is_usual &= *y > 1e-30 && *y < 1e30;
        }
        if is_usual {
            for (y, x) in sums.iter_mut().zip(x) {
                let root = inverse_fourth_root::<M>(*y);
                *y = x * (root * root * root);
            }
            return;
        }
        for (y, x) in sums.iter_mut().zip(x) {
            *y = x / if beta == 0.75 { three_quarters(*y) } else { y.powf(beta) };
        }
    }
}

/// Computes x^(-1/4) for x from 1e-30 to 1e30: an estimate from the bits of x, whose exponent is multiplied by -1/4, and three of Newton's
/// steps, after which the error is that of roundings. No division and no root, which take as long as all of these.
#[inline(always)]
fn inverse_fourth_root<M: MultiplyAdd>(x: f32) -> f32 {
    /// 5/4 of the exponent's bias, less the mean error of the logarithm.
    const ESTIMATE: u32 = 0x4f58_ca6a;
    let mut y = f32::from_bits(ESTIMATE.wrapping_sub(x.to_bits() >> 2));
    for _ in 0..3 {
        let square = y * y;
        y *= M::of(-0.25 * x, square * square, 1.25);
    }
    y
}

/// Computes x^(3/4).
#[inline(always)]
fn three_quarters(x: f32) -> f32 {
    let root = x.sqrt();
    root * root.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::Fused;

    #[test]
    fn inverse_roots_are_near() {
        for i in -2_000..2_000 {
            let x = (f64::from(i) * 0.034).exp() as f32;
            let want = f64::from(x).powf(-0.25);
            for y in [inverse_fourth_root::<Separate>(x), inverse_fourth_root::<Fused>(x)] {
                assert!((f64::from(y) - want).abs() <= 3.0 * f64::from(f32::EPSILON) * want, "{x}: {y} {want}");
            }
        }
    }
}
