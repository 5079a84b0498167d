//! Timelines of simulated machines: the use of units over time, and what is live in a memory.

use std::fmt::Write as _;
use std::ops::Range;

/// Width of the time axis in pixels.
pub(crate) const WIDTH: usize = 1200;
/// Height of a map of a memory.
pub(crate) const HEIGHT: usize = 384;
/// Height of a lane.
pub(crate) const LANE: usize = 22;
/// Left margin, with the labels.
pub(crate) const LEFT: usize = 90;
/// Top margin, with the title.
pub(crate) const TOP: usize = 28;

/// An access to a memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryAccess {
    /// First cycle, and the one after the last.
    pub cycles: [u64; 2],
    /// The colour of the unit.
    pub colour: &'static str,
    /// Bytes.
    pub bytes: Range<u64>,
    /// Whether they are written.
    pub is_write: bool,
}

/// A time axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    /// Cycles of the run.
    pub cycles: u64,
}

/// The writer of a granule of a memory, from when to when it is live, in pixels.
struct Live {
    colour: &'static str,
    written: usize,
    read: Option<usize>,
}

impl Timeline {
    /// The pixel of a cycle.
    fn pixel(self, cycle: u64) -> usize {
        (u128::from(cycle) * WIDTH as u128 / u128::from(self.cycles.max(1))) as usize
    }

    /// The share of the cycles of each pixel that intervals cover.
    pub(crate) fn shares(self, spans: impl Iterator<Item = [u64; 2]>) -> Vec<f64> {
        let each = self.cycles.max(1) as f64 / WIDTH as f64;
        let mut shares = vec![0.0; WIDTH];
        for [begin, end] in spans {
            let (first, last) = (self.pixel(begin), self.pixel(end).min(WIDTH - 1));
            for (i, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
                let (from, to) = (i as f64 * each, (i + 1) as f64 * each);
                *share += ((end as f64).min(to) - (begin as f64).max(from)).max(0.0) / each;
            }
        }
        shares
    }

    /// Draws the granules of a memory of `size` bytes from their write to the last read before the next write. Accesses are in the order
    /// of time.
    pub(crate) fn memory(self, body: &mut String, top: usize, label: &str, size: u64, accesses: &[MemoryAccess]) {
        let granule = size.max(1).div_ceil(HEIGHT as u64).max(1);
        let mut live: Vec<Option<Live>> = (0..HEIGHT).map(|_| None).collect();
        let mut drawn = Vec::new();
        for access in accesses {
            let rows = (access.bytes.start / granule) as usize..=((access.bytes.end.max(1) - 1) / granule) as usize;
            for row in rows.filter(|&row| row < HEIGHT) {
                if access.is_write {
                    let is_same = live[row].as_ref().is_some_and(|l| l.colour == access.colour && l.read.is_none());
                    if !is_same {
                        let new = Live { colour: access.colour, written: self.pixel(access.cycles[0]), read: None };
                        drawn.extend(live[row].replace(new).map(|old| (row, old)));
                    }
                } else if let Some(live) = &mut live[row] {
                    live.read = Some(self.pixel(access.cycles[1]));
                }
            }
        }
        drawn.extend(live.into_iter().enumerate().filter_map(|(row, live)| Some((row, live?))));
        frame(body, top, label, size);
        rectangles(body, top, &drawn);
    }
}

/// Draws the border and the label of a map.
fn frame(body: &mut String, top: usize, label: &str, size: u64) {
    let _ = writeln!(body, "<text x=\"8\" y=\"{}\">{label}</text>", top + 12);
    let _ = writeln!(body, "<text x=\"8\" y=\"{}\">{} KiB</text>", top + 26, size / 1024);
    let _ = writeln!(
        body,
        "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#bbbbbb\"/>"
    );
}

/// Draws rows of a map: those that are alike and neighbours are one rectangle.
fn rectangles(body: &mut String, top: usize, drawn: &[(usize, Live)]) {
    let mut rects: Vec<(usize, usize, &str, usize)> = drawn
        .iter()
        .filter_map(|(row, live)| Some((live.written, live.read?.max(live.written + 1), live.colour, *row)))
        .collect();
    rects.sort_unstable();
    let mut i = 0;
    while i < rects.len() {
        let (from, to, colour, row) = rects[i];
        let height = (1..).take_while(|n| rects.get(i + n) == Some(&(from, to, colour, row + n))).count() + 1;
        let (x, y, width) = (LEFT + from, top + row, to - from);
        let _ = writeln!(
            body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\" opacity=\"0.6\"/>"
        );
        i += height;
    }
}

/// Draws the shares of a unit, neighbours of equal opacity as one rectangle.
pub(crate) fn lane(body: &mut String, y: usize, label: &str, colour: &str, shares: &[f64]) {
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
