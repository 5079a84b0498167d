//! Random networks as programs, executed by the simulator and by plain loops.

mod estimates;
mod layers;
mod machines;
mod matrices;
mod multiplies;
mod variants;

use super::given::{residency_of, tiles_of};
use super::network::{
    BlockOrder, FeatureId, FeatureInfo, FeatureSum, Layer, Network, PartOf, Requantization, Role, RowPadding, Weights,
};
use super::program::{CompiledNetwork, compile, compile_by};
use super::scale::round_shift;
use super::schedule_ops::{ScheduleOps, write};
use super::steps::Steps;
use super::weight_mode::MODES;
use gradus_ir::{Builder, Loc, Module};
use gradus_simulators::npu::{Ddr, NpuInst, NpuMachine, Simulator, Statistics};

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn up_to(&mut self, n: usize) -> usize {
        1 + self.below(n)
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.byte()).collect()
    }

    fn choose<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| of[self.below(of.len())])
    }
}

/// Adds a feature, in blocks of 8 channels; [`in_blocks_of`] changes that.
fn feature(net: &mut Network, [height, width, channels]: [usize; 3], signed: bool, role: Role) -> FeatureId {
    net.features.push(FeatureInfo {
        height,
        width,
        channels,
        tile: [1, 8],
        signed,
        part_of: None,
        role,
        blocks: BlockOrder::default(),
        row_padding: None,
    });
    net.features.len() - 1
}

/// Lays out all features for an array of another depth.
fn in_blocks_of(mut net: Network, depth: u32) -> Network {
    net.features.iter_mut().for_each(|feature| feature.tile[1] = depth as usize);
    net
}

/// A layer that copies a feature.
fn copy(net: &Network, input: FeatureId, output: FeatureId) -> Layer {
    let [from, to] = [input, output].map(|id| &net.features[id]);
    Layer::copy(Vec::new(), input, output, from.channels, to.signed)
}

/// Adds a convolution with padding, of a number of kernels, their extent, stride, and whether it is depthwise. Returns its output.
fn convolution(
    net: &mut Network,
    input: FeatureId,
    role: Role,
    (kernels, size, stride, depthwise): (usize, usize, usize, bool),
) -> FeatureId {
    let (pad, info) = (size / 2, net.features[input].clone());
    let [height, width] = [info.height, info.width].map(|n| (n + 2 * pad - size) / stride + 1);
    let output = feature(net, [height, width, kernels], true, role);
    let depth = if depthwise { 1 } else { info.channels };
    let layer = Layer {
        depthwise,
        depth,
        kernels,
        weights: Weights::Constant(vec![1; kernels * size * size * depth]),
        kernel: [size; 2],
        stride: [stride; 2],
        pad: [pad; 2],
        requantization: vec![Requantization { bias: 0, scale: 1, shift: 10 }; kernels],
        ..copy(net, input, output)
    };
    net.layers.push(layer);
    output
}

