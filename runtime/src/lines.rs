//! Memory aligned to cache lines.

#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;

/// Size and alignment of a cache line in bytes.
pub(crate) const LINE: usize = 64;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

// SAFETY: 64 bytes without padding, for which all bit patterns are valid.
unsafe impl Zeroable for Line {}
// SAFETY: as above.
unsafe impl Pod for Line {}

/// Bytes aligned to a cache line.
#[derive(Clone, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    len: usize,
}

impl Lines {
    /// Allocates `len` zeros; `None` if memory is exhausted.
    pub(crate) fn try_zeros(len: usize) -> Option<Lines> {
        Some(Lines { lines: bytemuck::try_zeroed_vec(len.div_ceil(LINE)).ok()?, len })
    }

    /// Allocates `len` zeros.
    pub(crate) fn zeros(len: usize) -> Lines {
        Lines { lines: bytemuck::zeroed_vec(len.div_ceil(LINE)), len }
    }

    /// Copies bytes.
    pub(crate) fn of(bytes: &[u8]) -> Lines {
        let (whole, rest) = bytes.as_chunks::<LINE>();
        let mut lines = Vec::with_capacity(bytes.len().div_ceil(LINE));
        lines.extend(whole.iter().map(|line| Line(*line)));
        if !rest.is_empty() {
            let mut last = Line([0; LINE]);
            last.0[..rest.len()].copy_from_slice(rest);
            lines.push(last);
        }
        Lines { lines, len: bytes.len() }
    }

    /// Converts to shared bytes.
    pub(crate) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Lines {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl AsMut<[u8]> for Lines {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}
