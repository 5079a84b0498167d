//! Whether a program is the same when it is printed and read again.

use super::{ParseOptions, PrintOptions, parse_single_op, parse_source};
use crate::diag::Diagnostic;
use crate::module::Module;

/// The program that is read from what is printed of a program.
pub fn read_again(m: &Module, print: PrintOptions, parse: ParseOptions) -> Result<Module, Vec<Diagnostic>> {
    let read = if m.name_text(m.root()) == "builtin.module" { parse_source } else { parse_single_op };
    read(&m.ctx, m.ctx.add_source("roundtrip", m.to_text(print).into()), parse)
}

/// The first line in which the texts of two programs differ, without the spaces around it. In generic form with locations,
/// equal programs have equal texts, and others have not.
pub fn first_difference(m: &Module, n: &Module, print: PrintOptions) -> Option<(String, String)> {
    let (a, b) = (m.to_text(print), n.to_text(print));
    if a == b {
        return None;
    }
    let line = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let at = |text: &str| text.lines().nth(line).unwrap_or("").trim().to_owned();
    Some((at(&a), at(&b)))
}
