//! Which features stay in SRAM, at which bytes, and the tiles of each layer.
//!
//! All features begin in SRAM. While a layer has no tiling that fits beside them, the feature whose streaming costs least moves to
//! DDR. The planner then places the rest, with the working memory of each layer as a buffer of that layer's time.

use super::cascade::{Cascade, CascadeShape, in_turns, is_read_before, layers_in_turn, may_cascade};
use super::network::{FeatureId, Network, Role};
use super::price::Prices;
use super::shape::{ALIGNMENT, Cost, LayerShape, Resident, Tiling, Weighing};
use super::tiling::frontier;
use gradus_ir::Refusal;
use gradus_plan::{Budget, Buffer, Pool, Problem, plan};
use gradus_simulators::npu::NpuMachine;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};

/// Steps of planning, about 5 ms.
const STEPS: u64 = 600_000;

/// The choices for a network.
#[derive(Clone, PartialEq, Debug)]
pub struct Residency {
    /// The first byte in SRAM of each feature with memory of its own; `None` in DDR.
    pub places: Vec<Option<usize>>,
    /// Lifetime of each feature with memory of its own, in layers.
    pub lifetimes: Vec<(usize, usize)>,
    /// The tiles of each layer and their estimated costs; of layers that take turns the cost of all.
    pub tilings: Vec<(Tiling, Cost)>,
    /// Whether the next layer reads the tiles of a layer at once, so that its output has no memory of its own.
    pub cascaded: Vec<bool>,
    /// The largest sum of bytes live at once, by the planner, and the peak.
    pub peak: (u64, u64),
}

/// The tilings of a layer, cheapest first.
type Frontier = Vec<(Tiling, Cost)>;
/// The tilings of layers that take turns, by their first and last one and the features that are resident.
type Cascades = FxHashMap<(usize, usize, u32), Vec<Cascade>>;

/// The costs of tilings, for all choices of a network.
pub struct TilingCosts {
    /// The cycles of the tiles of each layer.
    pub prices: Vec<Prices>,
    /// The tilings of each layer by the features that are resident, computed on demand.
    tilings: Vec<[Option<Frontier>; 8]>,
    /// Those of layers that take turns.
    cascades: Cascades,
}

impl TilingCosts {
    /// Creates costs of a number of layers, to be computed on demand.
    pub fn new(layers: usize) -> TilingCosts {
        let each = |_| Default::default();
        TilingCosts {
            prices: (0..layers).map(|_| Prices::default()).collect(),
            tilings: (0..layers).map(each).collect(),
            cascades: Cascades::default(),
        }
    }
}

/// A network during the choice.
struct ResidencyChooser<'a> {
    net: &'a Network,
    machine: &'a NpuMachine,
    /// First and last layer of each root.
    lifetimes: Vec<(usize, usize)>,
    /// Bytes that stay free in each layer.
    slack: &'a [usize],
    /// The cheapest tilings of each layer by the features that are resident, computed on demand.
    frontiers: Vec<[Option<Frontier>; 8]>,
    /// Those of layers that take turns.
    cascades: Cascades,
    by: Weighing,
    costs: &'a mut TilingCosts,
    resident: Vec<bool>,
    /// Whether a layer is cascaded with the next one.
    cascaded: Vec<bool>,
    /// The root whose bytes a root takes, since a sum is written over its operand.
    over: Vec<FeatureId>,
    /// Bytes of resident features by layer.
    live: Vec<usize>,
    /// The rank that the layers that take turns from each layer on had last, with its key.
    known: Vec<Option<(RankKey, Option<u64>)>>,
}

/// The key of a rank of layers that take turns: the last layer, the bytes for tiles, and the features in SRAM as a number.
type RankKey = (usize, Option<usize>, u32);

