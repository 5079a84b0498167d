//! Inputs and outcomes as text, in MLIR's spelling.

use crate::event::ExternalCall;
use crate::input::Input;
use crate::outcome::Outcome;
use crate::seen::{Seen, refines};
use crate::signature::result_types;
use gradus_ir::eval::Datum;
use gradus_ir::{Context, DType, Module, Op, Type};

/// Maximum number of elements of memory that are shown.
const SHOWN: usize = 32;

/// The name of the place of all external calls.
const CALLS: &str = "calls";

/// Maximum number of differing elements that are shown of more.
const FEW: usize = 8;

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

/// Formats the outcomes of two runs: results and effects that differ, or all of those that end in different ways. Of many
/// elements, only those that differ are shown.
pub(crate) fn outcomes(m: &Module, function: Op, before: &Outcome, after: &Outcome) -> [String; 2] {
    let differing = || {
        let (old, new) = (places(m, function, before)?, places(m, function, after)?);
        let is_alike = old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.name == new.name);
        let pairs = old.iter().zip(&new).filter(|(old, new)| is_alike && old.differs(new));
        let texts: Vec<[String; 2]> = pairs.map(|(old, new)| old.against(new)).collect();
        let side = |i: usize| texts.iter().map(|pair| pair[i].as_str()).collect::<Vec<_>>().join("; ");
        (!texts.is_empty()).then(|| [side(0), side(1)])
    };
    differing().unwrap_or_else(|| [before, after].map(|run| outcome(m, function, run)))
}

/// A result or an effect of a run.
struct ShownResult {
    /// The place with its verb.
    name: String,
    value: String,
    elements: Vec<Datum>,
    /// The extents of the elements, last dimension fastest.
    shape: Vec<usize>,
}

impl ShownResult {
    /// Creates the place of memory; `None` is freed memory.
    fn of_memory(name: String, contents: Option<&[Datum]>) -> ShownResult {
        let value = contents.map_or("freed memory".to_owned(), elements);
        let elements = contents.unwrap_or_default().to_vec();
        ShownResult { name, value, shape: vec![elements.len()], elements }
    }

    fn text(&self) -> String {
        format!("{} {}", self.name, self.value)
    }

    fn differs(&self, other: &ShownResult) -> bool {
        match self.elements.is_empty() || self.elements.len() != other.elements.len() {
            true => self.value != other.value,
            false => self.elements.iter().zip(&other.elements).any(|(old, new)| !refines(old, new)),
        }
    }

    /// Formats both of two places. Where there are too many elements to show all, those that differ are shown with their indices.
    fn against(&self, other: &ShownResult) -> [String; 2] {
        let all = self.elements.len();
        if all <= SHOWN || other.elements.len() != all {
            return [self.text(), other.text()];
        }
        let differing: Vec<usize> = (0..all).filter(|&i| !refines(&self.elements[i], &other.elements[i])).collect();
        let line = |place: &ShownResult| {
            let element = |&i: &usize| format!("{} at {:?}", scalar(&place.elements[i]), index(&place.shape, i));
            let shown: Vec<String> = differing.iter().take(FEW).map(element).collect();
            let more = if differing.len() > FEW { ", ..." } else { "" };
            format!("{} {}{more}", place.name, shown.join(", "))
        };
        [line(self), format!("{} ({} of {all} elements differ)", line(other), differing.len())]
    }
}

/// Returns the index of an element of a tensor.
fn index(shape: &[usize], mut linear: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in index.iter_mut().zip(shape).rev() {
        (*at, linear) = (linear % extent.max(1), linear / extent.max(1));
    }
    index
}

/// Returns the results and effects of a run that returned.
fn places(m: &Module, function: Op, outcome: &Outcome) -> Option<Vec<ShownResult>> {
    let Outcome::Returned { results, buffers, globals, events, .. } = outcome else { return None };
    let types = result_types(m, function);
    let mut places = Vec::new();
    if !events.is_empty() {
        places.push(ShownResult { name: CALLS.into(), value: calls(events), elements: Vec::new(), shape: Vec::new() });
    }
    for (i, result) in results.iter().enumerate() {
        let name = if results.len() > 1 { format!("result {i} is") } else { "returns".to_owned() };
        let value = seen(&m.ctx, types.get(i).copied().unwrap_or(Type::NONE), result);
        places.push(ShownResult { name, value, elements: result.elements(), shape: result.shape() });
    }
    let memory =
        |(i, held): (usize, &Option<Vec<Datum>>)| ShownResult::of_memory(format!("memory {i} holds"), held.as_deref());
    places.extend(buffers.iter().enumerate().map(memory));
    places.extend(globals.iter().map(|(name, held)| ShownResult::of_memory(format!("@{name} holds"), Some(held))));
    Some(places)
}

/// Formats the outcome of a run: its results and effects.
pub(crate) fn outcome(m: &Module, function: Op, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Undefined(_, reason, events) => format!("{}{reason}", before(events)),
        Outcome::Unsupported(.., reason) | Outcome::Unknown(_, reason) => format!("cannot be executed: {reason}"),
        Outcome::Aborted(_, reason, events) => format!("{}stops: {reason}", before(events)),
        Outcome::Limit => "does not come to its end".into(),
        Outcome::Returned { results, events, .. } => {
            let mut places = places(m, function, outcome).unwrap_or_default();
            places.retain(|place| place.name != CALLS);
            let effects = places.split_off(results.len());
            let values: Vec<&str> = places.iter().map(|place| place.value.as_str()).collect();
            let returned = (!values.is_empty()).then(|| format!("returns {}", values.join(", ")));
            let texts: Vec<String> = returned.into_iter().chain(effects.iter().map(ShownResult::text)).collect();
            format!("{}{}", before(events), if texts.is_empty() { "returns".to_owned() } else { texts.join("; ") })
        }
    }
}

/// Formats the external calls before the end of a run.
fn before(events: &[ExternalCall]) -> String {
    if events.is_empty() { String::new() } else { format!("calls {}; ", calls(events)) }
}

fn calls(events: &[ExternalCall]) -> String {
    let one = |event: &ExternalCall| {
        let args: Vec<String> = event.args.iter().map(untyped).collect();
        let global = |(name, contents): &(String, Vec<Datum>)| format!(" while @{name} holds {}", elements(contents));
        let globals: String = event.globals.iter().map(global).collect();
        format!("{}({}){globals}", event.name, args.join(", "))
    };
    events.iter().map(one).collect::<Vec<_>>().join("; calls ")
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
    if datum.shape().is_some_and(|shape| shape.iter().product::<usize>() > SHOWN)
        && let Some(all) = datum.elements()
        && all.iter().any(|element| *element != all[0])
    {
        return format!("{} : {}", elements(&all), ctx.display_type(ty));
    }
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
