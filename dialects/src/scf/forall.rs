//! `scf.forall` and its shared outputs.

mod patterns;

use super::iteration_space::IterationSpace;
use super::one_block_each;
use super::text::{arrow_types, assignments, print_arrow_types, print_assignments, same_count, value_list};
use crate::constraint::{I64_ARRAY, INDEX, RANKED_TENSOR, kind};
use crate::directives::{index_list, print_index_list};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    AttrData, AttrKind, Block, DYNAMIC, Def, Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter,
    Param, ParseResult, Traits, Type, Value, Violation, op,
};
use smallvec::{SmallVec, smallvec};

/// Device mapping attributes: the processing unit that runs each dimension.
pub const MAPPING: AttrKind = kind("Device Mapping array attribute", |c, a| {
    c.as_array(a).is_some_and(|list| list.iter().all(|&e| matches!(c.attr_data(e), AttrData::Dialect { .. })))
});

/// Parallel loop nest with shared output tensors, whose iterations may run concurrently. The ops in its terminator
/// insert slices computed by the iterations into the shared tensors.
///
/// Static bounds and steps are in attributes, with placeholders for operands.
///
/// ```mlir
/// func.func @check(%n: index, %c: i1) {
///   scf.forall (%i, %j) in (%n, 4) {
///     cf.assert %c, "in every iteration"
///   }
///   return
/// }
/// ```
#[op(
    "scf.forall",
    traits = Traits::SINGLE_BLOCK
        .and(Traits::OPERAND_SEGMENTS)
        .and(Traits::PARALLEL)
        .and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "scf.forall.in_parallel",
    verify = verify,
    edges = edges,
    control = control,
    patterns = patterns::PATTERNS,
    directives = &[&FORALL],
    format = "custom<Forall>($dynamicLowerBound, $staticLowerBound, $dynamicUpperBound, $staticUpperBound,
        $dynamicStep, $staticStep, $outputs, $results, $region) attr-dict"
)]
pub struct ForallOp {
    /// Dynamic lower bounds.
    #[name = "dynamicLowerBound"]
    dynamic_lower: Operands<INDEX>,
    /// Dynamic upper bounds, exclusive.
    #[name = "dynamicUpperBound"]
    dynamic_upper: Operands<INDEX>,
    /// Dynamic steps, positive.
    #[name = "dynamicStep"]
    dynamic_step: Operands<INDEX>,
    /// Initial values of the shared tensors.
    outputs: Operands<RANKED_TENSOR>,
    /// Static lower bounds.
    #[name = "staticLowerBound"]
    static_lower: Attribute<I64_ARRAY>,
    /// Static upper bounds.
    #[name = "staticUpperBound"]
    static_upper: Attribute<I64_ARRAY>,
    /// Static steps.
    #[name = "staticStep"]
    static_step: Attribute<I64_ARRAY>,
    /// Processing unit of each dimension.
    mapping: OptAttribute<MAPPING>,
    /// Shared tensors after all iterations.
    results: OpResults<RANKED_TENSOR>,
    /// Body; its arguments are the induction variables and the shared tensors.
    region: Region,
}

/// Terminates the body of `scf.forall`; the ops in its region insert slices into the shared tensors.
#[op(
    "scf.forall.in_parallel",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE).and(Traits::SINGLE_BLOCK).and(Traits::NO_TERMINATOR),
    effects = Effects::Recursive,
    parents = &["scf.forall"],
    verify = verify_in_parallel,
    control = control_in_parallel,
    format = "$region attr-dict"
)]
pub struct InParallelOp {
    /// Insertions into the shared tensors.
    region: Region,
}

const FORALL: Directive = Directive { name: "Forall", parse, print };

/// Bounds and steps: name in messages, attribute, and operand group.
pub const CONTROLS: [(&str, &str, usize); 3] =
    [("lower bound", "staticLowerBound", 0), ("upper bound", "staticUpperBound", 1), ("step", "staticStep", 2)];

impl ForallOp {
    /// Returns the body block.
    pub fn body(self, m: &Module) -> Block {
        m.only_block(self.region(m))
    }

    /// Returns the number of induction variables.
    pub fn rank(self, m: &Module) -> usize {
        self.statics(m, 0).len()
    }

