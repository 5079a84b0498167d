//! The bytes and accumulators that an instruction accesses, as one range for each operand.

use super::shape::PARAMETERS;
use gradus_simulators::npu::{Conv, Feature, Move, NpuInst, NpuMachine, Post, Transfer};

/// The memories of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// SRAM, in bytes.
    Sram,
    /// Accumulators, in elements.
    Accumulators,
    /// DDR, in bytes.
    Ddr,
}

/// A range that contains all that an operand accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The memory.
    pub space: Space,
    /// First address.
    pub start: u64,
    /// First address after the range.
    pub end: u64,
    /// Whether it is written.
    pub is_write: bool,
}

impl Extent {
    /// Whether the order of two accesses matters.
    pub fn conflicts(&self, other: &Extent) -> bool {
        let overlap = self.space == other.space && self.start < other.end && other.start < self.end;
        overlap && (self.is_write || other.is_write)
    }

    /// Whether this access conflicts with everything that `other` conflicts with.
    pub fn covers(&self, other: &Extent) -> bool {
        let contains = self.space == other.space && self.start <= other.start && other.end <= self.end;
        contains && (self.is_write || !other.is_write)
    }

    fn read(space: Space, start: u32, len: u64) -> Extent {
        Extent { space, start: start.into(), end: u64::from(start) + len, is_write: false }
    }

    fn written(self) -> Extent {
        Extent { is_write: true, ..self }
    }
}

/// Returns the extents of an instruction.
pub fn extents(machine: &NpuMachine, inst: &NpuInst) -> Vec<Extent> {
    match inst {
        NpuInst::Load(t) => {
            let [ddr, sram] = transfer(t);
            vec![ddr, sram.written()]
        }
        NpuInst::Store(t) => {
            let [ddr, sram] = transfer(t);
            vec![sram, ddr.written()]
        }
        NpuInst::Move(m) => {
            let [from, to] = moved(m);
            vec![from, to.written()]
        }
        NpuInst::Conv(c) => convolution(machine, c, c.depth, c.depth),
        NpuInst::DwConv(c) => convolution(machine, c, c.kernels, 1),
        NpuInst::Post(p) => requantization(machine, p),
        NpuInst::Signal { .. } | NpuInst::Wait { .. } | NpuInst::End => Vec::new(),
    }
}

/// The distance from the first to the last of counted runs.
fn span(counts: &[u32], strides: &[u32]) -> u64 {
    counts.iter().zip(strides).map(|(&n, &s)| (u64::from(n).max(1) - 1) * u64::from(s)).sum()
}

fn transfer(t: &Transfer) -> [Extent; 2] {
    let run = u64::from(t.run);
    [
        Extent::read(Space::Ddr, t.ddr, span(&t.counts, &t.ddr_strides) + run),
        Extent::read(Space::Sram, t.sram, span(&t.counts, &t.sram_strides) + run),
    ]
}

fn moved(m: &Move) -> [Extent; 2] {
    let slice = u64::from(m.slice);
    [(m.from, m.from_strides), (m.to, m.to_strides)]
        .map(|(start, strides)| Extent::read(Space::Sram, start, span(&m.counts, &strides) + slice))
}

/// Bytes from the first to the last element of a feature.
fn feature(f: &Feature, rows: u16, cols: u16, channels: u16) -> Extent {
    let last = [rows.max(1) - 1, (cols.max(1) - 1) / f.tile_w.max(1), (channels.max(1) - 1) / f.tile_c.max(1)];
    let blocks: u64 = last.iter().zip([f.row, f.col, f.chan]).map(|(&n, s)| u64::from(n) * u64::from(s)).sum();
    Extent::read(Space::Sram, f.base, blocks + u64::from(f.tile_w) * u64::from(f.tile_c))
}

fn accumulators(machine: &NpuMachine, first: u32, kernels: u16, positions: u64) -> Extent {
    let groups = u64::from(u32::from(kernels).div_ceil(machine.kernels));
    Extent::read(Space::Accumulators, first, groups * positions * u64::from(machine.kernels))
}

fn convolution(machine: &NpuMachine, c: &Conv, channels: u16, depth: u16) -> Vec<Extent> {
    let w = &c.weights;
    let last = [
        c.kernel[0].max(1) - 1,
        (c.kernel[1].max(1) - 1) / w.tile_w.max(1),
        (c.kernels.max(1) - 1) / w.tile_k.max(1),
        (depth.max(1) - 1) / w.tile_d.max(1),
    ];
    let blocks: u64 = last.iter().zip([w.ky, w.kx, w.kernel, w.depth]).map(|(&n, s)| u64::from(n) * u64::from(s)).sum();
    let block = u64::from(w.tile_w) * u64::from(w.tile_k) * u64::from(w.tile_d);
    vec![
        feature(&c.feature, c.height, c.width, channels),
        Extent::read(Space::Sram, w.base, blocks + block),
        accumulators(machine, c.acc, c.kernels, u64::from(c.rows) * u64::from(c.cols)).written(),
    ]
}

fn requantization(machine: &NpuMachine, p: &Post) -> Vec<Extent> {
    let (rows, cols, kernels) = (p.rows, p.cols, u64::from(p.kernels).max(1) - 1);
    let mut all = vec![
        accumulators(machine, p.acc, p.kernels, u64::from(rows) * u64::from(cols)),
        Extent::read(Space::Sram, p.params, kernels * u64::from(p.param_stride) + PARAMETERS as u64),
        feature(&p.output, rows, cols, p.kernels).written(),
    ];
    all.extend(p.residual.map(|r| feature(&r.feature, rows, cols, p.kernels)));
    all.extend(p.table.map(|table| Extent::read(Space::Sram, table, kernels * u64::from(p.table_stride) + 256)));
    all
}
