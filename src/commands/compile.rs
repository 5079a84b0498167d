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

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    Command::new("compile")
        .about("Compile a program for a target into one file")
        .after_help(
            "Examples:\n  gradus compile model.onnx --target cpu -o model.gradus\n  gradus run model.gradus --input \
             image=images.npy\n  gradus compile model.onnx -o model.gradus --mlir-print-ir-after-all \
             --mlir-elide-elementsattrs-if-larger=16\n  \
             gradus compile model.onnx --tables-only=\"encoding=running\" -o model.tables\n\nThe file has the program, its tables of addresses and its packed constants, with checksums. \
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
        .arg(Arg::new("output").short('o').value_name("FILE").required(true).help("The compiled program"))
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
    let header = header(target, &ctx)?;
    write(output, streams, |out| artifact::write(m, &header, out))
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
