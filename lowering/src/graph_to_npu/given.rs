//! Choices as attributes, and those that are given: whether the machine and the network allow them.

use super::cascade::{in_turns, layers_in_turn, may_cascade};
use super::elementwise_layouts;
use super::estimate::layer_cost;
use super::network::{FeatureId, Layer, Network, ProductSide, Weights};
use super::price::Prices;
use super::residency::{Residency, lifetimes, may_reside, written_over};
use super::shape::{ALIGNMENT, Cost, LayerShape, Resident, Tiling};
use super::weight_mode::WeightMode;
use crate::layers::LayerFigures;
use gradus_ir::{Attr, Refusal};
use gradus_machines::npu::{LayerTiles, Place};
use gradus_simulators::npu::NpuMachine;

/// Returns the choices for each layer.
pub fn tiles_of(net: &Network, residency: &Residency) -> Vec<LayerTiles> {
    let of_layer = |index: usize| {
        let (layer, tiling) = (&net.layers[index], residency.tilings[index].0);
        let to = match residency.places[net.root(layer.output)] {
            _ if residency.cascaded[index] => Place::Next,
            Some(at) => Place::Sram(at),
            None => Place::Ddr,
        };
        let mode = match layer.weights {
            Weights::Elements(_) => elementwise_layouts::text(net.features[layer.output].layout()),
            _ => String::new(),
        };
        let operand = layer.operand.and_then(|side| ProductSide::ALL.iter().position(|known| *known == side));
        with_tiling(LayerTiles { to, mode, operand, ..LayerTiles::default() }, &tiling)
    };
    (0..net.layers.len()).map(of_layer).collect()
}

/// Choices with the tiles of a layer, and the mode of its constant weights.
fn with_tiling(tiles: LayerTiles, tiling: &Tiling) -> LayerTiles {
    let &Tiling { rows, kernels, rows_outer, keeps_weights, serpentine, mode, moved } = tiling;
    let mode = mode.map_or(tiles.mode, WeightMode::text);
    LayerTiles { rows, kernels, rows_outer, keeps_weights, serpentine, moved, mode, ..tiles }
}

/// Returns figures of each layer by itself, given which features are in SRAM.
pub fn figures(
    net: &Network,
    machine: &NpuMachine,
    residency: &Residency,
    to_attr: &dyn Fn(&LayerTiles) -> Attr,
) -> Vec<LayerFigures> {
    let is_in_sram = |id: FeatureId| residency.places[net.root(id)].is_some();
    let tiles = tiles_of(net, residency);
    let of_layer = |(index, layer): (usize, &Layer)| {
        let is_second = index > 0 && residency.cascaded[index - 1];
        let weights = layer.weights.feature().is_none_or(is_in_sram);
        let resident = Resident {
            input: is_second || is_in_sram(layer.input) && weights,
            output: residency.cascaded[index] || is_in_sram(layer.output),
            sum: layer.sum.is_none_or(|sum| is_in_sram(sum.feature)),
        };
        let (shape, chosen) = (LayerShape::new(net, layer, machine), residency.tilings[index].0);
        let mut prices = Prices::default();
        let cycles = layer_cost(&shape, &mut prices, chosen, resident).alone;
        let others = shape.priced(resident, &mut prices).into_iter().filter(|(tiling, _)| *tiling != chosen);
        let rejected = others
            .min_by_key(|(_, cost)| cost.alone)
            .map(|(tiling, cost)| (to_attr(&with_tiling(tiles[index].clone(), &tiling)), cost.alone));
        LayerFigures { cycles, bound: shape.bound(resident).min(cycles), rejected }
    };
    net.layers.iter().enumerate().map(of_layer).collect()
}

/// Returns the choices of which each layer has its part.
///
/// # Errors
/// Layers that write parts of one feature to different places, with one of them.
pub fn residency_of(net: &Network, tiles: &[LayerTiles]) -> Result<Residency, (usize, Refusal)> {
    let mut places: Vec<Option<Option<usize>>> = vec![None; net.features.len()];
    let mut tilings = Vec::new();
    for (index, (layer, tiles)) in net.layers.iter().zip(tiles).enumerate() {
        let place = if let Place::Sram(at) = tiles.to { Some(at) } else { None };
        let known = places[net.root(layer.output)].get_or_insert(place);
        if *known != place {
            return Err((index, "a place other than that of the other parts of its feature".into()));
        }
        let &LayerTiles { rows, kernels, rows_outer, keeps_weights, serpentine, moved, .. } = tiles;
        let is_constant = matches!(layer.weights, Weights::Constant(_)) && !tiles.mode.is_empty();
        let mode = if is_constant { Some(&tiles.mode) } else { None };
        let rule = "a mode that constant weights cannot have";
        let parse = |text: &String| WeightMode::parse(text).ok_or((index, Refusal::from(rule)));
        let mode = mode.map(parse).transpose()?;
        let tiling = Tiling { rows, kernels, rows_outer, keeps_weights, serpentine, mode, moved };
        tilings.push((tiling, Cost::default()));
    }
    Ok(Residency {
        places: places.into_iter().map(Option::flatten).collect(),
        lifetimes: lifetimes(net),
        tilings,
        cascaded: tiles.iter().map(|tiles| tiles.to == Place::Next).collect(),
        peak: (0, 0),
    })
}

