//! `gradus import`: prints an ONNX model as IR.

use super::model::{import_options, is_onnx, load, load_args};
use crate::io::{self, report, write};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::{Context, ParseOptions, PrintOptions};
use gradus_lowering::onnx_to_graph::check;
use std::fmt::Write;
use std::sync::Arc;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(_: &Tool) -> Command {
    Command::new("import")
        .about("Turn an ONNX model into a program of the graph dialect")
        .after_help(
            "Examples:\n  gradus import model.onnx -o model.mlir\n  gradus import model.onnx --dim batch=1 -o model.mlir\n  \
             gradus import model.onnx --check",
        )
        .arg(Arg::new("FILE").required(true).help("The model"))
        .arg(Arg::new("output").short('o').value_name("FILE").default_value("-").help("Where to print"))
        .args(load_args())
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Only list which ops are supported, how often each occurs, where the others are, and what else is wrong"),
        )
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = tool.context();
    let file: &String = matches.get_one("FILE").expect("is required");
    if matches.get_flag("check") && is_onnx(file) {
        return coverage(&ctx, file, matches, streams);
    }
    let m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    if matches.get_flag("check") {
        return Ok(());
    }
    let output: &String = matches.get_one("output").expect("has a default");
    write(output, streams, |out| m.print(PrintOptions::default(), out))
}

/// Lists the operators of a model. An error unless it can be imported.
fn coverage(ctx: &Arc<Context>, file: &str, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let options = import_options(matches, file)?;
    let found = check(ctx, io::read(file, streams)?.into(), file, &options).map_err(|d| report(ctx, &d, streams))?;
    let mut text = String::new();
    for (op, count) in &found.supported {
        let _ = writeln!(text, "supported    {count:5}  {op}");
    }
    for row in &found.unsupported {
        let _ = writeln!(text, "unsupported  {:5}  {}: {}", row.count, row.op, row.places.join(", "));
    }
    write("-", streams, |out| out.write_all(text.as_bytes()))?;
    report(ctx, &found.warnings, streams);
    if found.is_complete() { Ok(()) } else { Err(report(ctx, &found.errors, streams)) }
}
