//! Canonicalization of `step`.

use super::data;
use super::elements::StepOp;
use super::types::{is_scalable, shape};
use crate::arith::CmpIOp;
use gradus_ir::eval::Datum;
use gradus_ir::rewrite::fold_given;
use gradus_ir::{AttrData, FoldResult, Folded, Op, OpDecl, Pattern, Rewriter};

pub(super) const STEP: &[Pattern] = &[Pattern { name: "compared step", run: compared }];

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
    super::build::replace_by_constant(r, user, value)
}
