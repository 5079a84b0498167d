//! Gradus: a multi-dialect compiler IR in which every step can be run and checked.
//!
//! This crate is the `gradus` command, callable in process through [`Tool::run`], what tools of
//! your own are made of, and the facade over the crates that do the
//! work: [`ir`], [`dialects`], [`passes`], [`runtime`], [`lowering`], [`check`].

pub mod check_lines;
mod columns;
mod commands;
#[cfg(all(feature = "check", feature = "cpu"))]
mod executions;
pub mod expected;
#[cfg(feature = "check")]
mod interrupt;

mod io;
mod open_shapes;
mod pass_flags;
pub mod prelude;
mod print_flags;
mod progress;
#[cfg(feature = "cpu")]
mod random_inputs;
mod refusals;
mod roundtrip;
pub mod runline;
#[cfg_attr(not(feature = "saturate"), path = "no_saturation.rs")]
mod saturation;
#[cfg(feature = "cpu")]
pub mod specialized;
pub mod split;
#[cfg(feature = "cpu")]
mod stopwatch;
mod target;

pub use commands::update_checks::is_generated;
#[cfg(feature = "check")]
pub use gradus_check as check;
pub use gradus_cost as cost;
pub use gradus_dialects as dialects;
#[cfg(feature = "saturate")]
pub use gradus_egraph as egraph;
pub use gradus_filecheck as filecheck;
#[cfg(feature = "check")]
pub use gradus_generate as generate;
pub use gradus_interp as interp;
pub use gradus_ir as ir;
#[cfg(feature = "networks")]
pub use gradus_lowering as lowering;
#[cfg(feature = "networks")]
pub use gradus_machines as machines;
#[cfg(feature = "networks")]
pub use gradus_networks as networks;
pub use gradus_npy as npy;
pub use gradus_passes as passes;
pub use gradus_plan as plan;
#[cfg(feature = "check")]
pub use gradus_reduce as reduce;
#[cfg(feature = "cpu")]
pub use gradus_runtime as runtime;
pub use gradus_targets as targets;

use clap::{ArgMatches, Command};
use gradus_cost::COUNTS;
use gradus_targets::Target;
use ir::declarations::DeclarationError;
use ir::{Context, Dialect, PassInfo};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// A command-line tool: its name, dialects, passes and targets.
///
/// A tool of your own is a value of this type. Its commands, help, pipelines, documentation and tests are derived from
/// its lists; there is no other registration.
///
/// ```
/// use gradus::{Streams, Tool};
/// use gradus::ir::Dialect;
///
/// static TOY: Dialect = Dialect { name: "toy", doc: "Toys.", ..Dialect::DEFAULT };
///
/// let tool = Tool::new("toy-opt").with_dialects(&[&TOY]);
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let line = ["toy-opt", "list", "dialects"].map(Into::into);
/// assert_eq!(tool.run(line, &mut Streams::new(&mut out, &mut err)), 0);
/// assert!(String::from_utf8(out).unwrap().ends_with("toy      Toys\n"));
/// ```
#[derive(Clone)]
pub struct Tool {
    /// Name of the command.
    pub name: &'static str,
    /// The dialects, in listing order.
    pub dialects: Vec<&'static Dialect>,
    /// The passes, in listing order.
    pub passes: Vec<&'static PassInfo>,
    /// The targets, in listing order.
    pub targets: Vec<&'static Target>,
}

impl Tool {
    /// Creates a tool with all dialects, passes and targets of Gradus.
    pub fn new(name: &'static str) -> Tool {
        let (mut dialects, mut passes) = (dialects::DIALECTS.to_vec(), passes::PASSES.to_vec());
        #[cfg(feature = "saturate")]
        passes.extend(egraph::PASSES);
        #[cfg(feature = "networks")]
        {
            dialects.extend(networks::DIALECTS.iter().chain(machines::DIALECTS));
            passes.extend(networks::PASSES.iter().chain(lowering::PASSES));
        }
        dialects.sort_unstable_by_key(|dialect| dialect.name);
        passes.sort_unstable_by_key(|pass| pass.name);
        Tool { name, dialects, passes, targets: targets::TARGETS.to_vec() }
    }

    /// Returns the `gradus` command.
    pub fn gradus() -> Tool {
        Tool::new("gradus")
    }

