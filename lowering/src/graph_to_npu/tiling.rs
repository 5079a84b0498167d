//! The tiles of a layer: rows of the output and kernels of one convolution, the order of the two loops, and their choice by cost.

use super::estimate::{cascade_cost, layer_cost};
use super::network::Weights;
use super::price::Prices;
use super::shape::{Cost, LayerShape, Resident, Tiling, Weighing};

impl LayerShape<'_> {
    /// The tilings that fit into half of the accumulators and into `bytes` of SRAM.
    fn candidates(&self, resident: Resident) -> Vec<Tiling> {
        let (width, padded, group) = (self.output.width, self.padded_kernels(), self.group());
        let half = self.machine.accumulators as usize / 2;
        let is_elements = matches!(self.layer.weights, Weights::Elements(_));
        let modes = self.modes();
        let mut all = Vec::new();
        for rows in 1..=self.output.height {
            // Equal tiles: only the smallest number of rows with as many tiles.
            if rows > 1 && self.output.height.div_ceil(rows) == self.output.height.div_ceil(rows - 1) {
                continue;
            }
            let most = half / (rows * width) / group * group;
            if most == 0 {
                break;
            }
            // The numbers of slices do not depend on the accumulators, so that more of them only add tilings.
            let (mut slices, most_slices) = (1, if is_elements { 1 } else { padded / group });
            while slices <= most_slices {
                let kernels = padded.div_ceil(slices).next_multiple_of(group);
                if kernels <= most || is_elements {
                    // Two slices take the same bytes if they stay.
                    let loops = [(true, true), (false, false), (true, false)];
                    for &(rows_outer, keeps_weights) in &loops[..if slices > 2 { 3 } else { 2 }] {
                        let tiling = Tiling { rows, kernels, rows_outer, keeps_weights, ..Tiling::default() };
                        all.extend(modes.iter().flat_map(|&mode| self.variants(Tiling { mode, ..tiling }, resident)));
                    }
                }
                // Four numbers from each power of two to the next, and at last slices of one group.
                let next = slices + (slices.next_power_of_two() / 8).max(1);
                slices = if slices < most_slices { next.min(most_slices) } else { next };
            }
        }
        all
    }

    /// A tiling, whose inner loop goes back and forth if it loads something again otherwise, and that of the mover, if it can copy.
    fn variants(&self, tiling: Tiling, resident: Resident) -> impl Iterator<Item = Tiling> {
        let [tiles, slices] = self.counts(&tiling);
        let loads_again = tiling.reloads_weights() || !tiling.rows_outer && !resident.input;
        let serpentine = loads_again && tiles > 1 && slices > 1;
        let can_move = self.copied.is_some() && tiling.keeps_weights && tiling.mode.is_none();
        let moved = can_move.then_some(Tiling { moved: true, ..tiling });
        [Some(Tiling { serpentine, ..tiling }), moved].into_iter().flatten()
    }

    /// Cycles that a tiling takes at least.
    fn least(&self, tiling: &Tiling, resident: Resident) -> u64 {
        let machine = self.machine;
        let positions = (self.output.height * self.output.width).div_ceil(machine.positions as usize);
        let blocks = self.layer.taps() * self.depth_blocks() * self.padded_kernels().div_ceil(machine.kernels as usize);
        let [tiles, slices] = self.counts(tiling);
        let again = if tiling.reloads_weights() { tiles } else { 1 };
        let mut bytes = self.slice_bytes(tiling, tiling.kernels) * (slices - 1) * again;
        if !resident.input {
            let again = if tiling.rows_outer || tiles == 1 { 1 } else { slices };
            let kept = if tiling.serpentine { self.max_input_rows(tiling.rows) } else { 0 };
            let rows = self.input.height - (self.layer.kernel[0].max(kept)).min(self.input.height);
            bytes += rows * self.input.row() * again;
        }
        let steps = (tiles * slices) as u64;
        let array = match self.layer.weights {
            Weights::Elements(_) => 0,
            _ if tiling.moved => 0,
            _ => (positions * blocks) as u64,
        };
        (array + steps * u64::from(machine.start)).max(bytes as u64 * 4 / u64::from(machine.ddr_rate))
    }

    /// Cycles that any tiling takes at least.
    pub fn bound(&self, resident: Resident) -> u64 {
        self.candidates(resident).iter().map(|tiling| self.least(tiling, resident)).min().unwrap_or(0)
    }

    /// Tiles of rows and slices of kernels.
    fn counts(&self, tiling: &Tiling) -> [usize; 2] {
        [self.output.height.div_ceil(tiling.rows), self.padded_kernels().div_ceil(tiling.kernels)]
    }

    /// The tilings with their costs, without those that need more bytes than another one and cannot be better by a part in 64.
    pub fn priced(&self, resident: Resident, prices: &mut Prices) -> Vec<(Tiling, Cost)> {
        let is_legal = |t: &Tiling| t.rows_outer || !matches!(self.layer.weights, Weights::Elements(_));
        let mut all: Vec<(u64, usize, Tiling)> = Vec::new();
        for tiling in self.candidates(resident).into_iter().filter(is_legal) {
            all.push((self.least(&tiling, resident), self.bytes(&tiling, resident), tiling));
        }
        all.sort_by_key(|&(least, bytes, _)| (least, bytes));
        let mut priced: Vec<(Tiling, Cost)> = Vec::new();
        for (least, bytes, tiling) in all {
            if priced.iter().any(|(_, cost)| cost.bytes <= bytes && cost.alone <= least + least / 64) {
                continue;
            }
            priced.push((tiling, layer_cost(self, prices, tiling, resident)));
        }
        priced
    }
}

/// The choices that are the cheapest for some number of bytes, cheapest first.
pub fn frontier<T: Copy>(priced: &[(T, Cost)], by: Weighing) -> Vec<(T, Cost)> {
    let mut all = priced.to_vec();
    all.sort_by_key(|(_, cost)| (cost.rank(by), cost.bytes));
    let mut least = usize::MAX;
    all.retain(|(_, cost)| {
        let is_less = cost.bytes < least;
        least = least.min(cost.bytes);
        is_less
    });
    all
}

/// The tilings of two layers that take turns by tiles of rows, the second of which reads the tiles of the first, with their costs
/// together, without those that need more bytes than others and cannot be better by a part in 64.
pub fn cascades(
    shapes: [&LayerShape<'_>; 2],
    resident: [Resident; 2],
    prices: &mut [Prices],
) -> Vec<([Tiling; 2], Cost)> {
    let keeping = |i: usize| {
        let mut all = shapes[i].candidates(resident[i]);
        all.retain(|t| t.rows_outer && t.keeps_weights);
        all
    };
    let (first, second) = (keeping(0), keeping(1));
    let mut all = Vec::new();
    for &a in &first {
        for &b in second.iter().filter(|b| b.rows == a.rows) {
            let bytes = shapes[0].bytes(&a, resident[0])
                + shapes[1].bytes(&b, resident[1])
                + 2 * a.rows * shapes[0].output.pitch();
            let least = shapes[0].least(&a, resident[0]) + shapes[1].least(&b, resident[1]);
            all.push((least, bytes, [a, b]));
        }
    }
    all.sort_by_key(|&(least, bytes, _)| (least, bytes));
    let mut priced: Vec<([Tiling; 2], Cost)> = Vec::new();
    for (least, bytes, tilings) in all {
        if priced.iter().any(|(_, cost)| cost.bytes <= bytes && cost.alone <= least + least / 64) {
            continue;
        }
        priced.push((tilings, cascade_cost(shapes, prices, tilings, resident, bytes)));
    }
    priced
}
