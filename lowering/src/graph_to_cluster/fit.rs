//! Choices that fit into the memory of a cluster: features go to DDR between groups, and groups are executed by tiles.

use super::memory::live_bytes_of;
use super::network::{Edges, FeatureId, Layer, LayerId, Network, Role};
use super::schedule::{Choices, InstanceId, Schedule, TiledLayers, schedule};
use gradus_ir::Refusal;
use gradus_simulators::cluster::ClusterMachine;

/// Largest number of changes.
const ROUNDS: usize = 400;

/// Percentage of the memory into which the live bytes of a step must fit; the rest is for gaps between offsets.
const SHARE: u64 = 97;

/// Least bytes of constants that are read at once.
const LEAST_SLICE: u32 = 4096;

/// The op because of which a network is not compiled, by number among those of the program, and the reason.
pub type Failure = (usize, Refusal);

/// Changes choices until each step fits: the largest feature that a step does not access goes to DDR first, then the step's group
/// is executed by more tiles, then features that it accesses go to DDR.
///
/// # Errors
/// The missing bytes and the op that needs them.
pub fn fit(net: &Network, choices: &mut Choices, machine: &ClusterMachine) -> Result<(), Failure> {
    let limit = u64::from(machine.spm - machine.reserved) * SHARE / 100;
    let edges = net.edges();
    for _ in 0..ROUNDS {
        separate(net, choices, &edges);
        let schedule = schedule(net, choices, machine);
        let live = live_bytes_of(&schedule, machine);
        let Some((at, most)) = live.into_iter().enumerate().max_by_key(|&(i, n)| (n, usize::MAX - i)) else {
            return Ok(());
        };
        if most <= limit {
            return Ok(());
        }
        if !relieve(net, choices, &schedule, at) {
            let layer = &net.layers[schedule.steps[at].layer];
            let rule = "{} bytes more than there are in a cluster's memory";
            return Err((layer.source(), Refusal::from(rule).with([(most - limit) as usize])));
        }
    }
    let source = net.layers.first().map_or(0, Layer::source);
    Err((source, "a program that does not fit into the bytes of the clusters' memories".into()))
}

/// Splits groups until all that a layer reads of a feature in DDR is either written by its own group, or by others.
pub fn separate(net: &Network, choices: &mut Choices, edges: &Edges) {
    let mut groups = Vec::new();
    for TiledLayers { layers, tiles } in std::mem::take(&mut choices.groups) {
        let mut first = layers.start;
        for l in layers.clone() {
            let is_of_both = |id: FeatureId| {
                let own = |source: &LayerId| (first..l).contains(source);
                choices.in_ddr[net.root(id).whole]
                    && net.sources(edges, l, id).any(|source| own(&source))
                    && !net.sources(edges, l, id).all(|source| own(&source))
            };
            if net.layers[l].reads().any(is_of_both) {
                groups.push(TiledLayers { layers: first..l, tiles });
                first = l;
            }
        }
        groups.push(TiledLayers { layers: first..layers.end, tiles });
    }
    choices.groups = groups;
}

/// Makes a step need less memory. Whether that was possible.
fn relieve(net: &Network, choices: &mut Choices, schedule: &Schedule, at: usize) -> bool {
    let step = &schedule.steps[at];
    let accessed: Vec<InstanceId> = [step.input, step.output].into_iter().chain(step.others.iter().copied()).collect();
    let is_live = |&i: &InstanceId| schedule.instances[i].steps[0] <= at && at <= schedule.instances[i].steps[1];
    let largest = |list: &mut dyn Iterator<Item = InstanceId>, choices: &Choices| {
        list.filter(|&i| can_spill(net, choices, schedule.instances[i].root))
            .max_by_key(|&i| schedule.instances[i].bytes)
    };
    let mut idle = (0..schedule.instances.len()).filter(is_live).filter(|i| !accessed.contains(i));
    if let Some(i) = largest(&mut idle, choices) {
        choices.in_ddr[schedule.instances[i].root] = true;
        return true;
    }
    let group = choices.groups.iter_mut().find(|g| g.layers.contains(&step.layer));
    let rows = net.features[net.layers[step.layer].output].extents[0];
    let is_tiled = |i: &InstanceId| {
        let root = schedule.instances[*i].root;
        choices.in_ddr[root] || matches!(net.features[root].role, Role::Operand(_))
    };
    if let Some(group) =
        group.filter(|g| g.tiles < rows && accessed.iter().any(is_tiled) && net.can_tile(g.layers.clone()))
    {
        let slice = step.slice.map_or(0, |s| schedule.slices[s].bytes());
        let features = accessed.iter().map(|&i| schedule.instances[i].bytes).max().unwrap_or(0);
        if features >= slice {
            group.tiles = (group.tiles * 2).min(rows);
            return true;
        }
    }
    if let Some(i) = largest(&mut accessed.iter().copied(), choices) {
        choices.in_ddr[schedule.instances[i].root] = true;
        return true;
    }
    let is_smaller = choices.slice > LEAST_SLICE;
    choices.slice = (choices.slice / 2).max(LEAST_SLICE);
    is_smaller
}

/// Whether a feature can go to DDR.
fn can_spill(net: &Network, choices: &Choices, root: FeatureId) -> bool {
    net.features[root].role == Role::Inner && !choices.in_ddr[root] && !net.is_interleaved(root)
}