/// Random zero points, factors, sum and table of a layer.
fn disturb(net: &Network, layer: &mut Layer, known: &[FeatureId], r: &mut Random) {
    let byte = |signed: bool, r: &mut Random| i16::from(r.byte()) - if signed { 128 } else { 0 };
    layer.signed_weights = match layer.weights {
        Weights::Constant(_) => r.below(2) == 0,
        ref weights => weights.feature().is_some_and(|id| net.features[id].signed),
    };
    layer.zeros = [byte(net.features[layer.input].signed, r), 0];
    if r.below(2) == 0 {
        layer.zeros[1] = byte(layer.signed_weights, r);
    }
    let is_elements = matches!(layer.weights, Weights::Elements(_));
    let count = if is_elements || r.below(2) == 0 { 1 } else { layer.kernels };
    let one = |r: &mut Random| Requantization {
        bias: r.below(2000) as i32 - 1000,
        scale: r.below(1 << 24) as i32,
        shift: 28 + r.below(8) as u32,
    };
    layer.requantization = (0..count).map(|_| one(r)).collect();
    layer.zero = byte(layer.signed, r);
    let shape = |id: FeatureId| (net.features[id].height, net.features[id].width, net.features[id].channels);
    let fits =
        |&id: &FeatureId| shape(id) == shape(layer.output) && !(is_elements && net.features[id].part_of.is_some());
    let others: Vec<FeatureId> = known.iter().copied().filter(fits).collect();
    if let Some(feature) = r.choose(&others).filter(|_| r.below(2) == 0) {
        let zeros = [layer.zero, byte(net.features[feature].signed, r)];
        let scales = [0, 0].map(|_: i32| r.below(1 << 20) as i32);
        layer.sum =
            Some(FeatureSum { feature, zeros, scales, shift: 20, zero: byte(layer.signed, r), signed: layer.signed });
    }
    let tables = match r.below(4) {
        0 => 1,
        1 if !is_elements => layer.kernels,
        _ => 0,
    };
    layer.table = r.bytes(256 * tables);
}

/// A random layer on a known feature, with its output.
fn layer(net: &mut Network, known: &[FeatureId], r: &mut Random) -> Option<Layer> {
    let input = r.choose(known)?;
    let info = net.features[input].clone();
    let (extents, signed) = ([info.height, info.width, info.channels], r.below(2) == 0);
    // A line of elements is all of a feature.
    let kind = if info.part_of.is_some() { [0, 1, 2, 4][r.below(4)] } else { r.below(5) };
    if kind >= 3 {
        let shape = if kind == 3 { extents } else { [1, 1, info.channels] };
        let fits = |&id: &FeatureId| {
            let other = &net.features[id];
            [other.height, other.width, other.channels] == shape && (kind == 4 || other.part_of.is_none())
        };
        let weights = r.choose(&known.iter().copied().filter(fits).collect::<Vec<_>>())?;
        let weights = if kind == 3 { Weights::Elements(weights) } else { Weights::Channels(weights) };
        let output = feature(net, extents, signed, Role::Inner);
        return Some(Layer { weights, ..copy(net, input, output) });
    }
    let depthwise = kind == 2;
    let kernels = if depthwise { info.channels } else { r.up_to(40) };
    let kernel = [info.height, info.width].map(|n| r.up_to(n.min(4)));
    let (stride, dilation) = ([r.up_to(3), r.up_to(3)], [r.up_to(2), r.up_to(2)]);
    let pad = kernel.map(|k| r.below(k));
    let mut out = [0; 2];
    for (i, extent) in [info.height, info.width].into_iter().enumerate() {
        let span = (kernel[i] - 1) * dilation[i] + 1;
        out[i] = (extent + 2 * pad[i]).checked_sub(span)? / stride[i] + 1;
    }
    let depth = if depthwise { 1 } else { info.channels };
    let weights = Weights::Constant(r.bytes(kernels * kernel[0] * kernel[1] * depth));
    let output = feature(net, [out[0], out[1], kernels], signed, Role::Inner);
    Some(Layer { weights, depthwise, depth, kernels, kernel, stride, dilation, pad, ..copy(net, input, output) })
}

/// Adds a constant to the result of a layer, some of whose extents are 1.
fn repeated_summand(net: &mut Network, layer: &mut Layer, r: &mut Random) {
    let info = net.features[layer.output].clone();
    let extents = [[1, info.height][r.below(2)], [1, info.width][r.below(2)], info.channels];
    net.constants.push(r.bytes(extents.iter().product()));
    let role = Role::Constant(net.constants.len() - 1);
    let sum = feature(net, extents, r.below(2) == 0, role);
    let zeros = [layer.zero, 3];
    let scales = [0, 0].map(|_: i32| r.below(1 << 20) as i32);
    layer.sum = Some(FeatureSum { feature: sum, zeros, scales, shift: 20, zero: 5, signed: layer.signed });
}

