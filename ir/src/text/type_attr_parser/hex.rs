//! Hexadecimal encoding and decoding at memory speed: the loops are branch-free and vectorize.

/// Number of bytes converted at a time; a block fits into the L1 cache.
const BLOCK: usize = 4096;

/// Decodes an even number of hexadecimal digits; `None` if the text contains other characters.
pub(crate) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    // Zeroed memory is free: the system provides zeroed pages.
    let mut out = vec![0; digits.len() / 2];
    for (bytes, block) in out.chunks_mut(BLOCK).zip(digits.chunks(2 * BLOCK)) {
        if !all_hex(block) {
            return None;
        }
        let (pairs, _) = block.as_chunks::<2>();
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            // Both digits as one number, the first in the low byte. The value of a letter is its low nibble plus 9.
            let pair = u16::from_le_bytes(*pair);
            let nibbles = (pair & 0x0f0f) + 9 * (pair >> 6 & 0x0101);
            *byte = (nibbles << 4 | nibbles >> 8) as u8;
        }
    }
    Some(out)
}

fn all_hex(block: &[u8]) -> bool {
    let bad = block.iter().fold(0u8, |bad, &c| {
        let digit = c.wrapping_sub(b'0') < 10;
        let letter = (c | 0x20).wrapping_sub(b'a') < 6;
        bad | u8::from(!(digit | letter))
    });
    bad == 0
}

/// Appends bytes as upper-case hexadecimal digits.
pub(crate) fn push_hex(bytes: &[u8], out: &mut String) {
    let mut block = [0u8; 2 * BLOCK];
    out.reserve(2 * bytes.len());
    for chunk in bytes.chunks(BLOCK) {
        let text = &mut block[..2 * chunk.len()];
        for (pair, &byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(chunk) {
            let nibbles = u16::from(byte) >> 4 | (u16::from(byte) & 0xf) << 8;
            let letters = (nibbles + 0x0606) >> 4 & 0x0101;
            *pair = (nibbles + 0x3030 + letters * 7).to_le_bytes();
        }
        out.push_str(std::str::from_utf8(text).unwrap_or_default());
    }
}
