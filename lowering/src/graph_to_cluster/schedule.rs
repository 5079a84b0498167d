//! Steps in order, the instances of features that they read and write in the memories of clusters, and the constants that they need.

use super::network::{ChannelSlice, Edges, FeatureId, Layer, LayerId, LayerKind, Network, Role, elem_bytes};
use super::region::Region;
use super::split::Split;
use gradus_simulators::cluster::ClusterMachine;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// An instance by number.
pub type InstanceId = usize;

/// Consecutive layers that are executed tile by tile. A tile is a range of rows of the results of the group; the layers before them compute
/// the rows that these need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TiledLayers {
    /// Layers.
    pub layers: Range<LayerId>,
    /// Number of tiles.
    pub tiles: u32,
}

/// The choices of a schedule.
#[derive(Clone, PartialEq, Debug)]
pub struct Choices {
    /// Division of each layer.
    pub splits: Vec<Split>,
    /// Groups, in order.
    pub groups: Vec<TiledLayers>,
    /// For each feature that is no part of another, whether it is in DDR between groups.
    pub in_ddr: Vec<bool>,
    /// Largest number of bytes of constants that are read at once.
    pub slice: u32,
    /// Percentage of the memory of a cluster that early reads may fill.
    pub fill: u64,
}

/// A layer on a tile and on the channels whose constants are read at once: a task of each cluster.
#[derive(Clone, PartialEq, Debug)]
pub struct TileTask {
    /// The layer.
    pub layer: LayerId,
    /// Box that each cluster computes, in the output.
    pub boxes: Vec<Region>,
    /// The input.
    pub input: InstanceId,
    /// The output.
    pub output: InstanceId,
    /// The operands of stages, in order.
    pub others: Vec<InstanceId>,
    /// The constants, by number of their slice.
    pub slice: Option<usize>,
    /// Boxes of the output's root that are complete after this step, by cluster, for other clusters.
    pub ready: Vec<Region>,
    /// Boxes of them to be stored in DDR.
    pub saved: Vec<Region>,
}

/// A feature in the memories of clusters.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureInstance {
    /// The feature, which is no part of another.
    pub root: FeatureId,
    /// Box that each cluster reads.
    pub needs: Vec<Region>,
    /// Box that each cluster stores.
    pub stored: Vec<Region>,
    /// First step that needs its memory, and the last.
    pub steps: [usize; 2],
    /// Whether it is loaded from DDR.
    pub is_loaded: bool,
    /// First step before which it can be loaded, since its bytes are in DDR.
    pub available: usize,
    /// The largest number of bytes of a cluster.
    pub bytes: u32,
}

/// Constants of a range of output channels of a layer.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstantUnit {
    /// Channels.
    pub channels: Range<u32>,
    /// Clusters that need them, as a mask.
    pub clusters: u32,
    /// Bytes.
    pub bytes: u32,
}

/// Constants that are in the same place of different clusters: a slice of a layer.
#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    /// The layer.
    pub layer: LayerId,
    /// One for each range of channels. Their masks are disjoint.
    pub units: Vec<ConstantUnit>,
    /// First step that needs them, and the last.
    pub steps: [usize; 2],
}

impl Slice {
    /// The largest number of bytes of a cluster.
    pub fn bytes(&self) -> u32 {
        self.units.iter().map(|unit| unit.bytes).max().unwrap_or(0)
    }

    /// The constants of a cluster.
    pub fn unit(&self, cluster: usize) -> Option<&ConstantUnit> {
        self.units.iter().find(|unit| unit.clusters >> cluster & 1 == 1)
    }
}

/// A schedule, before addresses are known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schedule {
    /// Steps in order.
    pub steps: Vec<TileTask>,
    /// Instances.
    pub instances: Vec<FeatureInstance>,
    /// Constants, in the order of first use.
    pub slices: Vec<Slice>,
}

/// A tile of a group.
type TileId = (usize, u32);

struct Scheduler<'a> {
    net: &'a Network,
    choices: &'a Choices,
    machine: &'a ClusterMachine,
    roots: Vec<ChannelSlice>,
    /// For each root, whether it exists within one tile only.
    is_local: Vec<bool>,
    edges: Edges,
    /// For each layer, the one that completes what it writes, and the channels that are complete then.
    completions: Vec<(LayerId, Range<u32>)>,
    /// The instances of roots: within a tile, one that is loaded and one that is written there.
    known: FxHashMap<(FeatureId, Option<TileId>, bool), InstanceId>,
    /// For each root, the step after the last one that stored it in DDR.
    saved_until: Vec<usize>,
    /// The slices of each layer.
    slices_of: Vec<Range<usize>>,
    out: Schedule,
}

