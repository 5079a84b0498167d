//! `gradus run`: execute a program on data.

use super::model::{dim_arg, load};
use crate::io::report;
use crate::{Failure, Streams, Subcommand, Tool};
use clap::{Arg, ArgAction, ArgMatches, Command};
use gradus_ir::eval::Datum;
use gradus_ir::{Context, Module, Op, ParseOptions, Tensor, Type};
use gradus_runtime::interpreter::Interpreter;
use gradus_runtime::npy::{read_npy, read_npz, write_npy};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;

/// The declaration.
pub const SUBCOMMAND: Subcommand = Subcommand { command, run };

fn pairs(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("NAME=FILE").action(ArgAction::Append).help(help)
}

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("X").default_value(default).value_parser(clap::value_parser!(f64)).help(help)
}

fn command(_: &Tool) -> Command {
    Command::new("run")
        .about("Execute a program on data")
        .after_help(
            "Examples:\n  gradus run model.onnx --input image=images.npy --labels labels.npy\n  gradus run model.mlir \
             --input image=images.npy --output logits=out.npy\n  gradus run model.onnx --input inputs.npz --expect \
             logits.npy --atol 1e-4\n\nAn input whose first dimension is a multiple of a fixed one is run piece by piece.",
        )
        .arg(Arg::new("FILE").required(true).help("A model (.onnx) or program (.mlir)"))
        .arg(pairs("input", "An input, from .npy; NAME= may be left out when there is one; .npz gives all inputs"))
        .arg(pairs("output", "Write an output as .npy; NAME= may be left out when there is one"))
        .arg(pairs("expect", "Compare an output with a .npy; exit status 1 if it differs"))
        .arg(number("rtol", "1e-3", "Relative tolerance of --expect"))
        .arg(number("atol", "1e-4", "Absolute tolerance of --expect"))
        .arg(Arg::new("labels").long("labels").value_name("FILE").help("Class numbers (.npy): print the accuracy"))
        .arg(Arg::new("function").long("function").value_name("NAME").default_value("main").help("What to call"))
        .arg(dim_arg())
}

fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let ctx = tool.context();
    let file: &String = matches.get_one("FILE").expect("is required");
    let m = load(&ctx, file, matches, ParseOptions::default(), streams)?;
    let name: &String = matches.get_one("function").expect("has a default");
    let function = Interpreter::new(&m).function(name).ok_or_else(|| format!("'{file}' has no function '@{name}'"))?;
    let signature = Signature::of(&m, function);
    let inputs = read_inputs(matches, &ctx, &signature)?;
    let outputs = execute(&m, function, &signature, &inputs, streams)?;
    summarize(&ctx, &signature, &outputs, streams)?;
    for (name, path) in named(matches, "output", &signature.outputs)? {
        write_npy(Path::new(&path), find(&outputs, &signature.outputs, &name))?;
    }
    let mut good = true;
    for (name, path) in named(matches, "expect", &signature.outputs)? {
        let want = read_npy(Path::new(&path))?;
        good &= compare(matches, &name, find(&outputs, &signature.outputs, &name), &want, streams)?;
    }
    if let Some(path) = matches.get_one::<String>("labels") {
        accuracy(&outputs[0], &read_npy(Path::new(path))?, streams)?;
    }
    if good { Ok(()) } else { Err(Failure::Reported) }
}

/// Names and types of what a function takes and gives.
struct Signature {
    inputs: Vec<(String, Type)>,
    outputs: Vec<(String, Type)>,
}

impl Signature {
    fn of(m: &Module, function: Op) -> Signature {
        let ctx = &m.ctx;
        let ty = m.inherent_attr(function, "function_type").and_then(|a| ctx.as_type(a));
        let (inputs, outputs) = ty.and_then(|t| ctx.function_parts(t)).unwrap_or((&[], &[]));
        let names = |attr: &str, default: &str, types: &[Type]| {
            let list = m.inherent_attr(function, attr).and_then(|a| ctx.as_array(a)).unwrap_or(&[]);
            let name = |i: usize| {
                let dict = *list.get(i)?;
                ctx.as_str(ctx.dict_get(dict, ctx.str("graph.name"))?).map(str::to_owned)
            };
            types.iter().enumerate().map(|(i, &t)| (name(i).unwrap_or(format!("{default}{i}")), t)).collect()
        };
        Signature { inputs: names("arg_attrs", "arg", inputs), outputs: names("res_attrs", "result", outputs) }
    }
}

