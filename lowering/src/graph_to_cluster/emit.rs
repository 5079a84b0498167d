//! Records from a schedule with places.

use super::image::DdrImage;
use super::memory::{BufferPlacement, Item};
use super::network::{ChannelSlice, FeatureId, FeatureInfo, Layer, LayerKind, Network, WindowInfo, elem_bytes};
use super::region::Region;
use super::schedule::{InstanceId, Schedule, TileTask, constant_places};
use super::sync::Sync;
use super::upsample::copies;
use gradus_simulators::cluster::{
    ClusterProgram, Conv, Lrn, MAX_STAGES, Map, Pool, Record, Softmax, Stage, Stages, StridedBox, Tile, Transfer,
    Window,
};

struct RecordEmitter<'a> {
    net: &'a Network,
    schedule: &'a Schedule,
    memory: &'a BufferPlacement,
    image: &'a DdrImage,
    clusters: usize,
    multicast: bool,
    sync: Sync,
    /// Number of fetches that each cluster began.
    fetches: Vec<u32>,
    task: u32,
}

/// Emits the program of a schedule, without the constants.
pub fn emit(
    net: &Network,
    schedule: &Schedule,
    memory: &BufferPlacement,
    image: &DdrImage,
    clusters: usize,
    multicast: bool,
) -> ClusterProgram {
    let (sync, fetches) = (Sync::new(clusters, image.constants), vec![0; clusters]);
    let mut e = RecordEmitter { net, schedule, memory, image, clusters, multicast, sync, fetches, task: 0 };
    for (at, step) in schedule.steps.iter().enumerate() {
        memory.reads[at].iter().for_each(|&item| e.read(item));
        e.step(step);
    }
    ClusterProgram {
        records: e.sync.finish(),
        constants: Vec::new(),
        ddr_bytes: image.bytes,
        operands: image.operands.clone(),
        results: image.results.clone(),
    }
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
fn place(info: &FeatureInfo, base: u32, stored: &Region, region: &Region) -> StridedBox {
    let by = strides(info, stored);
    let offset = base + (0..3).map(|i| (region.lo[i] - stored.lo[i]) * by[i]).sum::<u32>();
    let [row, pixel] = if info.is_planar() { [by[2], by[0]] } else { [by[0], by[1]] };
    StridedBox { offset, row, pixel }
}

/// A copy of a box between two stored boxes. Dimensions that are consecutive in both are one.
fn transfer(info: &FeatureInfo, region: &Region, from: StridedBox, to: StridedBox) -> Transfer {
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

impl RecordEmitter<'_> {
    fn slice_buf(&self, slice: usize) -> usize {
        self.schedule.instances.len() + slice
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

    /// Reads constants into the memories of a mask, by the cluster that has to wait for the fewest others.
    fn fetch(&mut self, slice: usize, u: usize, clusters: u32) {
        let (unit, buf) = (&self.schedule.slices[slice].units[u], self.slice_buf(slice));
        let at = |offset| StridedBox { offset, row: 0, pixel: 0 };
        let (from, to) = (at(self.image.slices[slice][u]), at(self.memory.bufs[buf].offset));
        let transfer = Transfer { from, to, rows: 1, cols: 1, bytes: unit.bytes };
        let record = Record::Fetch { transfer, clusters, event: self.sync.event() };
        let next = self.sync.next(clusters, record);
        let members = (0..self.clusters).filter(|c| clusters >> c & 1 == 1);
        let issuer = members.min_by_key(|&c| (self.sync.missing(c, &next), self.fetches[c]));
        if let Some(issuer) = issuer {
            self.fetches[issuer] += 1;
            self.sync.append_next(issuer, next);
        }
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
            let from = place(info, ddr, &whole, &region);
            let to = place(info, self.memory.bufs[i].offset, &instance.stored[c], &region);
            self.sync.append(c, Record::Fetch { transfer: transfer(info, &region, from, to), clusters, event });
        }
    }

    /// Computes a step on each cluster, and sends what is complete to those that need it.
    fn step(&mut self, step: &TileTask) {
        let (event, task) = (self.sync.event(), self.task);
        self.task += 1;
        for c in 0..self.clusters {
            if !step.boxes[c].is_empty() {
                self.records(c, step, task).into_iter().for_each(|record| self.sync.append(c, record));
            }
            self.send(c, step.output, &step.ready[c], event);
        }
        self.save(step);
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
            let from = place(info, base, &instance.stored[c], &region);
            self.sync.append(c, Record::Send { transfer: transfer(info, &region, from, to(d)), clusters, event });
        }
    }

    /// Stores what a step has completed in DDR.
    fn save(&mut self, step: &TileTask) {
        let instance = &self.schedule.instances[step.output];
        let (root, info) = (instance.root, &self.net.features[instance.root]);
        let Some(ddr) = self.image.features[root] else { return };
        for c in (0..self.clusters).filter(|&c| !step.saved[c].is_empty()) {
            let (region, event) = (step.saved[c], self.sync.event());
            let from = place(info, self.memory.bufs[step.output].offset, &instance.stored[c], &region);
            let to = place(info, ddr, &Region::whole(info.extents), &region);
            self.sync.append(c, Record::Store { transfer: transfer(info, &region, from, to), event });
        }
    }
}

