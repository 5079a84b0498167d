//! Errors of kernels.

use gradus_ir::eval::Trap;
use gradus_networks::layout::LayoutError;

/// Converts a layout error to a trap.
pub(super) fn moved(done: Result<(), LayoutError>) -> Result<(), Trap> {
    done.map_err(|e| Trap::unsupported(e.to_string()))
}

/// Returns the error of an inconsistent schedule, which is a bug.
pub(super) fn internal_error() -> Trap {
    Trap::unsupported("internal error: the schedule is inconsistent")
}
