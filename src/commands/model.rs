//! Input files of commands: ONNX models, text, and compiled programs.

use crate::io::{parse, read, report, text};
use crate::{Failure, Streams, Tool};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use gradus_ir::pass::{Event, Pipeline, RunOptions, Watch};
use gradus_ir::{Context, Module, ParseOptions, verify};
use gradus_lowering::onnx_to_graph::{ImportOptions, import};
use gradus_lowering::targets::{TARGETS, Target};
use gradus_runtime::artifact::{self, is_artifact, map};
use std::path::Path;
use std::sync::Arc;

/// The argument `--dim batch=4`.
pub fn dim_arg() -> Arg {
    Arg::new("dim")
        .long("dim")
        .value_name("NAME=N")
        .action(ArgAction::Append)
        .help("Set a dimension parameter of an ONNX model, such as batch=1; others stay dynamic")
}

/// The import options for the ONNX model at `path`.
pub fn import_options(matches: &ArgMatches, path: &str) -> Result<ImportOptions, Failure> {
    let mut dims = Vec::new();
    for text in matches.get_many::<String>("dim").into_iter().flatten() {
        let parsed = text.split_once('=').and_then(|(name, n)| Some((name.to_owned(), n.parse::<i64>().ok()?)));
        match parsed {
            Some((name, n)) if n >= 0 => dims.push((name, n)),
            _ => return Err(Failure::Usage(format!("--dim takes NAME=N, not '{text}'"))),
        }
    }
    let dir = Path::new(path).parent().map(Path::to_owned);
    Ok(ImportOptions { dims, dir, ..ImportOptions::default() })
}

/// Whether a file is binary: a model or a compiled program.
pub fn is_model(path: &str) -> bool {
    is_onnx(path) || is_artifact(Path::new(path))
}

/// Whether the file name marks an ONNX model.
fn is_onnx(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == "onnx")
}

/// The argument `--target`.
pub fn target_arg() -> Arg {
    let names = TARGETS.iter().map(|target| target.name);
    Arg::new("target").long("target").value_name("NAME").value_parser(PossibleValuesParser::new(names)).help(
        "Compile the program for a machine, and run it by kernels of that; without it, by the reference meaning of its ops",
    )
}

/// Compiles the program for the selected target, unless the file is a compiled program. Returns whether the result is
/// compiled.
fn compile(
    tool: &Tool,
    m: &mut Module,
    file: &str,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<bool, Failure> {
    if is_artifact(Path::new(file)) {
        return Ok(true);
    }
    let Some(name) = matches.get_one::<String>("target") else { return Ok(false) };
    compile_for(tool, m, name, streams).map(|()| true)
}

/// Loads the program of a command line, compiled for its target. Returns whether it is compiled.
pub fn open<'a>(
    tool: &Tool,
    matches: &'a ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<(&'a str, Module, bool), Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let mut m = load(&tool.context(), file, matches, ParseOptions::default(), streams)?;
    let compiled = compile(tool, &mut m, file, matches, streams)?;
    Ok((file, m, compiled))
}

/// Runs the pipeline of a target.
pub fn compile_for(tool: &Tool, m: &mut Module, target: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mut pipeline =
        Pipeline::parse(Target::named(target)?.pipeline, &tool.passes).map_err(|(_, message)| message)?;
    let mut said = Vec::new();
    let mut watch = Watch::new(|event| {
        if let Event::Diagnostic(d) = event {
            said.push(d);
        }
    });
    let done = pipeline.run(m, &RunOptions::default(), &mut watch);
    drop(watch);
    done.map_err(|_| report(&m.ctx, &said, streams))
}

/// Reads and verifies a program.
pub fn load(
    ctx: &Arc<Context>,
    path: &str,
    matches: &ArgMatches,
    parse_options: ParseOptions,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let m = if is_artifact(Path::new(path)) {
        let bytes = map(Path::new(path)).map_err(|e| Failure::Input(format!("cannot read '{path}': {e}")))?;
        artifact::read(ctx, path, &bytes).map_err(|d| report(ctx, &d, streams))?
    } else if is_onnx(path) {
        let options = import_options(matches, path)?;
        import(ctx, read(path, streams)?.into(), path, &options).map_err(|d| report(ctx, &d, streams))?
    } else {
        parse(ctx, &text(path, streams)?, parse_options, streams)?
    };
    verify(&m).map_err(|d| report(ctx, &d, streams))?;
    Ok(m)
}
