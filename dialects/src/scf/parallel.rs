//! `scf.parallel` and its reductions.

mod patterns;

pub use patterns::drop_undefined_parallel;

use super::iteration_space::IterationSpace;
use super::one_block_each;
use super::text::{arrow_types, print_optional_arrow_types, print_value_list, same_count, value_list};
use crate::constraint::{ANY, INDEX};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Block, Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter, Param, ParseResult, Traits, Type,
    Violation, op,
};
use smallvec::{SmallVec, smallvec};

/// Parallel loop nest whose iterations may run in any order. Each iteration passes values to `scf.reduce`, which
/// combines them. Bounds beyond 3 * 2^60, and an induction variable that would overflow after the last iteration, are
/// undefined behavior.
///
/// ```mlir
/// func.func @sum(%lb: index, %ub: index, %s: index, %init: index) -> index {
///   %sum = scf.parallel (%i) = (%lb) to (%ub) step (%s) init (%init) -> index {
///     scf.reduce(%i : index) {
///     ^bb0(%a: index, %b: index):
///       %0 = arith.addi %a, %b : index
///       scf.reduce.return %0 : index
///     }
///   }
///   return %sum : index
/// }
/// ```
#[op(
    "scf.parallel",
    traits = Traits::SINGLE_BLOCK
        .and(Traits::OPERAND_SEGMENTS)
        .and(Traits::PARALLEL)
        .and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "scf.reduce",
    verify = verify,
    verify_regions = verify_regions,
    edges = edges,
    control = control,
    patterns = patterns::PATTERNS,
    directives = &[&PARALLEL],
    format = "custom<Parallel>($lowerBound, $upperBound, $step, $initVals, $results, $region) attr-dict"
)]
pub struct ParallelOp {
    /// Lower bounds, inclusive.
    #[name = "lowerBound"]
    lower_bound: Operands<INDEX>,
    /// Upper bounds, exclusive.
    #[name = "upperBound"]
    upper_bound: Operands<INDEX>,
    /// Steps, positive.
    step: Operands<INDEX>,
    /// Initial values of the reductions.
    #[name = "initVals"]
    init_vals: Operands<ANY>,
    /// Reduced values.
    results: OpResults<ANY>,
    /// Body.
    region: Region,
}

/// Terminates the body of `scf.parallel`, with one reduction region per value.
#[op(
    "scf.reduce",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE).and(Traits::SINGLE_BLOCK),
    effects = Effects::Recursive,
    parents = &["scf.parallel"],
    verify = verify_reduce,
    verify_regions = verify_reductions,
    format = "(`(` $operands^ `:` type($operands) `)`)? $reductions attr-dict"
)]
pub struct ReduceOp {
    /// Values contributed by the iteration.
    operands: Operands<ANY>,
    /// Reduction regions, which combine two values in any order.
    reductions: Regions,
}

/// Terminates a region of `scf.reduce`.
#[op(
    "scf.reduce.return",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["scf.reduce"],
    verify = verify_reduce_return,
    format = "$result attr-dict `:` type($result)"
)]
pub struct ReduceReturnOp {
    /// Combined value.
    result: Operand<ANY>,
}

const PARALLEL: Directive = Directive { name: "Parallel", parse, print };

impl ParallelOp {
    /// Returns the body block.
    pub fn body(self, m: &Module) -> Block {
        m.only_block(self.region(m))
    }

    /// Returns the terminator of the body.
    pub fn reduce(self, m: &Module) -> ReduceOp {
        ReduceOp(m.last_op(self.body(m)).expect("the body has a terminator"))
    }
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let ivs = value_list(p)?;
    for (&param, token) in params.iter().zip(["=", "to", "step"]) {
        if token == "=" {
            p.expect(token)?;
        } else {
            p.expect_word(token)?;
        }
        let at = p.offset();
        let values = value_list(p)?;
        if values.len() != ivs.len() {
            return p.error(at, format!("expected {} operands", ivs.len()));
        }
        p.set_types(param, vec![Type::INDEX; values.len()]);
        p.set_operands(param, values);
    }
    let inits = if p.eat_word("init") { value_list(p)? } else { Vec::new() };
    let types = arrow_types(p)?;
    same_count(p, None, inits.len(), types.len())?;
    p.set_operands(params[3], inits);
    p.set_types(params[3], types.clone());
    p.set_types(params[4], types);
    let mut args = Vec::new();
    for iv in ivs {
        args.push(p.argument_of(iv, Type::INDEX)?);
    }
    p.region(&args)?;
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), ParallelOp(p.op));
    print_value_list(p, m.block_args(op.body(m)));
    for (word, param) in [(" = ", params[0]), (" to ", params[1]), (" step ", params[2]), (" init ", params[3])] {
        let values = p.group(param);
        if word != " init " || !values.is_empty() {
            p.text(word);
            print_value_list(p, &values);
        }
    }
    let types = p.group_types(params[4]);
    print_optional_arrow_types(p, &types);
    p.text(" ");
    p.region(op.region(m), false, true)
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..1)?;
    let this = ParallelOp(op);
    let steps = this.step(m);
    if steps.is_empty() {
        return Err("needs at least one tuple element for lowerBound, upperBound and step".into());
    }
    if this.lower_bound(m).len() != steps.len() || this.upper_bound(m).len() != steps.len() {
        return Err("expects the same number of lower bounds, upper bounds and steps".into());
    }
    if patterns::has_undefined_step(m, this) {
        return Err("constant step operand must be positive".into());
    }
    let args = m.block_args(this.body(m));
    if args.len() != steps.len() {
        return Err(format!(
            "expects the same number of induction variables: {} as bound and step values: {}",
            args.len(),
            steps.len()
        )
        .into());
    }
    if args.iter().any(|&arg| m.value_type(arg) != Type::INDEX) {
        return Err("expects arguments for the induction variable to be of index type".into());
    }
    let Some(reduce) = m.last_op(this.body(m)).and_then(|end| ReduceOp::cast(m, end)) else {
        return Err("expects body to terminate with 'scf.reduce'".into());
    };
    let (results, inits, reductions) = (m.num_results(op), this.init_vals(m).len(), m.regions(reduce.0).len());
    if results != reductions {
        return Err(format!(
            "expects number of results: {results} to be the same as number of reductions: {reductions}"
        )
        .into());
    }
    if results != inits {
        return Err(format!(
            "expects number of results: {results} to be the same as number of initial values: {inits}"
        )
        .into());
    }
    Ok(())
}

