//! Costs of ops, from their declarations.

use crate::intern::Type;
use crate::module::{Module, Op};
use crate::op_info::OpArgs;
use crate::work::Work;

impl Work {
    /// What an op does. Of one that does not say, something for each element of its largest result.
    pub fn of(m: &Module, op: Op) -> Work {
        m.with_args(op, |args| match args.info.work {
            Some(work) => work(args),
            None => Work::Map(args.result_types.iter().map(|&ty| elements(args, ty)).max().unwrap_or(1)),
        })
        .unwrap_or(Work::Map(1))
    }

    /// The op's results have other places in memory than its operands.
    pub fn moved(args: &OpArgs<'_>) -> Work {
        Work::Move(args.result_types.iter().map(|&ty| elements(args, ty)).fold(0, u64::saturating_add))
    }
}

/// How many elements a type has; those of extents that are not known are counted once.
pub fn elements(args: &OpArgs<'_>, ty: Type) -> u64 {
    let shape = args.ctx().shape(ty).unwrap_or(&[]);
    shape.iter().map(|&d| u64::try_from(d).unwrap_or(1)).fold(1, u64::saturating_mul)
}
