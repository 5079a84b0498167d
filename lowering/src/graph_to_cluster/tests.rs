//! Random networks as programs, executed by the simulator and by plain loops over whole features.

use super::compile::{Settings, compile_by, compile_schedule};
use super::given::{choices_of, splits_of};
use super::image::constants;
use super::memory::BufferPlacement;
use super::network::{
    ChannelSlice, ConvInfo, FeatureId, FeatureInfo, Layer, LayerKind, Network, Role, StageInfo, WindowInfo, elem_bytes,
};
use super::schedule::Schedule;
use super::schedule_ops::{ScheduleOps, read, write};
use super::search::compile;
use gradus_ir::{Builder, Loc, Module};
use gradus_simulators::cluster::{ClusterMachine, ClusterProgram, Elem, Record, Scale, Simulator, Stage, Tile};

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as u32 % n
    }

    fn up_to(&mut self, n: u32) -> u32 {
        1 + self.below(n)
    }

    /// A small integer, so that sums of floats are exact in any order.
    fn value(&mut self) -> i32 {
        self.below(9) as i32 - 4
    }
}

/// A network under construction.
struct Draw {
    random: Random,
    net: Network,
    elem: Elem,
}

impl Draw {
    fn feature(&mut self, extents: [u32; 3], role: Role) -> FeatureId {
        self.net.features.push(FeatureInfo { extents, elem: self.elem, part_of: None, role, channels_last: false });
        self.net.features.len() - 1
    }

    fn window(&mut self, extents: [u32; 3], dilations: u32) -> (WindowInfo, [u32; 2]) {
        let r = &mut self.random;
        let mut two = |n: u32| [r.up_to(n), r.up_to(n)];
        let (kernel, stride, dilation) = (two(3), two(2), two(dilations));
        let reach = [0, 1].map(|i| (kernel[i] - 1) * dilation[i] + 1);
        // Padding on both sides is less than the reach, so that each window has an element, and at least what small features need.
        let pad = [0, 1].map(|i| (reach[i] / 2).max(reach[i].saturating_sub(extents[i])).min(reach[i] - 1));
        let output = [0, 1].map(|i| (extents[i] + 2 * pad[i]).saturating_sub(reach[i]) / stride[i] + 1);
        (WindowInfo { kernel, stride, dilation, pad }, output)
    }

    fn bytes_of(&self, value: i32) -> Vec<u8> {
        match self.elem {
            Elem::F32 => (value as f32).to_le_bytes().to_vec(),
            _ => vec![value as u8],
        }
    }

    fn conv(&mut self, input: FeatureId) -> FeatureId {
        let extents = self.net.features[input].extents;
        let (window, [rows, cols]) = self.window(extents, 2);
        let divisors: Vec<u32> = (1..=extents[2]).filter(|d| extents[2].is_multiple_of(*d)).collect();
        let groups = divisors[self.random.below(divisors.len() as u32) as usize];
        let (group_in, group_out) = (extents[2] / groups, self.random.up_to(6));
        let kernels = groups * group_out;
        let count = kernels * window.kernel[0] * window.kernel[1] * group_in;
        let weights = (0..count)
            .flat_map(|_| {
                let v = self.random.value();
                self.bytes_of(v)
            })
            .collect();
        let has_bias = self.random.below(2) == 0;
        let word = |v: i32, elem: Elem| if elem == Elem::F32 { (v as f32).to_le_bytes() } else { v.to_le_bytes() };
        let bias: Vec<u8> = (0..kernels).flat_map(|_| word(self.random.value(), self.elem)).collect();
        let stages = match self.elem {
            Elem::F32 => Vec::new(),
            _ => {
                let lists = vec![(0..kernels).flat_map(|k| (0.125 + 0.03125 * (k % 5) as f32).to_le_bytes()).collect()];
                let stage = Stage::Requantize { scales: 0, zero: 3, elem: Elem::I8 };
                vec![StageInfo { stage, other: None, lists, size: 4 }]
            }
        };
        let zero = if self.elem == Elem::F32 { 0 } else { self.random.value() };
        let info = ConvInfo {
            window,
            group_in,
            group_out,
            weights,
            weights_elem: self.elem,
            bias: has_bias.then_some(bias),
            zero,
            weights_zero: 0,
        };
        self.layer(input, [rows, cols, kernels], LayerKind::Conv(info), stages)
    }

