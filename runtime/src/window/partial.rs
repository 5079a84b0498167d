//! Loads and stores of some lanes of a vector.

use crate::vector::{Eight, Floats, Isa, Vector};
use std::ops::Range;

/// A vector of which some lanes are loaded or stored; the memory of others is not accessed.
pub(super) trait Partial: Vector {
    /// The lanes.
    type Mask: Copy;

    /// Returns the mask of a range of lanes.
    ///
    /// # Safety
    /// The machine has these vectors, here and below.
    unsafe fn mask(lanes: Range<usize>) -> Self::Mask;

    /// Loads lanes; others are zero.
    ///
    /// # Safety
    /// There are floats for these lanes of a vector at `from`.
    unsafe fn load_some(from: *const f32, mask: Self::Mask) -> Self;

    /// Stores lanes.
    ///
    /// # Safety
    /// Floats can be written for these lanes of a vector at `to`.
    unsafe fn store_some(self, to: *mut f32, mask: Self::Mask);

    /// Returns the even and the odd lanes of two vectors, one behind the other.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn deinterleave(a: Self, b: Self) -> [Self; 2];
}

/// Work on vectors of which some lanes are loaded or stored.
pub(super) trait OnPartial {
    /// Does the work; always inlined.
    ///
    /// # Safety
    /// The machine has the vectors, and the caller guarantees what the work requires.
    unsafe fn run<V: Partial>(self);
}

/// Does work on rows of some positions, with vectors of an extension that are at most as wide as needed for a row.
///
/// # Safety
/// The machine has the extension, and the caller guarantees what the work requires.
pub(super) unsafe fn on_rows(isa: Isa, positions: usize, work: impl OnPartial) {
    // SAFETY: guaranteed by the caller; AVX2 is detected where it is used instead of AVX-512.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if positions > 8 || !Isa::Avx2.is_supported() => x86::avx512(work),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 => x86::avx2(work),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => work.run::<std::arch::aarch64::float32x4_t>(),
            _ => work.run::<Eight>(),
        }
    }
}

/// First and end of the lanes of a vector without masks.
type Lanes = [usize; 2];

/// Loads lanes one by one.
///
/// # Safety
/// As for [`Partial::load_some`].
#[inline(always)]
unsafe fn load_each<V: Vector, const LANES: usize>(from: *const f32, [first, end]: Lanes) -> V {
    let mut all = [0.0; LANES];
    for (lane, to) in all.iter_mut().enumerate().take(end).skip(first) {
        // SAFETY: the caller guarantees these floats.
        *to = unsafe { from.wrapping_add(lane).read() };
    }
    // SAFETY: there are `LANES` floats, as many as lanes.
    unsafe { V::load(all.as_ptr()) }
}

/// Stores lanes one by one.
///
/// # Safety
/// As for [`Partial::store_some`].
#[inline(always)]
unsafe fn store_each<V: Vector, const LANES: usize>(vector: V, to: *mut f32, [first, end]: Lanes) {
    let mut all = [0.0; LANES];
    // SAFETY: there is room for `LANES` floats, as many as lanes.
    unsafe { vector.store(all.as_mut_ptr()) };
    for (lane, &from) in all.iter().enumerate().take(end).skip(first) {
        // SAFETY: the caller guarantees room for these floats.
        unsafe { to.wrapping_add(lane).write(from) };
    }
}

