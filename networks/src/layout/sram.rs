//! Block-addressed memory: an address selects a block, a slice of it, and an element of the slice.

use super::concrete_layout::Layout;
use super::copy_plan::{CopyRun, Relayout};
use super::error::LayoutError;

/// The address of an element in block-addressed memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockAddress {
    /// Block number.
    pub offset: u64,
    /// Slice within the block.
    pub slice: u64,
    /// Element within the slice.
    pub position: u64,
}

/// A layout in block-addressed memory.
#[derive(Clone, Debug)]
pub struct Sram<'a> {
    layout: &'a Layout,
    slice: u64,
    element_bytes: u64,
    /// Bytes between the starts of neighbouring blocks.
    pitch: u64,
}

/// A copy of elements that are contiguous in a source slice and a target slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceCopy {
    /// Source address of the first element.
    pub from: BlockAddress,
    /// Target address of the first element.
    pub to: BlockAddress,
    /// Number of elements.
    pub len: u64,
}

/// The cost of converting a tensor between two block layouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransferCost {
    /// Number of contiguous copies.
    pub moves: u64,
    /// Number of bytes copied.
    pub bytes: u64,
    /// Number of source slices that hold padding only.
    pub dropped: u64,
    /// Number of target slices that hold padding only.
    pub added: u64,
}

impl<'a> Sram<'a> {
    /// Splits the blocks of a layout into slices of `slice` elements. `bytes`: bytes per element and per word. Blocks
    /// are padded to whole words unless `pack` is set.
    ///
    /// # Errors
    /// When the slice size does not divide the block size, or the size exceeds the address space.
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

    /// Returns the address of a layout offset.
    pub fn address(&self, offset: u64) -> BlockAddress {
        let within = offset % self.layout.block();
        BlockAddress { offset: offset / self.layout.block(), slice: within / self.slice, position: within % self.slice }
    }

    /// Returns the layout offset of an address.
    pub fn layout_offset(&self, place: BlockAddress) -> u64 {
        place.offset * self.layout.block() + place.slice * self.slice + place.position
    }

    /// Returns the byte address of an element.
    pub fn byte(&self, place: BlockAddress) -> u64 {
        place.offset * self.pitch + (place.slice * self.slice + place.position) * self.element_bytes
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> u64 {
        self.layout.size().div_ceil(self.layout.block())
    }

    /// Returns the number of slices per block.
    pub fn slices_per_block(&self) -> u64 {
        self.layout.block() / self.slice
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.num_blocks() * self.pitch
    }

    /// Returns the number of slices that hold elements of the tensor. O(number of contiguous runs).
    pub fn used_slices(&self) -> u64 {
        let here = Relayout { from: self.layout, to: self.layout };
        let mut next = 0;
        here.runs().map(|run| touched(run.to, run.len, self.slice, &mut next)).sum()
    }

    /// Returns the number of slices that hold padding only.
    pub fn empty_slices(&self) -> u64 {
        self.num_blocks() * self.slices_per_block() - self.used_slices()
    }

    /// Returns the copies to another block layout, in target order.
    ///
    /// # Errors
    /// When the numbers of elements differ.
    pub fn slice_copies(&'a self, to: &'a Sram<'a>) -> Result<impl Iterator<Item = SliceCopy> + 'a, LayoutError> {
        let place = |m: CopyRun| SliceCopy { from: self.address(m.from), to: to.address(m.to), len: m.len };
        Ok(Relayout::new(self.layout, to.layout)?.runs().map(place))
    }

    /// Returns the cost of the copies to another block layout.
    ///
    /// # Errors
    /// When the numbers of elements differ.
    pub fn transfer_cost(&self, to: &Sram<'_>) -> Result<TransferCost, LayoutError> {
        let mut traffic =
            TransferCost { dropped: self.empty_slices(), added: to.empty_slices(), ..TransferCost::default() };
        for run in Relayout::new(self.layout, to.layout)?.runs() {
            traffic.moves += 1;
            traffic.bytes += run.len * self.element_bytes;
        }
        Ok(traffic)
    }
}

/// Returns the number of slices from `next` on that a run touches. Runs come in order of offsets.
fn touched(offset: u64, len: u64, slice: u64, next: &mut u64) -> u64 {
    let first = (offset / slice).max(*next);
    *next = (offset + len).div_ceil(slice);
    *next - first
}
