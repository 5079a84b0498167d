//! Sums of four products of bytes at once, on the machines that there are kernels for.

/// Some 32-bit sums at once.
pub(super) trait Dots: Copy {
    /// How many.
    const LANES: usize;
    /// Four bytes without sign, the same for each sum.
    type Left: Copy;
    /// Four bytes with sign for each sum.
    type Right: Copy;

    /// Nothing summed up yet.
    ///
    /// # Safety
    /// The machine has these vectors; so for all the others.
    unsafe fn zero() -> Self;

    /// Four bytes; with `SIGNED` they have a sign, and are made 128 more.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn left<const SIGNED: bool>(four: i32) -> Self::Left;

    /// # Safety
    /// There are four bytes for each sum at `from`.
    unsafe fn right(from: *const i8) -> Self::Right;

    /// With the products of four pairs added to each, whatever they are; sums wrap.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus_products(self, left: Self::Left, right: Self::Right) -> Self;

    /// The sum of each two; it wraps.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus(self, x: Self) -> Self;

    /// # Safety
    /// There are as many sums at `from`.
    unsafe fn load(from: *const i32) -> Self;

    /// # Safety
    /// As many sums can be written at `to`.
    unsafe fn store(self, to: *mut i32);
}

/// Makes bytes with sign 128 more, each.
const FLIP: i32 = i32::from_ne_bytes([0x80; 4]);

/// Eight sums as the compiler likes them.
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
        // SAFETY: the caller promises 32 bytes; bytes need not be aligned.
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
        // SAFETY: the caller promises eight sums; an array is aligned like one.
        Eight(unsafe { from.cast::<[i32; 8]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        // SAFETY: the caller promises room for eight sums.
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
            // SAFETY: the caller promises that the machine has these vectors; so for all the others.
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
            // SAFETY: as above, and the bytes are there; they need not be aligned.
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
            // SAFETY: as above, and the sums are there; they need not be aligned.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: as above, and there is room; it need not be aligned.
            unsafe { _mm512_storeu_si512(to.cast(), self) }
        }
    }

    /// Even bytes as they are among numbers of 16 bits, and odd ones: four products at once are summed in 16 bits elsewhere,
    /// for which they may be too large.
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
            // SAFETY: the caller promises that the machine has these vectors; so for all the others.
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
            // SAFETY: as above, and the bytes are there; they need not be aligned.
            unsafe {
                let all = _mm256_loadu_si256(from.cast());
                Halves { even: _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(all)), odd: _mm256_srai_epi16::<8>(all) }
            }
        }

        #[inline(always)]
        unsafe fn plus_products(self, left: Halves, right: Halves) -> Self {
            // SAFETY: as above. Two products of a byte without sign and one with it fit in 32 bits.
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
            // SAFETY: as above, and the sums are there; they need not be aligned.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: as above, and there is room; it need not be aligned.
            unsafe { _mm256_storeu_si256(to.cast(), self) }
        }
    }
}
