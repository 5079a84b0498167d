//! `--verify-roundtrip`: print(parse(print(x))) = print(x).

use crate::io::report;
use crate::{Failure, Streams};
use gradus_ir::{Module, ParseOptions, PrintOptions, first_difference, read_again};

/// Prints the program in both forms, parses the texts, and fails if a parsed program differs.
pub fn check(m: &Module, options: ParseOptions, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let exact = PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() };
    for generic in [false, true] {
        let again = read_again(m, PrintOptions { generic, ..exact }, options);
        let again = again.map_err(|d| report(&m.ctx, &d, streams))?;
        if let Some((a, b)) = first_difference(m, &again, exact) {
            let what = "roundTrip testing roundtripped module differs from reference";
            return Err(Failure::Input(format!("{what}\n  reference: {a}\n  read again: {b}")));
        }
    }
    Ok(())
}
