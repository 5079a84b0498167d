//! The flags of `gradus opt` that select passes and control their execution, named as in mlir-opt.

use crate::io::SharedBuffer;
use crate::saturation;
use crate::{Failure, Streams, Tool};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use gradus_ir::pass::{
    ActionLog, ActionProfile, Actions, CrashReproducer, Display, IrPrinting, Pipeline, RunOptions, Selection, Timer,
    TimingFormat, find_pass,
};
use gradus_ir::{PassInfo, PrintOptions};
use std::fmt::Write;

/// Returns a flag that also accepts `--name=false`.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    switch(name, help, "false")
}

/// Returns a flag that is on unless given as `--name=false`.
pub fn on_by_default(name: &'static str, help: &'static str) -> Arg {
    switch(name, help, "true")
}

fn switch(name: &'static str, help: &'static str, default: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .num_args(0..=1)
        .require_equals(true)
        .default_value(default)
        .default_missing_value("true")
        .value_name("BOOL")
        .value_parser(boolean)
        .hide_default_value(default == "false")
        .overrides_with(name)
}

fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" | "TRUE" | "True" | "1" => Ok(true),
        "false" | "FALSE" | "False" | "0" => Ok(false),
        _ => Err(format!("'{text}' is invalid value for boolean argument! Try 0 or 1")),
    }
}

fn value(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(placeholder).help(help).overrides_with(name)
}

fn one_of(name: &'static str, words: [&'static str; 2], help: &'static str) -> Arg {
    let placeholder = if name.ends_with("format") { "FORMAT" } else { "DISPLAY" };
    value(name, placeholder, help).value_parser(PossibleValuesParser::new(words)).default_value(words[0])
}

fn passes(tool: &Tool, name: &'static str, help: &'static str) -> Arg {
    let names = PossibleValuesParser::new(tool.passes.iter().map(|info| info.name));
    Arg::new(name)
        .long(name)
        .value_name("PASS,...")
        .help(help)
        .value_parser(names)
        .hide_possible_values(true)
        .value_delimiter(',')
        .action(ArgAction::Append)
}

/// Returns the arguments of [`pass_arguments`] for commands about a pipeline, with the short name `--pipeline`.
#[cfg(feature = "check")]
pub fn pipeline_arguments(tool: &Tool) -> impl Iterator<Item = Arg> {
    pass_arguments(tool).map(|arg| match arg.get_id() == "pass-pipeline" {
        true => arg.visible_alias("pipeline"),
        false => arg,
    })
}

/// Returns an argument per pass, and `--pass-pipeline`.
pub fn pass_arguments(tool: &Tool) -> impl Iterator<Item = Arg> {
    let of_pass = |info: &&PassInfo| {
        let mut long = info.summary().to_owned();
        for option in info.options {
            let _ = write!(long, "\n  {}", option_line(option));
        }
        Arg::new(info.name)
            .long(info.name)
            .help(info.summary())
            .long_help(long)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .value_name("OPTIONS")
            .action(ArgAction::Append)
    };
    let list = tool.passes.iter().map(of_pass).collect::<Vec<_>>().into_iter();
    let text = value("pass-pipeline", "PIPELINE", "Textual description of the pass pipeline to run");
    list.chain([text]).map(|arg| arg.help_heading("Passes, in the order given"))
}

/// Formats an option as `name=<long>  meaning (default 10)`.
pub fn option_line(option: &gradus_ir::pass::PassOption) -> String {
    let default = option.kind.default_text();
    let default = if default.is_empty() { default } else { format!(" (default {default})") };
    format!("{}={} - {}{default}", option.name, option.kind.placeholder(), option.doc)
}

/// Returns the arguments for printing the program between passes.
pub fn dump_arguments(tool: &Tool) -> impl Iterator<Item = Arg> {
    let dumps = [
        passes(tool, "mlir-print-ir-before", "Print IR before specified passes"),
        passes(tool, "mlir-print-ir-after", "Print IR after specified passes"),
        flag("mlir-print-ir-before-all", "Print IR before each pass"),
        flag("mlir-print-ir-after-all", "Print IR after each pass"),
        flag("mlir-print-ir-after-change", "When printing the IR after a pass, only print if the IR changed"),
        flag("mlir-print-ir-after-failure", "When printing the IR after a pass, only print if the pass failed"),
        flag("mlir-print-ir-module-scope", "When printing the IR before or after a pass, print the whole program"),
        value("mlir-print-ir-tree-dir", "DIR", "Print the IR before and after passes into files in this folder"),
    ];
    dumps.into_iter().map(|arg| arg.help_heading("Printing between passes"))
}

