//! `--verify-roundtrip`: whether a program is the same when it is printed and read again.

use crate::io::report;
use crate::{Failure, Streams};
use gradus_ir::{Module, ParseOptions, PrintOptions, parse_single_op, parse_source};

/// Prints the program in both forms, reads the texts and compares.
pub fn check(m: &Module, options: ParseOptions, streams: &mut Streams<'_>) -> Result<(), Failure> {
    // With locations and in generic form, equal programs have equal texts, and others have not.
    let exact = PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() };
    let reference = m.to_text(exact);
    let parse = if m.name_text(m.root()) == "builtin.module" { parse_source } else { parse_single_op };
    for generic in [false, true] {
        let text = m.to_text(PrintOptions { generic, ..exact });
        let again = parse(&m.ctx, m.ctx.add_source("roundtrip", text.into()), options)
            .map_err(|d| report(&m.ctx, &d, streams))?;
        let found = again.to_text(exact);
        if found != reference {
            return Err(Failure::Input(difference(&reference, &found)));
        }
    }
    Ok(())
}

fn difference(reference: &str, found: &str) -> String {
    let line = reference.lines().zip(found.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let at = |text: &str| text.lines().nth(line).unwrap_or("").trim().to_owned();
    let (a, b) = (at(reference), at(found));
    format!("roundTrip testing roundtripped module differs from reference\n  reference: {a}\n  read again: {b}")
}
