//! Images of floats: their largest, their sum, or the sum of their products with a weight for each position and channel.

use super::kernel::{Image, Max, Sum, Weighted};
use super::{Places, Sizes, shared};
use crate::vector::{Isa, Vector};
use crate::workers::{Target, Workers};

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
    /// Computes rows of as many columns as there are channels, on vectors of that kind or narrower ones.
    ///
    /// # Errors
    /// When sizes do not go together, or a place is not in the image.
    pub fn compute(&self, isa: Isa, workers: &Workers, c: &mut [f32]) -> Result<(), String> {
        let weights = if let Reduction::Weighted(weights) = self.reduction { Some(weights.len()) } else { None };
        let sizes = Sizes {
            places: self.places,
            channels: self.channels,
            image: self.a.len(),
            elements: c.len(),
            add: self.add.map(<[f32]>::len),
            weights,
            parameters: [self.bias.map(<[f32]>::len), None],
        };
        sizes.check(isa)?;
        let image = Floats { windows: *self, c: Target::new(c) };
        // SAFETY: it was checked that the machine has the vectors, all channels of all places in `a`, weights and bias as many as
        // there are channels, and in `c` an element for each channel of each row.
        unsafe {
            match self.reduction {
                Reduction::Max => shared::<Max>(isa, workers, &image),
                Reduction::Sum => shared::<Sum>(isa, workers, &image),
                Reduction::Weighted(_) => shared::<Weighted>(isa, workers, &image),
            }
        }
        Ok(())
    }
}

/// Windows, and where results go.
struct Floats<'a> {
    windows: Windows<'a>,
    c: Target<f32>,
}

impl Image for Floats<'_> {
    type Element = f32;

    fn start(&self) -> *const f32 {
        self.windows.a.as_ptr()
    }

    fn windows(&self) -> (&Places, usize) {
        (self.windows.places, self.windows.channels)
    }

    #[inline(always)]
    fn weights(&self) -> Option<*const f32> {
        if let Reduction::Weighted(weights) = self.windows.reduction { Some(weights.as_ptr()) } else { None }
    }

    #[inline(always)]
    unsafe fn load<V: Vector>(&self, from: *const f32) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::load(from) }
    }

    #[inline(always)]
    unsafe fn finish<V: Vector, const NV: usize, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        all: [[V; NV]; P],
    ) {
        let Windows { channels, bias, add, range, .. } = self.windows;
        for (p, all) in all.into_iter().enumerate() {
            let at = row(p) * channels + channel;
            for (i, mut all) in all.into_iter().enumerate().map(|(v, all)| (v * V::LANES, all)) {
                // SAFETY: bias has a number for each channel, what is added and the result have one for each channel of each row.
                unsafe {
                    if let Some(bias) = bias {
                        all = all.plus(V::load(bias.as_ptr().add(channel + i)));
                    }
                    if let Some(add) = add {
                        all = all.plus(V::load(add.as_ptr().add(at + i)));
                    }
                    all.between(V::splat(range.0), V::splat(range.1)).store(self.c.at(at + i));
                }
            }
        }
    }
}
