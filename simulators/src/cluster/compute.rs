//! The interface of compute records, for checks, hazards, execution and times.

use super::ClusterMachine;
use super::operands::Stages;
use super::rules::Rule;
use super::values::StageValues;

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
