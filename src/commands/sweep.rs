//! `gradus sweep`: compiles and runs a program for variants of a machine and of passes, and compares.

use super::bench::arguments;
use super::model::{load, load_args};
use super::ready;
use super::run::{number_text, pairs};
use crate::columns::{in_columns, numbers_in_columns};
use crate::io::{report, write};
use crate::progress;
use crate::target::{self, check_machine, required_target_args, run_pipeline, set_option};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_cost::{Machine, load_machine};
use gradus_ir::ParseOptions;
use gradus_ir::eval::Datum;
use gradus_ir::pass::IrPrinting;
use gradus_targets::{Statistic, WITH_HOST};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn list(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).action(ArgAction::Append).help(help)
}

fn command(tool: &Tool) -> Command {
    Command::new("sweep")
        .about("Compile and run a program for variants of a machine and of passes, and compare")
        .after_help(
            "Examples:\n  gradus sweep model.onnx --target cluster --set clusters=1,2,5 --option \
             form-layers.without=fusion,prefetch\n  gradus sweep model.onnx --target npu --set \
             ddr_rate_percent=x0.5,x2 --show \"DDR bytes\"\n\nThe first line is the program as it is; each other line \
             changes one thing. Results are compared with those of the first line.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx) or a program (.mlir)"))
        .arg(list("set", "KEY=V,V", "Numbers of the machine; x2 stands for twice the present one"))
        .arg(list("option", "PASS.NAME=V,V", "Values of an option of a pass of the target's pipeline"))
        .arg(list("show", "NAME", "A statistic of the run to show besides the first one"))
        .arg(pairs("input", "An input, from .npy; NAME= may be left out when there is one; .npz gives all inputs"))
        .args(ready::arguments())
        .args(required_target_args(tool))
        .args(load_args())
}

/// A change.
enum Change {
    /// A number of the machine.
    Number { key: String, value: String },
    /// An option of a pass.
    Option { pass: String, name: String, value: String },
}

impl Change {
    fn text(&self) -> String {
        match self {
            Change::Number { key, value } => format!("{key}={value}"),
            Change::Option { pass, name, value } => format!("{pass}.{name}={value}"),
        }
    }
}

