//! Why execution stops without a result.

/// Why execution stopped without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The program has no meaning here: undefined behaviour, with the reason.
    Ub(String),
    /// The program stops itself, with the reason.
    Abort(String),
    /// It was given up: too many ops, or too many nested calls.
    Limit(String),
    /// The evaluator cannot do it (a type it does not know, too much memory), with the reason.
    Unsupported(String),
}

impl Trap {
    /// An op used in a way that its evaluation does not cover.
    pub fn unsupported(reason: impl Into<String>) -> Trap {
        Trap::Unsupported(reason.into())
    }
}

impl From<String> for Trap {
    fn from(reason: String) -> Trap {
        Trap::Unsupported(reason)
    }
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trap::Ub(reason) => write!(f, "undefined behavior: {reason}"),
            Trap::Abort(reason) => write!(f, "aborted: {reason}"),
            Trap::Limit(reason) => write!(f, "given up: {reason}"),
            Trap::Unsupported(reason) => write!(f, "cannot be executed: {reason}"),
        }
    }
}
