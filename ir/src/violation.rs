//! The error of hooks that verify ops.

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

crate::message_error!(Violation);
