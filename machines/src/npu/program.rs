//! Programs and calls: `npu.program`, `npu.call`.

use super::instruction::{BYTES, instructions, push};
use crate::code::bytes_attr;
use crate::filling::run_filled;
use gradus_dialects::constraint::{BYTES_OR_RESOURCE, FLAT_SYMBOL, I64, I64_LIST, SYMBOL_NAME, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    AttrKind, AttrText, Builder, DType, Effects, Loc, Module, Op, OpArgs, OpDecl, OpState, Tensor, Traits, Type, Value,
    Violation, op,
};
use gradus_simulators::npu::{
    Ddr, Interlock, NpuInst, NpuMachine, ProgramBounds, ProgramImage, Simulator, Statistics, check,
};
use gradus_simulators::{Binary, BinaryError};

/// The parameters of the machine, in the order of [`NpuMachine::parameters`].
const MACHINE: AttrKind = AttrKind { text: AttrText::Ints(Type::I64), ..I64_LIST };

/// A program of the npu.
///
/// `machine` has the parameters: kernels, depth and positions of the array, bytes of SRAM, banks, bytes of a word, accumulators, bits of
/// weights, width and latency of the pipe, starts of convolutions and moves, rate of DDR, latencies of reads and writes, bytes of a burst,
/// and capacities of the three queues. DDR has `ddr_bytes` bytes, of which the first are the constants; operands and results are row-major
/// at their bytes. SRAM and the rest of DDR are poison at first.
///
/// ```mlir
/// npu.program @nothing machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 64 operands [0] results [0] constants dense<> : tensor<0xui8> {
///   npu.end
/// }
/// ```
#[op(
    "npu.program",
    traits = Traits::ISOLATED.and(Traits::SYMBOL).and(Traits::SINGLE_BLOCK),
    effects = Effects::Unknown,
    format = "$sym_name `machine` $machine `ddr` $ddr_bytes `operands` $operands `results` $results (`bubbles` $bubbles^)? (`repeated` $repeated^)? `constants` $value attr-dict-with-keyword $body",
    extensions = &[&BYTES],
    verify = verify_program,
    verify_regions = verify_instructions
)]
pub struct ProgramOp {
    /// Name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Parameters of the machine.
    machine: Attribute<MACHINE>,
    /// Bytes of DDR.
    ddr_bytes: Attribute<I64>,
    /// First byte of each operand.
    operands: Attribute<I64_LIST>,
    /// First byte of each result.
    results: Attribute<I64_LIST>,
    /// Bytes of padding that features have in the mode of the array's depth, but not in the modes that were chosen for them.
    bubbles: OptAttribute<I64>,
    /// Cycles in which the array computes rows that it has computed before, of layers that take turns.
    repeated: OptAttribute<I64>,
    /// Constants, from byte 0.
    value: Attribute<BYTES_OR_RESOURCE>,
    /// Instructions.
    body: Region,
}

/// Runs a program on tensors of bytes.
#[op(
    "npu.call",
    traits = Traits::SEES_POISON,
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

/// Largest number of bytes of DDR.
const MAX_DDR: i64 = 1 << 31;

/// A program with its machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The machine.
    pub machine: NpuMachine,
    /// Instructions.
    pub instructions: Vec<NpuInst>,
    /// Constants, from byte 0 of DDR.
    pub constants: Tensor,
    /// Bytes of DDR.
    pub ddr_bytes: usize,
    /// First byte of each operand.
    pub operands: Vec<usize>,
    /// First byte of each result.
    pub results: Vec<usize>,
    /// Bytes of padding that the modes of its features dropped.
    pub bubbles: u64,
    /// Cycles in which the array computes rows that it has computed before.
    pub repeated: u64,
}

