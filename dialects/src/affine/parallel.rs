//! `affine.parallel`.

use super::reduction::{REDUCTIONS, ReductionKind};
use super::scope::{DimValues, check_identifiers};
use super::text::{AffineNames, map_data, print_exprs};
use super::value_map::AffineValueMap;
use super::{MAP, results};
use crate::constraint::{ANY, INDEX, kind};
use crate::scf::iteration_space::IterationSpace;
use gradus_ir::affine::AffineMap;
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, AttrData, AttrKind, Context, Dense, Directive, Effects, Module, Op, OpArgs, OpParser, OpPrinter, Param,
    ParseResult, Pattern, Rewriter, Traits, Type, Value, Violation, op,
};
use smallvec::SmallVec;

/// A list of reduction kinds.
const REDUCTION_LIST: AttrKind = kind("Reduction ops", |c, a| {
    let is_kind =
        |&e: &Attr| c.attr_type(e) == Some(Type::I64) && c.as_int(e).is_some_and(|k| ReductionKind::of(k).is_some());
    c.as_array(a).is_some_and(|list| list.iter().all(is_kind))
});

/// Dense 32-bit integers.
const GROUPS: AttrKind = kind(
    "32-bit signless integer elements attribute",
    |c, a| matches!(c.attr_data(a), AttrData::Dense(dense) if c.element_type(dense.ty) == Type::I32),
);

/// 64-bit integers.
const STEPS: AttrKind = kind("64-bit integer array attribute", |c, a| {
    let is_step = |&e: &Attr| c.attr_type(e) == Some(Type::I64) && c.as_int(e).is_some();
    c.as_array(a).is_some_and(|list| list.iter().all(is_step))
});

/// Parallel loop nest over a hyper-rectangle; iterations may run in any order.
///
/// Each induction variable goes from the maximum of its group of lower bounds to the minimum of its group of upper
/// bounds, exclusive. The yielded values of all iterations are reduced to the results.
///
/// ```mlir
/// %sum = affine.parallel (%i, %j) = (0, max(%a, 3)) to (10, min(%n, 20)) step (1, 2) reduce ("addf") -> (f32) {
///   %x = affine.load %m[%i, %j] : memref<10x20xf32>
///   affine.yield %x : f32
/// }
/// ```
#[op(
    "affine.parallel",
    traits = Traits::SINGLE_BLOCK.and(Traits::PARALLEL).and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "affine.yield",
    format = "custom<Parallel>($reductions, $lowerBoundsMap, $lowerBoundsGroups, $upperBoundsMap, $upperBoundsGroups, $steps, $mapOperands, type($results), $region) attr-dict",
    directives = &[&PARALLEL],
    verify = verify,
    control = control,
    edges = edges,
    patterns = &[SIMPLIFY_BOUNDS, ZERO_TRIP],
    extensions = &[&DimValues::Args(u32::MAX)]
)]
pub struct ParallelOp {
    /// Reduction kind of each result.
    reductions: Attribute<REDUCTION_LIST>,
    /// Lower bounds of all variables.
    #[name = "lowerBoundsMap"]
    lower_bounds_map: Attribute<MAP>,
    /// Number of lower bounds per variable.
    #[name = "lowerBoundsGroups"]
    lower_bounds_groups: Attribute<GROUPS>,
    /// Upper bounds of all variables.
    #[name = "upperBoundsMap"]
    upper_bounds_map: Attribute<MAP>,
    /// Number of upper bounds per variable.
    #[name = "upperBoundsGroups"]
    upper_bounds_groups: Attribute<GROUPS>,
    /// Step per variable.
    steps: Attribute<STEPS>,
    /// Operands of the lower bound map, then of the upper bound map.
    #[name = "mapOperands"]
    map_operands: Operands<INDEX>,
    /// Reduced values.
    results: OpResults<ANY>,
    /// Body; its arguments are the induction variables.
    region: Region,
}

