//! Programs of the fewest cycles. A context keeps them, so that costs and code do not find them twice.

use super::product::Lowered;
use gradus_ir::{Module, Refusal};
use gradus_machines::nna::ProductChoice;
use gradus_simulators::nna::{LoopOrder, Mapping, NnaMachine, PricedMachine, ProductPlan, ProductProgram, Shape};
use rustc_hash::FxHashMap;
use std::ops::Range;
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
    /// Columns of zeros beside those beyond a multiple of 32.
    Padding,
}

impl Without {
    /// Returns the technique of a word.
    pub fn of(word: &str) -> Without {
        match word {
            "convolutions" => Without::Convolutions,
            "sharing" => Without::Sharing,
            "ping-pong" => Without::PingPong,
            "padding" => Without::Padding,
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
            Without::Padding => (!plan.padded).then_some(plan),
            Without::PingPong => (!plan.ping_pong || !is_conv).then_some(plan),
        }
    }
}

/// Conditions on the programs of a product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ProductWish {
    /// The technique that is left out.
    pub without: Without,
    /// The given plan of each part of the reduction.
    pub plans: Option<Vec<ProductChoice>>,
}

impl ProductWish {
    /// The programs of the fewest cycles.
    pub const CHEAPEST: ProductWish = ProductWish { without: Without::Nothing, plans: None };
}

/// A program that is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wanted {
    shape: Shape,
    mapping: Option<Mapping>,
    initial: bool,
    requantize: Option<i8>,
    without: Without,
    plan: Option<ProductChoice>,
    machine: NnaMachine,
}

impl Wanted {
    /// Returns the program of the fewest cycles, if the machine has one.
    fn make(self) -> Option<Arc<ProductProgram>> {
        let adjust = |plan: ProductPlan| {
            let plan = self.without.adjust(plan)?;
            let is_free = self.without == Without::Convolutions;
            let fits = is_free || self.mapping.is_none_or(|mapping| mapping == plan.mapping);
            let is_given = |given: ProductChoice| ProductChoice::of_program(&plan, given.is_turned) == given;
            (fits && self.plan.is_none_or(is_given)).then_some(ProductPlan {
                initial: self.initial,
                requantize: self.requantize,
                ..plan
            })
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

/// An alternative with its programs.
pub(super) struct PricedProduct {
    pub lowered: Lowered,
    /// The program of each part of the reduction.
    pub programs: Vec<Arc<ProductProgram>>,
}

impl PricedProduct {
    /// Returns the programs of an alternative, by given plans if there are some, and if the machine has them.
    fn of(m: &Module, lowered: Lowered, wish: &ProductWish, machine: &NnaMachine) -> Option<PricedProduct> {
        let Lowered { shape, mapping, initial, .. } = lowered;
        let (requantize, depths) = (lowered.requantize.as_ref().map(|r| r.zero), lowered.depths());
        let plans = match &wish.plans {
            Some(plans) => plans.iter().copied().map(Some).collect(),
            None => vec![None; depths.len()],
        };
        let is_other = |plan: &Option<ProductChoice>| plan.is_some_and(|plan| plan.is_turned != lowered.is_turned());
        if plans.len() != depths.len() || plans.iter().any(is_other) {
            return None;
        }
        let of_depth = |(depth, plan): (Range<usize>, Option<ProductChoice>)| {
            let shape = Shape { depth: depth.len(), ..shape };
            let without = wish.without;
            program(m, Wanted { shape, mapping, initial, requantize, without, plan, machine: *machine })
        };
        let programs = depths.into_iter().zip(plans).map(of_depth).collect::<Option<_>>()?;
        Some(PricedProduct { lowered, programs })
    }

    /// Returns the plans of the programs.
    pub fn plans(&self) -> impl Iterator<Item = ProductChoice> {
        let is_turned = self.lowered.is_turned();
        self.programs.iter().map(move |program| ProductChoice::of_program(&program.layout.plan, is_turned))
    }

    /// Returns the cycles below which no plan of these mappings is.
    pub fn bound(&self, machine: &NnaMachine) -> u64 {
        let once: u64 = self.programs.iter().map(|program| program.layout.bound(machine)).sum();
        once.saturating_mul(self.lowered.parts.len() as u64)
    }

    /// Returns the estimated cycles of all calls.
    pub fn cycles(&self) -> u64 {
        let once = self.programs.iter().fold(0, |sum: u64, program| sum.saturating_add(program.cycles));
        once.saturating_mul(self.lowered.parts.len() as u64)
    }

    /// Returns the estimated cycles of all calls and of the host, which moves elements around them.
    pub fn cycles_with_host(&self, m: &Module, machine: &PricedMachine) -> u64 {
        self.cycles().saturating_add(self.lowered.moved(m).saturating_mul(machine.host_element))
    }
}

/// Returns the alternative and programs of the fewest cycles with the host.
pub(super) fn cheapest(
    m: &Module,
    alternatives: Vec<Lowered>,
    wish: &ProductWish,
    machine: &PricedMachine,
) -> Result<PricedProduct, Refusal> {
    let Shape { rows, depth, columns } = alternatives[0].shape;
    let choices = alternatives.into_iter().filter_map(|lowered| PricedProduct::of(m, lowered, wish, &machine.machine));
    let cheapest = choices.min_by_key(|choice| choice.cycles_with_host(m, machine));
    if cheapest.is_none() && wish.plans.is_some() {
        return Err("plans that the machine does not have for it".into());
    }
    cheapest
        .ok_or(Refusal::from("a product of {}x{}x{} for which the machine has no plan").with([rows, depth, columns]))
}