    /// Returns the static entries of control `i`.
    pub fn statics(self, m: &Module, i: usize) -> Vec<i64> {
        m.inherent_attr(self.0, CONTROLS[i].1).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default()
    }

    /// Returns the insertion ops with the index of their shared tensor. `None` if unknown.
    pub fn combining(self, m: &Module) -> Option<Vec<(Op, usize)>> {
        let end = m.last_op(self.body(m)).and_then(|end| InParallelOp::cast(m, end))?;
        let block = m.entry(end.region(m))?;
        m.block_ops(block).map(|op| Some((op, self.output_of(m, combined_dest(m, op)?)?))).collect()
    }

    /// Returns the index of the shared tensor that a body argument stands for.
    fn output_of(self, m: &Module, value: Value) -> Option<usize> {
        match m.def(value) {
            Def::Arg(block, i) if block == self.body(m) => (i as usize).checked_sub(self.rank(m)),
            _ => None,
        }
    }
}

/// Returns the destination of an insertion op.
pub fn combined_dest(m: &Module, op: Op) -> Option<Value> {
    if m.has_trait(op, Traits::COMBINING) { m.args(op)?.opt_operand("dest") } else { None }
}

fn parse(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let ivs = value_list(p)?;
    let rank = ivs.len();
    if p.eat_word("in") {
        parse_control(p, &params[2..4])?;
        for (control, value) in [(&params[0..2], 0), (&params[4..6], 1)] {
            let attr = p.ctx().i64_array_attr(&vec![value; rank]);
            p.set_attr(control[1], attr);
        }
    } else {
        p.expect("=")?;
        parse_control(p, &params[0..2])?;
        p.expect_word("to")?;
        parse_control(p, &params[2..4])?;
        p.expect_word("step")?;
        parse_control(p, &params[4..6])?;
    }
    let (mut names, mut outputs, at) = (Vec::new(), Vec::new(), p.offset());
    if p.eat_word("shared_outs") {
        (names, outputs) = assignments(p)?;
    }
    let types = arrow_types(p)?;
    same_count(p, Some(at), outputs.len(), types.len())?;
    p.set_operands(params[6], outputs);
    p.set_types(params[6], types.clone());
    let mut args = Vec::new();
    for iv in ivs {
        args.push(p.argument_of(iv, Type::INDEX)?);
    }
    for (&name, &ty) in names.iter().zip(&types) {
        args.push(p.argument_of(name, ty)?);
    }
    p.set_types(params[7], types);
    p.region(&args)?;
    Ok(())
}

/// `(%a, 4)`
fn parse_control(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    p.expect("(")?;
    let (values, statics) = index_list(p, ")")?;
    p.set_types(params[0], vec![Type::INDEX; values.len()]);
    p.set_operands(params[0], values);
    let attr = p.ctx().i64_array_attr(&statics);
    p.set_attr(params[1], attr);
    Ok(())
}