/// A bound map whose results are grouped by variable.
#[derive(Clone, Debug)]
pub struct GroupedBounds<'m> {
    /// Bounds of all variables.
    pub map: &'m AffineMap,
    /// Number of bounds per variable.
    pub groups: Vec<i64>,
}

impl GroupedBounds<'_> {
    /// Returns the range of map results of each variable.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.groups.iter().scan(0, |start, &n| {
            let end = *start + usize::try_from(n).unwrap_or(0);
            Some(std::mem::replace(start, end)..end)
        })
    }
}

impl ParallelOp {
    /// Returns lower and upper bounds; `None` for an invalid op.
    pub fn bounds(self, m: &Module) -> Option<[GroupedBounds<'_>; 2]> {
        bounds(&m.args(self.0)?)
    }

    /// Returns the steps.
    pub fn step_sizes(self, m: &Module) -> Vec<i64> {
        self.steps(m).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
    }

    /// Returns the reduction kinds.
    pub fn kinds(self, m: &Module) -> Vec<&'static ReductionKind> {
        m.args(self.0).map(|args| kinds(&args)).unwrap_or_default()
    }
}

fn bounds<'m>(args: &OpArgs<'m>) -> Option<[GroupedBounds<'m>; 2]> {
    let ctx = args.ctx();
    let bounds = |map, groups| {
        let map = map_data(ctx, args.attr(map)?)?;
        Some(GroupedBounds { map, groups: group_sizes(ctx, args.attr(groups)?, map.results.len())? })
    };
    Some([bounds("lowerBoundsMap", "lowerBoundsGroups")?, bounds("upperBoundsMap", "upperBoundsGroups")?])
}

/// Returns the elements of a group attribute, which are nonnegative and sum to `total`.
fn group_sizes(ctx: &Context, attr: Attr, total: usize) -> Option<Vec<i64>> {
    let sizes = ctx.dense_tensor(attr)?.to_i64()?;
    let sum = sizes.iter().try_fold(0i64, |sum, &n| if n < 0 { None } else { sum.checked_add(n) });
    (sum == i64::try_from(total).ok()).then_some(sizes)
}

fn kinds(args: &OpArgs<'_>) -> Vec<&'static ReductionKind> {
    let numbers = args.attr("reductions").and_then(|a| args.ctx().as_ints(a)).unwrap_or_default();
    numbers.into_iter().filter_map(ReductionKind::of).collect()
}

/// `(%i) = (0) to (min(%n, 10)) step (2) reduce ("addf") -> (f32) {...}`
const PARALLEL: Directive = Directive { name: "Parallel", parse: parse_parallel, print: print_parallel };

fn parse_parallel(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let ctx = p.ctx();
    p.expect("(")?;
    let vars = p.list(")", |p| {
        let var = p.value()?;
        p.argument_of(var, Type::INDEX)
    })?;
    p.expect("=")?;
    let mut operands = parse_bounds(p, params[1], params[2], "max")?;
    p.expect_word("to")?;
    operands.extend(parse_bounds(p, params[3], params[4], "min")?);
    p.set_operands(params[6], operands);
    let steps = match p.eat_word("step") {
        true => {
            p.expect("(")?;
            p.list(")", OpParser::integer)?
        }
        false => vec![1; vars.len()],
    };
    let i64s = |values: &mut dyn Iterator<Item = i64>| {
        ctx.array_attr(&values.map(|v| ctx.int_attr(Type::I64, v)).collect::<Vec<Attr>>())
    };
    p.set_attr(params[5], i64s(&mut steps.into_iter()));
    let (mut reductions, mut types) = (Vec::new(), Vec::new());
    if p.eat_word("reduce") {
        p.expect("(")?;
        reductions = p.list(")", parse_kind)?;
    }
    if p.eat("->") {
        types = p.result_types()?;
    }
    p.set_attr(params[0], i64s(&mut reductions.into_iter()));
    p.set_types(params[7], types);
    p.region(&vars)?;
    Ok(())
}

fn parse_kind(p: &mut OpParser<'_, '_>) -> ParseResult<i64> {
    let at = p.offset();
    let attr = p.attr()?;
    let Some(word) = p.ctx().as_str(attr) else { return p.error(at, "expected a reduction in quotes") };
    match REDUCTIONS.iter().find(|kind| kind.word == word) {
        Some(kind) => Ok(kind.number),
        None => p.error_in_op(at, &format!("invalid reduction value: {}", p.ctx().display_attr(attr))),
    }
}

/// Parses `(0, max(%a, 3))` as map, groups and operands.
fn parse_bounds<'a>(
    p: &mut OpParser<'_, 'a>,
    map_to: Param,
    groups_to: Param,
    word: &str,
) -> ParseResult<Vec<gradus_ir::ValueRef<'a>>> {
    let (mut names, mut exprs) = (AffineNames::default(), Vec::new());
    p.expect("(")?;
    let groups = p.list(")", |p| {
        if !p.eat_word(word) {
            exprs.push(names.expr(p)?);
            return Ok(1);
        }
        p.expect("(")?;
        let group = p.list(")", |p| names.expr(p))?;
        let n = group.len() as i32;
        exprs.extend(group);
        Ok(n)
    })?;
    let (map, values) = names.finish(p, exprs);
    p.set_attr(map_to, map);
    let attr = groups_attr(p.ctx(), &groups);
    p.set_attr(groups_to, attr);
    Ok(values)
}

