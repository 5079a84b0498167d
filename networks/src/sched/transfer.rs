//! Asynchronous transfers, and launches of device programs.

use super::{BufferView, accesses, hazards, root};
use gradus_dialects::constraint::{FLAT_SYMBOL, MEMREF};
use gradus_dialects::func::FuncOp;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{MemRef, Memory};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    Access, Context, Def, Effects, Module, Op, OpArgs, OpDecl, Own, OwnValue, Traits, Type, TypeConstraint, Value,
    Violation, op, ty,
};
use std::fmt;

/// A transfer that has been started.
#[ty("sched.token")]
pub struct TokenType {}

const TOKEN: TypeConstraint = TokenType::TYPE;

fn token_type(ctx: &Context) -> Type {
    TokenType::get(ctx).expect("no parameters").0
}

/// Starts a copy between buffers, which runs beside the ops up to the `sched.wait` on its token.
///
/// Until then reading the target, writing the target, or writing the source is undefined behavior. The elements arrive at the
/// wait.
///
/// ```mlir
/// %t = sched.transfer %a to %b : memref<4x8xf32> to memref<4x8xf32, "sram">
/// sched.wait %t : !sched.token
/// ```
#[op(
    "sched.transfer",
    traits = Traits::VERIFIES_USES,
    effects = Effects::Memory(&[(Access::Read, "source"), (Access::Write, "target")]),
    format = "$source `to` $target attr-dict `:` type($source) `to` type($target)",
    infer = |args| Ok(vec![token_type(args.ctx())]),
    verify = verify_transfer,
    exec = transfer
)]
pub struct TransferOp {
    /// Buffer to copy.
    source: Operand<MEMREF>,
    /// Buffer of the same shape and element type.
    target: Operand<MEMREF>,
    /// Token to wait for.
    token: OpResult<TOKEN>,
}

/// Waits for the end of transfers.
///
/// ```mlir
/// %t = sched.transfer %a to %b : memref<4x8xf32> to memref<4x8xf32, "sram">
/// sched.wait %t : !sched.token
/// ```
#[op(
    "sched.wait",
    effects = Effects::Memory(&[(Access::Read, ""), (Access::Write, "")]),
    format = "$tokens attr-dict `:` type($tokens)",
    verify = verify_wait,
    exec = wait
)]
pub struct WaitOp {
    /// Tokens of transfers, each waited for once.
    tokens: Operands<TOKEN>,
}

/// Launches a device program: a function that takes the buffers that it reads, followed by those that it writes.
///
/// ```mlir
/// func.func private @program(memref<4xf32, "sram">, memref<4xf32, "sram">)
/// func.func @main(%a: memref<4xf32, "sram">, %b: memref<4xf32, "sram">) {
///   sched.launch @program reads(%a : memref<4xf32, "sram">) writes(%b : memref<4xf32, "sram">)
///   return
/// }
/// ```
#[op(
    "sched.launch",
    traits = Traits::CALL.and(Traits::OPERAND_SEGMENTS),
    effects = Effects::Memory(&[(Access::Read, "reads"), (Access::Write, "writes")]),
    format = "$callee (`reads` `(` $reads^ `:` type($reads) `)`)? (`writes` `(` $writes^ `:` type($writes) `)`)? attr-dict",
    verify_symbols = verify_launch
)]
pub struct LaunchOp {
    /// The device program.
    callee: Attribute<FLAT_SYMBOL>,
    /// Buffers that it reads.
    reads: Operands<MEMREF>,
    /// Buffers that it writes.
    writes: Operands<MEMREF>,
}

fn verify_transfer(m: &Module, op: Op) -> Result<(), Violation> {
    let this = TransferOp(op);
    let [source, target] = [this.source(m), this.target(m)];
    let [from, to] = [source, target].map(|v| super::border::contents_type(&m.ctx, m.value_type(v)));
    if from != to {
        return Err("requires a source and a target of the same shape and element type".into());
    }
    if [source, target].iter().any(|&v| BufferView::of(m, v).is_none()) {
        return Err("requires memrefs of static shape, offset and strides".into());
    }
    hazards::check(m, op)
}

fn verify_wait(m: &Module, op: Op) -> Result<(), Violation> {
    let is_transfer = |&token: &Value| match m.def(token) {
        Def::Result(def, _) => TransferOp::cast(m, def).is_some(),
        Def::Arg(..) => false,
    };
    let fits = WaitOp(op).tokens(m).iter().all(is_transfer);
    if fits { Ok(()) } else { Err("requires tokens of transfers".into()) }
}

fn verify_launch(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let this = LaunchOp(op);
    let Some(callee) = this.callee(m) else { return Ok(()) };
    let name = m.ctx.as_symbol(callee).map_or("", |(root, _)| m.ctx.text(root));
    let Some(function) = symbols.resolve(m, op, callee).and_then(|found| FuncOp::cast(m, found)) else {
        return Err(format!("'{name}' does not reference a valid function").into());
    };
    let ty = function.function_type(m).and_then(|a| m.ctx.as_type(a));
    let (inputs, results) = ty.and_then(|ty| m.ctx.function_parts(ty)).unwrap_or((&[], &[]));
    if !results.is_empty() || !m.operands(op).iter().map(|&v| m.value_type(v)).eq(inputs.iter().copied()) {
        return Err(format!(
            "requires that '@{name}' takes the buffers that it reads and those that it writes, and returns nothing"
        )
        .into());
    }
    let Some(entry) = m.entry(function.body(m)) else { return Ok(()) };
    let read_only = &m.block_args(entry)[..this.reads(m).len()];
    let writes = |op: Op| accesses(m, op).into_iter().flat_map(|[_, writes]| writes).map(|v| root(m, v));
    match m.ops_under(function.0).into_iter().flat_map(writes).find_map(|v| read_only.iter().position(|&a| a == v)) {
        Some(i) => Err(format!("'@{name}' writes its argument {i}, which is only read here").into()),
        None => Ok(()),
    }
}

/// A transfer that has been started: its buffers, and the elements that it copies.
#[derive(PartialEq, Debug)]
struct Transfer {
    from: MemRef,
    to: MemRef,
    elements: Vec<Datum>,
}

impl OwnValue for Transfer {}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a transfer of {} elements", self.elements.len())
    }
}

fn transfer(_: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (from, to) = (data[0].memref()?, data[1].memref()?);
    let elements = memory.load_all(from)?;
    memory.store_tensor(&Datum::Poison, to)?;
    Ok(vec![Datum::Own(Own::new(Transfer { from: from.clone(), to: to.clone(), elements }))])
}

fn wait(_: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    for token in data {
        let Transfer { from, to, elements } = token.as_own::<Transfer>()?;
        let is_kept = memory.load_all(from)?.iter().zip(elements).all(|(now, then)| is_same(now, then));
        if !is_kept || memory.load_all(to)?.iter().any(|now| *now != Datum::Poison) {
            return Err(Trap::Ub("a buffer of a transfer is written before the transfer ends".into()));
        }
        let mut elements = elements.iter().cloned();
        to.for_each_index(|index| memory.store(elements.next().unwrap_or(Datum::Poison), to, index))?;
    }
    Ok(Vec::new())
}

/// Whether two elements are the same, bit by bit.
fn is_same(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Float(a), Datum::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}
