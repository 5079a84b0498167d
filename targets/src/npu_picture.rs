//! A picture of a run of the npu: what each unit does over time, and what is live in SRAM.

use gradus_dialects::npu::Program;
use gradus_ir::svg::{document, escape};
use gradus_ir::{DType, Tensor};
use gradus_lowering::graph_to_npu::{Space, extents};
use gradus_simulators::npu::{Span, Statistics, Unit};
use std::fmt::Write as _;

/// Sizes in pixels: time, SRAM, a lane of a unit, margins.
const WIDTH: usize = 1200;
const HEIGHT: usize = 384;
const LANE: usize = 22;
const LEFT: usize = 90;
const TOP: usize = 28;

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
) -> Result<String, String> {
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
    for (i, (unit, label, colour)) in UNITS.into_iter().enumerate() {
        lane(&mut body, TOP + i * LANE, label, colour, &busy(&counts, unit));
    }
    let top = TOP + UNITS.len() * LANE + 24;
    sram(&mut body, top, program, &counts);
    Ok(document([LEFT + WIDTH + 16, top + HEIGHT + 24], "", &body))
}

/// The pixel of a cycle.
fn pixel(cycle: u64, counts: &Statistics) -> usize {
    (cycle as u128 * WIDTH as u128 / u128::from(counts.cycles.max(1))) as usize
}

/// The share of the cycles of each pixel in which a unit is busy.
fn busy(counts: &Statistics, unit: Unit) -> Vec<f64> {
    let each = counts.cycles.max(1) as f64 / WIDTH as f64;
    let mut shares = vec![0.0; WIDTH];
    for span in counts.trace.iter().filter(|span| span.unit == unit) {
        let (first, last) = (pixel(span.start, counts), pixel(span.end, counts).min(WIDTH - 1));
        for (i, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from, to) = (i as f64 * each, (i + 1) as f64 * each);
            *share += ((span.end as f64).min(to) - (span.start as f64).max(from)).max(0.0) / each;
        }
    }
    shares
}

/// Draws the shares of a unit, neighbours of equal opacity as one rectangle.
fn lane(body: &mut String, y: usize, label: &str, colour: &str, shares: &[f64]) {
    let _ = writeln!(body, "<text x=\"8\" y=\"{}\">{label}</text>", y + 14);
    let level = |share: f64| (share.min(1.0) * 10.0).round() as usize;
    let mut x = 0;
    while x < shares.len() {
        let here = level(shares[x]);
        let width = shares[x..].iter().take_while(|&&share| level(share) == here).count();
        if here > 0 {
            let (left, opacity) = (LEFT + x, here as f64 / 10.0);
            let height = LANE - 4;
            let _ = writeln!(
                body,
                "<rect x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\" opacity=\"{opacity}\"/>"
            );
        }
        x += width;
    }
}

/// What wrote a granule of SRAM, from when to when it is live, in pixels.
struct Live {
    unit: Unit,
    written: usize,
    read: Option<usize>,
}

/// Draws the granules of SRAM from their write to the last read before the next write.
fn sram(body: &mut String, top: usize, program: &Program, counts: &Statistics) {
    let size = u64::from(program.machine.sram_bytes).max(1);
    let granule = size.div_ceil(HEIGHT as u64).max(1);
    let mut live: Vec<Option<Live>> = (0..HEIGHT).map(|_| None).collect();
    let mut spans: Vec<&Span> = counts.trace.iter().collect();
    spans.sort_by_key(|span| (span.start, span.inst));
    let mut drawn = Vec::new();
    for span in spans {
        for extent in extents(&program.machine, &program.instructions[span.inst]) {
            if extent.space != Space::Sram {
                continue;
            }
            let rows = (extent.start / granule) as usize..=((extent.end.max(1) - 1) / granule) as usize;
            for row in rows.filter(|&row| row < HEIGHT) {
                if extent.is_write {
                    let is_same = live[row].as_ref().is_some_and(|l| l.unit == span.unit && l.read.is_none());
                    if !is_same {
                        let new = Live { unit: span.unit, written: pixel(span.start, counts), read: None };
                        drawn.extend(live[row].replace(new).map(|old| (row, old)));
                    }
                } else if let Some(live) = &mut live[row] {
                    live.read = Some(pixel(span.end, counts));
                }
            }
        }
    }
    drawn.extend(live.into_iter().enumerate().filter_map(|(row, live)| Some((row, live?))));
    let _ = writeln!(body, "<text x=\"8\" y=\"{}\">SRAM</text>", top + 12);
    let _ = writeln!(body, "<text x=\"8\" y=\"{}\">{} KiB</text>", top + 26, size / 1024);
    let _ = writeln!(
        body,
        "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#bbbbbb\"/>"
    );
    // Rows that are alike and neighbours are one rectangle.
    let mut rects: Vec<(usize, usize, usize, usize)> = drawn
        .iter()
        .filter_map(|(row, live)| Some((live.written, live.read?.max(live.written + 1), live.unit as usize, *row)))
        .collect();
    rects.sort_unstable();
    let mut i = 0;
    while i < rects.len() {
        let (from, to, unit, row) = rects[i];
        let height = (1..).take_while(|n| rects.get(i + n) == Some(&(from, to, unit, row + n))).count() + 1;
        let colour = UNITS.iter().find(|u| u.0 as usize == unit).map_or("#000000", |u| u.2);
        let (x, y, width) = (LEFT + from, top + row, to - from);
        let _ = writeln!(
            body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\" opacity=\"0.6\"/>"
        );
        i += height;
    }
}
