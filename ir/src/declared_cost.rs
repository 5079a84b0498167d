//! Costs of ops, from their declarations.

use crate::intern::Type;
use crate::module::{Module, Op};
use crate::op_cost::OpCost;
use crate::op_info::OpArgs;

impl OpCost {
    /// Returns the declared cost of an op; without a declaration, an elementwise computation of its largest result.
    pub fn of(m: &Module, op: Op) -> OpCost {
        m.with_args(op, |args| match args.info.cost {
            Some(work) => work(args),
            None => OpCost::Map(args.result_types.iter().map(|&ty| elements(args, ty)).max().unwrap_or(1)),
        })
        .unwrap_or(OpCost::Map(1))
    }

    /// Returns the cost of a copy: the number of elements of all results.
    pub fn moved(args: &OpArgs<'_>) -> OpCost {
        OpCost::Move(args.result_types.iter().map(|&ty| elements(args, ty)).fold(0, u64::saturating_add))
    }
}

/// Returns the number of elements of a type; dynamic extents count as 1.
pub fn elements(args: &OpArgs<'_>, ty: Type) -> u64 {
    let shape = args.ctx().shape(ty).unwrap_or(&[]);
    shape.iter().map(|&d| u64::try_from(d).unwrap_or(1)).fold(1, u64::saturating_mul)
}
