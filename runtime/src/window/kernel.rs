//! The innermost loops: some windows of a series, a few vectors of channels of each.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::places::{Look, Series};
use super::{Reduction, Windows};
use crate::vector::Vector;
use crate::workers::Target;

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
/// The machine has the vectors, there are as many channels as a vector has at least, all has passed `Windows::check`, and
/// nobody else has this part of `c`.
#[inline(always)]
pub(super) unsafe fn all<V: Vector>(windows: &Windows<'_>, part: [usize; 2], c: Target) {
    // SAFETY: the caller's promise.
    unsafe {
        match windows.reduction {
            Reduction::Max => rows::<V, Max>(windows, part, c),
            Reduction::Sum => rows::<V, Sum>(windows, part, c),
            Reduction::Weighted(_) => rows::<V, Weighted>(windows, part, c),
        }
    }
}

/// # Safety
/// [`all`]'s.
#[inline(always)]
unsafe fn rows<V: Vector, R: Reduce>(windows: &Windows<'_>, part: [usize; 2], c: Target) {
    for (series, look) in windows.places.part(part) {
        let some = Some { windows, series, look, c };
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

/// A series of windows, and where its results go.
struct Some<'a> {
    windows: &'a Windows<'a>,
    series: &'a Series,
    look: &'a Look,
    c: Target,
}

impl Some<'_> {
    /// `P` windows from one on, two vectors of channels at a time; the last vector ends with the last channel.
    ///
    /// # Safety
    /// [`all`]'s; the windows are in the series.
    #[inline(always)]
    unsafe fn channels<V: Vector, R: Reduce, const P: usize>(&self, i: usize) {
        let (n, mut at) = (self.windows.channels, 0);
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
    /// As many channels are there; and all of [`channels`](Some::channels).
    #[inline(always)]
    unsafe fn piece<V: Vector, R: Reduce, const NV: usize, const P: usize>(&self, i: usize, channel: usize) {
        let Windows { a, channels, reduction, .. } = *self.windows;
        let Series { base, step, .. } = *self.series;
        let step = step as isize;
        // SAFETY: what the links of these windows say is in the buffer, and there are weights for each position and channel.
        unsafe {
            let mut all = [[V::splat(R::START); NV]; P];
            let first = a.as_ptr().add(channel).wrapping_offset(base as isize + i as isize * step);
            for link in &self.look.links {
                let from = first.wrapping_offset(link.offset as isize);
                let weights = |t: usize| match reduction {
                    Reduction::Weighted(weights) => {
                        load::<V, NV>(weights.as_ptr().add((link.position + t) * channels + channel))
                    }
                    _ => [V::splat(0.0); NV],
                };
                match link.gap {
                    Some(gap) => {
                        let (gap, weights) = (gap as isize, [weights(0), weights(1), weights(2)]);
                        if gap == step {
                            three::<V, R, NV, P, 1>(from, gap, step, weights, &mut all);
                        } else if 2 * gap == step {
                            three::<V, R, NV, P, 2>(from, gap, step, weights, &mut all);
                        } else {
                            three::<V, R, NV, P, 3>(from, gap, step, weights, &mut all);
                        }
                    }
                    None => {
                        let weights = weights(0);
                        for p in 0..P {
                            let x = load::<V, NV>(from.wrapping_offset(p as isize * step));
                            take::<V, R, NV>(&mut all[p], x, weights);
                        }
                    }
                }
            }
            for p in 0..P {
                self.finish::<V, NV>(i + p, channel, all[p]);
            }
        }
    }

    /// Writes what a window is reduced to.
    ///
    /// # Safety
    /// [`piece`](Some::piece)'s.
    #[inline(always)]
    unsafe fn finish<V: Vector, const NV: usize>(&self, i: usize, channel: usize, all: [V; NV]) {
        let Windows { channels, bias, add, range, .. } = *self.windows;
        let at = (self.series.row + i * self.series.row_step) * channels + channel;
        // SAFETY: bias has a number for each channel, what is added and the result have one for each channel of each row.
        unsafe {
            for v in 0..NV {
                let mut all = all[v];
                if let Some(bias) = bias {
                    all = all.plus(V::load(bias.as_ptr().add(channel + v * V::LANES)));
                }
                if let Some(add) = add {
                    all = all.plus(V::load(add.as_ptr().add(at + v * V::LANES)));
                }
                all.between(V::splat(range.0), V::splat(range.1)).store(self.c.at(at + v * V::LANES));
            }
        }
    }
}

/// Three places of each of `P` windows. `S`: the next window begins with the second or third place of this one, or somewhere
/// else if it is 3; what it shares is read once.
///
/// # Safety
/// The places are in a buffer, and the machine has the vectors.
#[inline(always)]
unsafe fn three<V: Vector, R: Reduce, const NV: usize, const P: usize, const S: usize>(
    from: *const f32,
    gap: isize,
    step: isize,
    weights: [[V; NV]; 3],
    all: &mut [[V; NV]; P],
) {
    let at = |p: usize, t: isize| from.wrapping_offset(p as isize * step + t * gap);
    // SAFETY: the caller's promise.
    unsafe {
        let (mut left, mut middle) = (load::<V, NV>(at(0, 0)), load::<V, NV>(at(0, 1)));
        for p in 0..P {
            if S == 3 && p > 0 {
                left = load(at(p, 0));
            }
            if S > 1 && p > 0 {
                middle = load(at(p, 1));
            }
            let right = load(at(p, 2));
            take::<V, R, NV>(&mut all[p], left, weights[0]);
            take::<V, R, NV>(&mut all[p], middle, weights[1]);
            take::<V, R, NV>(&mut all[p], right, weights[2]);
            (left, middle) = if S == 1 { (middle, right) } else { (right, middle) };
        }
    }
}

/// # Safety
/// There are as many floats, and the machine has the vectors.
#[inline(always)]
unsafe fn load<V: Vector, const NV: usize>(from: *const f32) -> [V; NV] {
    // SAFETY: the caller's promise.
    std::array::from_fn(|v| unsafe { V::load(from.wrapping_add(v * V::LANES)) })
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