/// Returns the arguments that control the execution of passes.
pub fn arguments(tool: &Tool) -> impl Iterator<Item = Arg> {
    let running = [
        on_by_default("verify-each", "Run the verifier after each transformation pass"),
        flag("dump-pass-pipeline", "Print the pipeline that will be run"),
        value("threads", "N", "Threads for functions; by default as many as the machine has")
            .value_parser(clap::value_parser!(u16).range(1..)),
        flag("mlir-disable-threading", "Use one thread"),
        value("mlir-pass-pipeline-crash-reproducer", "FILE", "Where to write a reproducer if a pass fails or panics"),
        flag("mlir-pass-pipeline-local-reproducer", "Make it a reproducer of the pass that failed alone"),
        value("mlir-generate-reproducer", "FILE", "Write the input with the pipeline as a reproducer"),
        flag("run-reproducer", "Run the pipeline stored in the reproducer"),
    ];
    let reports = [
        flag("mlir-pass-statistics", "Display the statistics of each pass"),
        one_of("mlir-pass-statistics-display", ["pipeline", "list"], "Display method for pass statistics"),
        flag("mlir-timing", "Display execution times"),
        one_of("mlir-timing-display", ["tree", "list"], "Display method for timing data"),
        one_of("mlir-output-format", ["text", "json"], "Output format for timing data"),
    ];
    let actions = [
        value("log-actions-to", "FILE", "Log action execution to a file, or stderr if - is passed"),
        value(
            "profile-actions-to",
            "FILE",
            "Profile action execution to a file for trace viewers, or stderr if - is passed",
        ),
        value("mlir-debug-counter", "TAG-skip=N,TAG-count=M,...", "Skip actions of a tag, and stop after some"),
        flag("mlir-print-debug-counter", "Print the debug counters at the end"),
    ];
    let under = |heading: &'static str| move |arg: Arg| arg.help_heading(heading);
    (running.into_iter().map(under("Running passes")))
        .chain(dump_arguments(tool))
        .chain(reports.into_iter().map(under("Reports")))
        .chain(actions.into_iter().map(under("Actions")))
}

/// Returns the pipeline of the flags: `--pass-pipeline`, or single passes in command-line order on ops named `anchor`.
pub fn pipeline(tool: &Tool, matches: &ArgMatches, anchor: &str) -> Result<Pipeline, Failure> {
    let chosen = chosen(tool, matches);
    let Some(text) = matches.get_one::<String>("pass-pipeline") else {
        let mut pipeline = Pipeline::on(anchor);
        for (name, options) in chosen {
            let info = find_pass(&tool.passes, name).map_err(|e| Failure::Usage(e.message))?;
            pipeline.add(info, options).map_err(|e| Failure::Usage(e.message))?;
        }
        return Ok(pipeline);
    };
    if !chosen.is_empty() {
        return Err(Failure::Usage("'-pass-pipeline' option can't be used with individual pass options".into()));
    }
    parse_pipeline(tool, text)
}

/// Returns the single passes with their options, in command-line order.
fn chosen<'a>(tool: &'a Tool, matches: &'a ArgMatches) -> Vec<(&'a str, &'a str)> {
    let mut chosen: Vec<(usize, &str, &str)> = Vec::new();
    for info in &tool.passes {
        let Some(indices) = matches.indices_of(info.name) else { continue };
        let values = matches.get_many::<String>(info.name).into_iter().flatten();
        chosen.extend(indices.zip(values).map(|(i, options)| (i, info.name, options.as_str())));
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, name, options)| (name, options)).collect()
}

/// Returns the flags that select the pipeline, as command-line words.
#[cfg(feature = "check")]
pub fn given(tool: &Tool, matches: &ArgMatches) -> Vec<String> {
    let flag = |name: &str, value: &str| match value {
        "" => format!("--{name}"),
        _ if value.contains('\'') => format!("--{name}=\"{}\"", value.replace('\n', " ")),
        _ => format!("--{name}='{}'", value.replace('\n', " ")),
    };
    match matches.get_one::<String>("pass-pipeline") {
        Some(text) => vec![flag("pass-pipeline", text)],
        None => chosen(tool, matches).into_iter().map(|(name, options)| flag(name, options)).collect(),
    }
}

