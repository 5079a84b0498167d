//! Traps: abnormal ends of execution.

use crate::Violation;
use crate::values::tensor::TensorError;

/// The reason for an abnormal end of execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// Undefined behavior, with the reason.
    Ub(String),
    /// An abort by the program itself, with the reason.
    Abort(String),
    /// An exceeded limit: number of executed ops or depth of calls.
    Limit(String),
    /// Operands or attributes that the op's semantics do not cover, such as a type, with the reason.
    Unsupported(String),
    /// An op without semantics, or more elements than the evaluator computes: nothing is known about the program, with the
    /// reason.
    Unknown(String),
}

impl Trap {
    /// Returns the trap of an op in a form that its evaluation does not cover.
    pub fn unsupported(reason: impl Into<String>) -> Trap {
        Trap::Unsupported(reason.into())
    }

    /// Returns the trap of an op about whose result nothing is known.
    pub fn unknown(reason: impl Into<String>) -> Trap {
        Trap::Unknown(reason.into())
    }
}

impl From<String> for Trap {
    fn from(reason: String) -> Trap {
        Trap::Unsupported(reason)
    }
}

impl From<Violation> for Trap {
    fn from(violation: Violation) -> Trap {
        Trap::Unsupported(violation.into())
    }
}

impl From<TensorError> for Trap {
    fn from(error: TensorError) -> Trap {
        Trap::Unsupported(error.to_string())
    }
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trap::Ub(reason) => write!(f, "undefined behavior: {reason}"),
            Trap::Abort(reason) => write!(f, "aborted: {reason}"),
            Trap::Limit(reason) => write!(f, "given up: {reason}"),
            Trap::Unsupported(reason) | Trap::Unknown(reason) => write!(f, "cannot be executed: {reason}"),
        }
    }
}
