//! Bytes as hexadecimal text and back, at memory speed: the loops have no branches, so that they compile to vector
//! instructions.

/// How many bytes are converted at a time; the block stays in the first-level cache.
const BLOCK: usize = 4096;

/// The bytes that an even number of hexadecimal digits stands for; `None` when there is anything else in the text.
pub(crate) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    // Fresh zeros cost nothing: the system hands out zeroed pages.
    let mut out = vec![0; digits.len() / 2];
    for (bytes, block) in out.chunks_mut(BLOCK).zip(digits.chunks(2 * BLOCK)) {
        if !all_hex(block) {
            return None;
        }
        let (pairs, _) = block.as_chunks::<2>();
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            // The two digits as one number, the first in its low half. A letter is 9 more than its low bits.
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

/// Appends the bytes as upper-case digits.
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
