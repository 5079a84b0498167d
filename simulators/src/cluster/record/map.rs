//! Elementwise functions.

use crate::cluster::compute::Compute;
use crate::cluster::operands::{Stages, Tile};
use crate::cluster::rules::{Rule, check_pair, check_stages, extents, rules};
use crate::cluster::values::{StageValues, load};
use crate::fields::records;

/// An elementwise function: the stages.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Map {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output, of the same extents.
    pub output: Tile,
    /// Stages before the store.
    pub stages: Stages,
}

records! {
    Map { task, input, output; stages }
}

impl Compute for Map {
    fn stages(&self) -> Option<&Stages> {
        Some(&self.stages)
    }

    fn is_elementwise(&self) -> bool {
        true
    }

    fn check(&self) -> Rule {
        check_pair(&self.input, &self.output)?;
        rules(&[(extents(&self.input) == extents(&self.output), "a map has the extents of its input")])?;
        check_stages(&self.stages, &self.output, false)
    }

    fn values(&self, spm: &[u8]) -> StageValues {
        StageValues::Floats(load(&self.input, spm))
    }
}
