//! Records from a schedule with places.

use super::image::Image;
use super::memory::{Buf, Item, Memory};
use super::network::{FeatureId, FeatureInfo, Kind, Layer, Network, Part, WindowInfo, elem_bytes};
use super::region::Region;
use super::schedule::{InstanceId, Schedule, Step, constant_places};
use super::sync::{Conditions, Sync};
use gradus_simulators::cluster::{
    Conv, Lrn, MAX_STAGES, Map, Place, Pool, Program, Record, Softmax, Stage, Stages, Tile, Transfer, Window,
};

/// The accesses to a buffer, by memory.
#[derive(Clone, Default)]
struct Accesses {
    /// Records of clusters after which they are complete.
    complete: Vec<Conditions>,
    /// Events, in clusters, after whose waits they are complete.
    pending: Vec<Vec<(usize, u32)>>,
    /// Events of transfers into a memory that its cluster has not waited for.
    arrivals: Vec<Vec<u32>>,
    /// Clusters, as a mask, for which the memory is known to be free.
    cleared: Vec<u32>,
}

/// A write of a feature to DDR, its cluster and event.
struct Saved {
    region: Region,
    cluster: usize,
    event: u32,
}

struct Emitter<'a> {
    net: &'a Network,
    schedule: &'a Schedule,
    memory: &'a Memory,
    image: &'a Image,
    clusters: usize,
    multicast: bool,
    sync: Sync,
    /// Accesses to each buffer.
    accesses: Vec<Accesses>,
    /// Buffers whose bytes a buffer takes over.
    before: Vec<Vec<usize>>,
    saved: Vec<Vec<Saved>>,
    /// Number of fetches that each cluster began.
    fetches: Vec<u32>,
    task: u32,
}

/// Emits the program of a schedule, without the constants.
pub fn emit(
    net: &Network,
    schedule: &Schedule,
    memory: &Memory,
    image: &Image,
    clusters: usize,
    multicast: bool,
) -> Program {
    let empty = Accesses {
        complete: vec![vec![0; clusters]; clusters],
        pending: vec![Vec::new(); clusters],
        arrivals: vec![Vec::new(); clusters],
        cleared: vec![0; clusters],
    };
    let mut e = Emitter {
        net,
        schedule,
        memory,
        image,
        clusters,
        multicast,
        sync: Sync::new(clusters),
        accesses: vec![empty; memory.bufs.len()],
        before: predecessors(&memory.bufs),
        saved: net.features.iter().map(|_| Vec::new()).collect(),
        fetches: vec![0; clusters],
        task: 0,
    };
    for (at, step) in schedule.steps.iter().enumerate() {
        memory.reads[at].iter().for_each(|&item| e.read(item));
        e.step(step);
    }
    Program {
        records: e.sync.finish(),
        constants: Vec::new(),
        ddr_bytes: image.bytes,
        operands: image.operands.clone(),
        results: image.results.clone(),
    }
}

/// Returns, for each buffer, those before it that have common bytes.
fn predecessors(bufs: &[Buf]) -> Vec<Vec<usize>> {
    let overlaps = |a: &Buf, b: &Buf| a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    let of = |b: &Buf| (0..bufs.len()).filter(|&a| bufs[a].end <= b.start && overlaps(&bufs[a], b)).collect();
    bufs.iter().map(of).collect()
}

/// Bytes from an element to the next along rows, columns and channels of a stored box.
fn strides(info: &FeatureInfo, stored: &Region) -> [u32; 3] {
    let ([rows, cols, channels], size) = (stored.extents(), elem_bytes(info.elem));
    if info.is_planar() {
        [cols * size, size, rows * cols * size]
    } else {
        [cols * channels * size, channels * size, size]
    }
}

