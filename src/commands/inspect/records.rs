//! Files of address tables as text.

use super::summary::{addresses, lists};
use super::{check_row, shown_extents};
use crate::Failure;
use clap::ArgMatches;
use gradus_networks::addr::{Geometry, StaticAccess};
use gradus_networks::layout::{Addressing, Encoding, SlidingWindow};
use gradus_runtime::table_file::TableRecord;

/// Formats the tables of a file, or that of `--op` with a row.
pub(super) fn shown(tables: &[TableRecord], matches: &ArgMatches) -> Result<String, Failure> {
    if matches.contains_id("svg") || matches.get_flag("disasm") {
        return Err(Failure::Usage("a file of address tables has no program to draw or disassemble".into()));
    }
    let (row, op) = (matches.get_one::<usize>("row").copied(), matches.get_one::<String>("op"));
    if row.is_none() && op.is_none() {
        return Ok(tables.iter().enumerate().map(|(i, one)| summary(i, one) + "\n").collect());
    }
    let wanted = op.map_or("0", String::as_str);
    let found = match wanted.parse::<usize>() {
        Ok(number) => Some(number).filter(|&number| number < tables.len()),
        Err(_) => tables.iter().position(|one| one.info().name == wanted || one.name == wanted),
    };
    let number = found.ok_or_else(|| format!("there is no table '{wanted}' among the {} of the file", tables.len()))?;
    let one = &tables[number];
    check_row(row, number, &one.table)?;
    Ok(summary(number, one) + "\n" + &lists(&one.table, row))
}

/// Formats a table in one line: number, name, op, extents, buffer, encoding, geometry.
fn summary(number: usize, one: &TableRecord) -> String {
    let name = if one.name.is_empty() { String::new() } else { format!("'{}' ", one.name) };
    let kind = match (one.table.addressing(), one.table.encoding()) {
        (Addressing::Separable { .. }, Encoding::Absolute) => "absolute",
        (Addressing::Separable { .. }, Encoding::Running) => "running",
        (Addressing::Indirect { .. }, _) => "indirect",
    };
    let groups = if one.groups == 1 { String::new() } else { format!(" in {} groups", one.groups) };
    let access = StaticAccess { table: one.table.clone(), elements: one.elements.cast_signed() };
    let geometry = one.geometry.as_ref().map_or("unknown geometry".to_owned(), shown_geometry);
    let again = match one.agrees_with_geometry() {
        Some(true) => ", equal to the table of its geometry",
        Some(false) => ", DIFFERENT from the table of its geometry",
        None => "",
    };
    format!(
        "{number}: {name}{}, {}{groups}, {kind}, {}, of {} x {}, {geometry}{again}",
        one.info().name,
        shown_extents(&one.table),
        addresses(&access),
        one.elements,
        one.element,
    )
}

/// Formats a geometry: `conv 1x3x8x8 in NHWC, filter 3x3, stride 1x1, dilation 1x1, from -1,-1, channels-last`.
fn shown_geometry(g: &Geometry) -> String {
    let sizes = joined(g.sizes.iter());
    let mut text = format!("{} {sizes} in {}", g.kind.name(), g.layout.order());
    if !g.windows.is_empty() {
        let all = |of: fn(&SlidingWindow) -> i64| joined(g.windows.iter().map(of));
        text += &format!(
            ", filter {}, stride {}, dilation {}, from {}, {}",
            all(|w| w.taps.cast_signed()),
            all(|w| w.stride.cast_signed()),
            all(|w| w.dilation.cast_signed()),
            g.windows.iter().map(|w| w.start.to_string()).collect::<Vec<_>>().join(","),
            g.order.name()
        );
    }
    text
}

/// Formats numbers, joined by `x`.
fn joined(numbers: impl Iterator<Item = impl ToString>) -> String {
    numbers.map(|n| n.to_string()).collect::<Vec<_>>().join("x")
}
