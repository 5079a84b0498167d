//! `gradus plan`: offsets for the buffers of a CSV file.

use crate::io::{Chunk, report, text, write};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use gradus_ir::{Context, Diagnostic, Loc, svg};
use gradus_plan::csv::{CsvMessage, Table};
use gradus_plan::{Budget, Conflict, Infeasible, Plan, Pool, Problem, plan};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(_: &Tool) -> Command {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("plan")
        .about("Plan memory: give buffers offsets such that no two live ones share bytes")
        .after_help(
            "Example:\n  gradus plan buffers.csv --capacity 1048576 -o planned.csv --svg planned.svg\n\nThe file has the \
             columns id, lower, upper and size, as MiniMalloc's: a buffer is live from 'lower' to before 'upper'. A column \
             'alignment' is optional; others are kept, with a warning. The same rows with a column 'offset' are written. The exit status is 1 if no plan fits.",
        )
        .arg(Arg::new("FILE").required(true).help("The buffers (.csv), or '-' for standard input"))
        .arg(number("capacity", "BYTES").value_parser(value_parser!(u64)).help("Size of the memory [default: unlimited]"))
        .arg(number("alignment", "BYTES").value_parser(value_parser!(u64).range(1..)).help("Alignment of all buffers"))
        .arg(
            number("seconds", "S").value_parser(seconds).default_value("5").help(
                "Time to look for a smaller peak, counted in steps so that a plan can be repeated",
            ),
        )
        .arg(number("steps", "N").value_parser(value_parser!(u64)).help("Number of steps, instead of seconds"))
        .arg(
            Arg::new("keep-offsets")
                .long("keep-offsets")
                .action(ArgAction::SetTrue)
                .help("Keep the offsets of the file's column 'offset', where it is not empty"),
        )
        .arg(Arg::new("output").short('o').value_name("FILE").help("The rows with offsets, '-' for standard output"))
        .arg(Arg::new("svg").long("svg").value_name("FILE").help("A picture of the plan: time to the right, offsets upwards"))
}

/// Parses a number of seconds from 0 to a day.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|s| (0.0..=86400.0).contains(s));
    seconds.ok_or_else(|| "not a number of seconds from 0 to 86400".to_owned())
}

fn run(_: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let chunk = text(file, streams)?;
    let mut table = match Table::parse(&chunk.text, matches.get_flag("keep-offsets")) {
        Ok(table) => table,
        Err(e) => return Err(report_at(&chunk, &[e], Diagnostic::error, streams)),
    };
    if !table.unread.is_empty() {
        report_at(&chunk, &table.unread, Diagnostic::warning, streams);
    }
    let [capacity, alignment] = ["capacity", "alignment"].map(|name| matches.get_one::<u64>(name).copied());
    for buffer in &mut table.buffers {
        buffer.alignment = alignment.unwrap_or(buffer.alignment);
    }
    let problem = Problem::new(table.buffers.clone(), vec![Pool { capacity }], Vec::new());
    let problem = problem.map_err(|e| format!("'{}': {e}", chunk.name))?;
    match plan(&problem, budget(matches), &mut |_| ControlFlow::Continue(())) {
        Ok(plan) => write_plan(matches, &table, &plan, capacity, streams),
        Err(infeasible) => {
            // Offsets that conflict are no plan.
            if infeasible.conflicts.is_empty() {
                let _ = streams.out.write_all(summary(&infeasible.plan).as_bytes());
            }
            Err(Failure::Input(message(&chunk.name, &table, &infeasible)))
        }
    }
}

/// Prints messages as diagnostics at their places.
fn report_at(
    chunk: &Chunk,
    messages: &[CsvMessage],
    severity: fn(Loc, String) -> Diagnostic,
    streams: &mut Streams<'_>,
) -> Failure {
    let ctx = Context::new(&[]);
    let source = ctx.add_source(&chunk.name, chunk.text.clone());
    let at = |message: &CsvMessage| {
        let before: usize = chunk.text.split_inclusive('\n').take(message.line - 1).map(str::len).sum();
        severity(Loc::source(source, before + message.column - 1), message.message.clone())
    };
    report(&ctx, &messages.iter().map(at).collect::<Vec<_>>(), streams)
}

/// Returns the budget in steps. The clock ends the work on a machine that is slower than the calibrated one.
fn budget(matches: &ArgMatches) -> Budget {
    let seconds: f64 = *matches.get_one("seconds").expect("has a default");
    match matches.get_one::<u64>("steps") {
        Some(&steps) => Budget::steps(steps),
        None => Budget::seconds(seconds).until(Instant::now() + Duration::from_secs_f64(seconds)),
    }
}

