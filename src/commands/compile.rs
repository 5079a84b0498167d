//! `gradus compile`: compiles a program for a target into one file.

use super::model::{load, load_args};
use crate::io::write;
use crate::target::{compile, context, header, precision_arg, run_pipeline, target_args};
use crate::{Failure, Streams, Subcommand, Tool, pass_flags, print_flags};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::pass::{IrPrinting, Pipeline};
use gradus_ir::{Module, ParseOptions};
use gradus_runtime::artifact;
use gradus_runtime::table_file::{self, TableRecord};
use gradus_targets::Target;
use std::path::Path;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    Command::new("compile")
        .about("Compile a program for a target into one file")
        .after_help(
            "Examples:\n  gradus compile model.onnx --target cpu -o model.gradus\n  gradus run model.gradus --input \
             image=images.npy\n  gradus compile model.onnx -o model.gradus --mlir-print-ir-after-all \
             --mlir-elide-elementsattrs-if-larger=16\n  \
             gradus compile model.onnx --tables-only=\"encoding=running\" -o model.tables\n  gradus compile model.onnx --target npu --emit=binary -o model.npu\n\nThe file has the program, its tables of addresses and its packed constants, with checksums. \
             It is mapped into memory, not read. 'run', 'bench', 'inspect' and 'opt' take it as any other program.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx) or program (.mlir)"))
        .arg(
            Arg::new("tables-only")
                .long("tables-only")
                .value_name("OPTIONS")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("")
                .help("Write the address tables only, as another process maps and uses them; with options of 'convert-graph-to-addr'"),
        )
        .arg(
            Arg::new("shapes")
                .long("shapes")
                .value_name("NAME=EXTENTS,...")
                .action(ArgAction::Append)
                .conflicts_with("tables-only")
                .help("Compile for these shapes of open parameters too, such as x=1x3x32x320; repeated for other ones"),
        )
        .arg(
            Arg::new("emit")
                .long("emit")
                .value_name("WHAT")
                .value_parser(["program", "binary"])
                .default_value("program")
                .conflicts_with_all(["tables-only", "shapes"])
                .help("Write the whole program, or only the programs of the target's device as binaries into a folder"),
        )
        .arg(Arg::new("output").short('o').value_name("FILE").required(true).help("The compiled program, or the folder of binaries"))
        .args(target_args(tool).map(with_default))
        .args(precision_arg(tool))
        .args(load_args())
        .args(pass_flags::dump_arguments(tool))
        .args(print_flags::arguments())
}

/// Compiles for `cpu` by default.
fn with_default(arg: Arg) -> Arg {
    if arg.get_id() == "target" { arg.default_value("cpu") } else { arg }
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = context(tool, matches, streams)?;
    let [file, output]: [&String; 2] = ["FILE", "output"].map(|name| matches.get_one(name).expect("is required"));
    let target = tool.target(matches.get_one::<String>("target").expect("has a default"))?;
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    if let Some(options) = matches.get_one::<String>("tables-only") {
        return write_tables(tool, &mut m, options, output, streams);
    }
    let printing = pass_flags::printing(matches, print_flags::print_options(matches));
    let shapes: Vec<&str> = matches.get_many::<String>("shapes").into_iter().flatten().map(String::as_str).collect();
    if !shapes.is_empty() {
        let text = format!("builtin.module(specialize-shapes{{shapes={}}})", shapes.join(";"));
        let pipeline = Pipeline::parse(&text, &tool.passes).map_err(|e| Failure::Usage(format!("--shapes: {e}")))?;
        run_pipeline(pipeline, &mut m, printing.clone(), streams)?;
    }
    compile(tool, &mut m, target, printing, streams)?;
    if matches.get_one::<String>("emit").is_some_and(|what| what == "binary") {
        return write_binaries(&m, target, output, streams);
    }
    let header = header(target, &ctx)?;
    write(output, streams, |out| artifact::write(m, &header, out))
}

/// Writes the programs of a target's device into a folder, a file each.
fn write_binaries(m: &Module, target: &Target, folder: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let name = target.cost.name;
    let device = target.device.ok_or_else(|| Failure::Usage(format!("target '{name}' has no device with binaries")))?;
    let programs = (device.programs)(m).map_err(|why| Failure::Input(why.to_string()))?;
    if programs.is_empty() {
        return Err(Failure::Input(format!("no op of the program runs on the device of target '{name}'")));
    }
    std::fs::create_dir_all(folder).map_err(|why| Failure::Input(format!("cannot write '{folder}': {why}")))?;
    for (name, bytes) in programs {
        let path = Path::new(folder).join(name + ".bin").display().to_string();
        write(&path, streams, |out| out.write_all(&bytes))?;
    }
    Ok(())
}

/// Writes the address tables to which a program is lowered with some options of `convert-graph-to-addr`.
fn write_tables(
    tool: &Tool,
    m: &mut Module,
    options: &str,
    output: &str,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let text =
        format!("builtin.module(convert-qdq-to-integer,canonicalize,convert-graph-to-addr{{geometry {options}}})");
    let pipeline = Pipeline::parse(&text, &tool.passes).map_err(|why| format!("--tables-only: {why}"))?;
    run_pipeline(pipeline, m, IrPrinting::default(), streams)?;
    let ops = m.ops_under(m.root());
    let records: Vec<TableRecord> = ops.into_iter().filter_map(|op| TableRecord::of(m, op)).collect();
    if records.is_empty() {
        return Err(Failure::Input("no op of the program reads by constant address tables".into()));
    }
    write(output, streams, |out| table_file::write(&records, out))
}