/// The `NAME=FILE` pairs of an option, with names checked; the name may be left out when there is only one.
fn named(matches: &ArgMatches, option: &str, known: &[(String, Type)]) -> Result<Vec<(String, String)>, Failure> {
    let mut out = Vec::new();
    for text in matches.get_many::<String>(option).into_iter().flatten() {
        let pair = match (text.split_once('='), known) {
            (Some((name, path)), _) => (name.to_owned(), path.to_owned()),
            (None, [only]) => (only.0.clone(), text.clone()),
            (None, _) => return Err(Failure::Usage(format!("--{option} needs NAME=FILE, with {}", list(known)))),
        };
        if !known.iter().any(|k| k.0 == pair.0) {
            return Err(Failure::Usage(format!("--{option}: no '{}'; there is {}", pair.0, list(known))));
        }
        out.push(pair);
    }
    Ok(out)
}

fn list(known: &[(String, Type)]) -> String {
    known.iter().map(|k| k.0.as_str()).collect::<Vec<_>>().join(", ")
}

fn find<'a>(outputs: &'a [Tensor], known: &[(String, Type)], name: &str) -> &'a Tensor {
    let i = known.iter().position(|k| k.0 == name).expect("the name was checked");
    &outputs[i]
}

/// The inputs in the function's order.
fn read_inputs(matches: &ArgMatches, ctx: &Context, signature: &Signature) -> Result<Vec<Tensor>, Failure> {
    let mut given: Vec<(String, Tensor)> = Vec::new();
    let texts: Vec<&String> = matches.get_many::<String>("input").into_iter().flatten().collect();
    if let [path] = texts[..]
        && path.ends_with(".npz")
        && !path.contains('=')
    {
        given = read_npz(Path::new(path))?;
    } else {
        for (name, path) in named(matches, "input", &signature.inputs)? {
            given.push((name, read_npy(Path::new(&path))?));
        }
    }
    let take = |(name, ty): &(String, Type)| {
        let found = given.iter().find(|g| g.0 == *name).map(|g| g.1.clone());
        let tensor = found.ok_or_else(|| {
            let ty = ctx.display_type(*ty);
            Failure::Usage(format!("input '{name}' ({ty}) is missing: give --input {name}=FILE.npy"))
        })?;
        let want = ctx.dtype(ctx.element_type(*ty));
        if want.is_some_and(|d| d != tensor.dtype()) {
            let ty = ctx.display_type(*ty);
            return Err(Failure::Input(format!("input '{name}' is {ty}, but the file holds {}", tensor.dtype())));
        }
        Ok(tensor)
    };
    signature.inputs.iter().map(take).collect()
}

