//! Parameters of attributes that are words and numbers.

use gradus_ir::{ParamArgs, ParamError};

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
