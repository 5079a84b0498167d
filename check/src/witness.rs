//! Minimization of inputs: numbers closer to zero explain a difference better.

use crate::input::Input;
use crate::options::Options;
use crate::outcome::{Difference, Outcome, Runner};
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Type};

/// Maximum number of inputs tried.
const TRIES: usize = 64;

/// A number in an input.
#[derive(Clone, Copy)]
enum NumberPosition {
    /// An argument.
    Arg(usize),
    /// An element of a buffer.
    Element(usize, usize),
}

/// Simplifies the numbers of an input one by one while `differs` returns an outcome of the transformed function, given the input and
/// the outcome of the original.
pub(crate) fn smaller(
    before: (&Module, Op),
    mut found: Difference,
    options: &Options,
    mut differs: impl FnMut(&Input, &Outcome) -> Option<Outcome>,
) -> Difference {
    let (mut tries, mut old) = (TRIES, Runner::new(before.0, options));
    let mut places: Vec<NumberPosition> = (0..found.input.args.len()).map(NumberPosition::Arg).collect();
    for (i, contents) in found.input.buffers.iter().enumerate() {
        places.extend((0..contents.len()).map(|k| NumberPosition::Element(i, k)));
    }
    for place in places {
        for number in simpler(before, &found.input, place) {
            if tries == 0 {
                return found;
            }
            tries -= 1;
            let mut input = found.input.clone();
            *at(&mut input, place) = number;
            let outcome = old.run(before.1, &input);
            let is_defined = matches!(outcome, Outcome::Returned { .. } | Outcome::Aborted(..));
            if !is_defined || outcome.is_vacuous() {
                continue;
            }
            if let Some(now) = differs(&input, &outcome) {
                found = Difference { input, before: outcome, after: now };
                break;
            }
        }
    }
    found
}

fn at(input: &mut Input, place: NumberPosition) -> &mut Datum {
    match place {
        NumberPosition::Arg(i) => &mut input.args[i],
        NumberPosition::Element(buffer, i) => &mut input.buffers[buffer][i],
    }
}

/// Returns simpler candidates for a number, simplest first.
fn simpler((m, function): (&Module, Op), input: &Input, place: NumberPosition) -> Vec<Datum> {
    let (old, signed) = match place {
        NumberPosition::Arg(i) => {
            let entry = m.regions(function).first().and_then(|&r| m.entry(r));
            let ty = entry.and_then(|b| m.block_args(b).get(i)).map_or(Type::NONE, |&v| m.value_type(v));
            let narrow = m.ctx.int_width(ty).is_some_and(|width| width < 3);
            (&input.args[i], !narrow && !m.ctx.is_unsigned(ty))
        }
        // The element type of memory is not known here; zero is valid for all.
        NumberPosition::Element(buffer, i) => (&input.buffers[buffer][i], false),
    };
    match *old {
        Datum::Int(v) if signed => [0, 1, -1, 2, -2, 3, v / 2]
            .into_iter()
            .filter(|n| n.unsigned_abs() < v.unsigned_abs())
            .map(Datum::Int)
            .collect(),
        Datum::Int(v) if v != 0 => vec![Datum::Int(0)],
        Datum::Float(v) => {
            let smaller = |n: &f64| !v.is_finite() || n.abs() < v.abs();
            [0.0, 1.0, -1.0].into_iter().filter(smaller).map(Datum::Float).collect()
        }
        _ => Vec::new(),
    }
}
