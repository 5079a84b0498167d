//! What listings of programs share.

use gradus_ir::{Module, Op, PrintOptions, symbols};

/// Constants of more elements are left out of listings.
const MAX_ELEMENTS: usize = 16;

/// Lists ops of programs.
pub(crate) fn list(m: &Module, ops: impl Iterator<Item = Op>) -> String {
    let elide = Some(MAX_ELEMENTS);
    let options = PrintOptions { elide_elements: elide, elide_resources: elide, ..PrintOptions::default() };
    ops.map(|op| m.op_text(op, options.clone()) + "\n").collect()
}

/// The name of a program.
pub(crate) fn name_of(m: &Module, op: Op) -> String {
    symbols::symbol_name(m, op).map_or(String::new(), |name| m.ctx.text(name).to_owned())
}
