//! Modes of constant weights, orders of loops and copies by the mover: those that are chosen, and all others by edited choices.

use super::super::program::for_whole_machine;
use super::super::weight_mode::WeightMode;
use super::*;
use gradus_machines::npu::LayerTiles;
use gradus_simulators::npu::Unit;

/// Compiles a network by edited choices, and checks the program.
fn edited(
    net: &Network,
    machine: &NpuMachine,
    edit: impl Fn(&mut LayerTiles),
    r: &mut Random,
) -> Result<Statistics, String> {
    let program = compile(net, machine).map_err(|why| why.to_string())?;
    let mut tiles = tiles_of(net, &program.residency);
    tiles.iter_mut().for_each(edit);
    let given = residency_of(net, &tiles).map_err(|(_, why)| why.to_string())?;
    let by = compile_by(net, machine, for_whole_machine(), given, None).map_err(|why| format!("{why:?}"))?;
    let steps = written(&by.steps, true);
    let again = compile_by(net, machine, by.planned.clone(), by.residency.clone(), Some(&steps));
    assert!(again.is_ok_and(|again| again.instructions == by.instructions), "another program by its own steps");
    check(net, &by, machine, r)
}

/// A convolution of random weights and zero points.
fn random_convolution([kernel, channels, kernels]: [usize; 3], depthwise: bool, r: &mut Random) -> Network {
    let mut net = Network::default();
    let extents = [r.up_to(9), r.up_to(9), channels];
    let input = feature(&mut net, extents, r.below(2) == 0, Role::Operand(0));
    convolution(&mut net, input, Role::Result(0), (kernels, kernel, 1, depthwise));
    let mut layer = net.layers.pop().expect("there is a layer");
    disturb(&net, &mut layer, &[], r);
    layer.weights = Weights::Constant(r.bytes(kernels * kernel * kernel * layer.depth));
    net.layers.push(layer);
    net
}

