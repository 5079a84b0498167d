//! Axes: cycles from left to right, bytes from the bottom to the top.

use super::{FONT, LEFT, WIDTH, grouped};
use std::fmt::Write as _;
use std::ops::Range;

/// Approximate number of ticks of a time axis.
const TICKS: u64 = 12;
/// Least distance of ticks of a byte axis.
const BYTE_TICK: f64 = 26.0;

/// The cycles of a chart, which fill its width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeAxis {
    /// First cycle, and the one after the last.
    pub cycles: [u64; 2],
}

impl TimeAxis {
    /// The x coordinate of a cycle, within the chart.
    pub(super) fn x(self, cycle: u64) -> f64 {
        let [first, end] = self.cycles;
        let share = (cycle.clamp(first, end) - first) as f64 / (end - first).max(1) as f64;
        LEFT + share * WIDTH
    }

    /// Whether a bar is at least partly on the axis.
    pub(super) fn shows(self, [begin, end]: [u64; 2]) -> bool {
        begin < self.cycles[1] && end.max(begin + 1) > self.cycles[0]
    }

    /// Draws lines at the ticks, behind bars.
    pub(super) fn grid(self, body: &mut String, top: f64, bottom: f64) {
        for tick in self.ticks() {
            let x = self.x(tick);
            let _ = writeln!(
                body,
                "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#e4e4e4\"/>"
            );
        }
    }

    /// Draws the axis. Returns its height.
    pub(super) fn draw(self, body: &mut String, top: f64) -> f64 {
        let right = LEFT + WIDTH;
        let _ = writeln!(
            body,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{top:.1}\" x2=\"{right}\" y2=\"{top:.1}\" stroke=\"#222222\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">cycles</text>",
            LEFT - 40.0,
            top + 15.0
        );
        for tick in self.ticks() {
            let x = self.x(tick);
            let _ = writeln!(
                body,
                "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#222222\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                top + 4.0,
                top + 15.0,
                grouped(tick)
            );
        }
        22.0
    }

    fn ticks(self) -> impl Iterator<Item = u64> {
        let [first, end] = self.cycles;
        let step = nice((end - first).div_ceil(TICKS).max(1));
        (first.div_ceil(step)..=end / step).map(move |i| i * step)
    }
}

/// The least number of at least `n` that is 1, 2 or 5 times a power of ten.
fn nice(n: u64) -> u64 {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
    powers
        .flat_map(|power| [power, power.saturating_mul(2), power.saturating_mul(5)])
        .find(|&step| step >= n)
        .unwrap_or(n)
}

/// A range of bytes that is drawn, in rows of pixels from the bottom.
struct Segment {
    bytes: Range<u64>,
    rows: Range<usize>,
}

/// The used bytes of a memory, without long ranges that nothing uses.
pub(super) struct ByteAxis {
    segments: Vec<Segment>,
}

/// Height of the used bytes, of the least range, and of a break between ranges.
const HEIGHT: f64 = 440.0;
const LEAST: f64 = 40.0;
const BREAK: usize = 20;

impl ByteAxis {
    /// Creates the axis of ranges of bytes. Unused bytes between them are left out if they are more than a tenth of the used ones.
    pub(super) fn new(mut used: Vec<Range<u64>>) -> ByteAxis {
        used.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in used.into_iter().filter(|range| !range.is_empty()) {
            match merged.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => merged.push(range),
            }
        }
        let total: u64 = merged.iter().map(|range| range.end - range.start).sum();
        let mut parts: Vec<Range<u64>> = Vec::new();
        for range in merged {
            match parts.last_mut().filter(|last| range.start - last.end <= total / 10) {
                Some(last) => last.end = range.end,
                None => parts.push(range),
            }
        }
        let shown = parts.iter().map(|range| range.end - range.start).sum::<u64>().max(1) as f64;
        let mut segments = Vec::new();
        let mut bottom = 0;
        for bytes in parts {
            let height = (((bytes.end - bytes.start) as f64 / shown * HEIGHT).max(LEAST)) as usize;
            segments.push(Segment { bytes, rows: bottom..bottom + height });
            bottom += height + BREAK;
        }
        ByteAxis { segments }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.rows.end)
    }

    /// The rows of a range of bytes, at least one.
    pub(super) fn rows_of(&self, bytes: &Range<u64>) -> Range<usize> {
        let holds = |segment: &&Segment| segment.bytes.start <= bytes.start && bytes.start < segment.bytes.end;
        let Some(Segment { bytes: all, rows }) = self.segments.iter().find(holds) else { return 0..0 };
        let scale = rows.len() as f64 / (all.end - all.start) as f64;
        let row = |byte: u64| (byte.min(all.end) - all.start) as f64 * scale;
        let first = rows.start + row(bytes.start) as usize;
        first..(rows.start + row(bytes.end).ceil() as usize).max(first + 1)
    }

    /// Draws the frame, ticks and breaks of a memory of `size` bytes whose lowest row ends at `bottom`.
    pub(super) fn draw(&self, body: &mut String, bottom: f64, size: u64) {
        let mut end_before = 0;
        for (i, Segment { bytes, rows }) in self.segments.iter().enumerate() {
            let (low, height) = (bottom - rows.start as f64, rows.len() as f64);
            let _ = writeln!(
                body,
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{WIDTH}\" height=\"{height:.1}\" fill=\"none\" stroke=\"#999999\"/>",
                low - height
            );
            if i > 0 {
                let middle = low + BREAK as f64 / 2.0 + 4.0;
                let unused = about(bytes.start - end_before);
                let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{middle:.1}\">{unused} not used</text>", LEFT + 6.0);
            }
            end_before = bytes.end;
            for tick in ticks(bytes, height) {
                let y = low - (tick - bytes.start) as f64 / (bytes.end - bytes.start) as f64 * height;
                let _ = writeln!(
                    body,
                    "<line class=\"axis\" x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{LEFT}\" y2=\"{y:.1}\" stroke=\"#222222\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    LEFT - 4.0,
                    LEFT - 7.0,
                    y + FONT / 3.0,
                    byte_text(tick)
                );
            }
        }
        if end_before < size {
            let y = bottom - self.rows() as f64 - 5.0;
            let unused = about(size - end_before);
            let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{y:.1}\">{unused} above not used</text>", LEFT + 6.0);
        }
    }
}

/// The ticks of a range: its start, and multiples of a power of two.
fn ticks(bytes: &Range<u64>, height: f64) -> Vec<u64> {
    let each = (bytes.end - bytes.start) as f64 * BYTE_TICK / height;
    let step = (each.ceil() as u64).max(1).next_power_of_two();
    let apart = |tick: &u64| (tick - bytes.start) as f64 >= each * 0.7;
    let multiples = (bytes.start / step + 1..=bytes.end / step).map(|i| i * step).filter(apart);
    std::iter::once(bytes.start).chain(multiples).collect()
}

/// A number of bytes, rounded.
fn about(bytes: u64) -> String {
    match bytes {
        n if n >= 1 << 20 => format!("{:.1} MiB", n as f64 / f64::from(1 << 20)),
        n if n >= 1 << 10 => format!("{:.1} KiB", n as f64 / f64::from(1 << 10)),
        n => format!("{n} B"),
    }
}

/// A number of bytes in the largest unit of which it is a multiple.
pub(super) fn byte_text(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        n if n.is_multiple_of(1 << 20) => format!("{} MiB", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{} KiB", grouped(n >> 10)),
        n => format!("{} B", grouped(n)),
    }
}
