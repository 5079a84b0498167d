//! `cluster`: five clusters of sixteen cores; costs only.

use crate::Target;
use gradus_cost::{CostModel, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "cluster",
        doc: "five clusters of sixteen cores; costs in cycles",
        machine: include_str!("../machines/cluster.toml"),
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
        cores,
        products,
        task,
        memory_bandwidth,
        local_bandwidth,
        wide,
        wide_share,
        medium,
        medium_share,
        narrow_share,
    }
}

/// Bytes per element.
const ELEMENT: u64 = 4;

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Map(n) => {
                self.task + n.saturating_mul(2 * ELEMENT).div_ceil(self.local_bandwidth * self.cores)
            }
            OpCost::Contract(c) => self.task.saturating_add(self.contract(&c)),
        }
    }

    fn contract(&self, c: &Contraction) -> u64 {
        if c.strategy.is_some() {
            return NEVER;
        }
        let share = match c.depth / c.taps.max(1) {
            channels if channels >= self.wide => self.wide_share,
            channels if channels >= self.medium => self.medium_share,
            _ => self.narrow_share,
        };
        let bytes = c.groups.saturating_mul(c.rows).saturating_mul(c.depth).saturating_mul(ELEMENT);
        let cycles = c.products().saturating_mul(100) / (self.cores * self.products).saturating_mul(share);
        cycles.max(bytes.div_ceil(self.memory_bandwidth))
    }
}
