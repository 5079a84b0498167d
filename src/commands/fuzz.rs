//! `gradus fuzz`: random programs through random pipelines, checked by execution.

mod findings;

use crate::commands::comparison::executions;
use crate::io::{self, Chunk};
use crate::split::{MARKER, split};
use crate::target::{named, target_args};
use crate::{Failure, Streams, Subcommand, Tool};
use crate::{interrupt, pass_flags, progress};
use clap::{Arg, ArgAction, ArgMatches, Command};
use findings::Findings;
use gradus_check::Execution;
use gradus_generate::Limits;
use gradus_generate::campaign::{self, Campaign, CampaignStatistics};
use gradus_generate::survey::Survey;
use gradus_ir::PrintOptions;
use gradus_ir::pass::Pipeline;
use gradus_targets::Target;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

/// The help of `--target`.
const TARGET: &str = "Run the passes of a target, or those given, and execute each program on the target, too: its kernels on one to three \
                      threads, and as read back from a file";

/// Number of programs, where neither it nor a time is given.
const COUNT: u64 = 1000;

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name("N").value_parser(clap::value_parser!(u64));
    arg.default_value(default).help(help)
}

/// Parses `I/N` with I below N.
fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| i < n).ok_or_else(|| "expected I/N with I below N, such as 0/4".to_owned())
}

fn command(tool: &Tool) -> Command {
    Command::new("fuzz")
        .about("Generate random valid programs, run passes on them, and check each by execution")
        .after_help(
            "Examples:\n  gradus fuzz --count=1000\n  gradus fuzz --seconds=60 --canonicalize --cse -o found\n  gradus fuzz \
             --target cpu --seconds=60\n  gradus fuzz --from=17 --count=1 --print\n\nPrograms are generated from the declarations of ops, their documented \
             examples, the left sides of rules, and families of typical programs. With passes, they are directed at what \
             the passes rewrite, and later programs grow from those that reached rare rewrites. Seed and number determine \
             the program otherwise. Without passes, one to six are drawn for each program. Options that are not given are drawn too. \
             Exit status 1: a check failed, or no rewrite of the passes was reached; each failing program is written to the \
             folder -o, with the command that reproduces it.",
        )
        .arg(Arg::new("count").long("count").value_name("N").value_parser(clap::value_parser!(u64)).help(format!(
            "Number of programs [default: {COUNT}, or as many as --seconds allow]"
        )))
        .arg(number("from", "0", "Number of the first program"))
        .arg(number("seed", "0", "Seed of random choices"))
        .arg(number("ops", "50", "Approximate number of ops per program"))
        .arg(number("inputs", "16", "Number of inputs per function on which it is defined"))
        .arg(number("threads", "1", "Number of threads"))
        .arg(Arg::new("shard").long("shard").value_name("I/N").value_parser(shard).help(
            "Only the I-th of N equal parts of the programs, from 0",
        ))
        .arg(Arg::new("seconds").long("seconds").value_name("S").value_parser(clap::value_parser!(u64)).help(
            "Start no program after this time",
        ))
        .arg(Arg::new("learn").long("learn").value_name("FILE|FOLDER").action(ArgAction::Append).help(
            "Also use fragments of the programs in these files",
        ))
        .arg(
            Arg::new("dialects")
                .long("dialects")
                .value_name("NAME,...")
                .value_delimiter(',')
                .value_parser(tool.dialects.iter().map(|d| d.name).collect::<Vec<_>>())
                .help("Use ops of these dialects only [default: all]"),
        )
        .arg(Arg::new("each").long("each").action(ArgAction::SetTrue).help(
            "Run a campaign on each of the passes by itself: those given, those of the target, or all",
        ))
        .arg(Arg::new("print").long("print").action(ArgAction::SetTrue).help("Only print the programs"))
        .arg(Arg::new("stats").long("stats").action(ArgAction::SetTrue).help(
            "Only print, for each op, the number of instances and of distinct attributes, types and shapes",
        ))
        .arg(Arg::new("output").short('o').value_name("FOLDER").help("Folder for failing programs"))
        .args(target_args(tool).filter(|arg| arg.get_id() == "target").map(|arg| arg.help(TARGET)))
        .args(pass_flags::pipeline_arguments(tool))
}

