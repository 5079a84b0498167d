//! Programs of a target's device as binaries: `compile --emit=binary` writes them, `inspect` lists them, `run` executes them.

use crate::TargetError;
use gradus_cost::Machine;
use gradus_ir::{Context, Module};
use std::sync::Arc;

/// A program of a device: its name and its binary.
pub type DeviceProgram = (String, Vec<u8>);

/// Describes a binary, which is not trusted; with a machine also its instructions. Returns `None` for a binary of another device.
pub type DescribeBinary = fn(&[u8], Option<&Machine>) -> Result<Option<String>, TargetError>;

/// Reads a binary for a machine, which is not trusted, as a lowered program: its function `main` calls the program of the binary. The
/// verifier checks it further. Returns `None` for a binary of another device.
pub type ReadBinary = fn(&Arc<Context>, &[u8], &Machine) -> Result<Option<Module>, TargetError>;

/// The binaries of a target's device.
#[derive(Clone, Copy)]
pub struct DeviceBinaries {
    /// Returns the programs that a lowered program calls.
    pub programs: fn(&Module) -> Result<Vec<DeviceProgram>, TargetError>,
    /// Describes a binary.
    pub describe: DescribeBinary,
    /// Reads a binary.
    pub read: ReadBinary,
}
