//! The `gradus` command; the implementation is the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    gradus::Tool::gradus().main()
}