/// Returns the pipelines of targets up to the first pass of the pipelines. They do not saturate, which takes long.
fn stages(tool: &Tool, pipelines: &[String]) -> Vec<String> {
    let first = pipelines.first().and_then(|text| Pipeline::parse(text, &tool.passes).ok()?.first());
    let Some(first) = first else { return Vec::new() };
    let ctx = tool.context();
    let stage = |target: &Target| {
        let text = target.pipeline(&target.cost.machine(&ctx).ok()?).ok()?;
        let mut stage = Pipeline::parse(&text, &tool.passes).ok()?;
        stage.leave_out("saturate");
        (stage.end_before(first.name) && !stage.is_empty()).then(|| stage.to_string())
    };
    tool.targets.iter().copied().filter_map(stage).collect()
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let (given, target) = (pass_flags::pipeline(tool, matches, "builtin.module")?, named(tool, matches)?);
    let sources = Sources {
        seeds: learn(matches, streams)?,
        dialects: matches.get_many("dialects").into_iter().flatten().cloned().collect(),
    };
    if matches.get_flag("each") {
        return each(tool, matches, &given, &sources, streams);
    }
    let pipelines = match target.filter(|_| given.is_empty()) {
        Some(target) => pipelines_of(tool, target)?,
        None if given.is_empty() => Vec::new(),
        None => vec![format!("{given:#}")],
    };
    let executions = executions(tool, matches, &tool.context())?;
    campaign_on((tool, matches), &sources, &pipelines, &executions, streams)
}

/// Runs a campaign on each of the passes by itself: those given, those of the target, or all.
fn each(
    tool: &Tool,
    matches: &ArgMatches,
    given: &Pipeline,
    sources: &Sources,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let whole = match named(tool, matches)? {
        _ if !given.is_empty() => vec![format!("{given:#}")],
        Some(target) => vec![target.pipeline(&target.cost.machine(&tool.context())?)?],
        None => tool.passes.iter().map(|pass| format!("builtin.module({})", pass.name)).collect(),
    };
    let mut result = Ok(());
    for single in whole.iter().filter_map(|text| Some(Pipeline::parse(text, &tool.passes).ok()?.singles())).flatten() {
        let heading = format!("\n{single}\n");
        io::write("-", streams, |out| out.write_all(heading.as_bytes()))?;
        match campaign_on((tool, matches), sources, &[format!("{single:#}")], &[], streams) {
            Ok(()) => {}
            Err(Failure::Input(message)) => {
                let _ = writeln!(streams.err, "{single}: {message}");
                result = Err(Failure::Reported);
            }
            Err(failure) => result = Err(failure),
        }
    }
    result
}

/// Programs and dialects from which a campaign draws.
struct Sources {
    seeds: Vec<(String, String)>,
    dialects: Vec<String>,
}

/// Runs a campaign on pipelines, or drawn ones if there are none, and prints its summary.
fn campaign_on(
    (tool, matches): (&Tool, &ArgMatches),
    sources: &Sources,
    pipelines: &[String],
    executions: &[Box<dyn Execution + Sync>],
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let value = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    let campaign = Campaign {
        context: &|| tool.context(),
        seeds: &sources.seeds,
        dialects: &sources.dialects,
        passes: &tool.passes,
        favourite: tool.passes.iter().find(|info| info.name == "canonicalize").copied(),
        pipelines,
        stages: &stages(tool, pipelines),
        seed: value("seed"),
        limits: Limits { ops: value("ops") as usize, ..Limits::default() },
        options: campaign::options(value("inputs")),
        executions,
    };
    let numbers = numbers(matches);
    if matches.get_flag("print") || matches.get_flag("stats") {
        return show(&campaign, numbers, matches.get_flag("stats"), streams);
    }
    let start = Instant::now();
    let mut findings = Findings::new(tool, &campaign, matches);
    let statistics = search(&campaign, numbers, matches, &mut findings, streams)?;
    let failures = findings.count();
    let mut text = summary(&statistics, failures, start.elapsed()) + &findings.summary();
    let rewrites = rewrites(tool, pipelines);
    let never = statistics.fired.never(&rewrites);
    if pipelines.is_empty() {
        coverage(&statistics, &tool.context(), &mut text);
    } else {
        text.extend(statistics.fired.list().iter().map(|(name, n)| format!("{n:>8}  {name}\n")));
        list_never(&never, &mut text);
    }
    io::write("-", streams, |out| out.write_all(text.as_bytes()))?;
    match statistics.modules {
        _ if failures > 0 => Err(Failure::Reported),
        1.. if statistics.checked + statistics.inconclusive == 0 => {
            Err(Failure::Input("no program was checked: a pass rejected each of them".to_owned()))
        }
        1.. if !never.is_empty() && never.len() == rewrites.len() => {
            Err(Failure::Input(format!("no program reached a rewrite of the passes: {}", never.join(", "))))
        }
        _ => Ok(()),
    }
}

