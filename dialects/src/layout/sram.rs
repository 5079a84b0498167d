//! Two-dimensional addresses: an offset holds a block, and a block is cut into slices.

use super::error::LayoutError;
use super::moves::{Move, Relayout};
use super::placed::Layout;

/// Where an element is in memory that is addressed by blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Which block.
    pub offset: u64,
    /// Which slice of it.
    pub slice: u64,
    /// Which element of the slice.
    pub position: u64,
}

/// How a layout is in memory that is addressed by blocks.
#[derive(Clone, Debug)]
pub struct Sram<'a> {
    layout: &'a Layout,
    slice: u64,
    element_bytes: u64,
    /// The bytes from one block to the next.
    pitch: u64,
}

/// Elements that are moved from slices to slices, side by side in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceMove {
    /// Where the first is.
    pub from: Place,
    /// Where it goes.
    pub to: Place,
    /// How many elements.
    pub len: u64,
}

/// What it takes to move a tensor from one mode to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How many runs of elements are moved.
    pub moves: u64,
    /// How many bytes are moved: those of the tensor.
    pub bytes: u64,
    /// How many slices hold nothing of the tensor and so are not moved.
    pub dropped: u64,
    /// How many slices hold nothing of the tensor afterwards.
    pub added: u64,
}

impl<'a> Sram<'a> {
    /// Blocks of a layout, cut into slices of `slice` elements of `element_bytes` each, in words of `word_bytes`. A block that
    /// is no whole number of words leaves the rest of its last word empty, unless words are packed.
    ///
    /// # Errors
    /// When a block has no whole slices, or there are more bytes than can be addressed.
    pub fn new(layout: &'a Layout, slice: u64, bytes: [u64; 2], pack: bool) -> Result<Sram<'a>, LayoutError> {
        let ([element_bytes, word_bytes], block) = (bytes, layout.block());
        if slice == 0 || !block.is_multiple_of(slice) {
            return Err(LayoutError::Slices { block, slice });
        }
        let used = block.checked_mul(element_bytes).ok_or(LayoutError::TooLarge)?;
        let pitch = if pack { Some(used) } else { used.checked_next_multiple_of(word_bytes.max(1)) };
        let pitch = pitch.ok_or(LayoutError::TooLarge)?;
        let bytes = layout.size().div_ceil(block).checked_mul(pitch).filter(|&n| n <= i64::MAX as u64);
        bytes.map(|_| Sram { layout, slice, element_bytes, pitch }).ok_or(LayoutError::TooLarge)
    }

    /// Where what has an offset in the layout is.
    pub fn place(&self, offset: u64) -> Place {
        let within = offset % self.layout.block();
        Place { offset: offset / self.layout.block(), slice: within / self.slice, position: within % self.slice }
    }

    /// The offset in the layout of what is at a place.
    pub fn element(&self, place: Place) -> u64 {
        place.offset * self.layout.block() + place.slice * self.slice + place.position
    }

    /// The byte at which a place begins.
    pub fn byte(&self, place: Place) -> u64 {
        place.offset * self.pitch + (place.slice * self.slice + place.position) * self.element_bytes
    }

    /// How many blocks there are.
    pub fn offsets(&self) -> u64 {
        self.layout.size().div_ceil(self.layout.block())
    }

    /// How many slices a block has.
    pub fn slices_per_offset(&self) -> u64 {
        self.layout.block() / self.slice
    }

    /// How many bytes are taken.
    pub fn bytes(&self) -> u64 {
        self.offsets() * self.pitch
    }

    /// How many slices hold elements of the tensor. Takes time for each run of them.
    pub fn used_slices(&self) -> u64 {
        let here = Relayout { from: self.layout, to: self.layout };
        let mut next = 0;
        here.moves().map(|run| touched(run.to, run.len, self.slice, &mut next)).sum()
    }

    /// How many slices hold nothing but padding.
    pub fn bubbles(&self) -> u64 {
        self.offsets() * self.slices_per_offset() - self.used_slices()
    }

    /// The moves to another mode, in the order of where they go.
    ///
    /// # Errors
    /// When the tensors do not have equally many elements.
    pub fn moves(&'a self, to: &'a Sram<'a>) -> Result<impl Iterator<Item = SliceMove> + 'a, LayoutError> {
        let place = |m: Move| SliceMove { from: self.place(m.from), to: to.place(m.to), len: m.len };
        Ok(Relayout::new(self.layout, to.layout)?.moves().map(place))
    }

    /// What these moves take.
    ///
    /// # Errors
    /// When the tensors do not have equally many elements.
    pub fn traffic(&self, to: &Sram<'_>) -> Result<Traffic, LayoutError> {
        let mut traffic = Traffic { dropped: self.bubbles(), added: to.bubbles(), ..Traffic::default() };
        for run in Relayout::new(self.layout, to.layout)?.moves() {
            traffic.moves += 1;
            traffic.bytes += run.len * self.element_bytes;
        }
        Ok(traffic)
    }
}

/// How many slices a run touches from slice `next` on; runs come in order.
fn touched(offset: u64, len: u64, slice: u64, next: &mut u64) -> u64 {
    let first = (offset / slice).max(*next);
    *next = (offset + len).div_ceil(slice);
    *next - first
}
