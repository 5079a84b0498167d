//! Images of floats: their largest, their sum, or the sum of their products with a weight for each position and channel.

use super::kernel::{Image, Max, Sum, Weighted};
use super::{Places, shared};
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
        self.check(isa, c.len())?;
        let image = Floats { windows: *self, c: Target::new(c) };
        // SAFETY: `check` found that the machine has the vectors, all channels of all places in `a`, weights and bias as many as
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

    fn check(&self, isa: Isa, elements: usize) -> Result<(), String> {
        if !isa.is_there() {
            return Err(format!("this machine has no {isa:?}"));
        }
        let (n, t, rows) = (self.channels, self.places.positions(), self.places.rows());
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
    unsafe fn finish<V: Vector, const NV: usize>(&self, row: usize, channel: usize, all: [V; NV]) {
        let Windows { channels, bias, add, range, .. } = self.windows;
        let at = row * channels + channel;
        // SAFETY: bias has a number for each channel, what is added and the result have one for each channel of each row.
        unsafe {
            for (v, mut all) in all.into_iter().enumerate() {
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
