//! Windows that slide over images whose channels lie side by side: each channel by itself, places found by tables.
//!
//! Row m of the result is made of `a[bases[m, t] ..]` for all positions t of the window, a channel at a time: their largest,
//! their sum, or the sum of their products with a weight for each position and channel. A base of -1 is no place. Source: the
//! seed on static compiled representations.

#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use crate::vector::{Eight, Isa, Vector};

/// What is made of the places of a window.
#[derive(Clone, Copy, Debug)]
pub enum Reduction<'a> {
    /// The largest; what is no number if one is none.
    Max,
    /// The sum.
    Sum,
    /// The sum of products with these: for each position, a number for each channel.
    Weighted(&'a [f32]),
}

/// Where the positions of windows are, and what is known of that before anything runs.
#[derive(Clone, Debug)]
pub struct Places {
    /// For each row of the result, a base for each position.
    bases: Vec<i32>,
    /// How many positions a window has.
    positions: usize,
    /// The least and the greatest base, but for -1, if there is one.
    span: Option<[i32; 2]>,
}

impl Places {
    /// So many positions for each row.
    ///
    /// # Errors
    /// When the last row is not whole, or windows have no position.
    pub fn new(bases: Vec<i32>, positions: usize) -> Result<Places, String> {
        if positions == 0 || !bases.len().is_multiple_of(positions) {
            return Err(format!("{} bases are not rows of {positions}", bases.len()));
        }
        let there = || bases.iter().copied().filter(|&base| base != -1);
        let span = there().min().zip(there().max()).map(|(least, greatest)| [least, greatest]);
        Ok(Places { bases, positions, span })
    }

    fn rows(&self) -> usize {
        self.bases.len() / self.positions
    }

    /// Whether so many channels of all places are in a buffer of so many elements.
    fn are_in(&self, elements: usize, channels: usize) -> bool {
        let end = |base: i32| usize::try_from(base).ok().and_then(|base| base.checked_add(channels));
        self.span.is_none_or(|[least, greatest]| least >= 0 && end(greatest).is_some_and(|end| end <= elements))
    }
}

/// Windows over an image.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a> {
    /// The image.
    pub a: &'a [f32],
    /// Where the positions of each row of the result are.
    pub places: &'a Places,
    /// How many channels there are.
    pub channels: usize,
    /// What is made of them.
    pub reduction: Reduction<'a>,
    /// Added, a number for each channel.
    pub bias: Option<&'a [f32]>,
    /// Added to each element of the result; as large as that.
    pub add: Option<&'a [f32]>,
    /// The least and greatest that results can be.
    pub range: (f32, f32),
}