/// How many pieces the inputs are cut into: their first dimension over the one that the function fixes.
fn pieces(ctx: &Context, signature: &Signature, inputs: &[Tensor]) -> Result<usize, Failure> {
    let mut count = 1;
    for ((name, ty), tensor) in signature.inputs.iter().zip(inputs) {
        let Some(shape) = ctx.shape(*ty) else { continue };
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

fn execute(
    m: &Module,
    function: Op,
    signature: &Signature,
    inputs: &[Tensor],
    streams: &mut Streams<'_>,
) -> Result<Vec<Tensor>, Failure> {
    let count = pieces(&m.ctx, signature, inputs)?;
    let bar = progress(count as u64 * m.num_ops() as u64);
    let ticks = bar.clone();
    let mut interpreter = Interpreter::new(m).on_op(move |n| ticks.set_position(n));
    let mut parts: Vec<Vec<Tensor>> = vec![Vec::new(); signature.outputs.len()];
    for piece in 0..count {
        let args = inputs.iter().zip(&signature.inputs).map(|(t, (_, ty))| cut(&m.ctx, t, *ty, piece, count)).collect();
        let results = interpreter.call(function, args).map_err(|d| report(&m.ctx, &[d], streams))?;
        for (part, result) in parts.iter_mut().zip(results) {
            part.push(tensor_of(result)?);
        }
    }
    bar.finish_and_clear();
    parts.into_iter().map(|p| join(&p)).collect()
}

fn progress(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("running [{bar:32}] {pos}/{len} ops, {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The piece of an input that one call gets. Scalars of the program come from tensors of one element.
fn cut(ctx: &Context, tensor: &Tensor, ty: Type, piece: usize, count: usize) -> Datum {
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

fn tensor_of(datum: Datum) -> Result<Tensor, Failure> {
    match datum {
        Datum::Tensor(t) => Ok(t),
        Datum::Int(v) => Ok(Tensor::scalar(v)),
        Datum::Float(v) => Ok(Tensor::scalar(v)),
        Datum::Poison => Err(Failure::Input("a result is poison".into())),
        Datum::MemRef(_) => Err(Failure::Input("a result is a memref, which cannot be shown".into())),
    }
}

/// The outputs of all pieces as one.
fn join(parts: &[Tensor]) -> Result<Tensor, Failure> {
    match parts {
        [one] => Ok(one.clone()),
        [first, ..] if first.rank() > 0 => {
            let mut shape = first.shape().to_vec();
            shape[0] = parts.iter().map(|p| p.shape()[0]).sum();
            let bytes: Vec<u8> = parts.iter().flat_map(|p| p.bytes().iter().copied()).collect();
            Ok(Tensor::new(first.dtype(), shape, bytes.into())?)
        }
        _ => Err(Failure::Input("outputs without a first dimension cannot be joined".into())),
    }
}

/// A line for each output: type, and its first values.
fn summarize(
    ctx: &Context,
    signature: &Signature,
    outputs: &[Tensor],
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let mut text = String::new();
    for ((name, _), tensor) in signature.outputs.iter().zip(outputs) {
        let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
        let ty = ctx.tensor_type(&shape, ctx.dtype_type(tensor.dtype()));
        let head: Vec<String> = first_values(tensor).iter().map(|v| format!("{v:.6}")).collect();
        let more = if tensor.len() > head.len() { ", ..." } else { "" };
        text += &format!("{name}: {} = [{}{more}]\n", ctx.display_type(ty), head.join(", "));
    }
    crate::io::write("-", streams, |out| out.write_all(text.as_bytes()))
}

fn first_values(tensor: &Tensor) -> Vec<f64> {
    let n = tensor.len().min(10);
    let bytes = tensor.bytes().slice(..n * tensor.dtype().size());
    Tensor::new(tensor.dtype(), vec![n], bytes).map_or(Vec::new(), |t| t.to_f64())
}

/// Prints the largest difference and whether all elements are within `atol + rtol * |want|`.
fn compare(
    matches: &ArgMatches,
    name: &str,
    have: &Tensor,
    want: &Tensor,
    streams: &mut Streams<'_>,
) -> Result<bool, Failure> {
    let rtol = *matches.get_one::<f64>("rtol").expect("has a default");
    let atol = *matches.get_one::<f64>("atol").expect("has a default");
    let mut good = have.shape() == want.shape();
    let line = if good {
        let (a, b) = (have.to_f64(), want.to_f64());
        let off = |(a, b): (&f64, &f64)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() };
        let largest = a.iter().zip(&b).map(off).fold(0.0, |m: f64, d| if d > m || d.is_nan() { d } else { m });
        let close = |a: &f64, b: &f64| off((a, b)) <= atol + rtol * b.abs();
        let wrong = a.iter().zip(&b).filter(|(a, b)| !close(a, b)).count();
        good = wrong == 0;
        let verdict = if good { "agrees".to_owned() } else { format!("differs in {wrong} of {} elements", a.len()) };
        format!("{name}: {verdict} (largest difference {largest:.3e}, rtol {rtol:e}, atol {atol:e})\n")
    } else {
        format!("{name}: shape {:?}, but {:?} is expected\n", have.shape(), want.shape())
    };
    crate::io::write("-", streams, |out| out.write_all(line.as_bytes()))?;
    Ok(good)
}

/// Prints how many rows of `logits` are largest at their label.
fn accuracy(logits: &Tensor, labels: &Tensor, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let labels = labels.to_i64().ok_or_else(|| "labels must be integers".to_owned())?;
    let classes = logits.shape().last().copied().unwrap_or(0);
    if classes == 0 || logits.len() / classes != labels.len() {
        return Err(Failure::Input(format!(
            "{} labels do not fit an output of shape {:?}",
            labels.len(),
            logits.shape()
        )));
    }
    let values = logits.to_f64();
    let best = |row: &[f64]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    let right = values.chunks(classes).zip(&labels).filter(|(row, label)| best(row) as i64 == **label).count();
    let percent = 100.0 * right as f64 / labels.len().max(1) as f64;
    let line = format!("accuracy: {percent:.1} % ({right} of {})\n", labels.len());
    crate::io::write("-", streams, |out| out.write_all(line.as_bytes()))
}
