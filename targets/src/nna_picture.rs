//! A picture of a run of the nna: both slots, the array and the RAMs over time, and the patches of a feature RAM.

use crate::TargetError;
use crate::chart::{Bar, Chart, Lane, TimeAxis, colours, grouped};
use gradus_simulators::nna::{Conditions, Form, Layout, NnaInst, NnaMachine, ROWS, Slot, Span, Statistics, observe};
use std::fmt::Write as _;

/// Colours of the array and of its reads, of writes, of the reads of results, and of other vector instructions.
const ARRAY: &str = colours::COMPUTE;
const WRITE: &str = colours::READ;
const READ: &str = colours::FINISH;
const VECTOR: &str = colours::COPY;
/// Their meanings.
const LEGEND: [(&str, &str); 4] = [
    ("convolution, and the feature RAM that it reads", ARRAY),
    ("processor writes pixels or weights", WRITE),
    ("processor reads results", READ),
    ("vector instruction", VECTOR),
];
/// Colours of patches that stand side by side, and of gaps.
const PATCHES: [&str; 2] = ["#8fb4e3", "#f0b48a"];
const GAP: &str = "#d0d0d0";
/// Side of a pixel of a feature RAM.
const PIXEL: usize = 40;
/// Convolutions before and after the middle one that the enlarged part of a run has.
const AROUND: usize = 3;
/// Instructions of a run that are kept: the rest of a longer one is not drawn.
const MAX_SPANS: usize = 1 << 22;

/// The use of a unit: its colour, its cycles, and the instructions that use it so.
type UnitUse<'a> = (&'static str, u64, &'a dyn Fn(&NnaInst) -> bool);

/// A run of a program.
struct PicturedRun<'a> {
    code: &'a [NnaInst],
    machine: &'a NnaMachine,
    spans: Vec<Span>,
    cycles: u64,
}

/// Draws a run of a program on operands of zeros.
///
/// # Errors
/// The program does not run.
pub(crate) fn draw(name: &str, code: &[NnaInst], layout: &Layout, machine: &NnaMachine) -> Result<String, TargetError> {
    let (run, counts) = trace(code, layout, machine)?;
    let shape = layout.shape;
    let products = (shape.rows * shape.depth * shape.columns) as f64;
    let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
    let title = format!(
        "{name} on the nna: product {}x{}x{}, {} cycles",
        shape.rows,
        shape.depth,
        shape.columns,
        grouped(run.cycles)
    );
    let facts = format!(
        "bound {} cycles; array busy {:.1} %, useful {:.1} %",
        grouped(layout.bound(machine)),
        percent(counts.busy as f64, run.cycles as f64),
        percent(products, run.cycles as f64 * machine.peak() as f64)
    );
    let mut chart = Chart::new(&title, &facts);
    chart.legend(&LEGEND);
    let lanes = run.lanes();
    chart.section("The whole run");
    chart.lanes(TimeAxis { cycles: [0, run.cycles] }, &lanes);
    let steps = run.steps();
    if let Some(&middle) = steps.get(steps.len() / 2) {
        chart.section("A part in the middle");
        chart.lanes(TimeAxis { cycles: run.around(&steps, steps.len() / 2) }, &lanes);
        chart.section(&format!(
            "Pixels of feature RAM {} that the convolution at cycle {} reads",
            run.inst(&run.spans[middle]).args[0],
            grouped(run.spans[middle].begin)
        ));
        chart.line("0 to 8 are a patch of 3x3 pixels of 32 channels; - are gaps between patches; every second output is a patch");
        chart.figure(|body, [left, top]| run.patches(body, [left as usize, top as usize], middle));
    }
    Ok(chart.finish())
}

fn trace<'a>(
    code: &'a [NnaInst],
    layout: &Layout,
    machine: &'a NnaMachine,
) -> Result<(PicturedRun<'a>, Statistics), TargetError> {
    let shape = layout.shape;
    let zeros = |n: usize| vec![0_i8; n];
    let initial = vec![0; if layout.plan.initial { shape.rows * shape.columns } else { 0 }];
    let scales = vec![0; if layout.plan.requantize.is_some() { shape.rows } else { 0 }];
    let conditions = Conditions::REJECT;
    let (a, b) = (zeros(shape.rows * shape.depth), zeros(shape.depth * shape.columns));
    let mut memory = layout.image(&a, &b, &initial, &scales, conditions.fill)?;
    let mut spans = Vec::new();
    let keep = |span: Span| {
        if spans.len() < MAX_SPANS {
            spans.push(span);
        }
    };
    let counts = observe(code, machine, &mut memory, &conditions, keep).map_err(|fault| fault.to_string())?;
    Ok((PicturedRun { code, machine, spans, cycles: counts.cycles }, counts))
}

