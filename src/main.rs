//! The `gradus` command; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    gradus::Tool::gradus().main()
}