/// `dense<[1, 2]> : tensor<2xi32>`
fn groups_attr(ctx: &Context, groups: &[i32]) -> Attr {
    let ty = ctx.tensor_type(&[groups.len() as i64], Type::I32);
    let splat = groups.windows(2).all(|w| w[0] == w[1]) && !groups.is_empty();
    let stored = if splat { &groups[..1] } else { groups };
    let data: Vec<u8> = stored.iter().flat_map(|n| n.to_le_bytes()).collect();
    ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, splat, data))))
}

fn print_parallel(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, this) = (p.module(), ParallelOp(p.op));
    let region = p.region_at(params[8]);
    p.text("(");
    p.values(m.entry(region).map_or(&[], |entry| m.block_args(entry)));
    p.text(") = (");
    if let Some([lower, upper]) = this.bounds(m) {
        let operands = p.group(params[6]);
        let (below, above) = operands.split_at(lower.map.num_inputs().min(operands.len()));
        print_bounds(p, &lower, below, "max(");
        p.text(") to (");
        print_bounds(p, &upper, above, "min(");
    }
    p.text(")");
    let steps = this.step_sizes(m);
    if steps.iter().any(|&step| step != 1) {
        p.text(" step (");
        p.list(steps, |p, step| p.text(&step.to_string()));
        p.text(")");
    }
    let results = p.group_types(params[7]);
    if !results.is_empty() {
        p.text(" reduce (");
        p.list(this.kinds(m), |p, kind| p.text(&format!("\"{}\"", kind.word)));
        p.text(") -> (");
        p.types(&results);
        p.text(")");
    }
    p.text(" ");
    p.region(region, false, !results.is_empty())
}

