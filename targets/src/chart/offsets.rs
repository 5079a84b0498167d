//! Features in a memory as columns: slices of a block to the right, offsets upwards.

use super::axis::{ByteAxis, byte_text};
use super::colours;
use super::{Chart, FONT, LEFT, WIDTH, fitting, grouped, text_width};
use gradus_ir::svg::escape;
use std::fmt::Write as _;
use std::ops::Range;

/// Largest and least width of a slice.
const SLICE: [f64; 2] = [16.0, 1.0];
/// Distance of columns.
const GAP: f64 = 12.0;
/// Least width of a column with its name.
const COLUMN: f64 = 56.0;

/// A feature in a memory.
pub(crate) struct OffsetColumn {
    /// Name.
    pub name: String,
    /// Mode.
    pub mode: String,
    /// Bytes of a block.
    pub block: u64,
    /// Bytes from the first block to the end of the last one.
    pub bytes: Range<u64>,
    /// The bytes of the blocks in which each slice has values.
    pub used: Vec<Vec<Range<u64>>>,
    /// More about it.
    pub facts: String,
}

impl Chart {
    /// Draws features as columns, in as many rows of columns as they need.
    pub(crate) fn offsets(&mut self, columns: &[OffsetColumn], size: u64) {
        let room = |column: &OffsetColumn| (column.used.len() as f64 * SLICE[0]).max(COLUMN) + GAP;
        let mut rest = columns;
        let mut first = 1;
        while !rest.is_empty() {
            let mut width = 0.0;
            let fits = |column: &&OffsetColumn| {
                width += room(column);
                width <= WIDTH
            };
            let count = rest.iter().take_while(fits).count().max(1);
            self.row_of_columns(&rest[..count], first, size);
            (rest, first) = (&rest[count..], first + count);
        }
    }

    fn row_of_columns(&mut self, columns: &[OffsetColumn], first: usize, size: u64) {
        let axis = ByteAxis::new(columns.iter().map(|column| column.bytes.clone()).collect());
        let top = self.bottom + 16.0;
        let bottom = top + axis.rows() as f64;
        let mut left = LEFT + GAP;
        for (i, column) in columns.iter().enumerate() {
            let slices = column.used.len() as f64;
            let slice = (WIDTH / slices).clamp(SLICE[1], SLICE[0]);
            let width = (slices * slice).max(COLUMN);
            draw(&mut self.body, &axis, [left, bottom, slice], column);
            let name = fitting(&column.name, &(first + i).to_string(), width + GAP);
            for (line, text) in [name, column.mode.clone()].iter().enumerate() {
                let y = bottom + 15.0 * (line + 1) as f64;
                let _ = writeln!(
                    self.body,
                    "<text x=\"{left:.1}\" y=\"{y:.1}\">{}<title>{}</title></text>",
                    escape(text),
                    escape(&column.name)
                );
            }
            left += width + GAP;
        }
        axis.draw(&mut self.body, bottom, size);
        let label = "bytes of SRAM";
        let x = LEFT - 7.0 - text_width(label, FONT);
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{:.1}\">{label}</text>", bottom + 15.0);
        self.bottom = bottom + 44.0;
    }
}

/// Draws a feature: bubbles behind, the used slices before, and its first and last offset.
fn draw(body: &mut String, axis: &ByteAxis, [left, bottom, slice]: [f64; 3], column: &OffsetColumn) {
    let title = format!(
        "{}\nmode {}: blocks of {} bytes, {} slices each\nbytes {} to {}: {}\noffsets {} to {}\n{}",
        column.name,
        column.mode,
        column.block,
        column.used.len(),
        grouped(column.bytes.start),
        grouped(column.bytes.end),
        byte_text(column.bytes.end - column.bytes.start),
        grouped(column.bytes.start / column.block),
        grouped((column.bytes.end - 1) / column.block),
        column.facts
    );
    let _ = writeln!(body, "<g><title>{}</title>", escape(&title));
    let rect = |body: &mut String, x: f64, slices: f64, rows: &Range<usize>, colour: &str| {
        let (y, height, width) = (bottom - rows.end as f64, rows.len(), slices * slice);
        let _ = writeln!(
            body,
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
        );
    };
    rect(body, left, column.used.len() as f64, &axis.rows_of(&column.bytes), colours::WAIT);
    for (i, used) in column.used.iter().enumerate() {
        let mut open: Option<Range<usize>> = None;
        for rows in used.iter().map(|bytes| axis.rows_of(bytes)) {
            // Runs in neighbouring rows of pixels are one rectangle.
            match open.as_mut().filter(|known| rows.start <= known.end) {
                Some(known) => known.end = known.end.max(rows.end),
                None => {
                    if let Some(known) = open.replace(rows) {
                        rect(body, left + i as f64 * slice, 1.0, &known, colours::FINISH);
                    }
                }
            }
        }
        if let Some(known) = open {
            rect(body, left + i as f64 * slice, 1.0, &known, colours::FINISH);
        }
    }
    let rows = axis.rows_of(&column.bytes);
    let x = left + column.used.len() as f64 * slice + 3.0;
    for (row, offset) in
        [(rows.start, column.bytes.start / column.block), (rows.end - 9, (column.bytes.end - 1) / column.block)]
    {
        let _ = writeln!(
            body,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"9\">{}</text>",
            bottom - row as f64 - 1.0,
            grouped(offset)
        );
    }
    body.push_str("</g>\n");
}
