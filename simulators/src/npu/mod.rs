//! The npu: a multiplier array with SRAM of its own, which convolves and moves slices and has no elementwise multiply.
//!
//! Five units work side by side: load and store (DMA), array (`conv`, `dwconv`), pipe (`post`) and mover (`move`). Instructions
//! go to three queues: load, store, and execute for the other three units. A queue issues in order; an instruction starts when
//! its unit is free. Units are ordered by tokens only, so that a program without faults means the same under all latencies.
//!
//! | file | contents |
//! |---|---|
//! | `machine.rs` | parameters |
//! | `instruction.rs`, `instruction/` | instructions as data: fields, ranges, accesses, cost and values of those of a unit in one file |
//! | `operands.rs` | placements, transfers, units and queues, with their fields |
//! | `words.rs`, `text.rs` | binaries; assembler and disassembler |
//! | `check.rs` | ranges of fields that instructions have in common |
//! | `access.rs` | exact sets of bytes, for bounds, poison and hazards |
//! | `shadow.rs` | the last accesses of each byte, ordered by vector clocks |
//! | `values.rs` | the memories |
//! | `cost.rs`, `cost_cache.rs`, `bound.rs` | words by bank; costs of instructions, equal ones once; bounds of a program |
//! | `simulate.rs`, `statistics.rs`, `fault.rs` | execution, its counts, and the reasons for which it ends |
//!
//! A new instruction is a file of `instruction/`, a row of `instruction.rs`, and an op of the dialect.

mod access;
mod bound;
mod check;
mod cost;
mod cost_cache;
mod fault;
mod instruction;
mod machine;
mod operands;
mod shadow;
mod simulate;
mod statistics;
mod text;
mod values;
mod words;

pub use crate::fields::text::TextError;
pub use crate::fields::{Fields, GroupKind, Visitor};
pub use bound::ProgramBounds;
pub use check::MAX_TERMS;
pub use cost::Cost;
pub use cost_cache::{cost, cycles};
pub use fault::{AddressSpace, Fault, FaultClass};
pub use instruction::*;
pub use machine::{Interlock, MAX_BANKS, NpuMachine};
pub use operands::*;
pub use simulate::Simulator;
pub use statistics::{Span, Stalls, Statistics};
pub use text::{assemble, disassemble};
pub use values::Ddr;
pub use words::{NAME, ProgramImage, decode, encode};
