//! Softmax, in f64 as the reference.

use crate::cluster::compute::Compute;
use crate::cluster::operands::{Tile};
use crate::cluster::rules::{Rule, check_pair, extents, rules};
use crate::cluster::values::{StageValues, load};
use crate::fields::records;

/// `exp(x - max) / sum`, over the channels of each row and column.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Softmax {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output, of the same extents.
    pub output: Tile,
}

records! {
    Softmax { task, input, output }
}

impl Compute for Softmax {
    /// It replaces the channels of a pixel, all of which it has read.
    fn is_elementwise(&self) -> bool {
        true
    }

    fn check(&self) -> Rule {
        check_pair(&self.input, &self.output)?;
        rules(&[(extents(&self.input) == extents(&self.output), "a softmax has the extents of its input")])
    }

    fn values(&self, spm: &[u8]) -> StageValues {
        StageValues::Floats(softmax(self, load(&self.input, spm)))
    }
}

/// Returns the softmax over the channels of each row and column.
fn softmax(softmax: &Softmax, mut values: Vec<f32>) -> Vec<f32> {
    for pixel in values.chunks_exact_mut(softmax.input.channels as usize) {
        let max = pixel.iter().fold(f64::NEG_INFINITY, |max, &v| max.max(v.into()));
        let exps: Vec<f64> = pixel.iter().map(|&v| (f64::from(v) - max).exp()).collect();
        let sum: f64 = exps.iter().sum();
        pixel.iter_mut().zip(exps).for_each(|(v, exp)| *v = (exp / sum) as f32);
    }
    values
}
