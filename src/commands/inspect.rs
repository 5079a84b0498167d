//! `gradus inspect`: the address tables and memory accesses of a program.

mod cells;
mod choices;
mod picture;
mod records;
mod summary;
mod tasks;

use super::device_binary;
use super::model::{Opened, load_args, open, open_tables};
use crate::columns::in_columns;
use crate::io::{report, write};
use crate::target::{precision_arg, target_args};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::{Module, Op, OpDecl, Str, Traits, Type, symbol_name};
use gradus_machines::code::unpack;
use gradus_machines::{a64, x64};
use gradus_networks::addr::{self, StaticAccess};
use gradus_networks::layout::{AddressTable, PackOp, TiledLayout};
use gradus_targets::MemoryView;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn command(tool: &Tool) -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("inspect")
        .about("Show address tables, memory accesses and constants of a program")
        .after_help(
            "Examples:\n  gradus inspect model.onnx --target cpu\n  gradus inspect model.onnx --target cpu --op 0 --row 5\n  \
             gradus inspect model.onnx --target cluster --choices\n  gradus inspect model.onnx --target npu --svg run.svg\n  \
             gradus inspect program.mlir --op addr.gemm --row 5 --svg row.svg\n\n\
             Tables are those of the program as it is; --target compiles it first. Addresses are elements of the buffer.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx), a program (.mlir), a compiled one, a binary of a device (.bin), or a file of address tables"))
        .arg(option("op", "N", "Show the tables of one op, by its number, or the first of a name, such as addr.gemm"))
        .arg(option("row", "N", "Show where a row of that op finds its elements").value_parser(clap::value_parser!(usize)))
        .arg(option("svg", "FILE", "Draw the buffer of that op and what a row reads in it; or, without --op, a run of the program on the simulator of its target: units and memories over time"))
        .arg(Arg::new("disasm").long("disasm").action(ArgAction::SetTrue).help("Show machine code as instructions"))
        .arg(Arg::new("memory").long("memory").action(ArgAction::SetTrue).help("Show the features of a program for the target in its memory, by offset and slice in their mode; with --svg as a picture"))
        .arg(Arg::new("tasks").long("tasks").action(ArgAction::SetTrue).help("Show the schedules of a program for the target: tasks in order, reads of constants and features, places; with --svg, draw the task graph of the first one"))
        .arg(Arg::new("choices").long("choices").action(ArgAction::SetTrue).help("Show the choices for the layers of a program for the target: tiles, divisions, estimated cycles, the best rejected choice"))
        .args(target_args(tool))
        .args(precision_arg(tool))
        .args(load_args())
}

