//! The features of a program of the npu in SRAM by offset and slice: a block of the mode has an offset, a slice is the channels of one of
//! its columns.

use crate::chart::{Chart, OffsetColumn, colours, grouped};
use crate::npu_picture::{PicturedRun, ranges};
use crate::{CaptionedTable, TargetError};
use gradus_ir::{DType, Module, Op};
use gradus_lowering::graph_to_npu::Space;
use gradus_machines::npu::Program;
use gradus_simulators::npu::{Feature, NpuInst};
use std::collections::BTreeSet;
use std::ops::Range;

/// The types and extents of operands and results of a program.
pub(crate) type CallShapes = [Vec<(DType, Vec<usize>)>; 2];

/// A feature in SRAM, or a tile of one, in the mode in which it is written or read.
struct SramFeature {
    /// The tensor or layer.
    name: String,
    /// Its placement.
    place: Feature,
    /// Columns and channels.
    extents: [u64; 2],
    /// The first byte of each of its rows.
    rows: BTreeSet<u64>,
}

impl SramFeature {
    /// Slices of a block.
    fn slices(&self) -> u64 {
        self.place.tile_w.into()
    }

    /// Bytes of a block.
    fn block(&self) -> u64 {
        self.slices() * u64::from(self.place.tile_c)
    }

    /// Blocks of a row along columns and channels.
    fn blocks(&self) -> [u64; 2] {
        let [columns, channels] = self.extents;
        [columns.div_ceil(self.slices()), channels.div_ceil(self.place.tile_c.into())]
    }

    /// Bytes of a row, from its first block to the end of its last one.
    fn row_bytes(&self) -> u64 {
        let last = self.blocks().map(|blocks| blocks - 1);
        last[0] * u64::from(self.place.col) + last[1] * u64::from(self.place.chan) + self.block()
    }

    /// Divides the rows where they do not follow each other: tiles have buffers at several places.
    fn buffers(self) -> Vec<SramFeature> {
        let most = u64::from(self.place.row).max(self.row_bytes());
        let mut buffers: Vec<BTreeSet<u64>> = Vec::new();
        for &row in &self.rows {
            match buffers.last_mut().filter(|rows| rows.last().is_some_and(|last| row - last <= most)) {
                Some(rows) => {
                    rows.insert(row);
                }
                None => buffers.push(BTreeSet::from([row])),
            }
        }
        let with = |rows| SramFeature { name: self.name.clone(), rows, ..self };
        buffers.into_iter().map(with).collect()
    }

    /// The bytes from the first row to the end of the last one.
    fn bytes(&self) -> Range<u64> {
        let (first, last) = (self.rows.first().copied().unwrap_or(0), self.rows.last().copied().unwrap_or(0));
        first..last + self.row_bytes()
    }

    /// Slices that hold values, and those that hold padding only.
    fn counts(&self) -> [u64; 2] {
        let ([columns, channels], rows) = (self.blocks(), self.rows.len() as u64);
        let used = rows * self.extents[0] * channels;
        [used, rows * columns * channels * self.slices() - used]
    }

    /// The mode, as the choices of layers have it.
    fn mode(&self) -> String {
        match (self.place.tile_w, self.place.tile_c) {
            (1, channels) => format!("{channels}c"),
            (columns, channels) => format!("{columns}w{channels}c"),
        }
    }

    /// Whether it is a line of bytes, as products of elements have it.
    fn is_line(&self) -> bool {
        self.place.row == 0 && self.place.col == 0
    }

    /// The offsets in which each slice has values.
    fn used(&self) -> Vec<Vec<Range<u64>>> {
        let ([columns, channels], slices) = (self.blocks(), self.slices());
        let mut used: Vec<Vec<u64>> = vec![Vec::new(); slices as usize];
        let blocks = self.rows.iter().flat_map(|row| (0..columns).map(move |w| (row, w)));
        for (row, w) in blocks {
            for c in 0..channels {
                let byte = row + w * u64::from(self.place.col) + c * u64::from(self.place.chan);
                let filled = slices.min(self.extents[0] - w * slices) as usize;
                used[..filled].iter_mut().for_each(|slice| slice.push(byte));
            }
        }
        used.into_iter().map(|bytes| runs(bytes, self.block())).collect()
    }
}

/// The runs of blocks that follow each other, as bytes.
fn runs(mut bytes: Vec<u64>, block: u64) -> Vec<Range<u64>> {
    bytes.sort_unstable();
    let mut runs: Vec<Range<u64>> = Vec::new();
    for byte in bytes {
        match runs.last_mut().filter(|run| run.end == byte) {
            Some(run) => run.end += block,
            None => runs.push(byte..byte + block),
        }
    }
    runs
}

