//! Fields as bytes: numbers and floats little-endian; words, flags and the presence of an optional value are numbers of as many bytes as
//! the machine says.

use super::{GroupKind, Visitor};
use crate::BinaryError;

/// Appends fields to bytes.
pub struct FieldWriter {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Number of bytes of a word, a flag, and the presence of a value, at most 8.
    pub word: usize,
}

impl FieldWriter {
    fn append(&mut self, value: i64, n: usize) {
        self.bytes.extend_from_slice(&value.to_le_bytes()[..n]);
    }
}

impl Visitor for FieldWriter {
    type Error = std::convert::Infallible;

    fn number(&mut self, _: &'static str, bytes: usize, _: [i64; 2], value: i64) -> Result<i64, Self::Error> {
        self.append(value, bytes);
        Ok(value)
    }

    fn word(&mut self, _: &'static str, _: &[&'static str], index: usize) -> Result<usize, Self::Error> {
        self.append(index as i64, self.word);
        Ok(index)
    }

    fn present(&mut self, _: &'static str, present: bool) -> Result<bool, Self::Error> {
        self.append(present.into(), self.word);
        Ok(present)
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Self::Error> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Reads fields from bytes, which are not trusted.
pub struct FieldReader<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
    /// The next byte.
    pub at: usize,
    /// Number of bytes of a word, as the writer's.
    pub word: usize,
}

impl FieldReader<'_> {
    /// Reads a number of `n` bytes, at most 8.
    ///
    /// # Errors
    /// The end of the bytes.
    pub fn take(&mut self, n: usize) -> Result<u64, BinaryError> {
        let bytes = self.at.checked_add(n).and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or(BinaryError { at: self.at, reason: "an end within a field" })?;
        self.at += n;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn choice(&mut self, count: usize) -> Result<usize, BinaryError> {
        let at = self.at;
        let index = usize::try_from(self.take(self.word)?).ok().filter(|&index| index < count);
        index.ok_or(BinaryError { at, reason: "a value that its field does not have" })
    }
}

impl Visitor for FieldReader<'_> {
    type Error = BinaryError;

    fn number(&mut self, _: &'static str, bytes: usize, range: [i64; 2], _: i64) -> Result<i64, BinaryError> {
        let value = self.take(bytes)? as i64;
        let unused = 64 - 8 * bytes as u32;
        Ok(if range[0] < 0 { value << unused >> unused } else { value })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, BinaryError> {
        self.choice(words.len())
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, BinaryError> {
        Ok(self.choice(2)? == 1)
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), BinaryError> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), BinaryError> {
        Ok(())
    }
}
