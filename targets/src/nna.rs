//! `nna`: an engine for 3x3 convolutions and its processor. Products run on the simulator, other ops on the host.

use crate::binaries::{MachineBinaries, PROGRAM, binaries};
use crate::listing::largest;
use crate::nna_picture::draw;
use crate::simulated::{Device, Simulated};
use crate::{Executable, Statistic, Target, TargetError};
use gradus_cost::{CostModel, Machine, Price, Pricing};
use gradus_dialects::op_cost::OpCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::rules::CostFn;
use gradus_ir::{Builder, Loc, Module, Op, OpArgs, OpDecl, OpState, Value};
use gradus_lowering::matmul_to_nna;
use gradus_machines::nna::{CallOp, MatMulOp, Prepared, ProgramOp, code_of, define, inst_of};
use gradus_simulators::Binary;
use gradus_simulators::nna::{self, NnaMachine, ProductProgram, Statistics};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The number of the machine that is the price of the host.
const HOST_ELEMENT: &str = "host_element";

/// The declaration of the target.
pub const TARGET: Target = Target {
    cost: CostModel {
        name: nna::NAME,
        doc: "an engine for 3x3 convolutions and its scalar processor; costs in cycles",
        machine: NnaMachine::DESCRIPTION,
        cost: Pricing::Machine(|machine| {
            let element = machine.value(HOST_ELEMENT)?;
            let machine = machine.parameters(nna::PricedMachine::of);
            Ok(CostFn::new(move |m, op| product(m, op, machine.as_ref().ok(), element)))
        }),
        ops: || matmul_to_nna::ops().map(|info| info.name).collect(),
        supports: matmul_to_nna::computes,
        reference: Some(|machine| {
            let element = machine.value(HOST_ELEMENT)?;
            Ok(Price::new(move |op| host(op, element)))
        }),
        groups: &["graph-algebra", "graph-fuse", "graph-merge", "matmul-on-nna", "mul-as-conv"],
        approx: true,
        ..CostModel::DEFAULT
    },
    pipeline: "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer,canonicalize,\
               saturate{target=nna floats=approx rules=graph-algebra,graph-fuse,matmul-on-nna},canonicalize,\
               choose-plans{target=nna},convert-matmul-to-nna{target=nna},canonicalize)",
    load: Some(load),
    listing: Some(listing),
    picture: Some(picture),
    device: Some(binaries::<NnaBinaries>()),
    ..Target::DEFAULT
};

/// Returns the cycles of a product by its cheapest program, and of the host, which moves elements around it. A product whose mapping the
/// program does not name costs one more, so that it is named. One that the machine does not compute is one of the host.
fn product(m: &Module, op: Op, machine: Option<&nna::PricedMachine>, element: u64) -> u64 {
    let is_named = MatMulOp::cast(m, op).is_some();
    match machine.and_then(|machine| matmul_to_nna::product_cost(m, op, machine)) {
        Some(cost) => cost.saturating_add((!is_named).into()),
        None => host(OpCost::of(m, op), element),
    }
}

/// Returns the cycles in which the scalar processor computes, `element` for each element of a result; a product per cycle.
fn host(op: OpCost, element: u64) -> u64 {
    match op {
        OpCost::View => 1,
        OpCost::Move(n) | OpCost::Relayout(n) | OpCost::Map(n) => n.saturating_mul(element),
        // Each result is a sum to store, besides the elements of its products.
        OpCost::Contract(c) => {
            let results = c.groups.saturating_mul(c.rows).saturating_mul(c.columns);
            c.products().saturating_add(results.saturating_mul(element.saturating_sub(1)))
        }
    }
}

fn load<'m>(m: &'m Module, function: Op, machine: &Machine, _: usize) -> Result<Box<dyn Executable + 'm>, TargetError> {
    let host_element = machine.value(HOST_ELEMENT).map_err(String::from)?;
    let device = Nna { programs: BTreeMap::new(), host_element, counts: CallCounts::default() };
    Ok(Box::new(Simulated::new(m, function, device)))
}

/// Lists the instructions of all programs, as the assembler reads them.
fn listing(m: &Module) -> String {
    let mut text = String::new();
    for op in m.ops_under(m.root()) {
        if let Some(name) = ProgramOp::cast(m, op).and_then(|program| program.sym_name(m)) {
            text += &format!("# {}\n", m.ctx.as_str(name).unwrap_or_default());
        }
        if let Some(inst) = inst_of(m, op) {
            text += &format!("{inst}\n");
        }
    }
    text
}

/// Programs of the nna as binaries.
struct NnaBinaries;

/// The sections of a binary: those of the program, and the number of operands of each group of its call, a byte each.
const SECTIONS: [&str; 3] = ["code", "plan", "groups of operands"];

