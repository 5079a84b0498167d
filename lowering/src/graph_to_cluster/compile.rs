//! From a network to the program of a machine: choices, schedule, places, records.

use super::choose::{Prices, choose};
use super::emit::emit;
use super::image::image;
use super::memory::{Memory, assign};
use super::network::Network;
use super::schedule::{Choices, Group, Schedule, schedule};
use gradus_simulators::cluster::{Machine, Program};

/// A compiled network.
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its choices.
    pub choices: Choices,
    /// Its schedule.
    pub schedule: Schedule,
    /// Its places.
    pub memory: Memory,
}

/// Compiles with given choices.
///
/// # Errors
/// Memory does not suffice.
pub fn compile_with(net: &Network, machine: &Machine, choices: Choices) -> Result<Compiled, String> {
    let schedule = schedule(net, &choices, machine);
    let memory = assign(&schedule, machine).map_err(|m| format!("{} bytes are missing at step {}", m.bytes, m.step))?;
    let image = image(net, &schedule, &choices, &memory, machine)?;
    let program = emit(net, &schedule, &memory, &image, machine.clusters as usize);
    Ok(Compiled { program, choices, schedule, memory })
}

/// The choices without tiles.
pub fn simple(net: &Network, machine: &Machine, prices: Prices) -> Choices {
    Choices {
        splits: choose(net, machine, prices),
        groups: (0..net.layers.len()).map(|l| Group { layers: l..l + 1, tiles: 1 }).collect(),
        in_ddr: vec![false; net.features.len()],
        slice: machine.slice,
    }
}
