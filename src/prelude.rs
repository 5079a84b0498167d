//! The names that a tool with dialects and passes of its own uses: `use gradus::prelude::*`.

pub use crate::Tool;
pub use gradus_cost::{CostModel, Machine, Pricing, machine_numbers, price};
pub use gradus_dialects::op_cost::{Contraction, DeclaredCost, OpCost, Strategy};
pub use gradus_ir::prelude::*;
pub use gradus_ir::rules::CostFn;
pub use gradus_targets::{Executable, OpTimes, Signature, Statistic, Stop, Target};
