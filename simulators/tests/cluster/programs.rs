//! Random programs: chains of layers divided among clusters, with halos, multicast parameters, and activations by way of DDR.

use super::layers::{Bases, Layer, Part, dense, random_layer};
use super::plain::{self, Operands, bytes_of, values_of};
use super::random::Rng;
use gradus_simulators::cluster::*;

/// A program, the bytes of its operand, and those of its result by plain loops.
pub struct Case {
    pub program: ClusterProgram,
    pub input: Vec<u8>,
    pub expected: Vec<u8>,
    pub elem: Elem,
}

/// Tensors and parameters alternate between two buffers each.
const TENSOR: u32 = 1 << 16;
const PARAMS: u32 = 1 << 17;

/// Returns the machine of the tests.
pub fn machine() -> ClusterMachine {
    ClusterMachine { spm: 1 << 19, reserved: 1 << 14, ..ClusterMachine::default() }
}

/// Events of a layer.
#[derive(Clone, Copy)]
enum Event {
    /// The parameters have arrived.
    Params,
    /// A cluster has computed its part.
    Computed,
    /// A part of the input has arrived.
    Input,
    /// A part of the output is in DDR.
    Stored,
    /// A cluster's part of the output is in DDR.
    InDdr,
}

fn event(layer: usize, event: Event) -> u32 {
    8 * layer as u32 + event as u32
}

struct Builder {
    layers: Vec<Layer>,
    /// Whether the output of a layer goes by way of DDR.
    by_ddr: Vec<bool>,
    /// First byte of each layer's parameters in DDR.
    constants: Vec<u32>,
    elem: Elem,
    n: u32,
    records: Vec<Vec<Record>>,
    /// First bytes of operand, spilled activations and result in DDR.
    places: [u32; 3],
}

/// Returns a random program for up to 5 clusters.
pub fn random_case(rng: &mut Rng) -> Case {
    let elem = rng.pick(&[Elem::F32, Elem::F16, Elem::I8, Elem::U8]);
    random_case_of(rng, elem)
}

/// Returns a random program for tensors of a type.
pub fn random_case_of(rng: &mut Rng, elem: Elem) -> Case {
    let mut extents = [rng.range(1, 12), rng.range(1, 10), rng.range(1, 20)];
    let input: Vec<f32> = (0..extents.iter().product()).map(|_| rng.element(elem)).collect();
    let mut layers = Vec::new();
    let (mut tensor, mut constants, mut firsts) = (input.clone(), Vec::<u8>::new(), Vec::new());
    for _ in 0..rng.range(1, 5) {
        let layer = random_layer(rng, extents, elem);
        let bytes = plain::layer(&layer.record, &Operands { input: &tensor, params: &layer.params });
        tensor = values_of(elem, &bytes);
        constants.resize(constants.len().next_multiple_of(32), 0);
        firsts.push(constants.len() as u32);
        constants.extend_from_slice(&layer.params);
        let output = layer.record.output().expect("an output");
        extents = [output.rows, output.cols, output.channels];
        layers.push(layer);
    }
    let by_ddr = layers.iter().map(|_| rng.chance(25)).collect();
    let n = rng.range(1, 5);
    let operand = (constants.len() as u32).next_multiple_of(32);
    let input = bytes_of(elem, &input);
    let spill = (operand + input.len() as u32).next_multiple_of(32);
    let places = [operand, spill, spill + 2 * TENSOR];
    let records = vec![Vec::new(); n as usize];
    let builder = Builder { layers, by_ddr, constants: firsts, elem, n, records, places };
    let expected = bytes_of(elem, &tensor);
    let extent = |offset, bytes: &[u8]| Extent { offset, bytes: bytes.len() as u32 };
    let program = ClusterProgram {
        records: builder.build(),
        constants,
        ddr_bytes: places[2] + TENSOR,
        operands: vec![extent(places[0], &input)],
        results: vec![extent(places[2], &expected)],
    };
    Case { program, input, expected, elem }
}

impl Case {
    /// Returns DDR before the program.
    pub fn ddr(&self) -> Vec<u8> {
        let mut ddr = self.program.ddr();
        let at = self.program.operands[0].offset as usize;
        ddr[at..at + self.input.len()].copy_from_slice(&self.input);
        ddr
    }

    /// Returns the result in DDR.
    pub fn result<'a>(&self, ddr: &'a [u8]) -> &'a [u8] {
        &ddr[self.program.results[0].offset as usize..][..self.expected.len()]
    }
}

/// Returns the copy of whole columns of some rows and channels of a tensor.
fn copy(tile: &Tile, [rows, channels]: &Part, from: u32, to: u32) -> Transfer {
    let first = rows.start * tile.row + channels.start * tile.channel;
    let place = |base| StridedBox { offset: base + first, row: tile.row, pixel: tile.pixel };
    let bytes = (channels.end - channels.start) * tile.channel;
    Transfer { from: place(from), to: place(to), rows: rows.end - rows.start, cols: tile.cols, bytes }
}

impl Builder {
    fn build(mut self) -> Vec<Vec<Record>> {
        self.params(0);
        self.params(1);
        self.load();
        for layer in 0..self.layers.len() {
            (0..self.n).for_each(|i| self.compute(layer, i));
        }
        self.store();
        self.records
    }

    fn push(&mut self, cluster: u32, record: Record) {
        self.records[cluster as usize].push(record);
    }

    fn wait(&mut self, cluster: u32, event: u32, count: u32) {
        if count > 0 {
            self.push(cluster, Record::Wait { event, count });
        }
    }

    fn all(&self) -> u32 {
        (1 << self.n) - 1
    }

