//! A memory by address over time: each buffer from its write to its last read.

use super::axis::{ByteAxis, byte_text};
use super::lanes::on_bar;
use super::{Chart, FONT, TimeAxis, fits, fitting, grouped};
use crate::layer_names::NamedTensor;
use gradus_ir::svg::escape;
use std::fmt::Write as _;
use std::ops::Range;

/// Writes of one buffer that are at most this many pixels after its last read continue it.
const GAP: f64 = 2.0;
/// Rows of a label.
const LABEL: usize = 11;

/// An access to a memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryAccess {
    /// First cycle, and the one after the last.
    pub cycles: [u64; 2],
    /// The bytes.
    pub bytes: Range<u64>,
    /// The buffer that is written; `None` for reads.
    pub written: Option<usize>,
}

/// The accesses to a memory, in the order of time.
pub(crate) struct MemoryMap {
    /// Bytes of the memory.
    pub size: u64,
    /// The buffers: names, labels where a name does not fit, and colours.
    pub buffers: Vec<[String; 3]>,
    /// The accesses.
    pub accesses: Vec<MemoryAccess>,
}

impl MemoryMap {
    /// The number of a buffer, which is added if it is new.
    pub(crate) fn buffer(&mut self, NamedTensor { name, label }: NamedTensor, colour: &str) -> usize {
        let buffer = [name, label, colour.to_owned()];
        let known = self.buffers.iter().rposition(|known| *known == buffer);
        known.unwrap_or_else(|| {
            self.buffers.push(buffer);
            self.buffers.len() - 1
        })
    }
}

/// The contents of a row of a map, from the write to the last read so far.
#[derive(Clone)]
struct Live {
    buffer: usize,
    row: usize,
    written: u64,
    read: Option<u64>,
    bytes: Range<u64>,
}

impl Live {
    fn end(&self) -> u64 {
        self.read.unwrap_or(self.written).max(self.written + 1)
    }
}

impl Chart {
    /// Draws a memory above a time axis.
    pub(crate) fn memory(&mut self, axis: TimeAxis, map: &MemoryMap) {
        let bytes = ByteAxis::new(map.accesses.iter().map(|access| access.bytes.clone()).collect());
        let top = self.bottom + 16.0;
        let bottom = top + bytes.rows() as f64;
        axis.grid(&mut self.body, top, bottom);
        for shape in shapes(lives(axis, &bytes, map)) {
            draw(&mut self.body, axis, bottom, map, &shape);
        }
        bytes.draw(&mut self.body, bottom, map.size);
        self.bottom = bottom + axis.draw(&mut self.body, bottom);
    }
}

/// The contents of all rows.
fn lives(axis: TimeAxis, bytes: &ByteAxis, map: &MemoryMap) -> Vec<Live> {
    let mut rows: Vec<Option<Live>> = vec![None; bytes.rows()];
    let mut all = Vec::new();
    for access in &map.accesses {
        for row in bytes.rows_of(&access.bytes) {
            let Some(live) = rows.get_mut(row) else { continue };
            let Some(buffer) = access.written else {
                if let Some(live) = live {
                    live.read = Some(live.read.unwrap_or(0).max(access.cycles[1]));
                }
                continue;
            };
            let continued = live.as_mut().filter(|live| {
                let is_near = live.read.is_none_or(|read| axis.x(access.cycles[0]) - axis.x(read) < GAP);
                live.buffer == buffer && is_near
            });
            match continued {
                Some(live) => {
                    live.bytes = live.bytes.start.min(access.bytes.start)..live.bytes.end.max(access.bytes.end);
                }
                None => {
                    let (written, bytes) = (access.cycles[0], access.bytes.clone());
                    all.extend(live.replace(Live { buffer, row, written, read: None, bytes }));
                }
            }
        }
    }
    all.extend(rows.into_iter().flatten());
    all.retain(|live| live.read.is_some());
    all
}

/// Joins rows of one buffer that are neighbours and live at the same time.
fn shapes(mut lives: Vec<Live>) -> Vec<Vec<Live>> {
    lives.sort_by_key(|live| (live.buffer, live.row, live.written));
    let mut done: Vec<Vec<Live>> = Vec::new();
    let mut open: Vec<Vec<Live>> = Vec::new();
    for live in lives {
        let reaches =
            |shape: &Vec<Live>| shape.last().is_some_and(|last| last.buffer == live.buffer && last.row + 1 >= live.row);
        let (still, closed): (Vec<_>, Vec<_>) = open.into_iter().partition(reaches);
        open = still;
        done.extend(closed);
        let below = |shape: &&mut Vec<Live>| {
            shape
                .last()
                .is_some_and(|last| last.row + 1 == live.row && last.written < live.end() && live.written < last.end())
        };
        match open.iter_mut().find(below) {
            Some(shape) => shape.push(live),
            None => open.push(vec![live]),
        }
    }
    done.extend(open);
    done
}

fn draw(body: &mut String, axis: TimeAxis, bottom: f64, map: &MemoryMap, shape: &[Live]) {
    let [name, label, colour] = &map.buffers[shape[0].buffer];
    let extent = |live: &Live| [axis.x(live.written), axis.x(live.end()).max(axis.x(live.written) + 1.0)];
    // Up along the left edges, and down along the right ones.
    let (mut up, mut down) = (String::new(), Vec::new());
    for rows in shape.chunk_by(|a, b| extent(a) == extent(b)) {
        let [from, to] = extent(&rows[0]);
        let (low, high) = (bottom - rows[0].row as f64, bottom - (rows[0].row + rows.len()) as f64);
        let _ = write!(up, "{}{from:.1} {low:.1}V{high:.1}", if up.is_empty() { 'M' } else { 'L' });
        down.push(format!("L{to:.1} {high:.1}V{low:.1}"));
    }
    let path: String = std::iter::once(up).chain(down.into_iter().rev()).collect();
    let hull = |of: fn(&Live) -> [u64; 2]| {
        shape.iter().map(of).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).unwrap_or_default()
    };
    let [first, end] = hull(|live| [live.bytes.start, live.bytes.end]);
    let [begin, last] = hull(|live| [live.written, live.end()]);
    let title = format!(
        "{name}\nbytes {} to {}: {}\ncycles {} to {}: {}",
        grouped(first),
        grouped(end),
        byte_text(end - first),
        grouped(begin),
        grouped(last),
        grouped(last - begin)
    );
    let _ =
        writeln!(body, "<path class=\"bar\" d=\"{path}z\" fill=\"{colour}\"><title>{}</title></path>", escape(&title));
    if shape.len() >= LABEL {
        let middle = &shape[(shape.len() - LABEL) / 2..][..LABEL];
        let [from, to] = middle.iter().map(extent).fold([f64::MIN, f64::MAX], |a, b| [a[0].max(b[0]), a[1].min(b[1])]);
        let y = bottom - (middle[0].row + LABEL / 2) as f64 + FONT / 3.0;
        on_bar(body, [(from + to) / 2.0, y], &fitting(if fits(name, to - from) { name } else { label }, "", to - from));
    }
}
