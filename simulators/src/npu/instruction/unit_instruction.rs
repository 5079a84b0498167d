//! The interface of the instructions of units, for checks, costs, hazards and execution.

use crate::npu::access::{AccessSet, MemorySizes};
use crate::npu::operands::Transfer;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{Cost, Fault, NpuMachine, Statistics};
use std::ops::Range;

/// An instruction of a unit, in a file of its own with others like it.
pub(in crate::npu) trait UnitInstruction {
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
pub(in crate::npu) struct ArrayProducts {
    /// Number of products, those with padding included.
    pub macs: u64,
    /// Whether one depth value is used.
    pub is_depthwise: bool,
    /// Bytes of SRAM of the weights.
    pub weights: Range<u64>,
}
