//! Depthwise windows over 8-bit images: sums of products with weights, minus zero points, optionally requantized.
//!
//! Sums are computed in f32, which is exact below 2^24.

use super::kernel::{Weighted, WindowImage};
use super::{BufferLengths, WindowTable, shared};
use crate::KernelError;
use crate::gemm::bytes::{IntegerOutput, SharedOutput};
use crate::vector::{Isa, Vector};
use crate::workers::Workers;

/// Maximum number of window positions: each product of two byte differences is at most 255 · 255.
pub const MAX_POSITIONS: usize = (1 << 24) / (255 * 255);

/// Windows over an 8-bit image.
#[derive(Clone, Copy, Debug)]
pub struct ByteWindows<'a> {
    /// The image.
    pub a: &'a [u8],
    /// Whether its elements are signed.
    pub signed: bool,
    /// The zero point, as a byte.
    pub zero: u8,
    /// The addresses of the window positions of each output row.
    pub places: &'a WindowTable,
    /// Weights, `[positions, channels]`: integers of magnitude at most 255.
    pub weights: &'a [f32],
    /// Bias, one per channel.
    pub bias: &'a [i32],
    /// Residual, added to the result elementwise; same shape as the result.
    pub add: Option<&'a [i32]>,
}

impl ByteWindows<'_> {
    /// Computes output rows of one column per channel with vectors of `isa` or narrower ones.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the image.
    pub fn compute(&self, isa: Isa, workers: &Workers, to: IntegerOutput<'_>) -> Result<(), KernelError> {
        let sizes = BufferLengths {
            places: self.places,
            image: self.a.len(),
            elements: to.len(),
            add: self.add.map(<[i32]>::len),
            weights: Some(self.weights.len()),
            parameters: [Some(self.bias.len()), to.scales()],
        };
        sizes.check(isa)?;
        if self.places.positions() > MAX_POSITIONS {
            return Err(
                format!("windows of {} positions are larger than {MAX_POSITIONS}", self.places.positions()).into()
            );
        }
        // SAFETY: `check` established that the machine has the vectors, that all channels of all positions are in `a`,
        // that weights, bias and scales cover all channels, and that `to` has an element for each channel of each row.
        unsafe {
            shared::<Weighted>(isa, workers, &Bytes::new(*self, to.shared()));
        }
        Ok(())
    }
}

/// A float whose low byte is the integer added to it.
const LAST_BITS: f32 = (1 << 23) as f32;

/// The windows and the destination.
struct Bytes<'a> {
    windows: ByteWindows<'a>,
    to: SharedOutput<'a>,
    /// The float whose low byte is combined with each element.
    bits: f32,
    /// The correction added afterwards.
    shift: f32,
}

impl<'a> Bytes<'a> {
    fn new(windows: ByteWindows<'a>, to: SharedOutput<'a>) -> Bytes<'a> {
        // An offset of 128 flips the sign bit.
        let flip = if windows.signed { 0x80 } else { 0 };
        let bits = f32::from_bits(LAST_BITS.to_bits() | u32::from(flip));
        Bytes { windows, to, bits, shift: -LAST_BITS - f32::from(windows.zero ^ flip) }
    }
}

/// Maximum number of channels that are finished at once.
const WIDTH: usize = 32;

/// The sums of a window, aligned for whole vectors.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sums([i32; WIDTH]);

impl WindowImage for Bytes<'_> {
    type Element = u8;

    fn start(&self) -> *const u8 {
        self.windows.a.as_ptr()
    }

    fn places(&self) -> &WindowTable {
        self.windows.places
    }

    #[inline(always)]
    fn weights(&self) -> Option<*const f32> {
        Some(self.windows.weights.as_ptr())
    }

    #[inline(always)]
    unsafe fn load<V: Vector>(&self, from: *const u8) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::of_bytes(from, V::splat(self.bits)).plus(V::splat(self.shift)) }
    }

    #[inline(always)]
    unsafe fn finish<V: Vector, const NV: usize, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        all: [[V; NV]; P],
    ) {
        let mut sums = [Sums([0; WIDTH]); P];
        for (p, all) in all.into_iter().enumerate() {
            for (v, all) in all.into_iter().enumerate() {
                // SAFETY: there is room for all vectors.
                unsafe { all.store_integers(sums[p].0[v * V::LANES..].as_mut_ptr()) };
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.write::<V, P>(row, channel, &mut sums, NV) };
    }
}

impl Bytes<'_> {
    /// Writes `count` vectors of channels of `P` rows, with residual and requantization.
    ///
    /// # Safety
    /// As for [`finish`](Image::finish).
    #[inline(always)]
    unsafe fn write<V: Vector, const P: usize>(
        &self,
        row: impl Fn(usize) -> usize,
        channel: usize,
        sums: &mut [Sums; P],
        count: usize,
    ) {
        let (width, ByteWindows { places, bias, add, .. }) = (count * V::LANES, self.windows);
        let at = |p: usize| row(p) * places.channels() + channel;
        for sums in sums.iter_mut() {
            sums.0[..width].iter_mut().zip(&bias[channel..]).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
        }
        if let Some(add) = add {
            for (p, sums) in sums.iter_mut().enumerate() {
                sums.0[..width].iter_mut().zip(&add[at(p)..]).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
            }
        }
        match self.to {
            SharedOutput::Sums(c) => {
                for (p, sums) in sums.iter().enumerate() {
                    // SAFETY: the result has an element for each channel of each row, and this thread has exclusive
                    // access to these rows.
                    unsafe { std::slice::from_raw_parts_mut(c.at(at(p)), width) }.copy_from_slice(&sums.0[..width]);
                }
            }
            SharedOutput::Quantized(c, scales) => {
                for i in (0..width).step_by(V::LANES) {
                    let rows = sums.iter().enumerate().map(|(p, sums)| (sums.0[i..].as_ptr(), c.at(at(p) + i)));
                    // SAFETY: as above.
                    unsafe { scales.write::<V>(channel + i, rows) };
                }
            }
        }
    }
}
