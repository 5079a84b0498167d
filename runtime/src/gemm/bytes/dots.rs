//! Dot products of four 8-bit pairs, accumulated in 32 bits, per vector extension.

use super::scales::{ByteRange, FLIP};
use crate::vector::{self, Floats, Vector};

/// A vector of 32-bit accumulators.
pub(super) trait Dots: Copy {
    /// Number of accumulators.
    const LANES: usize;

    /// Error bound of a product of an accumulator and a scale in f32, where it is below 255.5: a relative error of 2^-24 of
    /// each factor, and of the product unless it is fused with the next sum.
    const OFF: f32 = 1.0 / 32768.0;

    /// A vector of as many floats.
    type Float: Vector;
    /// Four unsigned bytes of A, broadcast to all lanes.
    type Left: Copy;
    /// Four signed bytes of B per lane.
    type Right: Copy;

    /// Broadcasts four bytes; with `SIGNED` they are signed and are offset by 128.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn left<const SIGNED: bool>(four: i32) -> Self::Left;

    /// Loads four bytes of B per lane.
    ///
    /// # Safety
    /// There are four bytes per lane at `from`.
    unsafe fn right(from: *const i8) -> Self::Right;

    /// Adds the dot product of four pairs to each lane, wrapping.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus_products(self, left: Self::Left, right: Self::Right) -> Self;

    /// Loads accumulators.
    ///
    /// # Safety
    /// There are `LANES` sums at `from`.
    unsafe fn load(from: *const i32) -> Self;

    /// Stores the accumulators.
    ///
    /// # Safety
    /// `LANES` sums can be written at `to`.
    unsafe fn store(self, to: *mut i32);

    /// Bounds and zero point in registers.
    type Bounds: Copy;

    /// Broadcasts bounds and zero point.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn bounds(of: &ByteRange) -> Self::Bounds;

    /// Stores the bytes of vectors of rounded numbers, which are in the low bits after the addition of `ROUND`, saturated.
    ///
    /// # Safety
    /// The machine has these vectors, and `NV * LANES` bytes can be written at `to`.
    unsafe fn store_bytes<const NV: usize>(rounded: [Self::Float; NV], bounds: Self::Bounds, to: *mut u8);
}

/// Eight accumulators for auto-vectorization.
#[derive(Clone, Copy)]
pub(super) struct Eight([i32; 8]);

impl Dots for Eight {
    const LANES: usize = 8;
    const OFF: f32 = 1.0 / 16384.0;
    type Float = vector::Eight;
    type Bounds = [vector::Eight; 3];
    type Left = [i32; 4];
    type Right = [[i8; 4]; 8];

    #[inline(always)]
    unsafe fn left<const SIGNED: bool>(four: i32) -> [i32; 4] {
        (if SIGNED { four ^ FLIP } else { four }).to_ne_bytes().map(i32::from)
    }

    #[inline(always)]
    unsafe fn right(from: *const i8) -> [[i8; 4]; 8] {
        // SAFETY: the caller guarantees 32 bytes; bytes have alignment 1.
        unsafe { from.cast::<[[i8; 4]; 8]>().read() }
    }

    #[inline(always)]
    unsafe fn plus_products(self, left: [i32; 4], right: [[i8; 4]; 8]) -> Eight {
        let mut sums = self.0;
        for (sum, right) in sums.iter_mut().zip(right) {
            for (left, right) in left.iter().zip(right) {
                *sum = sum.wrapping_add(left * i32::from(right));
            }
        }
        Eight(sums)
    }

