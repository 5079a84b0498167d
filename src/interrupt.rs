//! Interruption of long commands by Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a process that Ctrl-C ends, as of shells.
const INTERRUPTED: i32 = 130;

/// Returns a flag that the first Ctrl-C sets, so that a command can print what it has found. The second ends the process.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    // A process has one handler: where another command of it has set one, Ctrl-C ends that.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    });
    flag
}
