//! Features in a memory as columns: slices of a block to the right, offsets upwards.

use super::axis::{ByteAxis, byte_text};
use super::colours;
use super::{Chart, FONT, LEFT, WIDTH, fitting, grouped, text_width};
use gradus_ir::svg::escape;
use std::fmt::Write as _;
use std::ops::Range;

/// Least and largest width of a slice.
const SLICE: [f64; 2] = [1.0, 28.0];
/// Distance of columns.
const GAP: f64 = 12.0;
/// Least and largest width of a column with its name and offsets.
const COLUMN: [f64; 2] = [72.0, 170.0];
/// Width of offsets.
const OFFSETS: f64 = 46.0;

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
        let most = ((WIDTH - GAP) / (COLUMN[0] + GAP)) as usize;
        // Rows of columns of about the same number.
        let count = columns.len().div_ceil(columns.len().div_ceil(most).max(1)).max(1);
        for (i, row) in columns.chunks(count).enumerate() {
            self.row_of_columns(row, 1 + i * count, size);
        }
    }

    fn row_of_columns(&mut self, columns: &[OffsetColumn], first: usize, size: u64) {
        let axis = ByteAxis::new(columns.iter().map(|column| column.bytes.clone()).collect());
        let top = self.bottom + 16.0;
        let bottom = top + axis.rows() as f64;
        let width = ((WIDTH - GAP) / columns.len() as f64 - GAP).clamp(COLUMN[0], COLUMN[1]);
        for (i, column) in columns.iter().enumerate() {
            let left = LEFT + GAP + i as f64 * (width + GAP);
            let slice = ((width - OFFSETS) / column.used.len() as f64).clamp(SLICE[0], SLICE[1]);
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
