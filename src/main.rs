//! The `gradus` command; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    ExitCode::from(gradus::run(std::env::args_os(), &mut gradus::Streams::new(&mut out, &mut err).at_exit()))
}
