//! The parser that pest generates from `grammar.pest`, and its error messages.
#![allow(unreachable_pub, missing_docs, reason = "the generated code is what it is")]

use super::source::{Source, bracket_window, string_end};
use super::{MAX_DEPTH, ParseError, stack_of, too_deep};
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};

#[derive(pest_derive::Parser)]
#[grammar = "text/grammar.pest"]
pub(crate) struct Grammar;

/// Converts a pest error to a message with an offset.
pub(super) fn explain(src: &Source<'_>, error: &Error<Rule>) -> ParseError {
    let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
    let wanted = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { message } => return ParseError::new(src.full_offset(at), message.clone()),
    };
    let mut words: Vec<&str> = wanted.iter().map(|&rule| describe(rule)).collect();
    words.sort_unstable();
    words.dedup();
    // "attribute value" subsumes the tokens that begin an attribute.
    if words.contains(&"attribute value") {
        words = vec!["attribute value"];
    }
    let offset = src.full_offset(at);
    let rest = &src.text[at..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && words.contains(&"dimensions") {
        return ParseError::new(src.full_offset(at + digits), "expected 'x' in dimension list");
    }
    let found = match rest.chars().next() {
        None => "but the text ends here".to_string(),
        Some('"') if !string_is_closed(rest) => return ParseError::new(offset, "expected '\"' in string literal"),
        Some(c) if c.is_control() => format!("found '{}'", c.escape_default()),
        Some(c) => format!("found '{c}'"),
    };
    ParseError::new(
        offset,
        match words.as_slice() {
            [] => format!("unexpected text: {found}"),
            words => format!("expected {}, {found}", words.join(" or ")),
        },
    )
}

/// Whether the string literal at the start of a text ends on its line.
fn string_is_closed(text: &str) -> bool {
    text[..string_end(text.as_bytes(), 1)].ends_with('"')
}

/// Returns the name of a rule in messages.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "nothing more",
        Rule::string => "string literal",
        Rule::simple | Rule::array | Rule::dict | Rule::symbol => "attribute value",
        Rule::keyword | Rule::dense | Rule::dense_array | Rule::affine_map | Rule::affine_set => "attribute value",
        Rule::location | Rule::strided | Rule::distinct | Rule::sparse | Rule::dense_resource => "attribute value",
        Rule::type_attr => "attribute value",
        Rule::number_type | Rule::scalar_type | Rule::dialect_type | Rule::tensor_type | Rule::memref_type => {
            "non-function type"
        }
        Rule::vector_type | Rule::tuple_type | Rule::complex_type | Rule::function_type => "non-function type",
        Rule::shape | Rule::vector_shape | Rule::unranked => "dimensions",
        Rule::type_group => "non-function type",
        Rule::entry => "attribute name",
        Rule::ident => "identifier",
        Rule::integer | Rule::literal => "number",
        Rule::symbol_name => "symbol name",
        Rule::angle => "a body in '<' and '>'",
        Rule::stride | Rule::strides => "a 64-bit signed integer or '?'",
        Rule::dims => "'(' dimensions ')'",
        Rule::symbols => "'[' symbols ']'",
        Rule::expr | Rule::term | Rule::negate => "affine expression",
        Rule::sum_op | Rule::product_op => "affine operator",
        Rule::constraint => "affine constraint",
        Rule::relation => "'==' or '>=' or '<='",
        Rule::loc_unknown | Rule::loc_file | Rule::loc_name | Rule::loc_fused | Rule::loc_callsite => {
            "location instance"
        }
        Rule::dialect_name => "an attribute's name",
        Rule::loc_metadata => "location metadata",
        Rule::loc_end | Rule::loc_end_column => "either integer or `:` post `to` in FileLineColRange",
        _ => "something else",
    }
}

/// Returns the length in bytes of the token that a rule without recursion finds at the start of a text; 0 if there is
/// none.
pub(crate) fn token_len(rule: Rule, text: &str) -> usize {
    let pair = Grammar::parse(rule, text).ok().and_then(|mut pairs| pairs.next());
    pair.map_or(0, |pair| pair.as_span().end())
}

/// Returns the length in bytes of the bracketed text at the start of a text; 0 if there is none. Fails if brackets are
/// nested too deep.
pub(crate) fn bracketed_len(text: &str) -> Result<usize, String> {
    let (window, depth) = bracket_window(text);
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    Ok(stacker::maybe_grow(stack_of(depth), stack_of(depth), || token_len(Rule::bracketed, &text[..window])))
}

/// Checks an op in generic form, with its regions, against the rules for ops. `depth` is the nesting depth of brackets.
/// The error is at a byte offset.
pub(crate) fn check_op(text: &str, depth: usize) -> Result<(), ParseError> {
    let run = || Grammar::parse(Rule::whole_op, text).map(drop);
    let result = stacker::maybe_grow(stack_of(depth), stack_of(depth), run);
    result.map_err(|error| {
        let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
        ParseError::new(at, "the grammar has no such op here")
    })
}

/// Checks a whole file in generic form against the rules for files.
#[cfg(test)]
pub(crate) fn check_file(text: &str) -> Result<(), String> {
    stacker::grow(super::STACK, || Grammar::parse(Rule::file, text).map(drop).map_err(|error| error.to_string()))
}
