//! The estimated cycles of layers against those of their programs.

use super::super::estimate::layer_cost;
use super::super::price::Prices;
use super::super::shape::{LayerShape, Resident};
use super::*;

/// A layer: rows and columns, channels, kernels, extent of the kernel, stride, whether depthwise.
type Shape = ([usize; 2], usize, usize, usize, usize, bool);

/// The network of a layer whose operand and result are in DDR.
fn network_of((extents, channels, kernels, size, stride, depthwise): Shape) -> Network {
    let mut net = Network::default();
    let input = feature(&mut net, [extents[0], extents[1], channels], true, Role::Operand(0));
    convolution(&mut net, input, Role::Result(0), (kernels, size, stride, depthwise));
    net
}

/// The layers of ResNet-50, MobileNet, VGG-16 and SqueezeNet for images of 224 by 224.
fn of_networks() -> Vec<Shape> {
    let mut all = Vec::new();
    for (stage, n) in [56, 28, 14, 7].into_iter().enumerate() {
        let inner = 64 << stage;
        let (from, stride) = if stage == 0 { (64, 1) } else { (2 * inner, 2) };
        all.push(([n * stride; 2], from, inner, 1, 1, false));
        all.push(([n * stride; 2], inner, inner, 3, stride, false));
        all.push(([n * stride; 2], from, 4 * inner, 1, stride, false));
        all.push(([n; 2], inner, 4 * inner, 1, 1, false));
        all.push(([n; 2], 4 * inner, inner, 1, 1, false));
        all.push(([n; 2], inner, inner, 3, 1, false));
    }
    for (n, channels, stride) in
        [(112, 32, 1), (112, 64, 2), (56, 128, 1), (56, 128, 2), (28, 256, 1), (28, 256, 2), (14, 512, 1), (7, 1024, 1)]
    {
        all.push(([n; 2], channels, channels, 3, stride, true));
        all.push(([n / stride; 2], channels, (2 * channels).min(1024), 1, 1, false));
    }
    for (n, channels) in [(224, 64), (112, 128), (56, 256), (28, 512), (14, 512)] {
        all.push(([n; 2], channels / 2, channels, 3, 1, false));
        all.push(([n; 2], channels, channels, 3, 1, false));
    }
    for (n, channels, squeezed) in [(55, 96, 16), (55, 128, 16), (27, 256, 32), (27, 384, 48), (13, 512, 64)] {
        all.push(([n; 2], channels, squeezed, 1, 1, false));
        all.push(([n; 2], squeezed, 4 * squeezed, 1, 1, false));
        all.push(([n; 2], squeezed, 4 * squeezed, 3, 1, false));
    }
    all.extend([([1, 1], 2048, 1000, 1, 1, false), ([1, 1], 512, 4096, 1, 1, false)]);
    all
}

fn random_shape(r: &mut Random) -> Shape {
    let extents = [r.up_to(64), r.up_to(64)];
    let (channels, kernels) = (8 * r.up_to(40) - r.below(3), 8 * r.up_to(40) - r.below(3));
    let size = [1, 3, 5][r.below(3)];
    let stride = r.up_to(2);
    match r.below(4) {
        0 => (extents, channels, channels, size, stride, true),
        _ => (extents, channels, kernels, size, stride, false),
    }
}

/// The rank of each number among all.
fn ranks(of: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[a].total_cmp(&of[b]));
    let mut ranks = vec![0.0; of.len()];
    order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64);
    ranks
}

/// Spearman's rank correlation.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b, n) = (ranks(a), ranks(b), a.len() as f64);
    let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[test]
fn estimates_of_300_layers_are_close() {
    let machine = NpuMachine::default();
    let mut r = Random::new(300);
    let mut shapes = of_networks();
    let known = shapes.len();
    shapes.extend((known..300).map(|_| random_shape(&mut r)));
    let (mut estimated, mut counted) = (Vec::new(), Vec::new());
    for &shape in &shapes {
        let net = network_of(shape);
        let program = compile(&net, &machine).unwrap_or_else(|why| panic!("{shape:?}: {why}"));
        let counts = Simulator::new(machine.clone()).time(&program.instructions).expect("the program is right");
        // The program may be that of a smaller machine, with its estimate.
        let resident = Resident { input: false, output: false, sum: true };
        let shape = LayerShape::new(&net, &net.layers[0], &machine);
        let cost = layer_cost(&shape, &mut Prices::default(), program.residency.tilings[0].0, resident);
        estimated.push(cost.alone as f64);
        counted.push(counts.cycles as f64);
    }
    let mut errors: Vec<(f64, usize)> =
        estimated.iter().zip(&counted).map(|(e, c)| (e / c - 1.0).abs()).zip(0..).collect();
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, (worst, at)) = (errors[errors.len() / 2].0, errors[errors.len() - 1]);
    let rank = correlation(&estimated, &counted);
    let found = format!("median {median:.4}, worst {worst:.4} of {:?}, rank correlation {rank:.4}", shapes[at]);
    assert!(median <= 0.01 && worst <= 0.1 && rank >= 0.99, "{found}");
}

/// Weights that are loaded in parts are waited for to their end: depth and number of kernels are equal.
#[test]
fn parts_of_a_load_are_waited_for() {
    let machine = NpuMachine::default();
    let net = network_of(([7, 9], 64, 64, 3, 1, false));
    let program = compile(&net, &machine).expect("the layer fits");
    check(&net, &program, &machine, &mut Random::new(1)).expect("the program is right");
}
