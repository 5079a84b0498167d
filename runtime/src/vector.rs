//! Vectors of the machines that there are kernels for, and which of them this machine has.

#![allow(unsafe_code)]

/// A number whose last bit is worth 1. Added to another of less than 22 bits it leaves that, rounded half to even, in its last
/// bits.
pub(crate) const ROUND: f32 = 1.5 * (1 << 23) as f32;

/// Some floats at once.
pub(crate) trait Vector: Copy {
    /// How many.
    const LANES: usize;

    /// All the same.
    ///
    /// # Safety
    /// The machine has these vectors; so for all the others.
    unsafe fn splat(x: f32) -> Self;

    /// # Safety
    /// There are as many floats at `from`.
    unsafe fn load(from: *const f32) -> Self;

    /// # Safety
    /// As many floats can be written at `to`.
    unsafe fn store(self, to: *mut f32);

    /// These numbers with their last bits changed where bytes have ones.
    ///
    /// # Safety
    /// There are as many bytes at `from`.
    unsafe fn of_bytes(from: *const u8, bits: Self) -> Self;

    /// Sums of each two integers, rounded; what goes beyond 32 bits is lost.
    ///
    /// # Safety
    /// There are as many at `x` and at `y`.
    unsafe fn of_sums(x: *const i32, y: *const i32) -> Self;

    /// The last byte of each.
    ///
    /// # Safety
    /// As many bytes can be written at `to`.
    unsafe fn store_bytes(self, to: *mut u8);

    /// Of each two the one that is further from zero, as a distance; what is no number is the furthest. The first is no less than zero.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn or_further(self, x: Self) -> Self;

    /// Whether one is as large as that, or no number.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn is_beyond(self, limit: f32) -> bool;

    /// Numbers that are whole, and less than 2^24, as integers.
    ///
    /// # Safety
    /// As many integers can be written at `to`.
    unsafe fn store_whole(self, to: *mut i32);

    /// Says that what is there will be read; nothing need be there.
    #[inline(always)]
    fn prefetch(from: *const f32) {
        let _ = from;
    }

    /// `self * x + y`.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn times_plus(self, x: Self, y: Self) -> Self;

    /// # Safety
    /// The machine has these vectors.
    unsafe fn plus(self, x: Self) -> Self;

    /// # Safety
    /// The machine has these vectors.
    unsafe fn minus(self, x: Self) -> Self;

    /// The larger of each two; what is no number if one of them is none.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn larger(self, x: Self) -> Self;

    /// No less than `low` and no greater than `high`; what is no number stays none.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn between(self, low: Self, high: Self) -> Self;
}

/// A kind of vectors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Isa {
    /// What every machine has.
    Portable,
    /// 128 bits: AArch64.
    Neon,
    /// 256 bits, with fused multiplication and addition.
    Avx2,
    /// 512 bits.
    Avx512,
}

impl Isa {
    /// The widest vectors of this machine.
    pub fn best() -> Isa {
        [Isa::Avx512, Isa::Avx2, Isa::Neon].into_iter().find(|isa| isa.is_there()).unwrap_or(Isa::Portable)
    }

    /// Whether this machine has them.
    pub fn is_there(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => true,
            _ => false,
        }
    }
}

/// Loops of which the compiler makes vectors by itself: those of the machine.
pub(crate) trait Loops {
    /// Runs them; always inlined.
    fn run(self);
}

/// Runs loops on the widest vectors of this machine.
pub(crate) fn run_widest(loops: impl Loops) {
    match Isa::best() {
        // SAFETY: the machine has them.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::run_avx512(loops) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::run_avx2(loops) },
        _ => loops.run(),
    }
}

/// Eight floats as the compiler likes them.
#[derive(Clone, Copy)]
pub(crate) struct Eight([f32; 8]);

impl Eight {
    #[inline(always)]
    fn map(self, f: impl Fn(usize, f32) -> f32) -> Eight {
        let mut all = self.0;
        all.iter_mut().enumerate().for_each(|(i, x)| *x = f(i, *x));
        Eight(all)
    }
}

