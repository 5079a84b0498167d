//! The error of hooks that verify ops.

use std::fmt;

/// A rule that an op, its operands, its attributes or its types violate: a message without the op's name and location, which the
/// verifier, the parser and the interpreter add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation(String);

impl Violation {
    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl From<String> for Violation {
    fn from(message: String) -> Violation {
        Violation(message)
    }
}

impl From<&str> for Violation {
    fn from(message: &str) -> Violation {
        Violation(message.to_owned())
    }
}

impl From<Violation> for String {
    fn from(violation: Violation) -> String {
        violation.0
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}
