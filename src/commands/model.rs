//! Input files of commands: ONNX models, text, and compiled programs.

#[cfg(feature = "onnx")]
use crate::io;
use crate::io::{parse, report, text};
use crate::{Failure, Streams, Tool};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use gradus_ir::pass::{Event, Pipeline, RunOptions, Watch};
use gradus_ir::{Context, Module, ParseOptions, verify};
#[cfg(feature = "onnx")]
use gradus_lowering::onnx_to_graph::{ImportOptions, import};
use gradus_lowering::targets::{TARGETS, Target};
#[cfg(feature = "cpu")]
use gradus_runtime::artifact;
use std::path::Path;
use std::sync::Arc;

/// The argument `--dim batch=4`, where ONNX models are read.
pub fn dim_arg() -> Option<Arg> {
    let help = "Set a dimension parameter of an ONNX model, such as batch=1; others stay dynamic";
    let dim = || Arg::new("dim").long("dim").value_name("NAME=N").action(ArgAction::Append).help(help);
    cfg!(feature = "onnx").then(dim)
}

/// Format of an input file.
#[derive(PartialEq, Eq)]
enum Format {
    Text,
    Onnx,
    #[cfg(feature = "cpu")]
    Compiled,
}

impl Format {
    fn of(path: &str) -> Format {
        #[cfg(feature = "cpu")]
        if artifact::is_artifact(Path::new(path)) {
            return Format::Compiled;
        }
        if Path::new(path).extension().is_some_and(|e| e == "onnx") { Format::Onnx } else { Format::Text }
    }
}

/// Whether a file is binary: a model or a compiled program.
pub fn is_model(path: &str) -> bool {
    Format::of(path) != Format::Text
}

/// The argument `--target`, where there are kernels.
pub fn target_arg() -> Option<Arg> {
    let names = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name));
    let help = "Compile the program for a machine, and run it by kernels of that; without it, by the reference meaning of its ops";
    let target = || Arg::new("target").long("target").value_name("NAME").value_parser(names).help(help);
    cfg!(feature = "cpu").then(target)
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
    if !matches!(Format::of(file), Format::Text | Format::Onnx) {
        return Ok(true);
    }
    let Some(name) = matches.try_get_one::<String>("target").ok().flatten() else { return Ok(false) };
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
    let mut pipeline = Pipeline::parse(Target::named(target)?.pipeline, &tool.passes).map_err(|e| e.message)?;
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
#[cfg_attr(not(feature = "onnx"), allow(unused_variables, reason = "only models have arguments"))]
pub fn load(
    ctx: &Arc<Context>,
    path: &str,
    matches: &ArgMatches,
    parse_options: ParseOptions,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let m = match Format::of(path) {
        Format::Text => parse(ctx, &text(path, streams)?, parse_options, streams)?,
        #[cfg(feature = "cpu")]
        Format::Compiled => read_compiled(ctx, path, streams)?,
        #[cfg(feature = "onnx")]
        Format::Onnx => read_model(ctx, path, matches, streams)?,
        #[cfg(not(feature = "onnx"))]
        Format::Onnx => return Err(crate::without("onnx", path)),
    };
    verify(&m).map_err(|d| report(ctx, &d, streams))?;
    Ok(m)
}

/// Reads a compiled program.
#[cfg(feature = "cpu")]
fn read_compiled(ctx: &Arc<Context>, path: &str, streams: &mut Streams<'_>) -> Result<Module, Failure> {
    let bytes = artifact::map(Path::new(path)).map_err(|e| Failure::Input(format!("cannot read '{path}': {e}")))?;
    artifact::read(ctx, path, &bytes).map_err(|d| report(ctx, &d, streams))
}

/// Reads an ONNX model.
#[cfg(feature = "onnx")]
fn read_model(
    ctx: &Arc<Context>,
    path: &str,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let options = import_options(matches, path)?;
    import(ctx, io::read(path, streams)?.into(), path, &options).map_err(|d| report(ctx, &d, streams))
}

/// The import options for the ONNX model at `path`.
#[cfg(feature = "onnx")]
fn import_options(matches: &ArgMatches, path: &str) -> Result<ImportOptions, Failure> {
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
