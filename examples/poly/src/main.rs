//! The `poly` command.

fn main() -> std::process::ExitCode {
    poly::tool().main()
}
