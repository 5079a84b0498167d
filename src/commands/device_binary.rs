//! Binaries of devices as input files: `.bin`, which `compile --emit=binary` writes.

use crate::io::{read, report};
use crate::target::{check_machine, machine};
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_ir::{Context, Module, verify};
use gradus_targets::{DeviceBinaries, Target, TargetError};
use std::path::Path;
use std::sync::Arc;

/// Whether a file is a binary of a device, by its name.
pub fn is_binary(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "bin")
}

/// Returns what the device of a binary's target makes of it: `f` returns `None` for binaries of other devices.
fn of_device<T>(
    tool: &Tool,
    file: &str,
    mut f: impl FnMut(&'static Target, DeviceBinaries) -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    for &target in &tool.targets {
        let Some(device) = target.device else { continue };
        if let Some(found) = f(target, device)? {
            return Ok(found);
        }
    }
    Err(refused(file, &"no target has such a device".into()))
}

fn refused(file: &str, why: &TargetError) -> Failure {
    Failure::Input(format!("'{file}': {why}"))
}

/// Describes a binary; with `--disasm` also its instructions.
pub fn describe(tool: &Tool, matches: &ArgMatches, file: &str, streams: &mut Streams<'_>) -> Result<String, Failure> {
    let bytes = read(file, streams)?;
    let is_listed = matches.get_flag("disasm");
    of_device(tool, file, |target, device| {
        let machine = is_listed.then(|| machine(tool, &tool.context(), target, matches, streams)).transpose()?;
        (device.describe)(&bytes, machine.as_ref()).map_err(|why| refused(file, &why))
    })
}

/// Reads and verifies the program of a binary, for the machine of a context; its function `main` is the call of the program.
pub fn open(
    tool: &Tool,
    ctx: &Arc<Context>,
    file: &str,
    requested: Option<&Target>,
    streams: &mut Streams<'_>,
) -> Result<(Module, &'static Target), Failure> {
    let bytes = read(file, streams)?;
    let (m, target) = of_device(tool, file, |target, device| {
        let machine = target.cost.machine(ctx).map_err(|why| refused(file, &why.into()))?;
        let m = (device.read)(ctx, &bytes, &machine).map_err(|why| refused(file, &why))?;
        Ok(m.map(|m| (m, target)))
    })?;
    let name = target.cost.name;
    if let Some(requested) = requested.filter(|requested| requested.cost.name != name) {
        return Err(Failure::Usage(format!("'{file}' is a program of '{name}', not of '{}'", requested.cost.name)));
    }
    check_machine(ctx, Some(target))?;
    verify(&m).map_err(|errors| report(ctx, &errors, streams))?;
    Ok((m, target))
}
