//! The parameters of the machine from its description.

use gradus_simulators::npu::{Interlock, NpuMachine};

/// Reads the parameters of a machine description.
///
/// # Errors
/// A number is missing or out of range.
pub fn machine(description: &gradus_cost::Machine) -> Result<NpuMachine, String> {
    let mut machine = NpuMachine { interlock: Interlock::Reject, ..NpuMachine::default() };
    for (key, field) in machine.parameters() {
        let value = description.value(key).map_err(|e| e.to_string())?;
        *field = u32::try_from(value).map_err(|_| format!("'{key}' is too large"))?;
    }
    machine.check().map_err(str::to_owned)?;
    Ok(machine)
}
