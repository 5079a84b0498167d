//! The parameters of the machine from its description.

use crate::offload::set_parameters;
use gradus_simulators::npu::{Interlock, NpuMachine};

/// Reads the parameters of a machine description.
///
/// # Errors
/// A number is missing or out of range.
pub fn machine(description: &gradus_cost::Machine) -> Result<NpuMachine, String> {
    let mut machine = NpuMachine { interlock: Interlock::Reject, ..NpuMachine::default() };
    set_parameters(machine.parameters(), description)?;
    machine.check().map_err(str::to_owned)?;
    Ok(machine)
}