fn print_bounds(p: &mut OpPrinter<'_, '_>, bounds: &GroupedBounds<'_>, values: &[Value], word: &str) {
    p.list(bounds.ranges(), |p, range| {
        let single = range.len() == 1;
        p.text(if single { "" } else { word });
        print_exprs(p, &bounds.map.results[range], bounds.map.num_dims, values);
        p.text(if single { "" } else { ")" });
    });
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let this = ParallelOp(op);
    let vars = m.entry(this.region(m)).map_or(0, |entry| m.block_args(entry).len());
    let count = |attr: Option<Attr>| match attr.map(|a| m.ctx.attr_data(a)) {
        Some(AttrData::Dense(dense)) => m.ctx.static_shape(dense.ty).map_or(0, |s| s.iter().product::<i64>()),
        _ => 0,
    };
    let (lower, upper) = (count(this.lower_bounds_groups(m)), count(this.upper_bounds_groups(m)));
    let step_sizes = this.step_sizes(m);
    let steps = step_sizes.len();
    if [lower, upper, steps as i64].iter().any(|&n| n != vars as i64) {
        return Err(format!(
            "the number of region arguments ({vars}) and the number of map groups for lower ({lower}) and upper bound ({upper}), and the number of steps ({steps}) must all match"
        ).into());
    }
    // As scf.parallel, which it becomes, asks of constants.
    if let Some(step) = step_sizes.iter().find(|&&step| step <= 0) {
        return Err(format!("expected each step to be positive, but found {step}").into());
    }
    let Some([lower, upper]) = this.bounds(m) else { return Err(wrong_groups(m, this).into()) };
    if lower.groups.contains(&0) || upper.groups.contains(&0) {
        return Err("expected at least one bound for each variable".into());
    }
    let kinds = this.kinds(m);
    if kinds.len() != m.num_results(op) {
        return Err("a reduction must be specified for each output".into());
    }
    for (kind, result) in kinds.iter().zip(m.results(op)) {
        if !kind.fits(&m.ctx, m.value_type(result)) {
            return Err("result type cannot match reduction attribute".into());
        }
    }
    let operands = m.operands(op);
    if operands.len() != lower.map.num_inputs() + upper.map.num_inputs() {
        return Err("operand count and affine map dimension and symbol count must match".into());
    }
    let (below, above) = operands.split_at(lower.map.num_inputs());
    check_identifiers(m, op, below, lower.map.num_dims)?;
    check_identifiers(m, op, above, upper.map.num_dims)?;
    let args: &[Value] = m.entry(this.region(m)).map_or(&[], |entry| m.block_args(entry));
    match args.iter().all(|&arg| m.value_type(arg) == Type::INDEX) {
        true => Ok(()),
        false => Err("expected the induction variables to be of type index".into()),
    }
}

/// Describes which groups do not sum to the number of map results.
fn wrong_groups(m: &Module, this: ParallelOp) -> String {
    let sum = |attr: Option<Attr>| -> i128 {
        let sizes = attr.and_then(|a| m.ctx.dense_tensor(a)).and_then(|t| t.to_i64()).unwrap_or_default();
        sizes.into_iter().map(i128::from).sum()
    };
    let lower = this.lower_bounds_map(m).and_then(|a| map_data(&m.ctx, a)).map_or(0, |map| map.results.len());
    let groups = this.lower_bounds_groups(m);
    if groups.is_none_or(|a| group_sizes(&m.ctx, a, lower).is_none()) {
        return format!("expected lower bounds map to have {} results", sum(groups));
    }
    format!("expected upper bounds map to have {} results", sum(this.upper_bounds_groups(m)))
}

fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    // The op creates the induction variables, and the results combine all iterations.
    let (operands, vars) =
        (m.operands(op).len(), m.entry(ParallelOp(op).region(m)).map_or(0, |b| m.block_args(b).len()));
    smallvec::smallvec![
        Edge::new(Point::Op, Point::Region(0)).carrying(operands, vars),
        Edge::new(Point::Op, Point::Op).carrying(operands, m.num_results(op)),
        Edge::new(Point::Region(0), Point::Region(0)).carrying(m.num_results(op), vars),
        Edge::new(Point::Region(0), Point::Op).carrying(m.num_results(op), m.num_results(op)),
    ]
}

