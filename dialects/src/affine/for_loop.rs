//! `affine.for`.

use super::apply::fold_results;
use super::range::drop_redundant;
use super::scope::{DimValues, check_identifiers};
use super::text::{dims_and_symbols, map_data, print_map};
use super::value_map::{AffineValueMap, map_attr};
use super::{MAP, YieldOp, bound};
use crate::constraint::{ANY, INDEX, kind};
use crate::scf::verify_loop;
use gradus_ir::affine::{AffineExpr, AffineMap};
use gradus_ir::control::{Count, Counted, Edge, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    AttrData, AttrKind, Builder, Def, Directive, Effects, Loc, Module, Op, OpArgs, OpParser, OpPrinter, Param,
    ParseResult, Pattern, PatternRewriter, Rewriter, Traits, Type, Value, ValueList, ValueRef, Violation, op,
};
use smallvec::SmallVec;

/// An integer attribute of type `index`.
const INDEX_ATTR: AttrKind =
    kind("index attribute", |c, a| matches!(c.attr_data(a), AttrData::Integer { ty: Type::INDEX, .. }));

/// Loop with affine bounds and a constant positive step.
///
/// The induction variable goes from the maximum of the lower bounds to the minimum of the upper bounds, exclusive. If `index` does not
/// hold the value that ends the loop, the behavior is undefined, as that of `scf.for`, and so it is for bounds beyond 3 * 2^60.
/// Loop-carried values start as `inits`, are passed to the next iteration by `affine.yield`, and become the results.
///
/// ```mlir
/// %sum = affine.for %i = 0 to affine_map<()[s0] -> (s0 * 2)>()[%n] step 2 iter_args(%acc = %init) -> (index) {
///   %next = arith.addi %acc, %i : index
///   affine.yield %next : index
/// }
/// ```
#[op(
    "affine.for",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::SINGLE_BLOCK).and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "affine.yield",
    format = "custom<For>($lowerBoundMap, $upperBoundMap, $step, $lowerBoundOperands, $upperBoundOperands, $inits, type($results), $region) attr-dict",
    directives = &[&FOR],
    verify = verify,
    verify_regions = verify_regions,
    counted = counted,
    edges = edges,
    patterns = PATTERNS,
    extensions = &[&DimValues::Args(1)]
)]
pub struct ForOp {
    /// Lower bound map; the bound is the maximum of its results.
    #[name = "lowerBoundMap"]
    lower_bound_map: Attribute<MAP>,
    /// Upper bound map; the exclusive bound is the minimum of its results.
    #[name = "upperBoundMap"]
    upper_bound_map: Attribute<MAP>,
    /// Step, positive.
    step: Attribute<INDEX_ATTR>,
    /// Operands of the lower bound map.
    #[name = "lowerBoundOperands"]
    lower_bound_operands: Operands<INDEX>,
    /// Operands of the upper bound map.
    #[name = "upperBoundOperands"]
    upper_bound_operands: Operands<INDEX>,
    /// Initial values of the loop-carried variables.
    inits: Operands<ANY>,
    /// Final values of the loop-carried variables.
    results: OpResults<ANY>,
    /// Body; its arguments are the induction variable and the loop-carried values.
    region: Region,
}

/// Bounds and step of a loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopBounds<'m> {
    /// Lower bound: the maximum of the results.
    pub lower: &'m AffineMap,
    /// Upper bound, exclusive: the minimum of the results.
    pub upper: &'m AffineMap,
    /// Step, positive.
    pub step: i64,
}

impl ForOp {
    /// Returns the bounds; `None` for an invalid op.
    pub fn bounds(self, m: &Module) -> Option<LoopBounds<'_>> {
        let (lower, upper) = (self.lower_bound_map(m)?, self.upper_bound_map(m)?);
        let step = m.ctx.as_int(self.step(m)?)?;
        Some(LoopBounds { lower: map_data(&m.ctx, lower)?, upper: map_data(&m.ctx, upper)?, step })
    }
}

impl LoopBounds<'_> {
    /// Returns the trip count for constant bounds.
    pub fn trip_count(&self) -> Option<u64> {
        let (lower, upper) = (self.lower.single_constant()?, self.upper.single_constant()?);
        if upper <= lower {
            return Some(0);
        }
        let step = u64::try_from(self.step).ok().filter(|&step| step > 0)?;
        Some(upper.abs_diff(lower).div_ceil(step))
    }
}

/// `%i = 0 to 10 step 2 iter_args(%a = %b) -> (f32) {...}`
const FOR: Directive = Directive { name: "For", parse: parse_for, print: print_for };

