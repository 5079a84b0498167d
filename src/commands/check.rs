//! `gradus check`: whether a transformation preserves the meaning of a program.

use super::check_rules;
use super::comparison::{executions, number, option_args, options};
use super::model::{load, load_args};
use super::rules::rules_arg;
use crate::io::report;
use crate::pass_flags::{self, flag};
use crate::target::{check_machine, context, named, precision_arg, target_args};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgMatches, Command};
use gradus_check::bisect::{Checked, Subject};
use gradus_check::{Floats, Options, Reference, Verdict, widened};
use gradus_generate::rule::RuleOptions;
use gradus_ir::pass::{Pipeline, RunOptions};
use gradus_ir::{Context, Module, ParseOptions};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    Command::new("check")
        .about("Run a program before and after a transformation and compare")
        .after_help(
            "Examples:\n  gradus check a.mlir --pipeline='builtin.module(func.func(cse,canonicalize))'\n  gradus check \
             a.mlir --canonicalize --lower-affine\n  mlir-opt a.mlir --canonicalize -o b.mlir && gradus check a.mlir \
             b.mlir\n  gradus check net.onnx --target cpu --dim batch=1\n  gradus check --rules builtin add-add\n  gradus check --rules rules.mlir\n  gradus check net.onnx --dim batch=1 --canonicalize --floats=algebra --inputs=5\n\nEach public function is run on random and extreme inputs. With passes, the program is compared \
             after each of them, and with --target at last as the target executes it, on one to three threads and read back from a file; the first pass and rewrite that change its meaning are named. Exit status 0: no \
             difference was found; 1: a difference was found, or the check is inconclusive.",
        )
        .arg(
            Arg::new("FILE")
                .required_unless_present("rules")
                .help("The program before, text or ONNX; - is standard input. With --rules, the name of a rule"),
        )
        .arg(
            Arg::new("AFTER")
                .num_args(0..)
                .help("The program after, by any compiler. With --rules, names of more rules"),
        )
        .arg(rules_arg(
            "Check the rules of a file, or those of dialects (builtin): build their left sides, apply them, and compare",
        ))
        .arg(number("instances", format!("Number of instances of its left side on which each rule is checked [default: {}]", RuleOptions::default().instances)))
        .arg(flag("allow-unregistered-dialect", "Allow operation with no registered dialects"))
        .args(load_args())
        .arg(
            Arg::new("reproducer")
                .long("reproducer")
                .value_name("FILE")
                .help("Where to write a small program in which the same pass goes wrong, if one does"),
        )
        .arg(number("seconds", "Check with one seed after another for N seconds".into()))
        .args(target_args(tool))
        .args(precision_arg(tool))
        .args(option_args())
        .args(pass_flags::pipeline_arguments(tool))
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = context(tool, matches, streams)?;
    let pipeline = pipeline(tool, &ctx, matches)?;
    if matches.contains_id("rules") {
        return match pipeline.is_empty() {
            true => check_rules::check(tool, matches, streams),
            false => Err(Failure::Usage("--rules checks rules, not passes".into())),
        };
    }
    let file = matches.get_one::<String>("FILE").expect("is required");
    let mut others = matches.get_many::<String>("AFTER").into_iter().flatten();
    let after = others.next();
    if others.next().is_some() {
        return Err(Failure::Usage("check takes at most one transformed program".into()));
    }
    if after.is_some() != pipeline.is_empty() {
        let message = "check takes either passes (--pipeline, --PASS ... or --target) or a second program";
        return Err(Failure::Usage(message.into()));
    }
    let before = read(&ctx, file, matches, streams)?;
    if let Some(after) = after {
        let after = read(&ctx, after, matches, streams)?;
        let verdicts = repeated(matches, options(matches), |options| pair(&ctx, &before, &after, options, streams))?;
        return conclude(&verdicts, streams);
    }
    let options = options(matches);
    let passes = || self::pipeline(tool, &ctx, matches).expect("it was made before");
    let executions = executions(tool, matches, &ctx)?;
    let verdicts = repeated(matches, options, |options| {
        let how = RunOptions { passes: tool.passes.clone(), ..RunOptions::default() };
        passes_checked(
            (tool, matches),
            &ctx,
            &Subject { program: &|| before.clone(), pipeline: &passes, how, options, executions: &executions },
            streams,
        )
    })?;
    conclude(&verdicts, streams)
}

/// The verdict on each function, by name.
type Verdicts = Vec<(String, Verdict)>;

/// Checks with one seed after another for `--seconds`, or once. Returns the sums of the verdicts.
fn repeated(
    matches: &ArgMatches,
    mut options: Options,
    mut check: impl FnMut(Options) -> Result<Verdicts, Failure>,
) -> Result<Verdicts, Failure> {
    let end = matches.get_one::<u64>("seconds").map(|&seconds| Instant::now() + Duration::from_secs(seconds));
    let mut all = check(options)?;
    let is_open = |(_, verdict): &(String, Verdict)| {
        matches!(verdict, Verdict::Inconclusive(_) | Verdict::Same { exhaustive: false, .. })
    };
    while all.iter().any(is_open) && end.is_some_and(|end| Instant::now() < end) {
        options.seed = options.seed.wrapping_add(1);
        for ((_, sum), (_, next)) in all.iter_mut().zip(check(options)?) {
            add(sum, next);
        }
    }
    Ok(all)
}

