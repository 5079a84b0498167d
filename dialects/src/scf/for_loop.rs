//! `scf.for`.

mod patterns;

use super::one_block_each;
use super::text::{assignments, print_arrow_types, print_assignments};
use crate::constraint::{ANY, INT_OR_INDEX, UNIT};
use gradus_ir::control::{Count, Counted, Edge, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, Directive, Effects, Module, Op, OpArgs, OpParser, OpPrinter, Param, ParseResult, Traits, Type, TypeRelation,
    Value, Violation, op,
};
use smallvec::{SmallVec, smallvec};

/// Counted loop over [lower bound, upper bound) with a positive step.
///
/// The region's arguments are the induction variable and the loop-carried values, whose next values `scf.yield` passes.
///
/// ```mlir
/// func.func @sum(%lb: index, %ub: index, %s: index, %init: index) -> index {
///   %sum = scf.for %i = %lb to %ub step %s iter_args(%acc = %init) -> (index) {
///     %next = arith.addi %acc, %i : index
///     scf.yield %next : index
///   }
///   return %sum : index
/// }
/// ```
#[op(
    "scf.for",
    traits = Traits::SINGLE_BLOCK.and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "scf.yield",
    relations = &[TypeRelation::Same(&["lowerBound", "upperBound", "step"])],
    verify = verify,
    verify_regions = verify_regions,
    edges = edges,
    counted = counted,
    patterns = patterns::PATTERNS,
    directives = &[&FOR],
    format = "custom<For>($lowerBound, $upperBound, $step, $initArgs, $unsignedCmp, $region, $results) attr-dict"
)]
pub struct ForOp {
    /// Lower bound, inclusive.
    #[name = "lowerBound"]
    lower_bound: Operand<INT_OR_INDEX>,
    /// Upper bound, exclusive.
    #[name = "upperBound"]
    upper_bound: Operand<INT_OR_INDEX>,
    /// Step, positive.
    step: Operand<INT_OR_INDEX>,
    /// Initial values of the loop-carried variables.
    #[name = "initArgs"]
    init_args: Operands<ANY>,
    /// Whether bounds and step are unsigned.
    #[name = "unsignedCmp"]
    unsigned_cmp: OptAttribute<UNIT>,
    /// Final values of the loop-carried variables.
    results: OpResults<ANY>,
    /// Body.
    region: Region,
}

const FOR: Directive = Directive { name: "For", parse, print };

impl ForOp {
    /// Returns the induction variable.
    pub fn induction_var(self, m: &Module) -> Value {
        m.block_args(m.only_block(self.region(m)))[0]
    }

    /// Returns bounds, step and signedness.
    pub fn count(self, m: &Module) -> Count {
        Count::new(&m.ctx, m.value_type(self.lower_bound(m)), self.unsigned_cmp(m).is_some())
    }
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    if p.eat_word("unsigned") {
        p.set_attr(params[4], Attr::UNIT);
    }
    let iv = p.value()?;
    p.expect("=")?;
    let lower = p.value()?;
    p.expect_word("to")?;
    let upper = p.value()?;
    p.expect_word("step")?;
    let step = p.value()?;
    let (mut names, mut inits, mut types) = (Vec::new(), Vec::new(), Vec::new());
    if p.eat_word("iter_args") {
        (names, inits) = assignments(p)?;
        p.expect("->")?;
        types = p.result_types()?;
    }
    if names.len() != types.len() {
        return p.error_at_op("mismatch in number of loop-carried values and defined values");
    }
    let ty = if p.eat(":") { p.ty()? } else { Type::INDEX };
    for (&param, value) in params.iter().zip([lower, upper, step]) {
        p.set_operands(param, [value]);
        p.set_types(param, vec![ty]);
    }
    p.set_operands(params[3], inits);
    p.set_types(params[3], types.clone());
    let mut args = vec![p.argument_of(iv, ty)?];
    for (&name, &ty) in names.iter().zip(&types) {
        args.push(p.argument_of(name, ty)?);
    }
    p.set_types(params[6], types);
    p.region(&args)?;
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), ForOp(p.op));
    if op.unsigned_cmp(m).is_some() {
        p.text("unsigned ");
    }
    let args = m.block_args(m.only_block(op.region(m)));
    p.value(args[0]);
    for (word, value) in [(" = ", op.lower_bound(m)), (" to ", op.upper_bound(m)), (" step ", op.step(m))] {
        p.text(word);
        p.value(value);
    }
    let inits = op.init_args(m);
    if !inits.is_empty() {
        p.text(" iter_args");
        print_assignments(p, &args[1..], &inits);
        let types = p.group_types(params[3]);
        print_arrow_types(p, &types);
    }
    p.text(" ");
    let ty = m.value_type(args[0]);
    if ty != Type::INDEX {
        p.text(" : ");
        p.ty(ty);
        p.text(" ");
    }
    p.region(op.region(m), false, !inits.is_empty())
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..1)?;
    if ForOp(op).init_args(m).len() != m.num_results(op) {
        return Err("mismatch in number of loop-carried values and defined values".into());
    }
    if m.block_args(m.only_block(ForOp(op).region(m))).is_empty() {
        return Err("expected body to have at least one argument, the induction variable".into());
    }
    Ok(())
}