/// Executes sequentially, last variable fastest. The reduced values follow the region's arguments.
fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    let [lower, upper] = bounds(args).ok_or_else(|| Trap::unsupported("a loop without bounds"))?;
    let steps = args.ints("steps").unwrap_or_default();
    let split = lower.map.num_inputs().min(data.len());
    let first = extremes(&lower, &data[..split], |values| values.iter().max())?;
    let end = extremes(&upper, &data[split..], |values| values.iter().min())?;
    if steps.len() != first.len() {
        return Err(Trap::unsupported("a variable without a step"));
    }
    let (rank, space) = (steps.len(), IterationSpace::new(first, end, steps)?);
    let kinds = kinds(args);
    let (at, entered, yielded) = match event {
        Event::Enter => {
            // Without an identity, as for `assign`, there is no value before the first iteration.
            let identity =
                |kind: &ReductionKind, ty| kind.identity(args.ctx(), ty).and_then(|a| args.ctx().attr_datum(a));
            let identities =
                kinds.iter().zip(args.result_types).map(|(k, &ty)| identity(k, ty).unwrap_or(Datum::Poison));
            let identities: Vec<Datum> = identities.collect();
            return Ok(space.enter(identities));
        }
        Event::Left { args, yielded, .. } => (&args[..rank], &args[rank..], yielded),
    };
    let values = args.op.into_iter().flat_map(|op| args.module.results(op));
    let reduced = kinds
        .iter()
        .zip(values)
        .enumerate()
        .map(|(i, (kind, value))| kind.combine(args, value, entered[i].clone(), yielded[i].clone()));
    let reduced = reduced.collect::<Result<Vec<Datum>, Trap>>()?;
    Ok(IterationSpace::continue_at(space.next(at)?, reduced))
}

/// Evaluates the bound of each variable.
fn extremes(bounds: &GroupedBounds<'_>, data: &[Datum], pick: fn(&[i64]) -> Option<&i64>) -> Result<Vec<i64>, Trap> {
    if bounds.map.results.is_empty() {
        return Ok(Vec::new());
    }
    let values = results(bounds.map, data)?;
    let empty = || Trap::unsupported("a variable without bounds");
    bounds.ranges().map(|range| pick(&values[range]).copied().ok_or_else(empty)).collect()
}

const SIMPLIFY_BOUNDS: Pattern = Pattern { name: "affine-parallel-bounds", run: simplify_bounds };

impl ParallelOp {
    /// Returns lower and upper bounds with their operands, simplified.
    pub fn simple_bounds(self, m: &Module) -> Option<[AffineValueMap; 2]> {
        let [mut lower, mut upper] = self.applied_bounds(m)?;
        lower.compose(m);
        upper.compose(m);
        Some([lower, upper])
    }

    fn applied_bounds(self, m: &Module) -> Option<[AffineValueMap; 2]> {
        let [lower, upper] = self.bounds(m)?;
        let (operands, split) = (m.operands(self.0), lower.map.num_inputs());
        let fits = operands.len() == split + upper.map.num_inputs();
        fits.then(|| {
            [AffineValueMap::map(lower.map, &operands[..split]), AffineValueMap::map(upper.map, &operands[split..])]
        })
    }
}

fn simplify_bounds(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(new) = ParallelOp(op).simple_bounds(m) else { return false };
    if Some(&new) == ParallelOp(op).applied_bounds(m).as_ref() {
        return false;
    }
    let ctx = m.ctx.clone();
    let [lower, upper] = new;
    let (below, above) = (lower.to_attr(&ctx), upper.to_attr(&ctx));
    let operands = [lower.operands, upper.operands].concat();
    rw.modify(op, |m| {
        m.set_attr(op, "lowerBoundsMap", Some(below));
        m.set_attr(op, "upperBoundsMap", Some(above));
        m.set_operands(op, &operands);
    });
    true
}

/// Erases a loop without iterations and results.
const ZERO_TRIP: Pattern = Pattern { name: "affine-parallel-zero-trip", run: zero_trip };

fn zero_trip(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some([lower, upper]) = ParallelOp(op).bounds(m).filter(|_| m.num_results(op) == 0) else { return false };
    let constants = |bounds: &GroupedBounds<'_>, range: std::ops::Range<usize>| {
        bounds.map.results[range].iter().filter_map(gradus_ir::affine::AffineExpr::constant).collect::<Vec<i64>>()
    };
    // One lower bound at or above one upper bound suffices.
    let empty = lower.ranges().zip(upper.ranges()).any(|(below, above)| {
        let (first, end) = (constants(&lower, below), constants(&upper, above));
        first.iter().max().zip(end.iter().min()).is_some_and(|(first, end)| first >= end)
    });
    if empty {
        rw.erase(op);
    }
    empty
}
