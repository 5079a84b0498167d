//! A picture of sparse products as code: the bundles of instructions that issue in each cycle, by unit.

use crate::TargetError;
use crate::chart::{Bar, Chart, Lane, TimeAxis, colours, grouped};
use gradus_ir::{Module, Op, OpDecl};
use gradus_machines::a64::{CallOp, Inst, Operation, Panels, Unit, bundles, callee_of};
use std::ops::Range;

/// Units with their names.
const UNITS: [(Unit, &str); 4] =
    [(Unit::Load, "load"), (Unit::Move, "move"), (Unit::Multiply, "multiply-add"), (Unit::Store, "store")];

/// Meanings of colours.
const LEGEND: [(&str, &str); 6] = [
    ("load, scale by an immediate, accumulate (two units)", colours::COMPUTE),
    ("multiply or add", colours::CONTROL),
    ("load", colours::READ),
    ("start of a sum", colours::FINISH),
    ("move or address", colours::COPY),
    ("store", colours::WRITE),
];

/// Cycles that the enlarged part of a run has.
const ENLARGED: u64 = 8;

/// A function of code, with the cycles in which it is drawn.
struct DrawnFunction {
    name: String,
    code: Vec<Inst>,
    panels: Panels,
    cycles: Range<u64>,
}

/// Draws the code of all sparse products of a program, one after the other, each for one panel of columns.
///
/// # Errors
/// There is no call of code.
pub(crate) fn draw(m: &Module) -> Result<String, TargetError> {
    let functions = functions(m)?;
    let Some(last) = functions.last() else { return Err("there is no sparse product as code".into()) };
    let end = last.cycles.end;
    let instructions = functions.iter().map(|one| one.code.len() as u64).sum();
    let total = functions.iter().map(|one| (one.cycles.end - one.cycles.start) * one.panels.count() as u64).sum();
    let title = format!("Sparse products on a64-ext: {} cycles for a panel of each", grouped(end));
    let facts = format!(
        "{} instructions; all panels: {} cycles; a cycle issues a bundle of at most one instruction per unit",
        grouped(instructions),
        grouped(total)
    );
    let mut chart = Chart::new(&title, &facts);
    chart.legend(&LEGEND);
    let lanes = lanes(&functions);
    chart.section("Issue slots: one lane per unit");
    chart.lanes(TimeAxis { cycles: [0, end] }, &lanes);
    if end > 2 * ENLARGED {
        let first = (end - ENLARGED) / 2;
        chart.section("A part in the middle");
        chart.lanes(TimeAxis { cycles: [first, first + ENLARGED] }, &lanes);
    }
    Ok(chart.finish())
}

/// The functions that calls name, in the order of the calls.
fn functions(m: &Module) -> Result<Vec<DrawnFunction>, TargetError> {
    let mut all: Vec<DrawnFunction> = Vec::new();
    let calls = m.ops_under(m.root()).into_iter().filter_map(|op| CallOp::cast(m, op));
    for call in calls {
        let (code, panels) = (callee_of(m, call.0)?, m.with_args(call.0, Panels::of).ok_or("is not declared")??);
        let begin = all.last().map_or(0, |one| one.cycles.end);
        let end = begin + bundles(&code).count() as u64;
        all.push(DrawnFunction { name: name(m, call.0), code, panels, cycles: begin..end });
    }
    Ok(all)
}

/// The name of the layer of a call, or of its function.
fn name(m: &Module, call: Op) -> String {
    let symbol = m.inherent_attr(call, "callee").and_then(|a| m.ctx.as_symbol(a));
    let symbol = symbol.map_or_else(String::new, |(name, _)| m.ctx.text(name).to_owned());
    m.loc(call).label(&m.ctx).map_or(symbol.clone(), |label| format!("{symbol}: {label}"))
}

/// A lane of functions, and one for each unit.
fn lanes(functions: &[DrawnFunction]) -> Vec<Lane> {
    let of_functions = functions.iter().map(|one| Bar {
        cycles: [one.cycles.start, one.cycles.end],
        colour: colours::WAIT,
        what: "function".to_owned(),
        name: one.name.clone(),
        place: format!("called for {} panels of {} columns", one.panels.count(), one.panels.panel),
        ..Bar::default()
    });
    let of_unit = |(unit, label): (Unit, &str)| {
        let bars = functions.iter().flat_map(|one| {
            let bundles = bundles(&one.code).zip(one.cycles.clone());
            bundles.flat_map(move |(bundle, cycle)| {
                let issued = bundle.iter().filter(move |inst| inst.what.units().contains(&unit));
                issued.map(move |inst| bar(inst, cycle))
            })
        });
        Lane { label: label.to_owned(), bars: bars.collect() }
    };
    std::iter::once(Lane { label: "function".to_owned(), bars: of_functions.collect() })
        .chain(UNITS.map(of_unit))
        .collect()
}

fn bar(inst: &Inst, cycle: u64) -> Bar {
    let colour = match inst.what.operation {
        Operation::LoadMulAdd => colours::COMPUTE,
        Operation::Load => colours::READ,
        Operation::Store => colours::WRITE,
        Operation::Move if inst.imm == 0 => colours::FINISH,
        _ if inst.what.multiplies() => colours::CONTROL,
        _ => colours::COPY,
    };
    Bar {
        cycles: [cycle, cycle + 1],
        colour,
        what: inst.what.mnemonic().to_owned(),
        label: inst.to_string(),
        place: inst.to_string(),
        short: inst.what.mnemonic().to_owned(),
        ..Bar::default()
    }
}
