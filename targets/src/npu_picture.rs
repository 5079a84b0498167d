//! A picture of a run of the npu: the instructions of each unit over time, and the contents of SRAM.

use crate::TargetError;
use crate::chart::{Bar, Chart, Lane, MemoryAccess, MemoryMap, TimeAxis, colours, grouped};
use crate::layer_names::{LayerNames, NUMBERS, NamedTensor};
use gradus_ir::{DType, Module, Op, OpDecl, Tensor};
use gradus_lowering::graph_to_npu::{Extent, Space, extents};
use gradus_machines::npu::{Program, ProgramOp};
use gradus_simulators::npu::{MNEMONICS, NpuInst, Span, Statistics, Unit};
use std::ops::Range;

/// Units with their names, colours and meanings.
const UNITS: [(Unit, &str, &str, &str); 5] = [
    (Unit::Load, "load", colours::READ, "load: DDR to SRAM"),
    (Unit::Array, "array", colours::COMPUTE, "array: convolutions"),
    (Unit::Pipe, "pipe", colours::FINISH, "pipe: accumulators to bytes"),
    (Unit::Mover, "mover", colours::COPY, "mover: within SRAM"),
    (Unit::Store, "store", colours::WRITE, "store: SRAM to DDR"),
];

/// Types and extents of tensors.
pub(crate) type Shapes = [(DType, Vec<usize>)];

/// Draws a run of a program on operands of zeros, with the given element types and extents.
///
/// # Errors
/// The program does not run.
pub(crate) fn draw(
    m: &Module,
    op: Op,
    (name, program): (&str, &Program),
    (operands, results): (&Shapes, &Shapes),
) -> Result<String, TargetError> {
    let zeros = |(dtype, shape): &(DType, Vec<usize>)| {
        Tensor::new(*dtype, shape.clone(), vec![0; bytes_of(*dtype, shape)].into()).map_err(|e| e.to_string())
    };
    let tensors = operands.iter().map(zeros).collect::<Result<Vec<_>, _>>()?;
    let (_, counts) = program.run(&tensors, results, true).map_err(|trap| trap.to_string())?;
    let facts = format!(
        "array busy {:.1} %, useful {:.1} %; {} bytes read from DDR, {} written",
        100.0 * counts.busy(Unit::Array) as f64 / counts.cycles.max(1) as f64,
        100.0 * counts.utilization(),
        grouped(counts.ddr_bytes_read),
        grouped(counts.ddr_bytes_written)
    );
    let mut chart = Chart::new(&format!("{name} on the npu: {} cycles", grouped(counts.cycles)), &facts);
    chart.legend(&UNITS.map(|(.., colour, meaning)| (meaning, colour)));
    let axis = TimeAxis { cycles: [0, counts.cycles] };
    let run =
        PicturedRun::new(m, op, program, [ranges(&program.operands, operands), ranges(&program.results, results)]);
    let lane = |(unit, label, colour, _): (Unit, &str, &'static str, &str)| {
        let spans = counts.trace.iter().filter(|span| span.unit == unit);
        Lane { label: label.to_owned(), bars: spans.map(|span| run.bar(span, colour)).collect() }
    };
    chart.section(&format!("Units: instructions over time, with their layers ({NUMBERS})"));
    chart.lanes(axis, &UNITS.map(lane));
    chart.section("SRAM: address over time; each buffer from its write to its last read");
    chart.memory(axis, &run.sram(&counts));
    Ok(chart.finish())
}

/// The bytes of a tensor.
fn bytes_of(dtype: DType, shape: &[usize]) -> usize {
    shape.iter().product::<usize>() * dtype.size()
}

/// The bytes of tensors in DDR.
pub(crate) fn ranges(places: &[usize], shapes: &Shapes) -> Vec<Range<u64>> {
    let range =
        |(&at, (dtype, shape)): (&usize, &(DType, Vec<usize>))| at as u64..(at + bytes_of(*dtype, shape)) as u64;
    places.iter().zip(shapes).map(range).collect()
}

/// A program whose run is drawn.
pub(crate) struct PicturedRun<'a> {
    program: &'a Program,
    /// The bytes that each instruction accesses.
    extents: Vec<Vec<Extent>>,
    names: LayerNames,
    /// The layer of each instruction.
    layers: Vec<Option<usize>>,
    /// Operands and results in DDR.
    tensors: [Vec<Range<u64>>; 2],
}