impl Program {
    /// Reads an `npu.program`.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(m: &Module, op: Op) -> Result<Program, Violation> {
        let this = ProgramOp::cast(m, op).ok_or("is no program of the npu")?;
        let (machine, ddr_bytes) = header(m, this)?;
        let constants = m.inherent_attr(op, "value").and_then(|a| m.ctx.dense_tensor(a));
        let offsets = |name: &str| {
            let list = m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default();
            list.iter().map(|&at| usize::try_from(at).unwrap_or(usize::MAX)).collect()
        };
        let block = m.entry(this.body(m)).ok_or("has no instructions")?;
        let count = |name: &str| m.inherent_attr(op, name).and_then(|a| m.ctx.as_int(a)).map_or(0, |n| n.max(0) as u64);
        Ok(Program {
            machine,
            instructions: instructions(m, block).map_err(|(_, why)| why)?.into_iter().map(|(_, inst)| inst).collect(),
            constants: constants.ok_or("has constants that are not available")?,
            ddr_bytes,
            operands: offsets("operands"),
            results: offsets("results"),
            bubbles: count("bubbles"),
            repeated: count("repeated"),
        })
    }

    /// Returns the bounds of the program, in which each row is computed once. `results`: element types and extents of its results.
    pub fn bounds(&self, results: &[(DType, Vec<usize>)]) -> ProgramBounds {
        let range = |(&at, (dtype, shape)): (&usize, &(DType, Vec<usize>))| {
            let bytes = shape.iter().product::<usize>() * dtype.size();
            at as u64..(at + bytes) as u64
        };
        let results: Vec<_> = self.results.iter().zip(results).map(range).collect();
        let mut bounds = ProgramBounds::of(&self.machine, &self.instructions, self.constants.len() as u64, &results);
        bounds.products = bounds.products.saturating_sub(self.repeated);
        bounds.memory = bounds.memory.saturating_sub(self.repeated);
        bounds
    }

    /// Runs the program. Returns the results, of the given types, and the counts of the run.
    ///
    /// # Errors
    /// Operands or results do not fit into DDR, or the machine rejects the program.
    pub fn run(
        &self,
        operands: &[Tensor],
        results: &[(DType, Vec<usize>)],
        trace: bool,
    ) -> Result<(Vec<Tensor>, Statistics), Trap> {
        let mut ddr = Ddr::new(self.ddr_bytes);
        let mut write = |at: usize, bytes: &[u8]| {
            let fits = at.checked_add(bytes.len()).is_some_and(|end| end <= self.ddr_bytes);
            if fits {
                ddr.write(at, bytes);
                Ok(())
            } else {
                Err(Trap::Ub(format!("has no {} bytes of DDR at {at}", bytes.len())))
            }
        };
        write(0, self.constants.bytes())?;
        for (&at, operand) in self.operands.iter().zip(operands) {
            write(at, operand.bytes())?;
        }
        let mut simulator = Simulator::new(self.machine.clone());
        simulator.trace = trace;
        let statistics =
            simulator.run(&self.instructions, &mut ddr).map_err(|fault| Trap::Ub(format!("stops: {fault}")))?;
        let read = |(&at, (dtype, shape)): (&usize, &(DType, Vec<usize>))| {
            let bytes = shape.iter().product::<usize>() * dtype.size();
            let found =
                ddr.read(at, bytes).ok_or_else(|| Trap::Ub(format!("leaves a result at byte {at} undefined")))?;
            Tensor::new(*dtype, shape.clone(), found.to_vec().into()).map_err(|e| Trap::Ub(e.to_string()))
        };
        Ok((self.results.iter().zip(results).map(read).collect::<Result<_, _>>()?, statistics))
    }
}

/// Conversion from and to binaries.
impl Program {
    /// Returns the binary: code, constants, and the places of operands and results.
    pub fn to_binary(&self) -> Binary {
        let offsets = |list: &[usize]| list.iter().map(|&at| u32::try_from(at).unwrap_or(u32::MAX)).collect();
        let image = ProgramImage {
            code: self.instructions.clone(),
            constants: self.constants.bytes().to_vec(),
            ddr_bytes: u32::try_from(self.ddr_bytes).unwrap_or(u32::MAX),
            operands: offsets(&self.operands),
            results: offsets(&self.results),
        };
        image.to_binary(&self.machine)
    }

    /// Reads the binary of a program for a machine, which is not trusted.
    ///
    /// # Errors
    /// A binary for another machine, and sections that are not those of a program.
    pub fn from_binary(binary: &Binary, machine: &NpuMachine) -> Result<Program, BinaryError> {
        let image = ProgramImage::from_binary(binary, machine)?;
        let offsets = |list: Vec<u32>| list.into_iter().map(|at| at as usize).collect();
        Ok(Program {
            machine: machine.clone(),
            instructions: image.code,
            constants: Tensor::from_vec(&[image.constants.len()], image.constants),
            ddr_bytes: image.ddr_bytes as usize,
            operands: offsets(image.operands),
            results: offsets(image.results),
            bubbles: 0,
            repeated: 0,
        })
    }
}

