//! The innermost loops: several windows of a run, a few vectors of channels each.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::places::{WindowPattern, WindowRun, WindowTable};
use crate::vector::{Vector, array_of};

/// The element type, weights and epilogue of windows.
pub(super) trait WindowImage {
    /// Element type of the image.
    type Element;

    /// Returns the first element.
    fn start(&self) -> *const Self::Element;

    /// Returns the addresses of windows.
    fn places(&self) -> &WindowTable;

    /// Returns the weights, `[positions, channels]`, if the reduction has any.
    fn weights(&self) -> Option<*const f32>;

    /// Loads a vector of elements as f32.
    ///
    /// # Safety
    /// There are as many elements, and the machine has the vectors.
    unsafe fn load<V: Vector>(&self, from: *const Self::Element) -> V;

    /// Applies the epilogue and stores some channels of some rows; each row gives its start.
    ///
    /// # Safety
    /// The rows and channels exist, the caller has exclusive access to them, and the machine has the vectors.
    unsafe fn finish<V: Vector, const NV: usize, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        all: [[V; NV]; P],
    );
}

/// A reduction known at compile time.
pub(super) trait Reduce {
    /// The neutral element.
    const START: f32;
    /// Accumulates one position.
    ///
    /// # Safety
    /// The machine has the vectors.
    unsafe fn step<V: Vector>(all: V, x: V, weight: V) -> V;
}

/// The implementation of [`WindowReduction::Max`].
pub(super) struct Max;
/// The implementation of [`WindowReduction::Sum`].
pub(super) struct Sum;
/// The implementation of [`WindowReduction::Weighted`].
pub(super) struct Weighted;

impl Reduce for Max {
    const START: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, _: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { all.larger(x) }
    }
}

impl Reduce for Sum {
    const START: f32 = 0.0;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, _: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { all.plus(x) }
    }
}

impl Reduce for Weighted {
    const START: f32 = 0.0;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, weight: V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { x.multiply_add(weight, all) }
    }
}

/// Computes part `i` of `parts` of all windows.
///
/// # Safety
/// The machine has the vectors, there is at least one vector of channels, weights exist if the reduction has any, all
/// addresses are in the image, and the caller has exclusive access to the rows of this part.
#[inline(always)]
pub(super) unsafe fn rows<V: Vector, R: Reduce>(image: &impl WindowImage, part: [usize; 2]) {
    for (series, look) in image.places().part(part) {
        let some = WindowRow { image, series, look };
        let (count, mut i) = (series.count, 0);
        // SAFETY: guaranteed by the caller; window indices stay inside the run.
        unsafe {
            // Two vectors of channels of eight windows need more than 16 registers.
            while V::REGISTERS > 16 && count - i >= 8 {
                some.channels::<V, R, 8>(i);
                i += 8;
            }
            while count - i >= 4 {
                some.channels::<V, R, 4>(i);
                i += 4;
            }
            // The last group overlaps the one before where that is cheaper than single windows.
            if count - i > 1 && count >= 4 {
                some.channels::<V, R, 4>(count - 4);
                i = count;
            }
            while i < count {
                some.channels::<V, R, 1>(i);
                i += 1;
            }
        }
    }
}

/// A run of windows.
struct WindowRow<'a, I> {
    image: &'a I,
    series: &'a WindowRun,
    look: &'a WindowPattern,
}

