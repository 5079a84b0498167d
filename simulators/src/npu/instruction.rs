//! Instructions as data.

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

/// A list of slice moves within SRAM: slices of `slice` contiguous bytes, the last index fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Move {
    /// First byte of the source.
    pub from: u32,
    /// First byte of the target.
    pub to: u32,
    /// Bytes of a slice, 1 to 64.
    pub slice: u32,
    /// Numbers of slices.
    pub counts: [u32; 4],
    /// Bytes between slices of the source; 0 repeats a slice.
    pub from_strides: [u32; 4],
    /// Bytes between slices of the target.
    pub to_strides: [u32; 4],
}

/// A convolution into accumulators. Output `(y, x)` of kernel `k` is the sum over taps and depth of
/// `(feature(y * stride - pad_top + ky * dilation, ..., d) - feature_zero) * (weights(ky, kx, k, d) - weight_zero)`; a position
/// outside of `height` and `width` has the value `pad_value`. As `dwconv` the depth is 1 and output channel `k` reads channel `k`.
///
/// The accumulator of `(y, x)` of kernel `k` is `acc + ((k / 8) * rows * cols + y * cols + x) * 8 + k % 8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Conv {
    /// The input.
    pub feature: Feature,
    /// The kernels.
    pub weights: Weights,
    /// Rows of the input that exist.
    pub height: u16,
    /// Columns of the input that exist.
    pub width: u16,
    /// Rows of the output.
    pub rows: u16,
    /// Columns of the output.
    pub cols: u16,
    /// Number of kernels; of `dwconv` the number of channels.
    pub kernels: u16,
    /// Depth of a kernel; 1 for `dwconv`.
    pub depth: u16,
    /// Rows and columns of a kernel.
    pub kernel: [u16; 2],
    /// Steps along rows and columns.
    pub stride: [u16; 2],
    /// Distances between taps along rows and columns.
    pub dilation: [u16; 2],
    /// Padding before the first row and column.
    pub pad: [u16; 2],
    /// Value of padding.
    pub pad_value: i16,
    /// Zero point that is subtracted from the feature and from padding.
    pub feature_zero: i16,
    /// Zero point that is subtracted from weights, if the machine's weights have 9 bits; otherwise 0.
    pub weight_zero: i16,
    /// Whether bytes of the feature are signed.
    pub signed_feature: bool,
    /// Whether bytes of the weights are signed.
    pub signed_weights: bool,
    /// Adds to the accumulators instead of overwriting them.
    pub accumulate: bool,
    /// First accumulator, a multiple of 8.
    pub acc: u32,
}

/// A sum of the result with another feature, after the first requantization: with `a` and `b` the bytes,
/// `round(((a - zero) * scale + (b - other_zero) * other_scale) * 2^-shift)`, half to even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Residual {
    /// The other feature, of the result's extents.
    pub feature: Feature,
    /// Zero point of the requantized result.
    pub zero: i16,
    /// Zero point of the other feature.
    pub other_zero: i16,
    /// Factor of the requantized result.
    pub scale: i32,
    /// Factor of the other feature.
    pub other_scale: i32,
    /// Binary places of the factors, 0 to 62.
    pub shift: u8,
    /// Whether bytes of the other feature are signed.
    pub signed: bool,
    /// Zero point of the sum.
    pub sum_zero: i16,
    /// Bounds of the sum.
    pub sum_clamp: [i16; 2],
}

/// Requantizes accumulators and writes bytes: `clamp(round((acc + bias) * scale * 2^-shift) + zero)`, half to even, followed by
/// the residual and by the table, if there are any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Post {
    /// First accumulator, as of the convolution.
    pub acc: u32,
    /// Rows of the output.
    pub rows: u16,
    /// Columns of the output.
    pub cols: u16,
    /// Number of kernels.
    pub kernels: u16,
    /// First byte of the parameters in SRAM: for each kernel 12 bytes, `bias: i32`, `scale: i32`, `shift: u32` of 0 to 62. A
    /// `param_stride` of 0 repeats those of the first kernel.
    pub params: u32,
    /// Bytes between the parameters of kernels: 12 or 0.
    pub param_stride: u32,
    /// Zero point of the result.
    pub zero: i16,
    /// Bounds of the result.
    pub clamp: [i16; 2],
    /// The residual.
    pub residual: Option<Residual>,
    /// First byte of a table in SRAM, which replaces result `r` of kernel `k` by the byte at
    /// `table + k * table_stride + (r as u8)`, two's complement.
    pub table: Option<u32>,
    /// Bytes between the tables of kernels: 256 or 0.
    pub table_stride: u32,
    /// The output.
    pub output: Feature,
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

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NpuInst {
    /// DDR to SRAM.
    Load(Transfer),
    /// SRAM to DDR.
    Store(Transfer),
    /// Slices within SRAM.
    Move(Move),
    /// Convolution.
    Conv(Conv),
    /// Depthwise convolution.
    DwConv(Conv),
    /// Accumulators to bytes.
    Post(Post),
    /// Adds one to token `token` when the instruction of `unit` that was issued last before it completes. It is in the queue
    /// of `unit`.
    Signal {
        /// The unit whose last instruction is meant.
        unit: Unit,
        /// The token, less than [`NUM_TOKENS`].
        token: u8,
    },
    /// Blocks a queue until token `token` is positive, and subtracts one.
    Wait {
        /// The queue.
        queue: Queue,
        /// The token, less than [`NUM_TOKENS`].
        token: u8,
    },
    /// The end of the program, when all queues are empty and all units idle.
    End,
}

impl NpuInst {
    /// Returns the unit that executes the instruction; `None` for tokens and the end.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            NpuInst::Load(_) => Some(Unit::Load),
            NpuInst::Store(_) => Some(Unit::Store),
            NpuInst::Conv(_) | NpuInst::DwConv(_) => Some(Unit::Array),
            NpuInst::Post(_) => Some(Unit::Pipe),
            NpuInst::Move(_) => Some(Unit::Mover),
            NpuInst::Signal { .. } | NpuInst::Wait { .. } | NpuInst::End => None,
        }
    }
}

/// Number of tokens.
pub const NUM_TOKENS: usize = 32;
