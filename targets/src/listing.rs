//! Functions for listings of programs.

use gradus_ir::{Module, Op, OpDecl, PrintOptions, symbols};

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

/// Returns the program of the most instructions among ops of a kind, with its name: `@npu1, the largest of 2 programs`.
pub(crate) fn largest<D: OpDecl>(m: &Module) -> Option<(Op, String)> {
    let all: Vec<Op> = ops_of::<D>(m).collect();
    let op = all.iter().copied().max_by_key(|&op| (m.ops_under(op).len(), std::cmp::Reverse(op)))?;
    let among = if all.len() > 1 { format!(", the largest of {} programs,", all.len()) } else { String::new() };
    Some((op, format!("@{}{among}", name_of(m, op))))
}

/// The name of a program.
pub(crate) fn name_of(m: &Module, op: Op) -> String {
    symbols::symbol_name(m, op).map_or(String::new(), |name| m.ctx.text(name).to_owned())
}