/// Adds a verdict on other inputs.
fn add(sum: &mut Verdict, next: Verdict) {
    match (&mut *sum, &next) {
        (
            Verdict::Same { inputs, undefined, discarded, exhaustive: false, leaks, .. },
            Verdict::Same { inputs: i, undefined: u, discarded: d, leaks: l, .. },
        ) => (*inputs, *undefined, *discarded, *leaks) = (*inputs + i, *undefined + u, *discarded + d, *leaks + l),
        (Verdict::Inconclusive(_), _) => *sum = next,
        _ => {}
    }
}

/// Checks a pipeline; the error reports the pass that changes the meaning.
fn passes_checked(
    (tool, matches): (&Tool, &ArgMatches),
    ctx: &Context,
    subject: &Subject<'_>,
    streams: &mut Streams<'_>,
) -> Result<Verdicts, Failure> {
    let checked = match subject.check() {
        Checked::Passed(verdicts) => return Ok(verdicts),
        checked => checked,
    };
    let failure = report(ctx, checked.errors(), streams);
    if let Some(path) = matches.get_one::<String>("reproducer")
        && !checked.is_refused()
    {
        super::reduce::reproduce(tool, matches, (subject, &checked), path, streams)?;
    }
    Err(failure)
}

/// Returns the passes of the flags, or else the pipeline of the target.
fn pipeline(tool: &Tool, ctx: &Context, matches: &ArgMatches) -> Result<Pipeline, Failure> {
    let passes = pass_flags::pipeline(tool, matches, "builtin.module")?;
    match named(tool, matches)? {
        None => Ok(passes),
        Some(target) => {
            check_machine(ctx, Some(target))?;
            if passes.is_empty() { Ok(tool.target_pipeline(target, ctx)?) } else { Ok(passes) }
        }
    }
}

/// Reads and verifies a program, converted to `f64` for `--floats=algebra`.
fn read(ctx: &Arc<Context>, path: &str, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<Module, Failure> {
    let allow_unregistered = matches.get_flag("allow-unregistered-dialect");
    let m = load(ctx, path, matches, ParseOptions { allow_unregistered, ..ParseOptions::default() }, streams)?;
    if options(matches).floats != Floats::Algebra {
        return Ok(m);
    }
    widened(&m).map_err(|mut errors| {
        for error in &mut errors {
            error.message.push_str(", when it computes in f64");
        }
        report(ctx, &errors, streams)
    })
}

fn pair(
    ctx: &Arc<Context>,
    before: &Module,
    after: &Module,
    options: Options,
    streams: &mut Streams<'_>,
) -> Result<Verdicts, Failure> {
    let reference = Reference::new(before, options);
    let mut verdicts = Vec::new();
    for (name, _, verdict) in reference.compare(after) {
        if let Verdict::Different(difference) = verdict {
            let error = reference.error(name, &difference, "in the second program");
            return Err(report(ctx, &[error], streams));
        }
        verdicts.push((name.to_owned(), verdict));
    }
    Ok(verdicts)
}

/// Prints the verdict on each function, with the float mode unless it is bit by bit. Succeeds if there is at least one and all
/// are conclusive.
fn conclude(verdicts: &[(String, Verdict)], streams: &mut Streams<'_>) -> Result<(), Failure> {
    let (mut lines, mut open) = (String::new(), 0);
    for (name, verdict) in verdicts {
        let line = match verdict {
            Verdict::Unchanged => "unchanged".to_owned(),
            Verdict::Same { inputs, exhaustive: true, undefined, .. } => {
                format!("no difference on all {} inputs ({undefined} undefined)", inputs + undefined)
            }
            Verdict::Same { inputs, undefined, discarded, floats, .. } => {
                let mode = floats.word().filter(|_| *floats != Floats::Bits);
                let mode = mode.map_or_else(String::new, |word| format!(" with --floats={word}"));
                format!("no difference on {inputs} inputs ({undefined} undefined, {discarded} discarded){mode}")
            }
            Verdict::Inconclusive(why) => {
                open += 1;
                format!("inconclusive: {why}")
            }
            Verdict::Lost(why) => {
                open += 1;
                format!("inconclusive, cannot be executed after the transformation: {why}")
            }
            Verdict::Different(_) => unreachable!("differences are errors"),
        };
        let line = match verdict {
            Verdict::Same { leaks: 1.., .. } => format!("{line}; it leaks memory that it did not leak before"),
            _ => line,
        };
        let _ = writeln!(lines, "@{name}: {line}");
    }
    crate::io::write("-", streams, |out| out.write_all(lines.as_bytes()))?;
    match (open, verdicts.len()) {
        (_, 0) => Err(Failure::Input("no public function with a body, so nothing was checked".into())),
        (0, _) => Ok(()),
        (open, all) => Err(Failure::Input(format!("inconclusive for {open} of {all} functions"))),
    }
}
