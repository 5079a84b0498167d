//! `gradus reduce`: shrinks a program while a test finds it interesting.

use super::comparison::{option_args, options};
use crate::io::{self, report, text};
use crate::pass_flags::{self, flag};
use crate::target::target_args;
use crate::{Failure, Streams, Subcommand, Tool};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_check::bisect::{Checked, Subject};
use gradus_ir::pass::{Pipeline, RunOptions};
use gradus_ir::{Context, Diagnostic, Module, ParseOptions, PrintOptions, verify};
use gradus_reduce::{Oracle, Progress, ReduceOptions, Reduced, StopReason, ops_in_bodies, reduce_watched};
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

/// The exit-status conventions of interestingness tests.
const CONVENTIONS: [&str; 2] = ["nonzero", "zero"];

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("N").default_value(default).value_parser(clap::value_parser!(u64)).help(help)
}

fn command(tool: &Tool) -> Command {
    let test_args =
        [
            Arg::new("test").long("test").value_name("COMMAND").help("Command to run on the file of each candidate"),
            Arg::new("test-arg")
                .long("test-arg")
                .value_name("ARG")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .help("Argument of the test, before the file"),
            Arg::new("interesting").long("interesting").value_parser(CONVENTIONS).default_value(CONVENTIONS[0]).help(
                "Exit status of the test for an interesting file: nonzero as for mlir-reduce, zero as for creduce",
            ),
            number("timeout", "60", "Time limit of a test in seconds; a file that exceeds it is not interesting"),
            number("jobs", "1", "Number of tests that run in parallel, on distinct files")
                .value_parser(clap::value_parser!(u64).range(1..=256)),
            number("candidates", "2000", "Maximum number of candidates"),
        ];
    Command::new("reduce")
        .about("Shrink a program while a test finds it interesting")
        .after_help(
            "Examples:\n  gradus reduce a.mlir --test=./crashes.sh -o small.mlir\n  gradus reduce a.mlir --test=grep \
             --test-arg=-q --test-arg=arith.divsi --interesting=zero\n  gradus reduce a.mlir \
             --canonicalize\n\nWith passes instead of a test, a program is interesting if gradus check finds a \
             difference after the same pass, caused by the same pattern. The output file always contains the smallest \
             program so far.",
        )
        .arg(Arg::new("FILE").required(true).help("The program; - is standard input"))
        .arg(Arg::new("output").short('o').value_name("FILE").default_value("-").help("Where to print"))
        .arg(flag("allow-unregistered-dialect", "Allow operation with no registered dialects"))
        .args(test_args)
        .args(option_args())
        .args(pass_flags::pipeline_arguments(tool))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let pipeline = pass_flags::pipeline(tool, matches, "builtin.module")?;
    let test = matches.get_one::<String>("test");
    if test.is_some() != pipeline.is_empty() {
        let message = "reduce takes either a test (--test) or passes (--PASS ..., or --pipeline)";
        return Err(Failure::Usage(message.into()));
    }
    let ctx = tool.context();
    let allow_unregistered = matches.get_flag("allow-unregistered-dialect");
    let chunk = text(matches.get_one::<String>("FILE").expect("is required"), streams)?;
    let m = io::parse(&ctx, &chunk, ParseOptions { allow_unregistered, ..ParseOptions::default() }, streams)?;
    verify(&m).map_err(|d| report(&ctx, &d, streams))?;
    let job = Job { matches, output: matches.get_one::<String>("output").expect("has a default") };
    match test {
        Some(test) => job.by_test(&m, test, streams),
        None => job.by_passes(tool, &ctx, &m, streams),
    }
}

struct Job<'a> {
    matches: &'a ArgMatches,
    output: &'a str,
}

