//! `gradus opt`: parse, verify, run passes, print.

use super::model::{is_model, load, load_args, reader, set_given_shapes};
use super::rules::{self, rules_arg};
use crate::io::Chunk;
use crate::io::{self, SharedBuffer, report, write};
use crate::pass_flags::{self, flag, on_by_default};
use crate::progress::PassProgress;
use crate::saturation::{self, Reports};
use crate::split;
use crate::{Failure, Streams, Subcommand, Tool, print_flags, target};
use clap::{Arg, ArgMatches, Command};
use gradus_ir::pass::{AfterPass, PassEvent, Pipeline, Reproducer, RunOptions, Timer, Watch};
use gradus_ir::verify::{verify, verify_on};
use gradus_ir::{Context, Module, ParseOptions, PrintOptions, parse_single_op};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    let general = [
        Arg::new("FILE")
            .default_value("-")
            .help("The program, a model (.onnx) or a compiled program; - is standard input"),
        Arg::new("output").short('o').value_name("FILE").default_value("-").help("Where to print"),
        flag("allow-unregistered-dialect", "Allow operation with no registered dialects"),
        flag("no-implicit-module", "The file holds one op, which need not be a module"),
        rules_arg("Rules in the dialect 'rewrite', for the pass apply-rules"),
        flag("verify-roundtrip", "Check that the program is the same when it is printed and read again"),
        flag(UNVERIFIED, "Do not verify what was read: passes may then do anything"),
        on_by_default("mlir-print-op-on-diagnostic", "Show the op that a diagnostic is about in a note"),
        flag("list-passes", "Print the list of registered passes and exit"),
        flag("show-dialects", "Print the list of registered dialects and exit"),
        flag("emit-bytecode", "Not supported: programs are printed as text").hide(true),
    ];
    Command::new("opt")
        .about("Run passes over a program and print it")
        .after_help(
            "Examples:\n  gradus opt a.mlir --canonicalize --cse -o b.mlir\n  \
             gradus opt a.mlir --canonicalize=\"max-iterations=3 top-down=false\"\n  \
             gradus opt a.mlir --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after-all\n  \
             mlir-opt --mlir-print-op-generic a.mlir | gradus opt - --allow-unregistered-dialect",
        )
        .args(general)
        .args(load_args())
        .args(check_arg())
        .args(split::args())
        .args(pass_flags::pass_arguments(tool))
        .args(pass_flags::arguments(tool))
        .args(saturation::arguments())
        .arg(target::machine_arg())
        .args(print_flags::arguments())
}

/// Returns the argument `--check`, where programs can be checked by execution.
fn check_arg() -> Option<Arg> {
    let help = "Run the program before and after each pass; fail when it differs, or when that cannot be said";
    cfg!(feature = "check").then(|| flag("check", help))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if matches.get_flag("list-passes") || matches.get_flag("show-dialects") {
        let text = listing(tool, matches);
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    // Errors in the pipeline are reported before a long program is parsed, unless the program contains the expected
    // diagnostics.
    if !split::verifies(matches) {
        requested(tool, matches)?;
    }
    let threads = pass_flags::run_options(tool, matches, PrintOptions::default()).max_threads();
    let mut reports = Reports::default();
    split::each(matches, threads, streams, |program, output, streams| {
        one(tool, matches, program, output, &mut reports, streams)
    })?;
    reports.write(matches, streams)
}

/// Returns the pipeline of the arguments, after a check that its passes support them.
fn requested(tool: &Tool, matches: &ArgMatches) -> Result<Pipeline, Failure> {
    saturation::check(matches)?;
    if matches.get_flag("emit-bytecode") {
        return Err(Failure::Usage("--emit-bytecode: MLIR's bytecode is not supported; programs are text".into()));
    }
    pass_flags::pipeline(tool, matches, "builtin.module")
}

/// Processes one program.
fn one(
    tool: &Tool,
    matches: &ArgMatches,
    program: &Chunk,
    output: &str,
    reports: &mut Reports,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let pipeline = requested(tool, matches)?;
    let ctx = target::context(tool, matches, streams)?;
    rules::load(&ctx, matches, streams)?;
    let mut job = Job { tool, matches, program, output, ctx, pipeline, timer: Timer::new("root"), reports };
    let start = Instant::now();
    let result = job.run(streams);
    job.timer.wall = start.elapsed();
    pass_flags::report(matches, &job.pipeline, &job.timer, streams);
    result
}

/// The processing of one program.
struct Job<'a> {
    tool: &'a Tool,
    matches: &'a ArgMatches,
    program: &'a Chunk,
    /// Output path.
    output: &'a str,
    ctx: Arc<Context>,
    pipeline: Pipeline,
    timer: Timer,
    /// Reports of passes.
    reports: &'a mut Reports,
}