/// Orders the steps of a network.
pub fn schedule(net: &Network, choices: &Choices, machine: &ClusterMachine) -> Schedule {
    let mut s = Scheduler::new(net, choices, machine);
    for (g, group) in choices.groups.iter().enumerate() {
        for tile in 0..group.tiles {
            s.tile(g, tile);
        }
    }
    s.finish()
}

impl<'a> Scheduler<'a> {
    fn new(net: &'a Network, choices: &'a Choices, machine: &'a ClusterMachine) -> Scheduler<'a> {
        let roots: Vec<ChannelSlice> = (0..net.features.len()).map(|id| net.root(id)).collect();
        let mut group_of = vec![0; net.layers.len()];
        for (g, group) in choices.groups.iter().enumerate() {
            group_of[group.layers.clone()].fill(g);
        }
        let edges = net.edges();
        let is_local = |root: FeatureId| {
            let mut groups = edges.writers[root].iter().chain(&edges.readers[root]).map(|&l| group_of[l]);
            let first = groups.next().unwrap_or(0);
            net.features[root].role == Role::Inner && choices.groups[first].tiles > 1 && groups.all(|g| g == first)
        };
        let is_local = (0..net.features.len()).map(is_local).collect();
        Scheduler {
            net,
            choices,
            machine,
            roots,
            completions: net.completions(&edges),
            is_local,
            edges,
            known: FxHashMap::default(),
            saved_until: vec![0; net.features.len()],
            slices_of: vec![0..0; net.layers.len()],
            out: Schedule::default(),
        }
    }

    /// Returns the boxes of the outputs of a group's layers in a tile.
    fn regions(&self, g: usize, tile: u32) -> Vec<Region> {
        let TiledLayers { layers, tiles } = self.choices.groups[g].clone();
        let mut regions: Vec<Region> = vec![Region::default(); layers.len()];
        for l in layers.clone().rev() {
            let output = self.net.layers[l].output;
            let extents = self.net.features[output].extents;
            let whole = Region::whole(extents);
            let own = match self.is_local[self.roots[output].whole] {
                true => Region::default(),
                false => whole.with(0, extents[0] * tile / tiles, extents[0] * (tile + 1) / tiles),
            };
            let needed = if tiles == 1 { whole } else { self.needed_rows(l, &layers, &regions) };
            regions[l - layers.start] = own.hull(&needed);
        }
        regions
    }

    /// Returns the rows of a layer's output that later layers of a group read, with all columns and channels.
    fn needed_rows(&self, l: LayerId, layers: &Range<LayerId>, regions: &[Region]) -> Region {
        let output = self.net.layers[l].output;
        let root = self.roots[output].whole;
        let extents = self.net.features[output].extents;
        let mut rows = Region::default();
        for &user in self.edges.readers[root].iter().filter(|&&user| user > l && layers.contains(&user)) {
            let region = &regions[user - layers.start];
            for need in self.net.needs(user, region).filter(|(id, _)| self.roots[*id].whole == root) {
                rows = rows.hull(&Region::whole(extents).with(0, need.1.lo[0], need.1.hi[0]));
            }
        }
        rows
    }

    /// Adds the steps of a tile.
    fn tile(&mut self, g: usize, tile: u32) {
        let layers = self.choices.groups[g].layers.clone();
        let regions = self.regions(g, tile);
        for (l, region) in layers.zip(regions) {
            if !region.is_empty() {
                self.step(l, &region, (g, tile));
            }
        }
    }

    fn step(&mut self, l: LayerId, region: &Region, tile: TileId) {
        let boxes = self.choices.splits[l].boxes(region, self.machine.clusters);
        let slices = self.slices(l, &boxes);
        if slices.is_empty() {
            return self.task(l, boxes, None, tile, true);
        }
        for slice in slices.clone() {
            let part = |(c, b): (usize, &Region)| match self.out.slices[slice].unit(c) {
                Some(unit) => b.with(2, unit.channels.start, unit.channels.end),
                None => Region::default(),
            };
            let part = boxes.iter().enumerate().map(part).collect();
            self.task(l, part, Some(slice), tile, slice + 1 == slices.end);
        }
    }

    /// Adds a step. `is_last`: whether the channels of a tile are complete with it.
    fn task(&mut self, l: LayerId, boxes: Vec<Region>, slice: Option<usize>, tile: TileId, is_last: bool) {
        let (layer, at) = (&self.net.layers[l], self.out.steps.len());
        if let Some(slice) = slice {
            let steps = &mut self.out.slices[slice].steps;
            *steps = [steps[0].min(at), at];
        }
        let output = self.instance(self.roots[layer.output].whole, tile, at, false);
        let group = self.choices.groups[tile.0].layers.clone();
        let in_root: Vec<Region> = boxes.iter().map(|b| b.in_root(self.roots[layer.output])).collect();
        self.grow(output, &in_root, false);
        let reads: Vec<FeatureId> = layer.reads().collect();
        let mut instances = Vec::with_capacity(reads.len());
        let needs: Vec<Vec<(FeatureId, Region)>> = boxes.iter().map(|b| self.net.needs(l, b).collect()).collect();
        for (i, &id) in reads.iter().enumerate() {
            let part = self.roots[id];
            let is_own = |source| group.contains(&source);
            let is_loaded = self.is_by_tile(part.whole) && !self.net.sources(&self.edges, l, id).any(is_own);
            let instance = self.instance(part.whole, tile, at, is_loaded);
            let boxes: Vec<Region> = needs.iter().map(|list| list[i].1.in_root(part)).collect();
            self.grow(instance, &boxes, true);
            instances.push(instance);
        }
        let ready = self.ready(l, &in_root, is_last);
        let saved = self.saved(l, tile, &ready);
        if saved.iter().any(|b| !b.is_empty()) {
            self.saved_until[self.roots[layer.output].whole] = at + 1;
        }
        let (input, others) = (instances[0], instances.split_off(1));
        self.out.steps.push(TileTask { layer: l, boxes, input, output, others, slice, ready, saved });
    }

    /// Returns the boxes that are complete after a layer. Interleaved parts are complete with the last of them, after its last slice.
    fn ready(&self, l: LayerId, boxes: &[Region], is_last_slice: bool) -> Vec<Region> {
        let (last, channels) = &self.completions[l];
        if self.roots[self.net.layers[l].output].step == 1 {
            return boxes.to_vec();
        }
        let is_complete = is_last_slice && *last == l;
        let whole = |b: &Region| match is_complete && !b.is_empty() {
            true => b.with(2, channels.start, channels.end),
            false => Region::default(),
        };
        boxes.iter().map(whole).collect()
    }

    /// Returns the boxes to be stored in DDR: without rows that another tile stores.
    fn saved(&self, l: LayerId, (g, tile): TileId, ready: &[Region]) -> Vec<Region> {
        let root = self.roots[self.net.layers[l].output].whole;
        let (info, tiles) = (&self.net.features[root], self.choices.groups[g].tiles);
        let is_saved = matches!(info.role, Role::Result(_)) || self.choices.in_ddr[root] && !self.is_local[root];
        if !is_saved {
            return vec![Region::default(); ready.len()];
        }
        let rows = [tile, tile + 1].map(|t| info.extents[0] * t / tiles);
        ready.iter().map(|b| b.intersection(&Region::whole(info.extents).with(0, rows[0], rows[1]))).collect()
    }

    /// Whether a root has instances for each tile, rather than one.
    fn is_by_tile(&self, root: FeatureId) -> bool {
        let is_operand = matches!(self.net.features[root].role, Role::Operand(_));
        self.is_local[root] || self.choices.in_ddr[root] || is_operand
    }

    /// Returns the instance of a root that a step of a tile reads or writes; a loaded one if layers of other groups wrote it to DDR.
    fn instance(&mut self, root: FeatureId, tile: TileId, at: usize, is_loaded: bool) -> InstanceId {
        let key = (root, self.is_by_tile(root).then_some(tile), is_loaded);
        let clusters = self.machine.clusters as usize;
        let (instances, available) = (&mut self.out.instances, self.saved_until[root]);
        let id = *self.known.entry(key).or_insert_with(|| {
            let none = vec![Region::default(); clusters];
            instances.push(FeatureInstance {
                root,
                needs: none.clone(),
                stored: none,
                steps: [at, at],
                is_loaded,
                available,
                bytes: 0,
            });
            instances.len() - 1
        });
        self.out.instances[id].steps[1] = at;
        id
    }

    fn grow(&mut self, id: InstanceId, boxes: &[Region], is_read: bool) {
        let instance = &mut self.out.instances[id];
        for (c, region) in boxes.iter().enumerate() {
            instance.stored[c] = instance.stored[c].hull(region);
            if is_read {
                instance.needs[c] = instance.needs[c].hull(region);
            }
        }
    }

    /// Returns the slices of a layer's constants, in order.
    fn slices(&mut self, l: LayerId, boxes: &[Region]) -> Range<usize> {
        if self.net.layers[l].has_constants() && self.slices_of[l].is_empty() {
            self.add_slices(l, boxes);
        }
        self.slices_of[l].clone()
    }

    fn add_slices(&mut self, l: LayerId, boxes: &[Region]) {
        let layer = &self.net.layers[l];
        let mut ranges: Vec<(Range<u32>, u32)> = Vec::new();
        // In later tiles clusters may have rows that have none in the first.
        let is_tiled = self.choices.groups.iter().any(|g| g.tiles > 1 && g.layers.contains(&l));
        let computes = |b: &Region| if is_tiled { b.lo[2] < b.hi[2] } else { !b.is_empty() };
        for (c, region) in boxes.iter().enumerate().filter(|(_, b)| computes(b)) {
            let channels = region.lo[2]..region.hi[2];
            match ranges.iter_mut().find(|(known, _)| *known == channels) {
                Some((_, clusters)) => *clusters |= 1 << c,
                None => ranges.push((channels, 1 << c)),
            }
        }
        let bytes = |channels: u32| constant_places(layer, channels).1;
        let count =
            |range: &Range<u32>| bytes(range.len() as u32).div_ceil(self.choices.slice).clamp(1, range.len() as u32);
        // All ranges have as many slices, so that clusters compute them together.
        let most = ranges.iter().map(|(range, _)| count(range)).max().unwrap_or(1);
        let first = self.out.slices.len();
        for i in 0..most {
            let unit = |(range, clusters): &(Range<u32>, u32)| {
                let n = most.min(range.len() as u32);
                let at = |i: u32| range.start + (range.len() as u64 * u64::from(i) / u64::from(n)) as u32;
                let channels = at(i.min(n))..at((i + 1).min(n));
                (i < n).then(|| ConstantUnit { bytes: bytes(channels.len() as u32), channels, clusters: *clusters })
            };
            let units = ranges.iter().filter_map(unit).collect();
            self.out.slices.push(Slice { layer: l, units, steps: [usize::MAX, 0] });
        }
        self.slices_of[l] = first..self.out.slices.len();
    }

    fn finish(mut self) -> Schedule {
        for instance in &mut self.out.instances {
            let size = u64::from(elem_bytes(self.net.features[instance.root].elem));
            let most = instance.stored.iter().map(|b| b.len() * size).max().unwrap_or(0);
            instance.bytes = u32::try_from(most).unwrap_or(u32::MAX);
        }
        self.out
    }
}

/// Multiple of the lists of constants in bytes.
const LIST: usize = 4;

/// Returns the first byte of each list of constants of a number of channels: weights, bias, and lists of stages; and the bytes of all.
pub fn constant_places(layer: &Layer, channels: u32) -> (Vec<u32>, u32) {
    let (mut places, mut at) = (Vec::new(), 0_usize);
    let mut add = |bytes: usize| {
        places.push(at as u32);
        at += bytes.next_multiple_of(LIST);
    };
    constant_lists(layer).for_each(|(list, size)| add(if size == 0 { list.len() } else { size * channels as usize }));
    (places, u32::try_from(at).unwrap_or(u32::MAX))
}

/// Returns the lists of constants of a layer with the bytes per output channel; 0 if a list is for all.
pub fn constant_lists(layer: &Layer) -> impl Iterator<Item = (&[u8], usize)> {
    let conv = match &layer.kind {
        LayerKind::Conv(conv) => {
            let taps = conv.window.kernel[0] as usize * conv.window.kernel[1] as usize;
            let size = taps * conv.group_in as usize * elem_bytes(conv.weights_elem) as usize;
            vec![(&conv.weights[..], size)].into_iter().chain(conv.bias.as_ref().map(|b| (&b[..], 4))).collect()
        }
        _ => Vec::new(),
    };
    let stages = layer.stages.iter().flat_map(|s| s.lists.iter().map(move |list| (&list[..], s.size)));
    conv.into_iter().chain(stages)
}