impl ResidencyChooser<'_> {
    fn is_resident(&self, id: FeatureId) -> bool {
        self.resident[self.net.root(id)]
    }

    /// Which features of a layer are in SRAM.
    fn of_layer(&self, index: usize) -> Resident {
        let layer = &self.net.layers[index];
        let weights = layer.weights.feature().is_none_or(|id| self.is_resident(id));
        Resident {
            input: self.is_resident(layer.input) && weights,
            output: self.is_resident(layer.output),
            sum: layer.sum.is_none_or(|sum| self.is_resident(sum.feature)),
        }
    }

    /// Changes whether a feature is resident.
    fn toggle(&mut self, id: FeatureId) {
        self.resident[id] = !self.resident[id];
        self.update();
    }

    /// Recomputes which results are written over the operand of their sum, and the live bytes.
    fn update(&mut self) {
        let net = self.net;
        self.over = written_over(net, &self.lifetimes, &self.resident, &self.cascaded);
        self.live = vec![0; net.layers.len()];
        for (bytes, first, last) in self.groups().into_iter().flatten() {
            self.live[first..=last].iter_mut().for_each(|live| *live += bytes);
        }
    }

    /// The bytes and the lifetime of the resident features that share bytes, by the first of them.
    fn groups(&self) -> Vec<Option<(usize, usize, usize)>> {
        let mut groups = vec![None; self.net.features.len()];
        for id in (0..self.net.features.len()).filter(|&id| self.resident[id] && !self.is_passed_on(id)) {
            let bytes = self.net.features[id].sram_bytes().next_multiple_of(ALIGNMENT);
            let (_, first, last) = groups[self.over[id]].get_or_insert((bytes, usize::MAX, 0));
            let (begin, end) = in_turns(self.lifetimes[id], &self.cascaded);
            (*first, *last) = ((*first).min(begin), (*last).max(end));
        }
        groups
    }

    /// Whether a feature is the output of a cascaded layer.
    fn is_passed_on(&self, id: FeatureId) -> bool {
        let first = self.lifetimes[id].0;
        self.cascaded.get(first).is_some_and(|&is| is) && self.net.layers[first].output == id
    }

    /// Bytes of SRAM for tiles in a layer.
    fn room(&self, index: usize) -> Option<usize> {
        (self.machine.sram_bytes as usize).checked_sub(self.live[index] + self.slack[index])
    }

    /// The layers that take turns with a layer.
    fn turns(&self, index: usize) -> RangeInclusive<usize> {
        layers_in_turn(&self.cascaded, index)
    }

    /// Bytes of SRAM for tiles in each of some layers.
    fn room_of(&self, mut layers: RangeInclusive<usize>) -> Option<usize> {
        layers.try_fold(usize::MAX, |room, index| Some(room.min(self.room(index)?)))
    }

    /// Which features of a layer of those that take turns are in SRAM: what is between these layers is.
    fn in_turn(&self, layers: &RangeInclusive<usize>, index: usize) -> Resident {
        let Resident { input, output, sum } = self.of_layer(index);
        Resident { input: input || index > *layers.start(), output: output || index < *layers.end(), sum }
    }

    /// Which features of layers that take turns are in SRAM, as a number.
    fn residents(&self, layers: &RangeInclusive<usize>) -> u32 {
        let bits = layers.clone().map(|index| self.in_turn(layers, index)).flat_map(|r| [r.input, r.output, r.sum]);
        bits.enumerate().map(|(i, is)| u32::from(is) << i).sum()
    }

    fn best_cascade(&mut self, layers: RangeInclusive<usize>) -> Option<&Cascade> {
        let room = self.room_of(layers.clone())?;
        let (first, last) = (*layers.start(), *layers.end());
        let key = (first, last, self.residents(&layers));
        if !self.cascades.contains_key(&key) {
            let shape = CascadeShape::new(self.net, self.machine, &layers, |index| self.in_turn(&layers, index));
            let TilingCosts { prices, cascades: priced, .. } = &mut *self.costs;
            let all = priced.entry(key).or_insert_with(|| shape.priced(&mut prices[first..=last]));
            self.cascades.insert(key, frontier(all, self.by));
        }
        self.cascades[&key].iter().find(|(_, cost)| cost.bytes <= room)
    }

    fn best(&mut self, index: usize) -> Option<(Tiling, Cost)> {
        let layers = self.turns(index);
        if layers.start() < layers.end() {
            let at = index - layers.start();
            return self.best_cascade(layers).map(|(all, cost)| (all[at], *cost));
        }
        let room = self.room(index)?;
        let resident = self.of_layer(index);
        let key = usize::from(resident.input) | usize::from(resident.output) << 1 | usize::from(resident.sum) << 2;
        let shape = LayerShape::new(self.net, &self.net.layers[index], self.machine);
        let TilingCosts { prices, tilings, .. } = &mut *self.costs;
        let frontier = self.frontiers[index][key].get_or_insert_with(|| {
            let price = || shape.priced(resident, &mut prices[index]);
            frontier(tilings[index][key].get_or_insert_with(price), self.by)
        });
        frontier.iter().find(|(_, cost)| cost.bytes <= room).copied()
    }

    /// Layers without a tiling, and the sum of the ranks of the others.
    fn total(&mut self) -> (usize, u64) {
        let mut total = (0, 0);
        let mut index = 0;
        while index < self.net.layers.len() {
            let layers = self.turns(index);
            match self.rank(layers.clone()) {
                Some(rank) => total.1 += rank,
                None => total.0 += 1,
            }
            index = layers.end() + 1;
        }
        total
    }

    /// Moves features to DDR until each layer has a tiling.
    fn make_room(&mut self) -> Result<(), Refusal> {
        while let Some(index) = (0..self.net.layers.len()).find(|&index| self.best(index).is_none()) {
            let live = self.lifetimes.clone();
            let is_live = |&id: &FeatureId| (live[id].0..=live[id].1).contains(&index);
            let candidates: Vec<FeatureId> = (0..live.len()).filter(|&id| self.resident[id]).filter(is_live).collect();
            let mut best = None;
            for id in candidates {
                self.toggle(id);
                let key = (self.total(), id);
                self.toggle(id);
                best = best.filter(|least| *least <= key).or(Some(key));
            }
            let Some((_, id)) = best else {
                let (layer, bytes) = (&self.net.layers[index], self.machine.sram_bytes as usize);
                let [input, output] = [layer.input, layer.output].map(|id| self.net.features[id].pitch());
                let rule = "a program with a layer of no tiles that fit into {} bytes of SRAM: rows of its input have {} bytes, those \
                            of its output {}";
                return Err(Refusal::from(rule).with([bytes, input, output]));
            };
            self.toggle(id);
        }
        Ok(())
    }

    /// Chooses which layers take turns, given the features in SRAM: the cheapest division of all layers into runs of them, by the
    /// recurrence over the last layer of a run. The cost of a run is independent of the other runs.
    fn take_turns(&mut self) {
        // For a number of layers, the cost of them and the first layer of the last run.
        let mut best: Vec<((usize, u64), usize)> = vec![((0, 0), 0)];
        for last in 0..self.net.layers.len() {
            let mut least = None;
            for first in (0..=last).rev() {
                if !may_cascade(self.net, &self.lifetimes, first..=last) {
                    break;
                }
                let Some(rank) = self.rank_of_run(first, last) else { break };
                let before = best[first].0;
                let cost = (before.0 + rank.0, before.1 + rank.1);
                least = least.filter(|(known, _)| *known <= cost).or(Some((cost, first)));
            }
            best.extend(least);
        }
        self.cascaded.fill(false);
        let mut end = self.net.layers.len();
        while end > 0 {
            let first = best[end].1;
            self.cascaded[first..end - 1].fill(true);
            end = first;
        }
        self.update();
    }

    /// The cost of a run of layers that take turns; `None` if their weights have no room.
    fn rank_of_run(&mut self, first: usize, last: usize) -> Option<(usize, u64)> {
        self.cascaded[first.saturating_sub(1)..=last].fill(false);
        self.cascaded[first..last].fill(true);
        self.update();
        let rank = self.rank(first..=last);
        if rank.is_none() && last > first {
            let shape = CascadeShape::new(self.net, self.machine, &(first..=last), |index| self.of_layer(index));
            shape.has_room().then_some(())?;
        }
        Some(rank.map_or((1, 0), |rank| (0, rank)))
    }

    /// The rank of layers that take turns.
    fn rank(&mut self, layers: RangeInclusive<usize>) -> Option<u64> {
        let index = *layers.start();
        let key = (*layers.end(), self.room_of(layers.clone()), self.residents(&layers));
        match &self.known[index] {
            Some((known, rank)) if *known == key => *rank,
            _ => {
                let rank = self.best(index).map(|(_, cost)| cost.rank(self.by));
                self.known[index] = Some((key, rank));
                rank
            }
        }
    }

    /// Moves features to and from DDR, one or two at a time, while that costs less.
    fn improve(&mut self, candidates: &[FeatureId]) {
        let mut total = self.total();
        for _ in 0..ROUNDS {
            let before = total;
            self.take_turns();
            total = self.total();
            for &id in candidates {
                self.toggle(id);
                let less = self.total();
                if less < total {
                    total = less;
                    continue;
                }
                self.toggle(id);
                for &other in candidates.iter().filter(|&&other| other > id) {
                    let [a, b] = [self.lifetimes[id], self.lifetimes[other]];
                    if self.resident[id] == self.resident[other] || a.0 > b.1 || b.0 > a.1 {
                        continue;
                    }
                    [id, other].into_iter().for_each(|id| self.toggle(id));
                    let less = self.total();
                    if less < total {
                        total = less;
                        break;
                    }
                    [id, other].into_iter().for_each(|id| self.toggle(id));
                }
            }
            if total == before {
                break;
            }
        }
    }
}

