//! Input files of commands: ONNX models, text, and compiled programs.

#[cfg(feature = "cpu")]
use super::device_binary;
use super::inputs::read_inputs;
#[cfg(feature = "networks")]
use crate::io;
use crate::io::{parse, report, text};
use crate::open_shapes::shapes_of;
use crate::refusals::Refusals;
use crate::{Failure, Streams, Tool, target};
use clap::{Arg, ArgAction, ArgMatches};
#[cfg(feature = "networks")]
use gradus_dialects::scf::IfOp;
use gradus_interp::Interpreter;
#[cfg(feature = "networks")]
use gradus_ir::OpDecl as _;
use gradus_ir::eval::Datum;
use gradus_ir::pass::{IrPrinting, Pipeline};
use gradus_ir::{Context, Module, ParseOptions, Reader, verify};
#[cfg(feature = "networks")]
use gradus_lowering::onnx_to_graph::{ImportOptions, Imported, import};
#[cfg(feature = "cpu")]
use gradus_machines::code::unpack;
use gradus_passes::PASSES;
use gradus_passes::refine_shapes::{ParameterShape, function_named, set_parameter_shapes};
#[cfg(feature = "cpu")]
use gradus_runtime::artifact::{self, Artifact};
#[cfg(feature = "cpu")]
use gradus_runtime::table_file::{self, TableRecord};
use gradus_targets::{Signature, Target};
use std::path::Path;
use std::sync::Arc;

/// Returns the arguments of reading programs: `--reader`, `--shape image=1x3x48x320`, and `--dim batch=4` where ONNX models are read.
pub fn load_args() -> impl Iterator<Item = Arg> {
    let reader = Arg::new("reader")
        .long("reader")
        .value_name("NAME")
        .value_parser(["fast", "grammar"])
        .default_value("fast")
        .hide_default_value(true)
        .help("How text is read: fast, or by the rules of the grammar alone, which is slow and gives the same result");
    let help = "Set a dimension parameter of an ONNX model, such as batch=1; others stay dynamic";
    let dim = || Arg::new("dim").long("dim").value_name("NAME=N").action(ArgAction::Append).help(help);
    let shape = Arg::new("shape").long("shape").value_name("NAME=EXTENTS").action(ArgAction::Append);
    let shape = shape.help("Set the shape of a parameter, such as image=1x3x48x320; ? leaves an extent dynamic");
    [reader, shape].into_iter().chain(cfg!(feature = "networks").then(dim))
}

/// Returns the reader that `--reader` names.
pub fn reader(matches: &ArgMatches) -> Reader {
    match matches.get_one::<String>("reader").is_some_and(|name| name == "grammar") {
        true => Reader::Grammar,
        false => Reader::Fast,
    }
}

/// Format of an input file.
#[derive(PartialEq, Eq)]
enum InputFormat {
    Text,
    Onnx,
    #[cfg(feature = "cpu")]
    Compiled,
}

impl InputFormat {
    fn of(path: &str) -> InputFormat {
        #[cfg(feature = "cpu")]
        if artifact::is_artifact(Path::new(path)) {
            return InputFormat::Compiled;
        }
        if Path::new(path).extension().is_some_and(|e| e == "onnx") { InputFormat::Onnx } else { InputFormat::Text }
    }
}

/// Whether a file is binary: a model or a compiled program.
pub fn is_model(path: &str) -> bool {
    InputFormat::of(path) != InputFormat::Text
}

/// Whether a file is read as an ONNX model.
#[cfg(feature = "networks")]
pub fn is_onnx(path: &str) -> bool {
    InputFormat::of(path) == InputFormat::Onnx
}

/// The program of a command line.
pub struct Opened<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The program, compiled if there is a target.
    pub m: Module,
    /// The target for which it is compiled.
    pub target: Option<&'static Target>,
    /// The ops that passes refused; those of a compiled file are not known.
    pub refusals: Refusals,
    /// The inputs of the command line, if their shapes are those for which the program is compiled.
    pub inputs: Option<Vec<Datum>>,
}

/// Loads the program of a command line, compiled for its target.
pub fn open<'a>(tool: &Tool, matches: &'a ArgMatches, streams: &mut Streams<'_>) -> Result<Opened<'a>, Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    let ctx = target::context(tool, matches, streams)?;
    let target = target::named(tool, matches)?;
    #[cfg(feature = "cpu")]
    if InputFormat::of(file) == InputFormat::Compiled {
        let artifact = open_compiled(&ctx, file, streams)?;
        let target = target::compiled_for(tool, &ctx, file, artifact.compiled_for(), target)?;
        let m = artifact.read(&ctx).map_err(|d| report(&ctx, &d, streams))?;
        return Ok(Opened { file, m, target: Some(target), refusals: Refusals::default(), inputs: None });
    }
    #[cfg(feature = "cpu")]
    if device_binary::is_binary(file) {
        let (m, target) = device_binary::open(tool, &ctx, file, target, streams)?;
        return Ok(Opened { file, m, target: Some(target), refusals: Refusals::default(), inputs: None });
    }
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    let inputs = target.map(|_| set_shapes_of_inputs(&mut m, matches, streams)).transpose()?.flatten();
    let refusals = match target {
        Some(target) => target::compile(tool, &mut m, target, IrPrinting::default(), streams)?,
        None => target::check_machine(&ctx, None).map(|()| Refusals::default())?,
    };
    Ok(Opened { file, m, target, refusals, inputs })
}

