//! Layers that take turns: each reads the tiles of the one before at once, so that what is between them has no memory of its own.
//!
//! The tiles of the last layer determine those of the others: a tile of a layer is the rows that the next one reads for its tile. Rows that
//! two tiles read, the halo of a window, are computed for both.

use super::estimate::TiledLayer;
use super::network::{FeatureId, Layer, Network, Role, Weights};
use super::price::Prices;
use super::shape::{Cost, LayerShape, Resident, Rows, Tiling, parts};
use super::tiling::priced;
use super::timeline::Timeline;
use gradus_simulators::npu::NpuMachine;
use std::ops::RangeInclusive;

/// The most layers that take turns.
const MOST: usize = 8;
/// Of the numbers of kernels of a layer between others, the largest ones that are tried.
const WIDEST: usize = 2;

/// The tilings of layers that take turns, and their cost together.
pub type Cascade = (Vec<Tiling>, Cost);

/// Returns the layers that take turns with a layer, itself among them, given whether each one is followed by the next.
pub fn layers_in_turn(cascaded: &[bool], index: usize) -> RangeInclusive<usize> {
    let first = (0..index).rev().take_while(|&i| cascaded[i]).last().unwrap_or(index);
    let last = index + cascaded[index..].iter().take_while(|&&is| is).count();
    first..=last
}

/// Whether layers may take turns: each but the first is the only reader of the output of the one before.
pub fn may_cascade(net: &Network, lifetimes: &[(usize, usize)], layers: RangeInclusive<usize>) -> bool {
    let (first, last) = (*layers.start(), *layers.end());
    last - first < MOST && (first..last).all(|index| passes_on(net, lifetimes, index))
}

fn passes_on(net: &Network, lifetimes: &[(usize, usize)], index: usize) -> bool {
    let [layer, next] = [index, index + 1].map(|i| net.layers.get(i));
    let (Some(layer), Some(next)) = (layer, next) else { return false };
    let id = layer.output;
    let readers = net.layers.iter().flat_map(Layer::reads).filter(|&r| net.root(r) == id).count();
    let is_constant = |l: &Layer| matches!(l.weights, Weights::Constant(_));
    next.input == id
        && readers == 1
        && lifetimes[id] == (index, index + 1)
        && net.features[id].part_of.is_none()
        && net.features[id].role == Role::Inner
        && is_constant(layer)
        && is_constant(next)
        && next.folded == 0
}

/// The layers in which a feature needs its bytes.
pub fn in_turns((begin, end): (usize, usize), cascaded: &[bool]) -> (usize, usize) {
    (*layers_in_turn(cascaded, begin).start(), *layers_in_turn(cascaded, end).end())
}

/// Whether a layer of those that take turns with another one before it reads a feature.
pub fn is_read_before(net: &Network, cascaded: &[bool], index: usize, id: FeatureId) -> bool {
    let first = *layers_in_turn(cascaded, index).start();
    net.layers[first..index].iter().any(|layer| layer.reads().any(|read| read == id))
}

/// Returns the rows of each turn of a layer, given the tiles of the last one of those that take turns.
pub fn turns(net: &Network, machine: &NpuMachine, layers: RangeInclusive<usize>, rows: usize) -> Vec<Vec<Rows>> {
    let shapes: Vec<LayerShape<'_>> = layers.map(|i| LayerShape::new(net, &net.layers[i], machine)).collect();
    turns_of(&shapes, rows)
}

fn turns_of(shapes: &[LayerShape<'_>], rows: usize) -> Vec<Vec<Rows>> {
    let height = shapes.last().map_or(0, |shape| shape.output.height);
    let mut all = vec![parts((0, height), rows)];
    for next in shapes.iter().skip(1).rev() {
        let read = |&(first, rows): &Rows| {
            let (first, rows, _) = next.input_rows(first, rows);
            (first, rows)
        };
        let before = all.last().map(|turns| turns.iter().map(read).collect());
        all.extend(before);
    }
    all.reverse();
    all
}

/// The layers of a cascade with the features that are in SRAM.
pub struct CascadeShape<'a> {
    shapes: Vec<LayerShape<'a>>,
    resident: Vec<Resident>,
}