/// Implements [`Partial`] lane by lane.
macro_rules! each_lane {
    ($vector:ty, $lanes:literal) => {
        impl Partial for $vector {
            type Mask = Lanes;

            #[inline(always)]
            unsafe fn mask(lanes: Range<usize>) -> Lanes {
                [lanes.start, lanes.end]
            }

            #[inline(always)]
            unsafe fn load_some(from: *const f32, mask: Lanes) -> Self {
                // SAFETY: guaranteed by the caller.
                unsafe { load_each::<Self, $lanes>(from, mask) }
            }

            #[inline(always)]
            unsafe fn store_some(self, to: *mut f32, mask: Lanes) {
                // SAFETY: guaranteed by the caller.
                unsafe { store_each::<Self, $lanes>(self, to, mask) }
            }

            #[inline(always)]
            unsafe fn deinterleave(a: Self, b: Self) -> [Self; 2] {
                let mut all = [0.0; 2 * $lanes];
                // SAFETY: there is room for both vectors, and there are as many floats of each parity as lanes.
                unsafe {
                    a.store(all.as_mut_ptr());
                    b.store(all.as_mut_ptr().add($lanes));
                    [0, 1].map(|odd| Self::load(std::array::from_fn::<f32, $lanes, _>(|i| all[2 * i + odd]).as_ptr()))
                }
            }
        }
    };
}

each_lane!(Eight, 8);
#[cfg(target_arch = "aarch64")]
each_lane!(std::arch::aarch64::float32x4_t, 4);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{OnPartial, Partial};
    use std::arch::x86_64::*;
    use std::ops::Range;

    /// Does work with AVX-512.
    ///
    /// # Safety
    /// As for [`on_rows`](super::on_rows).
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(work: impl OnPartial) {
        // SAFETY: guaranteed by the caller.
        unsafe { work.run::<__m512>() }
    }

    /// Does work with AVX2.
    ///
    /// # Safety
    /// As for [`on_rows`](super::on_rows).
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2(work: impl OnPartial) {
        // SAFETY: guaranteed by the caller.
        unsafe { work.run::<__m256>() }
    }

    impl Partial for __m512 {
        type Mask = __mmask16;

        #[inline(always)]
        unsafe fn mask(lanes: Range<usize>) -> __mmask16 {
            let below = |lane: usize| (1_u32 << lane.min(16)) - 1;
            (below(lanes.end) & !below(lanes.start)) as u16
        }

        #[inline(always)]
        unsafe fn load_some(from: *const f32, mask: __mmask16) -> __m512 {
            // SAFETY: the caller guarantees the vectors and the floats of these lanes; others are not read.
            unsafe { _mm512_maskz_loadu_ps(mask, from) }
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut f32, mask: __mmask16) {
            // SAFETY: the caller guarantees the vectors and room for these lanes; others are not written.
            unsafe { _mm512_mask_storeu_ps(to, mask, self) }
        }

        #[inline(always)]
        unsafe fn deinterleave(a: __m512, b: __m512) -> [__m512; 2] {
            // SAFETY: the caller guarantees the vectors.
            unsafe {
                let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
                let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
                [_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)]
            }
        }
    }

    impl Partial for __m256 {
        type Mask = __m256i;

        #[inline(always)]
        unsafe fn mask(lanes: Range<usize>) -> __m256i {
            let each: [i32; 8] = std::array::from_fn(|lane| -i32::from(lanes.contains(&lane)));
            // SAFETY: the caller guarantees the vectors; the load is unaligned.
            unsafe { _mm256_loadu_si256(each.as_ptr().cast()) }
        }

        #[inline(always)]
        unsafe fn load_some(from: *const f32, mask: __m256i) -> __m256 {
            // SAFETY: the caller guarantees the vectors and the floats of these lanes; others are not read.
            unsafe { _mm256_maskload_ps(from, mask) }
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut f32, mask: __m256i) {
            // SAFETY: the caller guarantees the vectors and room for these lanes; others are not written.
            unsafe { _mm256_maskstore_ps(to, mask, self) }
        }

        #[inline(always)]
        unsafe fn deinterleave(a: __m256, b: __m256) -> [__m256; 2] {
            // SAFETY: the caller guarantees the vectors.
            unsafe {
                let halves = [_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)];
                [
                    _mm256_shuffle_ps::<0b10_00_10_00>(halves[0], halves[1]),
                    _mm256_shuffle_ps::<0b11_01_11_01>(halves[0], halves[1]),
                ]
            }
        }
    }
}
