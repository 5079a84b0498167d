//! Vector extensions with kernels, and their detection.

#![allow(unsafe_code)]

/// 1.5 · 2^23, whose unit in the last place is 1: adding it to a number of less than 22 bits leaves that number,
/// rounded half to even, in the low bits.
pub(crate) const ROUND: f32 = 1.5 * (1 << 23) as f32;

mod element;
mod floats;

pub(crate) use element::{Element, OnVectors};
pub(crate) use floats::{Eight, Floats, Four, Several};

/// A vector of f32.
pub(crate) trait Vector: Floats<Element = f32> {
    /// Number of registers.
    const REGISTERS: usize;

    /// XORs bytes, zero-extended, into the bit patterns of `bits`.
    ///
    /// # Safety
    /// There are `LANES` bytes at `from`.
    unsafe fn of_bytes(from: *const u8, bits: Self) -> Self;

    /// Loads integers and converts them to f32.
    ///
    /// # Safety
    /// There are `LANES` integers at `from`.
    unsafe fn from_integers(from: *const i32) -> Self;

    /// Stores the low byte of each lane.
    ///
    /// # Safety
    /// `LANES` bytes can be written at `to`.
    unsafe fn store_bytes(self, to: *mut u8);

    /// Computes `max(self, |x|)` lanewise, where NaN counts as largest; `self` is nonnegative.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn max_magnitude(self, x: Self) -> Self;

    /// Whether any lane is at least `limit`, or NaN.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn any_at_least(self, limit: f32) -> bool;

    /// Converts integral values below 2^24 to integers and stores them.
    ///
    /// # Safety
    /// `LANES` integers can be written at `to`.
    unsafe fn store_integers(self, to: *mut i32);

    /// Prefetches a cache line; the address need not be valid.
    #[inline(always)]
    fn prefetch(from: *const f32) {
        let _ = from;
    }

    /// Subtracts lanewise.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn minus(self, x: Self) -> Self;

    /// Computes the lanewise maximum; NaN if either is NaN.
    ///
    /// # Safety
    /// The machine has these vectors.
    unsafe fn larger(self, x: Self) -> Self;

    /// Loads bf16, by their bits, and converts them to f32. Compilers make vector instructions of the loop.
    ///
    /// # Safety
    /// There are `LANES` bf16 at `from`.
    #[inline(always)]
    unsafe fn from_bf16(from: *const u16) -> Self {
        let mut wide = [0.0; MAX_LANES];
        for (i, wide) in wide.iter_mut().enumerate().take(Self::LANES) {
            // SAFETY: guaranteed by the caller.
            *wide = widened(unsafe { from.add(i).read() });
        }
        // SAFETY: guaranteed by the caller; vectors have at most as many lanes.
        unsafe { Self::load(wide.as_ptr()) }
    }

    /// Stores the bits of bf16, rounded half to even.
    ///
    /// # Safety
    /// `LANES` bf16 can be written at `to`.
    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16) {
        let mut wide = [0.0; MAX_LANES];
        // SAFETY: vectors have at most as many lanes; the caller guarantees the room.
        unsafe {
            self.store(wide.as_mut_ptr());
            for (i, &x) in wide.iter().enumerate().take(Self::LANES) {
                to.add(i).write(rounded(x));
            }
        }
    }
}

/// Maximum number of lanes of a vector.
pub(crate) const MAX_LANES: usize = 16;

/// Converts the bits of a bf16 to f32.
#[inline(always)]
pub(crate) fn widened(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to bf16, half to even, and returns its bits. A NaN keeps its high bits and is quiet.
#[inline(always)]
pub(crate) fn rounded(x: f32) -> u16 {
    let bits = x.to_bits();
    let up = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    (if x.is_nan() { bits >> 16 | 0x40 } else { up }) as u16
}

/// A vector extension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Isa {
    /// Portable code.
    Portable,
    /// 128 bits: AArch64.
    Neon,
    /// 256 bits with fused multiply-add.
    Avx2,
    /// 512 bits.
    Avx512,
}

