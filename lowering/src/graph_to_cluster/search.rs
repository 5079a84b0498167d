//! The search for choices: candidates are compiled and timed; the fastest remains.
//!
//! Divisions come from the chooser with several prices of memory and copies, for all clusters and for fewer; the best of them are then mixed, as
//! the first layers of a network and its last ones differ in what limits them. Candidates that differ in nothing are tried once.

use super::choose::{Prices, choose, leaders};
use super::compile::{Compiled, Settings, compile_by};
use super::fit::{Failure, fit};
use super::network::{FeatureInfo, Network, Role, elem_bytes};
use super::region::Region;
use super::schedule::{Choices, TiledLayers, constant_places};
use super::split::Split;
use gradus_simulators::cluster::ClusterMachine;

/// Prices of constants, features and copies with which divisions are chosen.
const PRICES: [[f64; 3]; 11] = [
    [0.0, 0.0, 1.0],
    [0.01, 0.0, 1.0],
    [0.03, 0.0, 1.0],
    [0.1, 0.0, 1.0],
    [0.0, 0.003, 1.0],
    [0.01, 0.003, 1.0],
    [0.03, 0.01, 1.0],
    [0.0, 0.02, 1.0],
    [0.1, 0.03, 1.0],
    [0.0, 0.0, 4.0],
    [0.1, 0.03, 4.0],
];

/// Numbers of tiles with which the operands are streamed.
const TILES: [u32; 3] = [2, 4, 8];

/// Largest number of layers that are executed by tiles while operands stream.
const STREAMED: usize = 3;

/// Largest number of passes over neighbouring groups.
const MERGES: usize = 2;

/// Number of the best divisions that are mixed, besides the best one on each number of clusters.
const MIXED: usize = 4;

/// Shares of the layers, in eighths, after which another division begins.
const CUTS: [usize; 7] = [4, 2, 6, 1, 3, 5, 7];

/// Percentages of the memory that early reads may fill.
const FILLS: [u64; 2] = [50, 25];

/// Approximate number of records of all candidates of `mix` and `refine` together, and the least number of these candidates.
const RECORDS: usize = 120_000;
const LEAST: usize = 6;

/// Number of the best candidates that are compiled again with more effort of the planner.
const FINALISTS: usize = 4;

/// Steps of the planner: for a candidate, for one whose divisions are mixed or changed, and for a finalist.
const EFFORT: [u64; 3] = [1_500_000, 300_000, 3_000_000];

/// The search ends when the cycles of the best candidate are at most this many thousandths of a bound.
const CLOSE: u64 = 1002;

/// About the least cycles of a network.
struct Least {
    /// Of the products, on one cluster.
    products: u64,
    /// Of the bytes of constants, operands and results.
    ddr: u64,
}

impl Least {
    fn new(net: &Network, machine: &ClusterMachine) -> Least {
        let bytes = |info: &FeatureInfo| {
            let is_moved = info.part_of.is_none() && info.role != Role::Inner;
            u64::from(is_moved) * Region::whole(info.extents).len() * u64::from(elem_bytes(info.elem))
        };
        let (mut ddr, mut products) = (net.features.iter().map(bytes).sum::<u64>(), 0);
        for layer in &net.layers {
            let output = Region::whole(net.features[layer.output].extents);
            ddr += u64::from(constant_places(layer, output.extents()[2]).1);
            products +=
                layer.products(&output) * 100 / machine.product_rate(net.features[layer.input].elem, layer.depth());
        }
        Least { products, ddr: ddr / u64::from(machine.ddr_rate) }
    }
}

struct CandidateSearch<'a> {
    net: &'a Network,
    machine: &'a ClusterMachine,
    settings: Settings,
    least: Least,
    best: Option<Compiled>,
    /// The choices that were tried, before and after they were made to fit, with their cycles.
    tried: Vec<(Choices, u64)>,
    /// The divisions of the candidates, with their cycles.
    divisions: Vec<(u64, Vec<Split>)>,
    candidates: Vec<(String, Option<u64>)>,
    /// Number of candidates whose divisions are mixed or changed that may still be tried.
    left: usize,
    /// Steps of the planner.
    effort: u64,
    /// Receives the number of candidates so far.
    progress: &'a mut dyn FnMut(u64),
    failure: Option<Failure>,
}

