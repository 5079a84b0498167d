//! Operands of several records: element types, tiles, transfers, stages and windows, with their fields in order.

use crate::fields::{records, variants, words};

/// An element type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Elem {
    /// 32-bit float.
    #[default]
    F32,
    /// 16-bit float.
    F16,
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
}

/// A box of elements in the memory of a cluster: `[rows, cols, channels]` with strides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tile {
    /// First byte.
    pub offset: u32,
    /// Bytes from a row to the next.
    pub row: u32,
    /// Bytes from a column to the next.
    pub pixel: u32,
    /// Bytes from a channel to the next.
    pub channel: u32,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
    /// Number of channels.
    pub channels: u32,
    /// Element type.
    pub elem: Elem,
}

/// The place of a box of bytes in a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StridedBox {
    /// First byte.
    pub offset: u32,
    /// Bytes from a row to the next.
    pub row: u32,
    /// Bytes from a column to the next.
    pub pixel: u32,
}

/// A copy of a box of bytes, `[rows, cols, bytes]`, between two memories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transfer {
    /// Source.
    pub from: StridedBox,
    /// Destination.
    pub to: StridedBox,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
    /// Consecutive bytes of a row and column.
    pub bytes: u32,
}

/// A stage after a product or pool, or of a map: a function of a value and of its place in the output tile. Values are f32, in which bytes are
/// exact.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Stage {
    /// `round(x * scale[k]) + zero`, half to even, saturated to `elem`: the requantization of the sums of a convolution of bytes, whose first
    /// stage it is. It is computed in f64. `scales`: first byte of one f32 per channel of the
    /// output.
    Requantize {
        /// First byte of the scales.
        scales: u32,
        /// Zero point.
        zero: i32,
        /// Type of the result, a byte.
        elem: Elem,
    },
    /// `x * scale[k] + bias[k]`, each of f32: a batch normalization. `scales`: first byte of the scales, which are followed by as many biases.
    Affine {
        /// First byte of the scales.
        scales: u32,
    },
    /// `x + other`.
    Add {
        /// The other operand, with the rows, columns and channels of the output.
        other: Tile,
    },
    /// `x * other`. An extent of `other` may be 1: it is broadcast.
    Mul {
        /// The other operand.
        other: Tile,
    },
    /// The sum of quantized values as the reference computes it: `quantize((x - zero) * scale + (other - other_zero) * other_scale)`.
    QuantizedAdd {
        /// The other operand.
        other: Tile,
        /// Scale and zero point of `x`.
        x: Scale,
        /// Scale and zero point of `other`.
        y: Scale,
        /// Scale and zero point of the result.
        to: Scale,
        /// Type of the result.
        elem: Elem,
    },
    /// The product of quantized values as the reference computes it. An extent of `other` may be 1.
    QuantizedMul {
        /// The other operand.
        other: Tile,
        /// Scale and zero point of `x`.
        x: Scale,
        /// Scale and zero point of `other`.
        y: Scale,
        /// Scale and zero point of the result.
        to: Scale,
        /// Type of the result.
        elem: Elem,
    },
    /// `min(max(x, low), high)`; a NaN remains.
    Clamp {
        /// Least value.
        low: f32,
        /// Largest value.
        high: f32,
    },
    /// `x` if it is not negative, else `slope * x`.
    Leaky {
        /// The slope.
        slope: f32,
    },
    /// `1 / (1 + exp(-x))`.
    #[default]
    Sigmoid,
    /// `max(0, min(1, alpha * x + beta))`.
    HardSigmoid {
        /// Slope.
        alpha: f32,
        /// Offset.
        beta: f32,
    },
    /// `x * max(0, min(1, x / 6 + 0.5))`.
    HardSwish,
    /// An element of a table of 256 bytes, which begins with that of the least integer of `from`.
    Table {
        /// First byte of the tables.
        tables: u32,
        /// Whether there is a table for each channel of the output, one after another.
        per_channel: bool,
        /// Type of the index.
        from: Elem,
        /// Type of the result.
        to: Elem,
    },
    /// `quantize_linear`: `round(x / scale) + zero`, half to even, saturated to `elem`.
    Quantize {
        /// Scale and zero point.
        to: Scale,
        /// Type of the result.
        elem: Elem,
    },
    /// `dequantize_linear`: `(x - zero) * scale`.
    Dequantize {
        /// Scale and zero point.
        from: Scale,
    },
}

/// A scale and a zero point.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Scale {
    /// Scale.
    pub scale: f32,
    /// Zero point.
    pub zero: i32,
}

/// Largest number of stages.
pub const MAX_STAGES: usize = 6;

/// The stages of a record, in order; the rest are `None`.
pub type Stages = [Option<Stage>; MAX_STAGES];

/// The window of a convolution or a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// Rows and columns.
    pub kernel: [u32; 2],
    /// Strides.
    pub stride: [u32; 2],
    /// Distances of taps.
    pub dilation: [u32; 2],
    /// Row and column of the input tile of the first tap of the first output; negative in padding. Taps outside of the tile are padding.
    pub first: [i32; 2],
}

impl Elem {
    /// Returns the bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Elem::F32 => 4,
            Elem::F16 => 2,
            Elem::I8 | Elem::U8 => 1,
        }
    }

    /// Whether elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F16)
    }
}

impl Stage {
    /// Returns the tile that is the other operand.
    pub fn other(&self) -> Option<&Tile> {
        match self {
            Stage::Add { other }
            | Stage::Mul { other }
            | Stage::QuantizedAdd { other, .. }
            | Stage::QuantizedMul { other, .. } => Some(other),
            _ => None,
        }
    }
}

words! { Elem { F32 = "f32", F16 = "f16", I8 = "i8", U8 = "u8" } }

records! {
    Tile { offset, row, pixel, channel, rows, cols, channels, elem }
    StridedBox { offset, row, pixel }
    Transfer { from, to, rows, cols, bytes }
    Scale { scale, zero }
    Window { kernel, stride, dilation, first }
}

variants! {
    Stage {
        Requantize = "requantize" { scales, zero, elem }
        Affine = "affine" { scales }
        Add = "add" { other }
        Mul = "mul" { other }
        QuantizedAdd = "quantized_add" { other, x, y, to, elem }
        QuantizedMul = "quantized_mul" { other, x, y, to, elem }
        Clamp = "clamp" { low, high }
        Leaky = "leaky" { slope }
        Sigmoid = "sigmoid" { }
        HardSigmoid = "hard_sigmoid" { alpha, beta }
        HardSwish = "hard_swish" { }
        Table = "table" { tables, per_channel, from, to }
        Quantize = "quantize" { to, elem }
        Dequantize = "dequantize" { from }
    }
}
