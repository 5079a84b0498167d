//! A network as a program.

use super::constants::image;
use super::emit::emit;
use super::network::Network;
use super::residency::{Costs, Residency, choose};
use super::steps::{NoRoom, Steps, divide};
use super::tiling::Weighing;
use gradus_simulators::npu::{Inst, Machine, Simulator};

/// A compiled network.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Instructions.
    pub instructions: Vec<Inst>,
    /// The choices.
    pub residency: Residency,
    /// Constants, from byte 0 of DDR.
    pub constants: Vec<u8>,
    /// The steps and the places in DDR.
    pub steps: Steps,
}

/// The weighings that are tried.
const WEIGHINGS: [Weighing; 6] = [
    Weighing { busiest: 8, each: 1, body: 1, alone: 1 },
    Weighing { busiest: 8, each: 1, body: 0, alone: 4 },
    Weighing { busiest: 8, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 2, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 1, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 8, each: 0, body: 0, alone: 1 },
];

/// Slots for which streams leave bytes alone, if there are others, in the order of trials.
const RESTS: [usize; 2] = [4, 0];

/// Compiles a network: the program of the fewest cycles of those by several weighings.
///
/// # Errors
/// A layer that does not fit into the machine.
pub fn compile(net: &Network, machine: &Machine) -> Result<Program, String> {
    let mut costs = Costs::new(net.layers.len());
    let mut best: Option<(u64, Program)> = None;
    for by in WEIGHINGS {
        let (steps, residency) = fit(net, machine, by, &mut costs)?;
        if best.as_ref().is_some_and(|(_, known)| known.residency == residency) {
            continue;
        }
        let instructions = emit(net, &residency, &steps, machine);
        let counts = Simulator::new(machine.clone()).time(&instructions).map_err(|fault| fault.to_string())?;
        if best.as_ref().is_none_or(|(cycles, _)| counts.cycles < *cycles) {
            best = Some((counts.cycles, Program { instructions, constants: Vec::new(), residency, steps }));
        }
    }
    let (_, mut program) = best.ok_or("no weighing")?;
    program.constants = image(net, &program.residency, machine);
    Ok(program)
}

/// Chooses tiles until the streams of their steps find bytes.
fn fit(net: &Network, machine: &Machine, by: Weighing, costs: &mut Costs) -> Result<(Steps, Residency), String> {
    let mut slack = vec![0; net.layers.len()];
    loop {
        let residency = choose(net, machine, &slack, by, costs)?;
        let divided = RESTS.iter().map(|&rest| divide(net, &residency, machine, rest, &mut costs.prices));
        let mut room = NoRoom { layer: 0, bytes: 0 };
        for steps in divided {
            match steps {
                Ok(steps) => return Ok((steps, residency)),
                Err(no_room) => room = no_room,
            }
        }
        // Free bytes are scattered: the layer gets more of them.
        slack[room.layer] += room.bytes.div_ceil(2);
    }
}
