//! Drawing of memory cells.

use std::fmt::Write as _;

/// Side length of a cell in pixels.
pub(super) const CELL: usize = 24;

/// Width of a character in pixels.
pub(super) const LETTER: usize = 7;

/// Colors of the first, middle and last element; black text is readable on all of them.
const COLOURS: [[u32; 3]; 3] = [[255, 243, 176], [127, 205, 187], [94, 160, 214]];

/// The layers of the drawing, bottom to top.
#[derive(Default)]
pub(super) struct Cells {
    /// Outlines of the cells that are not read, as a path.
    empties: String,
    filled: String,
    marks: String,
    width: usize,
}

impl Cells {
    /// Draws text.
    pub(super) fn text(&mut self, x: usize, y: usize, style: &str, text: &str) {
        let _ = writeln!(self.filled, "<text x=\"{x}\" y=\"{y}\" {style}>{text}</text>");
    }

    /// Draws a cell that is not read.
    pub(super) fn empty(&mut self, [x, y]: [usize; 2]) {
        self.width = self.width.max(x + CELL);
        let _ = write!(self.empties, "M{x},{y}h{CELL}v{CELL}h-{CELL}z ");
    }

    /// Draws a cell that is read as element k, with the number if it fits.
    pub(super) fn read(&mut self, [x, y]: [usize; 2], k: usize, fill: &str) {
        self.width = self.width.max(x + CELL);
        let _ = writeln!(
            self.filled,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" stroke=\"gray\"/>"
        );
        let number = k.to_string();
        if number.len() * LETTER < CELL {
            self.text(x + CELL / 2, y + CELL / 2 + 4, "text-anchor=\"middle\"", &number);
        }
    }

    /// Marks a cell as the base of an address.
    pub(super) fn base(&mut self, [x, y]: [usize; 2]) {
        let _ = writeln!(
            self.marks,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\" stroke-width=\"2\"/>",
            x + 1,
            y + 1,
            CELL - 2,
            CELL - 2
        );
    }

    /// Returns the right edge of the drawing in pixels.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the drawing as SVG elements.
    pub(super) fn drawn(&self) -> String {
        let Cells { empties, filled, marks, .. } = self;
        format!("<path d=\"{}\" fill=\"whitesmoke\" stroke=\"silver\"/>\n{filled}{marks}", empties.trim_end())
    }
}

/// Returns the color of element `k` of `count`.
pub(super) fn colour(k: usize, count: usize) -> String {
    let last = (count.max(2) - 1) as u64;
    let place = (k as u64 * 512 / last).min(512) as u32;
    let (part, within) = if place < 256 { (0, place) } else { (1, place - 256) };
    let mix = |i: usize| (COLOURS[part][i] * (256 - within) + COLOURS[part + 1][i] * within) / 256;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}
