//! What several test programs use: the command line in process, and the files of a folder.

#![allow(dead_code, unused_imports, reason = "no test program uses all of it")]

use gradus::Tool;
pub use gradus_golden::{Output, files};
use std::path::Path;

/// Runs `gradus ARGS...` in this process.
pub fn gradus<S: AsRef<str>>(args: &[S]) -> Output {
    gradus_golden::run(&Tool::gradus(), args)
}

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