impl Job<'_> {
    fn number(&self, name: &str) -> u64 {
        self.matches.get_one::<u64>(name).copied().expect("has a default")
    }

    fn by_test(&self, m: &Module, command: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let folder = tempfile::tempdir().map_err(|e| format!("cannot create a folder for candidates: {e}"))?;
        let wants_zero = self.matches.get_one::<String>("interesting").is_some_and(|word| word == "zero");
        let args = self.matches.get_many::<String>("test-arg").into_iter().flatten();
        let test = Test {
            command: command.to_owned(),
            args: args.cloned().collect(),
            folder: folder.path().to_owned(),
            timeout: Duration::from_secs(self.number("timeout")),
            wants_zero,
        };
        match test.status(m) {
            Err(e) => return Err(Failure::Usage(format!("cannot run '{command}': {e}"))),
            Ok(status) if !test.is_interesting(status) => {
                let did = status.map_or("does not terminate".to_owned(), |n| format!("exits with status {n}"));
                let word = if wants_zero { "zero" } else { "nonzero" };
                let message = format!("the input is not interesting: the test {did} (--interesting={word})");
                return Err(Failure::Input(message));
            }
            Ok(_) => {}
        }
        let oracle = &mut |all: &[Module]| test.first(all);
        let reduced = self.search(m, oracle, streams);
        self.conclude(m, &reduced, &printed(&reduced.module), streams)
    }

    fn by_passes(&self, tool: &Tool, ctx: &Arc<Context>, m: &Module, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let pipeline = || pass_flags::pipeline(tool, self.matches, "builtin.module").expect("it was made before");
        let subject = Subject {
            program: &|| m.clone(),
            pipeline: &pipeline,
            how: RunOptions { passes: tool.passes.clone(), ..RunOptions::default() },
            options: options(self.matches),
            executions: &[],
        };
        let culprit = match subject.check() {
            Checked::Wrong(culprit) => culprit,
            Checked::Failed(failure) => return Err(report(ctx, &failure.said, streams)),
            Checked::Passed(_) => {
                return Err(Failure::Input("the input is not interesting: no difference was found".into()));
            }
        };
        let shown = |m: &Module| subject.shows(m, &pipeline, &culprit);
        let run = run_line(tool, self.matches, &given_passes(tool, self.matches));
        let oracle = &mut |all: &[Module]| quietly(|| all.iter().position(|m| shown(m).is_some()));
        let reduced = self.search(m, oracle, streams);
        let found = shown(&reduced.module).ok_or_else(|| "the difference is not reproducible".to_owned())?;
        self.conclude(m, &reduced, &Reproducer::new(&run, &found.error, &reduced.module).text, streams)
    }

    /// Runs the search with progress on the terminal and intermediate results in the output file.
    fn search(&self, m: &Module, oracle: &mut Oracle<'_>, streams: &mut Streams<'_>) -> Reduced {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let options =
            ReduceOptions { candidates: self.number("candidates"), batch: self.number("jobs") as usize, time: None };
        let reduced = reduce_watched(m, oracle, &options, &mut |step: Progress<'_>| {
            bar.set_message(format!("{} ops, candidate {}: {}", step.best.num_ops(), step.candidates, step.name));
            bar.tick();
            if step.is_new && self.output != "-" {
                // A write error here is reported when the final program is written.
                let text = printed(step.best);
                let _ = io::write(self.output, streams, |out| out.write_all(text.as_bytes()));
            }
        });
        bar.finish_and_clear();
        reduced
    }

    fn conclude(&self, m: &Module, reduced: &Reduced, text: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
        io::write(self.output, streams, |out| out.write_all(text.as_bytes()))?;
        let (before, after) = (ops_in_bodies(m), ops_in_bodies(&reduced.module));
        let end = match reduced.stop_reason {
            StopReason::Minimal => "no single step makes it smaller",
            StopReason::Limit => "a smaller program may exist: the limit of candidates is reached",
        };
        let _ = writeln!(streams.err, "{after} of {before} ops are left after {} tests; {end}", reduced.candidates);
        Ok(())
    }
}

fn printed(m: &Module) -> String {
    m.to_text(PrintOptions::default()) + "\n"
}

/// An interestingness test: a command and its convention.
struct Test {
    command: String,
    args: Vec<String>,
    /// Folder of the candidates' files.
    folder: PathBuf,
    timeout: Duration,
    wants_zero: bool,
}

impl Test {
    /// Runs the command on a program. Returns its exit status, or `None` if it was killed or timed out.
    fn status(&self, m: &Module) -> std::io::Result<Option<i32>> {
        self.wait(&mut self.start(0, m)?)
    }

    /// Tests several programs in parallel and returns the index of the first interesting one.
    fn first(&self, all: &[Module]) -> Option<usize> {
        let mut running: Vec<_> = all.iter().enumerate().map(|(i, m)| self.start(i, m)).collect();
        let interesting = |child: &mut std::io::Result<Child>| match child {
            Ok(child) => self.wait(child).is_ok_and(|status| self.is_interesting(status)),
            Err(_) => false,
        };
        let found = running.iter_mut().position(interesting);
        for child in running.iter_mut().skip(found.map_or(all.len(), |i| i + 1)).flatten() {
            let _ = child.kill().and_then(|()| child.wait());
        }
        found
    }

    fn start(&self, number: usize, m: &Module) -> std::io::Result<Child> {
        let file = self.folder.join(format!("candidate{number}.mlir"));
        std::fs::write(&file, printed(m))?;
        let mut command = std::process::Command::new(&self.command);
        command.args(&self.args).arg(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }

    fn wait(&self, child: &mut Child) -> std::io::Result<Option<i32>> {
        let end = Instant::now() + self.timeout;
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.code());
            }
            if Instant::now() >= end {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }

    fn is_interesting(&self, status: Option<i32>) -> bool {
        status.is_some_and(|n| (n == 0) == self.wants_zero)
    }
}

/// Runs `f` without printing panics: a pass may panic on a candidate.
fn quietly<R>(f: impl FnOnce() -> R) -> R {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = f();
    std::panic::set_hook(hook);
    result
}

