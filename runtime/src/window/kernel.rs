//! The innermost loops: some windows of a series, a few vectors of channels of each.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::places::{Look, Places, Series};
use crate::vector::Vector;

/// What windows are over, and what becomes of what they are reduced to.
pub(super) trait Image {
    /// What it is made of.
    type Element;

    /// The first element.
    fn start(&self) -> *const Self::Element;

    /// Where windows are, and how many channels there are.
    fn windows(&self) -> (&Places, usize);

    /// For each position, a number for each channel; if there are such.
    fn weights(&self) -> Option<*const f32>;

    /// A vector of elements.
    ///
    /// # Safety
    /// There are as many, and the machine has the vectors.
    unsafe fn load<V: Vector>(&self, from: *const Self::Element) -> V;

    /// Writes some channels of some rows: where a row begins is told for each.
    ///
    /// # Safety
    /// The rows and the channels are there, nobody else has them, and the machine has the vectors.
    unsafe fn finish<V: Vector, const NV: usize, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        all: [[V; NV]; P],
    );
}

/// How windows are reduced, known when kernels are made.
pub(super) trait Reduce {
    /// Of no places.
    const START: f32;
    /// One place more.
    ///
    /// # Safety
    /// The machine has the vectors.
    unsafe fn step<V: Vector>(all: V, x: V, weight: V) -> V;
}

/// [`Reduction::Max`].
pub(super) struct Max;
/// [`Reduction::Sum`].
pub(super) struct Sum;
/// [`Reduction::Weighted`].
pub(super) struct Weighted;

impl Reduce for Max {
    const START: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, _: V) -> V {
        // SAFETY: the caller's promise.
        unsafe { all.larger(x) }
    }
}

impl Reduce for Sum {
    const START: f32 = 0.0;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, _: V) -> V {
        // SAFETY: the caller's promise.
        unsafe { all.plus(x) }
    }
}

impl Reduce for Weighted {
    const START: f32 = 0.0;

    #[inline(always)]
    unsafe fn step<V: Vector>(all: V, x: V, weight: V) -> V {
        // SAFETY: the caller's promise.
        unsafe { x.times_plus(weight, all) }
    }
}

/// One of so many parts of all windows.
///
/// # Safety
/// The machine has the vectors, there are as many channels as a vector has at least, weights if these have some, all places
/// are in the image, and nobody else has the rows of this part.
#[inline(always)]
pub(super) unsafe fn rows<V: Vector, R: Reduce>(image: &impl Image, part: [usize; 2]) {
    for (series, look) in image.windows().0.part(part) {
        let some = Row { image, series, look };
        let (count, mut i) = (series.count, 0);
        // SAFETY: the caller's promise; no windows are looked at but those of the series.
        unsafe {
            while count - i >= 8 {
                some.channels::<V, R, 8>(i);
                i += 8;
            }
            if count - i >= 4 {
                some.channels::<V, R, 4>(i);
                i += 4;
            }
            // The last ones again, if that is less than each by itself.
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

/// A series of windows.
struct Row<'a, I> {
    image: &'a I,
    series: &'a Series,
    look: &'a Look,
}

impl<I: Image> Row<'_, I> {
    /// `P` windows from one on, two vectors of channels at a time; the last vector ends with the last channel.
    ///
    /// # Safety
    /// [`rows`]'s; the windows are in the series.
    #[inline(always)]
    unsafe fn channels<V: Vector, R: Reduce, const P: usize>(&self, i: usize) {
        let (n, mut at) = (self.image.windows().1, 0);
        // SAFETY: no piece goes beyond the last channel.
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

    /// `NV` vectors of channels of `P` windows.
    ///
    /// # Safety
    /// As many channels are there; and all of [`channels`](Row::channels).
    #[inline(always)]
    unsafe fn piece<V: Vector, R: Reduce, const NV: usize, const P: usize>(&self, i: usize, channel: usize) {
        let (image, channels) = (self.image, self.image.windows().1);
        let Series { base, step, row, row_step, .. } = *self.series;
        let step = step as isize;
        // SAFETY: what the links of these windows say is in the image, and there are weights for each position and channel.
        unsafe {
            let mut all = [[V::splat(R::START); NV]; P];
            let first = image.start().wrapping_add(channel).wrapping_offset(base as isize + i as isize * step);
            for link in &self.look.links {
                let from = first.wrapping_offset(link.offset as isize);
                let weights = |t: usize| match image.weights() {
                    Some(weights) => {
                        vectors(|v| V::load(weights.add((link.position + t) * channels + channel + v * V::LANES)))
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

/// Three places of each of `P` windows. `S`: the next window begins with the second or third place of this one, or somewhere
/// else if it is 3; what it shares is read once.
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
        // SAFETY: the caller's promise.
        unsafe {
            take::<V, R, NV>(&mut all[p], left, weights[0]);
            take::<V, R, NV>(&mut all[p], middle, weights[1]);
            take::<V, R, NV>(&mut all[p], right, weights[2]);
        }
        (left, middle) = if S == 1 { (middle, right) } else { (right, middle) };
    }
}

/// # Safety
/// There are as many elements of the image, and the machine has the vectors.
#[inline(always)]
unsafe fn load<V: Vector, I: Image, const NV: usize>(image: &I, from: *const I::Element) -> [V; NV] {
    // SAFETY: the caller's promise.
    vectors(|v| unsafe { image.load(from.wrapping_add(v * V::LANES)) })
}

/// Some vectors.
#[inline(always)]
fn vectors<V: Vector, const NV: usize>(of: impl Fn(usize) -> V) -> [V; NV] {
    std::array::from_fn(of)
}

/// # Safety
/// The machine has the vectors.
#[inline(always)]
unsafe fn take<V: Vector, R: Reduce, const NV: usize>(all: &mut [V; NV], x: [V; NV], weights: [V; NV]) {
    for v in 0..NV {
        // SAFETY: the caller's promise.
        all[v] = unsafe { R::step(all[v], x[v], weights[v]) };
    }
}
