//! `cluster`: a processor of clusters of cores, by its simulator.

use crate::binaries::{MachineBinaries, PROGRAM, binaries};
use crate::cluster_picture::draw;
use crate::cluster_sharing::SHARING;
use crate::listing::{largest, list, ops_of};
use crate::simulated::{Device, Simulated, through_memory};
use crate::{Executable, Precision, Statistic, Target, TargetError};
use gradus_cost::{CostModel, Machine, NEVER, Pricing, machine_numbers, price};
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Builder, Loc, Module, Op, OpArgs, OpDecl};
use gradus_lowering::graph_to_cluster;
use gradus_machines::cluster::{CallOp, NewProgram, Program, ProgramOp};
use gradus_simulators::Binary;
use gradus_simulators::cluster::text::disassemble;
use gradus_simulators::cluster::{self, ClusterMachine, Statistics};
use rustc_hash::FxHashMap;

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: "cluster",
        doc: "five clusters of sixteen cores with memories of their own, simulated; costs in cycles",
        machine: ClusterMachine::DESCRIPTION,
        cost: Pricing::Descriptors(|machine| price(Numbers::of(machine), Numbers::cost)),
        ops: || graph_to_cluster::ops().map(|info| info.name).collect(),
        supports: graph_to_cluster::computes,
        reference: Some(|machine| price(Numbers::of(machine), Numbers::host)),
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "mul-as-conv", "matmul-as-conv"],
        approx: true,
        ..CostModel::DEFAULT
    },
    pipeline: "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer,canonicalize,saturate{target=cluster floats=approx rules=graph-fuse,matmul-as-conv},\
               canonicalize,form-layers{target=cluster},choose-layers,schedule-layers,place-buffers,convert-layers-to-programs,canonicalize,cse)",
    precisions: &[Precision { name: "f16", pass: "convert-f32-to-f16", before: "saturate" }],
    load: Some(load),
    listing: Some(listing),
    picture: Some(picture),
    device: Some(binaries::<ClusterBinaries>()),
    sharing: Some(SHARING),
    ..Target::DEFAULT
};

machine_numbers! {
    /// The numbers of the cost model.
    struct Numbers {
        clusters,
        cores,
        f32_products,
        task,
        ddr_rate,
        ddr_latency,
        host_products,
        port,
        wide,
        wide_share,
        medium,
        medium_share,
        narrow_share,
    }
}

/// Bytes per element.
const ELEMENT: u64 = size_of::<f32>() as u64;

impl Numbers {
    fn cost(&self, op: OpCost) -> u64 {
        match op {
            OpCost::View => 1,
            OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => {
                self.task + n.saturating_mul(2 * ELEMENT).div_ceil(self.port.saturating_mul(self.all_cores()))
            }
            OpCost::Contract(c) => self.task.saturating_add(self.contract(&c)),
        }
    }

    /// Cycles in which the host computes: operands and results go through memory to it and back.
    fn host(&self, op: OpCost) -> u64 {
        through_memory(op, 2 * self.ddr_latency, [ELEMENT, self.ddr_rate], self.host_products)
    }

    fn all_cores(&self) -> u64 {
        self.clusters.saturating_mul(self.cores)
    }

    fn contract(&self, c: &Contraction) -> u64 {
        if c.strategy.is_some() {
            return NEVER;
        }
        let share = match c.depth / c.taps.max(1) {
            channels if channels >= self.wide => self.wide_share,
            channels if channels >= self.medium => self.medium_share,
            _ => self.narrow_share,
        };
        let bytes = c.groups.saturating_mul(c.rows).saturating_mul(c.depth).saturating_mul(ELEMENT);
        let peak = self.all_cores().saturating_mul(self.f32_products);
        let cycles = c.products().saturating_mul(100) / peak.saturating_mul(share);
        cycles.max(bytes.div_ceil(self.ddr_rate))
    }
}

fn load<'m>(m: &'m Module, function: Op, machine: &Machine, _: usize) -> Result<Box<dyn Executable + 'm>, TargetError> {
    machine.parameters(ClusterMachine::of)?;
    let numbers = Numbers::of(machine).map_err(|e| e.to_string())?;
    let mut programs = FxHashMap::default();
    for op in m.ops_under(function).into_iter().filter(|&op| CallOp::cast(m, op).is_some()) {
        programs.insert(op, CallOp::program(m, op)?);
    }
    Ok(Box::new(Simulated::new(m, function, Clusters { programs, numbers, counts: Vec::new() })))
}

/// The programs of a function, and the counts of their runs.
struct Clusters {
    programs: FxHashMap<Op, Program>,
    numbers: Numbers,
    counts: Vec<Statistics>,
}