/// Rows and columns of a feature at a distance, as a feature.
fn some_rows_and_columns(net: &mut Network, whole: FeatureId, r: &mut Random) -> FeatureId {
    let info = net.features[whole].clone();
    let [[row, rows, above], [column, columns, left]] = [info.height, info.width].map(|extent| {
        let (first, step) = (r.below(extent), r.up_to(3));
        [first, r.up_to((extent - first).div_ceil(step)), step]
    });
    let part_of = Some(PartOf { row, column, step: [above, left], ..PartOf::all(whole) });
    net.features.push(FeatureInfo { height: rows, width: columns, part_of, role: Role::Inner, ..info });
    net.features.len() - 1
}

/// Adds a feature whose rows and columns are interleaved of those of copies.
fn interleaved(net: &mut Network, known: &[FeatureId], r: &mut Random) -> Option<FeatureId> {
    let input = r.choose(known)?;
    let (info, step) = (net.features[input].clone(), [r.up_to(3), r.up_to(3)]);
    let whole = feature(net, [step[0] * info.height, step[1] * info.width, info.channels], info.signed, Role::Inner);
    for (row, column) in (0..step[0]).flat_map(|row| (0..step[1]).map(move |column| (row, column))) {
        let part_of = Some(PartOf { row, column, step, ..PartOf::all(whole) });
        let [height, width] = [info.height, info.width];
        net.features.push(FeatureInfo { height, width, part_of, ..net.features[whole].clone() });
        let mut layer = copy(net, input, net.features.len() - 1);
        disturb(net, &mut layer, known, r);
        net.layers.push(layer);
    }
    Some(whole)
}

fn network(r: &mut Random) -> Network {
    let mut net = Network::default();
    let extents = [r.up_to(20), r.up_to(20), r.up_to(40)];
    let mut known = vec![feature(&mut net, extents, r.below(2) == 0, Role::Operand(0))];
    let layers = r.up_to(6);
    while net.layers.len() < layers {
        let features = net.features.len();
        match layer(&mut net, &known, r) {
            Some(mut layer) => {
                disturb(&net, &mut layer, &known, r);
                if layer.sum.is_none() && !matches!(layer.weights, Weights::Elements(_)) && r.below(3) == 0 {
                    repeated_summand(&mut net, &mut layer, r);
                }
                known.push(layer.output);
                net.layers.push(layer);
                if r.below(4) == 0 {
                    known.extend(interleaved(&mut net, &known, r));
                }
                if let Some(whole) = r.choose(&known).filter(|_| r.below(3) == 0) {
                    known.push(some_rows_and_columns(&mut net, whole, r));
                }
            }
            None => net.features.truncate(features),
        }
    }
    if let Some(last) = net.layers.last() {
        let output = net.root(last.output);
        net.features[output].role = Role::Result(0);
    }
    disturb_rows(&mut net, r);
    net
}

/// Pads the rows of some features that are not read as lines.
fn disturb_rows(net: &mut Network, r: &mut Random) {
    let lines: Vec<FeatureId> = net.layers.iter().filter_map(Network::elementwise_features).flatten().collect();
    for id in (0..net.features.len()).filter(|id| !lines.contains(id)) {
        let banks = [64, 256][r.below(2)];
        net.features[id].row_padding =
            (r.below(2) == 0).then(|| RowPadding { residue: 64 * r.below(banks / 64), banks });
    }
    for id in 0..net.features.len() {
        net.features[id].row_padding = net.features[net.root(id)].row_padding;
    }
}

/// The byte of an element of a feature as it is laid out.
fn place(info: &FeatureInfo, [h, w, c]: [usize; 3]) -> usize {
    info.dense(0, 0).address(h as u64, w as u64, c as u64) as usize
}

fn value(byte: u8, signed: bool) -> i64 {
    if signed { i64::from(byte as i8) } else { byte.into() }
}

