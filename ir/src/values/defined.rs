//! Evaluation of ops on operands that their semantics handles, with checks of the results.

use crate::effects::Effects;
use crate::op_info::{EvalFn, OpArgs};
use crate::traits::Traits;
use crate::values::datum::Datum;
use crate::values::trap::Trap;

/// Returns poison for every result.
pub(crate) fn poison_results(args: &OpArgs<'_>) -> Vec<Datum> {
    args.result_types.iter().map(|&ty| args.ctx().poison_of(ty)).collect()
}

/// Checks the number and types of result values. An error is a mistake in the declaration.
pub fn check_results(args: &OpArgs<'_>, results: &[Datum]) -> Result<(), Trap> {
    let (ctx, info) = (args.ctx(), args.info);
    // These values are not those of the op's results.
    if info.traits.has(Traits::TERMINATOR) || info.traits.has(Traits::COMBINING) {
        return Ok(());
    }
    let (found, wanted) = (results.len(), args.result_types.len());
    if found != wanted {
        return Err(Trap::unsupported(format!("its semantics give {found} values for {wanted} results")));
    }
    match results.iter().zip(args.result_types).find(|(result, ty)| !ctx.has_kind(**ty, result)) {
        None => Ok(()),
        Some((result, &ty)) => {
            let (kind, ty) = (result.kind(), ctx.display_type(ty));
            Err(Trap::unsupported(format!("its semantics give {kind} for a result of type '{ty}'")))
        }
    }
}

/// Evaluates an op on operands that its semantics handles. Checks the results against the shapes of their types.
pub(crate) fn eval_defined(args: &OpArgs<'_>, eval: EvalFn, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let results = eval(args, operands)?;
    check_results(args, &results)?;
    let mismatch = results.iter().zip(args.result_types).find(|(result, ty)| !args.ctx().has_shape(**ty, result));
    match mismatch {
        None => Ok(results),
        Some((result, &ty)) if args.info.effects == Effects::MayUb => {
            let (shape, ty) = (result.shape().unwrap_or(&[]), args.ctx().display_type(ty));
            Err(Trap::Ub(format!("the result has extents {shape:?}, but is a {ty}")))
        }
        // The op may be hoisted to where its operands' shapes do not match.
        Some(_) => Ok(poison_results(args)),
    }
}

/// Whether all tensors have the same shape: results for unmatched elements are undefined.
pub(crate) fn same_shapes(operands: &[Datum]) -> bool {
    let mut shapes = operands.iter().filter_map(Datum::shape);
    let first = shapes.next();
    shapes.all(|shape| Some(shape) == first)
}