fn parse_for(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let [lower_map, upper_map, step, lower, upper, inits, results, _] = *params else { unreachable!("as declared") };
    let var = p.value()?;
    let var = p.argument_of(var, Type::INDEX)?;
    p.expect("=")?;
    parse_bound(p, lower_map, lower, true)?;
    let at = p.offset();
    if !p.eat_word("to") {
        return p.error_in_op(at, "expected 'to' between bounds");
    }
    parse_bound(p, upper_map, upper, false)?;
    let mut width = 1;
    if p.eat_word("step") {
        let at = p.offset();
        if !p.at_integer() {
            return p.error(at, "expected attribute value");
        }
        width = p.integer()?;
        if width < 0 {
            return p.error_in_op(at, "expected step to be representable as a positive signed integer");
        }
    }
    p.set_attr(step, p.ctx().int_attr(Type::INDEX, width));
    let mut args = vec![var];
    let mut types = Vec::new();
    if p.eat_word("iter_args") {
        p.expect("(")?;
        let pairs = p.list(")", |p| {
            let arg = p.value()?;
            p.expect("=")?;
            Ok((arg, p.value()?))
        })?;
        p.expect("->")?;
        types = p.result_types()?;
        if types.len() != pairs.len() {
            return p.error_of_op("mismatch between the number of loop-carried values and results");
        }
        for (&(arg, _), &ty) in pairs.iter().zip(&types) {
            args.push(p.argument_of(arg, ty)?);
        }
        p.set_operands(inits, pairs.into_iter().map(|(_, init)| init));
    }
    p.set_types(inits, types.clone());
    p.set_types(results, types);
    p.region(&args)?;
    Ok(())
}

/// Parses a bound: `10`, `%n`, `affine_map<...>(%n)` or, with several results, `max affine_map<...>(%n)`.
fn parse_bound(p: &mut OpParser<'_, '_>, map_to: Param, values_to: Param, lower: bool) -> ParseResult<()> {
    let prefixed = p.eat_word(if lower { "max" } else { "min" });
    let values = p.values()?;
    if !values.is_empty() {
        if values.len() > 1 {
            return p.error_of_op("expected only one loop bound operand");
        }
        return set_bound(p, map_to, values_to, AffineMap::symbol_identity(), values);
    }
    if p.at_integer() {
        let bound = p.number(Type::INDEX)?;
        let value = p.ctx().as_int(bound).unwrap_or_default();
        return set_bound(p, map_to, values_to, AffineMap::constant(value), Vec::new());
    }
    let at = p.offset();
    let attr = p.attr()?;
    let Some(map) = map_data(p.ctx(), attr) else {
        return p.error_of_op("expected valid affine map representation for loop bounds");
    };
    let (values, dims) = dims_and_symbols(p)?;
    if dims != map.num_dims as usize {
        return p.error_of_op("dim operand count and affine map dim count must match");
    }
    if values.len() != map.num_inputs() {
        return p.error_of_op("symbol operand count and affine map symbol count must match");
    }
    if map.results.len() > 1 && !prefixed {
        return match lower {
            true => p.error_in_op(at, "lower loop bound affine map with multiple results requires 'max' prefix"),
            false => p.error_in_op(at, "upper loop bound affine map with multiple results requires 'min' prefix"),
        };
    }
    p.set_attr(map_to, attr);
    p.set_operands(values_to, values);
    Ok(())
}

fn set_bound<'a>(
    p: &mut OpParser<'_, 'a>,
    map_to: Param,
    values_to: Param,
    map: AffineMap,
    values: Vec<ValueRef<'a>>,
) -> ParseResult<()> {
    p.set_attr(map_to, map_attr(p.ctx(), map));
    p.set_operands(values_to, values);
    Ok(())
}

fn print_for(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let [lower_map, upper_map, step, lower, upper, inits, results, region] = *params else {
        unreachable!("as declared")
    };
    let m = p.module();
    let region = p.region_at(region);
    let args: &[Value] = m.entry(region).map_or(&[], |entry| m.block_args(entry));
    p.values(&args[..args.len().min(1)]);
    p.text(" = ");
    print_bound(p, lower_map, lower, "max ");
    p.text(" to ");
    print_bound(p, upper_map, upper, "min ");
    let step = p.inherent(step).and_then(|a| p.ctx().as_int(a));
    if let Some(step) = step.filter(|&step| step != 1) {
        p.text(&format!(" step {step}"));
    }
    let inits = p.group(inits);
    if !inits.is_empty() {
        p.text(" iter_args(");
        p.list(args.iter().skip(1).zip(&inits), |p, (&arg, &init)| {
            p.value(arg);
            p.text(" = ");
            p.value(init);
        });
        p.text(") -> (");
        let types = p.group_types(results);
        p.types(&types);
        p.text(")");
    }
    p.text(" ");
    p.region(region, false, !inits.is_empty())
}

