//! `affine.apply`.

use super::scope::{DimValues, Scope};
use super::text::{APPLY_CHECKED, map_data};
use super::value_map::AffineValueMap;
use super::{MAP, divides_by_constants, is_in_divisor, one_result, set_map};
use crate::constraint::INDEX;
use crate::loops::SymbolOperands;
use gradus_ir::affine::AffineMap;
use gradus_ir::{Attr, Effects, Folded, Module, Op, OpArgs, Pattern, Rewriter, Type, Violation, op};

/// Evaluates an affine expression.
///
/// Overflow yields poison. Division or remainder by a non-positive or poison number is undefined behavior.
///
/// ```mlir
/// %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 2)>(%i)[%n]
/// ```
#[op(
    "affine.apply",
    effects = Effects::MayUb,
    speculatable = divides_by_constants,
    poison_is_ub = is_in_divisor,
    format = "custom<ApplyChecked>($map, $mapOperands) attr-dict",
    directives = &[&APPLY_CHECKED],
    verify = verify,
    fold = fold,
    scalar = |args| one_result(args, |first, _| first),
    patterns = &[COMPOSE],
    extensions = &[&SymbolOperands(is_symbol), &DimValues::Results]
)]
pub struct ApplyOp {
    /// Map with one result.
    map: Attribute<MAP>,
    /// Operands of the map: dimensions, then symbols.
    #[name = "mapOperands"]
    map_operands: Operands<INDEX>,
    /// Value of the map's result.
    result: OpResult<INDEX>,
}

impl ApplyOp {
    /// Returns the map with its operands; `None` for an invalid op.
    pub(super) fn applied(self, m: &Module) -> Option<AffineValueMap> {
        let map = map_data(&m.ctx, self.map(m)?)?;
        let operands = m.operands(self.0);
        (map.num_inputs() == operands.len()).then(|| AffineValueMap::map(map, operands))
    }
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(map) = ApplyOp(op).map(m).and_then(|a| map_data(&m.ctx, a)) else { return Ok(()) };
    if m.operands(op).len() != map.num_inputs() {
        return Err("operand count and affine map dimension and symbol count must match".into());
    }
    if map.results.len() != 1 {
        return Err("mapping must produce one value".into());
    }
    let mut scope = Scope::around(m, op);
    for &operand in &m.operands(op)[map.num_dims as usize..] {
        if scope.is_dim(operand) && !scope.is_symbol(operand) {
            return Err("dimensional operand cannot be used as a symbol".into());
        }
    }
    Ok(())
}

/// Whether an operand of `affine.apply` is a symbol.
fn is_symbol(m: &Module, op: Op, operand: usize) -> bool {
    ApplyOp(op).map(m).and_then(|map| map_data(&m.ctx, map)).is_some_and(|map| operand >= map.num_dims as usize)
}

/// Folds to an operand or constant, by simplification or constant operands.
fn fold(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let map = map_data(ctx, args.attr("map")?)?;
    let [result] = &*map.results else { return None };
    if let Some(value) = AffineValueMap::map(map, args.operands).value_of(result) {
        return Some(value.into());
    }
    let value = fold_results(map, |i| ctx.as_int(constants[i]?))?.pop()??;
    Some(ctx.int_attr(Type::INDEX, value).into())
}

/// Evaluates a map's results as far as the inputs are known. `None` if no result is known.
pub(super) fn fold_results(map: &AffineMap, known: impl Fn(usize) -> Option<i64>) -> Option<Vec<Option<i64>>> {
    use gradus_ir::affine::AffineExpr;
    let constant = |i: usize, leaf: &AffineExpr| known(i).map_or(leaf.clone(), AffineExpr::Constant);
    let replaced = map.results.iter().map(|result| {
        let simple = result.map_leaves(|leaf| match *leaf {
            AffineExpr::Dim(dim) => constant(dim as usize, leaf),
            AffineExpr::Symbol(symbol) => constant((map.num_dims + symbol) as usize, leaf),
            _ => leaf.clone(),
        });
        simple.constant()
    });
    let values: Vec<Option<i64>> = replaced.collect();
    values.iter().any(Option::is_some).then_some(values)
}

/// Composes the `affine.apply` ops that compute the operands, and simplifies.
const COMPOSE: Pattern = Pattern { name: "affine-compose-apply", run: compose };

fn compose(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(old) = ApplyOp(op).applied(m) else { return false };
    let mut new = old.clone();
    new.simplify_all(m);
    new != old && set_map(rw, op, "map", 0, &new)
}
