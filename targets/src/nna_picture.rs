//! A picture of a run of the nna: both slots, the array and the RAMs over time, and the patches of a feature RAM.

use crate::TargetError;
use crate::timeline::{LANE, LEFT, TOP, Timeline, WIDTH, lane};
use gradus_ir::svg::{document, escape};
use gradus_simulators::nna::{Conditions, Form, Layout, NnaInst, NnaMachine, ROWS, Slot, Span, Statistics, observe};
use std::fmt::Write as _;

/// Colours of the array and of what it reads, of writes, and of the reads of results.
const ARRAY: &str = "#c2571a";
const WRITE: &str = "#3b6fb6";
const READ: &str = "#3c8d40";
const VECTOR: &str = "#777777";
/// Colours of patches that stand side by side, and of gaps.
const PATCHES: [&str; 2] = ["#8fb4e3", "#f0b48a"];
const GAP: &str = "#d0d0d0";
/// Side of a pixel of a feature RAM.
const PIXEL: usize = 40;
/// Convolutions before and after the middle one that the enlarged part of a run has.
const AROUND: usize = 3;
/// Instructions of a run that are kept: the rest of a longer one is not drawn.
const MAX_SPANS: usize = 1 << 22;

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
    let mut body = String::new();
    let shape = layout.shape;
    let products = (shape.rows * shape.depth * shape.columns) as f64;
    let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
    let title = format!(
        "@{name}: product {}x{}x{}, {} cycles, bound {}, array busy {:.1} %, useful {:.1} %",
        shape.rows,
        shape.depth,
        shape.columns,
        run.cycles,
        layout.bound(machine),
        percent(counts.busy as f64, run.cycles as f64),
        percent(products, run.cycles as f64 * machine.peak() as f64)
    );
    let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"16\">{}</text>", escape(&title));
    let mut y = run.lanes(&mut body, TOP, [0, run.cycles]);
    let steps = run.steps();
    if let Some(&middle) = steps.get(steps.len() / 2) {
        let window = run.around(&steps, steps.len() / 2);
        let text = format!("cycles {} to {}", window[0], window[1]);
        let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"{}\">{text}</text>", y + 28);
        y = run.lanes(&mut body, y + 36, window);
        y = run.patches(&mut body, y + 28, middle);
    }
    Ok(document([LEFT + WIDTH + 16, y + 16], "", &body))
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

    /// Draws the lanes of some cycles. Returns the bottom.
    fn lanes(&self, body: &mut String, top: usize, [first, end]: [u64; 2]) -> usize {
        let timeline = Timeline { cycles: end - first };
        let step = self.machine.step();
        let mut draw = |y: usize, label: &str, colour: &str, of: &dyn Fn(&NnaInst) -> Option<u64>| {
            let spans = self.spans.iter().filter_map(|span| Some((span.begin, span.begin + of(self.inst(span))?)));
            let inside = spans.filter(|&(from, to)| to > first && from < end);
            let shares = timeline.shares(inside.map(|(from, to)| [from.max(first) - first, to.min(end) - first]));
            lane(body, y, label, colour, &shares);
        };
        let is = |form: Form, first: i32| {
            move |inst: &NnaInst| (inst.form == form && (first < 0 || inst.args[0] == first)).then_some(1)
        };
        let mut y = top;
        draw(y, "array", ARRAY, &|inst| (inst.form == Form::Nnmacg).then_some(step));
        for fram in 0..self.machine.frams as i32 {
            y += LANE;
            let reads = |inst: &NnaInst| (inst.form == Form::Nnmacg && inst.args[0] == fram).then_some(step);
            draw(y, "", ARRAY, &reads);
            draw(y, &format!("features {fram}"), WRITE, &is(Form::Nndwf, fram));
        }
        y += LANE;
        draw(y, "weights", WRITE, &is(Form::Nndww, -1));
        y += LANE;
        draw(y, "results", READ, &is(Form::Nndrdocb, -1));
        y += LANE;
        draw(y, "vector slot", VECTOR, &|inst| (inst.form.info().slot == Slot::Vector).then_some(1));
        y + LANE
    }

    /// Draws the feature RAM that a convolution reads: patches, each with its taps, gaps, and pixels that were not written.
    /// Returns the bottom.
    fn patches(&self, body: &mut String, top: usize, step: usize) -> usize {
        let inst = self.inst(&self.spans[step]);
        let (fram, row) = (inst.args[0], self.machine.row());
        let written = self.written(step, fram);
        let text = format!(
            "features {fram} of the convolution at cycle {}: patches of 3x3 pixels of 32 channels, and gaps (-); an output at each second pixel",
            self.spans[step].begin
        );
        let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"{top}\">{text}</text>");
        for pixel in 0..ROWS * row {
            let (line, column) = (pixel / row, pixel % row);
            let (x, y) = (LEFT + column * PIXEL, top + 8 + line * PIXEL);
            let is_gap = column % 4 == 3;
            let (colour, label) = match written.contains(&pixel) {
                true if is_gap => (GAP, "-".to_owned()),
                true => (PATCHES[column / 4 % 2], format!("{}", 3 * line + column % 4)),
                false => ("white", String::new()),
            };
            let _ = writeln!(
                body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{PIXEL}\" height=\"{PIXEL}\" fill=\"{colour}\" stroke=\"#888888\"/>"
            );
            let _ = writeln!(body, "<text x=\"{}\" y=\"{}\">{label}</text>", x + PIXEL / 2 - 3, y + PIXEL / 2 + 4);
        }
        let bottom = top + 8 + ROWS * PIXEL;
        for output in 0..self.machine.outputs as usize {
            let is_patch = output % 2 == 0 && written.contains(&(2 * output));
            let word = if is_patch { "output" } else { "not read" };
            let x = LEFT + 2 * output * PIXEL;
            let _ = writeln!(body, "<text x=\"{x}\" y=\"{}\">{word} {output}</text>", bottom + 14);
        }
        bottom + 24
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
