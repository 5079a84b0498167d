//! `npu`: a multiplier array with two-dimensional SRAM, by its simulator.

use crate::binaries::{MachineBinaries, PROGRAM, binaries};
use crate::listing::{largest, list, ops_of};
use crate::npu_memory::{self, CallShapes};
use crate::npu_picture::draw;
use crate::simulated::{Device, Simulated, through_memory};
use crate::{CaptionedTable, Executable, MemoryView, Statistic, Target, TargetError};
use gradus_cost::{CostModel, Machine, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Builder, DType, Loc, Module, Op, OpArgs, OpDecl, Value, symbol_name};
use gradus_lowering::graph_to_npu;
use gradus_machines::npu::{CallOp, NewProgram, Program, ProgramOp};
use gradus_simulators::Binary;
use gradus_simulators::npu::{self, NpuMachine, ProgramBounds, Statistics, Unit, disassemble};
use std::collections::BTreeMap;

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "npu",
        doc: "a multiplier array with SRAM of its own, simulated; costs in cycles",
        machine: NpuMachine::DESCRIPTION,
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || graph_to_npu::ops().map(|info| info.name).collect(),
        supports: graph_to_npu::computes,
        reference: Some(|machine| price(Numbers::of(machine), Numbers::host)),
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "mul-as-conv", "matmul-as-conv"],
        approx: true,
        ..CostModel::DEFAULT
    },
    pipeline: "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer{products=true},canonicalize,saturate{target=npu floats=approx},canonicalize,\
               flatten-elementwise,canonicalize,\
               form-layers{target=npu},choose-layers,schedule-layers,place-buffers,convert-layers-to-programs,canonicalize,cse)",
    load: Some(load),
    listing: Some(listing),
    picture: Some(picture),
    memory: Some(MemoryView { table: memory_table, picture: memory_picture }),
    device: Some(binaries::<NpuBinaries>()),
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        kernels,
        depth,
        positions,
        start,
        word_bytes,
        ddr_rate,
        read_latency,
        write_latency,
        host_products,
    }
}

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Relayout(n) => self.start + n.div_ceil(self.word_bytes),
            // A depthwise convolution of one position.
            OpCost::Map(n) => self.start + n.div_ceil(self.kernels),
            OpCost::Contract(c) => self.start.saturating_add(self.contract(&c)),
        }
    }

    /// Cycles in which the host computes: two operands of an element and a result go through memory to it and back, four bytes for an
    /// element of one, as rates are per four cycles.
    fn host(&self, op: OpCost) -> u64 {
        through_memory(op, self.read_latency + self.write_latency, [4, self.ddr_rate], self.host_products)
    }

    fn contract(&self, c: &Contraction) -> u64 {
        if c.strategy.is_some() {
            return NEVER;
        }
        let (channels, kernels) = (c.depth / c.taps.max(1), c.groups.saturating_mul(c.rows));
        let blocks = match c.groups > 1 && channels == 1 {
            true => kernels.div_ceil(self.kernels),
            false => {
                c.groups.saturating_mul(c.rows.div_ceil(self.kernels)).saturating_mul(channels.div_ceil(self.depth))
            }
        };
        let array = blocks.saturating_mul(c.taps).saturating_mul(c.columns.div_ceil(self.positions));
        array.saturating_add(self.padding(c.groups.saturating_mul(channels), kernels, c.columns))
    }

    /// Cycles in which memory moves the padding of the last block of channels, of an image and of a result.
    fn padding(&self, channels: u64, kernels: u64, positions: u64) -> u64 {
        let missing = [channels, kernels].map(|n| n.next_multiple_of(self.depth.max(1)) - n);
        missing.iter().sum::<u64>().saturating_mul(positions).saturating_mul(4).div_ceil(self.ddr_rate)
    }
}

fn load<'m>(m: &'m Module, function: Op, machine: &Machine, _: usize) -> Result<Box<dyn Executable + 'm>, TargetError> {
    machine.parameters(NpuMachine::of)?;
    let numbers = Numbers::of(machine).map_err(|e| e.to_string())?;
    let mut programs = BTreeMap::new();
    for op in m.ops_under(function).into_iter().filter(|&op| CallOp::cast(m, op).is_some()) {
        let types: Vec<_> = m.results(op).map(|v| m.value_type(v)).collect();
        programs
            .insert(op, Called { program: CallOp::program(m, op)?, results: CallOp::shapes(&m.ctx, &types), calls: 0 });
    }
    Ok(Box::new(Simulated::new(m, function, Npu { programs, numbers, counts: Statistics::default() })))
}

/// The program of a call.
struct Called {
    program: Program,
    /// Element types and extents of the results.
    results: Vec<(DType, Vec<usize>)>,
    /// Number of runs.
    calls: u64,
}

/// The programs of a function and the sum of their counts.
struct Npu {
    programs: BTreeMap<Op, Called>,
    numbers: Numbers,
    counts: Statistics,
}

impl Device for Npu {
    fn run(&mut self, args: &OpArgs<'_>, data: &[Datum]) -> Option<Result<(Vec<Datum>, u64), Trap>> {
        let called = self.programs.get_mut(&args.op?)?;
        called.calls += 1;
        Some(called.program.call(args, data).map(|(results, counts)| {
            self.counts.add(&counts);
            (results, counts.cycles)
        }))
    }

    fn host(&self, op: OpCost) -> u64 {
        self.numbers.host(op)
    }

