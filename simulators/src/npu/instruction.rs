//! Instructions as data. Those of units are in the files of this folder, with their fields, ranges, accesses, cost and values.

mod conv;
mod post;
mod slices;
mod transfer;

pub use conv::Conv;
pub use post::{Post, Residual};
pub use slices::Move;
pub use transfer::Transfer;

use super::access::{AccessSet, MemorySizes};
use super::values::{Ddr, Memories};
use super::{Cost, Fault, NpuMachine, Statistics};
use crate::fields::{Fields, Visitor};
use conv::Convolution;
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

/// An instruction of a unit, in a file of its own with others like it.
pub(super) trait Operation {
    /// Checks that each field is in its range.
    fn check(&self, machine: &NpuMachine) -> Result<(), &'static str>;

    /// Whether the cost takes bounded time.
    fn is_bounded(&self, _machine: &NpuMachine) -> bool {
        true
    }

    /// Returns the cost by itself, of valid fields.
    fn cost(&self, machine: &NpuMachine) -> Cost;

    /// Returns the accesses of valid fields, reads first. Those beyond a memory are rejected afterwards, if they can be enumerated.
    fn accesses(&self, machine: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault>;

    /// Whether the bytes of the third read may be those that are written.
    fn replaces_third(&self) -> bool {
        false
    }

    /// Returns the work of the simulation: products, elements or bytes.
    fn work(&self) -> u64;

    /// Counts products and bytes.
    fn count(&self, _statistics: &mut Statistics) {}

    /// Computes the values. Accesses have been checked.
    fn execute(&self, machine: &NpuMachine, memories: &mut Memories, ddr: &mut Ddr, at: usize) -> Result<(), Fault>;

    /// Returns the transfer between DDR and SRAM.
    fn transfer(&self) -> Option<Transfer> {
        None
    }

    /// Returns the products of the array.
    fn products(&self) -> Option<ArrayProducts> {
        None
    }
}

/// The products of an instruction.
pub(super) struct ArrayProducts {
    /// Number of products, those with padding included.
    pub macs: u64,
    /// Whether one depth value is used.
    pub is_depthwise: bool,
    /// Bytes of SRAM of the weights.
    pub weights: Range<u64>,
}

/// Declares the instructions: those of units by name, fields, mnemonic, unit and operation; tokens; and the end.
macro_rules! instructions {
    ($($(#[$doc:meta])* $Name:ident($Fields:ident) = $mnemonic:literal on $unit:ident by $operation:expr;)*) => {
        /// An instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum NpuInst {
            $($(#[$doc])* $Name($Fields),)*
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

        /// The mnemonics; an opcode is an index into them.
        pub const MNEMONICS: &[&str] = &[$($mnemonic,)* "signal", "wait", "end"];

        impl NpuInst {
            /// Returns the opcode.
            pub fn opcode(&self) -> usize {
                let mnemonic = match self {
                    $(NpuInst::$Name(_) => $mnemonic,)*
                    NpuInst::Signal { .. } => "signal",
                    NpuInst::Wait { .. } => "wait",
                    NpuInst::End => "end",
                };
                MNEMONICS.iter().position(|&name| name == mnemonic).unwrap_or(MNEMONICS.len())
            }

            /// Returns the instruction of an opcode whose fields are zero.
            pub fn blank(opcode: usize) -> Option<NpuInst> {
                let all = [
                    $(NpuInst::$Name($Fields::default()),)*
                    NpuInst::Signal { unit: Unit::Load, token: 0 },
                    NpuInst::Wait { queue: Queue::Load, token: 0 },
                    NpuInst::End,
                ];
                all.get(opcode).copied()
            }

            /// Visits the fields in order.
            ///
            /// # Errors
            /// Those of the visitor.
            pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
                match self {
                    $(NpuInst::$Name(fields) => fields.visit_fields(v),)*
                    NpuInst::Signal { unit, token } => {
                        unit.visit("unit", v)?;
                        token.visit("token", v)
                    }
                    NpuInst::Wait { queue, token } => {
                        queue.visit("queue", v)?;
                        token.visit("token", v)
                    }
                    NpuInst::End => Ok(()),
                }
            }

            /// Returns the unit that executes the instruction; `None` for tokens and the end.
            pub fn unit(&self) -> Option<Unit> {
                match self {
                    $(NpuInst::$Name(_) => Some(Unit::$unit),)*
                    NpuInst::Signal { .. } | NpuInst::Wait { .. } | NpuInst::End => None,
                }
            }

            /// Calls `f` with the instruction of a unit.
            pub(super) fn operation<R>(&self, f: impl FnOnce(&dyn Operation) -> R) -> Option<R> {
                match self {
                    $(NpuInst::$Name(fields) => Some(f(&($operation)(*fields))),)*
                    NpuInst::Signal { .. } | NpuInst::Wait { .. } | NpuInst::End => None,
                }
            }

            /// Returns an instruction of the same cost whose addresses are reduced to their alignment.
            pub(super) fn aligned(mut self, machine: &NpuMachine) -> NpuInst {
                match &mut self {
                    $(NpuInst::$Name(fields) => fields.align(machine),)*
                    NpuInst::Signal { .. } | NpuInst::Wait { .. } | NpuInst::End => {}
                }
                self
            }
        }
    };
}

instructions! {
    /// DDR to SRAM.
    Load(Transfer) = "load" on Load by transfer::Load;
    /// SRAM to DDR.
    Store(Transfer) = "store" on Store by transfer::Store;
    /// Slices within SRAM.
    Move(Move) = "move" on Mover by slices::Slices;
    /// Convolution.
    Conv(Conv) = "conv" on Array by |conv| Convolution { conv, is_depthwise: false };
    /// Depthwise convolution.
    DwConv(Conv) = "dwconv" on Array by |conv| Convolution { conv, is_depthwise: true };
    /// Accumulators to bytes.
    Post(Post) = "post" on Pipe by post::Requantize;
}

impl NpuInst {
    /// Returns the transfer of a load or store.
    pub(super) fn transfer(&self) -> Option<Transfer> {
        self.operation(|operation| operation.transfer()).flatten()
    }

    /// Returns the products of the array.
    pub(super) fn products(&self) -> Option<ArrayProducts> {
        self.operation(|operation| operation.products()).flatten()
    }
}

/// Number of tokens.
pub const NUM_TOKENS: usize = 32;