impl Device for Clusters {
    fn run(&mut self, args: &OpArgs<'_>, data: &[Datum]) -> Option<Result<(Vec<Datum>, u64), Trap>> {
        let program = self.programs.get(&args.op?)?;
        Some(program.call(args, data).map(|(results, counts)| {
            let cycles = counts.cycles;
            self.counts.push(counts);
            (results, cycles)
        }))
    }

    fn host(&self, op: OpCost) -> u64 {
        self.numbers.host(op)
    }

    fn statistics(&self, calls: u64) -> Vec<Statistic> {
        let sum = |f: &dyn Fn(&Statistics) -> u64| self.counts.iter().map(f).sum::<u64>();
        let each = |name: &str, unit, f: &dyn Fn(&Statistics) -> u64| Statistic {
            name: name.to_owned(),
            value: (sum(f) / calls) as f64,
            unit,
        };
        let share = |name: &str, value: f64| Statistic { name: name.to_owned(), value: 100.0 * value, unit: "%" };
        let (cycles, clusters) = (sum(&|c| c.cycles).max(1), sum(&|c| c.busy.len() as u64 * c.cycles).max(1));
        let busy = |f: &dyn Fn(&cluster::Busy) -> u64| sum(&|c| c.busy.iter().map(f).sum()) as f64 / clusters as f64;
        let conv_weight = |c: &Statistics| c.convolutions.max(1) as f64;
        let weights: f64 = self.counts.iter().map(conv_weight).sum();
        let balance = self.counts.iter().fold(0.0, |sum, c| sum + c.balance * conv_weight(c)) / weights.max(1.0);
        let peak = self.counts.iter().flat_map(|c| &c.spm_peak).max().copied().unwrap_or(0);
        vec![
            each("cycles", "cycles", &|c| c.cycles),
            each("bound", "cycles", &Statistics::bound),
            each("bound of DDR", "cycles", &|c| c.bounds.ddr),
            each("bound of products", "cycles", &|c| c.bounds.products),
            each("critical path", "cycles", &|c| c.bounds.critical_path),
            each("bound with the size of memories", "cycles", &|c| c.bounds.memory.max(c.bound())),
            share("bound by cycles", sum(&Statistics::bound) as f64 / cycles as f64),
            each("products", "products", &|c| c.products),
            share("computing", busy(&|b| b.compute)),
            share("waiting", busy(&|b| b.wait)),
            share("issuing", busy(&|b| b.issue)),
            share("DDR busy", sum(&|c| c.ddr_busy) as f64 / cycles as f64),
            share("balance of convolutions", balance),
            each("tasks", "tasks", &|c| c.tasks),
            each("convolutions", "tasks", &|c| c.convolutions),
            each("read from memory", "bytes", &|c| c.ddr_bytes_read),
            each("constants among them", "bytes", &|c| c.parameter_bytes_read),
            each("written to memory", "bytes", &|c| c.ddr_bytes_written),
            each("sent between clusters", "bytes", &|c| c.exchange_bytes),
            Statistic { name: "highest byte of a cluster".to_owned(), value: peak as f64, unit: "bytes" },
        ]
    }
}

/// Lists the records of all programs.
fn listing(m: &Module) -> String {
    list(m, ops_of::<ProgramOp>(m))
}

/// Programs of clusters as binaries.
struct ClusterBinaries;

/// Reads the program of a binary for a machine.
fn from_binary(binary: &Binary, machine: &Machine) -> Result<Program, TargetError> {
    let machine = machine.parameters(ClusterMachine::of)?;
    Ok(Program::from_binary(binary, &machine).map_err(|error| error.to_string())?)
}

impl MachineBinaries for ClusterBinaries {
    const NAME: &'static str = cluster::NAME;
    const SECTIONS: &'static [&'static str] = &["records of cluster", "constants", "operands and results"];
    type Program = ProgramOp;
    type Call = CallOp;

    fn binary(m: &Module, program: Op, _: Op) -> Result<Binary, TargetError> {
        Ok(Program::of(m, program)?.to_binary())
    }

    fn build(b: &mut Builder<'_>, binary: &Binary, machine: &Machine) -> Result<(), TargetError> {
        let Program { machine, code } = from_binary(binary, machine)?;
        NewProgram { name: PROGRAM, machine: &machine, code: &code }.build(b, Loc::UNKNOWN);
        Ok(())
    }

    fn disassemble(binary: &Binary, machine: &Machine) -> Result<String, TargetError> {
        Ok(disassemble(&from_binary(binary, machine)?.code.records))
    }
}

/// Draws the largest program.
fn picture(m: &Module) -> Result<String, TargetError> {
    let (op, title) = largest::<ProgramOp>(m).ok_or("there is no program of clusters")?;
    draw(m, op, &title, &Program::of(m, op)?)
}