impl MachineBinaries for NnaBinaries {
    const NAME: &'static str = nna::NAME;
    const SECTIONS: &'static [&'static str] = &SECTIONS;
    type Program = ProgramOp;
    type Call = CallOp;

    fn binary(m: &Module, program: Op, call: Op) -> Result<Binary, TargetError> {
        let (code, layout, machine) = code_of(m, program)?;
        let mut binary = ProductProgram { code, layout, cycles: 0 }.to_binary(&machine);
        let groups = 0..CallOp::INFO.operands.len();
        binary.sections.push(groups.map(|group| m.operand_group(call, group).len() as u8).collect());
        Ok(binary)
    }

    fn build(b: &mut Builder<'_>, binary: &Binary, machine: &Machine) -> Result<(), TargetError> {
        let machine = machine.parameters(NnaMachine::of)?;
        let product = ProductProgram::from_binary(binary, &machine)?;
        let body = b.module.body();
        define(b.module, body, PROGRAM, &product, &machine, Loc::UNKNOWN);
        Ok(())
    }

    fn add_operands(state: &mut OpState, binary: &Binary, operands: &[Value]) -> Result<(), TargetError> {
        let [_, _, groups] = &binary.sections[..] else { return Err("not the sections of a product".into()) };
        let mut rest = operands;
        for &size in groups {
            let (group, others) = rest.split_at_checked(size.into()).ok_or("groups of more operands than there are")?;
            state.operand_group(group);
            rest = others;
        }
        let is_whole = rest.is_empty() && groups.len() == CallOp::INFO.operands.len();
        if is_whole { Ok(()) } else { Err("groups of other operands than there are".into()) }
    }

    fn disassemble(binary: &Binary, machine: &Machine) -> Result<String, TargetError> {
        let product = ProductProgram::from_binary(binary, &machine.parameters(NnaMachine::of)?)?;
        Ok(nna::disassemble(&product.code))
    }
}

/// Draws the largest program.
fn picture(m: &Module) -> Result<String, TargetError> {
    let (op, title) = largest::<ProgramOp>(m).ok_or("there is no program of the nna")?;
    let (code, layout, machine) = code_of(m, op)?;
    draw(&title, &code, &layout, &machine)
}

/// Counts over all calls.
#[derive(Default)]
struct CallCounts {
    cycles: u64,
    without_ping_pong: u64,
    bound: u64,
    busy: u64,
    products: u64,
    /// Products that the array computes in a cycle.
    peak: u64,
    weight_bytes: u64,
    /// Bytes that are written to the weight RAM if no weight is written twice.
    weight_bytes_once: u64,
    feature_bytes: u64,
    instructions: u64,
}

impl CallCounts {
    fn add(&mut self, program: &Prepared, s: &Statistics) {
        let costs = program.costs();
        self.cycles += s.cycles;
        self.without_ping_pong += costs.without_ping_pong;
        self.bound += costs.bound;
        self.busy += s.busy;
        self.products += costs.products;
        self.peak = costs.peak;
        self.weight_bytes += s.weight_bytes;
        self.weight_bytes_once += costs.weight_bytes;
        self.feature_bytes += s.feature_bytes;
        self.instructions += s.issued.iter().sum::<u64>();
    }
}

/// The programs of a function, each prepared when it first runs, and the sum of their counts.
struct Nna {
    programs: BTreeMap<Op, Prepared>,
    /// Cycles for an element that the host moves or computes.
    host_element: u64,
    counts: CallCounts,
}

impl Device for Nna {
    fn run(&mut self, args: &OpArgs<'_>, data: &[Datum]) -> Option<Result<(Vec<Datum>, u64), Trap>> {
        let op = args.op.filter(|&op| CallOp::cast(args.module, op).is_some())?;
        if data.iter().any(Datum::has_poison) {
            return None;
        }
        let mut run = || {
            let program = match self.programs.entry(op) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(Prepared::of(args.module, op)?),
            };
            let (result, statistics) = program.run(args, data)?;
            self.counts.add(program, &statistics);
            Ok((vec![Datum::Tensor(result)], statistics.cycles))
        };
        Some(run())
    }

    fn host(&self, op: OpCost) -> u64 {
        host(op, self.host_element)
    }

    fn statistics(&self, calls: u64) -> Vec<Statistic> {
        let (c, calls) = (&self.counts, calls as f64);
        let percent = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
        let each = |n: u64| n as f64 / calls;
        let cycles = c.cycles as f64;
        let rows = [
            ("cycles", each(c.cycles), "cycles"),
            ("cycles without ping-pong", each(c.without_ping_pong), "cycles"),
            ("bound", each(c.bound), "cycles"),
            ("instructions", each(c.instructions), "instructions"),
            ("busy", percent(c.busy as f64, cycles), "%"),
            ("useful", percent(c.products as f64, cycles * c.peak as f64), "%"),
            ("weights written", each(c.weight_bytes), "bytes"),
            ("weights written again", each(c.weight_bytes.saturating_sub(c.weight_bytes_once)), "bytes"),
            ("features written", each(c.feature_bytes), "bytes"),
        ];
        rows.into_iter().map(|(name, value, unit)| Statistic { name: name.to_owned(), value, unit }).collect()
    }
}
