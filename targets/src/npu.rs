//! `npu`: a multiplier array with two-dimensional SRAM; costs only.

use crate::Target;
use gradus_cost::{CostModel, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "npu",
        doc: "a multiplier array with SRAM of its own; costs in cycles",
        machine: include_str!("../machines/npu.toml"),
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || vec!["arith.*", "graph.*", "layout.*", "math.*", "tensor.*"],
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "mul-as-conv", "matmul-as-conv"],
        approx: true,
        ..CostModel::DEFAULT
    },
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        kernels,
        depth,
        positions,
        sram_bandwidth,
        start,
        memory_latency,
        memory_bandwidth,
    }
}

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) => self.start + n.div_ceil(self.sram_bandwidth),
            // The array has no elementwise multiply: two operands and a result go through memory to another processor
            // and back.
            OpCost::Map(n) => self.memory_latency + n.saturating_mul(3 * 4).div_ceil(self.memory_bandwidth),
            OpCost::Contract(c) => self.start.saturating_add(self.contract(&c)),
        }
    }

    fn contract(&self, c: &Contraction) -> u64 {
        let (depthwise, positions) = (c.groups > 1 && c.depth == c.taps, c.columns.div_ceil(self.positions));
        match c.strategy {
            None if depthwise => {
                let kernels = c.groups.saturating_mul(c.rows).div_ceil(self.kernels);
                kernels.saturating_mul(c.taps).saturating_mul(positions)
            }
            None => {
                let kernels = c.groups.saturating_mul(c.rows.div_ceil(self.kernels));
                let blocks = kernels.saturating_mul((c.depth / c.taps.max(1)).div_ceil(self.depth));
                blocks.saturating_mul(c.taps).saturating_mul(positions)
            }
            Some(_) => NEVER,
        }
    }
}
