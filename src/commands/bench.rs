//! `gradus bench`: times a program.

use super::inputs::read_inputs;
use super::model::{Opened, load_args, open};
use super::run::{cut, pairs, statistics};
use super::{calibrate, ready};
use crate::io::{report, write};
use crate::random_inputs::drawn;
use crate::target::{precision_arg, target_args};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::eval::Datum;
use gradus_ir::{Context, Module, Op};
use gradus_targets::{OpTimes, Signature};
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("N").default_value(default).value_parser(clap::value_parser!(u64)).help(help)
}

fn command(tool: &Tool) -> Command {
    Command::new("bench")
        .about("Time a program")
        .after_help(
            "Examples:\n  gradus bench model.onnx --target cpu\n  gradus bench model.onnx --target cpu --repeat 50 --json\n  \
             gradus bench --calibrate --target cpu -o cpu.toml\n\n\
             Inputs that are not given are random numbers, the same in each run. Runs of the first 50 ms, one at least, \
             are not counted. Ops without a kernel run by their reference meaning, and are listed.",
        )
        .arg(
            Arg::new("FILE")
                .required_unless_present("calibrate")
                .help("A model (.onnx), a program (.mlir) or a compiled one"),
        )
        .arg(
            Arg::new("calibrate")
                .long("calibrate")
                .action(ArgAction::SetTrue)
                .conflicts_with("FILE")
                .requires("output")
                .help("Fit the numbers of the target's machine to measured programs, and write its description"),
        )
        .arg(Arg::new("output").short('o').value_name("FILE").requires("calibrate").help("The machine description, for --machine"))
        .arg(pairs("input", "An input, from .npy; NAME= may be left out when there is one; .npz gives all inputs"))
        .args(ready::arguments())
        .arg(number("repeat", "10", "How often it is run"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the figures as JSON"))
        .arg(
            Arg::new("ops")
                .long("ops")
                .action(ArgAction::SetTrue)
                .conflicts_with("json")
                .help("Print how long each op takes; ops that are one kernel are listed as the last of them"),
        )
        .args(target_args(tool))
        .args(precision_arg(tool))
        .args(load_args())
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if matches.get_flag("calibrate") {
        return calibrate::run(tool, matches, streams);
    }
    let Opened { file, m, target, mut refusals, inputs } = open(tool, matches, streams)?;
    let ctx = m.ctx.clone();
    let mut program = ready::prepare(tool, &m, file, matches, target, |_| ())?;
    if matches.get_flag("ops") && program.op_times().is_none() {
        return Err(Failure::Usage("--ops is of compiled programs: give --target, or a compiled program".into()));
    }
    let args = arguments(matches, inputs, &ctx, program.signature())?;
    let repeat = matches.get_one::<u64>("repeat").copied().unwrap_or(1).max(1);
    let (begin, mut times, mut calls) = (Instant::now(), Vec::new(), 0);
    while times.len() < repeat as usize {
        let (is_warm, start) = (calls > 0 && begin.elapsed() >= WARM_UP, Instant::now());
        let done = program.call(args.clone());
        done.map_err(|stop| {
            let m = program.module().unwrap_or(&m);
            report(&m.ctx, &[stop.diagnostic(m)], streams)
        })?;
        calls += 1;
        if is_warm {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    let figures = Figures { median: times[times.len() / 2], min: times[0], repeat, peak_mib: peak_mib() };
    refusals.extend(program.refused());
    let mut text = match matches.get_flag("json") {
        true => figures.json(),
        false => figures.text() + &statistics(&program.statistics(), refusals.rows()),
    };
    if let Some(times) = program.op_times().filter(|_| matches.get_flag("ops")) {
        text += &ops(program.module().unwrap_or(&m), times, calls);
    }
    write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Duration of the uncounted warm-up: caches fill, and the clock frequency settles.
const WARM_UP: Duration = Duration::from_millis(50);

struct Figures {
    /// Median time of a call in milliseconds.
    median: f64,
    min: f64,
    repeat: u64,
    peak_mib: Option<f64>,
}

impl Figures {
    fn json(&self) -> String {
        let Figures { median, min, repeat, peak_mib, .. } = self;
        let peak = peak_mib.map_or("null".to_owned(), |mib| format!("{mib:.1}"));
        format!(
            "{{\"median_ms\": {median:.4}, \"min_ms\": {min:.4}, \"peak_rss_mib\": {peak}, \"repeat\": {repeat}}}\n"
        )
    }

    fn text(&self) -> String {
        let Figures { median, min, repeat, peak_mib } = self;
        let peak = peak_mib.map_or(String::new(), |mib| format!(", peak memory {mib:.1} MiB"));
        format!("median {median:.3} ms, min. {min:.3} ms of {repeat} runs{peak}\n")
    }
}

/// Formats the time of each op per call, longest first.
fn ops(m: &Module, OpTimes { unit, mut ops }: OpTimes, calls: u64) -> String {
    let all: f64 = ops.iter().map(|(_, time)| time).sum();
    ops.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let line = |(op, time): &(Op, f64)| {
        let types = m.operands(*op).first().into_iter().copied().chain(m.results(*op));
        let types: Vec<String> = types.map(|v| m.ctx.display_type(m.value_type(v)).to_string()).collect();
        let (time, part) = (time / calls as f64, 100.0 * time / all);
        let name = m.info(*op).map_or("?", |info| info.name);
        format!("{time:10.3} {unit} {part:5.1} %  {name}: {}\n", types.join(" -> "))
    };
    format!("\n{}", ops.iter().map(line).collect::<String>())
}

/// Returns the peak resident memory of this process in MiB, where the system reports it.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// Returns the arguments of a call: the inputs of a command line, which may have been read, or random ones.
pub(super) fn arguments(
    matches: &ArgMatches,
    read: Option<Vec<Datum>>,
    ctx: &Context,
    signature: &Signature,
) -> Result<Vec<Datum>, Failure> {
    let inputs = match (read, matches.contains_id("input")) {
        (Some(inputs), _) => inputs,
        (None, true) => read_inputs(matches, ctx, signature)?,
        (None, false) => drawn(ctx, signature)?,
    };
    Ok(inputs.iter().zip(&signature.inputs).map(|(t, (_, ty))| cut(ctx, t, *ty, 0, 1)).collect())
}
