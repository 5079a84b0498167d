//! Instruction sets of accelerators as data, and their simulators: exact values, cycles, and hazards that reject a program.
//!
//! A machine is a folder of the same shape: its parameters with the description of their values, its instructions, their words and their text, and the simulator.
//! Programs come from lowerings or from files, which are not trusted: [`Binary::read`] checks the form, the simulator each
//! access. Generators of programs that need no IR are beside them. The crate depends on nothing else of Gradus.

mod binary;
pub mod cluster;
pub mod fields;
mod happens_before;
mod machine;
pub mod nna;
pub mod npu;

pub use binary::{Binary, BinaryError};
pub use happens_before::join_clocks;