/// Returns the RUN line that checks a file with these passes.
fn run_line(tool: &Tool, matches: &ArgMatches, passes: &[String]) -> String {
    let mut words = vec![format!("{} check %s", tool.name)];
    if matches.get_flag("allow-unregistered-dialect") {
        words.push("--allow-unregistered-dialect".into());
    }
    words.extend(given(matches, option_args()));
    words.extend_from_slice(passes);
    words.join(" ")
}

/// Returns those of the arguments that the command line gives.
fn given(matches: &ArgMatches, args: impl IntoIterator<Item = Arg>) -> impl Iterator<Item = String> {
    args.into_iter().filter_map(|arg| {
        let name = arg.get_id().as_str();
        let is_given = matches!(matches.try_contains_id(name), Ok(true))
            && matches.value_source(name) == Some(ValueSource::CommandLine);
        let value = || matches.get_raw(name)?.next()?.to_str().filter(|_| arg.get_action().takes_values());
        is_given.then(|| value().map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}")))
    })
}

/// Returns the flags of the passes, or of the target, that the command line gives.
fn given_passes(tool: &Tool, matches: &ArgMatches) -> Vec<String> {
    pass_flags::given(tool, matches).into_iter().chain(given(matches, target_args(tool))).collect()
}

/// Returns the flags of a pipeline.
pub(super) fn flag_of(tool: &Tool, pipeline: &str) -> String {
    let single = pipeline.strip_prefix("builtin.module(").and_then(|p| p.strip_suffix(')'));
    match single.filter(|name| tool.passes.iter().any(|info| info.name == *name)) {
        Some(name) => format!("--{name}"),
        None if pipeline.contains('\'') => format!("--pass-pipeline=\"{pipeline}\""),
        None => format!("--pass-pipeline='{pipeline}'"),
    }
}

/// A golden test that passes once a bug is fixed.
pub(super) struct Reproducer {
    /// The file: the RUN line, the error as a comment, and the program.
    pub text: String,
    /// Number of ops in the bodies of functions.
    pub ops: usize,
}

impl Reproducer {
    /// Formats a reproducer.
    fn new(run: &str, error: &Diagnostic, m: &Module) -> Reproducer {
        let mut text = format!("// RUN: {run}\n//\n");
        let notes = error.notes.iter().map(|(_, note)| format!("  {note}"));
        for line in std::iter::once(error.message.clone()).chain(notes) {
            // Defuses directives inside strings of the program.
            let line =
                line.replace('\n', " ").replace("RUN:", "RUN ").replace("CHECK", "check").replace("expected-", "");
            text += &format!("// {line}\n");
        }
        Reproducer { text: text + &printed(m), ops: ops_in_bodies(m) }
    }

    /// Reduces the program of a failed check. `run` returns the RUN line that checks a file with a pipeline, or with the whole one of the
    /// check. `None` if the check does not fail, or does not fail on a copy of the program.
    pub fn of(
        subject: &Subject<'_>,
        checked: &Checked,
        parse: &dyn Fn(&str) -> Option<Pipeline>,
        run: &dyn Fn(Option<&str>) -> String,
    ) -> Option<Reproducer> {
        let options = ReduceOptions { time: Some(SOON), ..ReduceOptions::default() };
        match checked {
            Checked::Passed(_) => None,
            Checked::Wrong(culprit) => {
                let found = quietly(|| subject.reproduce(culprit, parse, &options))?;
                let run = run(found.is_alone.then_some(&culprit.pipeline));
                Some(Reproducer::new(&run, &found.culprit.error, &found.reduced.module))
            }
            Checked::Failed(_) => {
                let (reduced, found) = quietly(|| subject.reproduce_failure(&options))?;
                Some(Reproducer::new(&run(None), found.said.first()?, &reduced.module))
            }
        }
    }
}

/// Reduces the program of a failed check and writes the reproducer to a file.
pub(super) fn reproduce(
    tool: &Tool,
    matches: &ArgMatches,
    (subject, checked): (&Subject<'_>, &Checked),
    path: &str,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let run = |pipeline: Option<&str>| {
        let passes = pipeline.map_or_else(|| given_passes(tool, matches), |pipeline| vec![flag_of(tool, pipeline)]);
        run_line(tool, matches, &passes)
    };
    let parse = |text: &str| pass_flags::parse_pipeline(tool, text).ok();
    let Some(found) = Reproducer::of(subject, checked, &parse, &run) else {
        let why = "the passes do not fail on a copy of the program";
        return Err(Failure::Input(format!("there is no reproducer: {why}")));
    };
    io::write(path, streams, |out| out.write_all(found.text.as_bytes()))?;
    let _ = writeln!(streams.err, "wrote a reproducer of {} ops to {path}", found.ops);
    Ok(())
}

/// Time limit of the reduction.
const SOON: Duration = Duration::from_secs(4);
