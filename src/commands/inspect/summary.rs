//! Address tables as text.

use super::{TableUser, shown_extents};
use crate::columns::in_columns;
use gradus_ir::{Attr, Module, OpArgs, Str, Traits};
use gradus_networks::addr::StaticAccess;
use gradus_networks::layout::{AddressTable, Addressing, ZERO_PAGE, deltas};
use std::collections::BTreeSet;

/// Maximum number of list entries, and of table rows, that are printed.
const SHOWN: [usize; 2] = [64, 8];

/// Names of the operands that are tables.
const TABLES: [&str; 3] = ["base", "relative", "bases"];

/// Returns the constant tables of an op.
fn tables_of(args: &OpArgs<'_>) -> impl Iterator<Item = Attr> {
    TABLES.into_iter().filter_map(|name| args.module.constant(args.opt_operand(name)?))
}

/// Number and total bytes of distinct constants.
#[derive(Default)]
struct Tally {
    seen: BTreeSet<Attr>,
    bytes: u64,
}

impl Tally {
    /// Counts a constant once.
    fn add(&mut self, m: &Module, attr: Attr) {
        if self.seen.insert(attr) {
            self.bytes = self.bytes.saturating_add(bytes(m, attr));
        }
    }

    /// Formats as `2 tables, 52 bytes`.
    fn show(&self, what: &str) -> String {
        let s = if self.seen.len() == 1 { "" } else { "s" };
        format!("{} {what}{s}, {} bytes", self.seen.len(), self.bytes)
    }
}

/// Returns the size in bytes of a constant tensor.
fn bytes(m: &Module, attr: Attr) -> u64 {
    let Some(ty) = m.ctx.attr_type(attr).filter(|&ty| m.ctx.is_shaped(ty)) else { return 0 };
    let size = m.ctx.dtype(m.ctx.element_type(ty)).map_or(0, |dtype| dtype.size() as u64);
    let extents = m.ctx.static_shape(ty).unwrap_or(&[0]);
    extents.iter().fold(size, |n, &d| n.saturating_mul(u64::try_from(d).unwrap_or(0)))
}

/// Lists all ops that read through tables, by function, and the constants of the program.
pub(super) fn program(m: &Module, found: &[TableUser]) -> String {
    let rows = in_columns(&found.iter().map(|one| columns(m, one)).collect::<Vec<_>>());
    let (mut text, mut function) = (String::new(), None);
    for (one, row) in found.iter().zip(rows.lines()) {
        if function != Some(one.function) {
            function = Some(one.function);
            text += &format!("@{}\n", one.function.map_or("", |name| m.ctx.text(name)));
        }
        text += &format!("  {row}\n");
    }
    if found.is_empty() {
        text += "no op reads by tables; --target compiles a program to such ops\n";
    }
    text + &constants(m, found)
}

/// Returns the columns for an op: number, name, extents, buffer, addresses, tables.
fn columns(m: &Module, one: &TableUser) -> [String; 6] {
    let mut tables = Tally::default();
    if let Some(args) = m.args(one.op) {
        tables_of(&args).for_each(|attr| tables.add(m, attr));
    }
    let (extents, addresses) = match StaticAccess::of(m, one.op) {
        Some(reads) => (shown_extents(&reads.table), addresses(&reads)),
        None => ("non-constant tables".into(), String::new()),
    };
    [
        one.number.to_string(),
        one.name.clone(),
        extents,
        format!("of {}", one.shown_buffer(m)),
        addresses,
        tables.show("table"),
    ]
}

/// Formats as `addresses 0 to 15 of 16: inside`.
pub(super) fn addresses(reads: &StaticAccess<'_>) -> String {
    let Some([low, high]) = reads.table.span() else { return "reads nothing".into() };
    let of = if reads.elements == i64::MAX { "an unknown number".into() } else { reads.elements.to_string() };
    match reads.check() {
        Ok(()) if reads.elements == i64::MAX => format!("addresses {low} to {high} of {of}"),
        Ok(()) => format!("addresses {low} to {high} of {of}: inside"),
        Err(_) => format!("addresses {low} to {high} of {of}: OUTSIDE"),
    }
}

/// Returns the total bytes of constants, by kind.
fn constants(m: &Module, found: &[TableUser]) -> String {
    let [mut tables, mut weights, mut others] = [(); 3].map(|()| Tally::default());
    for one in found {
        if let Some(args) = m.args(one.op) {
            tables_of(&args).for_each(|attr| tables.add(m, attr));
        }
    }
    let is_constant = |&op: &gradus_ir::Op| m.has_trait(op, Traits::CONSTANT_LIKE);
    for op in m.ops_under(m.root()).into_iter().filter(is_constant) {
        let Some(attr) = m.ctx.dict_get(m.props(op), Str::VALUE) else { continue };
        let Some(ty) = m.ctx.attr_type(attr).filter(|&ty| m.ctx.is_shaped(ty)) else { continue };
        let elem = m.ctx.element_type(ty);
        if tables.seen.contains(&attr) {
            continue;
        }
        // Weights are floats, or bytes that represent them; other constants are extents and indices.
        let is_weight = m.ctx.float_kind(elem).is_some() || m.ctx.int_width(elem) == Some(8);
        if is_weight { &mut weights } else { &mut others }.add(m, attr);
    }
    format!("constants: {}; {}; {}\n", tables.show("table"), weights.show("weight"), others.show("other"))
}

/// Formats the tables of an op, and the addresses that one row reads.
pub(super) fn tables(m: &Module, one: &TableUser, reads: &StaticAccess<'_>, row: Option<usize>) -> String {
    let (name, buffer) = (&one.name, one.shown_buffer(m));
    let extents = shown_extents(&reads.table);
    format!("op {}: {name}, {extents} of {buffer}, {}\n", one.number, addresses(reads)) + &lists(&reads.table, row)
}

/// Formats the lists of a table, and the addresses that one row reads.
pub(super) fn lists(table: &AddressTable<'_>, row: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, numbers: &mut dyn Iterator<Item = Option<i64>>, count| {
        text += &format!("{name:<10}{}\n", list(numbers, count));
    };
    match table.addressing() {
        Addressing::Separable { base, relative } => {
            for (name, list) in [("base", &**base), ("relative", relative), ("running", &deltas(relative))] {
                line(name, &mut list.iter().map(|&at| Some(at.into())), list.len());
            }
        }
        Addressing::Indirect { bases, runs, .. } => {
            for (row, of_row) in bases.chunks((*runs).max(1)).enumerate().take(SHOWN[1]) {
                let there = |&at: &i32| (at != ZERO_PAGE).then_some(at.into());
                line(&format!("bases {row}"), &mut of_row.iter().map(there), of_row.len());
            }
            if let Some(more @ 1..) = table.rows().checked_sub(SHOWN[1]) {
                text += &format!("... ({more} more rows)\n");
            }
        }
    }
    if let Some(row) = row {
        text += &format!("row {row} reads {}\n", list(&mut table.row(row), table.depth()));
    }
    text
}

/// Formats a truncated list, with `-` for padding.
fn list(numbers: &mut dyn Iterator<Item = Option<i64>>, count: usize) -> String {
    let shown = numbers.take(SHOWN[0]).map(|at| at.map_or("-".to_owned(), |at| at.to_string()));
    let text = shown.collect::<Vec<_>>().join(" ");
    match count.checked_sub(SHOWN[0]) {
        Some(more @ 1..) => format!("{text} ... ({more} more)"),
        _ => text,
    }
}
