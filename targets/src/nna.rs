//! `nna`: an engine for 3x3 convolutions and its scalar processor; costs only.

use crate::Target;
use gradus_cost::{CostModel, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::nna::{DENSE, DIAGONAL};
use gradus_dialects::op_cost::{Contraction, OpCost};

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "nna",
        doc: "an engine for 3x3 convolutions and its scalar processor; costs in cycles",
        machine: include_str!("../machines/nna.toml"),
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || vec!["arith.*", "graph.*", "layout.*", "math.*", "nna.*", "tensor.*"],
        groups: &[
            "graph-algebra",
            "graph-fuse",
            "graph-merge",
            "matmul-on-nna",
            "mul-as-conv",
            "matmul-as-conv",
            "conv-as-3x3",
        ],
        approx: true,
        ..CostModel::DEFAULT
    },
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        channels,
        taps,
        patches,
        step,
        weights,
        pixels,
        start,
        lanes,
    }
}

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Map(n) => self.start + n.div_ceil(self.lanes).saturating_mul(2),
            OpCost::Contract(c) => self.start.saturating_add(self.contract(&c)),
        }
    }

    /// Prices a contraction, with one product per cycle on the scalar processor.
    fn contract(&self, c: &Contraction) -> u64 {
        let rows = c.groups.saturating_mul(c.rows);
        let blocks = c.groups.saturating_mul(c.rows.div_ceil(self.channels));
        match c.strategy {
            // Native convolution: a 3x3 filter over pixels of 32 channels; every other output of a step is a patch.
            None if c.taps == self.taps => {
                let blocks = blocks.saturating_mul((c.depth / self.taps).div_ceil(self.channels));
                let steps = c.columns.div_ceil(2 * self.patches);
                blocks.saturating_mul(self.weights.max(steps.saturating_mul(self.step)))
            }
            None => c.products(),
            Some(strategy) if *strategy == DIAGONAL => {
                let filters = rows.saturating_mul(c.depth.div_ceil(self.taps));
                filters.saturating_mul(self.patch_steps(c.columns.div_ceil(self.channels * self.patches)))
            }
            Some(strategy) if *strategy == DENSE => {
                let kernels = blocks.saturating_mul(c.depth.div_ceil(self.taps * self.channels));
                kernels.saturating_mul(self.patch_steps(c.columns.div_ceil(self.patches)))
            }
            Some(_) => NEVER,
        }
    }

    /// Returns the cycles of `steps` steps with the same weights; results are written concurrently.
    fn patch_steps(&self, steps: u64) -> u64 {
        self.weights.max(steps.saturating_mul(self.step.max(self.pixels)))
    }
}