/// Rounds of improvement.
const ROUNDS: usize = 4;

/// For each resident root the one whose bytes it takes: the result of a sum may be written over its other operand.
pub fn written_over(
    net: &Network,
    lifetimes: &[(usize, usize)],
    resident: &[bool],
    cascaded: &[bool],
) -> Vec<FeatureId> {
    let mut over: Vec<FeatureId> = (0..net.features.len()).collect();
    for (index, layer) in net.layers.iter().enumerate() {
        let Some(sum) = layer.sum else { continue };
        let (from, to) = (sum.feature, layer.output);
        let is_root = |id: FeatureId| net.root(id) == id && resident[id];
        let [a, b] = [from, to].map(|id| &net.features[id]);
        let fits = a.tile == b.tile && a.sram_bytes() == b.sram_bytes() && a.pitch() == b.pitch();
        let is_last = !is_read_before(net, cascaded, index, from)
            && lifetimes[to].0 == index
            && lifetimes[from].1 == index
            && from != net.root(layer.input);
        if is_root(from) && is_root(to) && fits && is_last {
            over[to] = over[from];
        }
    }
    over
}

/// Whether a root with memory of its own may be in SRAM: neither the program's caller nor DDR has it.
pub fn may_reside(net: &Network, lifetimes: &[(usize, usize)], id: FeatureId) -> bool {
    let has_memory = net.root(id) == id && lifetimes[id].0 != usize::MAX;
    let mut parts = (0..net.features.len()).filter(|&part| net.root(part) == id);
    has_memory && parts.all(|part| net.features[part].role == Role::Inner)
}

