//! The npu: a multiplier array with SRAM of its own, which convolves and moves slices and has no elementwise multiply.
//!
//! Five units work side by side: load and store (DMA), array (`conv`, `dwconv`), pipe (`post`) and mover (`move`). Instructions
//! go to three queues: load, store, and execute for the other three units. A queue issues in order; an instruction starts when
//! its unit is free. Units are ordered by tokens only.

mod access;
mod bound;
mod check;
mod cost;
mod dense;
mod fault;
mod fields;
mod instruction;
mod machine;
mod shadow;
mod simulate;
mod statistics;
mod text;
mod values;
mod words;

pub use crate::fields::text::TextError;
pub use crate::fields::{Fields, GroupKind, Visitor};
pub use bound::ProgramBounds;
pub use check::{MAX_TERMS, check};
pub use cost::{Cost, cost, cycles};
pub use fault::{AddressSpace, Fault, FaultClass};
pub use fields::MNEMONICS;
pub use instruction::*;
pub use machine::{Interlock, MAX_BANKS, NpuMachine};
pub use simulate::Simulator;
pub use statistics::{Span, Stalls, Statistics};
pub use text::{assemble, disassemble};
pub use values::Ddr;
pub use words::{NAME, ProgramImage, decode, encode};