/// For each layer the fastest timed program with another division of it: that division, and the cycles of the program.
pub type RejectedDivisions = Vec<Option<(Split, u64)>>;

/// Compiles a network to the fastest program that is found. `progress` receives the number of candidates that were timed.
///
/// # Errors
/// The memory of a cluster does not suffice for a layer.
pub fn compile(
    net: &Network,
    machine: &ClusterMachine,
    settings: Settings,
    progress: &mut dyn FnMut(u64),
) -> Result<(Compiled, RejectedDivisions), Failure> {
    let mut search = CandidateSearch {
        net,
        machine,
        settings,
        least: Least::new(net, machine),
        best: None,
        tried: Vec::new(),
        divisions: Vec::new(),
        candidates: Vec::new(),
        left: LEAST,
        effort: EFFORT[0],
        progress,
        failure: None,
    };
    search.divide(machine.clusters);
    search.tile();
    if settings.divisions && machine.clusters > 1 {
        search.fewer();
        search.tile();
        search.effort = EFFORT[1];
        search.mix();
        search.refine();
    }
    if settings.prefetch {
        search.fill();
    }
    search.finish()
}

/// Returns the largest number of clusters that have a part of a layer.
fn most_clusters(splits: &[Split]) -> u32 {
    splits.iter().map(|split| split.clusters).max().unwrap_or(0)
}

