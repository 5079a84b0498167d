//! `gradus compile`: compiles a program for a target into one file.

use super::model::{load, load_args};
use crate::io::write;
use crate::target::{compile, context, header, target_args};
use crate::{Failure, Streams, Subcommand, Tool, pass_flags, print_flags};
use clap::{Arg, ArgMatches, Command};
use gradus_ir::ParseOptions;
use gradus_runtime::artifact;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    Command::new("compile")
        .about("Compile a program for a target into one file")
        .after_help(
            "Examples:\n  gradus compile model.onnx --target cpu -o model.gradus\n  gradus run model.gradus --input \
             image=images.npy\n  gradus compile model.onnx -o model.gradus --mlir-print-ir-after-all \
             --mlir-elide-elementsattrs-if-larger=16\n\nThe file has the program, its tables of addresses and its packed constants, with checksums. \
             It is mapped into memory, not read. 'run', 'bench', 'inspect' and 'opt' take it as any other program.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx) or program (.mlir)"))
        .arg(Arg::new("output").short('o').value_name("FILE").required(true).help("The compiled program"))
        .args(target_args(tool).map(with_default))
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
    let printing = pass_flags::printing(matches, print_flags::print_options(matches));
    compile(tool, &mut m, target, printing, streams)?;
    let header = header(target, &ctx)?;
    write(output, streams, |out| artifact::write(m, &header, out))
}
