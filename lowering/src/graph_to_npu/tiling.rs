//! The tiles of a layer: rows of the output and kernels of one convolution, the order of the two loops, and their choice by cost.

use super::estimate::layer_cost;
use super::network::Weights;
use super::price::Prices;
use super::shape::{Cost, LayerShape, Resident, Tiling, Weighing};

impl LayerShape<'_> {
    /// The tilings that fit into half of the accumulators.
    pub fn candidates(&self, resident: Resident) -> Vec<Tiling> {
        let (width, padded, group) = (self.output.width, self.padded_kernels(), self.group());
        let half = self.machine.accumulators as usize / 2;
        let is_elements = matches!(self.layer.weights, Weights::Elements(_));
        let (modes, can_move) = (self.modes(), self.is_copy());
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
                        all.extend(
                            modes.iter().flat_map(|&mode| self.variants(Tiling { mode, ..tiling }, resident, can_move)),
                        );
                    }
                }
                slices = next_slices(slices, most_slices);
            }
        }
        all
    }

    /// A tiling, whose inner loop goes back and forth if each slice loads rows again, and that of the mover, if it `can_move` bytes.
    fn variants(&self, tiling: Tiling, resident: Resident, can_move: bool) -> impl Iterator<Item = Tiling> {
        let tiles = self.output.height.div_ceil(tiling.rows);
        let slices = self.padded_kernels().div_ceil(tiling.kernels);
        let serpentine = !tiling.rows_outer && !resident.input && tiles > 1 && slices > 1;
        let can_move = can_move && tiling.keeps_weights && tiling.mode.is_none();
        [Some(Tiling { serpentine, ..tiling }), can_move.then_some(Tiling { moved: true, ..tiling })]
            .into_iter()
            .flatten()
    }

    /// The tilings by which a layer passes up to `most` rows at once to the next one, all weights in SRAM: rows by as few convolutions as
    /// the accumulators allow, and kernels, most of them first.
    pub fn passing(&self, most: usize) -> Vec<Tiling> {
        let (padded, group) = (self.padded_kernels(), self.group());
        let half = self.machine.accumulators as usize / 2;
        let fits = |rows: usize, kernels: usize| rows * self.output.width * kernels <= half;
        let Some(parts) = (1..=most).find(|&parts| fits(most.div_ceil(parts), group)) else { return Vec::new() };
        let (rows, mut all, mut slices) = (most.div_ceil(parts), Vec::new(), 1);
        while slices <= padded / group {
            let kernels = padded.div_ceil(slices).next_multiple_of(group);
            if fits(rows, kernels) {
                all.push(Tiling { rows, kernels, rows_outer: true, keeps_weights: true, ..Tiling::default() });
            }
            slices = next_slices(slices, padded / group);
        }
        all
    }

    /// Cycles of the array for a number of rows, without waits for banks.
    pub fn array_cycles(&self, rows: usize) -> usize {
        let positions = (rows * self.output.width).div_ceil(self.machine.positions as usize);
        let blocks = self.padded_kernels().div_ceil(self.machine.kernels as usize);
        positions * self.layer.taps() * self.depth_blocks() * blocks
    }

    /// Cycles that a tiling takes at least.
    fn least(&self, tiling: &Tiling, resident: Resident) -> u64 {
        let height = self.output.height;
        self.least_of(tiling, resident, height, height.div_ceil(tiling.rows))
    }

    /// Cycles that a tiling takes at least for a number of rows in some tiles.
    pub fn least_of(&self, tiling: &Tiling, resident: Resident, rows: usize, tiles: usize) -> u64 {
        let machine = self.machine;
        let slices = self.padded_kernels().div_ceil(tiling.kernels);
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
            _ => self.array_cycles(rows) as u64,
        };
        (array + steps * u64::from(machine.start)).max(bytes as u64 * 4 / u64::from(machine.ddr_rate))
    }

    /// Cycles that any tiling takes at least.
    pub fn bound(&self, resident: Resident) -> u64 {
        self.candidates(resident).iter().map(|tiling| self.least(tiling, resident)).min().unwrap_or(0)
    }

    /// The tilings with their costs, without those that are never the choice.
    pub fn priced(&self, resident: Resident, prices: &mut Prices) -> Vec<(Tiling, Cost)> {
        let is_legal = |t: &Tiling| t.rows_outer || !matches!(self.layer.weights, Weights::Elements(_));
        let mut all: Vec<(u64, usize, Tiling)> = Vec::new();
        for tiling in self.candidates(resident).into_iter().filter(is_legal) {
            all.push((self.least(&tiling, resident), self.bytes(&tiling, resident), tiling));
        }
        priced(all, |&tiling, _| layer_cost(self, prices, tiling, resident))
    }
}

/// Prices choices, each with the cycles that it takes at least, and its bytes. Those that need more bytes than another one and cannot be
/// better by a part in 64 are left out before they are priced; those that are better in no comparison, afterwards.
pub fn priced<T>(mut all: Vec<(u64, usize, T)>, mut price: impl FnMut(&T, usize) -> Cost) -> Vec<(T, Cost)> {
    all.sort_by_key(|&(least, bytes, _)| (least, bytes));
    let mut priced: Vec<(T, Cost)> = Vec::new();
    for (least, bytes, choice) in all {
        if priced.iter().any(|(_, cost)| cost.bytes <= bytes && cost.alone <= least + least / 64) {
            continue;
        }
        let cost = price(&choice, bytes);
        if !priced.iter().any(|(_, known)| known.is_least(&cost)) {
            priced.retain(|(_, known)| !cost.is_least(known));
            priced.push((choice, cost));
        }
    }
    priced
}

/// The next number of slices: four from each power of two to the next, and at last slices of one group.
fn next_slices(slices: usize, most: usize) -> usize {
    let next = slices + (slices.next_power_of_two() / 8).max(1);
    if slices < most { next.min(most) } else { next }
}

/// The choices that are the cheapest for some number of bytes, cheapest first.
pub fn frontier<T: Clone>(priced: &[(T, Cost)], by: Weighing) -> Vec<(T, Cost)> {
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