impl<'a> CascadeShape<'a> {
    /// The cascade of some layers. `resident`: which features of a layer are in SRAM, what is between the layers among them.
    pub fn new(
        net: &'a Network,
        machine: &'a NpuMachine,
        layers: &RangeInclusive<usize>,
        resident: impl Fn(usize) -> Resident,
    ) -> CascadeShape<'a> {
        CascadeShape {
            shapes: layers.clone().map(|i| LayerShape::new(net, &net.layers[i], machine)).collect(),
            resident: layers.clone().map(resident).collect(),
        }
    }

    /// Whether all weights of the layers fit into SRAM.
    pub fn has_room(&self) -> bool {
        let weights = |shape: &LayerShape<'_>| shape.slice_bytes(&Tiling::default(), shape.padded_kernels());
        self.shapes.iter().map(weights).sum::<usize>() <= self.shapes[0].machine.sram_bytes as usize
    }

    /// The tilings with their costs, without those that are never the choice.
    pub fn priced(&self, prices: &mut [Prices]) -> Vec<Cascade> {
        let mut all: Vec<(u64, usize, Vec<Tiling>)> = Vec::new();
        for last in self.last() {
            let turns = turns_of(&self.shapes, last.rows);
            for tilings in self.tilings(&turns, last) {
                let bytes = self.bytes(&tilings, &turns);
                if bytes <= self.shapes[0].machine.sram_bytes as usize {
                    all.push((self.least(&tilings, &turns), bytes, tilings));
                }
            }
        }
        priced(all, |tilings, bytes| self.cost(prices, tilings, bytes))
    }

    /// The tilings of the last layer.
    fn last(&self) -> Vec<Tiling> {
        let last = self.shapes.len() - 1;
        let mut all = self.shapes[last].candidates(self.resident[last]);
        all.retain(|t| t.rows_outer && t.keeps_weights);
        if self.shapes.len() > 2 {
            // Candidates with equal rows follow each other, those of the most kernels first.
            let mut same = (0, 0);
            all.retain(|t| {
                same = if same.0 == t.rows { (t.rows, same.1 + 1) } else { (t.rows, 1) };
                same.1 <= WIDEST
            });
        }
        all
    }

    /// The tilings with a given one of the last layer.
    fn tilings(&self, turns: &[Vec<Rows>], last: Tiling) -> Vec<Vec<Tiling>> {
        let mut all = vec![Vec::new()];
        for (shape, turns) in self.shapes.iter().zip(turns).take(turns.len() - 1) {
            let most = turns.iter().map(|turn| turn.1).max().unwrap_or(1);
            let mut choices = shape.passing(most);
            match self.shapes.len() {
                2 => {}
                3 => choices.truncate(WIDEST),
                _ => choices.truncate(1),
            }
            let with = |before: &Vec<Tiling>| {
                let before = before.clone();
                choices.iter().map(move |&choice| [&before[..], &[choice]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        all.iter_mut().for_each(|tilings| tilings.push(last));
        all
    }

    /// Cycles that tilings take at least.
    fn least(&self, tilings: &[Tiling], turns: &[Vec<Rows>]) -> u64 {
        let of_layer = |((shape, resident), (tiling, turns)): ((&LayerShape<'_>, &Resident), (&Tiling, &Vec<Rows>))| {
            let rows = turns.iter().map(|turn| turn.1).sum();
            let tiles = turns.iter().map(|turn| turn.1.div_ceil(tiling.rows)).sum();
            shape.least_of(tiling, *resident, rows, tiles)
        };
        self.shapes.iter().zip(&self.resident).zip(tilings.iter().zip(turns)).map(of_layer).sum()
    }

    /// Bytes of SRAM besides resident features: those of the tilings, and of two turns of the tiles that a layer passes to the next.
    fn bytes(&self, tilings: &[Tiling], turns: &[Vec<Rows>]) -> usize {
        let own = |((shape, tiling), resident): ((&LayerShape<'_>, &Tiling), &Resident)| shape.bytes(tiling, *resident);
        let own: usize = self.shapes.iter().zip(tilings).zip(&self.resident).map(own).sum();
        own + self.passed_bytes(turns)
    }

    fn passed_bytes(&self, turns: &[Vec<Rows>]) -> usize {
        let of_layer = |(shape, turns): (&LayerShape<'_>, &Vec<Rows>)| {
            2 * turns.iter().map(|turn| turn.1).max().unwrap_or(0) * shape.output.pitch()
        };
        self.shapes.iter().zip(turns).take(turns.len() - 1).map(of_layer).sum()
    }

    /// The cost of layers that take turns, each a turn behind the one before.
    fn cost(&self, prices: &mut [Prices], tilings: &[Tiling], bytes: usize) -> Cost {
        let Some(&last) = tilings.last() else { return Cost::default() };
        let machine = self.shapes[0].machine;
        let turns = turns_of(&self.shapes, last.rows);
        let room = (machine.sram_bytes as usize).saturating_sub(self.passed_bytes(&turns));
        let mut timeline = Timeline::new(machine, room);
        let layers = self.shapes.iter().zip(prices).zip(tilings.iter().zip(&self.resident)).zip(&turns);
        let mut layers: Vec<TiledLayer<'_>> = layers
            .map(|(((shape, prices), (&tiling, &resident)), turns)| {
                TiledLayer::new(shape, prices, tiling, resident, turns)
            })
            .collect();
        for (layer, turn) in interleaved(turns.len(), turns[0].len()) {
            for tile in parts(turns[layer][turn], tilings[layer].rows) {
                layers[layer].rows(&mut timeline, tile, turn + 1 == turns[layer].len());
            }
        }
        timeline.cost(bytes)
    }
}

/// Returns the order of turns as pairs of layer and turn: each layer is a turn behind the one before, so that it does not wait.
pub fn interleaved(layers: usize, turns: usize) -> impl Iterator<Item = (usize, usize)> {
    let at = move |step: usize| (0..layers).filter_map(move |layer| Some((layer, step.checked_sub(layer)?)));
    (0..turns + layers - 1).flat_map(at).filter(move |&(_, turn)| turn < turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_in_turn_are_neighbours() {
        let cascaded = [false, true, true, false, true, false];
        let of = |index| layers_in_turn(&cascaded, index);
        assert_eq!((0..6).map(of).collect::<Vec<_>>(), [0..=0, 1..=3, 1..=3, 1..=3, 4..=5, 4..=5]);
        assert_eq!(in_turns((0, 2), &cascaded), (0, 3));
    }

    #[test]
    fn each_layer_is_a_turn_behind() {
        let order: Vec<_> = interleaved(3, 2).collect();
        assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
        assert_eq!(interleaved(1, 2).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    }
}
