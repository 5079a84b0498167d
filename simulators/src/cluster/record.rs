//! Records: transfers, synchronization, and calls of compute functions with their arguments.

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

/// A convolution. Output channel `k` reads the `group_in` input channels from `(k + skip) / group_out * group_in` on. Weights are
/// `[output channels, kernel rows, kernel columns, group_in]`, in `elem` of the input for floats. Floats are summed in f32, in the order of
/// kernel rows, kernel columns and channels, beginning with the bias; integers in i32.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Conv {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// First byte of the weights.
    pub weights: u32,
    /// Type of the weights.
    pub weights_elem: Elem,
    /// First byte of the bias, f32 or i32, one for each output channel.
    pub bias: Option<u32>,
    /// The window.
    pub window: Window,
    /// Input channels of a group.
    pub group_in: u32,
    /// Output channels of a group.
    pub group_out: u32,
    /// Output channels of the first group before the first one of the tile.
    pub skip: u32,
    /// Zero point of the input, which is also the padding.
    pub zero: i32,
    /// Zero point of the weights.
    pub weights_zero: i32,
    /// Stages before the store.
    pub stages: Stages,
}

/// A pool.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Pool {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// The window.
    pub window: Window,
    /// Whether the largest element is computed; else the mean.
    pub is_max: bool,
    /// The number by which a sum is divided; 0 for the number of taps that are not padding.
    pub divisor: u32,
    /// Stages before the store.
    pub stages: Stages,
}

/// An elementwise function: the stages.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Map {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output, of the same extents.
    pub output: Tile,
    /// Stages before the store.
    pub stages: Stages,
}

/// `exp(x - max) / sum`, over the channels of each row and column.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Softmax {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output, of the same extents.
    pub output: Tile,
}

/// Local response normalization across channels: `x / (bias + alpha / size * sum of squares) ^ beta`. The input has the channels of the output,
/// and `before` channels before them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Lrn {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// Channels of the input before the first one of the output.
    pub before: u32,
    /// Channels of a sum.
    pub size: u32,
    /// Factor of the sum.
    pub alpha: f32,
    /// Exponent.
    pub beta: f32,
    /// Summand.
    pub bias: f32,
}

/// A record: a function and its arguments. The cluster that executes it is `here`. A mask has bit `i` for cluster `i`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Record {
    /// Begins a read from DDR into the same place of each cluster of the mask, in which `event` is then counted.
    Fetch {
        /// The copy.
        transfer: Transfer,
        /// Destinations.
        clusters: u32,
        /// Event.
        event: u32,
    },
    /// Begins a write from here to DDR; `event` is then counted here.
    Store {
        /// The copy.
        transfer: Transfer,
        /// Event.
        event: u32,
    },
    /// Begins a copy from here into the same place of each cluster of the mask, in which `event` is then counted.
    Send {
        /// The copy.
        transfer: Transfer,
        /// Destinations.
        clusters: u32,
        /// Event.
        event: u32,
    },
    /// Counts `event` in each cluster of the mask.
    Notify {
        /// Destinations.
        clusters: u32,
        /// Event.
        event: u32,
    },
    /// Waits until `event` has been counted `count` times here.
    Wait {
        /// Event.
        event: u32,
        /// Number of times.
        count: u32,
    },
    /// A convolution.
    Conv(Conv),
    /// A pool.
    Pool(Pool),
    /// An elementwise function.
    Map(Map),
    /// A softmax.
    Softmax(Softmax),
    /// A local response normalization.
    Lrn(Lrn),
}

/// Consecutive bytes of DDR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub bytes: u32,
}

/// A program: the records of each cluster, and DDR.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClusterProgram {
    /// Records of each cluster.
    pub records: Vec<Vec<Record>>,
    /// Constants, from byte 0 of DDR.
    pub constants: Vec<u8>,
    /// Bytes of DDR.
    pub ddr_bytes: u32,
    /// Each operand in DDR.
    pub operands: Vec<Extent>,
    /// Each result in DDR.
    pub results: Vec<Extent>,
}
