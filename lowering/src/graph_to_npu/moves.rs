//! Copies of features as moves of slices: the mover takes a slice of up to 64 bytes in a cycle, beside array and pipe.
//!
//! The algebra of layouts gives the slices of a row in both modes. Those that hold padding only, bubbles, stay behind. Slices at equal
//! distances become one instruction.

use super::network::{FeatureId, FeatureInfo, Requantization, Weights};
use super::shape::LayerShape;
use gradus_networks::layout::{Layout, Sram, TiledLayout};
use gradus_simulators::npu::{Feature, Move, NpuInst, cost};

/// Largest number of bytes of a slice.
const MAX_SLICE: u64 = 64;

impl LayerShape<'_> {
    /// Whether the layer copies bytes, so that the mover can do it.
    pub fn is_copy(&self) -> bool {
        let layer = self.layer;
        let one = Requantization { bias: 0, scale: 1, shift: 0 };
        let extents = |info: &FeatureInfo| [info.height, info.width];
        layer.depthwise
            && layer.requantization[..] == [one]
            && layer.sum.is_none()
            && layer.table.is_empty()
            && (layer.kernel, layer.stride, layer.pad, layer.folded) == ([1, 1], [1, 1], [0, 0], 0)
            && layer.zeros == [layer.zero, 0]
            && self.input.signed == self.output.signed
            && layer.signed == self.output.signed
            && extents(self.input) == extents(self.output)
            && matches!(&layer.weights, Weights::Constant(bytes) if bytes.iter().all(|&byte| byte == 1))
    }

    /// The channels that a step copies: whole blocks of the result, as far as the operand has them.
    pub fn copied_channels(&self, kernel: usize, kernels: usize) -> usize {
        self.blocks_of_output(kernel, kernels).min(self.input.padded_channels() - kernel)
    }

    /// Cycles of the mover for some rows and kernels; `None` if it cannot copy them.
    pub fn move_cycles(&self, rows: usize, kernels: usize) -> Option<u64> {
        let extents = [1, self.output.width, self.copied_channels(0, kernels)];
        let placed = |id: FeatureId| {
            let at = self.net.place(id);
            at.placed(self.net.features[at.whole].placed(0, 0), 0, 0)
        };
        let ends = self.is_copy().then(|| [self.layer.input, self.layer.output].map(placed));
        let moves = moves(ends?, extents)?;
        let cycles = |m: &Move| cost(self.machine, &NpuInst::Move(Move { counts: with_rows(m, rows), ..*m })).cycles;
        Some(moves.iter().map(cycles).sum())
    }
}

/// The numbers of slices of a move of a row, of as many rows.
fn with_rows(m: &Move, rows: usize) -> [u32; 4] {
    let [_, counts @ ..] = m.counts;
    [rows as u32, counts[0], counts[1], counts[2]]
}

/// The moves from a placement to another one, of rows, columns and channels. `None` for columns at a distance.
pub fn moves([from, to]: [Feature; 2], [rows, width, channels]: [usize; 3]) -> Option<Vec<Move>> {
    let layouts = [row_layout(&from, width, channels)?, row_layout(&to, width, channels)?];
    let srams = [(&layouts[0], &from), (&layouts[1], &to)]
        .map(|(layout, f)| Sram::new(layout, f.tile_c.into(), [1, 1], true).ok());
    let [Some(source), Some(target)] = srams else { return None };
    let mut slices: Vec<SliceLoops> = Vec::new();
    for copy in source.slice_copies(&target).ok()? {
        let [from, to] = [source.byte(copy.from), target.byte(copy.to)];
        let whole = (0..copy.len / MAX_SLICE).map(|i| SliceLoops::slice(from, to, i * MAX_SLICE, MAX_SLICE));
        let rest = copy.len % MAX_SLICE;
        slices.extend(whole.chain((rest > 0).then(|| SliceLoops::slice(from, to, copy.len - rest, rest))));
    }
    // The fourth loop is that of rows.
    for _ in 0..3 {
        slices = fold(&slices);
    }
    let instruction = |folded: SliceLoops| {
        let mut m = Move {
            from: from.base + folded.at[0] as u32,
            to: to.base + folded.at[1] as u32,
            slice: folded.slice as u32,
            counts: [1; 4],
            ..Move::default()
        };
        (m.counts[0], m.from_strides[0], m.to_strides[0]) = (rows as u32, from.row, to.row);
        for (i, level) in folded.levels.iter().enumerate() {
            (m.counts[3 - i], m.from_strides[3 - i], m.to_strides[3 - i]) = *level;
        }
        m
    };
    Some(slices.into_iter().map(instruction).collect())
}

/// The layout of a row of a placement, from its first byte on; `None` if columns or channels are at a distance.
fn row_layout(f: &Feature, width: usize, channels: usize) -> Option<Layout> {
    let [tile_w, tile_c] = [f.tile_w, f.tile_c].map(u32::from);
    let block = tile_w * tile_c;
    let tile = |n: u32, letter: char| if n > 1 { format!("{n}{letter}") } else { String::new() };
    let tiles = tile(tile_w, 'w') + &tile(tile_c, 'c');
    let (order, [all_columns, all_channels]) = match (f.col == block, f.chan == block) {
        (true, _) => ("CW", [f.chan / block * tile_w, channels as u32]),
        (false, true) => ("WC", [width as u32, f.col / block * tile_c]),
        (false, false) => return None,
    };
    let [all_columns, all_channels] = [all_columns.max(width as u32), all_channels.max(channels as u32)];
    let layout: TiledLayout = (order.to_owned() + &tiles).parse().ok()?;
    let whole = layout.of("WC", &[all_columns.into(), all_channels.into()]).ok()?;
    whole.slice(&[0, 0], &[width as u64, channels as u64]).ok()
}

/// Slices at equal distances: number, distance in the source, in the target, innermost loop first.
#[derive(Clone, PartialEq, Debug)]
struct SliceLoops {
    /// First bytes of source and target.
    at: [u64; 2],
    /// Bytes of a slice.
    slice: u64,
    /// Loops.
    levels: Vec<(u32, u32, u32)>,
}

impl SliceLoops {
    fn slice(from: u64, to: u64, at: u64, slice: u64) -> SliceLoops {
        SliceLoops { at: [from + at, to + at], slice, levels: Vec::new() }
    }
}

/// Makes loops of neighbours that differ in their first bytes only, by the same distances.
fn fold(all: &[SliceLoops]) -> Vec<SliceLoops> {
    let mut out: Vec<SliceLoops> = Vec::new();
    let mut rest = all;
    while let Some((first, others)) = rest.split_first() {
        let is_alike = |other: &SliceLoops| other.slice == first.slice && other.levels == first.levels;
        let step = |i: usize| others.first().and_then(|next| next.at[i].checked_sub(first.at[i])).unwrap_or(0);
        let steps = [step(0), step(1)];
        let continues = |(i, other): (usize, &&SliceLoops)| {
            is_alike(other) && [0, 1].iter().all(|&of| other.at[of] == first.at[of] + (i as u64 + 1) * steps[of])
        };
        let count = others.iter().enumerate().take_while(|&(i, ref other)| continues((i, other))).count();
        let mut folded = first.clone();
        folded.levels.push((count as u32 + 1, steps[0] as u32, steps[1] as u32));
        out.push(folded);
        rest = &others[count..];
    }
    out
}
