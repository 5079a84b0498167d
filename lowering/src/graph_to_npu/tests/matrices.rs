//! Random matrix products, by constants and by features, alone and in batches.

use super::*;

/// A product of a batch of matrices `[rows, depth]` and `[depth, columns]`.
struct Product {
    batch: usize,
    rows: usize,
    depth: usize,
    columns: usize,
    /// Whether the second matrices are stored with their depth as channels.
    by_columns: bool,
    /// Whether a batch is rows of a feature, or channels of it.
    as_rows: bool,
}

/// A feature of `batch` matrices, and each of them as a part.
fn batch_of(
    net: &mut Network,
    product: &Product,
    [width, channels]: [usize; 2],
    role: Role,
) -> (FeatureId, Vec<FeatureId>) {
    let batch = product.batch;
    let extents = if product.as_rows { [batch, width, channels] } else { [1, width, batch * channels] };
    let whole = feature(net, extents, true, role);
    if !product.as_rows {
        let block = super::super::network::gcd(8, channels);
        net.features[whole].tile[1] = block;
    }
    let parts = (0..batch).map(|i| {
        let info = net.features[whole].clone();
        let (row, channel) = if product.as_rows { (i, 0) } else { (0, i * channels) };
        let part_of = Some(PartOf { row, channel, ..PartOf::all(whole) });
        net.features.push(FeatureInfo { height: 1, width, channels, part_of, role: Role::Inner, ..info });
        net.features.len() - 1
    });
    let parts = parts.collect();
    (whole, parts)
}

/// The network of a product of two operands.
fn network_of(product: &Product, r: &mut Random) -> Network {
    let Product { rows, depth, columns, .. } = *product;
    let mut net = Network::default();
    let (_, inputs) = batch_of(&mut net, product, [rows, depth], Role::Operand(0));
    let other = if product.by_columns { [columns, depth] } else { [depth, columns] };
    let (_, weights) = batch_of(&mut net, product, other, Role::Operand(1));
    let (result, outputs) = batch_of(&mut net, product, [rows, columns], Role::Result(0));
    let block = super::super::network::gcd(8, columns);
    net.retile(result, block);
    for i in 0..product.batch {
        let weights = if product.by_columns { Weights::Columns(weights[i]) } else { Weights::Transposed(weights[i]) };
        let layer = Layer { depthwise: false, depth, weights, ..copy(&net, inputs[i], outputs[i]) };
        let mut layer = Layer { kernels: columns, ..layer };
        disturb(&net, &mut layer, &[], r);
        net.layers.push(layer);
    }
    net.finish(&NpuMachine::default(), &|_| None);
    net
}

/// Rows, depth and columns from 1 to 300, one of them small half of the time.
fn random(r: &mut Random) -> Product {
    let mut extents = [(); 3].map(|()| r.up_to(300));
    if r.below(2) == 0 {
        extents[r.below(3)] = r.up_to(9);
    }
    let [rows, depth, columns] = extents;
    Product { batch: 1, rows, depth, columns, by_columns: r.below(2) == 0, as_rows: true }
}

#[test]
fn random_products_of_two_features_are_exact() {
    let machine = NpuMachine::default();
    for seed in 1..=60 {
        let mut r = Random::new(seed + 900);
        let product = random(&mut r);
        let net = network_of(&product, &mut r);
        let program = compile(&net, &machine).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        check(&net, &program, &machine, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn random_products_by_constants_are_exact() {
    let machine = NpuMachine::default();
    for seed in 1..=60 {
        let mut r = Random::new(seed + 1900);
        let Product { rows, depth, columns, .. } = random(&mut r);
        let mut net = Network::default();
        let x = feature(&mut net, [1, rows, depth], true, Role::Operand(0));
        let y = feature(&mut net, [1, rows, columns], true, Role::Result(0));
        let weights = Weights::Constant(r.bytes(columns * depth));
        let mut layer = Layer { depthwise: false, depth, weights, kernels: columns, ..copy(&net, x, y) };
        disturb(&net, &mut layer, &[], &mut r);
        net.layers.push(layer);
        let program = compile(&net, &machine).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        check(&net, &program, &machine, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Batches on random machines, most of which stream operands and results; the first product's result is an operand of the second.
#[test]
fn random_batches_are_exact() {
    let mut compiled = 0;
    for seed in 1..=120 {
        let mut r = Random::new(seed + 2900);
        let machine = machine(&mut r);
        let product = Product {
            batch: r.up_to(4),
            rows: r.up_to(60),
            depth: r.up_to(60),
            columns: r.up_to(60),
            by_columns: r.below(2) == 0,
            as_rows: r.below(2) == 0,
        };
        let net = in_blocks_of_products(network_of(&product, &mut r), machine.depth);
        if let Ok(program) = compile(&net, &machine) {
            compiled += 1;
            check(&net, &program, &machine, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    }
    assert!(compiled > 100, "only {compiled} fit");
}

/// Products keep their blocks, which divide their channels.
fn in_blocks_of_products(mut net: Network, depth: u32) -> Network {
    net.features.iter_mut().for_each(|f| f.tile[1] = super::super::network::gcd(f.tile[1], depth as usize));
    net
}

/// The feed-forward part of a transformer's block reads its weights once and keeps the array busy.
#[test]
fn a_feed_forward_part_is_near_its_bound() {
    let mut r = Random::new(4);
    let mut net = Network::default();
    let (x, y) = ([8, 16, 768], [8, 16, 3072]);
    let input = feature(&mut net, x, false, Role::Operand(0));
    let inner = feature(&mut net, y, false, Role::Inner);
    let output = feature(&mut net, x, false, Role::Result(0));
    for (from, to, depth, kernels) in [(input, inner, 768, 3072), (inner, output, 3072, 768)] {
        let weights = Weights::Constant(vec![1; depth * kernels]);
        let mut layer = Layer { depthwise: false, depth, kernels, weights, ..copy(&net, from, to) };
        layer.requantization = (0..kernels).map(|i| Requantization { bias: i as i32, scale: 1, shift: 12 }).collect();
        net.constants.push(r.bytes(kernels));
        let role = Role::Constant(net.constants.len() - 1);
        let feature = feature(&mut net, [1, 1, kernels], false, role);
        let signed = false;
        layer.sum = Some(FeatureSum { feature, zeros: [0, 0], scales: [1 << 10; 2], shift: 10, zero: 0, signed });
        net.layers.push(layer);
    }
    let machine = NpuMachine::default();
    let program = compile(&net, &machine).expect("it fits");
    let counts = Simulator::new(machine.clone()).time(&program.instructions).expect("the program is right");
    let bound = counts.macs / machine.macs();
    assert!(counts.cycles * 100 <= bound * 120, "{} cycles, {bound} at least", counts.cycles);
}
