//! `scf.if`.

mod patterns;

use super::one_block_each;
use super::text::{arrow_types, print_arrow_types};
use crate::arith::{ConstantOp, XOrIOp};
use crate::constraint::{ANY, BOOL};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Block, Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult, Traits,
    Value, Violation, op,
};
use smallvec::{SmallVec, smallvec};

/// Conditional: executes one of two regions.
///
/// ```mlir
/// func.func @choose(%c: i1, %x: i32, %y: i32) -> i32 {
///   %0 = scf.if %c -> (i32) {
///     scf.yield %x : i32
///   } else {
///     scf.yield %y : i32
///   }
///   return %0 : i32
/// }
/// ```
#[op(
    "scf.if",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    implicit_terminator = "scf.yield",
    verify = verify,
    edges = edges,
    control = control,
    patterns = patterns::PATTERNS,
    directives = &[&IF],
    format = "custom<If>($condition, $results, $thenRegion, $elseRegion) attr-dict"
)]
pub struct IfOp {
    /// Condition.
    condition: Operand<BOOL>,
    /// Values yielded by the executed region.
    results: OpResults<ANY>,
    /// Region executed if the condition is true.
    #[name = "thenRegion"]
    then_region: Region,
    /// Region executed otherwise; may be empty if there are no results.
    #[name = "elseRegion"]
    else_region: Region,
}

const IF: Directive = Directive { name: "If", parse, print };

impl IfOp {
    /// Returns the then block.
    pub fn then_block(self, m: &Module) -> Block {
        m.only_block(self.then_region(m))
    }

    /// Returns the else block, if any.
    pub fn else_block(self, m: &Module) -> Option<Block> {
        m.entry(self.else_region(m))
    }

    /// Returns the values yielded by both blocks.
    pub fn yielded(self, m: &Module) -> [&[Value]; 2] {
        [Some(self.then_block(m)), self.else_block(m)]
            .map(|block| block.and_then(|b| m.last_op(b)).map_or(&[][..], |end| m.operands(end)))
    }
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let condition = p.value()?;
    p.set_operands(params[0], [condition]);
    let types = arrow_types(p)?;
    p.set_types(params[1], types);
    p.region(&[])?;
    if p.eat_word("else") {
        p.region(&[])?;
    } else {
        p.empty_region();
    }
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), IfOp(p.op));
    p.value(op.condition(m));
    let types = p.group_types(params[1]);
    print_arrow_types(p, &types);
    p.text(" ");
    p.region(op.then_region(m), false, !types.is_empty())?;
    if op.else_block(m).is_some() {
        p.text(" else ");
        p.region(op.else_region(m), false, !types.is_empty())?;
    }
    Ok(())
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..1)?;
    let this = IfOp(op);
    for (i, block) in [Some(this.then_block(m)), this.else_block(m)].into_iter().enumerate() {
        if block.is_some_and(|b| !m.block_args(b).is_empty()) {
            return Err(format!("region #{i} should have no arguments").into());
        }
    }
    if m.num_results(op) > 0 && this.else_block(m).is_none() {
        return Err("must have an else block if defining values".into());
    }
    Ok(())
}

fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    let (at, then) = (Point::Op, Point::Region(0));
    let otherwise = if IfOp(op).else_block(m).is_some() { Point::Region(1) } else { at };
    let mut edges =
        smallvec![Edge::new(at, then).carrying(1, 0), Edge::new(at, otherwise).carrying(1, 0), Edge::new(then, at),];
    if otherwise != at {
        edges.push(Edge::new(otherwise, at));
    }
    edges
}

fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    if let Event::Left { yielded, .. } = event {
        return Ok(Next::Done(yielded.to_vec()));
    }
    if data[0].decide()? != 0 {
        return Ok(Next::Region(0, Vec::new()));
    }
    let has_else = args.op.is_some_and(|op| IfOp(op).else_block(args.module).is_some());
    Ok(if has_else { Next::Region(1, Vec::new()) } else { Next::Done(Vec::new()) })
}

/// Returns the value that `value` negates.
pub fn negated(m: &Module, value: Value) -> Option<Value> {
    let not = XOrIOp::defining(m, value)?;
    let is_true = |v: Value| ConstantOp::defining(m, v).is_some_and(|c| c.value(m) == Some(Attr::TRUE));
    match (not.lhs(m), not.rhs(m)) {
        (x, t) | (t, x) if is_true(t) => Some(x),
        _ => None,
    }
}
