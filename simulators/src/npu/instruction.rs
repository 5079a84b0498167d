//! Instructions as data. Those of units are in the files of this folder, with their fields, ranges, accesses, cost and values.

mod conv;
mod post;
mod slices;
mod transfer;
mod unit_instruction;

pub use conv::Conv;
pub use post::{Post, Residual};
pub use slices::Move;
pub(super) use unit_instruction::ArrayProducts;

use super::access::{AccessSet, MemorySizes, first_common};
use super::check::rules;
use super::operands::{NUM_TOKENS, Queue, Transfer, Unit};
use super::{AddressSpace, Fault, FaultClass, NpuMachine};
use crate::fields::{Fields, Visitor};
use conv::ArrayInstruction;
use transfer::TransferInstruction;
use unit_instruction::UnitInstruction;

/// Declares the instructions: those of units by name, fields, mnemonic, unit, and the value that executes them; tokens; and the end.
macro_rules! instructions {
    ($($(#[$doc:meta])* $Name:ident($Fields:ident) = $mnemonic:literal on $unit:ident by $executed:expr;)*) => {
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
            pub(super) fn of_unit<R>(&self, f: impl FnOnce(&dyn UnitInstruction) -> R) -> Option<R> {
                match self {
                    $(NpuInst::$Name(fields) => Some(f(&($executed)(*fields))),)*
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
    Load(Transfer) = "load" on Load by |transfer| TransferInstruction { transfer, is_load: true };
    /// SRAM to DDR.
    Store(Transfer) = "store" on Store by |transfer| TransferInstruction { transfer, is_load: false };
    /// Slices within SRAM.
    Move(Move) = "move" on Mover by slices::MoveInstruction;
    /// Convolution.
    Conv(Conv) = "conv" on Array by |conv| ArrayInstruction { conv, is_depthwise: false };
    /// Depthwise convolution.
    DwConv(Conv) = "dwconv" on Array by |conv| ArrayInstruction { conv, is_depthwise: true };
    /// Accumulators to bytes.
    Post(Post) = "post" on Pipe by post::PostInstruction;
}

impl NpuInst {
    /// Returns the transfer of a load or store.
    pub(super) fn transfer(&self) -> Option<Transfer> {
        self.of_unit(|inst| inst.transfer()).flatten()
    }

    /// Returns the products of the array.
    pub(super) fn products(&self) -> Option<ArrayProducts> {
        self.of_unit(|inst| inst.products()).flatten()
    }
}

/// Checks that each field of an instruction is in its range.
///
/// # Errors
/// The rule that is violated.
pub fn check(machine: &NpuMachine, inst: &NpuInst) -> Result<(), &'static str> {
    match inst {
        NpuInst::Signal { token, .. } | NpuInst::Wait { token, .. } => {
            rules(&[(usize::from(*token) < NUM_TOKENS, "a token is less than 32")])
        }
        _ => inst.of_unit(|inst| inst.check(machine)).unwrap_or(Ok(())),
    }
}

/// Returns the accesses of an instruction whose fields are valid, reads first.
///
/// # Errors
/// An access out of bounds, or overlapping accesses of the instruction.
pub(super) fn accesses(
    machine: &NpuMachine,
    inst: &NpuInst,
    sizes: MemorySizes,
    at: usize,
) -> Result<Vec<AccessSet>, Fault> {
    let list = inst.of_unit(|inst| inst.accesses(machine, sizes, at)).unwrap_or(Ok(Vec::new()))?;
    for access in &list {
        let size = sizes.of(access.memory);
        if let Some(last) = access.ranges.last().filter(|r| r.end > size) {
            let fault = Fault::new(FaultClass::Bounds, at, "an access ends beyond the memory");
            return Err(fault.place(access.memory, last.end - 1));
        }
    }
    let [reads @ .., output] = &list[..] else { return Ok(list) };
    let in_place = inst.of_unit(|inst| inst.replaces_third()).unwrap_or(false);
    for (i, other) in reads.iter().enumerate().filter(|(_, r)| r.memory == output.memory && !r.writes) {
        let is_in_place = (in_place && i == 2) || output.memory == AddressSpace::Accumulators;
        if let Some(address) = first_common(&other.ranges, &output.ranges).filter(|_| !is_in_place) {
            let fault = Fault::new(FaultClass::Overlap, at, "an instruction writes a byte that it reads");
            return Err(fault.place(output.memory, address));
        }
    }
    Ok(list)
}