fn verify_regions(m: &Module, op: Op) -> Result<(), Violation> {
    let body = m.only_block(ForOp(op).region(m));
    let args = m.block_args(body);
    let yielded = m.last_op(body).map_or(&[][..], |end| m.operands(end));
    verify_loop(m, op, &ForOp(op).init_args(m), &args[1..], yielded)?;
    if m.value_type(args[0]) != m.value_type(ForOp(op).lower_bound(m)) {
        return Err("expected induction variable to be same type as bounds and step".into());
    }
    Ok(())
}

/// Verifies that inits, region arguments, yielded values and results agree.
pub fn verify_loop(m: &Module, op: Op, inits: &[Value], args: &[Value], yielded: &[Value]) -> Result<(), Violation> {
    let results: Vec<Value> = m.results(op).collect();
    let counts = [
        ("inits and region iter_args", inits.len(), args.len()),
        // A missing yield is reported with its control-flow edge.
        (
            "region iter_args and yielded values",
            args.len(),
            if yielded.is_empty() { args.len() } else { yielded.len() },
        ),
        ("loop results and region iter_args", results.len(), args.len()),
    ];
    if let Some((what, a, b)) = counts.into_iter().find(|(_, a, b)| a != b) {
        return Err(format!("different number of {what}: {a} != {b}").into());
    }
    for i in 0..args.len() {
        let yields = yielded.get(i).unwrap_or(&args[i]);
        let pairs = [
            ("init", inits[i], "region iter_arg", args[i]),
            ("region iter_arg", args[i], "yielded value", *yields),
            ("region iter_arg", args[i], "loop result", results[i]),
        ];
        for (first, a, second, b) in pairs {
            let (a, b) = (m.value_type(a), m.value_type(b));
            if a != b {
                let (a, b) = (m.ctx.display_type(a), m.ctx.display_type(b));
                return Err(format!("{i}-th {first} and {i}-th {second} have different type: '{a}' != '{b}'").into());
            }
        }
    }
    Ok(())
}

fn edges(_: &Module, _: Op) -> SmallVec<[Edge; 4]> {
    let (op, body) = (Point::Op, Point::Region(0));
    smallvec![
        Edge::new(op, body).carrying(3, 1),
        Edge::new(op, op).carrying(3, 0),
        Edge::new(body, body).carrying(0, 1),
        Edge::new(body, op),
    ]
}

fn counted(args: &OpArgs<'_>, data: &[Datum]) -> Result<Counted, Trap> {
    let count = Count::new(args.ctx(), args.operand_type(0), args.attr("unsignedCmp").is_some());
    let number = |operand: usize| data[operand].decide().map(|value| count.number(value));
    let (first, end, step) = (number(0)?, number(1)?, number(2)?);
    if step <= 0 {
        return Err(Trap::Ub(format!("a loop step must be positive, but is {step}")));
    }
    Ok(Counted { first, end, step, inits: 3, must_hold: Some(count) })
}
