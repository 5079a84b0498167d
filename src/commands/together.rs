//! `gradus together`: runs several programs at once on parts of a machine.

use super::model::{load, load_args};
use crate::columns::numbers_in_columns;
use crate::io::write;
use crate::random_inputs::drawn;
use crate::target::{self, check_machine, required_target_args, run_pipeline, set_option};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_cost::{Machine, load_machine};
use gradus_interp::Interpreter;
use gradus_ir::eval::Datum;
use gradus_ir::pass::IrPrinting;
use gradus_ir::{Module, Op, ParseOptions};
use gradus_targets::{Sharing, Signature, Target, Tenant, Together};

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    Command::new("together")
        .about("Run several programs at once on parts of a machine")
        .after_help(
            "Examples:\n  gradus together detector.onnx=2 classifier.onnx=3 --target cluster\n\nEach program is compiled for \
             its part of the machine, such as 2 of 5 clusters, and runs on random inputs, alone and beside the others. \
             Exit status 1 if a result differs.",
        )
        .arg(
            Arg::new("FILE=N")
                .required(true)
                .action(ArgAction::Append)
                .num_args(1..)
                .help("A model (.onnx) or a program (.mlir), and the size of its part"),
        )
        .args(required_target_args(tool))
        .args(load_args())
}

/// A program that is lowered for its part.
struct PlacedProgram {
    name: String,
    size: u64,
    m: Module,
    function: Op,
    inputs: Vec<Datum>,
}

impl PlacedProgram {
    fn tenant(&self) -> Tenant<'_> {
        Tenant { module: &self.m, function: self.function, inputs: self.inputs.clone() }
    }
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let target = target::named(tool, matches)?.expect("is required");
    let name = target.cost.name;
    let sharing = target.sharing.ok_or_else(|| Failure::Usage(format!("programs cannot share the target '{name}'")))?;
    let (ctx, mut parts) = (tool.context(), Vec::new());
    let machine = target::machine(tool, &ctx, target, matches, streams)?;
    for text in matches.get_many::<String>("FILE=N").into_iter().flatten() {
        let part = text.rsplit_once('=').and_then(|(file, n)| Some((file, n.parse::<u64>().ok().filter(|&n| n > 0)?)));
        let part = part.ok_or_else(|| Failure::Usage(format!("a program is given as FILE=N, not '{text}'")))?;
        parts.push(lower(tool, matches, (target, &sharing, &machine), part, streams)?);
    }
    let (all, used) = (machine.value(sharing.number)?, parts.iter().fold(0_u64, |n, part| n.saturating_add(part.size)));
    if used > all {
        return Err(Failure::Usage(format!("the programs need {used} {}, but the machine has {all}", sharing.number)));
    }
    let tenants: Vec<Tenant<'_>> = parts.iter().map(PlacedProgram::tenant).collect();
    let done = (sharing.run)(&tenants, &machine)?;
    let head = ["", sharing.number, "alone", "together", "ratio", "results"].map(str::to_owned).to_vec();
    let row = |(part, one): (&PlacedProgram, &Together)| {
        let [alone, together] = [one.alone, one.together].map(|time| format!("{time} {}", one.unit));
        let ratio = format!("{:.3}", one.together as f64 / one.alone.max(1) as f64);
        let results = if one.equal { "equal" } else { "different" };
        vec![part.name.clone(), part.size.to_string(), alone, together, ratio, results.to_owned()]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(parts.iter().zip(&done).map(row)).collect();
    write("-", streams, |out| out.write_all(numbers_in_columns(&rows).as_bytes()))?;
    if done.iter().all(|one| one.equal) { Ok(()) } else { Err(Failure::Reported) }
}

/// Reads a program and lowers it for its part of the machine.
fn lower(
    tool: &Tool,
    matches: &ArgMatches,
    (target, sharing, machine): (&'static Target, &Sharing, &Machine),
    (file, size): (&str, u64),
    streams: &mut Streams<'_>,
) -> Result<PlacedProgram, Failure> {
    let ctx = tool.context();
    load_machine(&ctx, machine.clone());
    check_machine(&ctx, Some(target))?;
    let mut pipeline = tool.target_pipeline(target, &ctx)?;
    set_option(&mut pipeline, target, sharing.pass, &format!("{}={size}", sharing.option))?;
    let mut m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    run_pipeline(pipeline, &mut m, IrPrinting::default(), streams)?;
    let function = Interpreter::new(&m).function("main").ok_or_else(|| format!("'{file}' has no function '@main'"))?;
    let inputs = drawn(&ctx, &Signature::of(&m, function))?;
    Ok(PlacedProgram { name: file.to_owned(), size, m, function, inputs })
}