/// A box of bytes in a stored box, outermost dimension first: `[rows, columns, channels]`, or `[channels, rows, columns]` if planar.
fn place(info: &FeatureInfo, base: u32, stored: &Region, region: &Region) -> Place {
    let by = strides(info, stored);
    let offset = base + (0..3).map(|i| (region.lo[i] - stored.lo[i]) * by[i]).sum::<u32>();
    let [row, pixel] = if info.is_planar() { [by[2], by[0]] } else { [by[0], by[1]] };
    Place { offset, row, pixel }
}

/// A copy of a box between two stored boxes. Dimensions that are consecutive in both are one.
fn transfer(info: &FeatureInfo, region: &Region, from: Place, to: Place) -> Transfer {
    let ([rows, cols, channels], size) = (region.extents(), elem_bytes(info.elem));
    let [mut outer, mut inner, mut bytes] =
        if info.is_planar() { [channels, rows, cols * size] } else { [rows, cols, channels * size] };
    let (mut from, mut to) = (from, to);
    if inner == 1 || from.pixel == bytes && to.pixel == bytes {
        bytes *= inner;
        inner = 1;
        if outer == 1 || from.row == bytes && to.row == bytes {
            bytes *= outer;
            outer = 1;
        }
    }
    for place in [&mut from, &mut to] {
        place.row = if outer == 1 { 0 } else { place.row };
        place.pixel = if inner == 1 { 0 } else { place.pixel };
    }
    Transfer { from, to, rows: outer, cols: inner, bytes }
}

