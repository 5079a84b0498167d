//! Transposition of matrices of 32-bit words, by blocks in registers.

#![allow(unsafe_code)]

use crate::KernelError;

/// Rows and words of a block, a cache line.
const BLOCK: usize = 16;

/// Number of words whose transposition takes as long as a vector operation.
pub(crate) const WORDS_PER_STEP: usize = 4;

/// A matrix of 32-bit words, whose rows begin `pitch` bytes apart.
#[derive(Clone, Copy)]
pub(crate) struct WordMatrix<'a> {
    bytes: &'a [u8],
    pitch: usize,
    rows: usize,
    words: usize,
}

impl<'a> WordMatrix<'a> {
    /// Creates a matrix of `rows` rows of `words` words.
    ///
    /// # Errors
    /// The bytes do not hold it.
    pub(crate) fn new(bytes: &'a [u8], pitch: usize, [rows, words]: [usize; 2]) -> Result<Self, KernelError> {
        let before = rows.saturating_sub(1).checked_mul(pitch);
        let needed = before.and_then(|n| n.checked_add(words.checked_mul(4)?));
        match needed {
            Some(needed) if needed <= bytes.len() || rows == 0 => Ok(WordMatrix { bytes, pitch, rows, words }),
            _ => Err(format!("{rows} rows of {words} words in {} bytes", bytes.len()).into()),
        }
    }

    fn word(&self, row: usize, word: usize) -> u32 {
        let four = self.bytes[row * self.pitch + 4 * word..].first_chunk();
        four.map_or(0, |four| u32::from_le_bytes(*four))
    }

    /// Writes the transposed matrix, with the bits of `flip` inverted in each word; what does not fit is not written.
    pub(crate) fn transpose(&self, out: &mut [u32], flip: u32) {
        let words = self.words.min(out.len() / self.rows.max(1));
        let whole = [self.rows, words].map(|n| n / BLOCK * BLOCK);
        let mut done = 0;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            for word in (0..whole[1]).step_by(BLOCK) {
                for row in (0..whole[0]).step_by(BLOCK) {
                    // SAFETY: the extension was detected; `new` found all words of all rows in `bytes`, of which this block has
                    // whole ones, and `out` has `rows` words for each of `words`.
                    unsafe { self.block(row, word, out, flip) };
                }
            }
            done = whole[1];
        }
        for word in 0..words {
            let first = if word < done { whole[0] } else { 0 };
            for row in first..self.rows {
                out[word * self.rows + row] = self.word(row, word) ^ flip;
            }
        }
    }

    /// Transposes a block.
    ///
    /// # Safety
    /// The machine has AVX2, the matrix has the block's rows and words, and `out` has the transposed matrix up to its words.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn block(&self, row: usize, word: usize, out: &mut [u32], flip: u32) {
        for (half, quarter) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let from = self.bytes.as_ptr().add((row + quarter) * self.pitch + 4 * (word + half));
                let to = out.as_mut_ptr().add((word + half) * self.rows + row + quarter);
                eight_by_eight(from, self.pitch, to, self.rows, flip);
            }
        }
    }
}

/// Transposes eight rows of eight words, `pitch` bytes apart, to rows `stride` words apart.
///
/// # Safety
/// The machine has AVX2, the rows can be read and the others written.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn eight_by_eight(from: *const u8, pitch: usize, to: *mut u32, stride: usize, flip: u32) {
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_storeu_si256,
        _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256,
    };
    let flip = _mm256_set1_epi32(flip.cast_signed());
    // SAFETY: guaranteed by the caller.
    let rows: [__m256i; 8] =
        std::array::from_fn(|i| unsafe { _mm256_xor_si256(_mm256_loadu_si256(from.add(i * pitch).cast()), flip) });
    // Words, then pairs of words, then halves change places.
    let words: [__m256i; 8] = std::array::from_fn(|i| {
        let (a, b) = (rows[i / 2 * 2], rows[i / 2 * 2 + 1]);
        if i % 2 == 0 { _mm256_unpacklo_epi32(a, b) } else { _mm256_unpackhi_epi32(a, b) }
    });
    let pairs: [__m256i; 8] = std::array::from_fn(|i| {
        let first = i / 4 * 4 + i % 4 / 2;
        let (a, b) = (words[first], words[first + 2]);
        if i % 2 == 0 { _mm256_unpacklo_epi64(a, b) } else { _mm256_unpackhi_epi64(a, b) }
    });
    for i in 0..8 {
        let (a, b) = (pairs[i % 4], pairs[i % 4 + 4]);
        let row = if i < 4 { _mm256_permute2x128_si256::<0x20>(a, b) } else { _mm256_permute2x128_si256::<0x31>(a, b) };
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_storeu_si256(to.add(i * stride).cast(), row) };
    }
}

#[cfg(test)]
mod tests {
    use super::WordMatrix;

    #[test]
    fn all_sizes_are_transposed() {
        for (rows, words, extra) in [(1, 1, 0), (16, 16, 0), (17, 40, 3), (33, 15, 1), (100, 70, 2), (0, 4, 0)] {
            let pitch = 4 * words + extra;
            let bytes: Vec<u8> = (0..rows * pitch).map(|i| (i * 7 + i / 256) as u8).collect();
            let matrix = WordMatrix::new(&bytes, pitch, [rows, words]).expect("it fits");
            let mut out = vec![0; rows * words];
            matrix.transpose(&mut out, 0x8080_8080);
            for (i, word) in out.iter().enumerate() {
                assert_eq!(*word, matrix.word(i % rows, i / rows) ^ 0x8080_8080, "{rows} {words} {i}");
            }
        }
        assert!(WordMatrix::new(&[0; 11], 4, [3, 1]).is_err());
    }
}