#[test]
fn convolutions_are_exact_in_all_modes_of_weights() {
    for (seed, mode) in (1..=60).zip(MODES.into_iter().cycle()) {
        let mut r = Random::new(seed + 900);
        let (kernel, channels, depthwise) = (1 + 2 * r.below(2), r.up_to(20), r.below(3) == 0);
        let kernels = if depthwise { channels } else { r.up_to(20) };
        let net = random_convolution([kernel, channels, kernels], depthwise, &mut r);
        let machine = NpuMachine { weight_bits: [8, 9][r.below(2)], ..NpuMachine::default() };
        let edit = |tiles: &mut LayerTiles| tiles.mode = mode.text();
        edited(&net, &machine, edit, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {}: {why}", mode.text()));
        let forced = Network { weight_mode: Some(mode), ..net };
        let program = compile(&forced, &machine).expect("the layer fits");
        assert_eq!(program.residency.tilings[0].0.mode, Some(mode), "seed {seed}");
        check(&forced, &program, &machine, &mut r).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Weights of depth 4 are half padding in 8K8D; of depth 8 they have none.
#[test]
fn the_mode_of_weights_is_the_one_of_the_fewest_cycles() {
    for (channels, wanted) in [(4, Some(MODES[1])), (12, Some(MODES[1])), (8, None), (16, None)] {
        let mut net = Network::default();
        let input = feature(&mut net, [4, 4, channels], true, Role::Operand(0));
        convolution(&mut net, input, Role::Result(0), (64, 3, 1, false));
        let program = compile(&net, &NpuMachine::default()).expect("the layer fits");
        assert_eq!(program.residency.tilings[0].0.mode, wanted, "{channels} channels");
    }
}

#[test]
fn modes_that_do_not_fit_are_refused() {
    let mut r = Random::new(7);
    let net = random_convolution([3, 8, 8], false, &mut r);
    for mode in ["3k8d", "8c", "16k", "x"] {
        let edit = |tiles: &mut LayerTiles| tiles.mode = mode.to_owned();
        assert!(edited(&net, &NpuMachine::default(), edit, &mut r).is_err(), "{mode}");
    }
    let edit = |tiles: &mut LayerTiles| tiles.moved = true;
    let why = edited(&net, &NpuMachine::default(), edit, &mut r).expect_err("it does not copy");
    assert!(why.contains("does not copy"), "{why}");
    assert_eq!(WeightMode::parse("8w4d").map(WeightMode::text).as_deref(), Some("8w4d"));
}

/// Each tile of rows loads the weights of a large layer again: those of the last slice stay.
#[test]
fn loops_back_and_forth_load_less() {
    let mut r = Random::new(11);
    let mut net = Network::default();
    let input = feature(&mut net, [24, 24, 64], true, Role::Operand(0));
    convolution(&mut net, input, Role::Result(0), (64, 3, 1, false));
    let machine = NpuMachine { sram_bytes: 128 << 10, ..NpuMachine::default() };
    for (rows_outer, rows, kernels) in [(true, 8, 16), (false, 6, 16)] {
        let [plain, serpentine] = [false, true].map(|serpentine| {
            let edit = |tiles: &mut LayerTiles| {
                (tiles.rows, tiles.kernels, tiles.mode) = (rows, kernels, String::new());
                (tiles.rows_outer, tiles.keeps_weights, tiles.serpentine) = (rows_outer, false, serpentine);
            };
            edited(&net, &machine, edit, &mut r).unwrap_or_else(|why| panic!("{why}")).ddr_bytes_read
        });
        assert!(serpentine < plain, "{serpentine} bytes instead of {plain}");
    }
}

/// Copies between all layouts and of parts of features, by array and pipe, and by the mover.
#[test]
fn the_mover_copies_as_the_array_does() {
    let layouts: Vec<([usize; 2], BlockOrder)> = [[1, 8], [4, 4], [8, 4], [1, 4], [4, 1], [2, 2]]
        .into_iter()
        .flat_map(|tile| [BlockOrder::ColumnsInside, BlockOrder::ChannelsInside].map(|blocks| (tile, blocks)))
        .collect();
    let machine = NpuMachine::default();
    let mut moved = 0;
    for (seed, (from, to)) in layouts.iter().flat_map(|a| layouts.iter().map(move |b| (a, b))).enumerate() {
        let mut r = Random::new(seed as u64 + 40);
        let mut net = Network::default();
        let extents = [r.up_to(6), 8 * r.up_to(2), 8 * r.up_to(3)];
        for (role, (tile, blocks)) in [Role::Operand(0), Role::Inner, Role::Result(0)].into_iter().zip([from, to, from])
        {
            let id = feature(&mut net, extents, true, role);
            (net.features[id].tile, net.features[id].blocks) = (*tile, *blocks);
            net.features[id].row_padding = (r.below(2) == 0).then_some(RowPadding { residue: 64, banks: 256 });
        }
        for (input, output) in [(0, 1), (1, 2)] {
            let layer = copy(&net, input, output);
            net.layers.push(layer);
        }
        for unit in [false, true] {
            let edit = |tiles: &mut LayerTiles| tiles.moved = unit;
            let counts = edited(&net, &machine, edit, &mut r).unwrap_or_else(|why| panic!("{from:?} {to:?}: {why}"));
            assert_eq!(counts.busy(Unit::Array) == 0, unit, "{from:?} {to:?}");
            moved += usize::from(unit);
        }
    }
    assert_eq!(moved, layouts.len() * layouts.len());
}

/// A copy in one layout is slices of 64 bytes, of which the mover takes one in a cycle, and the pipe a quarter.
#[test]
fn copies_of_rows_are_moves() {
    let mut net = Network::default();
    for role in [Role::Operand(0), Role::Inner, Role::Result(0)] {
        feature(&mut net, [16, 16, 32], true, role);
    }
    let first = copy(&net, 0, 1);
    net.layers.push(Layer { requantization: vec![Requantization { bias: 1, scale: 1, shift: 1 }], ..first });
    let second = copy(&net, 1, 2);
    net.layers.push(second);
    let program = compile(&net, &NpuMachine::default()).expect("it fits");
    let moved: Vec<bool> = program.residency.tilings.iter().map(|(tiling, _)| tiling.moved).collect();
    assert_eq!(moved, [false, true]);
}
