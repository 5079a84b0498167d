//! Charts of runs of simulated machines as SVG: the use of units over time, and the contents of a memory.
//!
//! | file | contents |
//! |---|---|
//! | `axis.rs` | axes of cycles and of bytes: scales and ticks |
//! | `lanes.rs` | lanes of bars |
//! | `memory.rs` | a memory by address over time |
//! | `offsets.rs` | features in a memory by offset and slice |
//!
//! Dark text on light colours. Each bar has a `<title>`, which browsers show where the mouse is.

mod axis;
mod lanes;
mod memory;
mod offsets;

pub(crate) use axis::TimeAxis;
pub(crate) use lanes::{Bar, Lane};
pub(crate) use memory::{MemoryAccess, MemoryMap};
pub(crate) use offsets::OffsetColumn;

use gradus_ir::svg::{document, escape};
use std::fmt::Write as _;

/// Left margin, with the labels of lanes.
const LEFT: f64 = 150.0;
/// Width of a time axis.
const WIDTH: f64 = 1200.0;
/// Right margin, into which the label of the last tick reaches.
const RIGHT: f64 = 40.0;
/// Width of a character relative to the size of its font, which is monospaced.
const CHARACTER: f64 = 0.602;
/// Size of the font of bars, ticks and facts.
const FONT: f64 = 11.0;

/// Colours of uses, light enough for dark text.
pub(crate) mod colours {
    /// Computation.
    pub(crate) const COMPUTE: &str = "#f5b06b";
    /// Computation of a second unit.
    pub(crate) const FINISH: &str = "#9fd39b";
    /// Reads from memory outside.
    pub(crate) const READ: &str = "#9cc3ec";
    /// Writes to memory outside.
    pub(crate) const WRITE: &str = "#cfb3e6";
    /// Copies inside of the machine.
    pub(crate) const COPY: &str = "#ecd686";
    /// Control.
    pub(crate) const CONTROL: &str = "#f2a0a0";
    /// Waiting.
    pub(crate) const WAIT: &str = "#dedede";
}

/// A chart that grows downwards, section by section.
pub(crate) struct Chart {
    body: String,
    /// Lower edge of the sections so far.
    bottom: f64,
}

impl Chart {
    /// Begins a chart with a title, and a line of facts below it.
    pub(crate) fn new(title: &str, facts: &str) -> Chart {
        let mut chart = Chart { body: String::new(), bottom: 8.0 };
        chart.text(18.0, "font-size=\"16\" font-weight=\"bold\"", title);
        chart.line(facts);
        chart.bottom += 6.0;
        chart
    }

    /// Writes a line of text.
    pub(crate) fn line(&mut self, text: &str) {
        self.text(18.0, "font-size=\"12\"", text);
    }

    /// Writes text at a distance below what there is, in a font.
    fn text(&mut self, distance: f64, font: &str, text: &str) {
        self.bottom += distance;
        let y = self.bottom;
        let _ = writeln!(self.body, "<text x=\"12\" y=\"{y}\" {font}>{}</text>", escape(text));
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, heading: &str) {
        self.text(34.0, "font-size=\"13\" font-weight=\"bold\"", heading);
        self.bottom += 10.0;
    }

    /// Draws the meanings of colours, in as many rows as they need.
    pub(crate) fn legend(&mut self, meanings: &[(&str, &str)]) {
        let (mut x, mut y) = (12.0, self.bottom + 8.0);
        for (label, colour) in meanings {
            let width = 18.0 + text_width(label, 12.0) + 24.0;
            if x + width > LEFT + WIDTH {
                (x, y) = (12.0, y + 20.0);
            }
            let _ = writeln!(
                self.body,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"13\" height=\"13\" fill=\"{colour}\" stroke=\"#666666\" stroke-width=\"0.5\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\">{}</text>",
                x + 18.0,
                y + 11.0,
                escape(label)
            );
            x += width;
        }
        self.bottom = y + 20.0;
    }

    /// Adds elements of another kind, below what is there. `draw` gets the left and top margin, and returns the height.
    pub(crate) fn figure(&mut self, draw: impl FnOnce(&mut String, [f64; 2]) -> f64) {
        self.bottom += draw(&mut self.body, [LEFT, self.bottom]);
    }

    /// Returns the document.
    pub(crate) fn finish(self) -> String {
        let style = "<style>text { fill: #222222 } .bar { stroke: #ffffff; stroke-width: 0.5 } .bar:hover { stroke: #222222; \
                     stroke-width: 1.5 } .on-bar { pointer-events: none }</style>\n";
        document([(LEFT + WIDTH + RIGHT) as usize, (self.bottom + 16.0) as usize], style, &self.body)
    }
}

/// The width of a text in a size of font.
fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * CHARACTER
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The text of a label that fits into a width: all of it, a part, the short form, or nothing. Of paths the end remains.
fn fitting(label: &str, short: &str, width: f64) -> String {
    if fits(label, width) {
        return label.to_owned();
    }
    let (room, count) = (room(width), label.chars().count());
    if room < MIN_PART {
        return if text_width(short, FONT) + 3.0 <= width { short.to_owned() } else { String::new() };
    }
    match label.contains('/') {
        true => format!("\u{2026}{}", label.chars().skip(count - (room - 1)).collect::<String>()),
        false => format!("{}\u{2026}", label.chars().take(room - 1).collect::<String>()),
    }
}

/// Number of characters that fit into a width.
fn room(width: f64) -> usize {
    ((width - 6.0) / (FONT * CHARACTER)).max(0.0) as usize
}

/// Whether all of a label fits into a width.
fn fits(label: &str, width: f64) -> bool {
    label.chars().count() <= room(width)
}

/// Least number of characters of a part of a label.
const MIN_PART: usize = 6;
