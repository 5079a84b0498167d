//! Unescaping of string literals.

use super::{ParseError, Result};
use std::borrow::Cow;

/// Returns the bytes of a literal (given with its quotes) at `offset`.
pub(super) fn unescape(literal: &str, offset: usize) -> Result<Cow<'_, [u8]>> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("").as_bytes();
    let Some(first) = memchr::memchr(b'\\', inner) else { return Ok(Cow::Borrowed(inner)) };
    let mut out = inner[..first].to_vec();
    let mut at = first;
    while let Some(n) = memchr::memchr(b'\\', &inner[at..]) {
        out.extend_from_slice(&inner[at..at + n]);
        at += n;
        let (byte, len) = match inner[at + 1..] {
            [b'n', ..] => (b'\n', 2),
            [b't', ..] => (b'\t', 2),
            [c @ (b'"' | b'\\'), ..] => (c, 2),
            [hi, lo, ..] => match (hex_digit(hi), hex_digit(lo)) {
                (Some(hi), Some(lo)) => (hi << 4 | lo, 3),
                _ => return Err(ParseError::new(offset + 1 + at, "unknown escape in string literal")),
            },
            _ => return Err(ParseError::new(offset + 1 + at, "unknown escape in string literal")),
        };
        out.push(byte);
        at += len;
    }
    out.extend_from_slice(&inner[at..]);
    Ok(Cow::Owned(out))
}

/// Returns the bytes of the inside of a literal; unknown escapes are kept verbatim.
pub(crate) fn unescape_lenient(inner: &str) -> Vec<u8> {
    let quoted = format!("\"{inner}\"");
    unescape(&quoted, 0).map_or_else(|_| inner.as_bytes().to_vec(), Cow::into_owned)
}

/// Returns the text of a literal that is a name, which must be UTF-8; see [`unescape`].
pub(super) fn unescape_name(literal: &str, offset: usize) -> Result<Cow<'_, str>> {
    let utf8 = |_| ParseError::new(offset, "a name must be UTF-8");
    Ok(match unescape(literal, offset)? {
        Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).map_err(utf8)?),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).map_err(|error| utf8(error.utf8_error()))?),
    })
}

/// Returns the name that a bare identifier or string literal spells.
pub(super) fn name(text: &str, offset: usize) -> Result<Cow<'_, str>> {
    if text.starts_with('"') { unescape_name(text, offset) } else { Ok(Cow::Borrowed(text)) }
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}