    #[inline(always)]
    unsafe fn load(from: *const i32) -> Eight {
        // SAFETY: the caller guarantees eight sums; an array has the alignment of its elements.
        Eight(unsafe { from.cast::<[i32; 8]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        // SAFETY: the caller guarantees room for eight sums.
        unsafe { to.cast::<[i32; 8]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn bounds(of: &ByteRange) -> [vector::Eight; 3] {
        // SAFETY: portable code runs on every machine.
        of.rounded().map(|x| unsafe { vector::Eight::splat(x) })
    }

    #[inline(always)]
    unsafe fn store_bytes<const NV: usize>(
        rounded: [vector::Eight; NV],
        [low, high, zero]: [vector::Eight; 3],
        to: *mut u8,
    ) {
        for (v, x) in rounded.into_iter().enumerate() {
            // SAFETY: the caller guarantees the room.
            unsafe { x.between(low, high).plus(zero).store_bytes(to.add(v * Self::LANES)) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::{ByteRange, Dots, FLIP, Vector};
    use crate::gemm::bytes::Scales;
    use crate::vector::{Floats, ROUND};
    use std::arch::x86_64::*;

    impl Dots for __m512i {
        const LANES: usize = 16;
        type Float = __m512;
        type Bounds = [__m512i; 3];
        type Left = __m512i;
        type Right = __m512i;

        #[inline(always)]
        unsafe fn left<const SIGNED: bool>(four: i32) -> Self {
            // SAFETY: as above.
            unsafe {
                let all = _mm512_set1_epi32(four);
                if SIGNED { _mm512_xor_si512(all, _mm512_set1_epi32(FLIP)) } else { all }
            }
        }

        #[inline(always)]
        unsafe fn right(from: *const i8) -> Self {
            // SAFETY: as above, and the bytes exist; the load is unaligned.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        #[inline(always)]
        unsafe fn plus_products(self, left: Self, right: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_dpbusd_epi32(self, left, right) }
        }

        #[inline(always)]
        unsafe fn load(from: *const i32) -> Self {
            // SAFETY: as above, and the sums exist; the load is unaligned.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: as above, and there is room; the store is unaligned.
            unsafe { _mm512_storeu_si512(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn bounds(of: &ByteRange) -> [__m512i; 3] {
            // SAFETY: as above.
            of.signed_bits().map(|x| unsafe { _mm512_set1_epi32(x) })
        }

        #[inline(always)]
        unsafe fn store_bytes<const NV: usize>(rounded: [__m512; NV], bounds: [__m512i; 3], to: *mut u8) {
            // SAFETY: as above, and there is room for `NV` vectors of bytes.
            unsafe {
                let bytes = pack_quarters(std::array::from_fn(|v| rounded[v % NV]), bounds);
                // Instructions pack within each quarter.
                let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                let bytes = _mm512_permutexvar_epi32(order, bytes);
                match NV {
                    1 => _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(bytes)),
                    2 => _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(bytes)),
                    3 => {
                        _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(bytes));
                        _mm_storeu_si128(to.add(32).cast(), _mm512_extracti32x4_epi32::<2>(bytes));
                    }
                    _ => _mm512_storeu_si512(to.cast(), bytes),
                }
            }
        }
    }

    /// Packs four vectors with saturation, as signed bytes, within each quarter. Only the lower bound comes before: the bits
    /// of positive floats are ordered as these are.
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    unsafe fn pack_quarters(rounded: [__m512; 4], [low, start, flip]: [__m512i; 3]) -> __m512i {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let whole = |v: usize| _mm512_sub_epi32(_mm512_max_epi32(_mm512_castps_si512(rounded[v]), low), start);
            let words = |v: usize| _mm512_packs_epi32(whole(v), whole(v + 1));
            _mm512_xor_si512(_mm512_packs_epi16(words(0), words(2)), flip)
        }
    }

    /// Broadcasts the bounds of bytes for [`quantize_quarters`].
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    pub(crate) unsafe fn byte_bounds(of: &Scales) -> [__m512i; 3] {
        // SAFETY: guaranteed by the caller.
        unsafe { __m512i::bounds(&of.bounds()) }
    }

    /// Requantizes four vectors of sums, with a scale each, to bytes that are packed within each quarter. `None` if a product
    /// is so close to a rounding boundary that it needs f64.
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    pub(crate) unsafe fn quantize_quarters(
        sums: [__m512i; 4],
        scales: &[f32; 64],
        bounds: [__m512i; 3],
    ) -> Option<__m512i> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let round = __m512::splat(ROUND);
            let (mut rounded, mut off) = ([round; 4], __m512::splat(0.0));
            for v in 0..4 {
                let (x, scale) = (_mm512_cvtepi32_ps(sums[v]), __m512::load(scales[16 * v..].as_ptr()));
                rounded[v] = x.multiply_add(scale, round);
                off = off.max_magnitude(x.multiply_add(scale, round.minus(rounded[v])));
            }
            let bytes = pack_quarters(rounded, bounds);
            (!off.any_at_least(0.5 - __m512i::OFF)).then_some(bytes)
        }
    }

    /// Even and odd bytes, widened to 16 bits. The instruction that multiplies bytes saturates its 16-bit sums of two
    /// products.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Halves {
        even: __m256i,
        odd: __m256i,
    }

    impl Dots for __m256i {
        const LANES: usize = 8;
        type Float = __m256;
        type Bounds = [__m256; 3];
        type Left = Halves;
        type Right = Halves;

        #[inline(always)]
        unsafe fn left<const SIGNED: bool>(four: i32) -> Halves {
            let four = if SIGNED { four ^ FLIP } else { four };
            // SAFETY: as above.
            unsafe {
                let all = _mm256_set1_epi32(four);
                Halves { even: _mm256_and_si256(all, _mm256_set1_epi16(0xff)), odd: _mm256_srli_epi16::<8>(all) }
            }
        }

        #[inline(always)]
        unsafe fn right(from: *const i8) -> Halves {
            // SAFETY: as above, and the bytes exist; the load is unaligned.
            unsafe {
                let all = _mm256_loadu_si256(from.cast());
                Halves { even: _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(all)), odd: _mm256_srai_epi16::<8>(all) }
            }
        }

        #[inline(always)]
        unsafe fn plus_products(self, left: Halves, right: Halves) -> Self {
            // SAFETY: as above. Two products of an unsigned and a signed byte fit in 32 bits.
            unsafe {
                let (even, odd) = (_mm256_madd_epi16(left.even, right.even), _mm256_madd_epi16(left.odd, right.odd));
                _mm256_add_epi32(self, _mm256_add_epi32(even, odd))
            }
        }

        #[inline(always)]
        unsafe fn load(from: *const i32) -> Self {
            // SAFETY: as above, and the sums exist; the load is unaligned.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: as above, and there is room; the store is unaligned.
            unsafe { _mm256_storeu_si256(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn bounds(of: &ByteRange) -> [__m256; 3] {
            // SAFETY: as above.
            of.rounded().map(|x| unsafe { __m256::splat(x) })
        }

        #[inline(always)]
        unsafe fn store_bytes<const NV: usize>(rounded: [__m256; NV], [low, high, zero]: [__m256; 3], to: *mut u8) {
            for (v, x) in rounded.into_iter().enumerate() {
                // SAFETY: the caller guarantees the room.
                unsafe { x.between(low, high).plus(zero).store_bytes(to.add(v * Self::LANES)) };
            }
        }
    }
}
