//! The errors of targets.

use crate::Precision;
use gradus_cost::CostError;
use gradus_ir::Violation;
use std::fmt;

/// The reason why a target cannot compile or execute a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetError {
    /// The target of this name has costs only.
    NoPipeline(&'static str),
    /// The target of this name has no executor in this tool.
    NoExecutor(&'static str),
    /// The pipeline names a number that the machine lacks.
    Cost(CostError),
    /// The target of this name does not compute in the precision of this name, but in others.
    Precision(&'static str, String, &'static [Precision]),
    /// The executor does not support the function, for this reason.
    Unsupported(String),
}

impl From<CostError> for TargetError {
    fn from(error: CostError) -> TargetError {
        TargetError::Cost(error)
    }
}

impl From<String> for TargetError {
    fn from(reason: String) -> TargetError {
        TargetError::Unsupported(reason)
    }
}

impl From<&str> for TargetError {
    fn from(reason: &str) -> TargetError {
        TargetError::Unsupported(reason.to_owned())
    }
}

impl From<Violation> for TargetError {
    fn from(violation: Violation) -> TargetError {
        TargetError::Unsupported(violation.into())
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::NoPipeline(target) => {
                write!(f, "target '{target}' has costs only: no pipeline and no executor")
            }
            TargetError::NoExecutor(target) => write!(f, "target '{target}' has no execution in this tool"),
            TargetError::Precision(target, name, known) => {
                write!(f, "target '{target}' has no precision '{name}': it computes networks of f32 in f32")?;
                known.iter().try_for_each(|precision| write!(f, " and {}", precision.name))
            }
            TargetError::Cost(error) => error.fmt(f),
            TargetError::Unsupported(reason) => f.write_str(reason),
        }
    }
}

gradus_ir::declared_error!(TargetError);
