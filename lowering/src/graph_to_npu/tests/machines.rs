//! Machines that differ in one parameter: more of it does not make a program slower.

use super::*;

/// Cycles of a network's program.
fn cycles(net: &Network, machine: &NpuMachine) -> Option<u64> {
    let program = compile(net, machine).ok()?;
    Some(Simulator::new(machine.clone()).time(&program.instructions).expect("the program is right").cycles)
}

/// A machine with twice as much of a parameter.
fn doubled(machine: &NpuMachine, name: &str) -> NpuMachine {
    let mut more = machine.clone();
    let mut parameters = more.parameters();
    let field = parameters.iter_mut().find(|(known, _)| *known == name).expect("it is a parameter");
    *field.1 *= 2;
    more
}

const PARAMETERS: [&str; 6] = ["sram_bytes", "ddr_rate", "post_width", "positions", "banks", "accumulators"];

/// Trials of what stays in SRAM are greedy, and offsets are found for one buffer after the other. So twice as much of a parameter
/// may lead to other choices that are slower, seldom by more than a part in 100: the program of the machine with half of the parameter is
/// tried too, but not all those that the smaller machine tries.
#[test]
fn more_of_a_parameter_is_seldom_slower() {
    let count = std::env::var("NPU_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    let (mut pairs, mut slower, mut ratios) = (0, 0, Vec::new());
    for seed in 1..=count {
        let mut r = Random::new(seed + 7000);
        let (net, mut machine) = (large_features(&mut r), machine(&mut r));
        machine.sram_bytes = [24, 40, 64, 100, 128, 200][r.below(6)] << 10;
        machine.ddr_rate = 4 + r.below(28) as u32;
        machine.post_width = [4, 8, 16][r.below(3)];
        let net = in_blocks_of(net, machine.depth);
        let Some(before) = cycles(&net, &machine) else { continue };
        for name in PARAMETERS {
            pairs += 1;
            let after = cycles(&net, &doubled(&machine, name));
            assert!(after.is_some(), "seed {seed}: no program with twice as much of {name}");
            slower += u64::from(after.is_none_or(|after| after > before));
            ratios.push((after.unwrap_or(before) as f64 / before as f64, seed, name));
        }
    }
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    let much = ratios.iter().filter(|(ratio, ..)| *ratio > 1.01).count() as u64;
    let found = format!("{slower} of {pairs} are slower, {much} by more than 1 %, the worst: {:?}", &ratios[..5]);
    assert!(slower * 100 <= 8 * pairs && much * 100 <= 3 * pairs && ratios[0].0 <= 1.1, "{found}");
    assert!(pairs >= 5 * count, "{found}");
}

/// A network of convolutions with features of 20 to 100 KB.
fn large_features(r: &mut Random) -> Network {
    let mut net = Network::default();
    let extents = [8 + r.below(25), 8 + r.below(25), 8 * r.up_to(12)];
    let mut last = feature(&mut net, extents, true, Role::Operand(0));
    for _ in 0..r.up_to(6) {
        let depthwise = r.below(4) == 0;
        let kernels = if depthwise { net.features[last].channels } else { 8 * r.up_to(16) };
        let (size, stride) = ([1, 1, 3][r.below(3)], [1, 1, 2][r.below(3)]);
        last = convolution(&mut net, last, Role::Inner, (kernels, size, stride, depthwise));
    }
    net.features[last].role = Role::Result(0);
    net
}