impl Vector for Eight {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Eight {
        Eight([x; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Eight {
        // SAFETY: the caller promises eight floats; floats in a row are aligned like one.
        Eight(unsafe { from.cast::<[f32; 8]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller promises room for eight floats.
        unsafe { to.cast::<[f32; 8]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn of_bytes(from: *const u8, bits: Eight) -> Eight {
        // SAFETY: the caller promises eight bytes; every machine has floats.
        bits.map(|i, bits| unsafe { f32::of_bytes(from.add(i), bits) })
    }

    #[inline(always)]
    unsafe fn of_sums(x: *const i32, y: *const i32) -> Eight {
        // SAFETY: the caller promises eight of each.
        Eight(std::array::from_fn(|i| unsafe { f32::of_sums(x.add(i), y.add(i)) }))
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller promises room for eight bytes.
        unsafe { to.cast::<[u8; 8]>().write(self.0.map(|x| x.to_bits() as u8)) }
    }

    #[inline(always)]
    unsafe fn or_further(self, x: Eight) -> Eight {
        // SAFETY: every machine has floats.
        self.map(|i, a| unsafe { a.or_further(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn is_beyond(self, limit: f32) -> bool {
        // SAFETY: as above.
        self.0.iter().any(|x| unsafe { x.is_beyond(limit) })
    }

    #[inline(always)]
    unsafe fn store_whole(self, to: *mut i32) {
        // SAFETY: the caller promises room for eight integers.
        unsafe { to.cast::<[i32; 8]>().write(self.0.map(|x| x as i32)) }
    }

    #[inline(always)]
    unsafe fn times_plus(self, x: Eight, y: Eight) -> Eight {
        // SAFETY: every machine has floats; so for all the others.
        self.map(|i, a| unsafe { a.times_plus(x.0[i], y.0[i]) })
    }

    #[inline(always)]
    unsafe fn plus(self, x: Eight) -> Eight {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.plus(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn minus(self, x: Eight) -> Eight {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.minus(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn larger(self, x: Eight) -> Eight {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.larger(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn between(self, low: Eight, high: Eight) -> Eight {
        // SAFETY: as above.
        self.map(|i, a| unsafe { a.between(low.0[i], high.0[i]) })
    }
}

/// One at a time, for what is narrower than any vector.
impl Vector for f32 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: f32) -> f32 {
        x
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> f32 {
        // SAFETY: the caller promises a float.
        unsafe { from.read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller promises room for a float.
        unsafe { to.write(self) }
    }

    #[inline(always)]
    unsafe fn of_bytes(from: *const u8, bits: f32) -> f32 {
        // SAFETY: the caller promises a byte.
        f32::from_bits(bits.to_bits() ^ u32::from(unsafe { from.read() }))
    }

    #[inline(always)]
    unsafe fn of_sums(x: *const i32, y: *const i32) -> f32 {
        // SAFETY: the caller promises one of each.
        unsafe { x.read().wrapping_add(y.read()) as f32 }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller promises room for a byte.
        unsafe { to.write(self.to_bits() as u8) }
    }

    #[inline(always)]
    unsafe fn or_further(self, x: f32) -> f32 {
        f32::from_bits(self.to_bits().max(x.abs().to_bits()))
    }

    #[inline(always)]
    unsafe fn is_beyond(self, limit: f32) -> bool {
        self >= limit || self.is_nan()
    }

    #[inline(always)]
    unsafe fn store_whole(self, to: *mut i32) {
        // SAFETY: the caller promises room for an integer.
        unsafe { to.write(self as i32) }
    }

    #[inline(always)]
    unsafe fn times_plus(self, x: f32, y: f32) -> f32 {
        self * x + y
    }

    #[inline(always)]
    unsafe fn plus(self, x: f32) -> f32 {
        self + x
    }

    #[inline(always)]
    unsafe fn minus(self, x: f32) -> f32 {
        self - x
    }

    #[inline(always)]
    unsafe fn larger(self, x: f32) -> f32 {
        if x > self || x.is_nan() { x } else { self }
    }

    #[inline(always)]
    unsafe fn between(self, low: f32, high: f32) -> f32 {
        if self < low {
            low
        } else if self > high {
            high
        } else {
            self
        }
    }
}

/// Vectors of which all ops are intrinsics of the machine.
macro_rules! vector {
    ($vector:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $prefetch:expr, $plus:ident, $minus:ident,
     $max:ident, $min:ident,
     |$a:ident, $x:ident, $y:ident| $fma:expr, |$l:ident, $r:ident| $larger:expr,
     |$from:ident, $bits:ident| $of_bytes:expr, |$p:ident, $q:ident| $of_sums:expr,
     |$last:ident, $bytes:ident| $store_bytes:expr, |$near:ident, $far:ident| $or_further:expr,
     |$furthest:ident, $limit:ident| $is_beyond:expr, |$whole:ident, $to:ident| $store_whole:expr) => {
        impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(x: f32) -> Self {
                // SAFETY: the caller promises that the machine has these vectors; so for all the others.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self {
                // SAFETY: as above, and the floats are there; they need not be aligned.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f32) {
                // SAFETY: as above, and there is room; it need not be aligned.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn of_bytes($from: *const u8, $bits: Self) -> Self {
                // SAFETY: as above, and the bytes are there; they need not be aligned.
                unsafe { $of_bytes }
            }

            #[inline(always)]
            unsafe fn of_sums($p: *const i32, $q: *const i32) -> Self {
                // SAFETY: as above, and the integers are there; they need not be aligned.
                unsafe { $of_sums }
            }

            #[inline(always)]
            unsafe fn store_bytes(self, $bytes: *mut u8) {
                let $last = self;
                // SAFETY: as above, and there is room; it need not be aligned.
                unsafe { $store_bytes }
            }

            #[inline(always)]
            unsafe fn or_further(self, $far: Self) -> Self {
                let $near = self;
                // SAFETY: as above.
                unsafe { $or_further }
            }

            #[inline(always)]
            unsafe fn is_beyond(self, limit: f32) -> bool {
                // SAFETY: as above.
                unsafe {
                    let ($furthest, $limit) = (self, Self::splat(limit));
                    $is_beyond
                }
            }

            #[inline(always)]
            unsafe fn store_whole(self, $to: *mut i32) {
                let $whole = self;
                // SAFETY: as above, and there is room; it need not be aligned.
                unsafe { $store_whole }
            }

            #[inline(always)]
            fn prefetch(from: *const f32) {
                // SAFETY: it is no access.
                unsafe { $prefetch(from.cast()) }
            }

            #[inline(always)]
            unsafe fn times_plus(self, $x: Self, $y: Self) -> Self {
                let $a = self;
                // SAFETY: as above.
                unsafe { $fma }
            }

            #[inline(always)]
            unsafe fn plus(self, x: Self) -> Self {
                // SAFETY: as above.
                unsafe { $plus(self, x) }
            }

            #[inline(always)]
            unsafe fn minus(self, x: Self) -> Self {
                // SAFETY: as above.
                unsafe { $minus(self, x) }
            }

            #[inline(always)]
            unsafe fn larger(self, $r: Self) -> Self {
                let $l = self;
                // SAFETY: as above.
                unsafe { $larger }
            }

            #[inline(always)]
            unsafe fn between(self, low: Self, high: Self) -> Self {
                // SAFETY: as above. The second operand comes out where one is no number.
                unsafe { $min(high, $max(low, self)) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Loops, Vector};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn run_avx512(loops: impl Loops) {
        loops.run();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2(loops: impl Loops) {
        loops.run();
    }

    vector!(
        __m512,
        16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        |a, x, y| _mm512_fmadd_ps(a, x, y),
        // The larger one is the second where one is no number; so is the first then.
        |a, x| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a), _mm512_max_ps(a, x), a),
        |from, bits| _mm512_castsi512_ps(_mm512_xor_si512(
            _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())),
            _mm512_castps_si512(bits)
        )),
        |x, y| _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_loadu_si512(x.cast()), _mm512_loadu_si512(y.cast()))),
        |last, to| _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(_mm512_castps_si512(last))),
        |near, far| _mm512_castsi512_ps(_mm512_max_epu32(
            _mm512_castps_si512(near),
            _mm512_castps_si512(_mm512_abs_ps(far))
        )),
        |x, limit| _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, limit) != 0,
        |whole, to| _mm512_storeu_si512(to.cast(), _mm512_cvtps_epi32(whole))
    );
    vector!(
        __m256,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        |a, x, y| _mm256_fmadd_ps(a, x, y),
        |a, x| _mm256_blendv_ps(_mm256_max_ps(a, x), a, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a)),
        |from, bits| _mm256_castsi256_ps(_mm256_xor_si256(
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())),
            _mm256_castps_si256(bits)
        )),
        |x, y| _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_loadu_si256(x.cast()), _mm256_loadu_si256(y.cast()))),
        |last, to| {
            // The last bytes of each half, and these side by side.
            let each = _mm256_setr_epi32(0x0C08_0400, -1, -1, -1, 0x0C08_0400, -1, -1, -1);
            let halves = _mm256_shuffle_epi8(_mm256_castps_si256(last), each);
            let (low, high) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            _mm_storel_epi64(to.cast(), _mm_unpacklo_epi32(low, high));
        },
        |near, far| {
            let far = _mm256_andnot_ps(_mm256_set1_ps(-0.0), far);
            _mm256_castsi256_ps(_mm256_max_epu32(_mm256_castps_si256(near), _mm256_castps_si256(far)))
        },
        |x, limit| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(x, limit)) != 0,
        |whole, to| _mm256_storeu_si256(to.cast(), _mm256_cvtps_epi32(whole))
    );
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::Vector;
    use std::arch::aarch64::*;

    /// The second, or the first where that is greater: what is equal or no number stays.
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    unsafe fn no_less(low: float32x4_t, x: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vbslq_f32(vcgtq_f32(low, x), low, x) }
    }

    /// The second, or the first where that is less: what is equal or no number stays.
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    unsafe fn no_greater(high: float32x4_t, x: float32x4_t) -> float32x4_t {
        // SAFETY: as above.
        unsafe { vbslq_f32(vcltq_f32(high, x), high, x) }
    }

    /// There is no stable intrinsic for it.
    ///
    /// # Safety
    /// Anything is safe.
    #[inline(always)]
    unsafe fn unprefetched(_: *const f32) {}

    vector!(
        float32x4_t,
        4,
        vdupq_n_f32,
        vld1q_f32,
        vst1q_f32,
        unprefetched,
        vaddq_f32,
        vsubq_f32,
        no_less,
        no_greater,
        |a, x, y| vfmaq_f32(y, a, x),
        |a, x| vmaxq_f32(a, x),
        |from, bits| {
            let four: [u32; 4] = from.cast::<[u8; 4]>().read().map(u32::from);
            vreinterpretq_f32_u32(veorq_u32(vld1q_u32(four.as_ptr()), vreinterpretq_u32_f32(bits)))
        },
        |x, y| vcvtq_f32_s32(vaddq_s32(vld1q_s32(x), vld1q_s32(y))),
        |last, to| {
            let mut four = [0; 4];
            vst1q_u32(four.as_mut_ptr(), vreinterpretq_u32_f32(last));
            to.cast::<[u8; 4]>().write(four.map(|x| x as u8));
        },
        |near, far| {
            let far = vreinterpretq_u32_f32(vabsq_f32(far));
            vreinterpretq_f32_u32(vmaxq_u32(vreinterpretq_u32_f32(near), far))
        },
        |x, limit| vminvq_u32(vcltq_f32(x, limit)) == 0,
        |whole, to| vst1q_s32(to, vcvtq_s32_f32(whole))
    );
}