/// Checks choices.
///
/// # Errors
/// The layer whose choices are not possible, and the rule.
pub fn check(net: &Network, machine: &NpuMachine, residency: &Residency) -> Result<(), (usize, Refusal)> {
    for index in 0..net.layers.len() {
        check_tiling(net, machine, residency, index).map_err(|refusal| (index, refusal))?;
    }
    check_places(net, machine, residency)
}

/// Checks that modes and operands that are given are those with which layers are read.
///
/// # Errors
/// The layer that cannot have its mode or operand, and the rule.
pub fn check_read(given: &[LayerTiles], read: &[LayerTiles]) -> Result<(), (usize, Refusal)> {
    for (index, (given, read)) in given.iter().zip(read).enumerate() {
        if !given.mode.is_empty() && given.mode != read.mode {
            return Err((index, "a mode that its features cannot have".into()));
        }
        if given.operand.is_some() && given.operand != read.operand {
            return Err((index, "weights that are an operand which cannot be weights".into()));
        }
    }
    Ok(())
}

fn check_tiling(net: &Network, machine: &NpuMachine, residency: &Residency, index: usize) -> Result<(), Refusal> {
    let (layer, tiling) = (&net.layers[index], residency.tilings[index].0);
    let shape = LayerShape::new(net, layer, machine);
    let (group, half) = (shape.group(), machine.accumulators as usize / 2);
    let is_elements = matches!(layer.weights, Weights::Elements(_));
    if tiling.rows > shape.output.height {
        return Err(Refusal::from("{} rows of a tile, but {} of the result").with([tiling.rows, shape.output.height]));
    }
    if !tiling.kernels.is_multiple_of(group) || tiling.kernels > shape.padded_kernels() {
        let rule = "{} kernels of a tile, which is no multiple of {} of at most {}";
        return Err(Refusal::from(rule).with([tiling.kernels, group, shape.padded_kernels()]));
    }
    check_form(&shape, &tiling)?;
    let sums = tiling.rows * shape.output.width * if is_elements { group } else { tiling.kernels };
    if sums > half {
        return Err(Refusal::from("a tile of {} sums, but {} accumulators for one").with([sums, half]));
    }
    if is_elements && (!tiling.rows_outer || tiling.kernels != shape.padded_kernels()) {
        return Err("tiles of a part of the channels in a product of elements".into());
    }
    let layers = layers_in_turn(&residency.cascaded, index);
    if residency.cascaded[index] && !may_cascade(net, &residency.lifetimes, layers.clone()) {
        return Err("tiles for the next layer, which cannot take them one by one".into());
    }
    if layers.start() < layers.end() && !(tiling.rows_outer && tiling.keeps_weights) {
        return Err("layers that take turns by tiles, but not by rows with all weights kept".into());
    }
    Ok(())
}

/// Checks the mode of constant weights, and the unit.
fn check_form(shape: &LayerShape<'_>, tiling: &Tiling) -> Result<(), Refusal> {
    if let Some(mode) = tiling.mode.filter(|mode| !mode.fits(shape.machine)) {
        let rule = "a mode of {} kernels, which do not divide the {} of the array";
        return Err(Refusal::from(rule).with([mode.kernels.into(), shape.machine.kernels as usize]));
    }
    if tiling.moved && shape.move_cycles(tiling.rows, tiling.kernels).is_none() {
        return Err("the mover for a layer that does not copy slices".into());
    }
    if tiling.serpentine && (tiling.rows_outer && tiling.keeps_weights) {
        return Err("loops back and forth, but nothing that is loaded again".into());
    }
    Ok(())
}

fn check_places(net: &Network, machine: &NpuMachine, residency: &Residency) -> Result<(), (usize, Refusal)> {
    let (size, places) = (machine.sram_bytes as usize, &residency.places);
    let resident: Vec<bool> = places.iter().map(Option::is_some).collect();
    let over = written_over(net, &residency.lifetimes, &resident, &residency.cascaded);
    let range = |id: FeatureId| places[id].map(|at| at..at + net.features[id].sram_bytes().next_multiple_of(ALIGNMENT));
    let turns = |id: FeatureId| in_turns(residency.lifetimes[id], &residency.cascaded);
    let known: Vec<FeatureId> = (0..places.len()).filter(|&id| resident[id]).collect();
    for (i, &id) in known.iter().enumerate() {
        let Some(bytes) = range(id) else { continue };
        let layer = residency.lifetimes[id].0;
        if !may_reside(net, &residency.lifetimes, id) {
            return Err((layer, "a place in SRAM for a result of the program, which goes to DDR".into()));
        }
        if !bytes.start.is_multiple_of(ALIGNMENT) {
            let rule = "bytes from {} on in SRAM, which is no multiple of a word of {}";
            return Err((layer, Refusal::from(rule).with([bytes.start, ALIGNMENT])));
        }
        if bytes.end > size {
            return Err((layer, Refusal::from("bytes up to {} in SRAM of {}").with([bytes.end, size])));
        }
        for &other in &known[..i] {
            let Some(others) = range(other) else { continue };
            let ((a, b), (c, d)) = (turns(id), turns(other));
            let is_shared = over[id] == over[other] && places[id] == places[other];
            if !is_shared && a.max(c) <= b.min(d) && bytes.start.max(others.start) < bytes.end.min(others.end) {
                let rule = "bytes from {} on in SRAM, where a feature from {} on is live";
                let later = layer.max(residency.lifetimes[other].0);
                return Err((later, Refusal::from(rule).with([bytes.start, others.start])));
            }
        }
    }
    Ok(())
}