impl Emitter<'_> {
    fn slice_buf(&self, slice: usize) -> usize {
        self.schedule.instances.len() + slice
    }

    /// The conditions under which the accesses to a buffer in a memory are complete.
    fn completion(&mut self, buf: usize, memory: usize) -> Conditions {
        for (cluster, event) in std::mem::take(&mut self.accesses[buf].pending[memory]) {
            let record = self.sync.wait(cluster, event);
            let slot = &mut self.accesses[buf].complete[memory][cluster];
            *slot = (*slot).max(record);
        }
        self.accesses[buf].complete[memory].clone()
    }

    /// The bytes of a buffer that a cluster uses.
    fn range(&self, buf: usize, cluster: usize) -> [u32; 2] {
        let bytes = match self.schedule.instances.get(buf) {
            Some(instance) => instance.stored[cluster].len() as u32 * elem_bytes(self.net.features[instance.root].elem),
            None => {
                self.schedule.slices[buf - self.schedule.instances.len()].unit(cluster).map_or(0, |unit| unit.bytes)
            }
        };
        let offset = self.memory.bufs[buf].offset;
        [offset, offset + bytes]
    }

    /// The conditions under which the bytes of a buffer in the memories of a mask are free.
    fn free(&mut self, buf: usize, memories: u32) -> Conditions {
        let mut all = vec![0; self.clusters];
        for before in self.before[buf].clone() {
            for d in (0..self.clusters).filter(|d| memories >> d & 1 == 1) {
                let ([a, a_end], [b, b_end]) = (self.range(before, d), self.range(buf, d));
                if a.max(b) >= a_end.min(b_end) {
                    continue;
                }
                let conditions = self.completion(before, d);
                all.iter_mut().zip(conditions).for_each(|(a, c)| *a = (*a).max(c));
            }
        }
        all
    }

    /// Ensures that a cluster may write to a buffer in the memories of a mask.
    fn clear(&mut self, buf: usize, memories: u32, actor: usize) {
        let unknown =
            (0..self.clusters).filter(|&d| memories >> d & 1 == 1 && self.accesses[buf].cleared[d] >> actor & 1 == 0);
        let unknown: u32 = unknown.map(|d| 1 << d).sum();
        if unknown == 0 {
            return;
        }
        let conditions = self.free(buf, unknown);
        self.sync.require(actor, &conditions);
        for d in (0..self.clusters).filter(|d| unknown >> d & 1 == 1) {
            self.accesses[buf].cleared[d] |= 1 << actor;
        }
    }

    /// Notes a transfer into the memories of a mask.
    fn arrives(&mut self, buf: usize, memories: u32, event: u32) {
        for d in (0..self.clusters).filter(|d| memories >> d & 1 == 1) {
            let accesses = &mut self.accesses[buf];
            if !accesses.arrivals[d].contains(&event) {
                accesses.arrivals[d].push(event);
                accesses.pending[d].push((d, event));
            }
        }
    }

    /// Begins a read from DDR.
    fn read(&mut self, item: Item) {
        match item {
            Item::Slice(s) => (0..self.schedule.slices[s].units.len()).for_each(|u| self.read_unit(s, u)),
            Item::Instance(i) => self.load(i),
        }
    }

    fn read_unit(&mut self, slice: usize, u: usize) {
        let all = self.schedule.slices[slice].units[u].clusters;
        if self.multicast {
            return self.fetch(slice, u, all);
        }
        (0..self.clusters).filter(|c| all >> c & 1 == 1).for_each(|c| self.fetch(slice, u, 1 << c));
    }

    /// Reads constants into the memories of a mask.
    fn fetch(&mut self, slice: usize, u: usize, clusters: u32) {
        let (unit, buf) = (&self.schedule.slices[slice].units[u], self.slice_buf(slice));
        let conditions = self.free(buf, clusters);
        let members = (0..self.clusters).filter(|c| clusters >> c & 1 == 1);
        let Some(issuer) = members.min_by_key(|&c| (self.sync.missing(c, &conditions), self.fetches[c])) else {
            return;
        };
        self.clear(buf, clusters, issuer);
        self.fetches[issuer] += 1;
        let event = self.sync.event();
        let at = |offset| Place { offset, row: 0, pixel: 0 };
        let (from, to) = (at(self.image.slices[slice][u]), at(self.memory.bufs[buf].offset));
        let transfer = Transfer { from, to, rows: 1, cols: 1, bytes: unit.bytes };
        let record = Record::Fetch { transfer, clusters, event };
        self.sync.transfer(issuer, record, clusters, event);
        self.arrives(buf, clusters, event);
    }

    /// Loads a feature: each cluster its box, or all of them the same one.
    fn load(&mut self, i: InstanceId) {
        let instance = &self.schedule.instances[i];
        let Some(ddr) = self.image.features[instance.root] else { return };
        let info = &self.net.features[instance.root];
        let whole = Region::whole(info.extents);
        let mut done = 0_u32;
        let event = self.sync.event();
        for c in 0..self.clusters {
            let region = instance.needs[c];
            if region.is_empty() || done >> c & 1 == 1 {
                continue;
            }
            let same = |d: &usize| instance.needs[*d] == region && instance.stored[*d] == instance.stored[c];
            let clusters: u32 = (c..self.clusters).filter(same).map(|d| 1 << d).sum();
            done |= clusters;
            self.clear(i, clusters, c);
            self.after_saves(instance.root, &region, c);
            let from = place(info, ddr, &whole, &region);
            let to = place(info, self.memory.bufs[i].offset, &instance.stored[c], &region);
            let record = Record::Fetch { transfer: transfer(info, &region, from, to), clusters, event };
            self.sync.transfer(c, record, clusters, event);
            self.arrives(i, clusters, event);
        }
    }

    /// Ensures that what a cluster is going to load has been stored.
    fn after_saves(&mut self, root: FeatureId, region: &Region, actor: usize) {
        let mut conditions = vec![0; self.clusters];
        for i in 0..self.saved[root].len() {
            let Saved { region: saved, cluster, event } = self.saved[root][i];
            if !saved.intersection(region).is_empty() {
                conditions[cluster] = conditions[cluster].max(self.sync.wait(cluster, event));
            }
        }
        self.sync.require(actor, &conditions);
    }

    /// Computes a step on each cluster, and sends what is complete to those that need it.
    fn step(&mut self, step: &Step) {
        let (event, task) = (self.sync.event(), self.task);
        self.task += 1;
        for c in 0..self.clusters {
            if !step.boxes[c].is_empty() {
                self.compute(c, step, task);
            }
            self.send(c, step.output, &step.ready[c], event);
        }
        self.save(step);
    }

    fn compute(&mut self, c: usize, step: &Step, task: u32) {
        let reads: Vec<InstanceId> = std::iter::once(step.input).chain(step.others.iter().copied()).collect();
        let slice = step.slice.map(|s| self.slice_buf(s));
        for buf in reads.iter().copied().chain(slice) {
            for event in std::mem::take(&mut self.accesses[buf].arrivals[c]) {
                self.sync.wait(c, event);
            }
        }
        self.clear(step.output, 1 << c, c);
        let record = self.record(c, step, task);
        let count = self.sync.push(c, record);
        for buf in reads.into_iter().chain(slice).chain([step.output]) {
            self.accesses[buf].complete[c][c] = count;
        }
    }

    /// Sends a box of an instance to the clusters that need it.
    fn send(&mut self, c: usize, id: InstanceId, ready: &Region, event: u32) {
        let (instance, base) = (&self.schedule.instances[id], self.memory.bufs[id].offset);
        let info = &self.net.features[instance.root];
        let mut done = 1_u32 << c;
        for d in 0..self.clusters {
            let region = ready.intersection(&instance.needs[d]);
            if done >> d & 1 == 1 || region.is_empty() {
                continue;
            }
            let to = |d: usize| place(info, base, &instance.stored[d], &region);
            let same =
                |&e: &usize| done >> e & 1 == 0 && ready.intersection(&instance.needs[e]) == region && to(e) == to(d);
            let clusters: u32 = (d..self.clusters).filter(same).map(|e| 1 << e).sum();
            done |= clusters;
            self.clear(id, clusters, c);
            let from = place(info, base, &instance.stored[c], &region);
            let record = Record::Send { transfer: transfer(info, &region, from, to(d)), clusters, event };
            self.sync.transfer(c, record, clusters, event);
            self.arrives(id, clusters, event);
            let reads = (0..self.clusters).filter(|e| clusters >> e & 1 == 1).map(|e| (e, event));
            self.accesses[id].pending[c].extend(reads);
        }
    }

    /// Stores what a step has completed in DDR.
    fn save(&mut self, step: &Step) {
        let instance = &self.schedule.instances[step.output];
        let (root, info) = (instance.root, &self.net.features[instance.root]);
        let Some(ddr) = self.image.features[root] else { return };
        for c in (0..self.clusters).filter(|&c| !step.saved[c].is_empty()) {
            let (region, event) = (step.saved[c], self.sync.event());
            let from = place(info, self.memory.bufs[step.output].offset, &instance.stored[c], &region);
            let to = place(info, ddr, &Region::whole(info.extents), &region);
            let record = Record::Store { transfer: transfer(info, &region, from, to), event };
            self.sync.transfer(c, record, 1 << c, event);
            self.accesses[step.output].pending[c].push((c, event));
            self.saved[root].push(Saved { region, cluster: c, event });
        }
    }
}