/// Returns the numbers of the programs of a command line.
fn numbers(matches: &ArgMatches) -> Range<u64> {
    let from = *matches.get_one::<u64>("from").expect("has a default");
    let default = if matches.contains_id("seconds") { u64::MAX } else { COUNT };
    let count = u128::from(matches.get_one::<u64>("count").copied().unwrap_or(default));
    let (part, parts) = matches.get_one::<(u64, u64)>("shard").copied().unwrap_or((0, 1));
    let bound = |part: u64| from.saturating_add((count * u128::from(part) / u128::from(parts)) as u64);
    bound(part)..bound(part + 1)
}

/// Runs a campaign with progress on the terminal until it ends, its time is over, or Ctrl-C. Failures are reported at once.
fn search(
    campaign: &Campaign<'_>,
    numbers: Range<u64>,
    matches: &ArgMatches,
    findings: &mut Findings<'_>,
    streams: &mut Streams<'_>,
) -> Result<CampaignStatistics, Failure> {
    let (start, is_interrupted) = (Instant::now(), interrupt::flag());
    let seconds = matches.get_one::<u64>("seconds").map(|&s| Duration::from_secs(s));
    let bar = match matches.contains_id("count") || seconds.is_none() {
        true => {
            let template = "checking [{bar:32}] {pos}/{len} programs, {per_sec}, {eta} left";
            progress::bar(numbers.end - numbers.start, template)
        }
        false => progress::bar(u64::MAX, "checking {pos} programs, {per_sec}, {elapsed}"),
    };
    let goes_on = |_| {
        bar.inc(1);
        !is_interrupted.load(Ordering::Relaxed) && seconds.is_none_or(|limit| start.elapsed() < limit)
    };
    let threads = *matches.get_one::<u64>("threads").expect("has a default") as usize;
    let statistics = std::thread::scope(|scope| -> Result<CampaignStatistics, Failure> {
        let (found, founds) = mpsc::channel();
        let goes_on = &goes_on;
        let worker = scope.spawn(move || campaign.run(numbers, threads, goes_on, &|failure| drop(found.send(failure))));
        for failure in founds {
            let told = bar.suspend(|| findings.add(&failure, streams));
            told.inspect_err(|_| is_interrupted.store(true, Ordering::Relaxed))?;
        }
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    bar.finish_and_clear();
    Ok(statistics)
}

/// Returns the names of the rewrites that the passes of pipelines declare.
fn rewrites(tool: &Tool, pipelines: &[String]) -> BTreeSet<String> {
    let ctx = tool.context();
    let passes = pipelines.iter().filter_map(|text| Some(Pipeline::parse(text, &tool.passes).ok()?.passes()));
    passes.flatten().flat_map(|info| info.rewrites.names(&ctx)).collect()
}

/// Returns the pipelines of a target: mostly without saturation, which takes long, and in each precision.
fn pipelines_of(tool: &Tool, target: &Target) -> Result<Vec<String>, Failure> {
    let machine = target.cost.machine(&tool.context())?;
    let parse = |text: &str| Pipeline::parse(text, &tool.passes).map_err(|error| Failure::Input(error.to_string()));
    let quick = |text: &str| {
        let mut pipeline = parse(text)?;
        pipeline.leave_out("saturate");
        Ok(format!("{pipeline:#}"))
    };
    let whole = target.pipeline(&machine)?;
    let precise = target.precisions.iter().map(|precision| quick(&target.pipeline_in(&machine, precision.name)?));
    [Ok(format!("{:#}", parse(&whole)?)), quick(&whole), quick(&whole)].into_iter().chain(precise).collect()
}

/// Reads the programs to learn from, with their names. Binary files are skipped here, invalid programs later.
fn learn(matches: &ArgMatches, streams: &Streams<'_>) -> Result<Vec<(String, String)>, Failure> {
    let mut programs = Vec::new();
    for path in matches.get_many::<String>("learn").into_iter().flatten() {
        for name in io::files(path, "mlir")? {
            let Ok(text) = String::from_utf8(io::read(&name, streams)?) else { continue };
            let (chunks, _) = split(&Chunk { name, text: Arc::new(text), start: (1, 1) }, MARKER);
            let parts = chunks.into_iter().enumerate();
            programs.extend(parts.map(|(i, part)| (format!("{}:{i}", part.name), part.text.to_string())));
        }
    }
    Ok(programs)
}

/// Writes the programs of `numbers`, or their statistics.
fn show(campaign: &Campaign<'_>, numbers: Range<u64>, stats: bool, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let (mut texts, mut survey, mut ctx) = (Vec::new(), Survey::default(), None);
    campaign.programs(numbers, &mut |m| {
        match stats {
            true => survey.add(m),
            false => texts.push(m.to_text(PrintOptions::default())),
        }
        ctx = Some(m.ctx.clone());
    });
    let text = ctx.filter(|_| stats).map_or_else(|| texts.join("// -----\n"), |ctx| survey.to_text(&ctx));
    io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Formats the statistics of a campaign.
fn summary(statistics: &CampaignStatistics, failures: usize, time: Duration) -> String {
    let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let runs = statistics.normal + statistics.undefined + statistics.discarded;
    let (tried, valid) = statistics.statistics.ops();
    let (kinds, good) = statistics.statistics.kinds();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} programs of {} ops on average, {:.0} a second; {failures} failed",
        statistics.modules,
        statistics.ops / statistics.modules.max(1),
        statistics.modules as f64 / time.as_secs_f64()
    );
    let _ = writeln!(
        text,
        "functions: {} checked, {} inconclusive; pipelines rejected by a pass: {}",
        statistics.checked, statistics.inconclusive, statistics.refused
    );
    let _ = writeln!(
        text,
        "runs of the original: {:.1}% returned, {:.1}% undefined or poison, {:.1}% inconclusive",
        percent(statistics.normal, runs),
        percent(statistics.undefined, runs),
        percent(statistics.discarded, runs)
    );
    let _ = writeln!(
        text,
        "ops valid at the first attempt: {:.1}%; kinds of ops: {kinds}, {good} of them valid in 90% of attempts",
        percent(valid, tried)
    );
    if !statistics.missing.is_empty() {
        let _ =
            writeln!(text, "ops in no program: {}", statistics.missing.iter().copied().collect::<Vec<_>>().join(", "));
    }
    text
}

/// Appends the number of rewrites that applied at least once per 1000 programs, and the names of the others.
fn coverage(statistics: &CampaignStatistics, ctx: &gradus_ir::Context, text: &mut String) {
    let (fired, rewrites, never) = statistics.fired.coverage(ctx, (statistics.modules / 1000).max(1));
    let _ = writeln!(text, "rewrites applied (at least once per 1000 programs): {fired} of {rewrites}");
    list_never(&never, text);
}

/// Appends the names of rewrites that never applied.
fn list_never(never: &[String], text: &mut String) {
    for list in never.chunks(8) {
        let _ = writeln!(text, "  never: {}", list.join(", "));
    }
}