/// Arguments of records.
impl RecordEmitter<'_> {
    /// The tile of a box of a feature in a cluster.
    fn tile(&self, c: usize, id: InstanceId, feature: FeatureId, region: &Region) -> Tile {
        let (part, instance): (ChannelSlice, _) = (self.net.root(feature), &self.schedule.instances[id]);
        let info = &self.net.features[instance.root];
        let (stored, [row, pixel, channel]) = (&instance.stored[c], strides(info, &instance.stored[c]));
        let first = region.in_root(part).lo;
        let by = [row, pixel, channel];
        // A box of no elements, such as that of a window of padding, may begin before what is stored.
        let axes = if region.is_empty() { 0..0 } else { 0..3 };
        let offset = self.memory.bufs[id].offset + axes.map(|i| (first[i] - stored.lo[i]) * by[i]).sum::<u32>();
        let [rows, cols, channels] = region.extents();
        Tile { offset, row, pixel, channel: channel * part.step, rows, cols, channels, elem: info.elem }
    }

    /// The records of a step in a cluster: one, or one for each phase of an upsampled feature.
    fn records(&self, c: usize, step: &TileTask, task: u32) -> Vec<Record> {
        let (layer, region) = (&self.net.layers[step.layer], &step.boxes[c]);
        match (&layer.kind, self.record(c, step, task)) {
            (&LayerKind::Upsample { factors }, Record::Map(map)) => {
                let needed = layer.input_region(region, self.net.features[layer.input].extents);
                let mut records = Vec::new();
                for [input, output] in copies(factors, [map.input, map.output], [&needed, region]) {
                    records.push(Record::Map(Map { input, output, ..map }));
                }
                records
            }
            (_, record) => vec![record],
        }
    }

    fn record(&self, c: usize, step: &TileTask, task: u32) -> Record {
        let (layer, region) = (&self.net.layers[step.layer], &step.boxes[c]);
        let extents = self.net.features[layer.input].extents;
        let needed = layer.input_region(region, extents);
        let input = self.tile(c, step.input, layer.input, &needed);
        let output = self.tile(c, step.output, layer.output, region);
        let (places, _) = constant_places(layer, region.extents()[2]);
        let base = step.slice.map_or(0, |s| self.memory.bufs[self.slice_buf(s)].offset);
        let mut constants = places.into_iter().map(|at| base + at);
        match &layer.kind {
            LayerKind::Conv(conv) => {
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
            &LayerKind::Pool { window: info, is_max, divisor } => {
                let (window, stages) =
                    (window(&info, region, &needed), self.stages(c, step, layer, region, &mut constants));
                Record::Pool(Pool { task, input, output, window, is_max, divisor, stages })
            }
            LayerKind::Map | LayerKind::Upsample { .. } => {
                Record::Map(Map { task, input, output, stages: self.stages(c, step, layer, region, &mut constants) })
            }
            LayerKind::Softmax => Record::Softmax(Softmax { task, input, output }),
            &LayerKind::Lrn { size, numbers: [alpha, beta, bias] } => {
                let before = region.lo[2] - needed.lo[2];
                Record::Lrn(Lrn { task, input, output, before, size, alpha, beta, bias })
            }
        }
    }

    /// The stages of a layer with the places of their operands.
    fn stages(
        &self,
        c: usize,
        step: &TileTask,
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
