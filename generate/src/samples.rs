//! Sample inputs, and runs on them.

use gradus_check::{Input, Inputs, Options, Outcome, Runner};
use gradus_ir::element_limit::with_element_limit;
use gradus_ir::eval::{Datum, eval_op};
use gradus_ir::random::Random;
use gradus_ir::{Module, Op, Value};
use rustc_hash::FxHashMap;

/// Elements of created tensors that count as an op.
pub(crate) const ELEMENTS_PER_OP: u64 = 16;

/// Fuel of a run; an op that exceeds it is removed.
const FUEL: u64 = 2000;

/// Returns the options of runs on sample inputs.
pub(crate) fn options() -> Options {
    Options { fuel: FUEL, elements_per_op: ELEMENTS_PER_OP, ..Options::default() }
}

/// The sample inputs of a function, and the values that depend only on them.
#[derive(Default)]
pub(crate) struct SampleValues {
    /// Number of arguments and symbols when the inputs were drawn.
    pub(crate) drawn_for: (usize, usize),
    pub(crate) inputs: Vec<Input>,
    /// The value of each SSA value on each sample input.
    pub(crate) values: FxHashMap<Value, Box<[Datum]>>,
}

/// Draws `count` inputs without poison; the same for equal types.
pub(crate) fn draw(m: &Module, function: Op, count: u64) -> Option<Vec<Input>> {
    let drawn = Inputs::of(m, function)?.without_poison();
    (0..count).map(|number| drawn.draw(&mut Random::of(("grow", number))).ok()).collect()
}

/// Whether a function returns on all inputs.
pub(crate) fn is_defined(m: &Module, function: Op, inputs: &[Input]) -> bool {
    let mut runner = Runner::new(m, &options());
    let ends = |input| matches!(runner.run(function, input), Outcome::Returned { .. } | Outcome::Aborted(..));
    inputs.iter().all(ends)
}

/// Evaluates an op alone. Its results are limited as those of a run: computed extents, such as those of a resize by a drawn scale,
/// may take gigabytes. `None` if it fails.
pub(crate) fn evaluate(m: &Module, op: Op, operands: &[Datum]) -> Option<Vec<Datum>> {
    let Options { fuel, elements_per_op, .. } = options();
    let run = || m.with_args(op, |args| eval_op(args, operands).ok())?;
    with_element_limit((fuel * elements_per_op) as usize, run).0
}
