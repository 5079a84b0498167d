//! The error of kernels.

use gradus_ir::Violation;
use gradus_ir::eval::Trap;

/// The reason why a kernel does not compute: operands of other sizes, an address outside its buffer, code that is not verified,
/// or vectors that the machine lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelError(String);

gradus_ir::message_error!(KernelError);

impl From<KernelError> for Violation {
    fn from(error: KernelError) -> Violation {
        error.0.into()
    }
}

impl From<KernelError> for Trap {
    fn from(error: KernelError) -> Trap {
        Trap::Ub(error.0)
    }
}
