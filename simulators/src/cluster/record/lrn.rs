//! Local response normalization, in f64 as the reference.

use crate::cluster::compute::Compute;
use crate::cluster::operands::{Tile};
use crate::cluster::rules::{Rule, check_pair, extents, rules};
use crate::cluster::values::{StageValues, load};
use crate::fields::records;

/// Local response normalization across channels: `x / (bias + alpha / size * sum of squares) ^ beta`. The input has the channels of the output,
/// and `before` channels before them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Lrn {
    /// Number of the task in the whole program, the same in all clusters that do a part of it.
    pub task: u32,
    /// Input.
    pub input: Tile,
    /// Output.
    pub output: Tile,
    /// Channels of the input before the first one of the output.
    pub before: u32,
    /// Channels of a sum.
    pub size: u32,
    /// Factor of the sum.
    pub alpha: f32,
    /// Exponent.
    pub beta: f32,
    /// Summand.
    pub bias: f32,
}

records! {
    Lrn { task, input, output, before, size, alpha, beta, bias }
}

impl Compute for Lrn {
    fn check(&self) -> Rule {
        check_pair(&self.input, &self.output)?;
        let channels = u64::from(self.before) + u64::from(self.output.channels);
        rules(&[
            (self.size >= 1, "a sum has at least one channel"),
            (
                extents(&self.input)[..2] == extents(&self.output)[..2],
                "a normalization has the rows and columns of its input",
            ),
            (channels <= self.input.channels.into(), "the input has the channels of the output and those before"),
        ])
    }

    fn values(&self, spm: &[u8]) -> StageValues {
        StageValues::Floats(lrn(self, &load(&self.input, spm)))
    }

    fn work(&self, elements: u64) -> u64 {
        elements.saturating_mul(self.size.into())
    }
}

/// Returns the normalized channels of the output.
fn lrn(lrn: &Lrn, values: &[f32]) -> Vec<f32> {
    let (channels, first) = (lrn.output.channels as usize, lrn.before as usize);
    let size = lrn.size as usize;
    let (before, after) = ((size - 1) / 2, (size - 1).div_ceil(2));
    let [alpha, beta, bias] = [lrn.alpha, lrn.beta, lrn.bias].map(f64::from);
    let mut out = Vec::with_capacity(values.len());
    for pixel in values.chunks_exact(lrn.input.channels as usize) {
        for channel in first..first + channels {
            let window = &pixel[channel.saturating_sub(before)..pixel.len().min(channel + after + 1)];
            let sum = window.iter().fold(0.0, |sum, &v| sum + f64::from(v) * f64::from(v));
            out.push((f64::from(pixel[channel]) / (bias + alpha / size as f64 * sum).powf(beta)) as f32);
        }
    }
    out
}
