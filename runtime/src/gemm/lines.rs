//! Numbers that begin with a line of the cache, so that no vector of them is in two.

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

// SAFETY: 64 bytes without anything between them, and any are a line.
unsafe impl bytemuck::Zeroable for Line {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Line {}

/// Lines in a row.
#[derive(Clone)]
pub(super) struct Lines(Vec<Line>);

impl Lines {
    /// Zeros, in at least so many bytes.
    pub(super) fn zeros(bytes: usize) -> Lines {
        Lines(vec![Line([0; 64]); bytes.div_ceil(64)])
    }

    /// As numbers, as many as there is room for.
    pub(super) fn all<T: bytemuck::Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    /// The same, to be written.
    pub(super) fn all_mut<T: bytemuck::Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