fn print_bound(p: &mut OpPrinter<'_, '_>, map: Param, values: Param, prefix: &str) {
    let (attr, values) = (p.inherent(map), p.group(values));
    let Some(map) = attr.and_then(|a| map_data(p.ctx(), a)) else { return };
    match (map.num_dims, map.num_symbols, &*map.results) {
        (0, 0, &[AffineExpr::Constant(value)]) => return p.text(&value.to_string()),
        (0, 1, [AffineExpr::Symbol(_)]) => return p.values(&values),
        (_, _, [_]) => {}
        _ => p.text(prefix),
    }
    print_map(p, attr, &values);
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let this = ForOp(op);
    let Some(bounds) = this.bounds(m) else { return Ok(()) };
    let args: &[Value] = m.entry(this.region(m)).map_or(&[], |entry| m.block_args(entry));
    if args.first().is_none_or(|&var| m.value_type(var) != Type::INDEX) {
        return Err("expected body to have a single index argument for the induction variable".into());
    }
    for (map, operands) in [(bounds.lower, this.lower_bound_operands(m)), (bounds.upper, this.upper_bound_operands(m))]
    {
        if operands.len() != map.num_inputs() {
            return Err("operand count and affine map dimension and symbol count must match".into());
        }
        check_identifiers(m, op, &operands, map.num_dims)?;
    }
    for (map, which) in [(bounds.lower, "lower"), (bounds.upper, "upper")] {
        if map.results.is_empty() {
            return Err(format!("expected {which} bound map to have at least one result").into());
        }
    }
    // The custom form has no other steps.
    if m.inherent_attr(op, "step").and_then(|step| m.ctx.as_int(step)).is_some_and(|step| step < 0) {
        return Err("expected step to be representable as a positive signed integer".into());
    }
    if this.inits(m).len() != m.num_results(op) {
        return Err("mismatch between the number of loop-carried values and results".into());
    }
    Ok(())
}

fn verify_regions(m: &Module, op: Op) -> Result<(), Violation> {
    let body = m.only_block(ForOp(op).region(m));
    let yielded = m.last_op(body).map_or(&[][..], |end| m.operands(end));
    verify_loop(m, op, &ForOp(op).inits(m), &m.block_args(body)[1..], yielded)
}

/// Returns the control-flow edges: inits enter the body; yielded values re-enter it or become the results.
fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    let first = m.operands(op).len() - ForOp(op).inits(m).len();
    let (out, body) = (Point::Op, Point::Region(0));
    smallvec::smallvec![
        Edge::new(out, body).carrying(first, 1),
        Edge::new(out, out).carrying(first, 0),
        Edge::new(body, body).carrying(0, 1),
        Edge::new(body, out),
    ]
}

fn counted(args: &OpArgs<'_>, data: &[Datum]) -> Result<Counted, Trap> {
    let map = |name| args.attr(name).and_then(|a| map_data(args.ctx(), a));
    let (Some(lower), Some(upper)) = (map("lowerBoundMap"), map("upperBoundMap")) else {
        return Err(Trap::unsupported("a loop without bounds"));
    };
    let step =
        args.int("step").filter(|&step| step > 0).ok_or_else(|| Trap::Ub("a loop has a non-positive step".into()))?;
    let (uppers, inits) = (lower.num_inputs(), lower.num_inputs() + upper.num_inputs());
    let first = bound(lower, &data[..uppers], i64::max)?;
    let end = bound(upper, &data[uppers..inits], i64::min)?;
    Ok(Counted {
        first: first.into(),
        end: end.into(),
        step: step.into(),
        inits,
        must_hold: Some(Count::new(args.ctx(), Type::INDEX, false)),
    })
}

impl ForOp {
    /// Returns lower and upper bound with their operands; `None` for an invalid op.
    pub fn applied_bounds(self, m: &Module) -> Option<[AffineValueMap; 2]> {
        let bounds = self.bounds(m)?;
        let bound = |map: &AffineMap, operands: ValueList| {
            (map.num_inputs() == operands.len()).then(|| AffineValueMap::map(map, &operands))
        };
        let lower = bound(bounds.lower, self.lower_bound_operands(m))?;
        Some([lower, bound(bounds.upper, self.upper_bound_operands(m))?])
    }
}

