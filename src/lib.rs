//! Gradus: a multi-dialect compiler IR in which every step can be run and checked.
//!
//! This crate is the `gradus` command, callable in process through [`run`], and the facade over the crates that do the
//! work: [`ir`], [`dialects`], [`passes`], [`runtime`], [`lowering`].

mod commands;
pub mod ere;
pub mod expected;
pub mod filecheck;
pub mod generate;
mod io;
mod pass_flags;
mod print_flags;
mod roundtrip;
pub mod runline;
pub mod split;

pub use commands::update_checks::NOTE as UPDATE_CHECKS_NOTE;
pub use gradus_dialects as dialects;
pub use gradus_ir as ir;
pub use gradus_lowering as lowering;
pub use gradus_passes as passes;
pub use gradus_runtime as runtime;

use clap::{ArgMatches, Command};
use std::ffi::OsString;
use std::io::Write;

/// All passes: those that stay on their level, and those that lower.
pub fn all_passes() -> &'static [&'static ir::PassInfo] {
    static ALL: std::sync::LazyLock<Vec<&'static ir::PassInfo>> =
        std::sync::LazyLock::new(|| passes::PASSES.iter().chain(lowering::PASSES).copied().collect());
    &ALL
}

/// What a command reads and where it prints.
pub struct Streams<'a> {
    /// Results.
    out: &'a mut dyn Write,
    /// Diagnostics, reports and progress.
    err: &'a mut dyn Write,
    /// Standard input, when it is not the process's.
    input: Option<&'a [u8]>,
    /// What diagnostics are compared with instead of being printed.
    expected: Option<&'a mut expected::Verifier>,
    /// Whether the process ends with the command.
    last: bool,
}

impl<'a> Streams<'a> {
    /// Prints results here, and diagnostics, reports and progress there.
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Streams<'a> {
        Streams { out, err, input: None, expected: None, last: false }
    }

    /// For a process that ends afterwards, so that nobody needs to free a large program piece by piece.
    #[must_use]
    pub fn at_exit(self) -> Streams<'a> {
        Streams { last: true, ..self }
    }

    /// With this for standard input.
    #[must_use]
    pub fn with_input(self, input: &'a [u8]) -> Streams<'a> {
        Streams { input: Some(input), ..self }
    }
}

/// A subcommand: what it is called and takes, and what it does.
struct Subcommand {
    command: fn() -> Command,
    run: fn(&ArgMatches, &mut Streams<'_>) -> Result<(), Failure>,
}

/// All subcommands, in the order of the help.
const COMMANDS: &[Subcommand] = &[
    commands::opt::SUBCOMMAND,
    commands::import::SUBCOMMAND,
    commands::run::SUBCOMMAND,
    commands::list::SUBCOMMAND,
    commands::doc::SUBCOMMAND,
    commands::completions::SUBCOMMAND,
    commands::filecheck::SUBCOMMAND,
    commands::update_checks::SUBCOMMAND,
];

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// The input is wrong, or a check did not hold: exit status 1. What is wrong is printed already.
    Reported,
    /// The same, with the message to print.
    Input(String),
    /// The command was used wrongly: exit status 2.
    Usage(String),
    /// The same; what is wrong is printed already.
    Unusable,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Input(message)
    }
}

/// The whole command line, for help, completions and the manual.
pub fn cli() -> Command {
    Command::new("gradus")
        .about("Compile, run and check programs in the Gradus IR, one step at a time")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(
            "Examples:\n  gradus opt program.mlir --canonicalize --cse\n  gradus run model.onnx --input image=images.npy \
             --labels labels.npy\n  gradus list passes",
        )
        .subcommands(COMMANDS.iter().map(|c| (c.command)()))
}

/// Runs a command line, the program's name first. Returns the exit status: 0, 1 for wrong input or a check that did not
/// hold, 2 for wrong usage.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> u8 {
    let matches = match cli().try_get_matches_from(commands::filecheck::long_flags(args)) {
        Ok(matches) => matches,
        Err(e) if e.use_stderr() => {
            let _ = write!(streams.err, "{}", e.render());
            return 2;
        }
        Err(e) => {
            let _ = write!(streams.out, "{}", e.render());
            return 0;
        }
    };
    let (name, matches) = matches.subcommand().expect("a subcommand is required");
    let command = COMMANDS.iter().find(|c| (c.command)().get_name() == name).expect("clap knows only these");
    match (command.run)(matches, streams) {
        Ok(()) => 0,
        Err(Failure::Reported) => 1,
        Err(Failure::Unusable) => 2,
        Err(Failure::Input(message)) => {
            let _ = writeln!(streams.err, "error: {message}");
            1
        }
        Err(Failure::Usage(message)) => {
            let _ = writeln!(streams.err, "error: {message}");
            2
        }
    }
}