impl<I: WindowImage> WindowRow<'_, I> {
    /// Computes `P` windows, two vectors of channels at a time; the last vector overlaps and ends with the last
    /// channel.
    ///
    /// # Safety
    /// As for [`rows`]; the windows are in the run.
    #[inline(always)]
    unsafe fn channels<V: Vector, R: Reduce, const P: usize>(&self, i: usize) {
        let (n, mut at) = (self.image.places().channels(), 0);
        // SAFETY: no vector extends past the last channel.
        unsafe {
            while at + 2 * V::LANES <= n {
                self.piece::<V, R, 2, P>(i, at);
                at += 2 * V::LANES;
            }
            if at + V::LANES <= n {
                self.piece::<V, R, 1, P>(i, at);
                at += V::LANES;
            }
            if at < n {
                self.piece::<V, R, 1, P>(i, n - V::LANES);
            }
        }
    }

    /// Computes `NV` vectors of channels of `P` windows.
    ///
    /// # Safety
    /// The channels exist; otherwise as for [`channels`](Row::channels).
    #[inline(always)]
    unsafe fn piece<V: Vector, R: Reduce, const NV: usize, const P: usize>(&self, i: usize, channel: usize) {
        let (image, channels) = (self.image, self.image.places().channels());
        let WindowRun { base, step, row, row_step, .. } = *self.series;
        let step = step as isize;
        // SAFETY: the taps of these windows are in the image, and there are weights for each position and channel.
        unsafe {
            let mut all = [[V::splat(R::START); NV]; P];
            let first = image.start().wrapping_add(channel).wrapping_offset(base as isize + i as isize * step);
            for link in &self.look.taps {
                let from = first.wrapping_offset(link.offset as isize);
                let weights = |t: usize| match image.weights() {
                    Some(weights) => {
                        array_of(|v| V::load(weights.add((link.position + t) * channels + channel + v * V::LANES)))
                    }
                    None => [V::splat(0.0); NV],
                };
                match link.gap {
                    Some(gap) => {
                        let (gap, weights) = (gap as isize, [weights(0), weights(1), weights(2)]);
                        let x = |p: usize, t: isize| load(image, from.wrapping_offset(p as isize * step + t * gap));
                        if gap == step {
                            three::<V, R, NV, P, 1>(x, weights, &mut all);
                        } else if 2 * gap == step {
                            three::<V, R, NV, P, 2>(x, weights, &mut all);
                        } else {
                            three::<V, R, NV, P, 3>(x, weights, &mut all);
                        }
                    }
                    None => {
                        let weights = weights(0);
                        for p in 0..P {
                            let x = load(image, from.wrapping_offset(p as isize * step));
                            take::<V, R, NV>(&mut all[p], x, weights);
                        }
                    }
                }
            }
            image.finish(|p| row + (i + p) * row_step, channel, all);
        }
    }
}

/// Accumulates three adjacent taps of each of `P` windows. With `S` = 1 or 2, the next window starts at the second or
/// third tap of this one, and shared elements are loaded once; with `S` = 3 they share none.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
unsafe fn three<V: Vector, R: Reduce, const NV: usize, const P: usize, const S: usize>(
    x: impl Fn(usize, isize) -> [V; NV],
    weights: [[V; NV]; 3],
    all: &mut [[V; NV]; P],
) {
    let (mut left, mut middle) = (x(0, 0), x(0, 1));
    for p in 0..P {
        if S == 3 && p > 0 {
            left = x(p, 0);
        }
        if S > 1 && p > 0 {
            middle = x(p, 1);
        }
        let right = x(p, 2);
        // SAFETY: guaranteed by the caller.
        unsafe {
            take::<V, R, NV>(&mut all[p], left, weights[0]);
            take::<V, R, NV>(&mut all[p], middle, weights[1]);
            take::<V, R, NV>(&mut all[p], right, weights[2]);
        }
        (left, middle) = if S == 1 { (middle, right) } else { (right, middle) };
    }
}

/// Loads `NV` vectors of channels.
///
/// # Safety
/// The image has as many elements there, and the machine has the vectors.
#[inline(always)]
unsafe fn load<V: Vector, I: WindowImage, const NV: usize>(image: &I, from: *const I::Element) -> [V; NV] {
    // SAFETY: guaranteed by the caller.
    array_of(|v| unsafe { image.load(from.wrapping_add(v * V::LANES)) })
}

/// Accumulates one position in `NV` vectors of channels.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
unsafe fn take<V: Vector, R: Reduce, const NV: usize>(all: &mut [V; NV], x: [V; NV], weights: [V; NV]) {
    for v in 0..NV {
        // SAFETY: guaranteed by the caller.
        all[v] = unsafe { R::step(all[v], x[v], weights[v]) };
    }
}