    fn statistics(&self, calls: u64) -> Vec<Statistic> {
        let counts = &self.counts;
        let (mut bounds, mut bound, mut memory, mut bubbles, mut repeated) = (ProgramBounds::default(), 0, 0, 0, 0);
        for called in self.programs.values() {
            let one = called.program.bounds(&called.results);
            for _ in 0..called.calls {
                bounds.add(&one);
                bound += one.bound();
                memory += one.bound().max(one.memory);
                bubbles += called.program.bubbles;
                repeated += called.program.repeated;
            }
        }
        let moved = counts.ddr_bytes_read + counts.ddr_bytes_written;
        let again = moved.saturating_sub(bounds.constants + bounds.border);
        let each =
            |name: &str, value: u64, unit| Statistic { name: name.to_owned(), value: (value / calls) as f64, unit };
        let share = |name: &str, value: f64| Statistic { name: name.to_owned(), value: 100.0 * value, unit: "%" };
        let cycles = counts.cycles.max(1) as f64;
        vec![
            each("cycles", counts.cycles, "cycles"),
            each("cycles without ping-pong", bounds.without_ping_pong, "cycles"),
            each("bound", bound, "cycles"),
            each("bound of products", bounds.products, "cycles"),
            each("bound of DDR", bounds.ddr, "cycles"),
            each("bound with the size of SRAM", memory, "cycles"),
            share("bound by cycles", bound as f64 / cycles),
            each("products", counts.macs, "products"),
            share("busy", counts.busy(Unit::Array) as f64 / cycles),
            share("useful", counts.utilization()),
            each("read from memory", counts.ddr_bytes_read, "bytes"),
            each("constants among them", bounds.constants, "bytes"),
            each("constants read again", bounds.constants_again, "bytes"),
            each("written to memory", counts.ddr_bytes_written, "bytes"),
            each("features moved again", again, "bytes"),
            each("bubbles dropped", bubbles, "bytes"),
            each("rows computed again", repeated, "cycles"),
            each("waits for banks", counts.bank_stalls, "cycles"),
            Statistic { name: "highest byte of SRAM".to_owned(), value: counts.sram_peak as f64, unit: "bytes" },
        ]
    }
}

/// Lists the instructions of all programs.
fn listing(m: &Module) -> String {
    list(m, ops_of::<ProgramOp>(m))
}

/// Programs of the npu as binaries.
struct NpuBinaries;

/// Reads the program of a binary for a machine.
fn from_binary(binary: &Binary, machine: &Machine) -> Result<Program, TargetError> {
    let machine = machine.parameters(NpuMachine::of)?;
    Ok(Program::from_binary(binary, &machine).map_err(|error| error.to_string())?)
}

impl MachineBinaries for NpuBinaries {
    const NAME: &'static str = npu::NAME;
    const SECTIONS: &'static [&'static str] = &["code", "constants", "operands and results"];
    type Program = ProgramOp;
    type Call = CallOp;

    fn binary(m: &Module, program: Op, _: Op) -> Result<Binary, TargetError> {
        Ok(Program::of(m, program)?.to_binary())
    }

    fn build(b: &mut Builder<'_>, binary: &Binary, machine: &Machine) -> Result<(), TargetError> {
        let program = from_binary(binary, machine)?;
        let offsets = |list: &[usize]| list.iter().map(|&at| at as i64).collect::<Vec<_>>();
        let new = NewProgram {
            name: PROGRAM,
            machine: &program.machine,
            instructions: &program.instructions,
            constants: &program.constants,
            ddr_bytes: program.ddr_bytes as i64,
            operands: &offsets(&program.operands),
            results: &offsets(&program.results),
            bubbles: program.bubbles,
            repeated: program.repeated,
        };
        new.build(b, Loc::UNKNOWN);
        Ok(())
    }

    fn disassemble(binary: &Binary, machine: &Machine) -> Result<String, TargetError> {
        Ok(disassemble(&from_binary(binary, machine)?.instructions))
    }
}

/// The largest program, with its title and the shapes of its operands and results.
fn largest_program(m: &Module) -> Result<(Op, String, Program, CallShapes), TargetError> {
    let (op, title) = largest::<ProgramOp>(m).ok_or("there is no program of the npu")?;
    let callee = |call: &Op| m.inherent_attr(*call, "callee").and_then(|a| m.ctx.as_symbol(a)).map(|(name, _)| name);
    let call = ops_of::<CallOp>(m).find(|call| callee(call) == symbol_name(m, op)).ok_or("no op calls the program")?;
    let types = |values: &mut dyn Iterator<Item = Value>| values.map(|v| m.value_type(v)).collect::<Vec<_>>();
    let operands = CallOp::shapes(&m.ctx, &types(&mut m.operands(call).iter().copied()));
    let results = CallOp::shapes(&m.ctx, &types(&mut m.results(call)));
    Ok((op, title, Program::of(m, op)?, [operands, results]))
}

/// Draws the largest program.
fn picture(m: &Module) -> Result<String, TargetError> {
    let (op, title, program, [operands, results]) = largest_program(m)?;
    draw(m, op, (&title, &program), (&operands, &results))
}

/// The features of the largest program in SRAM.
fn memory_table(m: &Module) -> Result<CaptionedTable, TargetError> {
    let (op, title, program, shapes) = largest_program(m)?;
    Ok(npu_memory::table(m, op, (&title, &program), &shapes))
}

fn memory_picture(m: &Module) -> Result<String, TargetError> {
    let (op, title, program, shapes) = largest_program(m)?;
    npu_memory::draw(m, op, (&title, &program), &shapes)
}