impl Isa {
    /// Returns the widest extension of this machine.
    pub fn best() -> Isa {
        [Isa::Avx512, Isa::Avx2, Isa::Neon].into_iter().find(|isa| isa.is_supported()).unwrap_or(Isa::Portable)
    }

    /// Whether this machine has the extension.
    pub fn is_supported(self) -> bool {
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

    /// Returns the widest vectors, at most as wide as these, with no more lanes than `elements`; `None` if the narrowest have
    /// more.
    pub(crate) fn filled_by(self, elements: usize) -> Option<Isa> {
        match (self, elements) {
            (Isa::Avx512, 16..) => Some(Isa::Avx512),
            (Isa::Avx512 | Isa::Avx2, 8..) if Isa::Avx2.is_supported() => Some(Isa::Avx2),
            (Isa::Neon, 4..) => Some(Isa::Neon),
            (_, 8..) => Some(Isa::Portable),
            _ => None,
        }
    }

    /// Returns the number of vector registers.
    pub(crate) const fn registers(self) -> usize {
        match self {
            Isa::Portable => 8,
            Isa::Avx2 => 16,
            Isa::Neon | Isa::Avx512 => 32,
        }
    }
}

/// How a product is added to a number.
pub(crate) trait MultiplyAdd {
    /// Computes a * b + c.
    fn of(a: f32, b: f32, c: f32) -> f32;
}

/// With two roundings.
pub(crate) struct Separate;

impl MultiplyAdd for Separate {
    #[inline(always)]
    fn of(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// With one rounding, by the instruction of an extension that has it. Chains of such instructions are half as long.
pub(crate) struct Fused;

impl MultiplyAdd for Fused {
    #[inline(always)]
    fn of(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Loops for auto-vectorization with the machine's widest extension.
pub(crate) trait Loops {
    /// Runs the loops, with the multiply-adds of the extension; always inlined.
    fn run<M: MultiplyAdd>(self);
}

/// Returns an array with the result of a function for each index, at least one. `std::array::from_fn` compiles to four functions per array,
/// which add up in kernels.
#[allow(clippy::needless_range_loop, reason = "a loop of constant length is unrolled")]
#[inline(always)]
pub(crate) fn array_of<T: Copy, const N: usize>(mut of: impl FnMut(usize) -> T) -> [T; N] {
    let mut all = [of(0); N];
    for i in 1..N {
        all[i] = of(i);
    }
    all
}

/// Runs loops compiled for the widest extension of this machine.
pub(crate) fn run_widest(loops: impl Loops) {
    match Isa::best() {
        // SAFETY: the extension was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::run_avx512(loops) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::run_avx2(loops) },
        _ => loops.run::<Separate>(),
    }
}

impl Vector for Eight {
    const REGISTERS: usize = Isa::Portable.registers();

    #[inline(always)]
    unsafe fn of_bytes(from: *const u8, bits: Eight) -> Eight {
        // SAFETY: the caller guarantees eight bytes; scalar code runs on every machine.
        bits.map(|i, bits| unsafe { f32::of_bytes(from.add(i), bits) })
    }

    #[inline(always)]
    unsafe fn from_integers(from: *const i32) -> Eight {
        // SAFETY: the caller guarantees eight integers.
        Several(array_of(|i| unsafe { f32::from_integers(from.add(i)) }))
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller guarantees room for eight bytes.
        unsafe { to.cast::<[u8; 8]>().write(self.0.map(|x| x.to_bits() as u8)) }
    }

    #[inline(always)]
    unsafe fn max_magnitude(self, x: Eight) -> Eight {
        // SAFETY: scalar code runs on every machine.
        self.map(|i, a| unsafe { a.max_magnitude(x.0[i]) })
    }

    #[inline(always)]
    unsafe fn any_at_least(self, limit: f32) -> bool {
        // SAFETY: as above.
        self.0.iter().any(|x| unsafe { x.any_at_least(limit) })
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32) {
        // SAFETY: the caller guarantees room for eight integers.
        unsafe { to.cast::<[i32; 8]>().write(self.0.map(|x| x as i32)) }
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
}

impl Vector for f32 {
    const REGISTERS: usize = 16;

    #[inline(always)]
    unsafe fn of_bytes(from: *const u8, bits: f32) -> f32 {
        // SAFETY: the caller guarantees a byte.
        f32::from_bits(bits.to_bits() ^ u32::from(unsafe { from.read() }))
    }

    #[inline(always)]
    unsafe fn from_integers(from: *const i32) -> f32 {
        // SAFETY: the caller guarantees an integer.
        unsafe { from.read() as f32 }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller guarantees room for a byte.
        unsafe { to.write(self.to_bits() as u8) }
    }

    #[inline(always)]
    unsafe fn max_magnitude(self, x: f32) -> f32 {
        f32::from_bits(self.to_bits().max(x.abs().to_bits()))
    }

    #[inline(always)]
    unsafe fn any_at_least(self, limit: f32) -> bool {
        self >= limit || self.is_nan()
    }

    #[inline(always)]
    unsafe fn store_integers(self, to: *mut i32) {
        // SAFETY: the caller guarantees room for an integer.
        unsafe { to.write(self as i32) }
    }

    #[inline(always)]
    unsafe fn minus(self, x: f32) -> f32 {
        self - x
    }

    #[inline(always)]
    unsafe fn larger(self, x: f32) -> f32 {
        if x > self || x.is_nan() { x } else { self }
    }
}

/// Implements [`Vector`] with intrinsics.
macro_rules! vector {
    ($vector:ty, $isa:ident, $prefetch:expr, $minus:ident, |$l:ident, $r:ident| $larger:expr,
     |$from:ident, $bits:ident| $of_bytes:expr, |$p:ident| $from_integers:expr,
     |$last:ident, $bytes:ident| $store_bytes:expr, |$near:ident, $far:ident| $max_magnitude:expr,
     |$furthest:ident, $limit:ident| $any_at_least:expr, |$whole:ident, $to:ident| $store_integers:expr
     $(, |$bits16:ident| $from_bf16:expr, |$wide:ident, $narrow:ident| $store_bf16:expr)?) => {
        impl Vector for $vector {
            const REGISTERS: usize = Isa::$isa.registers();

            #[inline(always)]
            unsafe fn of_bytes($from: *const u8, $bits: Self) -> Self {
                // SAFETY: as above, and the bytes exist; the load is unaligned.
                unsafe { $of_bytes }
            }

            #[inline(always)]
            unsafe fn from_integers($p: *const i32) -> Self {
                // SAFETY: as above, and the integers exist; the load is unaligned.
                unsafe { $from_integers }
            }

            #[inline(always)]
            unsafe fn store_bytes(self, $bytes: *mut u8) {
                let $last = self;
                // SAFETY: as above, and there is room; the store is unaligned.
                unsafe { $store_bytes }
            }

            #[inline(always)]
            unsafe fn max_magnitude(self, $far: Self) -> Self {
                let $near = self;
                // SAFETY: as above.
                unsafe { $max_magnitude }
            }

            #[inline(always)]
            unsafe fn any_at_least(self, limit: f32) -> bool {
                // SAFETY: as above.
                unsafe {
                    let ($furthest, $limit) = (self, Self::splat(limit));
                    $any_at_least
                }
            }

            #[inline(always)]
            unsafe fn store_integers(self, $to: *mut i32) {
                let $whole = self;
                // SAFETY: as above, and there is room; the store is unaligned.
                unsafe { $store_integers }
            }

            #[inline(always)]
            fn prefetch(from: *const f32) {
                // SAFETY: a prefetch does not access memory.
                unsafe { $prefetch(from.cast()) }
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

            $(
                #[inline(always)]
                unsafe fn from_bf16($bits16: *const u16) -> Self {
                    // SAFETY: as above, and the elements exist; the load is unaligned.
                    unsafe { $from_bf16 }
                }

                #[inline(always)]
                unsafe fn store_bf16(self, $narrow: *mut u16) {
                    let $wide = self;
                    // SAFETY: as above, and there is room; the store is unaligned.
                    unsafe { $store_bf16 }
                }
            )?
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Floats, Fused, Isa, Loops, Vector};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn run_avx512(loops: impl Loops) {
        loops.run::<Fused>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2(loops: impl Loops) {
        loops.run::<Fused>();
    }

    vector!(
        __m512,
        Avx512,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm512_sub_ps,
        // The maximum instruction returns the second operand if either is NaN, so a NaN in the first is blended in.
        |a, x| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a), _mm512_max_ps(a, x), a),
        |from, bits| _mm512_castsi512_ps(_mm512_xor_si512(
            _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())),
            _mm512_castps_si512(bits)
        )),
        |from| _mm512_cvtepi32_ps(_mm512_loadu_si512(from.cast())),
        |last, to| _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(_mm512_castps_si512(last))),
        |near, far| _mm512_castsi512_ps(_mm512_max_epu32(
            _mm512_castps_si512(near),
            _mm512_castps_si512(_mm512_abs_ps(far))
        )),
        |x, limit| _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, limit) != 0,
        |whole, to| _mm512_storeu_si512(to.cast(), _mm512_cvtps_epi32(whole)),
        |from| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())))),
        |wide, to| {
            let bits = _mm512_castps_si512(wide);
            let high = _mm512_srli_epi32::<16>(bits);
            let half = _mm512_add_epi32(_mm512_set1_epi32(0x7fff), _mm512_and_si512(high, _mm512_set1_epi32(1)));
            let up = _mm512_srli_epi32::<16>(_mm512_add_epi32(bits, half));
            let (is_nan, quiet) = (_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(wide, wide), _mm512_set1_epi32(0x40));
            let all = _mm512_mask_blend_epi32(is_nan, up, _mm512_or_si512(high, quiet));
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(all));
        }
    );
    vector!(
        __m256,
        Avx2,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm256_sub_ps,
        |a, x| _mm256_blendv_ps(_mm256_max_ps(a, x), a, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a)),
        |from, bits| _mm256_castsi256_ps(_mm256_xor_si256(
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())),
            _mm256_castps_si256(bits)
        )),
        |from| _mm256_cvtepi32_ps(_mm256_loadu_si256(from.cast())),
        |last, to| {
            // Gathers the low bytes of each half and joins them.
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
        |whole, to| _mm256_storeu_si256(to.cast(), _mm256_cvtps_epi32(whole)),
        |from| _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())))),
        |wide, to| {
            let bits = _mm256_castps_si256(wide);
            let high = _mm256_srli_epi32::<16>(bits);
            let half = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), _mm256_and_si256(high, _mm256_set1_epi32(1)));
            let up = _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, half));
            let (is_nan, quiet) = (_mm256_cmp_ps::<_CMP_UNORD_Q>(wide, wide), _mm256_set1_epi32(0x40));
            let all = _mm256_blendv_epi8(up, _mm256_or_si256(high, quiet), _mm256_castps_si256(is_nan));
            // Packs within each half and joins them.
            let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(all, all));
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(packed));
        }
    );
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Floats, Isa, Vector};
    use std::arch::aarch64::*;

    /// Does nothing: AArch64 has no stable prefetch intrinsic.
    ///
    /// # Safety
    /// Any pointer is allowed.
    #[inline(always)]
    unsafe fn unprefetched(_: *const f32) {}

    vector!(
        float32x4_t,
        Neon,
        unprefetched,
        vsubq_f32,
        |a, x| vmaxq_f32(a, x),
        |from, bits| {
            let four: [u32; 4] = from.cast::<[u8; 4]>().read().map(u32::from);
            vreinterpretq_f32_u32(veorq_u32(vld1q_u32(four.as_ptr()), vreinterpretq_u32_f32(bits)))
        },
        |from| vcvtq_f32_s32(vld1q_s32(from)),
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
