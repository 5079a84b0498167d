//! `affine.if`.

use super::SET;
use super::scope::check_identifiers;
use super::text::{dims_and_symbols, print_map, set_data};
use super::value_map::AffineValueMap;
use crate::constraint::ANY;
use gradus_ir::affine::{AffineExpr, IntegerSet};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    AttrData, Directive, Effects, Module, Op, OpArgs, OpParser, OpPrinter, Param, ParseResult, Pattern,
    PatternRewriter, Rewriter, Traits, Value, Violation, op,
};
use smallvec::SmallVec;

/// Conditional on membership of the operands in an integer set.
///
/// Runs `thenRegion` if all constraints of the set hold, else `elseRegion`, which may be empty.
///
/// ```mlir
/// affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, s0 - d0 >= 0)>(%i)[%n] {
///   affine.store %v, %m[%i] : memref<?xf32>
/// } else {
///   affine.store %v, %m[0] : memref<?xf32>
/// }
/// ```
#[op(
    "affine.if",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    implicit_terminator = "affine.yield",
    format = "custom<If>($condition, $operands, type($results), $thenRegion, $elseRegion) attr-dict",
    directives = &[&IF],
    verify = verify,
    control = control,
    edges = edges,
    patterns = PATTERNS
)]
pub struct IfOp {
    /// Integer set.
    condition: Attribute<SET>,
    /// Operands of the set: dimensions, then symbols.
    operands: Operands<ANY>,
    /// Values yielded by the executed region.
    results: OpResults<ANY>,
    /// Region executed if the constraints hold.
    #[name = "thenRegion"]
    then_region: Region,
    /// Region executed otherwise; may have no block.
    #[name = "elseRegion"]
    else_region: Region,
}

/// `affine_set<...>(%d)[%s] -> f32 {...} else {...}`
const IF: Directive = Directive { name: "If", parse: parse_if, print: print_if };

fn parse_if(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let at = p.offset();
    let attr = p.attr()?;
    let Some(set) = set_data(p.ctx(), attr) else { return p.error_in_op(at, "invalid kind of attribute specified") };
    p.set_attr(params[0], attr);
    let (values, dims) = dims_and_symbols(p)?;
    if dims != set.num_dims as usize {
        return p.error_of_op("dim operand count and integer set dim count must match");
    }
    if values.len() != set.num_inputs() {
        return p.error_of_op("symbol operand count and integer set symbol count must match");
    }
    let types = values.iter().map(|_| gradus_ir::Type::INDEX).collect();
    p.set_operands(params[1], values);
    p.set_types(params[1], types);
    let results = if p.eat("->") { p.result_types()? } else { Vec::new() };
    p.set_types(params[2], results);
    p.region(&[])?;
    if p.eat_word("else") {
        p.region(&[])?;
    } else {
        p.empty_region();
    }
    Ok(())
}

fn print_if(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let values = p.group(params[1]);
    print_map(p, p.inherent(params[0]), &values);
    let results = p.group_types(params[2]);
    if !results.is_empty() {
        p.text(" -> ");
        p.result_types(&results);
    }
    p.text(" ");
    p.region(p.region_at(params[3]), false, !results.is_empty())?;
    let otherwise = p.region_at(params[4]);
    if p.module().entry(otherwise).is_some() {
        p.text(" else ");
        p.region(otherwise, false, !results.is_empty())?;
    }
    Ok(())
}

impl IfOp {
    /// Returns the set; `None` for an invalid op.
    fn set(self, m: &Module) -> Option<&IntegerSet> {
        set_data(&m.ctx, self.condition(m)?).filter(|set| set.num_inputs() == m.operands(self.0).len())
    }
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let this = IfOp(op);
    let Some(set) = this.set(m) else {
        return Err("operand count and condition integer set dimension and symbol count must match".into());
    };
    if m.entry(this.then_region(m)).is_none() {
        return Err("region #0 ('thenRegion') failed to verify constraint: region with 1 blocks".into());
    }
    for (i, region) in [this.then_region(m), this.else_region(m)].into_iter().enumerate() {
        if m.entry(region).is_some_and(|entry| !m.block_args(entry).is_empty()) {
            return Err(format!("region #{i} should have no arguments").into());
        }
    }
    check_identifiers(m, op, m.operands(op), set.num_dims)
}

fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    // The regions have no arguments.
    let operands = m.operands(op).len();
    let mut edges = smallvec::smallvec![
        Edge::new(Point::Op, Point::Region(0)).carrying(operands, 0),
        Edge::new(Point::Region(0), Point::Op),
    ];
    if m.entry(IfOp(op).else_region(m)).is_some() {
        edges.push(Edge::new(Point::Op, Point::Region(1)).carrying(operands, 0));
        edges.push(Edge::new(Point::Region(1), Point::Op));
    } else {
        edges.push(Edge::new(Point::Op, Point::Op).carrying(operands, 0));
    }
    edges
}

fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    if let Event::Left { yielded, .. } = event {
        return Ok(Next::Done(yielded.to_vec()));
    }
    let set = args.attr("condition").and_then(|a| set_data(args.ctx(), a));
    let set = set.ok_or_else(|| Trap::unsupported("a condition without its set"))?;
    let exprs: Vec<AffineExpr> = set.constraints.iter().map(|c| c.0.clone()).collect();
    let map = gradus_ir::affine::AffineMap::new(set.num_dims, set.num_symbols, exprs);
    let values = super::results(&map, data)?;
    let inside = values.iter().zip(&set.constraints).all(|(&v, c)| if c.1 { v == 0 } else { v >= 0 });
    // An absent region yields nothing.
    Ok(Next::Region(usize::from(!inside), Vec::new()))
}

const PATTERNS: &[Pattern] = &[
    Pattern { name: "affine-if-compose", run: compose },
    Pattern { name: "affine-if-empty-else", run: empty_else },
    Pattern { name: "affine-if-known", run: known },
];

impl IfOp {
    /// Returns the set with its operands, composed with `affine.apply` ops and simplified.
    pub fn simple_condition(self, m: &Module) -> Option<(IntegerSet, Vec<Value>)> {
        let set = self.set(m)?;
        let mut applied = AffineValueMap::set(set, m.operands(self.0));
        if applied.has_applies(m) {
            applied.compose(m);
        }
        applied.canonicalize(m);
        Some((applied.to_set(set), applied.operands))
    }
}

fn compose(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some((set, operands)) = IfOp(op).simple_condition(m) else { return false };
    if Some(&set) == IfOp(op).set(m) && operands == m.operands(op) {
        return false;
    }
    let attr = m.ctx.attr(AttrData::IntegerSet(Box::new(set)));
    rw.modify(op, |m| {
        m.set_attr(op, "condition", Some(attr));
        m.set_operands(op, &operands);
    });
    true
}

/// Removes an else region that does nothing.
fn empty_else(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(entry) = m.entry(IfOp(op).else_region(m)).filter(|_| m.num_results(op) == 0) else { return false };
    if m.first_op(entry).is_none_or(|first| m.last_op(entry) != Some(first)) {
        return false;
    }
    rw.erase_block(entry);
    true
}

/// Inlines the executed region of a constant condition.
fn known(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IfOp(op);
    let Some(holds) = this.set(m).and_then(always) else { return false };
    let region = if holds { this.then_region(m) } else { this.else_region(m) };
    match m.entry(region) {
        Some(_) => rw.replace_with_region(op, region, &[]),
        None => rw.erase(op),
    }
    true
}

/// Returns the value of a constant condition: false if a constraint fails, true if all hold.
fn always(set: &IntegerSet) -> Option<bool> {
    let holds = |(expr, equality): &(AffineExpr, bool)| {
        let value = expr.constant()?;
        Some(if *equality { value == 0 } else { value >= 0 })
    };
    let known: Vec<Option<bool>> = set.constraints.iter().map(holds).collect();
    if known.contains(&Some(false)) {
        return Some(false);
    }
    known.iter().all(|&k| k == Some(true)).then_some(true)
}