impl Job<'_> {
    fn run(&mut self, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let start = Instant::now();
        let mut m = self.read(streams)?;
        self.timer.parts.push(Timer::part("Parser", start.elapsed()));
        let mut print = print_flags::print_options(self.matches);
        self.transform(&mut m, print, streams)?;
        let start = Instant::now();
        // Custom forms require a valid program.
        print.generic |= self.flag(UNVERIFIED) && verify(&m).is_err();
        print.threads = self.threads();
        // Like mlir-opt, end with an empty line.
        write(self.output, streams, |out| m.print(print, out).and_then(|()| out.write_all(b"\n")))?;
        self.timer.parts.push(Timer::part("Output", start.elapsed()));
        if streams.last {
            std::mem::forget((m, self.ctx.clone()));
        }
        Ok(())
    }

    fn flag(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    fn threads(&self) -> usize {
        pass_flags::run_options(self.tool, self.matches, PrintOptions::default()).max_threads()
    }

    /// Parses and verifies the input.
    fn read(&self, streams: &mut Streams<'_>) -> Result<Module, Failure> {
        let threads = self.threads();
        let allow_unregistered = self.flag("allow-unregistered-dialect");
        let options = ParseOptions { allow_unregistered, threads, reader: reader(self.matches) };
        let mut m = match self.flag("no-implicit-module") {
            _ if is_model(&self.program.name) => {
                return load(&self.ctx, &self.program.name, self.matches, options, streams);
            }
            true => io::parse_with(parse_single_op, &self.ctx, self.program, options, streams)?,
            false => io::parse(&self.ctx, self.program, options, streams)?,
        };
        if !self.flag(UNVERIFIED)
            && let Err(mut errors) = verify_on(&m, m.root(), threads)
        {
            // A note that the file does not contain cannot be an expected one.
            if self.flag("mlir-print-op-on-diagnostic") && streams.expected.is_none() {
                errors.iter_mut().for_each(|d| d.show_op(&m));
            }
            return Err(report(&self.ctx, &errors, streams));
        }
        set_given_shapes(&mut m, self.matches, streams)?;
        if self.flag("verify-roundtrip") {
            crate::roundtrip::check(&m, options, streams)?;
        }
        Ok(m)
    }

    /// Runs the passes.
    fn transform(&mut self, m: &mut Module, print: PrintOptions, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let mut how = pass_flags::run_options(self.tool, self.matches, print);
        how.op_on_diagnostic &= streams.expected.is_none();
        self.choose_pipeline(m, &mut how)?;
        if self.flag("dump-pass-pipeline") {
            let _ = streams.err.write_all(self.pipeline.dump().as_bytes());
        }
        if let Some(path) = self.matches.get_one::<String>("mlir-generate-reproducer") {
            let reproducer = Reproducer {
                pipeline: self.pipeline.to_string(),
                disable_threading: how.threads == 1,
                verify_each: how.verify_each,
            };
            let text = reproducer.to_text(m);
            write(path, streams, |out| out.write_all(text.as_bytes()))?;
        }
        if self.pipeline.is_empty() {
            return Ok(());
        }
        #[cfg(feature = "check")]
        if self.flag("check") {
            return self.run_checked(m, &how, streams);
        }
        self.run_passes(m, &how, None, streams)
    }

    /// Runs the passes and executes the program before and after each of them.
    #[cfg(feature = "check")]
    fn run_checked(&mut self, m: &mut Module, how: &RunOptions, streams: &mut Streams<'_>) -> Result<(), Failure> {
        use gradus_check::{Options, Stages, Verdict};
        use gradus_ir::Diagnostic;
        use gradus_ir::pass::Passed;
        let before = self.read(streams)?;
        let mut stages = Stages::new(&before, Options::default());
        let look = |passed: &Passed<'_>| stages.error_after(passed).map_or(Ok(()), Err);
        self.run_passes(m, how, Some(Box::new(look)), streams)?;
        let open = stages.original().compare(m).filter_map(|(name, loc, verdict)| match verdict {
            Verdict::Inconclusive(why) | Verdict::Lost(why) => {
                Some(Diagnostic::error(loc, format!("'@{name}' could not be checked: {why}")))
            }
            _ => None,
        });
        match open.collect::<Vec<_>>() {
            open if open.is_empty() => Ok(()),
            open => Err(report(&self.ctx, &open, streams)),
        }
    }

    /// Takes the pipeline from a reproducer in the program, or adapts it to a root op that is not a module.
    fn choose_pipeline(&mut self, m: &mut Module, how: &mut RunOptions) -> Result<(), Failure> {
        if self.flag("run-reproducer")
            && let Some(reproducer) = Reproducer::take(m)
        {
            self.pipeline = pass_flags::parse_pipeline(self.tool, &reproducer.pipeline)?;
            how.verify_each = reproducer.verify_each;
            how.threads = if reproducer.disable_threading { 1 } else { how.threads };
        } else if m.name_text(m.root()) != "builtin.module" {
            self.pipeline = pass_flags::pipeline(self.tool, self.matches, m.name_text(m.root()))?;
        }
        Ok(())
    }

    fn run_passes(
        &mut self,
        m: &mut Module,
        how: &RunOptions,
        after_pass: Option<Box<AfterPass<'_>>>,
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        let log = SharedBuffer::default();
        let actions = pass_flags::actions(self.matches, &log)?;
        let (mut unwritten, mut shown) = (None, PassProgress::default());
        let mut watch = Watch::new(|event| {
            log.drain(streams.err);
            match event {
                PassEvent::Diagnostic(d) => drop(report(&self.ctx, &[d], streams)),
                PassEvent::Text(text) => drop(streams.err.write_all(text.as_bytes())),
                PassEvent::Report(report) => self.reports.add(report),
                PassEvent::Progress { pass, done, what } => shown.show(pass, done, what),
                PassEvent::File { path, text } => {
                    unwritten = io::write_file(&path, &text, streams).err().or(unwritten.take());
                }
            }
        });
        watch.actions = actions;
        watch.after_pass = after_pass;
        watch.timer = std::mem::take(&mut self.timer);
        let result = self.pipeline.run(m, how, &mut watch);
        let counters = watch.actions.take().map(|actions| actions.counters());
        self.timer = std::mem::take(&mut watch.timer);
        drop(watch);
        log.drain(streams.err);
        if let Some(text) = counters.filter(|_| self.flag("mlir-print-debug-counter")) {
            let _ = streams.err.write_all(text.as_bytes());
        }
        match (result, unwritten) {
            (Err(_), None) => Err(Failure::Reported),
            (_, Some(failure)) => Err(failure),
            (Ok(()), None) => Ok(()),
        }
    }
}

/// Split because a test searches the sources for the word in the middle.
const UNVERIFIED: &str = concat!("mlir-very-un", "safe-disable-verifier-on-parsing");

/// Returns the output of `--list-passes` and `--show-dialects`.
fn listing(tool: &Tool, matches: &ArgMatches) -> String {
    if matches.get_flag("show-dialects") {
        let mut names: Vec<&str> = tool.dialects.iter().map(|d| d.name).collect();
        names.sort_unstable();
        return format!("Available Dialects: {}\n", names.join(","));
    }
    let mut text = String::from("Passes:\n");
    for info in &tool.passes {
        let _ = writeln!(text, "  --{:<36} -   {}", info.name, info.summary());
        for option in info.options {
            let name = format!("{}={}", option.name, option.kind.placeholder());
            let _ = writeln!(text, "    --{name:<34} - {}", option.doc);
        }
    }
    text
}