/// Simplifies a bound: folds constants, composes `affine.apply` ops, and removes redundant expressions.
pub fn simple_bound(m: &Module, bound: &AffineValueMap, lower: bool) -> AffineValueMap {
    if let Some(value) = constant_bound(m, bound, lower) {
        return AffineValueMap::map(&AffineMap::constant(value), &[]);
    }
    let mut new = bound.clone();
    new.compose(m);
    new.canonicalize(m);
    drop_redundant(m, &mut new, lower);
    new.drop_duplicates();
    // Different operands alone do not justify a change.
    if new.to_map() == bound.to_map() { bound.clone() } else { new }
}

fn constant_bound(m: &Module, bound: &AffineValueMap, lower: bool) -> Option<i64> {
    let values = fold_results(&bound.to_map(), |i| m.constant_int(bound.operands[i]))?;
    let values = values.into_iter().collect::<Option<Vec<i64>>>()?;
    if lower { values.into_iter().max() } else { values.into_iter().min() }
}

const PATTERNS: &[Pattern] = &[
    Pattern { name: "affine-for-bounds", run: simplify_bounds },
    Pattern { name: "affine-for-empty", run: empty_loop },
];

impl ForOp {
    /// Sets the bounds.
    pub(super) fn set_bounds(self, m: &mut Module, [lower, upper]: &[AffineValueMap; 2]) {
        let ctx = m.ctx.clone();
        let groups = [&lower.operands[..], &upper.operands, &self.inits(m)];
        let segments = ctx.i32_array_attr(&groups.map(|group| group.len() as i32));
        let operands = groups.concat();
        m.set_attr(self.0, "lowerBoundMap", Some(lower.to_attr(&ctx)));
        m.set_attr(self.0, "upperBoundMap", Some(upper.to_attr(&ctx)));
        m.set_attr(self.0, "operandSegmentSizes", Some(segments));
        m.set_operands(self.0, &operands);
    }

    /// Creates a loop without loop-carried values whose body holds only a terminator.
    pub fn with_bounds(b: &mut Builder<'_>, loc: Loc, [lower, upper]: &[AffineValueMap; 2], step: i64) -> ForOp {
        let ctx = b.module.ctx.clone();
        let (below, above) = (lower.to_attr(&ctx), upper.to_attr(&ctx));
        let step = ctx.int_attr(Type::INDEX, step);
        let this = ForOp::build(b, loc, &lower.operands, &upper.operands, &[], below, above, step, &[]);
        let m = &mut *b.module;
        let body = m.add_block(this.region(m));
        m.add_block_arg(body, Type::INDEX, loc);
        YieldOp::build(&mut Builder::at_end(m, body), loc, &[], &[]);
        this
    }
}

fn simplify_bounds(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(old) = ForOp(op).applied_bounds(m) else { return false };
    let new = [simple_bound(m, &old[0], true), simple_bound(m, &old[1], false)];
    if new == old {
        return false;
    }
    rw.modify(op, |m| ForOp(op).set_bounds(m, &new));
    true
}

impl ForOp {
    /// Returns the results of a loop that needs no execution: the inits if `trips` is 0, or the yielded values if the
    /// body computes nothing.
    pub fn trivial_results(self, m: &Module, trips: Option<u64>) -> Option<ValueList> {
        let inits = self.inits(m);
        if trips == Some(0) {
            return Some(inits);
        }
        let entry = m.entry(self.region(m))?;
        let end = m.last_op(entry).filter(|&last| m.first_op(entry) == Some(last))?;
        let result = |(i, &value): (usize, &Value)| match m.def(value) {
            // Computing the last induction value would need a new op.
            Def::Arg(block, 0) if block == entry => None,
            Def::Arg(block, arg) if block == entry => {
                let kept = arg as usize == i + 1 || trips == Some(1);
                kept.then(|| inits[arg as usize - 1])
            }
            _ => trips.map(|_| value),
        };
        m.operands(end).iter().enumerate().map(result).collect()
    }
}

fn empty_loop(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (m, this) = (rw.module(), ForOp(op));
    let trips = this.bounds(m).and_then(|bounds| bounds.trip_count());
    if m.num_results(op) == 0 && trips != Some(0) {
        return false;
    }
    let Some(values) = this.trivial_results(m, trips) else { return false };
    rw.replace(op, &values);
    true
}
