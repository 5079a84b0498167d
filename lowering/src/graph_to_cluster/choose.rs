//! The choice of a division for each layer: of least estimated cycles, and with regard to the memory that it takes.

use super::network::{ChannelSlice, Edges, FeatureId, Layer, LayerId, Network, Role, elem_bytes};
use super::region::Region;
use super::split::Split;
use gradus_simulators::cluster::ClusterMachine;

/// Prices of memory, in cycles per byte, and of copies, by which candidates of plans differ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Prices {
    /// Of constants in the memory of a cluster.
    pub constants: f64,
    /// Of features in the memory of a cluster.
    pub features: f64,
    /// Of copies between clusters, as a multiple of the cycles that they take alone: reads from memory go before them.
    pub copies: f64,
}

/// Cycles of a layer's compute task for an output box.
pub fn compute_cycles(net: &Network, layer: &Layer, region: &Region, machine: &ClusterMachine) -> u64 {
    if region.is_empty() {
        return 0;
    }
    let info = &net.features[layer.input];
    let products = (layer.products(region) * 100).div_ceil(machine.product_rate(info.elem, layer.depth()));
    let needed = layer.input_region(region, info.extents).len() * u64::from(elem_bytes(info.elem));
    let others = layer.stages.iter().filter(|s| s.other.is_some()).count() as u64;
    let output = region.len() * u64::from(elem_bytes(net.features[layer.output].elem)) * (1 + others);
    let constants = layer.channel_bytes(net.features[layer.output].extents[2]) as u64 * u64::from(region.extents()[2]);
    let bytes = (needed + output + constants).div_ceil(u64::from(machine.port * machine.cores));
    u64::from(machine.task) + products.max(bytes)
}

struct DivisionChooser<'a> {
    net: &'a Network,
    machine: &'a ClusterMachine,
    prices: Prices,
    roots: Vec<ChannelSlice>,
    edges: Edges,
    /// Layers that must have the same division, by number; the first of each set decides.
    leaders: Vec<LayerId>,
    candidates: Vec<Vec<Split>>,
    chosen: Vec<usize>,
    /// Cycles of each candidate alone, with the price of its constants.
    alone: Vec<Vec<f64>>,
    /// Boxes of each candidate.
    boxes: Vec<Vec<Boxes>>,
}

/// The boxes of a layer's division, by cluster, in the features that are no parts.
struct Boxes {
    output: Vec<Region>,
    /// For each feature that the layer reads.
    inputs: Vec<Vec<Region>>,
}

/// Sweeps over all layers, in which each is changed if that is cheaper.
const SWEEPS: usize = 4;

/// Chooses a division for each layer, among the first `clusters` clusters.
pub fn choose(net: &Network, machine: &ClusterMachine, clusters: u32, prices: Prices) -> Vec<Split> {
    let mut chooser = DivisionChooser::new(net, machine, clusters, prices);
    for _ in 0..SWEEPS {
        let mut changed = false;
        for l in 0..net.layers.len() {
            changed |= chooser.improve(l);
        }
        if !changed {
            break;
        }
    }
    (0..net.layers.len()).map(|l| chooser.split(l)).collect()
}

/// For each layer that has the division of others, the first of them: those that write interleaved parts, which are complete together.
pub fn leaders(net: &Network, edges: &Edges) -> Vec<Option<LayerId>> {
    let mut leaders = vec![None; net.layers.len()];
    for writers in &edges.writers {
        if writers.iter().any(|&l| net.root(net.layers[l].output).step > 1) {
            writers.iter().for_each(|&l| leaders[l] = Some(writers[0]));
        }
    }
    leaders
}

impl<'a> DivisionChooser<'a> {
    fn new(net: &'a Network, machine: &'a ClusterMachine, clusters: u32, prices: Prices) -> DivisionChooser<'a> {
        let roots: Vec<ChannelSlice> = (0..net.features.len()).map(|id| net.root(id)).collect();
        let edges = net.edges();
        let leaders = leaders(net, &edges);
        let candidates = |(layer, leader): (&Layer, &Option<LayerId>)| {
            Split::all(net.features[layer.output].extents, clusters, layer.divides_channels() && leader.is_none())
        };
        let candidates: Vec<Vec<Split>> = net.layers.iter().zip(&leaders).map(candidates).collect();
        let leaders = leaders.iter().enumerate().map(|(l, leader)| leader.unwrap_or(l)).collect();
        let mut chooser = DivisionChooser {
            net,
            machine,
            prices,
            roots,
            edges,
            leaders,
            candidates,
            chosen: Vec::new(),
            alone: Vec::new(),
            boxes: Vec::new(),
        };
        chooser.alone = (0..net.layers.len())
            .map(|l| chooser.candidates[l].iter().map(|s| chooser.alone(l, s)).collect())
            .collect();
        chooser.boxes = (0..net.layers.len())
            .map(|l| chooser.candidates[l].iter().map(|s| chooser.in_roots(l, s)).collect())
            .collect();
        let least = |costs: &Vec<f64>| (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        chooser.chosen = chooser.alone.iter().map(least).collect();
        chooser
    }

