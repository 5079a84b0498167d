//! `gradus opt`: parse, verify, run passes, print.

use crate::all_passes;
use crate::io::{parse, report, write};
use crate::{Failure, Streams, Subcommand};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::pass::{Instrumentation, Report};
use gradus_ir::{ParseOptions, Pipeline, PrintOptions, verify};

/// The declaration.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn command() -> Command {
    let passes = all_passes().into_iter().map(|info| {
        let summary = info.doc.lines().next().unwrap_or("");
        Arg::new(info.name)
            .long(info.name)
            .help(summary)
            .help_heading("Passes, in the order given")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .value_name("OPTIONS")
            .action(ArgAction::Append)
    });
    Command::new("opt")
        .about("Run passes over a program and print it")
        .after_help(
            "Examples:\n  gradus opt a.mlir --canonicalize --cse -o b.mlir\n  gradus opt a.mlir --pass-pipeline='builtin.module(func.func(cse))'\n  mlir-opt --mlir-print-op-generic a.mlir | gradus opt - --allow-unregistered-dialect",
        )
        .arg(Arg::new("FILE").default_value("-").help("The program; - is standard input"))
        .arg(Arg::new("output").short('o').value_name("FILE").default_value("-").help("Where to print"))
        .arg(Arg::new("pass-pipeline").long("pass-pipeline").value_name("PIPELINE").help("Passes to run, as text"))
        .arg(flag("allow-unregistered-dialect", "Accept ops of dialects that are not registered"))
        .arg(flag("mlir-print-op-generic", "Print every op in generic form"))
        .arg(flag("mlir-print-debuginfo", "Print locations"))
        .arg(
            Arg::new("verify-each")
                .long("verify-each")
                .help("Verify after each pass")
                .num_args(0..=1)
                .require_equals(true)
                .default_value("true")
                .default_missing_value("true")
                .value_parser(clap::value_parser!(bool)),
        )
        .arg(flag("mlir-print-ir-before-all", "Print the program before each pass"))
        .arg(flag("mlir-print-ir-after-all", "Print the program after each pass"))
        .arg(flag("mlir-print-ir-after-change", "Print after a pass only when it changed the program"))
        .arg(Arg::new("mlir-print-ir-before").long("mlir-print-ir-before").value_name("PASS").action(ArgAction::Append))
        .arg(Arg::new("mlir-print-ir-after").long("mlir-print-ir-after").value_name("PASS").action(ArgAction::Append))
        .arg(flag("mlir-timing", "Print the time of each pass"))
        .arg(flag("mlir-pass-statistics", "Print the counters of each pass"))
        .arg(flag("mlir-disable-threading", "Accepted for compatibility: passes run on one thread").hide(true))
        .args(passes)
}

/// The pipeline that the flags ask for: the text, or single passes in the order of the command line.
fn pipeline(matches: &ArgMatches) -> Result<Pipeline, Failure> {
    let mut chosen: Vec<(usize, &str, &str)> = Vec::new();
    for info in all_passes() {
        let Some(indices) = matches.indices_of(info.name) else { continue };
        let values = matches.get_many::<String>(info.name).into_iter().flatten();
        chosen.extend(indices.zip(values).map(|(i, options)| (i, info.name, options.as_str())));
    }
    chosen.sort_unstable();
    let Some(text) = matches.get_one::<String>("pass-pipeline") else {
        let mut pipeline = Pipeline::any();
        for (_, name, options) in chosen {
            let info = gradus_ir::pass::find_pass(&all_passes(), name).map_err(Failure::Usage)?;
            pipeline.add(info, options).map_err(Failure::Usage)?;
        }
        return Ok(pipeline);
    };
    if !chosen.is_empty() {
        return Err(Failure::Usage("--pass-pipeline and single passes cannot be combined".into()));
    }
    Pipeline::parse(text, &all_passes())
        .map_err(|(at, message)| Failure::Usage(format!("in --pass-pipeline: {message}\n  {text}\n  {:at$}^", "")))
}

fn instrumentation(matches: &ArgMatches, print: PrintOptions) -> Instrumentation {
    let list = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
    Instrumentation {
        verify_each: *matches.get_one("verify-each").unwrap_or(&true),
        print_before_all: matches.get_flag("mlir-print-ir-before-all"),
        print_after_all: matches.get_flag("mlir-print-ir-after-all"),
        print_after_change: matches.get_flag("mlir-print-ir-after-change"),
        print_before: list("mlir-print-ir-before"),
        print_after: list("mlir-print-ir-after"),
        print,
        timing: matches.get_flag("mlir-timing"),
    }
}

fn run(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = gradus_dialects::context();
    let mut pipeline = pipeline(matches)?;
    let file: &String = matches.get_one("FILE").expect("has a default");
    let options = ParseOptions { allow_unregistered: matches.get_flag("allow-unregistered-dialect") };
    let mut m = parse(&ctx, file, options, streams)?;
    verify(&m).map_err(|d| report(&ctx, &d, streams))?;
    let print = PrintOptions {
        generic: matches.get_flag("mlir-print-op-generic"),
        debug_info: matches.get_flag("mlir-print-debuginfo"),
    };
    if !pipeline.is_empty() {
        let how = instrumentation(matches, print);
        let outcome = pipeline.run(&mut m, &how, streams.err).map_err(|d| report(&ctx, &d, streams))?;
        print_report(matches, &outcome, streams);
    }
    let output: &String = matches.get_one("output").expect("has a default");
    // Like mlir-opt, end with an empty line.
    write(output, streams, |out| m.print(print, out).and_then(|()| out.write_all(b"\n")))
}

fn print_report(matches: &ArgMatches, report: &Report, streams: &mut Streams<'_>) {
    let err = &mut streams.err;
    if matches.get_flag("mlir-timing") {
        let total: f64 = report.times.iter().map(|t| t.1.as_secs_f64()).sum();
        for (name, time) in &report.times {
            let seconds = time.as_secs_f64();
            let _ = writeln!(err, "{seconds:10.4} s ({:5.1}%)  {name}", 100.0 * seconds / total.max(1e-12));
        }
        let _ = writeln!(err, "{total:10.4} s (100.0%)  total");
    }
    if matches.get_flag("mlir-pass-statistics") {
        for (pass, counter, value) in &report.statistics {
            let _ = writeln!(err, "{pass}: {value} {counter}");
        }
    }
}
