//! Selection of kernels for the regions of schedule steps.

use super::call::{by_kernels, run_on};
use super::map;
use super::narrow::Narrow;
use super::stage::{Source, Stage};
use super::{Kernel, Prepared, extents, prepare};
use crate::workers::Workers;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::{Block, Module, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Selects the kernels of a step's region, one for each yielded value, with the values that they read: those of its only
/// op, one for a chain of elementwise ops, or one for each of independent ops.
pub(super) fn kernels(m: &Module, body: Block) -> Option<Vec<(Kernel, Vec<Value>)>> {
    let mut ops: Vec<Op> = m.block_ops(body).collect();
    let yielded = m.operands(ops.pop()?);
    match ops[..] {
        [op] => of_op(m, op, yielded),
        [.., last] if m.results(last).eq(yielded.iter().copied()) => chain(m, &ops).map(|one| vec![one]),
        _ => independent(m, &ops, yielded),
    }
}

/// Returns the kernels of ops that do not read each other's results, each of which is yielded.
fn independent(m: &Module, ops: &[Op], yielded: &[Value]) -> Option<Vec<(Kernel, Vec<Value>)>> {
    let results: FxHashSet<Value> = yielded.iter().copied().collect();
    let is_alone = |op: Op, value: Value| {
        m.results(op).eq([value]) && !m.operands(op).iter().any(|operand| results.contains(operand))
    };
    let pairs = || ops.iter().copied().zip(yielded.iter().copied());
    (ops.len() == yielded.len() && pairs().all(|(op, value)| is_alone(op, value))).then_some(())?;
    let mut kernels = Vec::with_capacity(ops.len());
    for (op, value) in pairs() {
        kernels.extend(of_op(m, op, &[value])?);
    }
    Some(kernels)
}

/// Turns elementwise stages into a kernel.
fn kernels_of(m: &Module, op: Op, prepared: Prepared) -> Option<Prepared> {
    m.with_args(op, |args| by_kernels(args, prepared)).flatten()
}

/// Returns the kernels of an op for the yielded results.
fn of_op(m: &Module, op: Op, yielded: &[Value]) -> Option<Vec<(Kernel, Vec<Value>)>> {
    let operands = m.operands(op);
    let read = |kernel: Kernel| {
        let values = kernel.reads.iter().map(|&i| operands[i]).collect();
        (kernel, values)
    };
    let results: Vec<Value> = m.results(op).collect();
    match kernels_of(m, op, m.with_args(op, prepare)??)? {
        Prepared::View if *yielded == *results => Some(vec![read(Kernel::copy())]),
        Prepared::Kernels(kernels) => {
            let mut all: FxHashMap<Value, Kernel> = results.into_iter().zip(kernels).collect();
            yielded.iter().map(|value| all.remove(value).map(read)).collect()
        }
        Prepared::Joint(kernel) => {
            let &[only] = yielded else { return None };
            let result = results.iter().position(|&value| value == only)?;
            Some(vec![read(kernel.only(result, results.len()))])
        }
        _ => None,
    }
}

/// Returns one kernel for a chain of elementwise ops, in which each op reads the result of the one before.
fn chain(m: &Module, ops: &[Op]) -> Option<(Kernel, Vec<Value>)> {
    let (&last, mut fused) = (ops.last()?, None::<FusionGroup>);
    let ty = m.value_type(m.result(last, 0));
    for &op in ops {
        let Prepared::Map(stages) = m.with_args(op, prepare)?? else { return None };
        let group = FusionGroup { stages, operands: m.operands(op).to_vec(), result: m.result(op, 0) };
        fused = Some(match fused {
            Some(before) if m.value_type(group.result) == ty => before.then(&group)?,
            None if m.value_type(group.result) == ty => group,
            _ => return None,
        });
    }
    let FusionGroup { stages, operands, .. } = fused?;
    let of = |v: Value| extents(m, m.value_type(v));
    let shapes: Vec<Vec<usize>> = operands.iter().map(|&v| of(v)).collect::<Option<_>>()?;
    Some((map::kernel(stages, &extents(m, ty)?, &shapes, Narrow::of_type(m, ty)?)?, operands))
}

/// Elementwise stages under fusion.
struct FusionGroup {
    stages: Vec<Stage>,
    operands: Vec<Value>,
    result: Value,
}

impl FusionGroup {
    /// Fuses two groups: the second reads the first's result, once and in its first stage.
    fn then(mut self, next: &FusionGroup) -> Option<FusionGroup> {
        let operand = next.operands.iter().position(|&v| v == self.result)?;
        let is_once = next.operands.iter().filter(|&&v| v == self.result).count() == 1;
        let is_first = next.stages[1..].iter().all(|stage| !stage.reads(operand));
        (is_once && is_first).then_some(())?;
        let moved = self.operands.len();
        let source = |source| match source {
            Source::Operand(i) if i == operand => Source::Previous,
            Source::Operand(i) if i > operand => Source::Operand(moved + i - 1),
            Source::Operand(i) => Source::Operand(moved + i),
            Source::Previous => Source::Previous,
        };
        self.stages.extend(next.stages.iter().map(|stage| stage.with(source)));
        let others = next.operands.iter().enumerate().filter(|&(i, _)| i != operand);
        self.operands.extend(others.map(|(_, &value)| value));
        Some(FusionGroup { result: next.result, ..self })
    }
}

/// Ops that are evaluated one by one, by a kernel where there is one.
pub(super) struct Ops {
    /// The region's arguments.
    args: Vec<Value>,
    ops: Vec<(Op, Option<Prepared>)>,
    yielded: Vec<Value>,
}

impl Ops {
    /// Returns the ops of a step's region, without kernels if they are interpreted.
    pub(super) fn of(m: &Module, body: Block, are_interpreted: bool) -> Option<Ops> {
        let mut ops: Vec<Op> = m.block_ops(body).collect();
        let yielded = m.operands(ops.pop()?).to_vec();
        let prepared = |op: Op| m.with_args(op, prepare).flatten().and_then(|prepared| kernels_of(m, op, prepared));
        let ops = ops.into_iter().map(|op| (op, if are_interpreted { None } else { prepared(op) })).collect();
        Some(Ops { args: m.block_args(body).to_vec(), ops, yielded })
    }

    /// Returns the ops without a kernel.
    pub(super) fn reference(&self) -> impl Iterator<Item = Op> {
        self.ops.iter().filter(|(_, prepared)| prepared.is_none()).map(|&(op, _)| op)
    }

    /// Evaluates the ops on the region's arguments. Returns the yielded values.
    pub(super) fn run(&self, m: &Module, workers: &Workers, arguments: Vec<Datum>) -> Result<Vec<Datum>, Trap> {
        let mut values: FxHashMap<Value, Datum> = self.args.iter().copied().zip(arguments).collect();
        let value = |values: &FxHashMap<Value, Datum>, v: Value| {
            let constant = || {
                let attr = m.constant(v).ok_or_else(super::trap::internal_error)?;
                let tensor =
                    m.ctx.dense_tensor(attr).ok_or_else(|| Trap::unsupported("a constant operand of this kind"))?;
                Ok(Datum::Tensor(tensor))
            };
            values.get(&v).cloned().map_or_else(constant, Ok)
        };
        for (op, prepared) in &self.ops {
            let operands = m.operands(*op).iter().map(|&v| value(&values, v)).collect::<Result<Vec<_>, _>>()?;
            let results = m.with_args(*op, |args| match prepared {
                Some(prepared) => run_on(args, workers, prepared, &operands),
                None => eval_op(args, &operands),
            });
            values.extend(m.results(*op).zip(results.ok_or_else(super::trap::internal_error)??));
        }
        self.yielded.iter().map(|&v| value(&values, v)).collect()
    }
}
