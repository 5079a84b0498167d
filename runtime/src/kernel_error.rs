//! The error of kernels.

use gradus_ir::eval::Trap;
use std::fmt;

/// The reason why a kernel does not compute: operands of other sizes, an address outside its buffer, code that is not verified,
/// or vectors that the machine lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelError(String);

impl From<String> for KernelError {
    fn from(reason: String) -> KernelError {
        KernelError(reason)
    }
}

impl From<&str> for KernelError {
    fn from(reason: &str) -> KernelError {
        KernelError(reason.to_owned())
    }
}

impl From<KernelError> for Trap {
    fn from(error: KernelError) -> Trap {
        Trap::Ub(error.0)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

gradus_ir::declared_error!(KernelError);