/// Plain features with memory of their own, `[H, W, C]` row-major.
type Plain = Vec<Option<Vec<u8>>>;

/// The places of the elements of a feature in the one that has memory of its own.
fn places(net: &Network, id: FeatureId) -> Vec<usize> {
    let (at, info) = (net.place(id), &net.features[id]);
    let whole = &net.features[at.whole];
    let column = |w: usize| at.column + w * at.step[1];
    elements(info).map(|(h, w, c)| (at.row_of(h) * whole.width + column(w)) * whole.channels + at.channel + c).collect()
}

/// The elements of a feature.
fn plain_of(net: &Network, plain: &Plain, id: FeatureId) -> Vec<u8> {
    let whole = plain[net.root(id)].as_deref().unwrap_or_default();
    places(net, id).into_iter().map(|at| whole[at]).collect()
}

/// Computes a layer by loops.
fn reference(net: &Network, l: &Layer, plain: &Plain) -> Vec<u8> {
    let (from, to) = (&net.features[l.input], &net.features[l.output]);
    let all: Vec<Vec<u8>> = l.reads().map(|id| plain_of(net, plain, id)).collect();
    let of = |id: FeatureId| l.reads().position(|read| read == id).map_or(&[][..], |i| &all[i][..]);
    let clamp = |v: i64, signed: bool| if signed { v.clamp(-128, 127) } else { v.clamp(0, 255) };
    let mut out = Vec::new();
    for (y, x, k) in elements(to) {
        let at = (y * to.width + x) * to.channels + k;
        let mut acc = 0;
        for (ky, kx, d) in
            (0..l.kernel[0]).flat_map(|a| (0..l.kernel[1]).flat_map(move |b| (0..l.depth).map(move |c| (a, b, c))))
        {
            let iy = (y * l.stride[0] + ky * l.dilation[0]).checked_sub(l.pad[0]).filter(|&i| i < from.height);
            let ix = (x * l.stride[1] + kx * l.dilation[1]).checked_sub(l.pad[1]).filter(|&i| i < from.width);
            let (Some(iy), Some(ix)) = (iy, ix) else { continue };
            let c = if l.depthwise { k } else { d };
            let a = value(of(l.input)[(iy * from.width + ix) * from.channels + c], from.signed) - i64::from(l.zeros[0]);
            let byte = match &l.weights {
                Weights::Constant(w) => w[(k * l.taps() + ky * l.kernel[1] + kx) * l.depth + d],
                Weights::Elements(id) => of(*id)[at],
                Weights::Channels(id) => of(*id)[k],
                Weights::Columns(id) => of(*id)[k * l.depth + d],
                Weights::Transposed(id) => of(*id)[d * net.features[*id].channels + k],
            };
            acc += a * (value(byte, l.signed_weights) - i64::from(l.zeros[1]));
        }
        let q = &l.requantization[k.min(l.requantization.len() - 1)];
        let scaled = round_shift((acc + i64::from(q.bias)) * i64::from(q.scale), q.shift);
        let mut v = clamp(scaled + i64::from(l.zero), l.signed);
        if let Some(sum) = &l.sum {
            let other = &net.features[sum.feature];
            let [h, w] = [y.min(other.height - 1), x.min(other.width - 1)];
            let at = (h * other.width + w) * other.channels + k;
            let other = value(of(sum.feature)[at], net.features[sum.feature].signed) - i64::from(sum.zeros[1]);
            let both = (v - i64::from(sum.zeros[0])) * i64::from(sum.scales[0]) + other * i64::from(sum.scales[1]);
            v = clamp(round_shift(both, sum.shift.into()) + i64::from(sum.zero), sum.signed);
        }
        let table = 256 * if l.table.len() > 256 { k } else { 0 };
        out.push(if l.table.is_empty() { v as u8 } else { l.table[table + usize::from(v as u8)] });
    }
    out
}