/// Returns the first and last layer that access each root; `usize::MAX, 0` of others.
pub fn lifetimes(net: &Network) -> Vec<(usize, usize)> {
    let mut lifetimes = vec![(usize::MAX, 0); net.features.len()];
    for (index, layer) in net.layers.iter().enumerate() {
        for id in layer.reads().chain([layer.output]) {
            let (first, last) = &mut lifetimes[net.root(id)];
            (*first, *last) = ((*first).min(index), (*last).max(index));
        }
    }
    lifetimes
}

/// Chooses what stays in SRAM, and the tiles, with `slack` free bytes in each layer.
///
/// # Errors
/// A layer has no tiles that fit.
pub fn choose(
    net: &Network,
    machine: &NpuMachine,
    slack: &[usize],
    by: Weighing,
    costs: &mut TilingCosts,
) -> Result<Residency, Refusal> {
    let lifetimes = lifetimes(net);
    let resident: Vec<bool> = (0..net.features.len()).map(|id| may_reside(net, &lifetimes, id)).collect();
    let candidates: Vec<FeatureId> = (0..resident.len()).filter(|&id| resident[id]).collect();
    let frontiers = net.layers.iter().map(|_| Default::default()).collect();
    let cascaded = vec![false; net.layers.len()];
    let mut chooser = ResidencyChooser {
        net,
        by,
        costs,
        machine,
        lifetimes,
        slack,
        frontiers,
        cascades: Cascades::default(),
        resident,
        cascaded,
        over: Vec::new(),
        live: Vec::new(),
        known: vec![None; net.layers.len()],
    };
    chooser.update();
    chooser.make_room()?;
    chooser.improve(&candidates);
    loop {
        if let Some((places, peak)) = place(&mut chooser) {
            let tilings = (0..net.layers.len()).filter_map(|i| chooser.best(i)).collect();
            let (lifetimes, cascaded) = (chooser.lifetimes, chooser.cascaded);
            return Ok(Residency { places, lifetimes, tilings, cascaded, peak });
        }
        // The bytes suffice, but the planner found no offsets: the largest feature leaves.
        let largest = candidates.iter().copied().filter(|&id| chooser.resident[id]);
        let Some(id) = largest.max_by_key(|&id| net.features[id].sram_bytes()) else {
            return Err(Refusal::from("a program whose features do not fit into {} bytes of SRAM")
                .with([machine.sram_bytes as usize]));
        };
        chooser.toggle(id);
    }
}

