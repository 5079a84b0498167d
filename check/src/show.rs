//! Inputs and outcomes as text, in MLIR's spelling.

use crate::event::ExternalCall;
use crate::input::Input;
use crate::outcome::Outcome;
use crate::seen::Seen;
use crate::signature::result_types;
use gradus_ir::eval::Datum;
use gradus_ir::{Context, DType, Module, Op, Type};

/// Maximum number of elements of memory that are shown.
const SHOWN: usize = 32;

/// Returns the arguments, a line each.
pub(crate) fn input(m: &Module, function: Op, input: &Input) -> Vec<String> {
    let types = m.regions(function).first().and_then(|&r| m.entry(r)).map_or(&[][..], |entry| m.block_args(entry));
    let line = |(i, datum): (usize, &Datum)| {
        let ty = types.get(i).map_or(Type::NONE, |&v| m.value_type(v));
        match datum {
            Datum::MemRef(view) => {
                let before = input.args[..i].iter().position(|other| match other {
                    Datum::MemRef(other) => other.buffer == view.buffer,
                    _ => false,
                });
                let what = match before {
                    Some(k) => format!("in the memory of %arg{k}"),
                    None => format!("in memory that holds {}", elements(&input.buffers[view.buffer as usize])),
                };
                let (offset, sizes, strides) = (view.offset, &view.sizes, &view.strides);
                format!("with %arg{i} = offset {offset}, sizes {sizes:?}, strides {strides:?} {what}")
            }
            other => format!("with %arg{i} = {}", value(&m.ctx, ty, other)),
        }
    };
    let globals = input.globals.iter().map(|(name, contents)| format!("with @{name} = {}", elements(contents)));
    input.args.iter().enumerate().map(line).chain(globals).collect()
}

/// Formats the outcome of a run, a line per result and effect.
pub(crate) fn outcome(m: &Module, function: Op, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Undefined(_, reason, events) => format!("{}{reason}", calls(events)),
        Outcome::Unsupported(_, reason) | Outcome::Unknown(_, reason) => format!("cannot be executed: {reason}"),
        Outcome::Aborted(_, reason, events) => format!("{}stops: {reason}", calls(events)),
        Outcome::Limit => "does not come to its end".into(),
        Outcome::Returned { results, buffers, globals, events, .. } => {
            let types = result_types(m, function);
            let ty = |i: usize| types.get(i).copied().unwrap_or(Type::NONE);
            let values: Vec<String> = results.iter().enumerate().map(|(i, v)| seen(&m.ctx, ty(i), v)).collect();
            let memory = |(i, contents): (usize, &Option<Vec<Datum>>)| match contents {
                Some(contents) => format!("memory {i} holds {}", elements(contents)),
                None => format!("memory {i} is freed"),
            };
            let memory: Vec<String> = buffers.iter().enumerate().map(memory).collect();
            let returned = if values.is_empty() { Vec::new() } else { vec![format!("returns {}", values.join(", "))] };
            let globals =
                globals.iter().map(|(name, contents)| format!("@{name} holds {}", elements(contents))).collect();
            let all = [returned, memory, globals].concat();
            let all = if all.is_empty() { "returns".to_owned() } else { all.join("; ") };
            format!("{}{all}", calls(events))
        }
    }
}

fn calls(events: &[ExternalCall]) -> String {
    let one = |event: &ExternalCall| {
        let args: Vec<String> = event.args.iter().map(untyped).collect();
        let global = |(name, contents): &(String, Vec<Datum>)| format!(" while @{name} holds {}", elements(contents));
        let globals: String = event.globals.iter().map(global).collect();
        format!("calls {}({}){globals}; ", event.name, args.join(", "))
    };
    events.iter().map(one).collect()
}

fn untyped(seen: &Seen) -> String {
    match seen {
        Seen::Nothing(values) => {
            let values: Vec<String> = values.iter().map(untyped).collect();
            format!("no value of the original's type: {}", values.join(", "))
        }
        Seen::Value(datum) => scalar(datum),
        Seen::Memory { buffer, sizes, elements: all } => {
            let contents = all.as_ref().map_or("gone".to_owned(), |all| elements(all));
            let which = buffer.map_or("memory".to_owned(), |buffer| format!("memory {buffer}"));
            format!("{which} {sizes:?} {contents}")
        }
    }
}

fn seen(ctx: &Context, ty: Type, seen: &Seen) -> String {
    match seen {
        Seen::Value(datum) => value(ctx, ty, datum),
        memory => untyped(memory),
    }
}

fn value(ctx: &Context, ty: Type, datum: &Datum) -> String {
    match ctx.datum_attr(ty, datum) {
        Some(attr) if !datum.has_poison() => ctx.display_attr(attr).to_string(),
        _ => dense(ctx, ty, datum).unwrap_or_else(|| scalar(datum)),
    }
}

/// Returns a small tensor or vector with poison elements in the form of `dense`.
fn dense(ctx: &Context, ty: Type, datum: &Datum) -> Option<String> {
    let Datum::PoisonTensor(poison) = datum else { return None };
    let bool = poison.tensor().dtype() == DType::Bool;
    let text = |element: &Datum| match element {
        Datum::Int(v) if bool => (*v != 0).to_string(),
        element => scalar(element),
    };
    let texts: Vec<String> = datum.elements()?.iter().map(text).collect();
    let small = !texts.is_empty() && texts.len() <= SHOWN;
    small.then(|| format!("dense<{}> : {}", nested(poison.tensor().shape(), &texts), ctx.display_type(ty)))
}

/// Nests the texts of elements in brackets, as `dense` does.
fn nested(shape: &[usize], texts: &[String]) -> String {
    match shape {
        [] => texts.concat(),
        [extent, rest @ ..] => {
            let rows: Vec<String> = texts.chunks((texts.len() / extent).max(1)).map(|row| nested(rest, row)).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}

fn scalar(datum: &Datum) -> String {
    match datum {
        Datum::Poison => "poison".into(),
        Datum::Int(v) => v.to_string(),
        Datum::Float(v) => format!("{v:?}"),
        Datum::Tensor(_) | Datum::PoisonTensor(_) => {
            let all = datum.elements().map_or("?".to_owned(), |all| elements(&all));
            format!("{:?} {all}", datum.shape().unwrap_or(&[]))
        }
        Datum::MemRef(view) => format!("memory {:?}", view.sizes),
        Datum::Own(own) => own.to_string(),
    }
}

fn elements(all: &[Datum]) -> String {
    let shown: Vec<String> = all.iter().take(SHOWN).map(scalar).collect();
    format!("[{}{}]", shown.join(", "), if all.len() > SHOWN { ", ..." } else { "" })
}
