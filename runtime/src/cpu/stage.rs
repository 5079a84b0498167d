//! The stages of elementwise ops.

use super::function::{Binary, Unary};
use super::is;
use gradus_ir::{DType, OpArgs};

/// The source of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The result of the previous stage.
    Previous,
    /// An operand.
    Operand(usize),
}

/// One fused elementwise stage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Stage {
    One(Unary, Source),
    Two(Binary, Source, Source),
}

impl Stage {
    /// Returns the stage with other sources.
    pub(super) fn with(self, f: impl Fn(Source) -> Source) -> Stage {
        match self {
            Stage::One(function, x) => Stage::One(function, f(x)),
            Stage::Two(function, a, b) => Stage::Two(function, f(a), f(b)),
        }
    }

    /// Whether the stage reads an operand.
    pub(super) fn reads(self, operand: usize) -> bool {
        let is = |source| source == Source::Operand(operand);
        match self {
            Stage::One(_, x) => is(x),
            Stage::Two(_, a, b) => is(a) || is(b),
        }
    }
}

/// Returns the stages of an elementwise op.
pub(super) fn stages(args: &OpArgs<'_>) -> Option<Vec<Stage>> {
    // The exponent of a power may be of another type.
    let float = dtype_of_result(args).filter(|float| [DType::F32, DType::BF16, DType::F16].contains(float))?;
    if !(0..args.operands.len()).all(|i| is(args, i, float)) {
        return None;
    }
    if let Some(function) = Unary::of(args) {
        return Some(vec![Stage::One(function, Source::Operand(0))]);
    }
    let function = Binary::of(args)?;
    let mut all = vec![Stage::One(Unary::Same, Source::Operand(0))];
    if args.operands.len() > 1 {
        all[0] = Stage::Two(function, Source::Operand(0), Source::Operand(1));
        all.extend((2..args.operands.len()).map(|i| Stage::Two(function, Source::Previous, Source::Operand(i))));
    }
    Some(all)
}

fn dtype_of_result(args: &OpArgs<'_>) -> Option<DType> {
    super::dtype(args.module, *args.result_types.first()?)
}
