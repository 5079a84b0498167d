//! `vector.step`.

use super::build::replace_by_constant;
use super::data;
use super::types::{STEP_VECTOR, is_scalable, shape};
use crate::arith::CmpIOp;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rewrite::fold_given;
use gradus_ir::{AttrData, FoldResult, Folded, Op, OpArgs, OpDecl, Pattern, Rewriter, op};

/// Vector of the indices 0, 1, 2, ...
///
/// ```mlir
/// %0 = vector.step : vector<4xindex>
/// ```
#[op("vector.step", eval = step, patterns = &[Pattern { name: "compared step", run: compared }], format = "attr-dict `:` type($result)")]
pub struct StepOp {
    /// Indices.
    result: OpResult<STEP_VECTOR>,
}

fn step(args: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let n = data::extents(args.ctx(), args.result_types[0])?[0] as i64;
    let numbers: Vec<Datum> = (0..n).map(Datum::Int).collect();
    data::value_of(args.ctx(), args.result_types[0], &numbers).map(|v| vec![v])
}

/// Maximum length for folding comparisons.
const MAX_ELEMENTS: i64 = 1 << 16;

/// Folds a comparison with the same result for all indices.
fn compared(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ty = m.value_type(StepOp(op).result(m));
    let n = shape(&m.ctx, ty).first().copied().unwrap_or(0);
    if is_scalable(&m.ctx, ty) || n > MAX_ELEMENTS {
        return false;
    }
    let numbers: Vec<Datum> = (0..n).map(Datum::Int).collect();
    let Ok(Datum::Tensor(numbers)) = data::value_of(&m.ctx, ty, &numbers) else { return false };
    let numbers = m.ctx.dense_attr(ty, &numbers);
    let known = |(user, _): (Op, usize)| {
        CmpIOp::cast(m, user)?;
        let constants: Vec<_> = m
            .operands(user)
            .iter()
            .map(|&v| if v == StepOp(op).result(m) { Some(numbers) } else { m.constant(v) })
            .collect();
        let Some(Folded::Results(results)) = fold_given(m, user, &constants) else { return None };
        let &[FoldResult::Attr(value)] = &results[..] else { return None };
        matches!(m.ctx.attr_data(value), AttrData::Dense(dense) if dense.splat).then_some((user, value))
    };
    let Some((user, value)) = m.uses(StepOp(op).result(m)).find_map(known) else { return false };
    replace_by_constant(r, user, value)
}
