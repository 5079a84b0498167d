//! The `toyvec` command: Gradus with one more target.

fn main() -> std::process::ExitCode {
    toyvec::tool().main()
}