    /// Adds dialects. Panics if a name is already registered.
    #[must_use]
    pub fn with_dialects(mut self, dialects: &[&'static Dialect]) -> Tool {
        for dialect in dialects {
            let known = self.dialects.iter().any(|d| d.name == dialect.name);
            assert!(!known, "there are two dialects '{}'", dialect.name);
            self.dialects.push(dialect);
        }
        self
    }

    /// Adds passes. Panics if a name is already registered.
    #[must_use]
    pub fn with_passes(mut self, passes: &[&'static PassInfo]) -> Tool {
        for pass in passes {
            assert!(!self.passes.iter().any(|p| p.name == pass.name), "there are two passes '{}'", pass.name);
            self.passes.push(pass);
        }
        self
    }

    /// Adds targets, with the dialects and passes that they bring. Panics if a name is already registered.
    #[must_use]
    pub fn with_targets(mut self, targets: &[&'static Target]) -> Tool {
        for target in targets {
            let name = target.cost.name;
            let is_known =
                self.targets.iter().map(|t| t.cost.name).chain(COUNTS.iter().map(|c| c.name)).any(|n| n == name);
            assert!(!is_known, "there are two targets '{name}'");
            self = self.with_dialects(target.dialects).with_passes(target.passes);
            self.targets.push(target);
        }
        self
    }

    /// Returns the mistakes in the tool's declarations, such as a rule that cannot be parsed. With the feature `check`, ops are
    /// also drawn and run once there are no other mistakes, which finds, for example, an `eval` hook with a result too many.
    pub fn check_declarations(&self) -> Vec<DeclarationError> {
        let mut errors = ir::declarations::check(&self.dialects, &self.passes);
        errors.extend(target::mistakes(self));
        #[cfg(feature = "check")]
        if errors.is_empty() {
            return generate::declarations::check(&self.context());
        }
        errors
    }

    /// Creates a context with the tool's dialects and the cost models of its targets.
    pub fn context(&self) -> Arc<Context> {
        let ctx = Context::new(&self.dialects);
        cost::register(&ctx, self.targets.iter().map(|target| &target.cost).collect());
        ctx
    }

    /// Returns the command line, for help and completions.
    pub fn cli(&self) -> Command {
        let example = |text: &str| text.replace("gradus ", &format!("{} ", self.name));
        let subcommand = |c: &Subcommand| {
            let command = (c.command)(self);
            let help = command.get_after_help().map(|help| example(&help.to_string()));
            help.into_iter().fold(command, Command::after_help)
        };
        Command::new(self.name)
            .about("Compile, run and check programs in the Gradus IR, one step at a time")
            .version(env!("CARGO_PKG_VERSION"))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .after_help(example(
                "Examples:\n  gradus opt program.mlir --canonicalize --cse\n  gradus run model.onnx --input \
                 image=images.npy --labels labels.npy\n  gradus list passes",
            ))
            .subcommands(COMMANDS.iter().map(subcommand))
    }

    /// Runs a command line, whose first argument is the program's name. Returns the exit status: 0, 1 for invalid input
    /// or a failed check, 2 for invalid usage.
    pub fn run(&self, args: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> u8 {
        let matches = match self.cli().try_get_matches_from(commands::filecheck::long_flags(args)) {
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
        let command = COMMANDS.iter().find(|c| (c.command)(self).get_name() == name).expect("clap knows only these");
        match (command.run)(self, matches, streams) {
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

    /// Runs the command line of this process; to be called from `main`.
    pub fn main(&self) -> ExitCode {
        let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
        ExitCode::from(self.run(std::env::args_os(), &mut Streams::new(&mut out, &mut err).at_exit()))
    }
}

/// The input and output streams of a command.
pub struct Streams<'a> {
    /// Standard output.
    out: &'a mut dyn Write,
    /// Diagnostics, reports and progress.
    err: &'a mut dyn Write,
    /// Standard input, if it is not the process's.
    input: Option<&'a [u8]>,
    /// The expected diagnostics, to compare with instead of printing.
    expected: Option<&'a mut expected::Verifier>,
    /// Whether the process exits after the command.
    last: bool,
}

impl<'a> Streams<'a> {
    /// Creates streams that print results to `out` and diagnostics, reports and progress to `err`.
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Streams<'a> {
        Streams { out, err, input: None, expected: None, last: false }
    }

    /// Marks the command as the last of its process, so that large programs need not be freed.
    #[must_use]
    pub fn at_exit(self) -> Streams<'a> {
        Streams { last: true, ..self }
    }

    /// Sets standard input.
    #[must_use]
    pub fn with_input(self, input: &'a [u8]) -> Streams<'a> {
        Streams { input: Some(input), ..self }
    }
}

/// A subcommand: its command-line declaration and its function.
struct Subcommand {
    command: fn(&Tool) -> Command,
    run: fn(&Tool, &ArgMatches, &mut Streams<'_>) -> Result<(), Failure>,
}

/// All subcommands, in help order.
const COMMANDS: &[Subcommand] = &[
    commands::opt::SUBCOMMAND,
    #[cfg(feature = "networks")]
    commands::import::SUBCOMMAND,
    #[cfg(feature = "cpu")]
    commands::compile::SUBCOMMAND,
    commands::run::SUBCOMMAND,
    #[cfg(feature = "cpu")]
    commands::bench::SUBCOMMAND,
    #[cfg(feature = "cpu")]
    commands::sweep::SUBCOMMAND,
    #[cfg(feature = "cpu")]
    commands::together::SUBCOMMAND,
    #[cfg(feature = "cpu")]
    commands::inspect::SUBCOMMAND,
    commands::plan::SUBCOMMAND,
    #[cfg(feature = "check")]
    commands::check::SUBCOMMAND,
    #[cfg(feature = "check")]
    commands::reduce::SUBCOMMAND,
    #[cfg(feature = "check")]
    commands::fuzz::SUBCOMMAND,
    commands::list::SUBCOMMAND,
    commands::doc::SUBCOMMAND,
    commands::completions::SUBCOMMAND,
    commands::filecheck::SUBCOMMAND,
    commands::update_checks::SUBCOMMAND,
];

/// The reason why a command failed.
#[derive(Debug)]
enum Failure {
    /// Invalid input or a failed check, already reported: exit status 1.
    Reported,
    /// Invalid input, with the message to print: exit status 1.
    Input(String),
    /// Invalid usage, with the message to print: exit status 2.
    Usage(String),
    /// Invalid usage, already reported: exit status 2.
    Unusable,
}

/// Returns the failure to read or write a file that needs a feature without which the tool was built.
#[cfg(not(all(feature = "npz", feature = "networks")))]
fn without(feature: &str, path: &str) -> Failure {
    Failure::Input(format!("cannot read '{path}': the tool was built without the feature '{feature}' of gradus"))
}

/// Errors whose text is the message for invalid input.
macro_rules! input_errors {
    ($($Error:ty),+) => { $(
        impl From<$Error> for Failure {
            fn from(error: $Error) -> Failure {
                Failure::Input(error.to_string())
            }
        }
    )+ };
}

input_errors!(cost::CostError, ir::TensorError, npy::NpyError, targets::TargetError);

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Input(message)
    }
}