fn elements(info: &FeatureInfo) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
    let (height, width, channels) = (info.height, info.width, info.channels);
    (0..height).flat_map(move |h| (0..width).flat_map(move |w| (0..channels).map(move |c| (h, w, c))))
}

/// Runs a program on random operands and compares its results with those of loops.
fn check(net: &Network, program: &CompiledNetwork, machine: &NpuMachine, r: &mut Random) -> Result<Statistics, String> {
    let mut ddr = Ddr::new(program.steps.ddr_bytes);
    ddr.write(0, &program.constants(net, machine));
    let mut plain: Plain = vec![None; net.features.len()];
    for (id, info) in net.features.iter().enumerate().filter(|(_, info)| matches!(info.role, Role::Operand(_))) {
        let (bytes, mut placed) = (r.bytes(info.height * info.width * info.channels), vec![0; info.bytes()]);
        elements(info).zip(&bytes).for_each(|((h, w, c), &byte)| placed[place(info, [h, w, c])] = byte);
        program.steps.ddr[id].into_iter().for_each(|at| ddr.write(at, &placed));
        plain[id] = Some(bytes);
    }
    for (id, info) in net.features.iter().enumerate() {
        if let Role::Constant(i) = info.role {
            plain[id] = Some(net.constants[i].clone());
        }
    }
    let mut simulator = Simulator::new(machine.clone());
    let counts = simulator.run(&program.instructions, &mut ddr).map_err(|f| f.to_string())?;
    let timed = simulator.time(&program.instructions).map_err(|f| f.to_string())?;
    if (timed.cycles, timed.bank_stalls, timed.macs) != (counts.cycles, counts.bank_stalls, counts.macs) {
        return Err(format!("{} cycles without values, {} with them", timed.cycles, counts.cycles));
    }
    for layer in &net.layers {
        let (values, root) = (reference(net, layer, &plain), net.root(layer.output));
        let whole = &net.features[root];
        let all = plain[root].get_or_insert_with(|| vec![0; whole.height * whole.width * whole.channels]);
        places(net, layer.output).into_iter().zip(values).for_each(|(at, value)| all[at] = value);
    }
    for (id, info) in net.features.iter().enumerate().filter(|(_, info)| matches!(info.role, Role::Result(_))) {
        let at = program.steps.ddr[id].ok_or("a result has no place")?;
        let placed = ddr.read(at, info.bytes()).ok_or("a result is undefined")?;
        let found: Vec<u8> = elements(info).map(|(h, w, c)| placed[place(info, [h, w, c])]).collect();
        if plain[id].as_ref() != Some(&found) {
            return Err(format!("result {id} is wrong"));
        }
    }
    Ok(counts)
}

/// Machines of all sizes of SRAM, so that features are streamed, cascaded or resident, and of several arrays.
fn machine(r: &mut Random) -> NpuMachine {
    let [kernels, depth] = [[8, 8], [8, 8], [4, 4], [16, 16], [16, 8], [8, 16]][r.below(6)];
    let (positions, accumulators) = ([1, 4, 8][r.below(3)], [4096, 16_384][r.below(2)]);
    NpuMachine {
        kernels,
        depth,
        positions,
        accumulators,
        sram_bytes: [512, 64, 32, 20][r.below(4)] << 10,
        ..NpuMachine::default()
    }
}

/// Writes steps as ops, and reads these.
fn written(steps: &Steps, with_places: bool) -> ScheduleOps {
    let mut m = Module::new(gradus_machines::context());
    let (body, layers) = (m.body(), steps.steps.iter().map(|step| step.layer + 1).max().unwrap_or(0));
    write(&mut Builder::at_end(&mut m, body), steps, with_places, &vec![(Loc::UNKNOWN, None); layers]);
    ScheduleOps::read(&m, body).unwrap_or_else(|(_, why)| panic!("{}", String::from(why)))
}