    fn layer(&mut self, input: FeatureId, extents: [u32; 3], kind: LayerKind, mut stages: Vec<StageInfo>) -> FeatureId {
        let equal: Vec<FeatureId> = (0..self.net.features.len())
            .filter(|&f| self.net.features[f].extents == extents && self.is_written(f))
            .collect();
        if !equal.is_empty() && self.random.below(2) == 0 {
            let other = equal[self.random.below(equal.len() as u32) as usize];
            let scale = |zero| Scale { scale: 0.5, zero };
            let stage = match self.elem {
                Elem::F32 => Stage::Add { other: Tile::default() },
                elem => Stage::QuantizedAdd { other: Tile::default(), x: scale(1), y: scale(-2), to: scale(0), elem },
            };
            stages.push(StageInfo { other: Some(other), ..StageInfo::plain(stage) });
        }
        if self.random.below(3) == 0 {
            stages.push(StageInfo::plain(Stage::Clamp { low: -50.0, high: 60.0 }));
        }
        let output = self.feature(extents, Role::Inner);
        self.net.layers.push(Layer { name: "layer".into(), sources: vec![0], input, output, kind, stages });
        output
    }

    /// Whether a feature has all its elements before the next layer.
    fn is_written(&self, id: FeatureId) -> bool {
        matches!(self.net.features[id].role, Role::Operand(_)) || self.net.layers.iter().any(|l| l.output == id)
    }

    /// A concatenation of two copies, which may be interleaved, and sometimes of a copy of channels of both; and a slice of it.
    fn concat(&mut self, a: FeatureId) -> FeatureId {
        let [rows, cols, channels] = self.net.features[a].extents;
        let parts = 2 + self.random.below(2);
        let whole = self.feature([rows, cols, parts * channels], Role::Inner);
        let is_interleaved = self.random.below(2) == 0;
        for i in 0..parts {
            let part = match is_interleaved && i < 2 {
                true => ChannelSlice { whole, first: i, step: 2 },
                false => ChannelSlice { whole, first: i * channels, step: 1 },
            };
            let output = self.part(part, [rows, cols, channels]);
            let of_both = ChannelSlice { whole, first: self.random.below(channels + 1), step: 1 };
            let input = if i < 2 { a } else { self.part(of_both, [rows, cols, channels]) };
            let stages = vec![StageInfo::plain(Stage::Clamp { low: -40.0 + i as f32, high: 100.0 })];
            self.net.layers.push(Layer {
                name: "part".into(),
                sources: vec![0],
                input,
                output,
                kind: LayerKind::Map,
                stages,
            });
        }
        let (first, count) = (self.random.below(channels), self.random.up_to(channels));
        self.part(ChannelSlice { whole, first, step: 1 }, [rows, cols, count])
    }

    /// A feature that is a part of another.
    fn part(&mut self, part: ChannelSlice, extents: [u32; 3]) -> FeatureId {
        let id = self.feature(extents, Role::Inner);
        self.net.features[id].part_of = Some(part);
        id
    }

    fn pool(&mut self, input: FeatureId) -> FeatureId {
        let extents = self.net.features[input].extents;
        // Each window has an element that is not padding.
        let (window, [rows, cols]) = self.window(extents, 1);
        self.layer(input, [rows, cols, extents[2]], LayerKind::Pool { window, is_max: true, divisor: 0 }, Vec::new())
    }

    fn upsample(&mut self, input: FeatureId) -> FeatureId {
        let ([rows, cols, channels], factors) =
            (self.net.features[input].extents, [self.random.up_to(3), self.random.up_to(3)]);
        let output = self.feature([rows * factors[0], cols * factors[1], channels], Role::Inner);
        let kind = LayerKind::Upsample { factors };
        self.net.layers.push(Layer { name: "up".into(), sources: vec![0], input, output, kind, stages: Vec::new() });
        output
    }

    fn network(seed: u64) -> Network {
        let mut random = Random::new(seed);
        let elem = if random.below(2) == 0 { Elem::F32 } else { Elem::I8 };
        let extents = [random.up_to(14), random.up_to(12), random.up_to(10)];
        let mut draw = Draw { random, net: Network::default(), elem };
        let mut last = draw.feature(extents, Role::Operand(0));
        for _ in 0..draw.random.up_to(5) {
            last = match draw.random.below(6) {
                0 => draw.concat(last),
                1 => draw.pool(last),
                2 => draw.upsample(last),
                _ => draw.conv(last),
            };
        }
        let extents = draw.net.features[last].extents;
        let result = draw.feature(extents, Role::Result(0));
        draw.net.layers.push(Layer {
            name: "result".into(),
            sources: vec![0],
            input: last,
            output: result,
            kind: LayerKind::Map,
            stages: Vec::new(),
        });
        draw.net
    }
}

