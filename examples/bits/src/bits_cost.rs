//! `bits-cost`.

use crate::dialect::{ExtractOp, PopCountOp, RotLOp, RotROp};
use gradus::prelude::*;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "bits-cost",
    doc: "Report the number of instructions of `bits` ops.

# Before / After

The program is not changed.

# Does

Emits a remark for each function with such ops, and a warning if they take more than `limit` instructions.

# Refuses

Nothing.

# Cost

Linear in the number of ops.",
    anchor: Some("func.func"),
    options: &[PassOption { name: "limit", doc: "Maximum without a warning", kind: OptionKind::Int(10) }],
    statistics: &[("num-ops", "Number of bits ops")],
    make: |options| Ok(Box::new(BitsCost::new(options))),
    ..PassInfo::DEFAULT
};

struct BitsCost {
    limit: i64,
}

impl BitsCost {
    fn new(options: &Options) -> BitsCost {
        BitsCost { limit: options.int("limit") }
    }
}

impl Pass for BitsCost {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let costs: Vec<i64> = m.ops_under(op).into_iter().filter_map(|inner| cost(m, inner)).collect();
        let (count, sum) = (costs.len(), costs.iter().sum::<i64>());
        cx.count("num-ops", count as u64);
        if count > 0 {
            cx.emit(Diagnostic::remark(m.loc(op), format!("{count} bits ops take {sum} instructions")));
        }
        if sum > self.limit {
            cx.emit(Diagnostic::warning(m.loc(op), format!("{sum} instructions exceed the limit of {}", self.limit)));
        }
        Ok(())
    }

    fn is_function_local(&self) -> bool {
        true
    }
}

/// Returns the number of instructions on a machine that can rotate, but neither count bits nor extract fields.
fn cost(m: &Module, op: Op) -> Option<i64> {
    if RotLOp::cast(m, op).is_some() || RotROp::cast(m, op).is_some() {
        return Some(1);
    }
    if ExtractOp::cast(m, op).is_some() {
        return Some(2);
    }
    PopCountOp::cast(m, op).map(|_| 12)
}