/// Returns the features of a program in the order in which they are first written.
fn features(m: &Module, op: Op, program: &Program, shapes: &CallShapes) -> Vec<SramFeature> {
    let [operands, results] = shapes;
    let tensors = [ranges(&program.operands, operands), ranges(&program.results, results)];
    let run = PicturedRun::new(m, op, program, tensors);
    let mut written: Vec<(Range<u64>, String)> = Vec::new();
    let mut all: Vec<SramFeature> = Vec::new();
    for (i, inst) in program.instructions.iter().enumerate() {
        let extents = run.extents_of(i).iter().filter(|extent| extent.space == Space::Sram);
        if let Some(extent) = extents.clone().find(|extent| extent.is_write) {
            written.push((extent.start..extent.end, run.subject(i).name));
        }
        for (place, [rows, columns, channels]) in placements(inst) {
            let first = u64::from(place.base);
            let writer = written.iter().rev().find(|(bytes, _)| bytes.contains(&first));
            let Some((_, name)) = writer else { continue };
            let rows = (0..rows).map(|row| first + row * u64::from(place.row));
            let is_known = |known: &&mut SramFeature| {
                let strides = |f: &Feature| [f.row, f.col, f.chan, f.tile_w.into(), f.tile_c.into()];
                known.name == *name && strides(&known.place) == strides(&place) && known.extents[0] == columns
            };
            match all.iter_mut().rev().find(is_known) {
                Some(known) => {
                    known.rows.extend(rows);
                    known.extents[1] = known.extents[1].max(channels);
                }
                None => {
                    let (name, rows) = (name.clone(), rows.collect());
                    all.push(SramFeature { name, place, extents: [columns, channels], rows });
                }
            }
        }
    }
    let all: Vec<SramFeature> = all.into_iter().flat_map(SramFeature::buffers).collect();
    let others: Vec<(String, Range<u64>)> =
        all.iter().filter(|f| !f.is_line()).map(|f| (f.name.clone(), f.bytes())).collect();
    // Lines have no mode of their own.
    let is_shown = |f: &SramFeature| {
        let bytes = f.bytes();
        let is_same =
            |(name, of): &(String, Range<u64>)| *name == f.name && of.start < bytes.end && bytes.start < of.end;
        !f.is_line() || !others.iter().any(is_same)
    };
    all.into_iter().filter(is_shown).collect()
}

/// The features that an instruction reads and writes, with rows, columns and channels.
fn placements(inst: &NpuInst) -> Vec<(Feature, [u64; 3])> {
    match inst {
        NpuInst::Conv(c) => vec![(c.feature, [c.height, c.width, c.depth].map(u64::from))],
        NpuInst::DwConv(c) => vec![(c.feature, [c.height, c.width, c.kernels].map(u64::from))],
        NpuInst::Post(p) => vec![(p.output, [p.rows, p.cols, p.kernels].map(u64::from))],
        _ => Vec::new(),
    }
}

/// The rows of a table of the features of a program in SRAM, with a caption.
pub(crate) fn table(m: &Module, op: Op, (name, program): (&str, &Program), shapes: &CallShapes) -> CaptionedTable {
    let header = ["feature", "mode", "first byte", "bytes", "first offset", "offsets", "slices", "used", "bubbles"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for f in features(m, op, program, shapes) {
        let (bytes, [used, bubbles]) = (f.bytes(), f.counts());
        let numbers = [
            bytes.start,
            bytes.end - bytes.start,
            bytes.start / f.block(),
            (bytes.end - bytes.start).div_ceil(f.block()),
            f.slices(),
            used,
            bubbles,
        ];
        rows.push([f.name.clone(), f.mode()].into_iter().chain(numbers.map(grouped)).collect());
    }
    let caption = format!(
        "{name}: features in {} bytes of SRAM\noffset: number of a block of the mode; slice: the channels of a column of a block\n\
         bubbles: slices that hold padding only\n",
        grouped(program.machine.sram_bytes.into())
    );
    (caption, rows)
}

/// Draws the features of a program in SRAM.
///
/// # Errors
/// A program without features in SRAM.
pub(crate) fn draw(
    m: &Module,
    op: Op,
    (name, program): (&str, &Program),
    shapes: &CallShapes,
) -> Result<String, TargetError> {
    let features = features(m, op, program, shapes);
    if features.is_empty() {
        return Err("the program has no features in SRAM".into());
    }
    let facts = format!("{} features in {} bytes", features.len(), grouped(program.machine.sram_bytes.into()));
    let mut chart = Chart::new(&format!("SRAM of {name}: offset by slice"), &facts);
    chart.legend(&[("slices with values", colours::FINISH), ("bubbles: slices with padding only", colours::WAIT)]);
    chart.section("Features in the order of their first use: slices of a block to the right, offsets upwards");
    let column = |f: &SramFeature| {
        let (bytes, [used, bubbles]) = (f.bytes(), f.counts());
        OffsetColumn {
            name: f.name.clone(),
            mode: f.mode(),
            block: f.block(),
            bytes,
            used: f.used(),
            facts: format!("{} slices used, {} bubbles", grouped(used), grouped(bubbles)),
        }
    };
    chart.offsets(&features.iter().map(column).collect::<Vec<_>>(), program.machine.sram_bytes.into());
    Ok(chart.finish())
}
