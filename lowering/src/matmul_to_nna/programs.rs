//! Programs of the fewest cycles. A context keeps them, so that costs and code do not find them twice.

use super::product::Lowered;
use gradus_ir::{Module, Refusal};
use gradus_simulators::nna::{LoopOrder, Mapping, NnaMachine, ProductPlan, ProductProgram, Shape};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A technique that is left out, for comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Without {
    /// None.
    Nothing,
    /// All but scalar code.
    Convolutions,
    /// Weights that the patches of a step share.
    Sharing,
    /// Writes of features beside convolutions.
    PingPong,
}

impl Without {
    /// Returns the technique of a word.
    pub fn of(word: &str) -> Without {
        match word {
            "convolutions" => Without::Convolutions,
            "sharing" => Without::Sharing,
            "ping-pong" => Without::PingPong,
            _ => Without::Nothing,
        }
    }

    fn adjust(self, plan: ProductPlan) -> Option<ProductPlan> {
        let is_conv = plan.mapping != Mapping::Scalar;
        match self {
            Without::Nothing => Some(plan),
            Without::Convolutions => (!is_conv).then_some(plan),
            Without::Sharing => {
                (plan.order == LoopOrder::KernelOuter).then_some(ProductPlan { sharing: false, ..plan })
            }
            Without::PingPong => (!plan.ping_pong || !is_conv).then_some(plan),
        }
    }
}

/// A program that is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wanted {
    shape: Shape,
    mapping: Option<Mapping>,
    initial: bool,
    requantize: Option<i8>,
    without: Without,
    machine: NnaMachine,
}

impl Wanted {
    /// Returns the program of the fewest cycles, if the machine has one.
    fn make(self) -> Option<Arc<ProductProgram>> {
        let adjust = |plan: ProductPlan| {
            let plan = self.without.adjust(plan)?;
            let fits = self.mapping.is_none_or(|mapping| mapping == plan.mapping);
            fits.then_some(ProductPlan { initial: self.initial, requantize: self.requantize, ..plan })
        };
        ProductProgram::cheapest(self.shape, &self.machine, adjust).ok().map(Arc::new)
    }
}

/// The programs that a context knows.
#[derive(Default)]
struct KnownPrograms(Mutex<FxHashMap<Wanted, Option<Arc<ProductProgram>>>>);

/// Returns a program that a context knows, or makes it.
fn program(m: &Module, wanted: Wanted) -> Option<Arc<ProductProgram>> {
    m.ctx.extend(KnownPrograms::default());
    let Some(KnownPrograms(known)) = m.ctx.extension::<KnownPrograms>() else { return wanted.make() };
    if let Some(program) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&wanted) {
        return program.clone();
    }
    let program = wanted.make();
    known.lock().unwrap_or_else(PoisonError::into_inner).insert(wanted, program.clone());
    program
}

/// Returns the alternative and program of the fewest cycles.
pub(super) fn cheapest(
    m: &Module,
    alternatives: Vec<Lowered>,
    without: Without,
    machine: &NnaMachine,
) -> Result<(Lowered, Arc<ProductProgram>), Refusal> {
    let Shape { rows, depth, columns } = alternatives[0].shape;
    let programs = alternatives.into_iter().filter_map(|lowered| {
        let Lowered { shape, mapping, initial, .. } = lowered;
        let requantize = lowered.requantize.as_ref().map(|r| r.zero);
        let wanted = Wanted { shape, mapping, initial, requantize, without, machine: *machine };
        Some((program(m, wanted)?, lowered)).map(|(program, lowered)| (lowered, program))
    });
    let cheapest = programs.min_by_key(|(lowered, program)| program.cycles.saturating_mul(lowered.parts as u64));
    cheapest
        .ok_or(Refusal::from("a product of {}x{}x{} for which the machine has no plan").with([rows, depth, columns]))
}
