//! Memory aligned to cache lines.

#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;

/// Size and alignment of a cache line in bytes.
pub(crate) const LINE: usize = 64;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; LINE]);

// SAFETY: 64 bytes without padding, for which all bit patterns are valid.
unsafe impl Zeroable for CacheLine {}
// SAFETY: as above.
unsafe impl Pod for CacheLine {}

/// Bytes aligned to a cache line.
#[derive(Clone, Default)]
pub(crate) struct AlignedBytes {
    lines: Vec<CacheLine>,
    len: usize,
}

impl AlignedBytes {
    /// Allocates `len` zeros; `None` if memory is exhausted.
    pub(crate) fn try_zeros(len: usize) -> Option<AlignedBytes> {
        Some(AlignedBytes { lines: bytemuck::try_zeroed_vec(len.div_ceil(LINE)).ok()?, len })
    }

    /// Allocates `len` zeros.
    pub(crate) fn zeros(len: usize) -> AlignedBytes {
        AlignedBytes { lines: bytemuck::zeroed_vec(len.div_ceil(LINE)), len }
    }

    /// Copies bytes.
    pub(crate) fn of(bytes: &[u8]) -> AlignedBytes {
        let (whole, rest) = bytes.as_chunks::<LINE>();
        let mut lines = Vec::with_capacity(bytes.len().div_ceil(LINE));
        lines.extend(whole.iter().map(|line| CacheLine(*line)));
        if !rest.is_empty() {
            let mut last = CacheLine([0; LINE]);
            last.0[..rest.len()].copy_from_slice(rest);
            lines.push(last);
        }
        AlignedBytes { lines, len: bytes.len() }
    }

    /// Converts to shared bytes.
    pub(crate) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl AsMut<[u8]> for AlignedBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}
