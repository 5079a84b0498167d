//! A network as a program.

use super::constants::image;
use super::emit::emit;
use super::network::Network;
use super::residency::{Residency, choose};
use super::steps::{NoRoom, Steps, divide};
use gradus_simulators::npu::{Inst, Machine};

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

/// Compiles a network.
///
/// # Errors
/// A layer that does not fit into the machine.
pub fn compile(net: &Network, machine: &Machine) -> Result<Program, String> {
    let mut slack = vec![0; net.layers.len()];
    loop {
        let residency = choose(net, machine, &slack)?;
        match divide(net, &residency, machine) {
            Ok(steps) => {
                let instructions = emit(net, &residency, &steps, machine);
                let constants = image(net, &residency, machine);
                return Ok(Program { instructions, constants, residency, steps });
            }
            // Free bytes are scattered: the layer gets more of them.
            Err(NoRoom { layer, bytes }) => slack[layer] += bytes,
        }
    }
}
