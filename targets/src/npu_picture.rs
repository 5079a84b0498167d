//! A picture of a run of the npu: what each unit does over time, and what is live in SRAM.

use crate::TargetError;
use crate::timeline::{HEIGHT, LANE, LEFT, MemoryAccess, TOP, Timeline, WIDTH, lane};
use gradus_ir::svg::{document, escape};
use gradus_ir::{DType, Tensor};
use gradus_lowering::graph_to_npu::{Space, extents};
use gradus_machines::npu::Program;
use gradus_simulators::npu::{Span, Statistics, Unit};
use std::fmt::Write as _;

/// Units with their names and colours.
const UNITS: [(Unit, &str, &str); 5] = [
    (Unit::Load, "load", "#3b6fb6"),
    (Unit::Store, "store", "#8a4fb0"),
    (Unit::Array, "array", "#c2571a"),
    (Unit::Pipe, "pipe", "#3c8d40"),
    (Unit::Mover, "mover", "#777777"),
];

/// Draws a run of a program on operands of zeros, with the given element types and extents.
///
/// # Errors
/// The program does not run.
pub(crate) fn draw(
    name: &str,
    program: &Program,
    operands: &[(DType, Vec<usize>)],
    results: &[(DType, Vec<usize>)],
) -> Result<String, TargetError> {
    let zeros = |(dtype, shape): &(DType, Vec<usize>)| {
        let bytes = vec![0; shape.iter().product::<usize>() * dtype.size()];
        Tensor::new(*dtype, shape.clone(), bytes.into()).map_err(|e| e.to_string())
    };
    let operands = operands.iter().map(zeros).collect::<Result<Vec<_>, _>>()?;
    let (_, counts) = program.run(&operands, results, true).map_err(|trap| trap.to_string())?;
    let mut body = String::new();
    let title = format!(
        "@{name}: {} cycles, array busy {:.1} %, useful {:.1} %, {} bytes read and {} written",
        counts.cycles,
        100.0 * counts.busy(Unit::Array) as f64 / counts.cycles.max(1) as f64,
        100.0 * counts.utilization(),
        counts.ddr_bytes_read,
        counts.ddr_bytes_written
    );
    let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"16\">{}</text>", escape(&title));
    let timeline = Timeline { cycles: counts.cycles };
    for (i, (unit, label, colour)) in UNITS.into_iter().enumerate() {
        let spans = counts.trace.iter().filter(|span| span.unit == unit).map(|span| [span.start, span.end]);
        lane(&mut body, TOP + i * LANE, label, colour, &timeline.shares(spans));
    }
    let top = TOP + UNITS.len() * LANE + 24;
    let size = u64::from(program.machine.sram_bytes);
    timeline.memory(&mut body, top, "SRAM", size, &accesses(program, &counts));
    Ok(document([LEFT + WIDTH + 16, top + HEIGHT + 24], "", &body))
}

/// The accesses to SRAM, in the order of time.
fn accesses(program: &Program, counts: &Statistics) -> Vec<MemoryAccess> {
    let mut spans: Vec<&Span> = counts.trace.iter().collect();
    spans.sort_by_key(|span| (span.start, span.inst));
    let colour = |unit: Unit| UNITS.iter().find(|u| u.0 == unit).map_or("#000000", |u| u.2);
    let of = |span: &Span| {
        let (cycles, colour) = ([span.start, span.end], colour(span.unit));
        let extents = extents(&program.machine, &program.instructions[span.inst]).into_iter();
        let sram = extents.filter(|extent| extent.space == Space::Sram);
        sram.map(move |e| MemoryAccess { cycles, colour, bytes: e.start..e.end, is_write: e.is_write })
            .collect::<Vec<_>>()
    };
    spans.into_iter().flat_map(of).collect()
}
