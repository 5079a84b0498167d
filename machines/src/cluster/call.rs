//! Calls of programs: `cluster.call`.

use super::program::{Program, ProgramOp, ddr_bytes, extents_of};
use crate::filling::run_filled;
use gradus_dialects::constraint::{FLAT_SYMBOL, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{Context, DType, Effects, Module, Op, OpArgs, OpDecl, Tensor, Traits, Type, Value, Violation, op};
use gradus_simulators::cluster::{Extent, Simulator, Statistics};

/// Runs a program of clusters on tensors of `f32`, `f16`, `i8` and `ui8`.
#[op(
    "cluster.call",
    traits = Traits::NO_CONSTANT_FOLDING.and(Traits::SEES_POISON),
    effects = Effects::MayUb,
    format = "$callee `(` $inputs `)` attr-dict `:` functional-type(operands, results)",
    verify_symbols = verify_call,
    eval = call
)]
pub struct CallOp {
    /// The program.
    callee: Attribute<FLAT_SYMBOL>,
    /// Operands.
    inputs: Operands<TENSOR>,
    /// Results.
    outputs: OpResults<TENSOR>,
}

/// Returns the program that a call runs.
fn callee(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<ProgramOp, Violation> {
    let Some(callee) = CallOp(op).callee(m) else { return Err("requires a program".into()) };
    let found = symbols.resolve(m, op, callee).and_then(|found| ProgramOp::cast(m, found));
    found.ok_or_else(|| "requires the name of a 'cluster.program'".into())
}

fn verify_call(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let program = callee(m, op, symbols)?;
    // The program's own verifier reports places beyond DDR.
    let Ok(ddr) = ddr_bytes(m, program) else { return Ok(()) };
    let (Ok(operands), Ok(results)) = (extents_of(m, program, "operands", ddr), extents_of(m, program, "results", ddr))
    else {
        return Ok(());
    };
    if (operands.len(), results.len()) != (m.operands(op).len(), m.num_results(op)) {
        return Err(format!("calls a program of {} operands and {} results", operands.len(), results.len()).into());
    }
    let values = m.operands(op).iter().copied().chain(m.results(op));
    values.zip(operands.iter().chain(&results)).try_for_each(|(value, extent)| verify_value(m, value, extent))
}

/// Verifies that a value has the bytes of its extent.
fn verify_value(m: &Module, value: Value, extent: &Extent) -> Result<(), Violation> {
    let ty = m.value_type(value);
    let Some((dtype, shape)) = shape_of(&m.ctx, ty) else {
        let found = m.ctx.display_type(ty);
        return Err(format!("requires tensors of f32, f16, i8 or ui8 with static extents, not '{found}'").into());
    };
    if num_bytes(dtype, &shape) == Some(extent.bytes as usize) {
        return Ok(());
    }
    Err(format!("requires a tensor of {} bytes, not '{}'", extent.bytes, m.ctx.display_type(ty)).into())
}

/// The element type and extents of a tensor that programs compute.
fn shape_of(ctx: &Context, ty: Type) -> Option<(DType, Vec<usize>)> {
    let is_computed = |dtype: &DType| matches!(dtype, DType::F32 | DType::F16 | DType::I8 | DType::U8);
    let dtype = ctx.dtype(ctx.element_type(ty)).filter(is_computed)?;
    let extents = ctx.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
    Some((dtype, extents))
}

fn num_bytes(dtype: DType, shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(dtype.size(), |bytes, &extent| bytes.checked_mul(extent))
}

impl Program {
    /// Runs the program. Returns the results, of the given types, and the counts of the run, with a trace if it is asked for.
    ///
    /// # Errors
    /// Operands or results that are not those of the program, or the machine rejects the program.
    pub fn run(
        &self,
        operands: &[Tensor],
        results: &[(DType, Vec<usize>)],
        trace: bool,
    ) -> Result<(Vec<Tensor>, Statistics), Trap> {
        if (operands.len(), results.len()) != (self.code.operands.len(), self.code.results.len()) {
            return Err(Trap::Ub("has another number of operands or results than its program".into()));
        }
        let mut ddr = self.code.ddr();
        for (extent, operand) in self.code.operands.iter().zip(operands) {
            let target = bytes_of(&mut ddr, extent).filter(|target| target.len() == operand.bytes().len());
            let wrong = || Trap::Ub(format!("requires an operand of {} bytes of DDR", extent.bytes));
            target.ok_or_else(wrong)?.copy_from_slice(operand.bytes());
        }
        let simulator = Simulator { trace, ..Simulator::new(self.machine.clone()) };
        let statistics = simulator.run(&self.code, &mut ddr).map_err(|fault| Trap::Ub(format!("stops: {fault}")))?;
        let mut read = |(extent, (dtype, shape)): (&Extent, &(DType, Vec<usize>))| {
            let bytes = bytes_of(&mut ddr, extent).filter(|bytes| num_bytes(*dtype, shape) == Some(bytes.len()));
            let wrong = || Trap::Ub(format!("has a result of {} bytes of DDR", extent.bytes));
            let bytes = bytes.ok_or_else(wrong)?.to_vec();
            Tensor::new(*dtype, shape.clone(), bytes.into()).map_err(|e| Trap::Ub(e.to_string()))
        };
        Ok((self.code.results.iter().zip(results).map(&mut read).collect::<Result<_, _>>()?, statistics))
    }

    /// Runs the program on the operands of a call. Returns the results of the call and the counts of the run.
    ///
    /// # Errors
    /// Those of [`Program::run`], and operands that are no tensors.
    pub fn call(&self, args: &OpArgs<'_>, data: &[Datum]) -> Result<(Vec<Datum>, Statistics), Trap> {
        let shapes = CallOp::shapes(args.ctx(), args.result_types);
        run_filled(data, |operands| self.run(operands, &shapes, false))
    }
}

/// Returns the bytes of an extent.
fn bytes_of<'a>(ddr: &'a mut [u8], extent: &Extent) -> Option<&'a mut [u8]> {
    let start = extent.offset as usize;
    ddr.get_mut(start..start.checked_add(extent.bytes as usize)?)
}

impl CallOp {
    /// Returns the element types and extents of tensors that programs compute.
    pub fn shapes(ctx: &Context, types: &[Type]) -> Vec<(DType, Vec<usize>)> {
        types.iter().filter_map(|&ty| shape_of(ctx, ty)).collect()
    }

    /// Returns the program of a call.
    ///
    /// # Errors
    /// The symbol names no program, or the program is invalid.
    pub fn program(m: &Module, op: Op) -> Result<Program, Violation> {
        Program::of(m, callee(m, op, &mut SymbolTables::default())?.0)
    }
}

fn call(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    if data.contains(&Datum::Poison) {
        return Ok(vec![Datum::Poison; args.result_types.len()]);
    }
    let op = args.op.ok_or_else(|| Trap::unsupported("is a call without a program"))?;
    let program = CallOp::program(args.module, op).map_err(Trap::unsupported)?;
    Ok(program.call(args, data)?.0)
}
