//! Choices as attributes, and those that are given: whether the machine and the network allow them.

use super::choose::{compute_cycles, leaders};
use super::compile::Compiled;
use super::fit::separate;
use super::network::{Layer, Network, Role};
use super::region::Region;
use super::schedule::{Choices, TiledLayers};
use super::search::RejectedDivisions;
use super::split::Split;
use crate::layers::LayerFigures;
use gradus_ir::{Attr, Refusal};
use gradus_machines::cluster::{LayerSplit, Reads};
use gradus_simulators::cluster::ClusterMachine;

/// Steps of the planner by default.
const EFFORT: u32 = 1_500_000;

/// Number of tiles that layers of fewer rows may have too, since a layer before them may have more.
const MAX_TILES: u32 = 8;

/// Returns how constants are read by default.
pub fn default_reads(machine: &ClusterMachine) -> Reads {
    Reads { slice: machine.slice, fill: 100, effort: EFFORT }
}

/// Returns the choices for each layer, and for the program.
pub fn splits_of(net: &Network, compiled: &Compiled) -> (Vec<LayerSplit>, Reads) {
    let choices = &compiled.choices;
    let of_layer = |l: usize| {
        let (split, group) = (choices.splits[l], choices.groups.iter().find(|group| group.layers.contains(&l)));
        LayerSplit {
            axis: split.inner,
            clusters: split.clusters,
            groups: split.groups,
            outer: (split.groups > 1).then_some(split.outer),
            tiles: group.map_or(1, |group| group.tiles),
            joins_next: group.is_some_and(|group| group.layers.end > l + 1),
            to_ddr: choices.in_ddr[net.root(net.layers[l].output).whole],
        }
    };
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let reads = Reads { slice: choices.slice, fill: small(choices.fill), effort: small(compiled.effort) };
    ((0..net.layers.len()).map(of_layer).collect(), reads)
}

/// Returns figures of each layer by itself, without the exchange with others, and the divisions of the fastest other programs.
pub fn figures(
    net: &Network,
    machine: &ClusterMachine,
    (compiled, rejected): (&Compiled, &RejectedDivisions),
    to_attr: &dyn Fn(&LayerSplit) -> Attr,
) -> Vec<LayerFigures> {
    let (splits, _) = splits_of(net, compiled);
    let of_layer = |(l, layer): (usize, &Layer)| {
        let whole = Region::whole(net.features[layer.output].extents);
        let slowest = |split: &Split| {
            let boxes = split.boxes(&whole, machine.clusters);
            boxes.iter().map(|b| compute_cycles(net, layer, b, machine)).max().unwrap_or(0)
        };
        let chosen = compiled.choices.splits[l];
        let rejected = rejected.get(l).copied().flatten().map(|(split, cycles)| {
            let outer = (split.groups > 1).then_some(split.outer);
            let Split { inner, groups, clusters, .. } = split;
            (to_attr(&LayerSplit { axis: inner, clusters, groups, outer, ..splits[l] }), cycles)
        });
        let (input, cycles) = (&net.features[layer.input], slowest(&chosen));
        let rate = machine.product_rate(input.elem, layer.depth()) * u64::from(machine.clusters);
        let bound = u64::from(machine.task) + (layer.products(&whole) * 100).div_ceil(rate);
        LayerFigures { cycles, bound: bound.min(cycles), rejected }
    };
    net.layers.iter().enumerate().map(of_layer).collect()
}

/// Returns the choices of which each layer has its part, and the steps of the planner.
///
/// # Errors
/// A layer for which its choices are not possible, and the rule.
pub fn choices_of(
    net: &Network,
    machine: &ClusterMachine,
    splits: &[LayerSplit],
    reads: Reads,
) -> Result<(Choices, u64), (usize, Refusal)> {
    let edges = net.edges();
    let leaders = leaders(net, &edges);
    let mut in_ddr: Vec<Option<bool>> = vec![None; net.features.len()];
    for (l, (layer, split)) in net.layers.iter().zip(splits).enumerate() {
        let refuse = |refusal: Refusal| Err((l, refusal));
        let extents = net.features[layer.output].extents;
        let divided = division_of(split);
        if split.clusters > machine.clusters {
            let rule = "a division among {} clusters of {}";
            return refuse(Refusal::from(rule).with([split.clusters as usize, machine.clusters as usize]));
        }
        if divided.divides_channels() && !layer.divides_channels() {
            return refuse("a division of channels that are computed together".into());
        }
        if leaders[l].is_some_and(|leader| division_of(&splits[leader]) != divided) {
            return refuse("a division other than that of the layer that writes the channels between its own".into());
        }
        if leaders[l].is_some() && divided.divides_channels() {
            return refuse("a division of channels that are between those of another layer".into());
        }
        if split.tiles > MAX_TILES.max(extents[0]) {
            return refuse(Refusal::from("{} tiles of {} rows").with([split.tiles as usize, extents[0] as usize]));
        }
        let root = net.root(layer.output).whole;
        if split.to_ddr && (net.features[root].role != Role::Inner || net.is_interleaved(root)) {
            return refuse("a result that cannot go to DDR by layers".into());
        }
        if *in_ddr[root].get_or_insert(split.to_ddr) != split.to_ddr {
            return refuse("a memory other than that of the other parts of its feature".into());
        }
    }
    let choices = Choices {
        splits: splits.iter().map(division_of).collect(),
        groups: groups(net, splits)?,
        in_ddr: in_ddr.into_iter().map(|to_ddr| to_ddr.unwrap_or(false)).collect(),
        slice: reads.slice,
        fill: u64::from(reads.fill),
    };
    let mut separated = choices.clone();
    separate(net, &mut separated, &edges);
    if let Some((new, _)) = separated.groups.iter().zip(&choices.groups).find(|(new, old)| new != old) {
        let rule = "turns with layers of which it reads in DDR, beside what layers before them wrote";
        return Err((new.layers.end.min(net.layers.len() - 1), rule.into()));
    }
    Ok((choices, u64::from(reads.effort)))
}

fn division_of(split: &LayerSplit) -> Split {
    let outer = split.outer.unwrap_or(if split.axis == 2 { 0 } else { 2 });
    Split { outer, inner: split.axis, groups: split.groups, clusters: split.clusters }
}

/// The layers that take turns by tiles.
fn groups(net: &Network, splits: &[LayerSplit]) -> Result<Vec<TiledLayers>, (usize, Refusal)> {
    let mut groups: Vec<TiledLayers> = Vec::new();
    for (l, split) in splits.iter().enumerate() {
        let joins = l > 0 && splits[l - 1].joins_next;
        match groups.last_mut().filter(|_| joins) {
            Some(group) if group.tiles != split.tiles => {
                let rule = "{} tiles, but {} of the layer with which it takes turns";
                return Err((l, Refusal::from(rule).with([split.tiles as usize, group.tiles as usize])));
            }
            Some(group) => group.layers.end = l + 1,
            None => groups.push(TiledLayers { layers: l..l + 1, tiles: split.tiles }),
        }
        let is_tiled = split.tiles > 1 || split.joins_next;
        if is_tiled && !net.can_tile(l..l + 1) {
            return Err((l, "tiles of a layer whose channels are between those of another one".into()));
        }
        if split.joins_next && l + 1 == splits.len() {
            return Err((l, "turns with a next layer, but there is none".into()));
        }
    }
    Ok(groups)
}
