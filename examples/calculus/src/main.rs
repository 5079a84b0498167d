//! The `calculus` command.

fn main() -> std::process::ExitCode {
    calculus::tool().main()
}
