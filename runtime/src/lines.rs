//! Memory in whole lines of the cache.

#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;

/// The bytes of a line, and what its address is a multiple of.
pub(crate) const LINE: usize = 64;

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

// SAFETY: 64 bytes without anything between or behind them, of which any are valid.
unsafe impl Zeroable for Line {}
// SAFETY: as above.
unsafe impl Pod for Line {}

/// Bytes that begin with a line.
#[derive(Clone, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    len: usize,
}

impl Lines {
    /// So many zeros, if there is as much memory.
    pub(crate) fn try_zeros(len: usize) -> Option<Lines> {
        Some(Lines { lines: bytemuck::try_zeroed_vec(len.div_ceil(LINE)).ok()?, len })
    }

    /// So many zeros.
    pub(crate) fn zeros(len: usize) -> Lines {
        Lines { lines: bytemuck::zeroed_vec(len.div_ceil(LINE)), len }
    }

    /// A copy of bytes.
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

    /// The same for whoever wants to keep parts of them.
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
