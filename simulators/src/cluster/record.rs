//! Records: transfers, synchronization, and calls of compute functions with their arguments.

use super::ClusterMachine;
use super::rules::Rule;
use super::values::StageValues;
use crate::fields::{Fields, Visitor};

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

/// A compute record: a function of tiles in the memory of a cluster, in a file of its own.
pub(super) trait Compute {
    /// The functions of each value before it is stored.
    fn stages(&self) -> Option<&Stages> {
        None
    }

    /// Calls `f` with the first byte and the number of bytes of arrays of parameters that it reads, those of stages excepted.
    fn parameters(&self, _f: &mut dyn FnMut(u32, u64)) {}

    /// Whether the output may replace the input element by element.
    fn is_elementwise(&self) -> bool {
        false
    }

    /// Checks that each field is in its range.
    fn check(&self) -> Rule;

    /// Returns the values before the stages, `[rows, cols, channels]`.
    fn values(&self, spm: &[u8]) -> StageValues;

    /// Returns the work of an output of some elements, which limits what is executed.
    fn work(&self, elements: u64) -> u64 {
        elements
    }

    /// Returns the number of products, those with padding included.
    fn products(&self) -> u64 {
        0
    }

    /// Returns the cycles of the products.
    fn product_cycles(&self, _machine: &ClusterMachine) -> u64 {
        0
    }
}

/// Declares the records: transfers and synchronization, and compute records by name and file.
macro_rules! records_with_compute {
    ($($(#[$doc:meta])* $Name:ident = $name:literal in $file:ident;)*) => {
        $(mod $file; pub use $file::$Name;)*

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
            $($(#[$doc])* $Name($Name),)*
        }

        /// The names of the functions. A function's id is its index, plus 1: zeros are no record.
        pub const FUNCTIONS: &[&str] = &["fetch", "store", "send", "notify", "wait", $($name),*];

        impl Record {
            /// Returns the index of the function in [`FUNCTIONS`].
            pub fn function(&self) -> usize {
                let name = match self {
                    Record::Fetch { .. } => return 0,
                    Record::Store { .. } => return 1,
                    Record::Send { .. } => return 2,
                    Record::Notify { .. } => return 3,
                    Record::Wait { .. } => return 4,
                    $(Record::$Name(_) => $name,)*
                };
                FUNCTIONS.iter().position(|&function| function == name).unwrap_or(FUNCTIONS.len())
            }

            /// Returns the record of a function whose fields are zero; `None` for an index beyond [`FUNCTIONS`].
            pub fn blank(function: usize) -> Option<Record> {
                let transfer = Transfer::default();
                let all = [
                    Record::Fetch { transfer, clusters: 0, event: 0 },
                    Record::Store { transfer, event: 0 },
                    Record::Send { transfer, clusters: 0, event: 0 },
                    Record::Notify { clusters: 0, event: 0 },
                    Record::Wait { event: 0, count: 0 },
                    $(Record::$Name($Name::default()),)*
                ];
                all.get(function).copied()
            }

            /// Visits the fields in order.
            ///
            /// # Errors
            /// Those of the visitor.
            pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
                match self {
                    Record::Fetch { transfer, clusters, event } | Record::Send { transfer, clusters, event } => {
                        transfer.visit("transfer", v)?;
                        clusters.visit("clusters", v)?;
                        event.visit("event", v)
                    }
                    Record::Store { transfer, event } => {
                        transfer.visit("transfer", v)?;
                        event.visit("event", v)
                    }
                    Record::Notify { clusters, event } => {
                        clusters.visit("clusters", v)?;
                        event.visit("event", v)
                    }
                    Record::Wait { event, count } => {
                        event.visit("event", v)?;
                        count.visit("count", v)
                    }
                    $(Record::$Name(compute) => compute.visit_fields(v),)*
                }
            }

            /// Returns the compute record.
            pub(super) fn compute(&self) -> Option<&dyn Compute> {
                match self {
                    $(Record::$Name(compute) => Some(compute),)*
                    _ => None,
                }
            }

            /// Returns the input of a compute record.
            pub fn input(&self) -> Option<&Tile> {
                match self {
                    $(Record::$Name(compute) => Some(&compute.input),)*
                    _ => None,
                }
            }

            /// Returns the output of a compute record.
            pub fn output(&self) -> Option<&Tile> {
                match self {
                    $(Record::$Name(compute) => Some(&compute.output),)*
                    _ => None,
                }
            }

            /// Returns the number of the task of a compute record.
            pub fn task(&self) -> Option<u32> {
                match self {
                    $(Record::$Name(compute) => Some(compute.task),)*
                    _ => None,
                }
            }

            /// Returns the number of the task of a compute record, to change it.
            pub(super) fn task_mut(&mut self) -> Option<&mut u32> {
                match self {
                    $(Record::$Name(compute) => Some(&mut compute.task),)*
                    _ => None,
                }
            }
        }
    };
}

records_with_compute! {
    /// A convolution.
    Conv = "conv" in conv;
    /// A pool.
    Pool = "pool" in pool;
    /// An elementwise function.
    Map = "map" in map;
    /// A softmax.
    Softmax = "softmax" in softmax;
    /// A local response normalization.
    Lrn = "lrn" in lrn;
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
