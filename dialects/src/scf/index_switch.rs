//! `scf.index_switch`.

use super::{YieldOp, one_block_each};
use crate::constraint::{ANY, I64_ARRAY, INDEX};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rewrite::forwarding;
use gradus_ir::{
    Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult, Pattern, Region, Rewriter,
    Traits, Violation, op,
};
use smallvec::SmallVec;

/// Switch on an index: executes the region of the equal case, or the default region.
///
/// ```mlir
/// func.func @two(%i: index, %x: i32, %y: i32) -> i32 {
///   %0 = scf.index_switch %i -> i32
///   case 2 {
///     scf.yield %x : i32
///   }
///   default {
///     scf.yield %y : i32
///   }
///   return %0 : i32
/// }
/// ```
#[op(
    "scf.index_switch",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    implicit_terminator = "scf.yield",
    verify = verify,
    edges = edges,
    control = control,
    patterns = &[
        forwarding::FORWARD,
        forwarding::MERGE,
        forwarding::DROP,
        Pattern { name: "known-case", run: known_case },
    ],
    directives = &[&CASES],
    format = "$arg attr-dict (`->` type($results)^)? custom<SwitchCases>($cases, $defaultRegion)"
)]
pub struct IndexSwitchOp {
    /// Index.
    arg: Operand<INDEX>,
    /// Case values.
    cases: Attribute<I64_ARRAY>,
    /// Values yielded by the executed region.
    results: OpResults<ANY>,
    /// Region executed if no case matches.
    #[name = "defaultRegion"]
    default_region: Region,
    /// Regions of the cases.
    #[name = "caseRegions"]
    case_regions: Regions,
}

const CASES: Directive = Directive { name: "SwitchCases", parse, print };

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let mut values = Vec::new();
    while p.eat_word("case") {
        values.push(p.integer()?);
        p.terminated_region()?;
    }
    let attr = p.ctx().i64_array_attr(&values);
    p.set_attr(params[0], attr);
    p.expect_word("default")?;
    p.region(&[])?;
    p.move_last_region_first();
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, _: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), IndexSwitchOp(p.op));
    for (value, &region) in values(m, op).into_iter().zip(op.case_regions(m)) {
        p.newline();
        p.text(&format!("case {value} "));
        p.region(region, false, true)?;
    }
    p.newline();
    p.text("default ");
    p.body(op.default_region(m), false)
}

fn values(m: &Module, op: IndexSwitchOp) -> Vec<i64> {
    op.cases(m).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..m.regions(op).len())?;
    let this = IndexSwitchOp(op);
    let values = values(m, this);
    let regions = this.case_regions(m);
    if values.len() != regions.len() {
        return Err(format!("has {} case regions but {} case values", regions.len(), values.len()).into());
    }
    let mut sorted = values;
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("has duplicate case value: {}", twice[0]).into());
    }
    verify_region(m, op, this.default_region(m), "default region")?;
    regions.iter().enumerate().try_for_each(|(i, &r)| verify_region(m, op, r, &format!("case region #{i}")))
}

fn verify_region(m: &Module, op: Op, region: Region, name: &str) -> Result<(), Violation> {
    let Some(end) = m.last_op(m.only_block(region)) else { return Ok(()) };
    let Some(end) = YieldOp::cast(m, end) else {
        return Err(format!("expected region to end with scf.yield, but got {}", m.name_text(end)).into());
    };
    let (want, have) = (m.num_results(op), end.results(m).len());
    if want != have {
        return Err(format!("expected each region to return {want} values, but {name} returns {have}").into());
    }
    let types = m.results(op).zip(end.results(m)).map(|(result, value)| (m.value_type(result), m.value_type(value)));
    match types.enumerate().find(|(_, (want, have))| want != have) {
        Some((i, (want, _))) => {
            Err(format!("expected result #{i} of each region to be '{}'", m.ctx.display_type(want)).into())
        }
        None => Ok(()),
    }
}

fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    let regions = (0..m.regions(op).len()).map(Point::Region);
    regions.flat_map(|r| [Edge::new(Point::Op, r).carrying(1, 0), Edge::new(r, Point::Op)]).collect()
}

/// Returns the index of the region for a value.
fn region_for(cases: &[i64], value: i64) -> usize {
    cases.iter().position(|&case| case == value).map_or(0, |i| i + 1)
}

fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    Ok(match event {
        Event::Enter => {
            Next::Region(region_for(&args.ints("cases").unwrap_or_default(), data[0].decide()?), Vec::new())
        }
        Event::Left { yielded, .. } => Next::Done(yielded.to_vec()),
    })
}

fn known_case(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IndexSwitchOp(op);
    let Some(value) = m.constant_int(this.arg(m)) else { return false };
    let region = m.regions(op)[region_for(&values(m, this), value)];
    rw.replace_with_region(op, region, &[]);
    true
}
