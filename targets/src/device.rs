//! Programs of a target's device as binaries: `compile --emit=binary` writes them, `inspect` lists them.

use crate::TargetError;
use gradus_cost::Machine;
use gradus_ir::Module;
pub use gradus_simulators::Binary;
use std::fmt::Write;

/// The binaries of a target's device.
#[derive(Clone, Copy)]
pub struct DeviceBinaries {
    /// Returns the programs of a lowered program, each with its name.
    pub programs: fn(&Module) -> Result<Vec<(String, Binary)>, TargetError>,
    /// Lists the instructions of a binary, which is not trusted, for a machine.
    pub instructions: fn(&Binary, &Machine) -> Result<String, TargetError>,
    /// Names of the sections, the last of which stand for themselves; those before them have the first name.
    pub sections: &'static [&'static str],
}

impl DeviceBinaries {
    /// Describes a binary: its machine, and the bytes of its sections.
    pub fn summary(&self, binary: &Binary) -> String {
        let mut text = format!("machine {}, hash {:016x}\n", binary.machine, binary.hash);
        let repeated = (binary.sections.len() + 1).saturating_sub(self.sections.len());
        for (i, section) in binary.sections.iter().enumerate() {
            let name = match i.checked_sub(repeated) {
                Some(after) => self.sections.get(after + 1).copied().unwrap_or_default().to_owned(),
                None if repeated > 1 => format!("{} {i}", self.sections[0]),
                None => self.sections[0].to_owned(),
            };
            let _ = writeln!(text, "{name}: {} bytes", section.len());
        }
        text
    }
}
