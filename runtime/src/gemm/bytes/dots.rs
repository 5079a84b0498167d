//! Dot products of four 8-bit pairs, accumulated in 32 bits, per vector extension.

/// A vector of 32-bit accumulators.
pub(super) trait Dots: Copy {
    /// Number of accumulators.
    const LANES: usize;
    /// Four unsigned bytes of A, broadcast to all lanes.
    type Left: Copy;
    /// Four signed bytes of B per lane.
    type Right: Copy;

    /// Returns zeroed accumulators.
    ///
    /// # Safety
    /// The machine has these vectors, here and for all other functions.
    unsafe fn zero() -> Self;

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

    /// Adds lanewise, wrapping.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus(self, x: Self) -> Self;

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
}

/// Mask that converts four signed bytes to unsigned ones, offset by 128.
const FLIP: i32 = i32::from_ne_bytes([0x80; 4]);

/// Eight accumulators for auto-vectorization.
#[derive(Clone, Copy)]
pub(super) struct Eight([i32; 8]);

impl Dots for Eight {
    const LANES: usize = 8;
    type Left = [i32; 4];
    type Right = [[i8; 4]; 8];

    #[inline(always)]
    unsafe fn zero() -> Eight {
        Eight([0; 8])
    }

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
    unsafe fn plus(self, x: Eight) -> Eight {
        let mut sums = self.0;
        sums.iter_mut().zip(x.0).for_each(|(sum, x)| *sum = sum.wrapping_add(x));
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
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Dots, FLIP};
    use std::arch::x86_64::*;

    impl Dots for __m512i {
        const LANES: usize = 16;
        type Left = __m512i;
        type Right = __m512i;

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: the caller guarantees that the machine has these vectors, here and below.
            unsafe { _mm512_setzero_si512() }
        }

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
        unsafe fn plus(self, x: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_add_epi32(self, x) }
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
        type Left = Halves;
        type Right = Halves;

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: the caller guarantees that the machine has these vectors, here and below.
            unsafe { _mm256_setzero_si256() }
        }

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
        unsafe fn plus(self, x: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_add_epi32(self, x) }
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
    }
}
