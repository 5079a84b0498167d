//! `scf.execute_region`.

use super::YieldOp;
use super::text::arrow_types;
use crate::cf::BranchOp;
use crate::constraint::{ANY, UNIT};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rewrite::forwarding;
use gradus_ir::{
    Attr, Block, Directive, Effects, InsertPoint, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult,
    Pattern, PatternRewriter, Rewriter, Traits, Value, Violation, op,
};
use smallvec::smallvec;

/// Executes a region of one or more blocks exactly once, where the parent region must have a single block.
///
/// ```mlir
/// %0 = scf.execute_region -> i32 {
///   cf.br ^next
/// ^next:
///   scf.yield %x : i32
/// }
/// ```
#[op(
    "scf.execute_region",
    effects = Effects::Recursive,
    verify = verify,
    edges = |_, _| smallvec![Edge::new(Point::Op, Point::Region(0)), Edge::new(Point::Region(0), Point::Op)],
    control = control,
    patterns = &[
        forwarding::FORWARD,
        forwarding::MERGE,
        forwarding::DROP,
        Pattern { name: "inline-block", run: inline_block },
        Pattern { name: "inline-blocks", run: inline_blocks },
    ],
    directives = &[&EXECUTE_REGION],
    format = "custom<ExecuteRegion>($no_inline, $results, $region) attr-dict"
)]
pub struct ExecuteRegionOp {
    /// Whether the region must not be inlined.
    no_inline: OptAttribute<UNIT>,
    /// Values yielded by the region.
    results: OpResults<ANY>,
    /// Region to execute.
    region: Region,
}

const EXECUTE_REGION: Directive = Directive { name: "ExecuteRegion", parse, print };

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let types = arrow_types(p)?;
    p.set_types(params[1], types);
    if p.eat_word("no_inline") {
        p.set_attr(params[0], Attr::UNIT);
    }
    p.region(&[])?;
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), ExecuteRegionOp(p.op));
    let types = p.group_types(params[1]);
    if !types.is_empty() {
        p.text("-> ");
        p.result_types(&types);
        p.text(" ");
    }
    if op.no_inline(m).is_some() {
        p.text("no_inline ");
    }
    p.region(op.region(m), false, true)
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(entry) = m.entry(ExecuteRegionOp(op).region(m)) else {
        return Err("region needs to have at least one block".into());
    };
    if m.block_args(entry).is_empty() { Ok(()) } else { Err("region cannot have any arguments".into()) }
}

fn control(_: &OpArgs<'_>, _: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    Ok(match event {
        Event::Enter => Next::Region(0, Vec::new()),
        Event::Left { yielded, .. } => Next::Done(yielded.to_vec()),
    })
}

fn inline_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ExecuteRegionOp(op);
    let region = this.region(m);
    let ends = m.entry(region).and_then(|b| m.last_op(b)).is_some_and(|end| YieldOp::cast(m, end).is_some());
    if this.no_inline(m).is_some() || !m.has_one_block(region) || !ends {
        return false;
    }
    rw.replace_with_region(op, region, &[]);
    true
}

/// Inlines a region of several blocks between two halves of the parent block.
fn inline_blocks(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ExecuteRegionOp(op);
    let around = m.parent_op(op);
    let many = around.is_some_and(|p| m.has_trait(p, Traits::FUNCTION) || ExecuteRegionOp::cast(m, p).is_some());
    if this.no_inline(m).is_some() || !many {
        return false;
    }
    let (loc, region, before) = (m.loc(op), this.region(m), m.parent_block(op).expect("the op is in a block"));
    let (entry, blocks) = (m.only_block(region), m.region_blocks(region).collect::<Vec<Block>>());
    let yields: Vec<YieldOp> =
        blocks.iter().filter_map(|&b| m.last_op(b)).filter_map(|end| YieldOp::cast(m, end)).collect();
    let after = rw.split_block(op);
    rw.inline_region_before(region, after);
    rw.build(InsertPoint::End(before), |b| BranchOp::build(b, loc, &[], entry, &[]));
    for end in yields {
        let (loc, values) = (rw.module().loc(end.0), end.results(rw.module()));
        rw.build(InsertPoint::Before(end.0), |b| BranchOp::build(b, loc, &values, after, &[]));
        rw.erase(end.0);
    }
    let results: Vec<Value> = rw.module().results(op).collect();
    let args: Vec<Value> = results.iter().map(|&v| rw.add_block_arg(after, v)).collect();
    rw.replace(op, &args);
    true
}
