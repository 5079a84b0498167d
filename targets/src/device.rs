//! Programs of a target's device as binaries: `compile --emit=binary` writes them, `inspect` lists them.

use crate::TargetError;
use gradus_cost::Machine;
use gradus_ir::Module;

/// A program of a device: its name and its binary.
pub type DeviceProgram = (String, Vec<u8>);

/// Describes a binary, which is not trusted; with a machine also its instructions. Returns `None` for a binary of another device.
pub type DescribeBinary = fn(&[u8], Option<&Machine>) -> Result<Option<String>, TargetError>;

/// The binaries of a target's device.
#[derive(Clone, Copy)]
pub struct DeviceBinaries {
    /// Returns the programs of a lowered program.
    pub programs: fn(&Module) -> Result<Vec<DeviceProgram>, TargetError>,
    /// Describes a binary.
    pub describe: DescribeBinary,
}