    fn split(&self, l: LayerId) -> Split {
        let l = self.leaders[l];
        self.candidates[l].get(self.chosen[l]).copied().unwrap_or(Split::rows(self.machine.clusters))
    }

    fn divide(&self, l: LayerId, split: &Split) -> Vec<Region> {
        split.boxes(&Region::whole(self.net.features[self.net.layers[l].output].extents), self.machine.clusters)
    }

    fn in_roots(&self, l: LayerId, split: &Split) -> Boxes {
        let (boxes, layer) = (self.divide(l, split), &self.net.layers[l]);
        let needs: Vec<Vec<(FeatureId, Region)>> = boxes.iter().map(|b| self.net.needs(l, b).collect()).collect();
        let input = |(i, id): (usize, FeatureId)| needs.iter().map(|n| n[i].1.in_root(self.roots[id])).collect();
        Boxes {
            inputs: layer.reads().enumerate().map(input).collect(),
            output: boxes.iter().map(|b| b.in_root(self.roots[layer.output])).collect(),
        }
    }

    /// The boxes of the present division of a layer.
    fn chosen_boxes(&self, l: LayerId) -> &Boxes {
        &self.boxes[l][self.chosen[self.leaders[l]].min(self.boxes[l].len() - 1)]
    }

    /// The slowest cluster's cycles, and the price of the constants of one cluster.
    fn alone(&self, l: LayerId, split: &Split) -> f64 {
        let layer = &self.net.layers[l];
        let boxes = self.divide(l, split);
        let cycles = boxes.iter().map(|b| compute_cycles(self.net, layer, b, self.machine)).max().unwrap_or(0);
        let channels = boxes.iter().map(|b| b.extents()[2]).max().unwrap_or(0);
        let bytes = layer.channel_bytes(self.net.features[layer.output].extents[2]) as f64 * f64::from(channels);
        cycles as f64 + self.prices.constants * bytes
    }

    /// Takes the cheapest division of a layer, given those of the others. Whether it has changed.
    fn improve(&mut self, l: LayerId) -> bool {
        if self.leaders[l] != l {
            return false;
        }
        let before = self.chosen[l];
        let followers: Vec<LayerId> = (l..self.leaders.len()).filter(|&f| self.leaders[f] == l).collect();
        let mut features: Vec<FeatureId> = Vec::new();
        for &f in &followers {
            let layer = &self.net.layers[f];
            features.extend(layer.reads().chain([layer.output]).map(|id| self.roots[id].whole));
        }
        features.sort_unstable();
        features.dedup();
        let mut best = (f64::INFINITY, before);
        for i in 0..self.candidates[l].len() {
            self.chosen[l] = i;
            let alone: f64 = followers.iter().map(|&f| self.alone[f].get(i).copied().unwrap_or(f64::INFINITY)).sum();
            let cost = alone + features.iter().map(|&id| self.exchange(id)).sum::<f64>();
            // The present choice stays if another one is not cheaper.
            if cost < best.0 || cost == best.0 && i == before {
                best = (cost, i);
            }
        }
        self.chosen[l] = best.1;
        best.1 != before
    }

    /// Cycles until all clusters have what they need of a feature, and the price of its memory.
    fn exchange(&self, root: FeatureId) -> f64 {
        let info = &self.net.features[root];
        let clusters = self.machine.clusters as usize;
        let size = u64::from(elem_bytes(info.elem));
        let mut needs = vec![Region::default(); clusters];
        for &l in &self.edges.readers[root] {
            for (id, boxes) in self.net.layers[l].reads().zip(&self.chosen_boxes(l).inputs) {
                if self.roots[id].whole == root {
                    needs.iter_mut().zip(boxes).for_each(|(need, b)| *need = need.hull(b));
                }
            }
        }
        let mut stored = needs.clone();
        let (mut into, mut out) = (vec![0_u64; clusters], vec![0_u64; clusters]);
        for &l in &self.edges.writers[root] {
            for (c, made) in self.chosen_boxes(l).output.iter().enumerate() {
                stored[c] = stored[c].hull(made);
                for (d, need) in needs.iter().enumerate().filter(|(d, _)| *d != c) {
                    let bytes = made.intersection(need).len() * size;
                    into[d] += bytes;
                    out[c] = out[c].max(bytes);
                }
            }
        }
        let is_operand = matches!(info.role, Role::Operand(_));
        let most = into.iter().chain(&out).max().copied().unwrap_or(0);
        let cycles = most.div_ceil(u64::from(self.machine.noc_rate));
        let latency = if most > 0 && !is_operand { u64::from(self.machine.noc_latency + self.machine.wait) } else { 0 };
        let bytes = stored.iter().map(|b| b.len() * size).max().unwrap_or(0);
        cycles as f64 * self.prices.copies + latency as f64 + self.prices.features * bytes as f64
    }
}
