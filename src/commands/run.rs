//! `gradus run`: executes a program on data.

mod show;

use super::inputs::{named, read_all, read_inputs, tensors, write};
use super::model::{Opened, load_args, open};
use super::ready;
use crate::columns::in_columns;
use crate::io::report;
use crate::progress;
use crate::target::{precision_arg, target_args};
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::eval::{Datum, PoisonTensor, floats_to_tensor, ints_to_tensor};
use gradus_ir::{Context, DType, Module, Tensor, Type};
use gradus_npy::read_npy;
use gradus_targets::{Executable, Signature, Statistic};
use show::{Tolerance, accuracy, summarize};
use std::path::Path;

/// The declaration of the subcommand.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

pub(super) fn pairs(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("NAME=FILE").action(ArgAction::Append).help(help)
}

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("X").default_value(default).value_parser(clap::value_parser!(f64)).help(help)
}

fn command(tool: &Tool) -> Command {
    Command::new("run")
        .about("Execute a program on data")
        .after_help(
            "Examples:\n  gradus run model.onnx --input image=images.npy --labels labels.npy\n  gradus run model.mlir \
             --input image=images.npy --output logits=out.npy\n  gradus run model.onnx --input inputs.npz --expect \
             logits.npy --atol 1e-4\n\nAn input whose first dimension is a multiple of a fixed one is run piece by piece.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx), a program (.mlir), a compiled one, or a binary of a device (.bin)"))
        .arg(pairs("input", "An input, from .npy; NAME= may be left out when there is one; .npz gives all inputs, or the elements of a sequence; \
                     one of another declared type is its attribute"))
        .arg(pairs("output", "Write an output as .npy, a sequence as .npz; NAME= may be left out when there is one"))
        .arg(pairs("expect", "Compare an output with a .npy, a sequence with a .npz; exit status 1 if it differs"))
        .arg(number("rtol", "1e-3", "Relative tolerance of --expect; integers must be equal unless one is given"))
        .arg(number("atol", "1e-4", "Absolute tolerance of --expect"))
        .arg(Arg::new("labels").long("labels").value_name("FILE").help("Class numbers (.npy): print the accuracy"))
        .arg(Arg::new("stats").long("stats").action(ArgAction::SetTrue).help("Print statistics of the run, such as memory or simulated cycles"))
        .args(ready::arguments())
        .args(target_args(tool))
        .args(precision_arg(tool))
        .args(load_args())
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let Opened { file, m, target, mut refusals, inputs } = open(tool, matches, streams)?;
    let ctx = m.ctx.clone();
    let bar = progress::bar(m.num_ops() as u64, "running [{bar:32}] {pos}/{len} ops, {eta} left");
    let ticks = bar.clone();
    let mut program = ready::prepare(tool, &m, file, matches, target, move |n| ticks.set_position(n))?;
    let signature = program.signature().clone();
    let inputs = inputs.map_or_else(|| read_inputs(matches, &ctx, &signature), Ok)?;
    let count = pieces(&ctx, &signature, &inputs)?;
    bar.set_length(count as u64 * m.num_ops() as u64);
    let outputs = execute(&m, &mut *program, &inputs, count, streams)?;
    bar.finish_and_clear();
    summarize(&ctx, &signature.outputs, &outputs, streams)?;
    if matches.get_flag("stats") {
        refusals.extend(program.refused());
        let text = statistics(&program.statistics(), refusals.rows());
        crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))?;
    }
    for (name, path) in named(matches, "output", &signature.outputs)? {
        write(&path, find(&outputs, &signature.outputs, &name))?;
    }
    let mut good = true;
    for (name, path) in named(matches, "expect", &signature.outputs)? {
        let (want, have) = (read_all(&path)?, tensors(find(&outputs, &signature.outputs, &name))?);
        if want.len() != have.len() {
            return Err(Failure::Input(format!("{name}: {} tensors, but the file has {}", have.len(), want.len())));
        }
        for (i, (want, have)) in want.iter().zip(&have).enumerate() {
            let name = if path.ends_with(".npz") { format!("{name}[{i}]") } else { name.clone() };
            good &= Tolerance::of(matches).compare(&name, have, want, streams)?;
        }
    }
    if let Some(path) = matches.get_one::<String>("labels") {
        accuracy(as_tensor(&outputs[0])?, &read_npy(Path::new(path))?, streams)?;
    }
    if good { Ok(()) } else { Err(Failure::Reported) }
}

fn find<'a>(outputs: &'a [Datum], known: &[(String, Type)], name: &str) -> &'a Datum {
    &outputs[known.iter().position(|k| k.0 == name).expect("the name was checked")]
}

/// Returns the tensor of an output.
fn as_tensor(output: &Datum) -> Result<&Tensor, Failure> {
    output
        .tensor()
        .map_err(|_| Failure::Input(format!("a result of kind {} cannot be written to a file", output.kind())))
}

/// Returns the number of batches: the first dimension of the inputs divided by that of the function.
fn pieces(ctx: &Context, signature: &Signature, inputs: &[Datum]) -> Result<usize, Failure> {
    let mut count = 1;
    for ((name, ty), input) in signature.inputs.iter().zip(inputs) {
        let (Some(shape), Datum::Tensor(tensor)) = (ctx.shape(ctx.repr(*ty)), input) else { continue };
        let have = tensor.shape();
        let fits = |from: usize| {
            shape.len() == have.len() && shape.iter().zip(have).skip(from).all(|(&s, &h)| s < 0 || s == h as i64)
        };
        if fits(0) {
            continue;
        }
        let whole = shape.first().copied().filter(|&s| s > 0).map_or(0, |s| s as usize);
        if !fits(1) || whole == 0 || have[0] % whole != 0 || (count != 1 && count != have[0] / whole) {
            let ty = ctx.display_type(*ty);
            return Err(Failure::Input(format!("input '{name}' is {ty}, but the file holds shape {have:?}")));
        }
        count = have[0] / whole;
    }
    Ok(count)
}

