//! The golden tests.

fn main() -> std::process::ExitCode {
    gradus_golden::main(&toyvec::tool(), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}
