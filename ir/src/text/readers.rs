//! Comparison of the two readers.

use super::parse::{MAX_ERRORS, UNDEFINED_BLOCK};
use super::parse_op::{MISTYPED, NO_RESULT, UNDECLARED};
use super::type_attr_parser::TOO_DEEP;
use super::{ParseOptions, PrintOptions, Reader, parse_source};
use crate::context::Context;
use crate::module::Module;
use crate::text::diag::Diagnostic;
use std::sync::Arc;

/// The outcome of a reader: the program as text in generic form with locations, or the first error.
type Outcome = Result<String, FirstError>;

/// Starts of messages of errors that are found where a definition or a scope ends, about an earlier line. After another error they
/// depend on where a reader goes on.
const LATE: [&str; 4] = [UNDECLARED, MISTYPED, NO_RESULT, UNDEFINED_BLOCK];

/// The first error of a reader, apart from late ones if there are others.
struct FirstError {
    line: Option<u32>,
    message: String,
    is_late: bool,
    /// Whether the reader stopped at the maximum number of errors.
    is_stopped: bool,
    /// Whether brackets are nested too deep: the grammar measures them ahead, up to where a bracket closes.
    is_too_deep: bool,
}

impl FirstError {
    fn of(ctx: &Context, errors: &[Diagnostic]) -> FirstError {
        let is_late = |error: &Diagnostic| LATE.iter().any(|start| error.message.starts_with(start));
        let first = errors.iter().find(|error| !is_late(error)).or(errors.first());
        let place = first.and_then(|d| d.loc.as_source());
        FirstError {
            line: place.map(|(source, offset)| ctx.source(source).line_col(offset).0),
            message: first.map_or_else(String::new, |d| d.message.clone()),
            is_late: first.is_some_and(is_late),
            is_stopped: errors.len() >= MAX_ERRORS,
            is_too_deep: first.is_some_and(|error| error.message.contains(TOO_DEEP)),
        }
    }

    /// Whether another reader agrees, apart from what depends on limits. A reader that stops does not know which names are declared
    /// later.
    fn agrees(&self, other: &FirstError) -> bool {
        let either = |is: fn(&FirstError) -> bool| is(self) || is(other);
        self.line == other.line || either(|e| e.is_too_deep) || either(|e| e.is_late) && either(|e| e.is_stopped)
    }
}

/// Returns how the two readers disagree on a text: one accepts what the other rejects, the programs differ, or the first
/// errors are on different lines. `None` if they agree.
pub fn disagreement(ctx: &Arc<Context>, text: &str, options: ParseOptions) -> Option<String> {
    let text = Arc::new(text.to_owned());
    let [fast, grammar] = [Reader::Fast, Reader::Grammar].map(|reader| {
        let source = ctx.add_source("text", text.clone());
        outcome(ctx, parse_source(ctx, source, ParseOptions { reader, ..options }))
    });
    match (&fast, &grammar) {
        (Ok(fast), Ok(grammar)) if fast == grammar => None,
        (Ok(fast), Ok(grammar)) => {
            let (a, b) = fast.lines().zip(grammar.lines()).find(|(a, b)| a != b).unwrap_or_default();
            Some(format!("the programs differ:\n  fast: {a}\n  grammar: {b}"))
        }
        (Err(fast), Err(grammar)) if fast.agrees(grammar) => None,
        _ => Some(format!("fast: {}\n  grammar: {}", shown(&fast), shown(&grammar))),
    }
}

fn outcome(ctx: &Context, read: Result<Module, Vec<Diagnostic>>) -> Outcome {
    let print = PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() };
    read.map(|m| m.to_text(print)).map_err(|errors| FirstError::of(ctx, &errors))
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "accepted".to_owned(),
        Err(FirstError { line, message, .. }) => format!("line {}: {message}", line.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_feed_is_no_blank() {
        let ctx = Context::new(&[]);
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        for text in [
            "\"t.x\"() {a = () -> ()\u{c}} : () -> ()",
            "\"t.x\"() {a = dense<\"0x00\"\u{c}> : tensor<1xi8>} : () -> ()",
        ] {
            assert_eq!(disagreement(&ctx, text, options), None, "{text}");
            assert!(parse_source(&ctx, ctx.add_source("text", Arc::new(text.to_owned())), options).is_err(), "{text}");
        }
    }
}
