//! Random products of elements in all pairs of modes and loop orders.

use super::*;

/// Modes of features: `8c`, `4w4c`, `8w4c`, `4c`, `2c`, `1c`, `4w`, `8w8c`.
const MODES: [[usize; 2]; 8] = [[1, 8], [4, 4], [8, 4], [1, 4], [1, 2], [1, 1], [4, 1], [8, 8]];
const ORDERS: [BlockOrder; 2] = [BlockOrder::ColumnsInside, BlockOrder::ChannelsInside];

type Layout = ([usize; 2], BlockOrder);

/// The product of two operands, each of which another layer reads too, so that their layouts are given.
fn network_of(extents: [usize; 3], [a, b, y]: [Layout; 3], r: &mut Random) -> Network {
    let mut net = Network::default();
    let roles = [Role::Operand(0), Role::Operand(1), Role::Result(0), Role::Result(1), Role::Result(2)];
    let plain = ([1, 8], BlockOrder::ColumnsInside);
    let layouts = [a, b, y, plain, plain];
    for (role, (tile, blocks)) in roles.into_iter().zip(layouts) {
        let id = feature(&mut net, extents, r.below(2) == 0, role);
        (net.features[id].tile, net.features[id].blocks) = (tile, blocks);
    }
    for (input, output) in [(0, 3), (1, 4)] {
        let layer = copy(&net, input, output);
        net.layers.push(layer);
    }
    let mut layer = Layer { weights: Weights::Elements(1), ..copy(&net, 0, 2) };
    disturb(&net, &mut layer, &[], r);
    net.layers.push(layer);
    net
}

fn check_product(net: &Network, machine: &NpuMachine, r: &mut Random, what: &str) {
    let program = compile(net, machine).unwrap_or_else(|why| panic!("{what}: {why}"));
    check(net, &program, machine, r).unwrap_or_else(|why| panic!("{what}: {why}"));
}

#[test]
fn all_pairs_of_modes_and_orders_are_exact() {
    let machine = NpuMachine::default();
    let layouts = || MODES.iter().flat_map(|&mode| ORDERS.map(|order| (mode, order)));
    for (i, a) in layouts().enumerate() {
        for (j, b) in layouts().enumerate() {
            let mut r = Random::new((i * 100 + j) as u64);
            let extents = [r.up_to(9), r.up_to(17), r.up_to(20)];
            let mut y = (MODES[r.below(8)], ORDERS[r.below(2)]);
            // Nobody writes the columns that pad the last block of a result.
            y.0[0] = if extents[1].is_multiple_of(y.0[0]) { y.0[0] } else { 1 };
            let mut net = network_of(extents, [a, b, y], &mut r);
            net.finish(&machine, &|_| None);
            let copies = net.layers.len() - 3;
            assert!((copies > 0) == (a != b || a != y), "{a:?} {b:?} {y:?}: {copies} copies");
            check_product(&net, &machine, &mut r, &format!("{extents:?} {a:?} {b:?} {y:?}"));
        }
    }
}

/// Products of 1 to 64 rows, columns and channels, with modes by choice and by force.
#[test]
fn random_products_are_exact() {
    let machine = NpuMachine::default();
    for seed in 1..=40 {
        let mut r = Random::new(seed + 5000);
        let extents = [(); 3].map(|()| r.up_to(64));
        let mut net = Network::default();
        for role in [Role::Operand(0), Role::Operand(1), Role::Result(0)] {
            feature(&mut net, extents, r.below(2) == 0, role);
        }
        let mut layer = Layer { weights: Weights::Elements(1), ..copy(&net, 0, 2) };
        disturb(&net, &mut layer, &[], &mut r);
        net.layers.push(layer);
        let forced = (MODES[r.below(8)], ORDERS[r.below(2)]);
        let mode = Some(forced).filter(|_| seed % 2 == 0);
        net.finish(&machine, &|_| mode);
        let layout = net.features[0].layout();
        assert!(mode.is_none_or(|mode| mode == layout) && net.layers.len() == 1, "the layout is {layout:?}");
        check_product(&net, &machine, &mut r, &format!("seed {seed}: {extents:?} {layout:?}"));
    }
}

/// Three channels need no padding to eight.
#[test]
fn the_mode_of_a_product_is_the_one_of_the_fewest_cycles() {
    for (channels, wanted) in [(3, 1), (4, 4), (8, 8), (6, 2), (20, 4)] {
        let mut net = Network::default();
        for role in [Role::Operand(0), Role::Operand(1), Role::Result(0)] {
            feature(&mut net, [16, 16, channels], true, role);
        }
        let layer = Layer { weights: Weights::Elements(1), ..copy(&net, 0, 2) };
        net.layers.push(layer);
        net.finish(&NpuMachine::default(), &|_| None);
        assert_eq!(net.features[2].tile, [1, wanted], "{channels} channels");
    }
}