/// Arguments of records.
impl Emitter<'_> {
    /// The tile of a box of a feature in a cluster.
    fn tile(&self, c: usize, id: InstanceId, feature: FeatureId, region: &Region) -> Tile {
        let (part, instance): (Part, _) = (self.net.root(feature), &self.schedule.instances[id]);
        let info = &self.net.features[instance.root];
        let (stored, [row, pixel, channel]) = (&instance.stored[c], strides(info, &instance.stored[c]));
        let first = region.in_root(part).lo;
        let by = [row, pixel, channel];
        let offset = self.memory.bufs[id].offset + (0..3).map(|i| (first[i] - stored.lo[i]) * by[i]).sum::<u32>();
        let [rows, cols, channels] = region.extents();
        Tile { offset, row, pixel, channel: channel * part.step, rows, cols, channels, elem: info.elem }
    }

    fn record(&self, c: usize, step: &Step, task: u32) -> Record {
        let (layer, region) = (&self.net.layers[step.layer], &step.boxes[c]);
        let extents = self.net.features[layer.input].extents;
        let needed = layer.input_region(region, extents);
        let input = self.tile(c, step.input, layer.input, &needed);
        let output = self.tile(c, step.output, layer.output, region);
        let (places, _) = constant_places(layer, region.extents()[2]);
        let base = step.slice.map_or(0, |s| self.memory.bufs[self.slice_buf(s)].offset);
        let mut constants = places.into_iter().map(|at| base + at);
        match &layer.kind {
            Kind::Conv(conv) => {
                let weights = constants.next().unwrap_or(base);
                let bias = conv.bias.as_ref().and_then(|_| constants.next());
                Record::Conv(Conv {
                    task,
                    input,
                    output,
                    weights,
                    weights_elem: conv.weights_elem,
                    bias,
                    window: window(&conv.window, region, &needed),
                    group_in: conv.group_in,
                    group_out: conv.group_out,
                    skip: region.lo[2] % conv.group_out,
                    zero: conv.zero,
                    weights_zero: conv.weights_zero,
                    stages: self.stages(c, step, layer, region, &mut constants),
                })
            }
            &Kind::Pool { window: info, is_max, divisor } => {
                let (window, stages) =
                    (window(&info, region, &needed), self.stages(c, step, layer, region, &mut constants));
                Record::Pool(Pool { task, input, output, window, is_max, divisor, stages })
            }
            Kind::Map => {
                Record::Map(Map { task, input, output, stages: self.stages(c, step, layer, region, &mut constants) })
            }
            Kind::Softmax => Record::Softmax(Softmax { task, input, output }),
            &Kind::Lrn { size, numbers: [alpha, beta, bias] } => {
                let before = region.lo[2] - needed.lo[2];
                Record::Lrn(Lrn { task, input, output, before, size, alpha, beta, bias })
            }
        }
    }

    /// The stages of a layer with the places of their operands.
    fn stages(
        &self,
        c: usize,
        step: &Step,
        layer: &Layer,
        region: &Region,
        constants: &mut dyn Iterator<Item = u32>,
    ) -> Stages {
        let mut stages = [None; MAX_STAGES];
        let mut instances = step.others.iter();
        for (info, slot) in layer.stages.iter().zip(&mut stages) {
            let mut at = || info.lists.iter().map(|_| constants.next().unwrap_or(0)).min().unwrap_or(0);
            let operand = info.other.zip(instances_of(info.other, &mut instances)).map(|(id, instance)| {
                let region = Layer::other_region(region, self.net.features[id].extents);
                self.tile(c, instance, id, &region)
            });
            let tile = operand.unwrap_or_default();
            *slot = Some(match info.stage {
                Stage::Requantize { zero, elem, .. } => Stage::Requantize { scales: at(), zero, elem },
                Stage::Affine { .. } => Stage::Affine { scales: at() },
                Stage::Table { per_channel, from, to, .. } => Stage::Table { tables: at(), per_channel, from, to },
                Stage::Add { .. } => Stage::Add { other: tile },
                Stage::Mul { .. } => Stage::Mul { other: tile },
                Stage::QuantizedAdd { x, y, to, elem, .. } => Stage::QuantizedAdd { other: tile, x, y, to, elem },
                Stage::QuantizedMul { x, y, to, elem, .. } => Stage::QuantizedMul { other: tile, x, y, to, elem },
                plain => plain,
            });
        }
        stages
    }
}

/// Takes the instance of a stage's operand, if it has one.
fn instances_of<'a>(other: Option<FeatureId>, list: &mut impl Iterator<Item = &'a InstanceId>) -> Option<InstanceId> {
    other.and_then(|_| list.next().copied())
}

/// The window of an output box over the needed box of the input.
fn window(info: &WindowInfo, output: &Region, input: &Region) -> Window {
    let first = |i: usize| {
        let at = i64::from(output.lo[i]) * i64::from(info.stride[i]) - i64::from(info.pad[i]) - i64::from(input.lo[i]);
        at as i32
    };
    Window { kernel: info.kernel, stride: info.stride, dilation: info.dilation, first: [first(0), first(1)] }
}