impl CandidateSearch<'_> {
    /// Tries the divisions of the chooser among the first clusters, or rows.
    fn divide(&mut self, clusters: u32) {
        let prices = PRICES.map(|[constants, features, copies]| Prices { constants, features, copies });
        for prices in prices.into_iter().take(if self.settings.divisions { PRICES.len() } else { 1 }) {
            let splits = match self.settings.divisions {
                true => choose(self.net, self.machine, clusters, prices),
                false => vec![Split::rows(clusters); self.net.layers.len()],
            };
            let tiled = self.best.as_ref().map(|best| Choices { splits: splits.clone(), ..best.choices.clone() });
            let choices = self.simple(splits);
            let Prices { constants, features, copies } = prices;
            let name =
                format!("{clusters} clusters, constants at {constants}, features at {features}, copies at {copies}");
            self.attempt(name.clone(), choices);
            if let Some(tiled) = tiled.filter(|_| clusters != self.machine.clusters) {
                self.attempt(name + ", tiles as before", tiled);
            }
        }
    }

    /// Choices without tiles.
    fn simple(&self, splits: Vec<Split>) -> Choices {
        Choices {
            splits,
            groups: (0..self.net.layers.len()).map(|l| TiledLayers { layers: l..l + 1, tiles: 1 }).collect(),
            in_ddr: vec![false; self.net.features.len()],
            slice: self.machine.slice,
            fill: 100,
        }
    }

    /// Compiles with choices, which are made to fit into memory first. Whether they are the fastest so far.
    fn attempt(&mut self, name: String, mut choices: Choices) -> bool {
        let is_known = |search: &Self, choices: &Choices| search.tried.iter().any(|(known, _)| known == choices);
        if is_known(self, &choices) {
            return false;
        }
        let wanted = choices.clone();
        let fits = fit(self.net, &mut choices, self.machine);
        let is_changed = wanted != choices;
        if is_changed {
            self.tried.push((wanted, u64::MAX));
        }
        if fits.is_ok() && is_changed && is_known(self, &choices) {
            return false;
        }
        let compiled = fits.and_then(|()| self.compile(choices.clone(), self.effort));
        let cycles = compiled.as_ref().ok().map(|c| c.estimate.cycles);
        self.divisions.extend(cycles.map(|cycles| (cycles, choices.splits.clone())));
        self.tried.push((choices, cycles.unwrap_or(u64::MAX)));
        self.candidates.push((name, cycles));
        (self.progress)(self.candidates.len() as u64);
        match compiled {
            Ok(new) => self.improve(new),
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }

    fn compile(&self, choices: Choices, effort: u64) -> Result<Compiled, Failure> {
        compile_by(self.net, self.machine, self.settings, choices, effort)
    }

    /// Takes a program if it is the fastest so far. Whether it is.
    fn improve(&mut self, new: Compiled) -> bool {
        let is_faster = self.best.as_ref().is_none_or(|best| new.estimate.cycles < best.estimate.cycles);
        if is_faster {
            self.best = Some(new);
        }
        is_faster
    }

    /// Whether no program on the first clusters can be much faster than the best so far.
    fn is_close(&self, clusters: u32) -> bool {
        let Some(best) = &self.best else { return false };
        let bound = self.least.ddr.max(self.least.products / u64::from(clusters));
        best.estimate.cycles * 1000 <= bound * CLOSE
    }

    /// Tries other tiles for the best choices.
    fn tile(&mut self) {
        if self.settings.streaming {
            self.stream();
        }
        if self.settings.cascades {
            self.merge();
        }
    }

    /// Executes the first layers by tiles, so that they begin before all of an operand has been read.
    fn stream(&mut self) {
        let reads_operand =
            self.net.layers.first().is_some_and(|layer| {
                matches!(self.net.features[self.net.root(layer.input).whole].role, Role::Operand(_))
            });
        let Some(base) = self.best.as_ref().map(|best| best.choices.clone()).filter(|_| reads_operand) else { return };
        for layers in (1..=STREAMED.min(self.net.layers.len())).take_while(|&n| self.net.can_tile(0..n)) {
            for tiles in TILES {
                let mut choices = base.clone();
                let rest = base.groups.iter().filter(|g| g.layers.end > layers).cloned();
                let whole = |g: TiledLayers| match g.layers.start < layers {
                    true => {
                        g.layers.filter(|&l| l >= layers).map(|l| TiledLayers { layers: l..l + 1, tiles: 1 }).collect()
                    }
                    false => vec![g],
                };
                choices.groups =
                    std::iter::once(TiledLayers { layers: 0..layers, tiles }).chain(rest.flat_map(whole)).collect();
                self.attempt(format!("the first {layers} layers in {tiles} tiles"), choices);
            }
        }
    }

    /// Joins neighbouring groups with tiles, so that what is between them does not go through DDR.
    fn merge(&mut self) {
        for _ in 0..MERGES {
            let mut at = 0;
            let mut changed = false;
            while let Some(best) = &self.best {
                let groups = &best.choices.groups;
                let Some([a, b]) = groups.get(at..at + 2) else { break };
                if a.tiles > 1 && b.tiles > 1 {
                    let mut choices = best.choices.clone();
                    let (layers, tiles) = (a.layers.start..b.layers.end, a.tiles.max(b.tiles));
                    let name = format!("layers {} to {} in {tiles} tiles", layers.start, layers.end - 1);
                    choices.groups.splice(at..at + 2, [TiledLayers { layers, tiles }]);
                    if self.attempt(name, choices) {
                        changed = true;
                        continue;
                    }
                }
                at += 1;
            }
            if !changed {
                break;
            }
        }
    }

    /// Tries fewer clusters, which may be faster where synchronization costs more than the work. Small networks are tried on every number
    /// of clusters.
    fn fewer(&mut self) {
        let all = self.machine.clusters;
        let candidates = PRICES.len() * all as usize * self.records();
        let numbers: Vec<u32> = match candidates <= RECORDS {
            true => (1..all).rev().collect(),
            false => std::iter::successors(Some(all / 2), |n| Some(n / 2)).take_while(|&n| n > 0).collect(),
        };
        for clusters in numbers {
            if !self.is_close(clusters) {
                self.divide(clusters);
            }
        }
    }

    /// Records of a candidate, about.
    fn records(&self) -> usize {
        let steps = self.best.as_ref().map_or(0, |best| best.schedule.steps.len());
        (steps * (self.machine.clusters as usize + 4)).max(1)
    }

    /// Takes the first layers from one division and the rest from another.
    fn mix(&mut self) {
        self.left = (RECORDS / self.records()).max(LEAST);
        let (leaders, layers) = (leaders(self.net, &self.net.edges()), self.net.layers.len());
        self.divisions.sort_by_key(|(cycles, _)| *cycles);
        let mut others: Vec<Vec<Split>> = Vec::new();
        for (_, splits) in &self.divisions {
            let is_new_number = || others.iter().all(|other| most_clusters(other) != most_clusters(splits));
            if !others.contains(splits) && (others.len() < MIXED || is_new_number()) {
                others.push(splits.clone());
            }
        }
        for cut in CUTS.map(|eighths| layers * eighths / 8) {
            for (other, is_first) in others.iter().flat_map(|other| [(other, false), (other, true)]) {
                let Some(base) = self.base() else { return };
                let is_other = |l: usize| (leaders[l].unwrap_or(l) < cut) == is_first;
                let splits = (0..layers).map(|l| if is_other(l) { other[l] } else { base.splits[l] }).collect();
                self.attempt(
                    format!("another division {} layer {cut}", if is_first { "before" } else { "from" }),
                    Choices { splits, ..base },
                );
            }
        }
    }

    /// Returns the best choices for another candidate, unless enough were tried.
    fn base(&mut self) -> Option<Choices> {
        self.left = self.left.checked_sub(1)?;
        let best = self.best.as_ref().filter(|_| !self.is_close(self.machine.clusters))?;
        Some(best.choices.clone())
    }

    /// Changes the division of single layers.
    fn refine(&mut self) {
        let leaders = leaders(self.net, &self.net.edges());
        for l in (0..self.net.layers.len()).filter(|&l| leaders[l].is_none_or(|leader| leader == l)) {
            let layer = &self.net.layers[l];
            let divides_channels = layer.divides_channels() && leaders[l].is_none();
            let extents = self.net.features[layer.output].extents;
            let clusters = self.best.as_ref().map_or(1, |best| best.choices.splits[l].clusters);
            for split in Split::all(extents, clusters, divides_channels) {
                let Some(mut choices) = self.base() else { return };
                (l..leaders.len()).filter(|&f| f == l || leaders[f] == Some(l)).for_each(|f| choices.splits[f] = split);
                self.attempt(format!("layer {l} by {}", split.text()), choices);
            }
        }
    }

    /// Tries to leave memory unused, so that constants are read later and wait less often for the end of other buffers.
    fn fill(&mut self) {
        for fill in FILLS {
            let Some(best) = self.best.as_ref().filter(|_| !self.is_close(self.machine.clusters)) else { return };
            let choices = Choices { fill, ..best.choices.clone() };
            self.attempt(format!("early reads fill {fill} percent"), choices);
        }
    }

    /// Compiles the best candidates with more effort of the planner.
    fn finish(mut self) -> Result<(Compiled, RejectedDivisions), Failure> {
        self.tried.sort_by_key(|(_, cycles)| *cycles);
        let finalists: Vec<Choices> = self.tried.iter().take(FINALISTS).map(|(choices, _)| choices.clone()).collect();
        for choices in finalists {
            if self.is_close(self.machine.clusters) {
                break;
            }
            if let Ok(new) = self.compile(choices, EFFORT[2]) {
                self.tried.push((new.choices.clone(), new.estimate.cycles));
                self.improve(new);
            }
        }
        let rejected = self.rejected();
        let mut best = self.best.ok_or(self.failure.unwrap_or((0, "no program".into())))?;
        best.candidates = self.candidates;
        Ok((best, rejected))
    }

    fn rejected(&self) -> RejectedDivisions {
        let Some(best) = &self.best else { return Vec::new() };
        let timed = || self.tried.iter().filter(|(_, cycles)| *cycles < u64::MAX);
        let of_layer = |(l, split): (usize, &Split)| {
            let others =
                timed().map(|(choices, cycles)| (choices.splits[l], *cycles)).filter(|(other, _)| other != split);
            others.min_by_key(|(_, cycles)| *cycles)
        };
        best.choices.splits.iter().enumerate().map(of_layer).collect()
    }
}
