//! Images of bytes: sums of products with weights, less their zero points, which may be quantized again.
//!
//! Sums are made of floats: they are exact while they are less than 2^24.

use super::kernel::{Image, Weighted};
use super::{Places, Sizes, shared};
use crate::gemm::bytes::{Finished, Scales};
use crate::vector::{Isa, Vector};
use crate::workers::{Target, Workers};

/// Windows of so many positions at most: each product of two differences of bytes is 255 * 255 at most.
pub const MAX_POSITIONS: usize = (1 << 24) / (255 * 255);

/// Windows over an image of bytes.
#[derive(Clone, Copy, Debug)]
pub struct ByteWindows<'a> {
    /// The image.
    pub a: &'a [u8],
    /// Whether its bytes have a sign.
    pub signed: bool,
    /// What is subtracted from them, as one of them.
    pub zero: u8,
    /// Where the positions of each row of the result are.
    pub places: &'a Places,
    /// How many channels there are.
    pub channels: usize,
    /// For each position, a number for each channel: whole, and none beyond 255.
    pub weights: &'a [f32],
    /// Added, a number for each channel.
    pub bias: Option<&'a [i32]>,
    /// Added to each element of the result; as large as that.
    pub add: Option<&'a [i32]>,
}

impl ByteWindows<'_> {
    /// Computes rows of as many columns as there are channels, on vectors of that kind or narrower ones.
    ///
    /// # Errors
    /// When sizes do not go together, or a place is not in the image.
    pub fn compute(&self, isa: Isa, workers: &Workers, to: Finished<'_>) -> Result<(), String> {
        let (elements, scales, to) = match to {
            Finished::Sums(c) => (c.len(), None, To::Sums(Target::new(c))),
            Finished::Quantized(c, scales) => (c.len(), Some(scales.len()), To::Quantized(Target::new(c), scales)),
        };
        let sizes = Sizes {
            places: self.places,
            channels: self.channels,
            image: self.a.len(),
            elements,
            add: self.add.map(<[i32]>::len),
            weights: Some(self.weights.len()),
            parameters: [self.bias.map(<[i32]>::len), scales],
        };
        sizes.check(isa)?;
        if self.places.positions() > MAX_POSITIONS {
            return Err(format!("windows of {} positions are larger than {MAX_POSITIONS}", self.places.positions()));
        }
        // SAFETY: it was checked that the machine has the vectors, all channels of all places in `a`, weights, bias and scales as
        // many as there are channels, and in `to` an element for each channel of each row.
        unsafe {
            match self.signed {
                true => shared::<Weighted>(isa, workers, &Bytes::<true> { windows: *self, to }),
                false => shared::<Weighted>(isa, workers, &Bytes::<false> { windows: *self, to }),
            }
        }
        Ok(())
    }
}

/// Where results go.
enum To<'a> {
    Sums(Target<i32>),
    Quantized(Target<u8>, &'a Scales),
}

/// Windows, and where results go.
struct Bytes<'a, const SIGNED: bool> {
    windows: ByteWindows<'a>,
    to: To<'a>,
}

/// The most channels that are finished at once.
const MOST: usize = 64;

impl<const SIGNED: bool> Image for Bytes<'_, SIGNED> {
    type Element = u8;

    fn start(&self) -> *const u8 {
        self.windows.a.as_ptr()
    }

    fn windows(&self) -> (&Places, usize) {
        (self.windows.places, self.windows.channels)
    }

    #[inline(always)]
    fn weights(&self) -> Option<*const f32> {
        Some(self.windows.weights.as_ptr())
    }

    #[inline(always)]
    unsafe fn load<V: Vector>(&self, from: *const u8) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::of_bytes::<SIGNED>(from).plus(V::splat(-self.zero())) }
    }

    #[inline(always)]
    unsafe fn finish<V: Vector, const NV: usize>(&self, row: usize, channel: usize, all: [V; NV]) {
        let ByteWindows { channels, bias, add, .. } = self.windows;
        let (at, mut sums) = (row * channels + channel, [0; MOST]);
        let sums = &mut sums[..NV * V::LANES];
        // SAFETY: there is room for all vectors. The result has an element for each channel of each row, and nobody else has these.
        unsafe {
            for (some, all) in sums.chunks_exact_mut(V::LANES).zip(all) {
                all.store_whole(some.as_mut_ptr());
            }
            if let Some(bias) = bias {
                sums.iter_mut().zip(&bias[channel..]).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
            }
            if let Some(add) = add {
                sums.iter_mut().zip(&add[at..]).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
            }
            match &self.to {
                To::Sums(c) => std::slice::from_raw_parts_mut(c.at(at), sums.len()).copy_from_slice(sums),
                To::Quantized(c, scales) => {
                    let to = std::slice::from_raw_parts_mut(c.at(at), sums.len());
                    scales.quantize(sums.iter().copied(), channel, to);
                }
            }
        }
    }
}

impl<const SIGNED: bool> Bytes<'_, SIGNED> {
    /// The zero point as a number.
    #[inline(always)]
    fn zero(&self) -> f32 {
        let zero = self.windows.zero;
        if SIGNED { zero.cast_signed().into() } else { zero.into() }
    }
}
