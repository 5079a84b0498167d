//! Operands of several instructions: placements in SRAM, transfers, units and queues, with their fields in order.

use crate::fields::{records, words};
use std::ops::Range;

/// The placement of a feature `[H, W, C]` of bytes in SRAM, as the blocks of a mode: a block has `tile_w` columns of `tile_c`
/// channels, channels fastest. The byte of `(h, w, c)` is
/// `base + h * row + (w / tile_w) * col + (c / tile_c) * chan + (w % tile_w) * tile_c + c % tile_c`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Feature {
    /// Byte of the element (0, 0, 0).
    pub base: u32,
    /// Columns of a block, at least 1: 4 of the mode 4W4C.
    pub tile_w: u16,
    /// Channels of a block, at least 1: 4 of the mode 4W4C.
    pub tile_c: u16,
    /// Bytes from a row to the next.
    pub row: u32,
    /// Bytes from a block to the next along the columns.
    pub col: u32,
    /// Bytes from a block to the next along the channels.
    pub chan: u32,
}

/// The placement of weights `[KH, KW, K, D]` in SRAM, as the blocks of a mode: a block has `tile_w` columns, of `tile_k` kernels,
/// of `tile_d` depth values, these fastest. The byte of `(y, x, k, d)` is `base + y * ky + (x / tile_w) * kx + (k / tile_k) * kernel +
/// (d / tile_d) * depth + ((x % tile_w) * tile_k + k % tile_k) * tile_d + d % tile_d`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Weights {
    /// Byte of the element (0, 0, 0, 0).
    pub base: u32,
    /// Columns of a block: 8 of the mode 8W4D, otherwise 1.
    pub tile_w: u16,
    /// Kernels of a block: 8 of the mode 8K8D.
    pub tile_k: u16,
    /// Depth values of a block: 8 of the mode 8K8D.
    pub tile_d: u16,
    /// Bytes from a row of the kernel to the next.
    pub ky: u32,
    /// Bytes from a block to the next along the kernel's columns.
    pub kx: u32,
    /// Bytes from a block to the next along the kernels.
    pub kernel: u32,
    /// Bytes from a block to the next along the depth.
    pub depth: u32,
}

/// A transfer between DDR and SRAM: `counts[0] * counts[1] * counts[2]` runs of contiguous bytes, the last index fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Transfer {
    /// First byte in DDR.
    pub ddr: u32,
    /// First byte in SRAM.
    pub sram: u32,
    /// Bytes of a run.
    pub run: u32,
    /// Numbers of runs.
    pub counts: [u32; 3],
    /// Bytes between runs in DDR.
    pub ddr_strides: [u32; 3],
    /// Bytes between runs in SRAM.
    pub sram_strides: [u32; 3],
}

/// The units of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Unit {
    /// DMA from DDR to SRAM.
    Load,
    /// DMA from SRAM to DDR.
    Store,
    /// The multiplier array.
    Array,
    /// The pipe from accumulators to SRAM.
    Pipe,
    /// Slice moves within SRAM.
    Mover,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 5] = [Unit::Load, Unit::Store, Unit::Array, Unit::Pipe, Unit::Mover];

    /// Returns the queue from which the unit gets its instructions.
    pub fn queue(self) -> Queue {
        match self {
            Unit::Load => Queue::Load,
            Unit::Store => Queue::Store,
            Unit::Array | Unit::Pipe | Unit::Mover => Queue::Execute,
        }
    }
}

/// The queues of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Queue {
    /// `load`.
    Load,
    /// `store`.
    Store,
    /// `conv`, `dwconv`, `post` and `move`.
    Execute,
}

/// Number of tokens.
pub const NUM_TOKENS: usize = 32;

impl Feature {
    /// Returns the offset of a row.
    pub(super) fn row_offset(&self, h: u64) -> u64 {
        h * u64::from(self.row)
    }

    /// Returns the offset of a column.
    pub(super) fn col_offset(&self, w: u64) -> u64 {
        let tile = u64::from(self.tile_w);
        (w / tile) * u64::from(self.col) + (w % tile) * u64::from(self.tile_c)
    }

    /// Returns the offset of a channel.
    pub(super) fn chan_offset(&self, c: u64) -> u64 {
        let tile = u64::from(self.tile_c);
        (c / tile) * u64::from(self.chan) + c % tile
    }

    /// Returns the address of an element.
    pub fn address(&self, h: u64, w: u64, c: u64) -> u64 {
        u64::from(self.base) + self.row_offset(h) + self.col_offset(w) + self.chan_offset(c)
    }

    /// Calls `f` with the first channel, the offset and the number of contiguous channels of each block of `channels`.
    pub(super) fn for_each_channel_run(&self, channels: Range<u64>, mut f: impl FnMut(u64, u64, u64)) {
        let (tile, mut c) = (u64::from(self.tile_c), channels.start);
        while c < channels.end {
            let len = (tile - c % tile).min(channels.end - c);
            f(c, self.chan_offset(c), len);
            c += len;
        }
    }
}

/// Offsets of weights: the address is `base` plus one term each for tap, kernel and depth.
impl Weights {
    /// Returns the offset of a tap.
    pub(super) fn tap_offset(&self, y: u64, x: u64) -> u64 {
        let tile = u64::from(self.tile_w);
        let inner = (x % tile) * u64::from(self.tile_k) * u64::from(self.tile_d);
        y * u64::from(self.ky) + (x / tile) * u64::from(self.kx) + inner
    }

    /// Returns the offset of a kernel.
    pub(super) fn kernel_offset(&self, k: u64) -> u64 {
        let tile = u64::from(self.tile_k);
        (k / tile) * u64::from(self.kernel) + (k % tile) * u64::from(self.tile_d)
    }

    /// Returns the offset of a depth value.
    pub(super) fn depth_offset(&self, d: u64) -> u64 {
        let tile = u64::from(self.tile_d);
        (d / tile) * u64::from(self.depth) + d % tile
    }

    /// Returns the address of an element.
    pub fn address(&self, y: u64, x: u64, k: u64, d: u64) -> u64 {
        u64::from(self.base) + self.tap_offset(y, x) + self.kernel_offset(k) + self.depth_offset(d)
    }
}

words! { Unit { Load = "load", Store = "store", Array = "array", Pipe = "pipe", Mover = "mover" } }
words! { Queue { Load = "load", Store = "store", Execute = "execute" } }

records! {
    Transfer { ddr, sram, run, counts, ddr_strides, sram_strides }
    Feature { base, tile_w, tile_c, row, col, chan }
    Weights { base, tile_w, tile_k, tile_d, ky, kx, kernel, depth }
}