#[test]
fn random_networks_are_exact_and_free_of_hazards() {
    let count = std::env::var("NPU_NETWORKS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut compiled = 0;
    for seed in 1..=count {
        let mut r = Random::new(seed);
        let (mut net, mut machine) = (network(&mut r), machine(&mut r));
        machine.weight_bits = [8, 9][seed as usize % 2];
        net.weight_mode = r.choose(&MODES).filter(|_| seed % 4 == 0);
        let net = in_blocks_of(net, machine.depth);
        // Small memories may be too small for a layer, but not the default one.
        match compile(&net, &machine) {
            Ok(program) => {
                compiled += 1;
                check(&net, &program, &machine, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
                let given = residency_of(&net, &tiles_of(&net, &program.residency)).expect("they are choices of one");
                let steps = [None, Some(false), Some(true)].map(|places| places.map(|p| written(&program.steps, p)));
                for own in steps {
                    let by = compile_by(&net, &machine, program.planned.clone(), given.clone(), own.as_ref());
                    let by = by.unwrap_or_else(|why| panic!("seed {seed}: {why:?}"));
                    assert!(by.instructions == program.instructions, "seed {seed}: another program by its own choices");
                }
            }
            Err(why) => assert!(machine.sram_bytes < 512 << 10, "seed {seed}: {why}"),
        }
    }
    assert!(compiled * 10 > count * 8, "only {compiled} of {count} networks fit");
}

/// A multiply between two convolutions does not leave SRAM, and each of its tokens is needed or proven redundant.
#[test]
fn a_multiply_stays_in_sram() {
    let mut r = Random::new(3);
    let mut net = Network::default();
    let x = feature(&mut net, [12, 12, 20], true, Role::Operand(0));
    let [a, b, product] = [(); 3].map(|()| feature(&mut net, [12, 12, 20], true, Role::Inner));
    let y = feature(&mut net, [12, 12, 20], true, Role::Result(0));
    for (from, to) in [(x, a), (x, b)] {
        let weights = Weights::Constant(r.bytes(400));
        let layer = Layer { depthwise: false, depth: 20, weights, ..copy(&net, from, to) };
        net.layers.push(layer);
    }
    let multiply = Layer { weights: Weights::Elements(b), ..copy(&net, a, product) };
    net.layers.push(multiply);
    let last = copy(&net, product, y);
    net.layers.push(last);
    for layer in &mut net.layers {
        layer.requantization = vec![Requantization { bias: 0, scale: 1 << 20, shift: 30 }];
    }
    let machine = NpuMachine::default();
    let program = compile(&net, &machine).expect("the network fits");
    let counts = check(&net, &program, &machine, &mut r).expect("the program is right");
    // Besides the operand, read once for each of two layers, the result and the constants nothing crosses the border.
    let (operand, result) = (net.features[x].bytes(), net.features[y].bytes());
    assert_eq!(counts.ddr_bytes_read as usize, 2 * operand + program.constants(&net, &machine).len());
    assert_eq!(counts.ddr_bytes_written as usize, result);
    without_tokens(&net, &program, &machine);
}

/// Drops each signal and each wait: the program is rejected, or the result is the same.
fn without_tokens(net: &Network, program: &CompiledNetwork, machine: &NpuMachine) {
    let mut rejected = 0;
    for (i, inst) in program.instructions.iter().enumerate() {
        if !matches!(inst, NpuInst::Signal { .. } | NpuInst::Wait { .. }) {
            continue;
        }
        let mut changed = program.clone();
        changed.instructions.remove(i);
        match check(net, &changed, machine, &mut Random::new(5)) {
            Err(why) => {
                assert!(
                    !why.contains("wrong"),
                    "instruction {i} is not needed by the simulator, but the result is wrong"
                );
                rejected += 1;
            }
            Ok(_) => continue,
        }
    }
    assert!(rejected > 0, "no token is needed");
}