/// A line of the table.
struct Line {
    name: String,
    statistics: Vec<Statistic>,
    results: Vec<Datum>,
    /// The refused ops, as text.
    refusals: String,
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let changes = changes(matches)?;
    let bar = progress::bar(changes.len() as u64 + 1, "measuring [{bar:32}] {pos}/{len} variants, {eta} left");
    let mut lines = Vec::new();
    for change in std::iter::once(None).chain(changes.iter().map(Some)) {
        lines.push(measure(tool, matches, change, streams)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let shown: Vec<&String> = matches.get_many::<String>("show").into_iter().flatten().collect();
    let text = table(&lines, &shown)? + &refused(&lines);
    write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Returns the changes of a command line, in order.
fn changes(matches: &ArgMatches) -> Result<Vec<Change>, Failure> {
    let mut found = Vec::new();
    let values = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let wrong = |flag: &str, form: &str, text: &str| Failure::Usage(format!("--{flag} takes {form}, not '{text}'"));
    for text in values("set") {
        let (key, list) = text.split_once('=').ok_or_else(|| wrong("set", "KEY=VALUE", text))?;
        found.extend(list.split(',').map(|v| Change::Number { key: key.to_owned(), value: v.to_owned() }));
    }
    for text in values("option") {
        let parts = text.split_once('=').and_then(|(name, list)| Some((name.split_once('.')?, list)));
        let ((pass, name), list) = parts.ok_or_else(|| wrong("option", "PASS.NAME=VALUE", text))?;
        let change = |v: &str| Change::Option { pass: pass.to_owned(), name: name.to_owned(), value: v.to_owned() };
        found.extend(list.split(',').map(change));
    }
    Ok(found)
}

/// Compiles and runs the program with a change.
fn measure(
    tool: &Tool,
    matches: &ArgMatches,
    change: Option<&Change>,
    streams: &mut Streams<'_>,
) -> Result<Line, Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let target = target::named(tool, matches)?.expect("is required");
    let ctx = tool.context();
    let mut machine = target::machine(tool, &ctx, target, matches, streams)?;
    if let Some(Change::Number { key, value }) = change {
        set(&mut machine, key, value)?;
    }
    load_machine(&ctx, machine);
    check_machine(&ctx, Some(target))?;
    let mut pipeline = tool.target_pipeline(target, &ctx)?;
    if let Some(Change::Option { pass, name, value }) = change {
        set_option(&mut pipeline, target, pass, &format!("{name}={value}"))?;
    }
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    let mut refusals = run_pipeline(pipeline, &mut m, IrPrinting::default(), streams)?;
    let mut program = ready::prepare(tool, &m, file, matches, Some(target), |_| ())?;
    let args = arguments(matches, None, &ctx, program.signature())?;
    let results = program.call(args).map_err(|stop| report(&ctx, &[stop.diagnostic(&m)], streams))?;
    let name = change.map_or("as it is".to_owned(), Change::text);
    refusals.extend(program.refused());
    Ok(Line { name, statistics: program.statistics(), results, refusals: in_columns(&refusals.rows()) })
}

/// Sets a number of a machine to a value, or to a multiple of its own.
fn set(machine: &mut Machine, key: &str, value: &str) -> Result<(), Failure> {
    let old = machine.value(key)?;
    let new = match value.strip_prefix('x') {
        Some(factor) => factor.parse::<f64>().ok().map(|factor| (old as f64 * factor).round()),
        None => value.parse::<u32>().ok().map(f64::from),
    };
    let new = new.filter(|&n| (1.0..=f64::from(u32::MAX)).contains(&n));
    let why = || {
        Failure::Usage(format!("--set {key}: '{value}' is no number from 1 to 2^32 - 1, nor such a multiple of {old}"))
    };
    Ok(machine.set(key, new.ok_or_else(why)? as u64)?)
}

/// Formats lines: the cycles with those of the host, or else the first statistic, its ratio to that of the first line, the statistics that are asked for, and whether the
/// results are the same.
fn table(lines: &[Line], shown: &[&String]) -> Result<String, Failure> {
    let statistics = &lines[0].statistics;
    let with_host = statistics.iter().find(|statistic| statistic.name == WITH_HOST);
    let first = with_host.or(statistics.first()).ok_or("the target has no statistics of a run".to_owned())?;
    let mut rows = vec![vec![String::new(), first.name.clone(), "ratio".to_owned()]];
    rows[0].extend(shown.iter().copied().cloned());
    rows[0].push("results".to_owned());
    for line in lines {
        let find = |name: &str| {
            let names = || line.statistics.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", ");
            let found = line.statistics.iter().find(|statistic| statistic.name == name);
            found.ok_or_else(|| Failure::Usage(format!("there is no statistic '{name}'; there are {}", names())))
        };
        let value = find(&first.name)?.value;
        let mut row = vec![line.name.clone(), number_text(value), format!("{:.3}", value / first.value)];
        for name in shown {
            row.push(number_text(find(name)?.value));
        }
        row.push(if line.results == lines[0].results { "equal".to_owned() } else { difference(line, &lines[0]) });
        rows.push(row);
    }
    Ok(numbers_in_columns(&rows))
}

/// Formats the refused ops of the first line, and of each line of which they are others.
fn refused(lines: &[Line]) -> String {
    let shown = lines.iter().enumerate().filter(|(i, line)| *i == 0 || line.refusals != lines[0].refusals);
    let text = |(i, line): (usize, &Line)| match &line.refusals[..] {
        "" if i == 0 => String::new(),
        "" => format!("{}: all ops are compiled\n", line.name),
        refusals => format!("{}:\n{}", line.name, refusals.lines().map(|one| format!("  {one}\n")).collect::<String>()),
    };
    shown.map(text).collect()
}

/// Says by how much results differ.
fn difference(line: &Line, first: &Line) -> String {
    let mut most = 0.0_f64;
    for (a, b) in line.results.iter().zip(&first.results) {
        let (Ok(a), Ok(b)) = (a.tensor(), b.tensor()) else { return "different".to_owned() };
        if a.shape() != b.shape() {
            return "different".to_owned();
        }
        let differences = a.to_f64().into_iter().zip(b.to_f64()).map(|(a, b)| (a - b).abs());
        most = differences.fold(most, f64::max);
    }
    format!("within {most:.1e}")
}