impl PicturedRun<'_> {
    fn inst(&self, span: &Span) -> &NnaInst {
        &self.code[span.inst]
    }

    /// The spans of the convolutions, as indices.
    fn steps(&self) -> Vec<usize> {
        let is_step = |i: &usize| self.inst(&self.spans[*i]).form == Form::Nnmacg;
        (0..self.spans.len()).filter(is_step).collect()
    }

    /// The cycles of a convolution with its neighbours.
    fn around(&self, steps: &[usize], middle: usize) -> [u64; 2] {
        let begin = |i: usize| self.spans[steps[i]].begin;
        let (first, last) = (middle.saturating_sub(AROUND), (middle + AROUND).min(steps.len() - 1));
        [begin(first), begin(last) + self.machine.step()]
    }

    /// The lanes of units and memories.
    fn lanes(&self) -> Vec<Lane> {
        let step = self.machine.step();
        let lane = |label: &str, uses: &[UnitUse<'_>]| {
            let bar = |span: &Span| {
                let inst = self.inst(span);
                let &(colour, cycles, _) = uses.iter().find(|(.., is)| is(inst))?;
                let (begin, what) = (span.begin, inst.form.name().to_owned());
                Some(Bar { cycles: [begin, begin + cycles], colour, what, place: inst.to_string(), ..Bar::default() })
            };
            Lane { label: label.to_owned(), bars: self.spans.iter().filter_map(bar).collect() }
        };
        let is =
            |form: Form, first: i32| move |inst: &NnaInst| inst.form == form && (first < 0 || inst.args[0] == first);
        let mut lanes = vec![lane("array", &[(ARRAY, step, &is(Form::Nnmacg, -1))])];
        for fram in 0..self.machine.frams as i32 {
            let uses: [UnitUse<'_>; 2] = [(ARRAY, step, &is(Form::Nnmacg, fram)), (WRITE, 1, &is(Form::Nndwf, fram))];
            lanes.push(lane(&format!("feature RAM {fram}"), &uses));
        }
        lanes.push(lane("weight RAM", &[(WRITE, 1, &is(Form::Nndww, -1))]));
        lanes.push(lane("results", &[(READ, 1, &is(Form::Nndrdocb, -1))]));
        lanes.push(lane("vector slot", &[(VECTOR, 1, &|inst| inst.form.info().slot == Slot::Vector)]));
        lanes
    }

    /// Draws the feature RAM that a convolution reads: patches, each with its taps, gaps, and pixels that were not written.
    /// Returns the height.
    fn patches(&self, body: &mut String, [left, top]: [usize; 2], step: usize) -> f64 {
        let (fram, row) = (self.inst(&self.spans[step]).args[0], self.machine.row());
        let written = self.written(step, fram);
        for pixel in 0..ROWS * row {
            let (line, column) = (pixel / row, pixel % row);
            let (x, y) = (left + column * PIXEL, top + 12 + line * PIXEL);
            let is_gap = column % 4 == 3;
            let (colour, label, what) = match written.contains(&pixel) {
                true if is_gap => (GAP, "-".to_owned(), "gap".to_owned()),
                true => {
                    let tap = 3 * line + column % 4;
                    (PATCHES[column / 4 % 2], tap.to_string(), format!("pixel {tap} of patch {}", column / 4))
                }
                false => ("white", String::new(), "not written".to_owned()),
            };
            let _ = writeln!(
                body,
                "<rect class=\"pixel\" x=\"{x}\" y=\"{y}\" width=\"{PIXEL}\" height=\"{PIXEL}\" fill=\"{colour}\" stroke=\"#888888\">\
                 <title>row {line}, column {column}: {what}</title></rect>"
            );
            let (x, y) = (x + PIXEL / 2, y + PIXEL / 2 + 4);
            let _ = writeln!(body, "<text class=\"on-bar\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
        }
        let bottom = top + 12 + ROWS * PIXEL;
        for line in 0..ROWS {
            let (x, y) = (left - 8, top + 12 + line * PIXEL + PIXEL / 2 + 4);
            let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">row {line}</text>");
        }
        for output in 0..self.machine.outputs as usize {
            let is_patch = output % 2 == 0 && written.contains(&(2 * output));
            let text = if is_patch { format!("output {output}") } else { "not read".to_owned() };
            let x = left + 2 * output * PIXEL;
            let _ = writeln!(body, "<text x=\"{x}\" y=\"{}\">{text}</text>", bottom + 14);
        }
        (bottom + 24 - top) as f64
    }

    /// The pixels of a feature RAM that were written last before a span, each once.
    fn written(&self, before: usize, fram: i32) -> std::collections::BTreeSet<usize> {
        let mut pixels = std::collections::BTreeSet::new();
        for span in self.spans[..before].iter().rev() {
            let inst = self.inst(span);
            let Some(pixel) = span.pixel.filter(|_| inst.form == Form::Nndwf && inst.args[0] == fram) else { continue };
            if !pixels.insert(pixel) {
                break;
            }
            pixels.insert(pixel + 1);
        }
        pixels
    }
}