/// Parses a pipeline. Errors point into its text.
pub fn parse_pipeline(tool: &Tool, text: &str) -> Result<Pipeline, Failure> {
    Pipeline::parse(text, &tool.passes).map_err(|e| {
        let (at, message) = (text[..e.offset.min(text.len())].chars().count(), e.message);
        Failure::Usage(format!("{message}\n  {text}\n  {:at$}^", ""))
    })
}

/// Returns the options of the pass manager.
pub fn run_options(tool: &Tool, matches: &ArgMatches, print: PrintOptions) -> RunOptions {
    let path = |name: &str| matches.get_one::<String>(name).map(Into::into);
    let threads = matches.get_one::<u16>("threads").map_or(0, |&n| usize::from(n));
    let local = matches.get_flag("mlir-pass-pipeline-local-reproducer");
    RunOptions {
        verify_each: matches.get_flag("verify-each"),
        printing: printing(matches, print),
        op_on_diagnostic: matches.get_flag("mlir-print-op-on-diagnostic"),
        threads: if matches.get_flag("mlir-disable-threading") { 1 } else { threads },
        crash_reproducer: path("mlir-pass-pipeline-crash-reproducer").map(|path| CrashReproducer { path, local }),
        passes: tool.passes.clone(),
        reports: saturation::wanted(matches),
    }
}

/// Returns the options of [`dump_arguments`].
pub fn printing(matches: &ArgMatches, print: PrintOptions) -> IrPrinting {
    IrPrinting {
        before: selection(matches, "mlir-print-ir-before", "mlir-print-ir-before-all"),
        after: selection(matches, "mlir-print-ir-after", "mlir-print-ir-after-all"),
        only_after_change: matches.get_flag("mlir-print-ir-after-change"),
        only_after_failure: matches.get_flag("mlir-print-ir-after-failure"),
        module_scope: matches.get_flag("mlir-print-ir-module-scope"),
        tree_dir: matches.get_one::<String>("mlir-print-ir-tree-dir").map(Into::into),
        print,
    }
}

fn selection(matches: &ArgMatches, some: &str, all: &str) -> Selection {
    let names: Vec<String> = matches.get_many(some).into_iter().flatten().cloned().collect();
    match (matches.get_flag(all), names.is_empty()) {
        (true, _) => Selection::All,
        (false, true) => Selection::None,
        (false, false) => Selection::Named(names),
    }
}

/// Returns the action observers that the flags select. Output for standard error goes to `log`.
pub fn actions(matches: &ArgMatches, log: &SharedBuffer) -> Result<Option<Actions>, Failure> {
    let mut actions = Actions::new();
    let mut wanted = matches.get_flag("mlir-print-debug-counter");
    if let Some(counters) = matches.get_one::<String>("mlir-debug-counter") {
        actions.set_counters(counters).map_err(|e| Failure::Usage(e.into()))?;
        wanted = true;
    }
    let open = |path: &str| if path == "-" { Ok(log.sink()) } else { crate::io::create(path) };
    if let Some(path) = matches.get_one::<String>("log-actions-to") {
        actions.watch(Box::new(ActionLog::new(open(path)?)));
        wanted = true;
    }
    if let Some(path) = matches.get_one::<String>("profile-actions-to") {
        actions.watch(Box::new(ActionProfile::new(open(path)?)));
        wanted = true;
    }
    Ok(wanted.then_some(actions))
}

/// Prints the requested reports.
pub fn report(matches: &ArgMatches, pipeline: &Pipeline, timer: &Timer, streams: &mut Streams<'_>) {
    let display = |name: &str| match matches.get_one::<String>(name) {
        Some(word) if word == "list" => Display::List,
        _ => Display::Nested,
    };
    if matches.get_flag("mlir-pass-statistics") {
        let text = pipeline.statistics(display("mlir-pass-statistics-display"));
        let _ = streams.err.write_all(text.as_bytes());
    }
    if matches.get_flag("mlir-timing") {
        let json = matches.get_one::<String>("mlir-output-format").is_some_and(|word| word == "json");
        let format = if json { TimingFormat::Json } else { TimingFormat::Text };
        let text = timer.report(display("mlir-timing-display"), format);
        let _ = streams.err.write_all(text.as_bytes());
    }
}
