//! Buffers of bytes, such as arenas: one byte of storage per byte, and a bit that says whether it is poison.

use std::ops::Range;

/// Bytes, some of which may be poison.
pub(crate) struct ByteBuffer {
    bytes: Vec<u8>,
    /// `None` if no byte is poison.
    poison: Option<PoisonBits>,
}

/// A bit for each byte that is poison.
struct PoisonBits {
    words: Vec<u64>,
    /// Number of bits.
    count: usize,
}

impl ByteBuffer {
    /// Creates a buffer of `len` bytes of poison.
    pub(crate) fn poison(len: usize) -> ByteBuffer {
        let mut bits = PoisonBits { words: vec![0; len.div_ceil(64)], count: 0 };
        bits.set(0..len);
        ByteBuffer { bytes: vec![0; len], poison: Some(bits) }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes in a range, or `Some(None)` if one of them is poison; `None` for a range outside of the buffer.
    pub(crate) fn get(&self, range: Range<usize>) -> Option<Option<&[u8]>> {
        let bytes = self.bytes.get(range.clone())?;
        Some(Some(bytes).filter(|_| self.poison.as_ref().is_none_or(|bits| !bits.has(range))))
    }

    /// Overwrites the bytes in a range, or makes them poison; `None` for a range outside of the buffer and for other
    /// numbers of bytes.
    pub(crate) fn set(&mut self, range: Range<usize>, value: Option<&[u8]>) -> Option<()> {
        let bytes = self.bytes.get_mut(range.clone())?;
        match value {
            Some(value) => (bytes.len() == value.len()).then(|| bytes.copy_from_slice(value))?,
            None => {
                let words = self.bytes.len().div_ceil(64);
                self.poison.get_or_insert_with(|| PoisonBits { words: vec![0; words], count: 0 }).set(range);
                return Some(());
            }
        }
        self.poison.take_if(|bits| bits.clear(range) == 0);
        Some(())
    }
}

impl PoisonBits {
    fn has(&self, range: Range<usize>) -> bool {
        parts(range).any(|(word, mask)| self.words[word] & mask != 0)
    }

    fn set(&mut self, range: Range<usize>) {
        for (word, mask) in parts(range) {
            self.count += (mask & !self.words[word]).count_ones() as usize;
            self.words[word] |= mask;
        }
    }

    /// Clears bits and returns the number of those that are left.
    fn clear(&mut self, range: Range<usize>) -> usize {
        for (word, mask) in parts(range) {
            self.count -= (mask & self.words[word]).count_ones() as usize;
            self.words[word] &= !mask;
        }
        self.count
    }
}

/// The words that hold the bits of a range, each with the mask of these bits.
fn parts(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    (start / 64..end.div_ceil(64)).map(move |word| {
        let (first, last) = (start.max(word * 64) - word * 64, end.min(word * 64 + 64) - word * 64);
        let below = |n: usize| if n == 64 { u64::MAX } else { (1 << n) - 1 };
        (word, below(last) & !below(first.min(last)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn bits_follow_the_bytes() {
        let mut random = Random::of("byte buffers");
        for len in [0, 1, 63, 64, 65, 200] {
            let (mut buffer, mut wanted) = (ByteBuffer::poison(len), vec![None; len]);
            for i in 0..2000 {
                let start = random.below(len as u64 + 1) as usize;
                let range = start..start + random.below((len - start) as u64 + 1) as usize;
                let value = (random.below(3) > 0).then(|| vec![i as u8; range.len()]);
                wanted[range.clone()].fill(value.is_some().then_some(i as u8));
                assert_eq!(buffer.set(range.clone(), value.as_deref()), Some(()));
                let is_empty = range.is_empty();
                assert_eq!(buffer.get(range), Some(value.as_deref().or(is_empty.then_some(&[]))));
                let all: Option<Vec<u8>> = wanted.iter().copied().collect();
                assert_eq!(buffer.get(0..len), Some(all.as_deref()));
            }
            buffer.set(0..len, Some(&vec![1; len]));
            assert!(buffer.poison.is_none() && buffer.get(0..len + 1).is_none());
            assert_eq!(buffer.set(len..len + 1, None), None);
        }
    }
}
