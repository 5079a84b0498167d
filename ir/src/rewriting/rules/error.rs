//! The errors of rules that cannot be applied.

use super::compiled::MAX_TERMS;
use std::fmt;

/// The reason why a rule cannot be applied to any program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleError {
    /// The rule has this number of ops and values, above the maximum.
    TooLarge(usize),
    /// The number of replacements is not that of the roots' results.
    Replacements {
        /// Number of replacements.
        values: usize,
        /// Number of results of all roots.
        results: usize,
        /// Number of roots.
        roots: usize,
    },
    /// The right side or a condition uses a variable that the left side does not bind.
    Unbound,
    /// A condition is called as a computation, or the reverse.
    Role {
        /// The name of the function.
        function: &'static str,
        /// Whether it is a condition.
        is_test: bool,
    },
    /// A call has other arguments than the function.
    Arguments {
        /// The name of the function.
        function: &'static str,
        /// The kinds of its arguments, then the names of its parameters.
        wanted: Vec<&'static str>,
    },
    /// A root neither uses nor defines a value of an earlier one.
    Disconnected,
    /// A replacement uses the result that it replaces.
    UsesReplaced,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleError::TooLarge(terms) => {
                write!(f, "has {terms} ops and values, of which a rule has at most {MAX_TERMS}")
            }
            RuleError::Replacements { values, results, roots } => {
                write!(f, "{values} values replace the {results} results of {roots} ops")
            }
            RuleError::Unbound => f.write_str("the right side uses something that is not on the left side"),
            RuleError::Role { function, is_test: true } => write!(f, "'{function}' is a condition, not a computation"),
            RuleError::Role { function, is_test: false } => write!(f, "'{function}' is a computation, not a condition"),
            RuleError::Arguments { function, wanted } => write!(f, "'{function}' takes ({})", wanted.join("; ")),
            RuleError::Disconnected => {
                f.write_str("the roots have nothing in common: each must use or define a value of those before it")
            }
            RuleError::UsesReplaced => f.write_str("a replacement must not use the root that it replaces"),
        }
    }
}

crate::declared_error!(RuleError);
