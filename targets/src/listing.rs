//! Functions for listings of programs and binaries.

use crate::TargetError;
use gradus_cost::Machine;
use gradus_ir::{Module, Op, OpDecl, PrintOptions, symbols};
use gradus_simulators::Binary;
use std::fmt::Write;

/// Constants of more elements are left out of listings.
const MAX_ELEMENTS: usize = 16;

/// Returns the ops of a kind in a program.
pub(crate) fn ops_of<D: OpDecl>(m: &Module) -> impl Iterator<Item = Op> + use<'_, D> {
    m.ops_under(m.root()).into_iter().filter(|&op| D::cast(m, op).is_some())
}

/// Lists ops of programs.
pub(crate) fn list(m: &Module, ops: impl Iterator<Item = Op>) -> String {
    let elide = Some(MAX_ELEMENTS);
    let options = PrintOptions { elide_elements: elide, elide_resources: elide, ..PrintOptions::default() };
    ops.map(|op| m.op_text(op, options) + "\n").collect()
}

/// The name of a program.
pub(crate) fn name_of(m: &Module, op: Op) -> String {
    symbols::symbol_name(m, op).map_or(String::new(), |name| m.ctx.text(name).to_owned())
}

/// Describes a binary of the device `name`: its machine, the bytes of its sections and, with a machine, its instructions. The first name
/// of sections stands for all of them before the others.
pub(crate) fn describe(
    bytes: &[u8],
    (name, sections): (&str, &[&str]),
    machine: Option<&Machine>,
    instructions: fn(&Binary, &Machine) -> Result<String, TargetError>,
) -> Result<Option<String>, TargetError> {
    let binary = Binary::read(bytes).map_err(|error| error.to_string())?;
    if binary.machine != name {
        return Ok(None);
    }
    let mut text = format!("machine {name}, hash {:016x}\n", binary.hash);
    let repeated = (binary.sections.len() + 1).saturating_sub(sections.len());
    for (i, section) in binary.sections.iter().enumerate() {
        let name = match i.checked_sub(repeated) {
            Some(after) => sections.get(after + 1).copied().unwrap_or_default().to_owned(),
            None if repeated > 1 => format!("{} {i}", sections[0]),
            None => sections[0].to_owned(),
        };
        let _ = writeln!(text, "{name}: {} bytes", section.len());
    }
    let listed = machine.map(|machine| instructions(&binary, machine)).transpose()?;
    Ok(Some(text + &listed.unwrap_or_default()))
}