impl PicturedRun<'_> {
    /// A run of the program of an op. `tensors`: the bytes of operands and results in DDR.
    pub(crate) fn new<'a>(m: &Module, op: Op, program: &'a Program, tensors: [Vec<Range<u64>>; 2]) -> PicturedRun<'a> {
        let extents: Vec<_> = program.instructions.iter().map(|inst| extents(&program.machine, inst)).collect();
        let block = ProgramOp::cast(m, op).and_then(|op| m.entry(op.body(m)));
        let ops: Vec<Op> = block.into_iter().flat_map(|block| m.block_ops(block)).collect();
        let mut names = LayerNames::default();
        let mut layers = vec![None; program.instructions.len()];
        if ops.len() == layers.len() {
            for (i, &op) in ops.iter().enumerate().filter(|(i, _)| is_of_layer(&program.instructions[*i])) {
                layers[i] = names.layer(m, op);
            }
        }
        let mut run = PicturedRun { program, extents, names, layers, tensors };
        for i in 0..run.layers.len() {
            if run.layers[i].is_none() {
                run.layers[i] = run.layer_of_transfer(i);
            }
        }
        run
    }

    /// The layer of a transfer: the first one that reads its bytes of SRAM, or the last one that wrote those that it stores.
    fn layer_of_transfer(&self, index: usize) -> Option<usize> {
        let sram = self.extents[index].iter().find(|extent| extent.space == Space::Sram)?;
        let is_other = |i: &usize| {
            is_of_layer(&self.program.instructions[*i]) && self.extents[*i].iter().any(|extent| extent.conflicts(sram))
        };
        let found = match self.program.instructions[index] {
            NpuInst::Store(_) => (0..index).rev().find(is_other),
            _ => (index + 1..self.layers.len()).find(is_other),
        };
        found.and_then(|i| self.layers[i])
    }

    /// The bytes that an instruction accesses.
    pub(crate) fn extents_of(&self, index: usize) -> &[Extent] {
        &self.extents[index]
    }

    /// The tensor that a transfer moves, or that of the layer of another instruction.
    pub(crate) fn subject(&self, index: usize) -> NamedTensor {
        let ddr = self.extents[index].iter().find(|extent| extent.space == Space::Ddr);
        let ddr = ddr.map(|extent| (extent.start..extent.end, extent.is_write));
        let [operands, results] = &self.tensors;
        self.names.tensor(self.layers[index], ddr, [operands, results], self.program.constants.len() as u64)
    }

    fn bar(&self, span: &Span, colour: &'static str) -> Bar {
        let (inst, subject) = (&self.program.instructions[span.inst], self.subject(span.inst));
        let bytes = match inst {
            NpuInst::Load(t) | NpuInst::Store(t) => {
                t.counts.iter().fold(u64::from(t.run), |n, &count| n * u64::from(count))
            }
            _ => 0,
        };
        Bar {
            cycles: [span.start, span.end],
            colour,
            what: MNEMONICS.get(inst.opcode()).copied().unwrap_or_default().to_owned(),
            name: subject.name,
            label: subject.label,
            short: LayerNames::number(self.layers[span.inst]),
            bytes,
            place: self.extents[span.inst].iter().map(place).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The contents of SRAM.
    fn sram(&self, counts: &Statistics) -> MemoryMap {
        let mut spans: Vec<&Span> = counts.trace.iter().collect();
        spans.sort_by_key(|span| (span.start, span.inst));
        let size = self.program.machine.sram_bytes.into();
        let mut map = MemoryMap { size, buffers: Vec::new(), accesses: Vec::new() };
        for span in spans {
            let colour = UNITS.iter().find(|unit| unit.0 == span.unit).map_or(colours::COPY, |unit| unit.2);
            for extent in self.extents[span.inst].iter().filter(|extent| extent.space == Space::Sram) {
                let written = extent.is_write.then(|| map.buffer(self.subject(span.inst), colour));
                map.accesses.push(MemoryAccess {
                    cycles: [span.start, span.end],
                    bytes: extent.start..extent.end,
                    written,
                });
            }
        }
        map
    }
}

/// Whether an instruction computes a layer.
fn is_of_layer(inst: &NpuInst) -> bool {
    matches!(inst, NpuInst::Conv(_) | NpuInst::DwConv(_) | NpuInst::Post(_) | NpuInst::Move(_))
}

fn place(extent: &Extent) -> String {
    let memory = match extent.space {
        Space::Sram => "bytes of SRAM",
        Space::Accumulators => "accumulators",
        Space::Ddr => "bytes of DDR",
    };
    let does = if extent.is_write { "writes" } else { "reads" };
    format!("{does} {memory} {} to {}", grouped(extent.start), grouped(extent.end))
}