/// Whole features, `[rows, cols, channels]`.
struct Values<'a> {
    net: &'a Network,
    roots: Vec<Vec<f64>>,
}

impl Values<'_> {
    fn index(&self, id: FeatureId, [y, x, c]: [u32; 3]) -> (FeatureId, usize) {
        let part = self.net.root(id);
        let [_, cols, channels] = self.net.features[part.whole].extents;
        (part.whole, ((y * cols + x) * channels + part.first + part.step * c) as usize)
    }

    fn get(&self, id: FeatureId, at: [u32; 3]) -> f64 {
        let (root, i) = self.index(id, at);
        self.roots[root][i]
    }

    /// The elements under a window, with the tap: `None` in padding.
    fn taps(&self, id: FeatureId, w: &WindowInfo, [y, x]: [u32; 2]) -> Vec<(u32, Option<[u32; 2]>)> {
        let [rows, cols, _] = self.net.features[id].extents;
        let mut taps = Vec::new();
        for i in 0..w.kernel[0] {
            for j in 0..w.kernel[1] {
                let at = [
                    i64::from(y * w.stride[0] + i * w.dilation[0]) - i64::from(w.pad[0]),
                    i64::from(x * w.stride[1] + j * w.dilation[1]) - i64::from(w.pad[1]),
                ];
                let inside = (0..i64::from(rows)).contains(&at[0]) && (0..i64::from(cols)).contains(&at[1]);
                taps.push((i * w.kernel[1] + j, inside.then_some([at[0] as u32, at[1] as u32])));
            }
        }
        taps
    }

    fn function(&self, layer: &Layer, [y, x, k]: [u32; 3]) -> f64 {
        match &layer.kind {
            LayerKind::Map => self.get(layer.input, [y, x, k]),
            LayerKind::Upsample { factors } => self.get(layer.input, [y / factors[0], x / factors[1], k]),
            LayerKind::Pool { window, .. } => {
                let taps = self.taps(layer.input, window, [y, x]);
                taps.iter()
                    .filter_map(|t| t.1)
                    .map(|[i, j]| self.get(layer.input, [i, j, k]))
                    .fold(f64::NEG_INFINITY, f64::max)
            }
            LayerKind::Conv(conv) => {
                let number = |bytes: &[u8], i: usize| match bytes.len() {
                    _ if conv.weights_elem == Elem::F32 => f64::from(f32::from_le_bytes([
                        bytes[4 * i],
                        bytes[4 * i + 1],
                        bytes[4 * i + 2],
                        bytes[4 * i + 3],
                    ])),
                    _ => f64::from(bytes[i] as i8),
                };
                let word = |b: &[u8], i: usize| [b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3]];
                let mut sum = conv.bias.as_ref().map_or(0.0, |b| match conv.weights_elem {
                    Elem::F32 => f64::from(f32::from_le_bytes(word(b, k as usize))),
                    _ => f64::from(i32::from_le_bytes(word(b, k as usize))),
                });
                let taps = conv.window.kernel[0] * conv.window.kernel[1];
                for (tap, at) in self.taps(layer.input, &conv.window, [y, x]) {
                    for d in 0..conv.group_in {
                        let c = k / conv.group_out * conv.group_in + d;
                        let value = at.map_or(f64::from(conv.zero), |[i, j]| self.get(layer.input, [i, j, c]));
                        let weight = number(&conv.weights, ((k * taps + tap) * conv.group_in + d) as usize);
                        sum += (value - f64::from(conv.zero)) * weight;
                    }
                }
                sum
            }
            LayerKind::Softmax | LayerKind::Lrn { .. } => unreachable!("not drawn"),
        }
    }

    fn stage(&self, info: &StageInfo, value: f64, at: [u32; 3]) -> f64 {
        let other = info.other.map_or(0.0, |id| self.get(id, at));
        match info.stage {
            Stage::Requantize { zero, .. } => {
                let k = 4 * at[2] as usize;
                let bytes = &info.lists[0][k..k + 4];
                let scale = f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                ((value * scale).round_ties_even() + f64::from(zero)).clamp(-128.0, 127.0)
            }
            Stage::Clamp { low, high } => value.clamp(low.into(), high.into()),
            Stage::Add { .. } => value + other,
            Stage::QuantizedAdd { x, y, to, .. } => {
                let real = |v: f64, q: Scale| (v - f64::from(q.zero)) * f64::from(q.scale);
                let sum = real(value, x) + real(other, y);
                ((sum / f64::from(to.scale)).round_ties_even() + f64::from(to.zero)).clamp(-128.0, 127.0)
            }
            _ => unreachable!("not drawn"),
        }
    }

    fn layer(&mut self, layer: &Layer) {
        let [rows, cols, channels] = self.net.features[layer.output].extents;
        for at in (0..rows).flat_map(|y| (0..cols).flat_map(move |x| (0..channels).map(move |c| [y, x, c]))) {
            let value = layer.stages.iter().fold(self.function(layer, at), |v, info| self.stage(info, v, at));
            let (root, i) = self.index(layer.output, at);
            self.roots[root][i] = value;
        }
    }
}

