//! Round trips: comparison of a program with the result of printing and parsing it.

use super::{ParseOptions, PrintOptions, parse_single_op, parse_source};
use crate::module::Module;
use crate::text::diag::Diagnostic;

/// Prints a program and parses the text.
pub fn read_again(m: &Module, print: PrintOptions, parse: ParseOptions) -> Result<Module, Vec<Diagnostic>> {
    let read = if m.name_text(m.root()) == "builtin.module" { parse_source } else { parse_single_op };
    read(&m.ctx, m.ctx.add_source("roundtrip", m.to_text(print).into()), parse)
}

/// Returns the first pair of lines in which the texts of two programs differ, trimmed. In generic form with locations,
/// two programs are equal exactly if their texts are.
pub fn first_difference(m: &Module, n: &Module, print: PrintOptions) -> Option<(String, String)> {
    let (a, b) = (m.to_text(print), n.to_text(print));
    if a == b {
        return None;
    }
    let line = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let at = |text: &str| text.lines().nth(line).unwrap_or("").trim().to_owned();
    Some((at(&a), at(&b)))
}