/// Reads and verifies a program.
#[cfg_attr(not(feature = "networks"), allow(unused_variables, reason = "only models have arguments"))]
pub fn load(
    ctx: &Arc<Context>,
    path: &str,
    matches: &ArgMatches,
    parse_options: ParseOptions,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let mut m = match InputFormat::of(path) {
        InputFormat::Text => {
            let options = ParseOptions { reader: reader(matches), ..parse_options };
            parse(ctx, &text(path, streams)?, options, streams)?
        }
        #[cfg(feature = "cpu")]
        InputFormat::Compiled => {
            let mut m = open_compiled(ctx, path, streams)?.read(ctx).map_err(|d| report(ctx, &d, streams))?;
            unpack(&mut m).map_err(|d| report(ctx, &[d], streams))?;
            m
        }
        #[cfg(feature = "networks")]
        InputFormat::Onnx => read_model(ctx, path, matches, streams)?,
        #[cfg(not(feature = "networks"))]
        InputFormat::Onnx => return Err(crate::without("onnx", path)),
    };
    verify(&m).map_err(|d| report(ctx, &d, streams))?;
    set_given_shapes(&mut m, matches, streams)?;
    Ok(m)
}

/// Gives parameters the shapes of `--shape`.
pub fn set_given_shapes(m: &mut Module, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let texts = matches.get_many::<String>("shape").into_iter().flatten();
    let shapes = texts.map(|text| ParameterShape::parse(text)).collect::<Result<Vec<_>, _>>();
    let shapes = shapes.map_err(|why| Failure::Usage(format!("--shape: {why}")))?;
    if shapes.is_empty() { Ok(()) } else { set_shapes(m, &shapes, function(matches), streams) }
}

/// Gives the parameters of a function shapes, and all results the extents that follow.
fn set_shapes(
    m: &mut Module,
    shapes: &[ParameterShape],
    function: &str,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    if !shapes.is_empty() {
        let called = function_named(m, m.root(), function);
        let set = called.and_then(|called| set_parameter_shapes(m, called, shapes));
        set.map_err(|error| report(&m.ctx, &[error], streams))?;
    }
    let pipeline = Pipeline::parse("builtin.module(refine-shapes)", PASSES).map_err(|e| e.to_string())?;
    target::run_pipeline(pipeline, m, IrPrinting::default(), streams).map(drop)
}

/// Returns the name of the function that a command line is about.
fn function(matches: &ArgMatches) -> &str {
    matches.try_get_one::<String>("function").ok().flatten().map_or("main", String::as_str)
}

/// Reads the inputs of a command line, if there are any, and sets the open extents of the parameters to theirs.
fn set_shapes_of_inputs(
    m: &mut Module,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Option<Vec<Datum>>, Failure> {
    if !matches!(matches.try_contains_id("input"), Ok(true)) {
        return Ok(None);
    }
    let Some(called) = Interpreter::new(m).function(function(matches)) else { return Ok(None) };
    let signature = Signature::of(m, called);
    let inputs = read_inputs(matches, &m.ctx, &signature)?;
    let shapes = shapes_of(&m.ctx, &signature, &inputs);
    if !shapes.is_empty() {
        set_shapes(m, &shapes, function(matches), streams)?;
    }
    Ok(Some(inputs))
}

/// Maps a compiled program into memory and reads its header.
#[cfg(feature = "cpu")]
fn open_compiled(ctx: &Context, path: &str, streams: &mut Streams<'_>) -> Result<Artifact, Failure> {
    let artifact = open_artifact(ctx, path, streams)?;
    if artifact.is_table_file() {
        return Err(Failure::Input(format!("'{path}' has address tables and no program; 'inspect' shows them")));
    }
    Ok(artifact)
}

#[cfg(feature = "cpu")]
fn open_artifact(ctx: &Context, path: &str, streams: &mut Streams<'_>) -> Result<Artifact, Failure> {
    let bytes = artifact::map(Path::new(path)).map_err(|e| Failure::Input(format!("cannot read '{path}': {e}")))?;
    Artifact::open(path, bytes).map_err(|d| report(ctx, &d, streams))
}

/// Reads the address tables of a command line's file; `None` if it is another file.
#[cfg(feature = "cpu")]
pub fn open_tables(
    tool: &Tool,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Option<Vec<TableRecord>>, Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    if InputFormat::of(file) != InputFormat::Compiled {
        return Ok(None);
    }
    let ctx = tool.context();
    let artifact = open_artifact(&ctx, file, streams)?;
    if !artifact.is_table_file() {
        return Ok(None);
    }
    table_file::read(&artifact).map(Some).map_err(|d| report(&ctx, &d, streams))
}

/// Reads an ONNX model.
#[cfg(feature = "networks")]
fn read_model(
    ctx: &Arc<Context>,
    path: &str,
    matches: &ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let options = import_options(matches, path)?;
    let imported = import(ctx, io::read(path, streams)?.into(), path, &options);
    let Imported { module: mut m, warnings } = imported.map_err(|d| report(ctx, &d, streams))?;
    report(ctx, &warnings, streams);
    // Conditions that depend on extents only.
    if m.ops_under(m.root()).into_iter().any(|op| IfOp::cast(&m, op).is_some()) {
        set_shapes(&mut m, &[], "main", streams)?;
    }
    Ok(m)
}

/// Returns the import options for the ONNX model at `path`.
#[cfg(feature = "networks")]
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