/// Writes the rows, the picture and the summary, which goes to standard error if the rows go to standard output.
fn write_plan(
    matches: &ArgMatches,
    table: &Table<'_>,
    plan: &Plan,
    capacity: Option<u64>,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let output = matches.get_one::<String>("output").map(String::as_str);
    if let Some(path) = output {
        write(path, streams, |out| out.write_all(table.with_offsets(&plan.offsets).as_bytes()))?;
    }
    if let Some(path) = matches.get_one::<String>("svg") {
        write(path, streams, |out| out.write_all(draw(table, plan, capacity).as_bytes()))?;
    }
    let text = summary(plan);
    match output {
        Some("-") => drop(streams.err.write_all(text.as_bytes())),
        _ => write("-", streams, |out| out.write_all(text.as_bytes()))?,
    }
    Ok(())
}

/// Formats peak, lower bound and gap, a line each.
fn summary(plan: &Plan) -> String {
    let (peak, bound) = (plan.peak(), plan.lower_bound());
    let gap = (peak - bound) as f64 * 100.0 / bound.max(1) as f64;
    let verdict = if peak == bound { " (optimal)" } else { "" };
    let timed = if plan.is_timed { "the clock ended the search; --steps repeats a plan\n" } else { "" };
    format!(
        "buffers      {}\npeak         {peak} bytes\nlower bound  {bound} bytes\ngap          {gap:.2} %{verdict}\nsteps        {}\n{timed}",
        plan.offsets.len(),
        plan.steps
    )
}

/// Returns the message for a file without a plan.
fn message(name: &str, table: &Table<'_>, infeasible: &Infeasible) -> String {
    match infeasible.conflicts.first() {
        Some(Conflict::Overlap(a, b)) => {
            let [a, b] = [a, b].map(|&i| table.ids[i as usize]);
            format!("'{name}': the offsets of buffers '{a}' and '{b}' overlap while both are live")
        }
        _ => format!("'{name}': {infeasible}"),
    }
}

/// Width of the plan in the picture, in pixels.
const WIDTH: f64 = 1200.0;
/// Height of the plan in the picture, in pixels.
const HEIGHT: f64 = 800.0;
/// Margin around the plan, in pixels.
const MARGIN: f64 = 24.0;

/// Draws buffers as rectangles, and lines at the lower bound, the peak and the capacity.
fn draw(table: &Table<'_>, plan: &Plan, capacity: Option<u64>) -> String {
    let first = table.buffers.iter().map(|b| b.start).min().unwrap_or(0);
    let last = table.buffers.iter().map(|b| b.end).max().unwrap_or(0);
    let top = plan.peak().max(capacity.unwrap_or(0)).max(1) as f64;
    let x = |time: i64| MARGIN + (time as f64 - first as f64) / (last as f64 - first as f64).max(1.0) * WIDTH;
    let y = |offset: u64| MARGIN + (1.0 - offset as f64 / top) * HEIGHT;
    let mut body = String::new();
    for (i, (buffer, &offset)) in table.buffers.iter().zip(&plan.offsets).enumerate() {
        let (left, high, end) = (x(buffer.start), y(offset + buffer.bytes), offset + buffer.bytes);
        let _ = writeln!(
            body,
            "<rect x=\"{left:.2}\" y=\"{high:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"hsl({},60%,75%)\" stroke=\"gray\" \
             stroke-width=\"0.3\"><title>{}: time {} to {}, offset {offset} to {end}</title></rect>",
            x(buffer.end) - left,
            y(offset) - high,
            i * 137 % 360,
            svg::escape(table.ids[i]),
            buffer.start,
            buffer.end,
        );
    }
    let lines = [("capacity", capacity), ("peak", Some(plan.peak())), ("lower bound", Some(plan.lower_bound()))];
    for (number, (name, bytes)) in lines.into_iter().enumerate() {
        let Some(bytes) = bytes else { continue };
        let (at, from) = (y(bytes), MARGIN + number as f64 * 300.0);
        let _ = writeln!(
            body,
            "<path d=\"M{MARGIN},{at:.2}h{WIDTH}\" stroke=\"black\" stroke-dasharray=\"4 {number}\"/>\n\
             <text x=\"{from}\" y=\"{:.2}\">{name}: {bytes} bytes</text>",
            at - 4.0,
        );
    }
    svg::document([(WIDTH + 2.0 * MARGIN) as usize, (HEIGHT + 2.0 * MARGIN) as usize], "", &body)
}