/// The elements of a feature in the order of DDR: `[channels, rows, cols]`.
fn planar(extents: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [rows, cols, channels] = extents;
    (0..channels).flat_map(move |c| (0..rows).flat_map(move |y| (0..cols).map(move |x| [y, x, c])))
}

/// Writes a schedule as ops, and reads these.
fn written(schedule: &Schedule, memory: Option<&BufferPlacement>) -> ScheduleOps {
    let mut m = Module::new(gradus_machines::context());
    let body = m.body();
    let layers = schedule.steps.iter().map(|task| task.layer + 1).max().unwrap_or(0);
    write(&mut Builder::at_end(&mut m, body), schedule, memory, &vec![(Loc::UNKNOWN, None); layers]);
    read(&m, body).unwrap_or_else(|(_, why)| panic!("{}", String::from(why)))
}

/// Runs a network on the clusters and by plain loops. Returns whether it fits into the memories.
fn run(net: &Network, machine: &ClusterMachine, settings: Settings, seed: u64) -> bool {
    let mut compiled = match compile(net, machine, settings, &mut |_| ()) {
        Ok((compiled, _)) => compiled,
        Err((source, refusal)) => {
            assert!(refusal.rule.contains("bytes"), "{seed}: op {source}: {refusal}");
            return false;
        }
    };
    compiled.program.constants = constants(net, &compiled.schedule, &compiled.image);
    let (splits, reads) = splits_of(net, &compiled);
    let (choices, effort) = choices_of(net, machine, &splits, reads).unwrap_or_else(|why| panic!("{seed}: {why:?}"));
    let again = compile_by(net, machine, settings, choices.clone(), effort).expect("its own choices are possible");
    assert!(again.program.records == compiled.program.records, "{seed}: another program by its own choices");
    for memory in [None, Some(&compiled.memory)] {
        let own = written(&compiled.schedule, memory).check(net, machine, &choices);
        let own = own.unwrap_or_else(|(_, why)| panic!("{seed}: its own schedule is not possible: {why}"));
        assert_eq!(own.1.is_some(), memory.is_some());
        let again = compile_schedule(net, machine, settings, (choices.clone(), effort), own);
        let again = again.expect("its own schedule is possible");
        assert!(again.program.records == compiled.program.records, "{seed}: another program by its own schedule");
    }
    let mut random = Random::new(seed ^ 0x55);
    let len = |id: FeatureId| net.features[id].extents.iter().product::<u32>() as usize;
    let mut values = Values { net, roots: (0..net.features.len()).map(|id| vec![f64::NAN; len(id)]).collect() };
    let (mut ddr, operand) = (compiled.program.ddr(), compiled.program.operands[0]);
    let size = elem_bytes(net.features[0].elem) as usize;
    for (i, at) in planar(net.features[0].extents).enumerate() {
        let value = random.value();
        let (root, index) = values.index(0, at);
        values.roots[root][index] = value.into();
        let bytes = if size == 4 { (value as f32).to_le_bytes().to_vec() } else { vec![value as u8] };
        let first = operand.offset as usize + i * size;
        ddr[first..first + size].copy_from_slice(&bytes);
    }
    net.layers.iter().for_each(|layer| values.layer(layer));
    let counts = Simulator::new(machine.clone()).run(&compiled.program, &mut ddr);
    let counts = counts.unwrap_or_else(|fault| panic!("{seed}: {fault}"));
    assert_eq!(counts.cycles, compiled.estimate.cycles, "{seed}: the estimate");
    let result = net.features.len() - 1;
    let place = compiled.program.results[0];
    for (i, at) in planar(net.features[result].extents).enumerate() {
        let b = &ddr[place.offset as usize + i * size..];
        let found = if size == 4 { f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into() } else { f64::from(b[0] as i8) };
        assert_eq!(found, values.get(result, at), "{seed}: {at:?}");
    }
    true
}

