//! `nna.program`.

use super::instruction::{PackedInstructionsOp, inst_of, instructions_of, op_of};
use crate::code::InstructionBytes;
use crate::parameters::FLAG;
use gradus_dialects::constraint::{I64, I64_LIST, SYMBOL_NAME};
use gradus_ir::{
    Attr, AttrKind, AttrText, Builder, Effects, Loc, Module, Op, OpArgs, OpDecl, OpState, Traits, Type, Violation, op,
};
use gradus_simulators::nna::{
    Layout, LoopOrder, Mapping, NnaInst, NnaMachine, ProductPlan, ProductProgram, Shape, encode_all,
};

macro_rules! words {
    ($(#[$doc:meta])* $NAME:ident: $summary:literal = $($word:literal)*) => {
        $(#[$doc])*
        const $NAME: AttrKind = AttrKind {
            text: AttrText::Cases(Type::I64, &{
                let words = [$($word),*];
                let mut cases = [("", 0); [$($word),*].len()];
                let mut i = 0;
                while i < cases.len() {
                    cases[i] = (words[i], i as i64);
                    i += 1;
                }
                cases
            }),
            ..gradus_dialects::constraint::kind($summary, |c, a| {
                c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..[$($word),*].len() as i64).contains(&v))
            })
        };
    };
}

words!(
    /// The mapping of a program.
    MAPPING: "diagonal, dense or scalar" = "diagonal" "dense" "scalar"
);
words!(
    /// The order of a program's loops.
    ORDER: "kernel_outer or step_outer" = "kernel_outer" "step_outer"
);

/// A program of a matrix product on the engine.
///
/// Memory has the placement that follows from extents, mapping and order: `gradus_simulators::nna::Layout`. The numbers of the
/// machine are those of `NnaMachine::NUMBERS`: sizes, then latencies. Instructions stand in one block; a jump counts instructions.
///
/// ```mlir
/// nna.program @nothing product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
///   nna.li r1, 64
///   nna.lb r2, r1, 0
///   nna.sw r2, r1, 64
///   nna.halt
/// }
/// ```
#[op(
    "nna.program",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::SINGLE_BLOCK),
    effects = Effects::Unknown,
    format = "$sym_name `product` $extents $mapping $order `resident` $resident (`padded` $padded^)? (`initial` $initial^)? (`zero` $zero^)? `machine` $machine attr-dict-with-keyword $body",
    extensions = &[&BYTES],
    verify_regions = |m, op| code_of(m, op).map(drop)
)]
pub struct ProgramOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Rows of the left matrix, reduction extent, and columns of the right matrix.
    extents: Attribute<I64_LIST>,
    /// Mapping.
    mapping: Attribute<MAPPING>,
    /// Order of loops.
    order: Attribute<ORDER>,
    /// Kernels that are resident together.
    resident: Attribute<I64>,
    /// Whether columns beyond a multiple of 32 are padded with zeros, in the diagonal mapping.
    padded: OptAttribute<FLAG>,
    /// Whether sums begin with given values instead of zero.
    initial: OptAttribute<FLAG>,
    /// Zero point of requantized results, of the signed bytes; the results are sums without it.
    zero: OptAttribute<I64>,
    /// Numbers of the machine.
    machine: Attribute<I64_LIST>,
    /// Instructions.
    body: Region,
}

/// Reads extents, plan and machine of a program, and places its operands in memory.
///
/// # Errors
/// The violated rule.
pub(super) fn layout_of(args: &OpArgs<'_>) -> Result<(Layout, NnaMachine), Violation> {
    let list = |name: &str| args.attr(name).and_then(|a| args.ctx().as_ints(a)).ok_or("requires lists of numbers");
    let int = |name: &str| args.int(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let machine = NnaMachine::from_numbers(&list("machine")?)?;
    let extents: Vec<usize> = list("extents")?.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    let [rows, depth, columns] = extents[..] else { return Err("requires three extents".into()) };
    let zero = args.int("zero").map(|zero| i8::try_from(zero).map_err(|_| "requires a zero point of 8 bits"));
    let plan = ProductPlan {
        order: LoopOrder::ALL[int("order").min(1)],
        resident: int("resident"),
        padded: args.flag("padded"),
        initial: args.flag("initial"),
        requantize: zero.transpose()?,
        ..ProductPlan::new(Mapping::ALL[int("mapping").min(2)], &machine)
    };
    let shape = Shape { rows, depth, columns };
    plan.check(shape, &machine)?;
    Ok((Layout::new(shape, plan, &machine)?, machine))
}

/// The bytes of instructions.
const BYTES: InstructionBytes = InstructionBytes {
    code: PackedInstructionsOp::INFO,
    encode: |m, ops| {
        let code: Option<Vec<NnaInst>> = ops.iter().map(|&op| inst_of(m, op)).collect();
        Ok(encode_all(&code.ok_or("has ops that are not instructions")?))
    },
    insert: |m, op| {
        let program = m.parent_op(op).and_then(|program| m.args(program)).ok_or("requires a program")?;
        let machine = layout_of(&program)?.1;
        let (ctx, loc) = (m.ctx.clone(), m.loc(op));
        for inst in instructions_of(m, op, &machine)? {
            Builder::before(m, op).create(op_of(&ctx, &inst, loc));
        }
        Ok(())
    },
};

/// Returns the instructions of a program, with layout and machine.
///
/// # Errors
/// An op is not an instruction of the machine, or the plan is not possible.
pub fn code_of(m: &Module, op: Op) -> Result<(Vec<NnaInst>, Layout, NnaMachine), Violation> {
    let (layout, machine) = layout_of(&m.args(op).ok_or("is not declared")?)?;
    let block = m.entry(ProgramOp(op).body(m)).ok_or("requires instructions")?;
    let mut code = Vec::new();
    for inner in m.block_ops(block) {
        code.extend(instructions_of(m, inner, &machine)?);
    }
    Ok((code, layout, machine))
}

/// Defines a program at the end of a block, under a name. Returns the op.
pub fn define(
    m: &mut Module,
    block: gradus_ir::Block,
    name: &str,
    product: &ProductProgram,
    machine: &NnaMachine,
    loc: Loc,
) -> Op {
    let ctx = m.ctx.clone();
    let (shape, plan) = (product.layout.shape, product.layout.plan);
    let mut state = OpState::new(&ctx, ProgramOp::INFO.name, loc);
    let mut set = |name: &str, value: Option<Attr>| state.inherent(&ctx, name, value);
    let int = |n: i64| Some(ctx.int_attr(Type::I64, n));
    set("sym_name", Some(ctx.string_attr(name)));
    set("extents", Some(ctx.i64_array_attr(&[shape.rows, shape.depth, shape.columns].map(|d| d as i64))));
    set("mapping", int(Mapping::ALL.iter().position(|&mapping| mapping == plan.mapping).unwrap_or(0) as i64));
    set("order", int(LoopOrder::ALL.iter().position(|&order| order == plan.order).unwrap_or(0) as i64));
    set("resident", int(plan.resident as i64));
    set("padded", plan.padded.then_some(Attr::UNIT));
    set("initial", plan.initial.then_some(Attr::UNIT));
    set("zero", plan.requantize.and_then(|zero| int(i64::from(zero))));
    set("machine", Some(ctx.i64_array_attr(&machine.numbers())));
    state.regions = 1;
    let program = Builder::at_end(m, block).create(state);
    let region = m.regions(program)[0];
    let body = m.entry(region).unwrap_or_else(|| m.add_block(region));
    for inst in &product.code {
        let state = op_of(&ctx, inst, loc);
        Builder::at_end(m, body).create(state);
    }
    program
}