/// Formats statistics and refused ops, one per line.
pub(super) fn statistics(all: &[Statistic], refused: Vec<[String; 2]>) -> String {
    let counted = all.iter().map(|one| [one.name.clone(), format!("{} {}", number_text(one.value), one.unit)]);
    in_columns(&counted.chain(refused).collect::<Vec<_>>())
}

/// Formats the value of a statistic.
pub(super) fn number_text(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Runs the function on each of `count` pieces of the inputs.
fn execute(
    m: &Module,
    program: &mut dyn Executable,
    inputs: &[Datum],
    count: usize,
    streams: &mut Streams<'_>,
) -> Result<Vec<Datum>, Failure> {
    let signature = program.signature().clone();
    let mut parts: Vec<Vec<Datum>> = vec![Vec::new(); signature.outputs.len()];
    for piece in 0..count {
        let args = inputs.iter().zip(&signature.inputs).map(|(t, (_, ty))| cut(&m.ctx, t, *ty, piece, count));
        let args: Vec<Datum> = args.collect();
        check_declared(&m.ctx, &signature, &args)?;
        let results = program.call(args).map_err(|stop| {
            let m = program.module().unwrap_or(m);
            report(&m.ctx, &[stop.diagnostic(m)], streams)
        })?;
        for ((part, result), (_, ty)) in parts.iter_mut().zip(results).zip(&signature.outputs) {
            part.push(output(&m.ctx, result, *ty)?);
        }
    }
    parts.into_iter().map(|parts| join(&parts)).collect()
}

/// Reports an argument that is no value of its declared type.
fn check_declared(ctx: &Context, signature: &Signature, args: &[Datum]) -> Result<(), Failure> {
    let mut inputs = signature.inputs.iter().zip(args);
    match inputs.find(|((_, ty), arg)| ctx.type_info(*ty).is_some() && !ctx.is_value(*ty, arg)) {
        None => Ok(()),
        Some(((name, ty), _)) => {
            Err(Failure::Input(format!("input '{name}' is not a value of type '{}'", ctx.display_type(*ty))))
        }
    }
}

/// Returns the slice of an input for one call. Scalar parameters take tensors of one element.
pub(super) fn cut(ctx: &Context, input: &Datum, ty: Type, piece: usize, count: usize) -> Datum {
    let (ty, Datum::Tensor(tensor)) = (ctx.repr(ty), input) else { return input.clone() };
    if !ctx.is_shaped(ty) {
        let first = tensor.to_f64().first().copied().unwrap_or(0.0);
        let int = tensor.to_i64().and_then(|v| v.first().copied());
        return int.map_or(Datum::Float(first), Datum::Int);
    }
    let fits = ctx.shape(ty).is_none_or(|s| s.iter().zip(tensor.shape()).all(|(&s, &h)| s < 0 || s == h as i64));
    if fits || count == 1 {
        return Datum::Tensor(tensor.clone());
    }
    let rows = tensor.shape()[0] / count;
    let size = tensor.bytes().len() / count;
    let mut shape = tensor.shape().to_vec();
    shape[0] = rows;
    let bytes = tensor.bytes().slice(piece * size..(piece + 1) * size);
    Datum::Tensor(Tensor::new(tensor.dtype(), shape, bytes).expect("a slice of whole rows"))
}

/// Converts a number of type `ty` to a tensor of rank 0; returns other results unchanged.
fn output(ctx: &Context, datum: Datum, ty: Type) -> Result<Datum, Failure> {
    let dtype = ctx.dtype(ctx.repr(ty));
    match datum {
        Datum::Tensor(_) | Datum::PoisonTensor(_) | Datum::Own(_) => Ok(datum),
        Datum::Int(v) => Ok(Datum::Tensor(ints_to_tensor(dtype.unwrap_or(DType::I64), &[], &[v]))),
        Datum::Float(v) => Ok(Datum::Tensor(floats_to_tensor(dtype.unwrap_or(DType::F64), &[], vec![v]))),
        Datum::Poison => {
            let shown = dtype.and_then(|dtype| PoisonTensor::all(dtype, &[]));
            shown.ok_or_else(|| Failure::Input("a result is poison".into()))
        }
        Datum::MemRef(_) => Err(Failure::Input("a result is a memref, which cannot be shown".into())),
    }
}

/// Concatenates the outputs of all batches.
fn join(parts: &[Datum]) -> Result<Datum, Failure> {
    if let [one] = parts {
        return Ok(one.clone());
    }
    let parts: Vec<&Tensor> = parts.iter().map(as_tensor).collect::<Result<_, _>>()?;
    match &*parts {
        [first, ..] if first.rank() > 0 => {
            let mut shape = first.shape().to_vec();
            shape[0] = parts.iter().map(|p| p.shape()[0]).sum();
            let bytes: Vec<u8> = parts.iter().flat_map(|p| p.bytes().iter().copied()).collect();
            Ok(Datum::Tensor(Tensor::new(first.dtype(), shape, bytes.into())?))
        }
        _ => Err(Failure::Input("outputs without a first dimension cannot be joined".into())),
    }
}