    fn bases(&self, layer: usize) -> Bases {
        let tensor = |i: usize| i as u32 % 2 * TENSOR;
        Bases { input: tensor(layer), output: tensor(layer + 1), params: 2 * TENSOR + layer as u32 % 2 * PARAMS }
    }

    /// The tensor between two layers, at byte 0.
    fn tensor(&self, layer: usize) -> Tile {
        let record = |i: usize| &self.layers[i].record;
        let tile = if layer == 0 { record(0).input() } else { record(layer - 1).output() };
        let tile = tile.expect("a tensor");
        dense(0, [tile.rows, tile.cols, tile.channels], self.elem)
    }

    /// The part of a layer's output that a cluster computes, if it has one.
    fn part(&self, layer: usize, cluster: u32) -> Option<Part> {
        let part = self.layers[layer].output_part(cluster, self.n);
        part.iter().all(|range| !range.is_empty()).then_some(part)
    }

    /// The part of a layer's input that a cluster reads, with all channels.
    fn needs(&self, layer: usize, cluster: u32) -> Option<Part> {
        let rows = self.layers[layer].input_rows(&self.part(layer, cluster)?);
        Some([rows, 0..self.tensor(layer).channels])
    }

    /// Reads the parameters of a layer into all clusters.
    fn params(&mut self, layer: usize) {
        let Some(bytes) = self.layers.get(layer).map(|layer| layer.params.len() as u32).filter(|n| *n > 0) else {
            return;
        };
        let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
        let (from, to) = (place(self.constants[layer]), place(self.bases(layer).params));
        let transfer = Transfer { from, to, rows: 1, cols: 1, bytes };
        self.push(0, Record::Fetch { transfer, clusters: self.all(), event: event(layer, Event::Params) });
    }

    /// Reads the part of the operand of each cluster.
    fn load(&mut self) {
        for i in 0..self.n {
            let Some(part) = self.needs(0, i) else { continue };
            let transfer = copy(&self.tensor(0), &part, self.places[0], self.bases(0).input);
            self.push(i, Record::Fetch { transfer, clusters: 1 << i, event: event(0, Event::Input) });
            self.wait(i, event(0, Event::Input), 1);
        }
    }

    /// A layer in a cluster.
    fn compute(&mut self, layer: usize, i: u32) {
        if layer > 0 {
            self.wait(i, event(layer - 1, Event::Computed), self.n);
            if i == 0 {
                self.params(layer + 1);
            }
            self.receive(layer, i);
        }
        if !self.layers[layer].params.is_empty() {
            self.wait(i, event(layer, Event::Params), 1);
        }
        if let Some(part) = self.part(layer, i) {
            let record = self.layers[layer].slice(&part, self.bases(layer), layer as u32);
            self.push(i, record);
        }
        if layer + 1 < self.layers.len() {
            self.push(i, Record::Notify { clusters: self.all(), event: event(layer, Event::Computed) });
            self.send(layer, i);
        }
    }

    /// The part of a layer's output that one cluster computes and another reads.
    fn shared(&self, layer: usize, from: u32, to: u32) -> Option<Part> {
        let ([rows, channels], [needed, _]) = (self.part(layer, from)?, self.needs(layer + 1, to)?);
        let rows = rows.start.max(needed.start)..rows.end.min(needed.end);
        (!rows.is_empty()).then_some([rows, channels])
    }

    /// Sends the output of a layer to the clusters that read it next.
    fn send(&mut self, layer: usize, i: u32) {
        let (tile, base) = (self.tensor(layer + 1), self.bases(layer).output);
        if self.by_ddr[layer] {
            let Some(part) = self.part(layer, i) else { return };
            let to = self.places[1] + layer as u32 % 2 * TENSOR;
            self.push(i, Record::Store { transfer: copy(&tile, &part, base, to), event: event(layer, Event::Stored) });
            self.wait(i, event(layer, Event::Stored), 1);
            self.push(i, Record::Notify { clusters: self.all(), event: event(layer, Event::InDdr) });
            return;
        }
        // Clusters that need the same part receive it at once.
        let mut parts: Vec<(Part, u32)> = Vec::new();
        for to in (0..self.n).filter(|&to| to != i) {
            let Some(part) = self.shared(layer, i, to) else { continue };
            match parts.iter_mut().find(|(other, _)| *other == part) {
                Some((_, mask)) => *mask |= 1 << to,
                None => parts.push((part, 1 << to)),
            }
        }
        for (part, clusters) in parts {
            let transfer = copy(&tile, &part, base, base);
            self.push(i, Record::Send { transfer, clusters, event: event(layer + 1, Event::Input) });
        }
    }

    /// Waits for the input of a layer.
    fn receive(&mut self, layer: usize, i: u32) {
        let arrived = event(layer, Event::Input);
        if !self.by_ddr[layer - 1] {
            let count = (0..self.n).filter(|&from| from != i && self.shared(layer - 1, from, i).is_some()).count();
            return self.wait(i, arrived, count as u32);
        }
        let count = (0..self.n).filter(|&from| self.part(layer - 1, from).is_some()).count();
        self.wait(i, event(layer - 1, Event::InDdr), count as u32);
        let Some(part) = self.needs(layer, i) else { return };
        let from = self.places[1] + (layer as u32 - 1) % 2 * TENSOR;
        let transfer = copy(&self.tensor(layer), &part, from, self.bases(layer).input);
        self.push(i, Record::Fetch { transfer, clusters: 1 << i, event: arrived });
        self.wait(i, arrived, 1);
    }

    /// Writes the result.
    fn store(&mut self) {
        let last = self.layers.len();
        for i in 0..self.n {
            let Some(part) = self.part(last - 1, i) else { continue };
            let transfer = copy(&self.tensor(last), &part, self.bases(last).input, self.places[2]);
            self.push(i, Record::Store { transfer, event: event(last, Event::Stored) });
        }
    }
}
