//! `gradus fuzz`: random programs through random pipelines, checked by execution.

use crate::io::Chunk;
use crate::io::{self, write_file};
use crate::pass_flags;
use crate::progress;
use crate::split::{MARKER, split};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_generate::Limits;
use gradus_generate::campaign::{self, Campaign, CampaignStatistics, FuzzFailure};
use gradus_generate::survey::Survey;
use gradus_ir::PrintOptions;
use gradus_ir::pass::Pipeline;
use gradus_targets::Target;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

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
             --from=17 --count=1 --print\n\nPrograms are generated from the declarations of ops, their documented \
             examples, the left sides of rules, and families of typical programs. With passes, they are directed at what \
             the passes rewrite, and later programs grow from those that reached rare rewrites. Seed and number determine \
             the program otherwise. Without passes, one to six are drawn for each program. Options that are not given are drawn too. \
             Exit status 1: a check failed, or no rewrite of the passes was reached; each failing program is written to the \
             folder -o, with the command that reproduces it.",
        )
        .arg(number("count", "1000", "Number of programs"))
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
        .arg(Arg::new("print").long("print").action(ArgAction::SetTrue).help("Only print the programs"))
        .arg(Arg::new("stats").long("stats").action(ArgAction::SetTrue).help(
            "Only print, for each op, the number of instances and of distinct attributes, types and shapes",
        ))
        .arg(Arg::new("output").short('o').value_name("FOLDER").help("Folder for failing programs"))
        .args(pass_flags::pipeline_arguments(tool))
}

/// Returns the pipelines of targets up to the first pass of a pipeline. They do not saturate, which takes long.
fn stages(tool: &Tool, pipeline: &Pipeline) -> Vec<String> {
    let Some(first) = pipeline.first() else { return Vec::new() };
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
    let value = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    let pipeline = pass_flags::pipeline(tool, matches, "builtin.module")?;
    let stages = stages(tool, &pipeline);
    let rewrites = rewrites(tool, &pipeline);
    let pipeline = (!pipeline.is_empty()).then(|| format!("{pipeline:#}"));
    let seeds = learn(matches, streams)?;
    let dialects: Vec<String> = matches.get_many("dialects").into_iter().flatten().cloned().collect();
    let campaign = Campaign {
        context: &|| tool.context(),
        seeds: &seeds,
        dialects: &dialects,
        passes: &tool.passes,
        favourite: tool.passes.iter().find(|info| info.name == "canonicalize").copied(),
        pipeline: pipeline.as_deref(),
        stages: &stages,
        seed: value("seed"),
        limits: Limits { ops: value("ops") as usize, ..Limits::default() },
        options: campaign::options(value("inputs")),
    };
    let from = value("from");
    let (part, parts) = matches.get_one::<(u64, u64)>("shard").copied().unwrap_or((0, 1));
    let bound =
        |part: u64| from.saturating_add((u128::from(value("count")) * u128::from(part) / u128::from(parts)) as u64);
    let numbers = bound(part)..bound(part + 1);
    if matches.get_flag("print") || matches.get_flag("stats") {
        return show(&campaign, numbers, matches.get_flag("stats"), streams);
    }
    let start = Instant::now();
    let seconds = matches.get_one::<u64>("seconds").map(|&s| Duration::from_secs(s));
    let bar =
        progress::bar(numbers.end - numbers.start, "checking [{bar:32}] {pos}/{len} programs, {per_sec}, {eta} left");
    let broken = AtomicBool::new(false);
    let goes_on = |_| {
        bar.inc(1);
        !broken.load(Ordering::Relaxed) && seconds.is_none_or(|limit| start.elapsed() < limit)
    };
    let folder = matches.get_one::<String>("output").map(Path::new);
    let threads = value("threads") as usize;
    let mut failures = 0;
    // Failures are reported at once, since a campaign may be interrupted.
    let statistics = std::thread::scope(|scope| -> Result<CampaignStatistics, Failure> {
        let (found, founds) = mpsc::channel();
        let (campaign, goes_on) = (&campaign, &goes_on);
        let worker = scope.spawn(move || campaign.run(numbers, threads, goes_on, &|failure| drop(found.send(failure))));
        for failure in founds {
            failures += 1;
            let told = bar.suspend(|| tell(&failure, campaign, folder, streams));
            told.inspect_err(|_| broken.store(true, Ordering::Relaxed))?;
        }
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    bar.finish_and_clear();
    conclude(tool, &statistics, pipeline.is_some().then_some(&rewrites), (failures, start.elapsed()), streams)
}

/// Prints the statistics of a campaign. `rewrites` are those of the passes under test, if passes were given; the error says why it failed.
fn conclude(
    tool: &Tool,
    statistics: &CampaignStatistics,
    rewrites: Option<&BTreeSet<String>>,
    (failures, time): (usize, Duration),
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let mut text = summary(statistics, failures, time);
    let never = rewrites.map_or(Vec::new(), |rewrites| statistics.fired.never(rewrites));
    match rewrites {
        Some(_) => {
            text.extend(statistics.fired.list().iter().map(|(name, n)| format!("{n:>8}  {name}\n")));
            list_never(&never, &mut text);
        }
        None => coverage(statistics, &tool.context(), &mut text),
    }
    io::write("-", streams, |out| out.write_all(text.as_bytes()))?;
    if failures > 0 {
        return Err(Failure::Reported);
    }
    if statistics.modules > 0 && statistics.checked + statistics.inconclusive == 0 {
        return Err(Failure::Input("no program was checked: a pass rejected each of them".to_owned()));
    }
    if statistics.modules > 0 && !never.is_empty() && rewrites.is_some_and(|rewrites| rewrites.len() == never.len()) {
        let message = format!("no program reached a rewrite of the passes: {}", never.join(", "));
        return Err(Failure::Input(message));
    }
    Ok(())
}

/// Returns the names of the rewrites that the passes of a pipeline declare.
fn rewrites(tool: &Tool, pipeline: &Pipeline) -> BTreeSet<String> {
    let ctx = tool.context();
    pipeline.passes().into_iter().flat_map(|info| info.rewrites.names(&ctx)).collect()
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
fn show(
    campaign: &Campaign<'_>,
    numbers: std::ops::Range<u64>,
    stats: bool,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
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

/// Reports a failure and writes its program to a file.
fn tell(
    failure: &FuzzFailure,
    campaign: &Campaign<'_>,
    folder: Option<&Path>,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let (FuzzFailure { number, text, pipeline, error }, seed) = (failure, campaign.seed);
    drop(write!(streams.err, "program {number} of seed {seed}, pipeline '{pipeline}':\n{error}"));
    let Some(folder) = folder else { return Ok(()) };
    let path = folder.join(format!("fuzz-{seed}-{number}.mlir"));
    let rounds = Pipeline::parse(pipeline, campaign.passes).is_ok_and(|pipeline| pipeline.rounds());
    let floats = if rounds { " --floats=rounding" } else { "" };
    let run = format!("// RUN: gradus check %s{floats} --pass-pipeline='{pipeline}'\n");
    write_file(&path, &(run + text), streams)
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
