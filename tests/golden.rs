//! The golden tests of `tests/golden`; `gradus_golden` documents them.

fn main() -> std::process::ExitCode {
    gradus_golden::main(&gradus::Tool::gradus(), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}