/// A program to build.
pub struct NewProgram<'a> {
    /// Name.
    pub name: &'a str,
    /// The machine.
    pub machine: &'a NpuMachine,
    /// Instructions.
    pub instructions: &'a [NpuInst],
    /// Constants, bytes.
    pub constants: &'a Tensor,
    /// Bytes of DDR.
    pub ddr_bytes: i64,
    /// First byte of each operand.
    pub operands: &'a [i64],
    /// First byte of each result.
    pub results: &'a [i64],
    /// Bytes of padding that the modes of its features dropped.
    pub bubbles: u64,
    /// Cycles in which the array computes rows that it has computed before.
    pub repeated: u64,
}

impl NewProgram<'_> {
    /// Builds the op.
    pub fn build(&self, b: &mut Builder<'_>, loc: Loc) -> Op {
        let ctx = b.module.ctx.clone();
        let mut machine = self.machine.clone();
        let numbers: Vec<i64> = machine.parameters().into_iter().map(|(_, n)| i64::from(*n)).collect();
        let mut state = OpState::new(&ctx, ProgramOp::INFO.name, loc);
        let attrs = [
            ("sym_name", ctx.string_attr(self.name)),
            ("machine", ctx.i64_array_attr(&numbers)),
            ("ddr_bytes", ctx.int_attr(Type::I64, self.ddr_bytes)),
            ("operands", ctx.i64_array_attr(self.operands)),
            ("results", ctx.i64_array_attr(self.results)),
            ("value", bytes_attr(&ctx, self.constants)),
        ];
        attrs.into_iter().for_each(|(name, attr)| state.inherent(&ctx, name, Some(attr)));
        for (name, count) in [("bubbles", self.bubbles), ("repeated", self.repeated)] {
            let attr = (count > 0).then(|| ctx.int_attr(Type::I64, count as i64));
            state.inherent(&ctx, name, attr);
        }
        state.regions = 1;
        let program = b.create(state);
        let region = b.module.regions(program)[0];
        let block = match b.module.entry(region) {
            Some(block) => block,
            None => b.module.add_block(region),
        };
        let mut body = Builder::at_end(b.module, block);
        for inst in self.instructions {
            push(&mut body, loc, inst);
        }
        program
    }
}

/// The machine and the bytes of DDR.
fn header(m: &Module, op: ProgramOp) -> Result<(NpuMachine, usize), Violation> {
    let mut machine = NpuMachine { interlock: Interlock::Reject, ..NpuMachine::default() };
    let list = m.inherent_attr(op.0, "machine").and_then(|a| m.ctx.as_ints(a)).unwrap_or_default();
    let fields = machine.parameters();
    if list.len() != fields.len() {
        return Err(format!("requires {} parameters of the machine, not {}", fields.len(), list.len()).into());
    }
    for ((_, field), &value) in fields.into_iter().zip(list.iter()) {
        *field = u32::try_from(value).map_err(|_| format!("a parameter of the machine is {value}"))?;
    }
    machine.check().map_err(|rule| format!("requires a machine with {rule}"))?;
    let bytes = m.inherent_attr(op.0, "ddr_bytes").and_then(|a| m.ctx.as_int(a)).unwrap_or(-1);
    let bytes = (0..=MAX_DDR).contains(&bytes).then_some(bytes as usize);
    Ok((machine, bytes.ok_or_else(|| format!("requires 0 to {MAX_DDR} bytes of DDR"))?))
}

fn verify_program(m: &Module, op: Op) -> Result<(), Violation> {
    let (_, ddr) = header(m, ProgramOp(op))?;
    let constants = m.inherent_attr(op, "value").and_then(|a| m.ctx.attr_type(a)).and_then(|ty| m.ctx.static_shape(ty));
    if constants.is_some_and(|dims| dims[0] > ddr as i64) {
        return Err(format!("has more constants than the {ddr} bytes of DDR").into());
    }
    let offsets = ["operands", "results"].map(|name| m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)));
    match offsets.iter().flatten().flat_map(|list| list.iter()).find(|&&at| at < 0 || at > ddr as i64) {
        Some(at) => Err(format!("has an operand or result at byte {at}, beyond the {ddr} bytes of DDR").into()),
        None => Ok(()),
    }
}

