//! `scf.while`.

mod patterns;

use super::text::{assignments, print_assignments};
use super::{ConditionOp, YieldOp, one_block_each};
use crate::constraint::ANY;
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult, Region, Traits, Violation,
    op,
};
use smallvec::{SmallVec, smallvec};

/// While loop: the before region decides whether the after region and another iteration follow.
///
/// ```mlir
/// %0 = scf.while (%a = %x) : (i32) -> i32 {
///   %c = arith.cmpi slt, %a, %x : i32
///   scf.condition(%c) %a : i32
/// } do {
/// ^bb0(%b: i32):
///   %1 = arith.addi %b, %s : i32
///   scf.yield %1 : i32
/// }
/// ```
#[op(
    "scf.while",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    verify = |m, op| one_block_each(m, op, 0..2),
    verify_regions = verify_regions,
    edges = edges,
    control = control,
    patterns = patterns::PATTERNS,
    directives = &[&WHILE],
    format = "custom<While>($inits, $results, $before, $after) attr-dict-with-keyword"
)]
pub struct WhileOp {
    /// Initial arguments of the before region.
    inits: Operands<ANY>,
    /// Values passed by the last `scf.condition`.
    results: OpResults<ANY>,
    /// Before region, terminated by `scf.condition`.
    before: Region,
    /// After region, terminated by `scf.yield`.
    after: Region,
}

const WHILE: Directive = Directive { name: "While", parse, print };

impl WhileOp {
    /// Returns the terminator of the before region.
    pub fn condition(self, m: &Module) -> ConditionOp {
        ConditionOp(m.last_op(m.only_block(self.before(m))).expect("the region has a terminator"))
    }
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let (names, inits) = if p.peek() == b'(' { assignments(p)? } else { (Vec::new(), Vec::new()) };
    p.expect(":")?;
    let at = p.offset();
    p.expect("(")?;
    let inputs = p.types_until(b')')?;
    p.expect(")")?;
    p.expect("->")?;
    let results = p.result_types()?;
    if inputs.len() != inits.len() {
        let (want, have) = (inits.len(), inputs.len());
        return p.error(at, format!("expected as many input types as operands (expected {want} got {have})"));
    }
    let mut args = Vec::new();
    for (&name, &ty) in names.iter().zip(&inputs) {
        args.push(p.argument_of(name, ty)?);
    }
    p.set_operands(params[0], inits);
    p.set_types(params[0], inputs);
    p.set_types(params[1], results);
    p.region(&args)?;
    p.expect_word("do")?;
    p.region(&[])?;
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), WhileOp(p.op));
    let inits = op.inits(m);
    if !inits.is_empty() {
        print_assignments(p, m.block_args(m.only_block(op.before(m))), &inits);
        p.text(" ");
    }
    p.text(": (");
    let types = p.group_types(params[0]);
    p.types(&types);
    p.text(") -> ");
    let types = p.group_types(params[1]);
    p.result_types(&types);
    p.text(" ");
    p.region(op.before(m), false, true)?;
    p.text(" do ");
    p.region(op.after(m), true, true)
}

fn verify_regions(m: &Module, op: Op) -> Result<(), Violation> {
    let end = |region: Region| m.last_op(m.only_block(region));
    if end(WhileOp(op).before(m)).is_none_or(|end| ConditionOp::cast(m, end).is_none()) {
        return Err("expects the 'before' region to terminate with 'scf.condition'".into());
    }
    if end(WhileOp(op).after(m)).is_none_or(|end| YieldOp::cast(m, end).is_none()) {
        return Err("expects the 'after' region to terminate with 'scf.yield'".into());
    }
    Ok(())
}

fn edges(_: &Module, _: Op) -> SmallVec<[Edge; 4]> {
    let (op, before, after) = (Point::Op, Point::Region(0), Point::Region(1));
    smallvec![
        Edge::new(op, before),
        Edge::new(before, op).carrying(1, 0),
        Edge::new(before, after).carrying(1, 0),
        Edge::new(after, before),
    ]
}

fn control(_: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    Ok(match event {
        Event::Enter => Next::Region(0, data.to_vec()),
        Event::Left { region: 0, yielded, .. } if yielded[0].decide()? != 0 => Next::Region(1, yielded[1..].to_vec()),
        Event::Left { region: 0, yielded, .. } => Next::Done(yielded[1..].to_vec()),
        Event::Left { yielded, .. } => Next::Region(0, yielded.to_vec()),
    })
}