fn print(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let (m, op) = (p.module(), ForallOp(p.op));
    let args = m.block_args(op.body(m));
    let (ivs, outs) = args.split_at(op.rank(m).min(args.len()));
    p.text("(");
    p.values(ivs);
    let normalized = op.statics(m, 0).iter().all(|&v| v == 0) && op.statics(m, 2).iter().all(|&v| v == 1);
    if normalized {
        p.text(") in ");
        print_index_list(p, params[2], params[3], "(", ")");
    } else {
        for (i, word) in [") = ", " to ", " step "].into_iter().enumerate() {
            p.text(word);
            print_index_list(p, params[2 * i], params[2 * i + 1], "(", ")");
        }
    }
    let outputs = op.outputs(m);
    if !outputs.is_empty() {
        p.text(" shared_outs");
        print_assignments(p, outs, &outputs);
    }
    let types = p.group_types(params[7]);
    print_arrow_types(p, &types);
    p.text(" ");
    p.region(op.region(m), false, !types.is_empty())
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..1)?;
    let this = ForallOp(op);
    let (rank, outputs, results) = (this.rank(m), this.outputs(m), m.num_results(op));
    for (i, (result, &output)) in m.results(op).zip(&outputs).enumerate() {
        let (have, want) = (m.value_type(output), m.value_type(result));
        if have != want {
            let at = m.operands(op).len() - outputs.len() + i;
            let (have, want) = (m.ctx.display_type(have), m.ctx.display_type(want));
            return Err(format!(
                "expected type of operand #{at} ('{have}') to match type of corresponding result ('{want}')"
            )
            .into());
        }
    }
    if results != outputs.len() {
        return Err(format!("produces {results} results, but has only {} outputs", outputs.len()).into());
    }
    let args = m.block_args(this.body(m));
    if args.len() != rank + outputs.len() {
        return Err(format!("region expects {rank} arguments").into());
    }
    if let Some(i) = args[..rank].iter().position(|&arg| m.value_type(arg) != Type::INDEX) {
        return Err(format!("expects {i}-th block argument to be an index").into());
    }
    if let Some(i) = (0..outputs.len()).find(|&i| m.value_type(args[rank + i]) != m.value_type(outputs[i])) {
        return Err(format!("type mismatch between {i}-th output and corresponding block argument").into());
    }
    let mapped = this.mapping(m).and_then(|a| m.ctx.as_array(a)).map_or(0, <[_]>::len);
    if mapped != 0 && mapped != rank {
        return Err("mapping attribute size must match op rank".into());
    }
    CONTROLS.iter().enumerate().try_for_each(|(i, (name, _, group))| {
        let (entries, values) = (this.statics(m, i), m.operand_group(op, *group).len());
        if entries.len() != rank {
            return Err(format!("expected {rank} {name} values, got {}", entries.len()).into());
        }
        let dynamic = entries.iter().filter(|&&v| v == DYNAMIC).count();
        if dynamic == values { Ok(()) } else { Err(format!("expected {dynamic} dynamic {name} values").into()) }
    })
}

/// Verifies that the region holds insertions only. Unregistered ops might be insertions.
fn verify_in_parallel(m: &Module, op: Op) -> Result<(), Violation> {
    one_block_each(m, op, 0..1)?;
    let mut ops = m.block_ops(m.only_block(InParallelOp(op).region(m)));
    if ops.all(|inner| m.info(inner).is_none_or(|info| info.traits.has(Traits::COMBINING))) {
        return Ok(());
    }
    Err("expected only ParallelCombiningOpInterface ops".into())
}

/// Returns no edges with values: iterations see the shared tensors, and the terminator updates them.
fn edges(m: &Module, op: Op) -> SmallVec<[Edge; 4]> {
    let (at, body) = (Point::Op, Point::Region(0));
    let args = m.entry(ForallOp(op).region(m)).map_or(0, |b| m.block_args(b).len());
    let (operands, results) = (m.operands(op).len(), m.num_results(op));
    smallvec![
        Edge::new(at, body).carrying(operands, args),
        Edge::new(at, at).carrying(operands, results),
        Edge::new(body, body).carrying(0, args),
        Edge::new(body, at).carrying(0, results),
    ]
}

/// Executes sequentially; iterations see earlier insertions.
fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    let op = args.op.map(ForallOp).ok_or_else(|| Trap::unsupported("a loop outside of a program"))?;
    let m = args.module;
    let control = |i: usize| {
        let mut values = data[args.operand_range(args.info.operands[i].name)].iter();
        let value = |n: i64| match n {
            DYNAMIC => values.next().map_or_else(|| Err(Trap::unsupported("a bound without a value")), Datum::decide),
            _ => Ok(n),
        };
        op.statics(m, i).into_iter().map(value).collect::<Result<Vec<i64>, Trap>>()
    };
    let space = IterationSpace::new(control(0)?, control(1)?, control(2)?)?;
    match event {
        Event::Enter => Ok(space.enter(data[args.operand_range("outputs")].to_vec())),
        Event::Left { args, yielded, .. } => {
            let rank = space.step.len();
            let mut shared = args[rank..].to_vec();
            let parts = op.combining(m).ok_or_else(|| Trap::unsupported("unknown insertions into shared tensors"))?;
            for ((_, output), value) in parts.into_iter().zip(yielded) {
                shared[output] = value.clone();
            }
            Ok(IterationSpace::continue_at(space.next(&args[..rank])?, shared))
        }
    }
}

fn control_in_parallel(_: &OpArgs<'_>, _: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    Ok(match event {
        Event::Enter => Next::Region(0, Vec::new()),
        Event::Left { yielded, .. } => Next::Done(yielded.to_vec()),
    })
}
