//! A smaller input on which two functions still differ: numbers nearer to zero say more about what goes wrong.

use crate::input::Input;
use crate::options::Options;
use crate::outcome::{Difference, Outcome, Relation, Runner};
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Type};

/// So many inputs are tried.
const TRIES: usize = 64;

/// A number of an input.
#[derive(Clone, Copy)]
enum Place {
    /// An argument.
    Arg(usize),
    /// An element of a buffer.
    Element(usize, usize),
}

/// Makes the numbers of an input smaller, one by one, as long as `after` differs from `before`. The runs after may take so
/// much fuel.
pub(crate) fn smaller(
    before: (&Module, Op),
    after: (&Module, Op),
    mut found: Difference,
    options: &Options,
    fuel: u64,
) -> Difference {
    let mut tries = TRIES;
    let (mut old, mut new) = (Runner::new(before.0, options), Runner::new(after.0, &Options { fuel, ..*options }));
    let mut places: Vec<Place> = (0..found.input.args.len()).map(Place::Arg).collect();
    for (i, contents) in found.input.buffers.iter().enumerate() {
        places.extend((0..contents.len()).map(|k| Place::Element(i, k)));
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
            let now = new.run(after.1, &input);
            if now.relation(&outcome) == Relation::Differs {
                found = Difference { input, before: outcome, after: now };
                break;
            }
        }
    }
    found
}

fn at(input: &mut Input, place: Place) -> &mut Datum {
    match place {
        Place::Arg(i) => &mut input.args[i],
        Place::Element(buffer, i) => &mut input.buffers[buffer][i],
    }
}

/// What a number may become, the simplest first.
fn simpler((m, function): (&Module, Op), input: &Input, place: Place) -> Vec<Datum> {
    let (old, signed) = match place {
        Place::Arg(i) => {
            let entry = m.regions(function).first().and_then(|&r| m.entry(r));
            let ty = entry.and_then(|b| m.block_args(b).get(i)).map_or(Type::NONE, |&v| m.value_type(v));
            let narrow = m.ctx.int_width(ty).is_some_and(|width| width < 3);
            (&input.args[i], !narrow && !m.ctx.is_unsigned(ty))
        }
        // Of memory, the type of elements is not at hand; zero is in all of them.
        Place::Element(buffer, i) => (&input.buffers[buffer][i], false),
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