/// Shows the functions of the dialects `x64`, as ops, and `a64`, as assembly text.
fn disassembled(m: &mut Module) -> Result<String, Failure> {
    let functions = x64::disassemble(m).map_err(|why| Failure::Input(why.message))?;
    let listing = a64::disassembly(m);
    if !listing.is_empty() {
        return Ok(listing);
    }
    if functions.is_empty() {
        return Err(Failure::Input("there is no machine code; --target cpu generates it for sparse constants".into()));
    }
    Ok(functions.into_iter().map(|op| m.op_text(op, Default::default()) + "\n").collect())
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let file: &String = matches.get_one("FILE").expect("is required");
    if device_binary::is_binary(file) {
        let text = device_binary::describe(tool, matches, file, streams)?;
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    if matches.get_flag("choices") {
        let text = choices::tables(tool, matches, streams)?;
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    if matches.get_flag("tasks") {
        let (text, path) = tasks::shown(tool, matches, streams)?;
        return write(path, streams, |out| out.write_all(text.as_bytes()));
    }
    if let Some(tables) = open_tables(tool, matches, streams)? {
        let text = records::shown(&tables, matches)?;
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    let Opened { mut m, target, .. } = open(tool, matches, streams)?;
    unpack(&mut m).map_err(|d| report(&m.ctx, &[d], streams))?;
    if matches.get_flag("disasm") {
        let text = disassembled(&mut m)?;
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    let found = TableUser::all(&m);
    let (svg, row) = (matches.get_one::<String>("svg"), matches.get_one::<usize>("row").copied());
    if !matches.get_flag("memory") && !["op", "row", "svg"].iter().any(|option| matches.contains_id(option)) {
        let listing = target.and_then(|target| target.listing);
        let text = listing.map_or_else(|| summary::program(&m, &found), |listing| listing(&m));
        return write("-", streams, |out| out.write_all(text.as_bytes()));
    }
    if matches.get_flag("memory") {
        let view = target.and_then(|target| target.memory);
        let view = view
            .ok_or_else(|| Failure::Usage("--memory requires a target with a memory of its own, such as npu".into()))?;
        return memory(&m, view, svg.map(String::as_str), streams);
    }
    let picture = target.and_then(|target| target.picture).filter(|_| row.is_none() && !matches.contains_id("op"));
    if let (Some(path), Some(picture)) = (svg, picture) {
        let drawn = picture(&m).map_err(|why| Failure::Input(format!("cannot write '{path}': {why}")))?;
        return write(path, streams, |out| out.write_all(drawn.as_bytes()));
    }
    let one = chosen(&found, matches.get_one::<String>("op").map(String::as_str))?;
    let nothing = || format!("the tables of op {}, '{}', are not constant", one.number, m.name_text(one.op));
    let reads = StaticAccess::of(&m, one.op).ok_or_else(nothing)?;
    check_row(row, one.number, &reads.table)?;
    if let Some(path) = svg {
        let drawn =
            picture::draw(&m, one, &reads, row.unwrap_or(0)).map_err(|why| format!("cannot write '{path}': {why}"))?;
        return write(path, streams, |out| out.write_all(drawn.as_bytes()));
    }
    let text = summary::tables(&m, one, &reads, row);
    write("-", streams, |out| out.write_all(text.as_bytes()))
}

/// Shows features in a memory: a table, or a picture as a file.
fn memory(m: &Module, view: MemoryView, svg: Option<&str>, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let said = |why| Failure::Input(format!("cannot show the memory: {why}"));
    if let Some(path) = svg {
        let drawn = (view.picture)(m).map_err(said)?;
        return write(path, streams, |out| out.write_all(drawn.as_bytes()));
    }
    let (caption, rows) = (view.table)(m).map_err(said)?;
    write("-", streams, |out| out.write_all((caption + &in_columns(&rows)).as_bytes()))
}

/// Selects an op by its number, by its name (the first of that name), or the first op.
fn chosen<'f>(found: &'f [TableUser], wanted: Option<&str>) -> Result<&'f TableUser, Failure> {
    let number = wanted.map(str::parse::<usize>);
    let one = match (wanted, number) {
        (Some(_), Some(Ok(number))) => found.get(number),
        (Some(name), _) => found.iter().find(|one| one.name == name),
        _ => found.first(),
    };
    one.ok_or_else(|| {
        let which = wanted.map_or(String::new(), |name| format!(" '{name}'"));
        Failure::Input(format!(
            "there is no op{which} among the {} that read by tables; --target compiles them",
            found.len()
        ))
    })
}

/// An op that reads through address tables.
struct TableUser {
    op: Op,
    /// Its index among such ops.
    number: usize,
    name: String,
    /// Name of its function.
    function: Option<Str>,
    /// Type of the buffer that it reads.
    buffer: Type,
    /// Layout of the buffer, if the buffer is the result of a layout change.
    layout: Option<TiledLayout>,
}

impl TableUser {
    /// Returns all ops that read through address tables, in program order.
    fn all(m: &Module) -> Vec<TableUser> {
        let (mut found, mut function) = (Vec::new(), None);
        for op in m.ops_under(m.root()) {
            if m.has_trait(op, Traits::FUNCTION) {
                function = symbol_name(m, op);
            }
            if !addr::is_table_op(m, op) {
                continue;
            }
            let Some(a) = m.args(op).and_then(|args| args.opt_operand("a")) else { continue };
            let packed = PackOp::defining(m, a).and_then(|pack| m.inherent_attr(pack.0, "layout"));
            let layout = packed.and_then(|attr| TiledLayout::from_attr(&m.ctx, attr));
            let (number, name) = (found.len(), m.name_text(op).to_owned());
            found.push(TableUser { op, number, name, function, buffer: m.value_type(a), layout });
        }
        found
    }

    /// Formats the type and layout of the buffer.
    fn shown_buffer(&self, m: &Module) -> String {
        let layout = self.layout.as_ref().map_or(String::new(), |layout| format!(" in {}", layout.order()));
        m.ctx.display_type(self.buffer) + &layout
    }
}

/// Checks that a table has a row.
fn check_row(row: Option<usize>, number: usize, table: &AddressTable<'_>) -> Result<(), Failure> {
    match row.filter(|&row| row >= table.rows()) {
        Some(row) => Err(Failure::Input(format!("row {row} is out of range: op {number} has {} rows", table.rows()))),
        None => Ok(()),
    }
}

/// Formats the number of rows, runs per row, and elements per run.
fn shown_extents(table: &AddressTable<'_>) -> String {
    format!("{} rows x {} runs x {}", table.rows(), table.runs(), table.run())
}