/// The number of networks, which `CLUSTER_NETWORKS` sets.
fn networks() -> u64 {
    std::env::var("CLUSTER_NETWORKS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[test]
fn random_networks_agree_with_plain_loops() {
    let mut fitting = 0;
    for seed in 1..=networks() {
        let mut random = Random::new(seed ^ 0x1234_5678);
        let spm = [2 << 10, 6 << 10, 24 << 10, 1 << 20][random.below(4) as usize];
        let slice = [64, 500, 350_000][random.below(3) as usize];
        let machine =
            ClusterMachine { clusters: random.up_to(7), spm, reserved: 0, slice, ..ClusterMachine::default() };
        let mut settings = Settings::default();
        for (_, setting) in settings.names() {
            *setting = random.below(6) > 0;
        }
        fitting += u64::from(run(&Draw::network(seed), &machine, settings, seed));
    }
    assert!(fitting * 10 > networks() * 7, "{fitting} of {} networks fit", networks());
}

/// Whether a program without one of its notifications, counted by the wait for it, passes the check.
fn is_redundant(simulator: &Simulator, program: &ClusterProgram, [cluster, index]: [usize; 2]) -> bool {
    let Record::Notify { clusters, event } = program.records[cluster][index] else { return false };
    let mut changed = program.clone();
    changed.records[cluster].remove(index);
    let waiting = &mut changed.records[clusters.trailing_zeros() as usize];
    for record in waiting.iter_mut() {
        if let Record::Wait { event: e, count } = record
            && *e == event
        {
            *count -= 1;
        }
    }
    waiting.retain(|record| !matches!(record, Record::Wait { count: 0, .. }));
    simulator.time(&changed).is_ok()
}

#[test]
fn no_notification_is_redundant() {
    let mut notifications = 0;
    for seed in 1..=networks().min(40) {
        let mut random = Random::new(seed ^ 0x77);
        let spm = [6 << 10, 24 << 10, 1 << 20][random.below(3) as usize];
        // Work takes long beside waiting, so that all clusters have some.
        let machine = ClusterMachine {
            clusters: 2 + random.below(6),
            cores: 1,
            f32_products: 1,
            int8_products: 1,
            task: 1,
            wait: 1,
            noc_latency: 1,
            spm,
            reserved: 0,
            ..ClusterMachine::default()
        };
        let net = Draw::network(seed);
        let Ok((mut compiled, _)) = compile(&net, &machine, Settings::default(), &mut |_| ()) else { continue };
        compiled.program.constants = constants(&net, &compiled.schedule, &compiled.image);
        let simulator = Simulator::new(machine);
        for (cluster, records) in compiled.program.records.iter().enumerate() {
            for (index, record) in records.iter().enumerate() {
                notifications += usize::from(matches!(record, Record::Notify { .. }));
                let place = [cluster, index];
                assert!(!is_redundant(&simulator, &compiled.program, place), "{seed}: {place:?}");
            }
        }
    }
    assert!(notifications > 100, "{notifications}");
}

/// Cycles that more clusters, memory or bandwidth may cost at most, in percent: the search does not try all choices.
const SLOWER: u64 = 8;

#[test]
fn more_resources_slow_no_network_down_by_much() {
    let (mut compared, mut slower) = (0, 0);
    for seed in 1..=networks() {
        let mut random = Random::new(seed ^ 0x9999);
        let (clusters, spm) = (random.up_to(8), 1 << (14 + random.below(6)));
        let rates = [4 << random.below(5), 8 << random.below(4)];
        let machine = ClusterMachine {
            clusters,
            spm,
            reserved: 0,
            cores: 1 << random.below(5),
            ddr_rate: rates[0],
            noc_rate: rates[1],
            ..ClusterMachine::default()
        };
        let mut more = machine.clone();
        match random.below(6) {
            0 => more.clusters += 1,
            1 => more.clusters *= 2,
            2 => more.spm *= 2,
            3 => more.ddr_rate *= 2,
            4 => more.noc_rate *= 2,
            _ => more.cores *= 2,
        }
        let net = Draw::network(seed);
        let [before, after] = [&machine, &more].map(|m| compile(&net, m, Settings::default(), &mut |_| ()));
        let Ok((before, _)) = before else { continue };
        let after = after.expect("more memory suffices").0.estimate.cycles;
        let before = before.estimate.cycles;
        compared += 1;
        slower += u64::from(after > before);
        assert!(after * 100 <= before * (100 + SLOWER), "{seed}: {before} cycles, {after} with more: {more:?}");
    }
    assert!(compared * 2 > networks() && slower * 5 < compared, "{slower} of {compared} are slower");
}
