//! Gradus: a multi-dialect compiler IR in which every step can be run and checked.
//!
//! This crate is the `gradus` command, callable in process through [`run`], and the facade over the crates that do the
//! work: [`ir`], [`dialects`], [`passes`], [`runtime`], [`lowering`].

mod commands;
mod io;

pub use gradus_dialects as dialects;
pub use gradus_ir as ir;
pub use gradus_lowering as lowering;
pub use gradus_passes as passes;
pub use gradus_runtime as runtime;

use clap::{ArgMatches, Command};
use std::ffi::OsString;
use std::io::Write;

/// All passes: those that stay on their level, and those that lower.
pub fn all_passes() -> Vec<&'static ir::PassInfo> {
    passes::PASSES.iter().chain(lowering::PASSES).copied().collect()
}

/// Where a command prints.
pub struct Streams<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Diagnostics, reports and progress.
    pub err: &'a mut dyn Write,
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
    let matches = match cli().try_get_matches_from(args) {
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
