//! The `bits` command.

fn main() -> std::process::ExitCode {
    bits::tool().main()
}