fn verify_regions(m: &Module, op: Op) -> Result<(), Violation> {
    let inits = ParallelOp(op).init_vals(m);
    let types = m.results(op).zip(inits).map(|(result, init)| (m.value_type(result), m.value_type(init)));
    match types.enumerate().find(|(_, (result, init))| result != init) {
        Some((i, (result, init))) => {
            let (result, init) = (m.ctx.display_type(result), m.ctx.display_type(init));
            Err(format!(
                "expects type of {i}-th initial value: '{init}' to be the same as the {i}-th result type: '{result}'"
            )
            .into())
        }
        None => Ok(()),
    }
}

fn verify_reduce(m: &Module, op: Op) -> Result<(), Violation> {
    let this = ReduceOp(op);
    let (operands, regions) = (this.operands(m), m.regions(op));
    one_block_each(m, op, 0..regions.len())?;
    if operands.len() != regions.len() {
        let (operands, regions) = (operands.len(), regions.len());
        return Err(format!(
            "expects number of operands: {operands} to be the same as number of reductions: {regions}"
        )
        .into());
    }
    let results = m.parent_op(op).into_iter().flat_map(|p| m.results(p));
    for (i, (&value, result)) in operands.iter().zip(results).enumerate() {
        let (have, want) = (m.value_type(value), m.value_type(result));
        if have != want {
            let (have, want) = (m.ctx.display_type(have), m.ctx.display_type(want));
            return Err(format!(
                "expects type of {i}-th reduction operand: '{have}' to be the same as the {i}-th result type: '{want}'"
            )
            .into());
        }
    }
    Ok(())
}

fn verify_reductions(m: &Module, op: Op) -> Result<(), Violation> {
    for (i, (&value, &region)) in ReduceOp(op).operands(m).iter().zip(m.regions(op)).enumerate() {
        let (ty, block) = (m.value_type(value), m.only_block(region));
        let args = m.block_args(block);
        if args.len() != 2 || args.iter().any(|&arg| m.value_type(arg) != ty) {
            let ty = m.ctx.display_type(ty);
            return Err(format!("expected two block arguments with type '{ty}' in the {i}-th reduction region").into());
        }
        if m.last_op(block).is_none_or(|end| ReduceReturnOp::cast(m, end).is_none()) {
            return Err("reduction bodies must be terminated with an 'scf.reduce.return' op".into());
        }
    }
    Ok(())
}

fn verify_reduce_return(m: &Module, op: Op) -> Result<(), Violation> {
    let args = m.parent_block(op).map_or(&[][..], |block| m.block_args(block));
    let Some(ty) = args.first().map(|&arg| m.value_type(arg)) else { return Ok(()) };
    if m.value_type(ReduceReturnOp(op).result(m)) == ty {
        return Ok(());
    }
    Err(format!("must have type '{}' (the type of the reduction inputs)", m.ctx.display_type(ty)).into())
}

/// Returns no edges with values: the op creates the induction variables, and the reductions create the results.
fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    let (at, body) = (Point::Op, Point::Region(0));
    let (operands, args, results) = (m.operands(op).len(), ParallelOp(op).step(m).len(), m.num_results(op));
    let reduced = ParallelOp(op).init_vals(m).len();
    smallvec![
        Edge::new(at, body).carrying(operands, args),
        Edge::new(at, at).carrying(operands, results),
        Edge::new(body, body).carrying(reduced, args),
        Edge::new(body, at).carrying(reduced, results),
    ]
}

/// Executes sequentially. The body's state is its induction variables and partial reductions; a reduction's state is
/// its two values and everything that later reductions and iterations need.
fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    let bounds = |name: &str| data[args.operand_range(name)].iter().map(Datum::decide).collect::<Result<Vec<_>, _>>();
    let space = IterationSpace::new(bounds("lowerBound")?, bounds("upperBound")?, bounds("step")?)?;
    let (rank, inits) = (space.step.len(), &data[args.operand_range("initVals")]);
    let (region, state, yielded) = match event {
        Event::Enter => return Ok(space.enter(inits.to_vec())),
        Event::Left { region, args, yielded } => (region, args, yielded),
    };
    if region == 0 && yielded.is_empty() {
        return Ok(IterationSpace::continue_at(space.next(&state[..rank])?, Vec::new()));
    }
    // Induction variables, partial reductions, and contributions of this iteration.
    let mut all = if region == 0 { [state, yielded].concat() } else { state[2..].to_vec() };
    if region > 0 {
        all[rank + region - 1] = yielded[0].clone();
    }
    if region == inits.len() {
        return Ok(IterationSpace::continue_at(space.next(&all[..rank])?, all[rank..rank + inits.len()].to_vec()));
    }
    let pair = [all[rank + region].clone(), all[rank + inits.len() + region].clone()];
    Ok(Next::Region(region + 1, [&pair, &all[..]].concat()))
}
