//! Lookup of bytes in a table.

#![allow(unsafe_code)]

/// Number of entries of a table.
pub(crate) const ENTRIES: usize = 256;

/// Writes the entry of each byte; `x` and `out` have as many.
pub(crate) fn lookup(table: &[u8; ENTRIES], x: &[u8], out: &mut [u8]) {
    debug_assert_eq!(x.len(), out.len(), "there is a place for each byte");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the extensions were detected.
        return unsafe { x86::lookup(table, x, out) };
    }
    out.iter_mut().zip(x).for_each(|(y, &x)| *y = table[usize::from(x)]);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::ENTRIES;
    use std::arch::x86_64::*;

    /// Looks up 64 bytes at once: in each half of the table by their low seven bits, of which the highest bit chooses.
    ///
    /// # Safety
    /// The machine has AVX-512 with VBMI and BW.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) unsafe fn lookup(table: &[u8; ENTRIES], x: &[u8], out: &mut [u8]) {
        // SAFETY: the table has four vectors.
        let quarters: [__m512i; 4] =
            std::array::from_fn(|i| unsafe { _mm512_loadu_si512(table[64 * i..][..64].as_ptr().cast()) });
        for (x, out) in x.chunks(64).zip(out.chunks_mut(64)) {
            let some = u64::MAX >> (64 - x.len().min(out.len()));
            // SAFETY: the mask has a bit for each byte of the chunk, which is not empty; others are neither read nor written.
            unsafe {
                let at = _mm512_maskz_loadu_epi8(some, x.as_ptr().cast());
                let low = _mm512_permutex2var_epi8(quarters[0], at, quarters[1]);
                let high = _mm512_permutex2var_epi8(quarters[2], at, quarters[3]);
                let found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high);
                _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), some, found);
            }
        }
    }
}