impl Windows<'_> {
    /// Computes rows of as many columns as there are channels.
    ///
    /// # Errors
    /// When sizes do not go together, or a place is not in the image.
    pub fn compute(&self, isa: Isa, c: &mut [f32]) -> Result<(), String> {
        self.check(isa, c.len())?;
        // SAFETY: `check` found that the machine has the vectors, all channels of all places in `a`, weights and bias as many as
        // there are channels, and in `c` an element for each channel of each row.
        unsafe {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::avx512(self, c),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::avx2(self, c),
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => neon::neon(self, c),
                _ => self.rows::<Eight, 1>(c),
            }
        }
        Ok(())
    }

    fn check(&self, isa: Isa, elements: usize) -> Result<(), String> {
        if !isa.is_there() {
            return Err(format!("this machine has no {isa:?}"));
        }
        let (n, t, rows) = (self.channels, self.places.positions, self.places.rows());
        let adds = self.add.is_none_or(|add| add.len() == elements);
        if rows.checked_mul(n) != Some(elements) || !adds {
            return Err(format!("{rows} rows of {n} channels are not {elements} elements"));
        }
        let weights = if let Reduction::Weighted(weights) = self.reduction { Some(weights.len()) } else { None };
        if weights.is_some_and(|have| t.checked_mul(n) != Some(have)) || self.bias.is_some_and(|bias| bias.len() != n) {
            return Err(format!("weights or biases are not those of {n} channels"));
        }
        if !self.places.are_in(self.a.len(), n) {
            return Err(format!("some places are not in a buffer of {}", self.a.len()));
        }
        Ok(())
    }

    /// All rows, `P` at a time, and what is left one by one.
    ///
    /// # Safety
    /// The machine has the vectors, and all has passed [`check`](Windows::check).
    #[inline(always)]
    unsafe fn rows<V: Vector, const P: usize>(&self, c: &mut [f32]) {
        let (t, n) = (self.places.positions, self.channels.max(1));
        let rows = c.len() / n;
        // SAFETY: the caller's promise; each row has its places and its part of the result.
        unsafe {
            for first in (0..rows / P * P).step_by(P) {
                self.some::<V, P>(first, &self.places.bases[first * t..][..P * t], &mut c[first * n..][..P * n]);
            }
            for row in rows / P * P..rows {
                self.some::<V, 1>(row, &self.places.bases[row * t..][..t], &mut c[row * n..][..n]);
            }
        }
    }

    /// `P` rows from one on, four vectors of channels at a time, and what is left in smaller pieces.
    ///
    /// # Safety
    /// The machine has the vectors, and all has passed [`check`](Windows::check).
    #[inline(always)]
    unsafe fn some<V: Vector, const P: usize>(&self, first: usize, places: &[i32], c: &mut [f32]) {
        let (n, t) = (self.channels, self.places.positions);
        let add = self.add.map(|add| &add[first * n..][..P * n]);
        let mut at = 0;
        // SAFETY: no piece goes beyond the last channel.
        unsafe {
            while at + 4 * V::LANES <= n {
                self.piece::<V, 4, P>(places, add, at, c);
                at += 4 * V::LANES;
            }
            if at + 2 * V::LANES <= n {
                self.piece::<V, 2, P>(places, add, at, c);
                at += 2 * V::LANES;
            }
            while at + V::LANES <= n {
                self.piece::<V, 1, P>(places, add, at, c);
                at += V::LANES;
            }
            // The last vector again, from where it ends with the last channel.
            if at < n && n >= V::LANES {
                self.piece::<V, 1, P>(places, add, n - V::LANES, c);
                return;
            }
        }
        for (p, row) in c.chunks_exact_mut(n.max(1)).enumerate() {
            let (places, add) = (&places[p * t..][..t], add.map(|add| &add[p * n..]));
            row[at..].iter_mut().enumerate().for_each(|(i, to)| *to = self.element(places, add, at + i));
        }
    }

    /// `NV` vectors of channels of `P` rows, from one channel on: weights are read once for all rows.
    ///
    /// # Safety
    /// As many channels are there; and all of [`some`](Windows::some).
    #[inline(always)]
    unsafe fn piece<V: Vector, const NV: usize, const P: usize>(
        &self,
        places: &[i32],
        add: Option<&[f32]>,
        channel: usize,
        c: &mut [f32],
    ) {
        // SAFETY: places, weights, bias and what is added have a number for each channel.
        unsafe {
            let start = if let Reduction::Max = self.reduction { f32::NEG_INFINITY } else { 0.0 };
            let mut all = [[V::splat(start); NV]; P];
            let positions = self.places.positions;
            for t in 0..positions {
                let mut weight = [V::splat(0.0); NV];
                if let Reduction::Weighted(weights) = self.reduction {
                    let from = weights.as_ptr().add(t * self.channels + channel);
                    for v in 0..NV {
                        weight[v] = V::load(from.add(v * V::LANES));
                    }
                }
                for p in 0..P {
                    let base = *places.get_unchecked(p * positions + t);
                    if base == -1 {
                        continue;
                    }
                    let from = self.a.as_ptr().add(base as usize + channel);
                    for v in 0..NV {
                        let x = V::load(from.add(v * V::LANES));
                        all[p][v] = match self.reduction {
                            Reduction::Max => all[p][v].larger(x),
                            Reduction::Sum => all[p][v].plus(x),
                            Reduction::Weighted(_) => x.times_plus(weight[v], all[p][v]),
                        };
                    }
                }
            }
            for p in 0..P {
                for v in 0..NV {
                    let at = p * self.channels + channel + v * V::LANES;
                    let bias = self.bias.map(|bias| V::load(bias.as_ptr().add(channel + v * V::LANES)));
                    let all = bias.map_or(all[p][v], |bias| all[p][v].plus(bias));
                    let add = add.map(|add| V::load(add.as_ptr().add(at)));
                    let all = add.map_or(all, |add| all.plus(add));
                    all.between(V::splat(self.range.0), V::splat(self.range.1)).store(c.as_mut_ptr().add(at));
                }
            }
        }
    }

    /// One channel.
    fn element(&self, places: &[i32], add: Option<&[f32]>, channel: usize) -> f32 {
        let there = places.iter().enumerate().filter(|&(_, &base)| base != -1);
        let values = there.map(|(t, &base)| (t, self.a[base as usize + channel]));
        let all = match self.reduction {
            Reduction::Max => values.fold(f32::NEG_INFINITY, |all, (_, x)| if x > all || x.is_nan() { x } else { all }),
            Reduction::Sum => values.map(|(_, x)| x).sum(),
            Reduction::Weighted(weights) => values.map(|(t, x)| x * weights[t * self.channels + channel]).sum(),
        };
        let all = self.bias.map_or(all, |bias| all + bias[channel]);
        let all = add.map_or(all, |add| all + add[channel]);
        if all < self.range.0 {
            self.range.0
        } else if all > self.range.1 {
            self.range.1
        } else {
            all
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Windows;
    use std::arch::x86_64::{__m256, __m512};

    /// # Safety
    /// [`Windows::rows`]'s.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(windows: &Windows<'_>, c: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { windows.rows::<__m512, 4>(c) }
    }

    /// # Safety
    /// [`Windows::rows`]'s.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2(windows: &Windows<'_>, c: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { windows.rows::<__m256, 2>(c) }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::Windows;
    use std::arch::aarch64::float32x4_t;

    /// # Safety
    /// [`Windows::rows`]'s.
    #[target_feature(enable = "neon")]
    pub(super) unsafe fn neon(windows: &Windows<'_>, c: &mut [f32]) {
        // SAFETY: the caller's promise.
        unsafe { windows.rows::<float32x4_t, 4>(c) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, Reduction, Windows};
    use crate::vector::Isa;

    #[test]
    fn windows_are_what_they_say() {
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for case in 0..300 {
            let (rows, positions) = (next(5), 1 + next(9));
            let channels = [1, 3, 8, 16, 20, 24, 64, 100][next(8)];
            let mut a: Vec<f32> = (0..1000).map(|_| next(17) as f32 - 8.0).collect();
            if case % 7 == 0 {
                a[next(1000)] = f32::NAN;
            }
            let bases: Vec<i32> = (0..rows * positions).map(|_| (next(1000) as i32 - 100).clamp(-1, 899)).collect();
            let weights: Vec<f32> = (0..positions * channels).map(|_| next(9) as f32 - 4.0).collect();
            let bias: Vec<f32> = (0..channels).map(|_| next(9) as f32).collect();
            let reduction = [Reduction::Max, Reduction::Sum, Reduction::Weighted(&weights)][case % 3];
            let bias = (case % 2 == 0).then_some(&bias[..]);
            let range = if case % 5 == 0 { (0.0, 6.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
            let added: Vec<f32> = (0..rows * channels).map(|_| next(9) as f32).collect();
            let add = (case % 4 == 0).then_some(&added[..]);
            let table = Places::new(bases.clone(), positions).expect("rows are whole");
            let windows = Windows { a: &a, places: &table, channels, reduction, bias, add, range };
            let want: Vec<f32> = bases
                .chunks(positions)
                .enumerate()
                .flat_map(|(i, places)| {
                    let add = add.map(|add| &add[i * channels..][..channels]);
                    (0..channels).map(|channel| windows.element(places, add, channel)).collect::<Vec<_>>()
                })
                .collect();
            for isa in [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_there()) {
                let mut have = vec![f32::MAX; rows * channels];
                windows.compute(isa, &mut have).expect("it can be computed");
                let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
                assert!(have.iter().zip(&want).all(same), "{isa:?} {case}: {windows:?}");
            }
        }
    }

    #[test]
    fn places_outside_are_refused() {
        let compute = |base: i32, channels: usize| {
            let reduction = Reduction::Sum;
            let range = (f32::NEG_INFINITY, f32::INFINITY);
            let places = Places::new(vec![base], 1)?;
            let windows = Windows { a: &[1.0; 8], places: &places, channels, reduction, bias: None, add: None, range };
            windows.compute(Isa::best(), &mut vec![0.0; channels])
        };
        assert!(compute(0, 8).is_ok());
        assert!(compute(-1, 8).is_ok());
        assert!(compute(1, 8).is_err());
        assert!(compute(-2, 1).is_err());
        assert!(compute(i32::MAX, 1).is_err());
    }
}
