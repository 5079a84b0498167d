//! The nna: an engine for 3x3 convolutions over pixels of 32 channels, beside the vector pipeline of a processor.
//!
//! | file | contents |
//! |---|---|
//! | `machine.rs` | parameters |
//! | `forms.rs` | the instruction forms, a row each |
//! | `instruction.rs`, `words.rs`, `text.rs` | instructions as data, as words and as text |
//! | `binary.rs` | programs as binaries |
//! | `hazard.rs` | the table of hazards |
//! | `timing.rs` | the cycle model |
//! | `code.rs`, `schedule.rs` | construction of programs: loops, and list scheduling for the two slots |
//! | `product/` | programs of matrix products |
//! | `memory.rs`, `engine.rs`, `simulate.rs` | execution |

mod binary;
mod code;
mod engine;
mod forms;
mod hazard;
mod instruction;
mod machine;
mod memory;
mod product;
mod schedule;
mod simulate;
mod text;
mod timing;
mod words;

pub use crate::fields::text::TextError;
pub use hazard::{FaultKind, HAZARDS, Hazard};
pub use instruction::*;
pub use machine::*;
pub use memory::{ByteMemory, VectorRegister};
pub use product::{Layout, LoopOrder, Mapping, ProductPlan, ProductProgram, Shape, Terms, scale_of};
pub use simulate::{Conditions, Fault, Span, Statistics, observe, requantize, simulate};
pub use text::{assemble, disassemble};
pub use timing::{Issue, Timing, Wait};
pub use words::Words;

/// The name of the machine in binaries.
pub const NAME: &str = "nna";
