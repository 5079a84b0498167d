//! Comparison of the two readers.

use super::{ParseOptions, PrintOptions, Reader, parse_source};
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::module::Module;
use std::sync::Arc;

/// The outcome of a reader: the program as text in generic form with locations, or the line of the first error and its
/// message.
type Outcome = Result<String, (Option<u32>, String)>;

/// Returns how the two readers disagree on a text: one accepts what the other rejects, the programs differ, or the first
/// errors are on different lines. `None` if they agree.
pub fn disagreement(ctx: &Arc<Context>, text: &str, options: ParseOptions) -> Option<String> {
    let text = Arc::new(text.to_owned());
    let [fast, grammar] = [Reader::Fast, Reader::Grammar].map(|reader| {
        let source = ctx.add_source("text", text.clone());
        outcome(ctx, parse_source(ctx, source, ParseOptions { reader, ..options }))
    });
    let line = |outcome: &Outcome| outcome.as_ref().err().and_then(|(line, _)| *line);
    match (&fast, &grammar) {
        (Ok(fast), Ok(grammar)) if fast == grammar => None,
        (Ok(fast), Ok(grammar)) => {
            let (a, b) = fast.lines().zip(grammar.lines()).find(|(a, b)| a != b).unwrap_or_default();
            Some(format!("the programs differ:\n  fast: {a}\n  grammar: {b}"))
        }
        (Err(_), Err(_)) if line(&fast) == line(&grammar) => None,
        _ => Some(format!("fast: {}\n  grammar: {}", shown(&fast), shown(&grammar))),
    }
}

fn outcome(ctx: &Context, read: Result<Module, Vec<Diagnostic>>) -> Outcome {
    match read {
        Ok(m) => Ok(m.to_text(PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() })),
        Err(errors) => {
            let first = errors.first();
            let place = first.and_then(|d| d.loc.as_source());
            let line = place.map(|(source, offset)| ctx.source(source).line_col(offset).0);
            Err((line, first.map_or_else(String::new, |d| d.message.clone())))
        }
    }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "accepted".to_owned(),
        Err((line, message)) => format!("line {}: {message}", line.unwrap_or(0)),
    }
}
