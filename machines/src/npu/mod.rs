//! `npu`: instructions of a multiplier array with SRAM of its own, programs, and their calls.
//!
//! The machine convolves and moves slices; it has no elementwise multiply. A program is a list of instructions for five units
//! that work side by side and are ordered by tokens only. `npu.call` runs it on tensors.
//!
//! | file | contents |
//! |---|---|
//! | `instruction.rs` | the instructions as ops, and as data |
//! | `choice.rs` | the choices for layers as attributes |
//! | `program.rs` | programs and calls; execution by the simulator |
//! | `schedule.rs` | steps, and the buffers in SRAM that they stream |

mod choice;
mod instruction;
mod program;
pub mod schedule;

pub use choice::{LayerTiles, Place, Planned};
pub use instruction::{instruction, push};
pub use program::{CallOp, NewProgram, Program, ProgramOp};

use gradus_ir::{AttrDecl, Dialect, OpDecl};

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "npu",
    doc: "Instructions of a multiplier array with two-dimensional SRAM, programs, and their calls.",
    ops: &[
        instruction::LoadOp::INFO,
        instruction::StoreOp::INFO,
        instruction::MoveOp::INFO,
        instruction::ConvOp::INFO,
        instruction::DwConvOp::INFO,
        instruction::PostOp::INFO,
        instruction::SignalOp::INFO,
        instruction::WaitOp::INFO,
        instruction::EndOp::INFO,
        instruction::PackedInstructionsOp::INFO,
        ProgramOp::INFO,
        CallOp::INFO,
        schedule::ConstantsOp::INFO,
        schedule::TileOp::INFO,
        schedule::StepOp::INFO,
    ],
    attrs: &[choice::TilesAttr::INFO, choice::PlannedAttr::INFO],
    ..Dialect::DEFAULT
};