/// Offsets of features, the lower bound and the peak.
type Placed = (Vec<Option<usize>>, (u64, u64));

/// Places resident features beside the working memory of each layer.
fn place(chooser: &mut ResidencyChooser<'_>) -> Option<Placed> {
    let groups = chooser.groups();
    let of_group = |&(bytes, first, last): &(usize, usize, usize)| aligned(first, last, bytes);
    let mut buffers: Vec<Buffer> = groups.iter().flatten().map(of_group).collect();
    let mut first = 0;
    while first < chooser.net.layers.len() {
        let (last, bytes) = (*chooser.turns(first).end(), chooser.best(first)?.1.bytes);
        let slack = chooser.slack[first..=last].iter().max();
        buffers.push(aligned(first, last, bytes + slack.copied().unwrap_or(0)));
        first = last + 1;
    }
    let pool = Pool { capacity: Some(u64::from(chooser.machine.sram_bytes)) };
    let problem = Problem::new(buffers, vec![pool], Vec::new()).ok()?;
    let found = plan(&problem, Budget::steps(STEPS), &mut |_| ControlFlow::Continue(())).ok()?;
    found.fits(&problem).then_some(())?;
    let offsets: BTreeMap<FeatureId, usize> =
        (0..groups.len()).filter(|&id| groups[id].is_some()).zip(found.offsets.iter().map(|&o| o as usize)).collect();
    let offset =
        |id: FeatureId| (chooser.resident[id] && !chooser.is_passed_on(id)).then(|| offsets[&chooser.over[id]]);
    Some(((0..chooser.resident.len()).map(offset).collect(), (found.lower_bound(), found.peak())))
}

fn aligned(first: usize, last: usize, bytes: usize) -> Buffer {
    let bytes = bytes.next_multiple_of(ALIGNMENT) as u64;
    Buffer { alignment: ALIGNMENT as u64, ..Buffer::new(first as i64, last as i64 + 1, bytes) }
}