fn verify_instructions(m: &Module, op: Op) -> Result<(), Violation> {
    let this = ProgramOp(op);
    let (machine, _) = header(m, this)?;
    let Some(block) = m.entry(this.body(m)) else { return Err("has no instructions".into()) };
    let list = instructions(m, block).map_err(|(at, why)| format!("'{}': {why}", m.name_text(at)))?;
    for (op, inst) in list {
        check(&machine, &inst).map_err(|rule| format!("'{}' violates a rule: {rule}", m.name_text(op)))?;
    }
    Ok(())
}

/// Returns the program that a call runs.
fn callee(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<Op, Violation> {
    let Some(callee) = CallOp(op).callee(m) else { return Err("requires a program".into()) };
    let found = symbols.resolve(m, op, callee).filter(|&found| ProgramOp::cast(m, found).is_some());
    found.ok_or_else(|| "requires the name of an 'npu.program'".into())
}

fn verify_call(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let program = ProgramOp(callee(m, op, symbols)?);
    let list = |name: &str| m.inherent_attr(program.0, name).and_then(|a| m.ctx.as_ints(a)).unwrap_or_default();
    let (operands, results) = (list("operands"), list("results"));
    if (operands.len(), results.len()) != (m.operands(op).len(), m.num_results(op)) {
        return Err(format!("calls a program of {} operands and {} results", operands.len(), results.len()).into());
    }
    // The program's own verifier reports places beyond DDR.
    let ddr = m.inherent_attr(program.0, "ddr_bytes").and_then(|a| m.ctx.as_int(a)).unwrap_or(MAX_DDR);
    let values = m.operands(op).iter().copied().chain(m.results(op));
    values.zip(operands.iter().chain(results.iter())).try_for_each(|(value, &at)| verify_value(m, value, at, ddr))
}

/// Verifies that a value is a tensor of bytes that ends within DDR.
fn verify_value(m: &Module, value: Value, at: i64, ddr: i64) -> Result<(), Violation> {
    let ty = m.value_type(value);
    let Some((_, shape)) = shape_of(&m.ctx, ty) else {
        let found = m.ctx.display_type(ty);
        return Err(format!("requires tensors of bytes with static extents, not '{found}'").into());
    };
    let bytes = shape.iter().try_fold(1i64, |bytes, &extent| bytes.checked_mul(i64::try_from(extent).ok()?));
    match bytes.and_then(|bytes| bytes.checked_add(at)).is_some_and(|end| end <= ddr) {
        true => Ok(()),
        false => Err(format!("has '{}' at byte {at}, beyond the {ddr} bytes of DDR", m.ctx.display_type(ty)).into()),
    }
}

/// The element type and extents of a tensor of bytes.
fn shape_of(ctx: &gradus_ir::Context, ty: Type) -> Option<(DType, Vec<usize>)> {
    let dtype = ctx.dtype(ctx.element_type(ty)).filter(|dtype| matches!(dtype, DType::I8 | DType::U8))?;
    let extents = ctx.static_shape(ty)?.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
    Some((dtype, extents))
}

impl Program {
    /// Runs the program on the operands of a call. Returns the results of the call and the counts of the run.
    ///
    /// # Errors
    /// Those of [`Program::run`], and operands that are no tensors.
    pub fn call(&self, args: &OpArgs<'_>, data: &[Datum]) -> Result<(Vec<Datum>, Statistics), Trap> {
        let shapes = CallOp::shapes(args.ctx(), args.result_types);
        run_filled(data, |operands| self.run(operands, &shapes, false))
    }
}

impl CallOp {
    /// Returns the element types and extents of tensors of bytes.
    pub fn shapes(ctx: &gradus_ir::Context, types: &[Type]) -> Vec<(DType, Vec<usize>)> {
        types.iter().filter_map(|&ty| shape_of(ctx, ty)).collect()
    }

    /// Returns the program of a call.
    ///
    /// # Errors
    /// The symbol names no program, or the program is invalid.
    pub fn program(m: &Module, op: Op) -> Result<Program, Violation> {
        Program::of(m, callee(m, op, &mut SymbolTables::default())?)
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
