//! Folding: replacing an op by existing values or constants.

use crate::attrs::AttrData;
use crate::effects::Effects;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value};
use crate::op_info::{FoldResult, Folded, OpArgs, OpInfo};
use crate::traits::Traits;
use crate::values::datum::Datum;
use crate::values::eval::eval_op;
use smallvec::SmallVec;

/// Maximum size of folded constants, unless an operand is as large: the result would outweigh the op.
const MAX_FOLDED_ELEMENTS: i64 = 1 << 22;

/// Folds an op with its own folder, or by evaluation when all operands are constant.
pub fn fold(m: &Module, op: Op) -> Option<Folded> {
    let info = m.info(op)?;
    if let Some(value) = fold_traits(m, op, info.traits) {
        return Some(value.into());
    }
    if info.fold.is_none() && info.eval.is_none() {
        return None;
    }
    let constants: SmallVec<[Option<Attr>; 4]> = m.operands(op).iter().map(|&v| m.constant(v)).collect();
    fold_given(m, op, &constants)
}

/// [`fold`] with explicit constants for the operands.
pub fn fold_given(m: &Module, op: Op, constants: &[Option<Attr>]) -> Option<Folded> {
    let info = m.info(op)?;
    if is_poisoned(m, info, constants) {
        return Some(Folded::Results(vec![FoldResult::Attr(m.ctx.poison_attr()); m.num_results(op)]));
    }
    m.with_args(op, |args| {
        if let Some(folded) = info.fold.and_then(|fold| fold(args, constants)) {
            return Some(folded);
        }
        fold_constants(args, constants)
    })?
}

/// Folds f(f(x)) to x for involutions and to f(x) for idempotent ops of one operand.
fn fold_traits(m: &Module, op: Op, traits: Traits) -> Option<Value> {
    if !traits.has(Traits::INVOLUTION) && !traits.has(Traits::IDEMPOTENT) {
        return None;
    }
    let &[operand] = m.operands(op) else { return None };
    let inner = m.defining_op(operand).filter(|&d| m.name(d) == m.name(op) && m.props(d) == m.props(op))?;
    Some(if traits.has(Traits::INVOLUTION) { m.operands(inner)[0] } else { operand })
}

/// Whether a constant operand makes the results poison: any poison operand does, unless the op handles poison or its
/// results have elements of other operands too.
fn is_poisoned(m: &Module, info: &OpInfo, constants: &[Option<Attr>]) -> bool {
    let is_poison = |constant: &Option<Attr>| *constant == Some(m.ctx.poison_attr());
    info.eval.is_some()
        && !info.traits.has(Traits::SEES_POISON)
        && info.exec.is_none()
        && !info.results.is_empty()
        && matches!(info.effects, Effects::Pure | Effects::MayUb)
        && !info.traits.has(Traits::TERMINATOR)
        && constants.iter().any(is_poison)
        && (info.moves.is_empty() || constants.iter().all(is_poison))
}

fn fold_constants(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let info = args.info;
    if info.eval.is_none()
        || constants.is_empty()
        || args.result_types.is_empty()
        || !matches!(info.effects, Effects::Pure | Effects::MayUb)
    {
        return None;
    }
    if info.traits.has(Traits::NO_CONSTANT_FOLDING) {
        return None;
    }
    let ctx = args.ctx();
    // The length of scalable vectors is that of the machine.
    if (0..args.operands.len()).any(|i| ctx.is_scalable(args.operand_type(i))) {
        return None;
    }
    let elements = |ty: &Type| ctx.static_shape(*ty).map_or(1, |s| s.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
    let stored = |constant: &Option<Attr>| match constant.map(|c| ctx.attr_data(c)) {
        Some(AttrData::Dense(dense)) if !dense.splat => elements(&dense.ty),
        _ => 1,
    };
    let most = constants.iter().map(stored).fold(MAX_FOLDED_ELEMENTS, i64::max);
    if args.result_types.iter().any(|ty| elements(ty) > most) {
        return None;
    }
    let operands: Option<Vec<Datum>> = constants.iter().map(|c| ctx.attr_datum((*c)?)).collect();
    let operands = operands?;
    let mut results = eval_op(args, &operands).ok()?;
    if results.iter().any(Datum::has_poison) && info.traits.has(Traits::PROMISES) {
        results = eval_op(&OpArgs { props: Attr::EMPTY_DICT, ..*args }, &operands).ok()?;
    }
    if results.iter().any(Datum::has_poison) {
        return None;
    }
    let attrs: Option<Vec<FoldResult>> = results
        .iter()
        .zip(args.result_types)
        .map(|(datum, &ty)| ctx.datum_attr(ty, datum).map(FoldResult::Attr))
        .collect();
    attrs.map(Folded::Results)
}
