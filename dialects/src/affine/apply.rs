//! `affine.apply`.

use super::applied::Applied;
use super::scope::Scope;
use super::text::{APPLY_CHECKED, map_data};
use super::{MAP, divides_by_constants, one_result, set_map};
use crate::constraint::INDEX;
use gradus_ir::affine::AffineMap;
use gradus_ir::{Attr, Effects, Folded, Module, Op, OpArgs, Pattern, Rewriter, Type, op};

/// The value of an affine expression: poison if it does not fit, undefined where it divides by a number below one.
///
/// ```mlir
/// %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 2)>(%i)[%n]
/// ```
#[op(
    "affine.apply",
    effects = Effects::MayUb,
    speculatable = divides_by_constants,
    format = "custom<ApplyChecked>($map, $mapOperands) attr-dict",
    directives = &[&APPLY_CHECKED],
    verify = verify,
    fold = fold,
    scalar = |args| one_result(args, |first, _| first),
    patterns = &[COMPOSE]
)]
pub struct ApplyOp {
    /// A map of one result.
    map: Attribute<MAP>,
    /// What it is applied to: dimensions, then symbols.
    #[name = "mapOperands"]
    map_operands: Operands<INDEX>,
    /// The value.
    result: OpResult<INDEX>,
}

impl ApplyOp {
    /// The map with its operands; `None` if the op is not valid.
    pub(super) fn applied(self, m: &Module) -> Option<Applied> {
        let map = map_data(&m.ctx, self.map(m)?)?;
        let operands = m.operands(self.0);
        (map.num_inputs() == operands.len()).then(|| Applied::map(map, operands))
    }
}

fn verify(m: &Module, op: Op) -> Result<(), String> {
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

/// The expression is an operand, or a constant, by itself or by what is known of the operands.
fn fold(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let map = map_data(ctx, args.attr("map")?)?;
    let [result] = &*map.results else { return None };
    if let Some(value) = Applied::map(map, args.operands).value_of(result) {
        return Some(value.into());
    }
    let value = fold_results(map, |i| ctx.as_int(constants[i]?))?.pop()??;
    Some(ctx.int_attr(Type::INDEX, value).into())
}

/// The values of a map's results, as far as they follow from the inputs that are known. `None` when there is nothing to
/// know.
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

/// Takes in the applies that compute the operands, and simplifies.
const COMPOSE: Pattern = Pattern { name: "affine-compose-apply", run: compose };

fn compose(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(old) = ApplyOp(op).applied(m) else { return false };
    let mut new = old.clone();
    new.simplify_all(m);
    new != old && set_map(rw, op, "map", 0, &new)
}
