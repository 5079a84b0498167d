//! Words, numbers, ranges and flags in the text of attributes and ops.

use gradus_dialects::constraint::UNIT;
use gradus_ir::{AttrKind, AttrText, OpParser, ParamArgs, ParamError, ParseResult};

/// A keyword that sets a unit attribute.
pub(crate) const FLAG: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// Parses the first number and the end of a range, `0:8`.
pub(crate) fn range(p: &mut OpParser<'_, '_>) -> ParseResult<[i64; 2]> {
    let first = p.integer()?;
    p.expect(":")?;
    Ok([first, p.integer()?])
}

/// Returns the text of a range.
pub(crate) fn range_text(range: &[i64]) -> String {
    range.iter().map(i64::to_string).collect::<Vec<_>>().join(":")
}

/// Returns the index of the word that is a parameter.
///
/// # Errors
/// The parameter is another word.
pub(crate) fn word(params: &ParamArgs<'_>, name: &'static str, words: &[&str]) -> Result<usize, ParamError> {
    let text = params.text(name).unwrap_or("");
    let found = words.iter().position(|word| *word == text);
    found.ok_or_else(|| ParamError::of(name, 0, format!("requires '{}'", words.join("' or '"))))
}

/// Returns the number that is a parameter, of `least` to 2^32 - 1.
///
/// # Errors
/// Another number.
pub(crate) fn number(params: &ParamArgs<'_>, name: &'static str, least: u32) -> Result<u32, ParamError> {
    let number = params.int(name).and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= least);
    number.ok_or_else(|| ParamError::from(format!("requires '{name}' of at least {least}")))
}
