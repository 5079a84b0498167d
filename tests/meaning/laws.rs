//! Laws that hold for the semantics of every op, tested on ops drawn from their declarations.

use super::draw::{Domain, Instance, Run, Values, extended};
use gradus::Tool;
use gradus::check::refines;
use gradus::ir::effects::is_speculatable;
use gradus::ir::eval::{Datum, PoisonTensor, Trap};
use gradus::ir::random::Random;
use gradus::ir::rewrite::fold_given;
use gradus::ir::{Attr, FoldResult, Folded, Module, OpInfo, TypeData};

/// Number of draws per op.
const DRAWS: u64 = 300;
/// Number of valid instances that run.
const INSTANCES: u64 = if cfg!(debug_assertions) { 10 } else { 24 };
/// Number of inputs per instance.
const INPUTS: u64 = if cfg!(debug_assertions) { 5 } else { 12 };
/// Maximum total width of integer operands for exhaustive folding.
const EXHAUSTIVE_BITS: u32 = if cfg!(debug_assertions) { 8 } else { 16 };

/// Minimum percentage of ops that draws reach. The others need rare combinations, such as matching sizes in the lists
/// of slices, convolutions and recurrent networks.
const REACHED: usize = 85;

/// The result for an op.
#[derive(Default)]
struct Report {
    /// Number of runs that returned.
    ended: u64,
    /// The reason why it was not drawn, or did not return.
    reason: String,
    broken: Vec<String>,
}

/// Whether ops of the kind can run alone, without regions and branches.
fn is_single(info: &OpInfo) -> bool {
    (info.eval.is_some() || info.exec.is_some()) && info.regions.is_empty() && info.successors.is_empty()
}

#[test]
fn meanings_obey_the_laws() {
    let domain = Domain::new(Tool::gradus().context());
    let ctx = Tool::gradus().context();
    let only = std::env::var("GRADUS_OP").ok();
    let all = ctx.dialects().iter().flat_map(|dialect| dialect.ops).copied().filter(|info| is_single(info));
    let all: Vec<&'static OpInfo> =
        all.filter(|info| only.as_deref().is_none_or(|only| info.name.starts_with(only))).collect();
    let half = all.len().div_ceil(2);
    let reports: Vec<(&str, Report)> = std::thread::scope(|scope| {
        let threads = all.chunks(half.max(1)).map(|part| {
            let domain = &domain;
            scope.spawn(move || part.iter().map(|info| (info.name, report(domain, info))).collect::<Vec<_>>())
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("nothing panics")).collect()
    });
    let broken: Vec<&str> = reports.iter().flat_map(|(_, report)| report.broken.iter().map(String::as_str)).collect();
    assert!(broken.is_empty(), "{} laws are broken:\n{}", broken.len(), broken.join("\n"));
    let missed = reports.iter().filter(|(_, report)| report.ended == 0);
    let missed: Vec<String> = missed.map(|(name, report)| format!("{name}: {}", report.reason)).collect();
    let enough = only.is_some() || 100 * (all.len() - missed.len()) >= REACHED * all.len();
    assert!(enough, "{} of {} ops are not reached:\n{}", missed.len(), all.len(), missed.join("\n"));
}

/// Draws an op and tests the laws.
fn report(domain: &Domain, info: &'static OpInfo) -> Report {
    let mut report = Report::default();
    let mut instances = 0;
    for number in 0..DRAWS {
        let mut random = Random::of((info.name, number));
        let instance = match domain.draw(info, &mut random) {
            Ok(instance) => instance,
            Err(reason) => {
                report.reason = format!("it is not valid: {reason}");
                continue;
            }
        };
        instances += 1;
        for _ in 0..INPUTS {
            let Some(values) = domain.values(&instance, &mut random) else { break };
            try_laws(&instance, &values, &mut report);
        }
        fold_all(&instance, &mut report);
        if instances >= INSTANCES || report.broken.len() > 4 {
            break;
        }
    }
    report
}

fn try_laws(instance: &Instance, values: &Values, report: &mut Report) {
    let run = instance.run(values);
    let mut broken = |law: &str, details: String| {
        if report.broken.iter().all(|other| !other.contains(law)) {
            let mut details = format!("{}\n  {law}: {:?}\n  {details}", instance.text(), values.operands);
            details.truncate(1000);
            report.broken.push(details);
        }
    };
    if let Some(ty) = wrong_type(instance, &run) {
        broken("its result is of its type", ty);
    }
    let again = instance.run(values);
    if !is_less_defined(&run, &again) || !is_less_defined(&again, &run) {
        broken("the same again", format!("{run:?}"));
    }
    for poisoned in poisonings(instance, values) {
        let outcome = instance.run(&poisoned);
        if !is_less_defined(&outcome, &run) {
            broken("poison makes nothing more defined", format!("{:?}: {outcome:?}\n  {run:?}", poisoned.operands));
        }
        if is_ub(&outcome) && is_speculatable(&instance.module, instance.op) {
            broken("it is declared to be defined for all operands", format!("{:?}: {outcome:?}", poisoned.operands));
        }
        if let Some(wrong) = folded_wrong(instance, &poisoned, &outcome) {
            broken("what it is folded to refines it", wrong);
        }
    }
    if is_ub(&run) && is_speculatable(&instance.module, instance.op) {
        broken("it is declared to be defined for all operands", format!("{run:?}"));
    }
    if let Some(wrong) = folded_wrong(instance, values, &run) {
        broken("what it is folded to refines it", wrong);
    }
    match run.results {
        Ok(_) => report.ended += 1,
        Err(trap) => report.reason = trap.to_string(),
    }
}

fn is_ub(run: &Run) -> bool {
    matches!(run.results, Err(Trap::Ub(_)))
}

/// Returns the values with each operand in turn replaced by poison, and with every other element of each tensor and vector
/// poison. The shape of a tensor is never poison. Memrefs stay.
fn poisonings(instance: &Instance, values: &Values) -> Vec<Values> {
    let m = &instance.module;
    let operands = m.operands(instance.op);
    let is_tensor = |i: usize| matches!(m.ctx.type_data(m.value_type(operands[i])), TypeData::Tensor { .. });
    let with = |i: usize, poison: Datum| {
        let mut poisoned = values.clone();
        // A repeated operand is poison in both places.
        for (datum, operand) in poisoned.operands.iter_mut().zip(operands) {
            if *operand == operands[i] {
                *datum = poison.clone();
            }
        }
        poisoned
    };
    let of = |i: usize| {
        let masked = |poison: fn(usize) -> bool| {
            let (tensor, _) = values.operands[i].masked()?;
            Some(with(i, PoisonTensor::datum(tensor.clone(), (0..tensor.len()).map(poison).collect())))
        };
        let whole = if is_tensor(i) { masked(|_| true) } else { Some(with(i, Datum::Poison)) };
        [whole, masked(|n| n % 2 == 0), masked(|n| n % 2 == 1)]
    };
    (0..values.operands.len()).flat_map(of).flatten().collect()
}

/// Whether a run on more poison is undefined, or equal up to poison.
fn is_less_defined(poisoned: &Run, run: &Run) -> bool {
    match (&poisoned.results, &run.results) {
        (Err(Trap::Ub(_) | Trap::Unsupported(_) | Trap::Unknown(_) | Trap::Limit(_)), _) => true,
        (_, Err(Trap::Unsupported(_) | Trap::Unknown(_) | Trap::Limit(_) | Trap::Abort(_))) => true,
        (Err(Trap::Abort(_)), _) | (Ok(_), Err(Trap::Ub(_))) => false,
        (Ok(less), Ok(more)) => {
            let memory = poisoned.memory.iter().flatten().zip(run.memory.iter().flatten());
            less.iter().zip(more).chain(memory).all(|(less, more)| refines(less, more))
        }
    }
}

/// Returns the error if a result does not have the op's result type.
fn wrong_type(instance: &Instance, run: &Run) -> Option<String> {
    let m = &instance.module;
    let results = run.results.as_ref().ok()?;
    if results.len() != m.num_results(instance.op) {
        return Some(format!("{} results", results.len()));
    }
    let mut pairs = m.results(instance.op).zip(results);
    pairs.find(|&(value, datum)| !is_of_type(m, m.value_type(value), datum)).map(|(_, datum)| format!("{datum:?}"))
}

fn is_of_type(m: &Module, ty: gradus::ir::Type, datum: &Datum) -> bool {
    let ctx = &m.ctx;
    match datum {
        Datum::Poison => true,
        Datum::Int(value) => {
            ctx.int_width(ty).is_some_and(|width| *value == extended(*value, width, ctx.is_unsigned(ty)))
        }
        Datum::Float(value) => ctx.float_kind(ty).is_some_and(|kind| {
            let rounded = gradus::ir::float::to_f64(kind, gradus::ir::float::from_f64(kind, *value));
            value.is_nan() || rounded.to_bits() == value.to_bits()
        }),
        Datum::Tensor(_) | Datum::PoisonTensor(_) | Datum::MemRef(_) | Datum::Own(_) => ctx.is_value(ty, datum),
    }
}

/// Returns the error if folding with any subset of constant operands does not refine the run.
fn folded_wrong(instance: &Instance, values: &Values, run: &Run) -> Option<String> {
    let m = &instance.module;
    let operands = m.operands(instance.op);
    let known = |(datum, &value): (&Datum, &gradus::ir::Value)| m.ctx.datum_attr(m.value_type(value), datum);
    let constants: Vec<Option<Attr>> = values.operands.iter().zip(operands).map(known).collect();
    let masks = 1u32 << constants.len().min(3);
    (0..masks).find_map(|mask| {
        let some = |(i, attr): (usize, &Option<Attr>)| attr.filter(|_| i >= 3 || mask >> i & 1 == 1);
        let some: Vec<Option<Attr>> = constants.iter().enumerate().map(some).collect();
        folded_with(instance, values, &some, run)
    })
}

fn folded_with(instance: &Instance, values: &Values, constants: &[Option<Attr>], run: &Run) -> Option<String> {
    let (m, op) = (&instance.module, instance.op);
    let Some(Folded::Results(folded)) = fold_given(m, op, constants) else { return None };
    // An undefined op may fold to anything.
    let Ok(results) = &run.results else { return None };
    let datum = |result: &FoldResult, ty| match result {
        FoldResult::Attr(attr) if *attr == m.ctx.poison_attr() => Some(m.ctx.poison_of(ty)),
        FoldResult::Attr(attr) => m.ctx.attr_datum(*attr),
        FoldResult::Value(value) => {
            let at = m.operands(op).iter().position(|operand| operand == value)?;
            Some(values.operands[at].clone())
        }
    };
    let wrong = |((result, before), value): ((&FoldResult, &Datum), gradus::ir::Value)| {
        let after = datum(result, m.value_type(value))?;
        (!refines(before, &after)).then(|| format!("{after:?}, not {before:?}, with {constants:?}"))
    };
    folded.iter().zip(results).zip(m.results(op)).find_map(wrong)
}

/// Folds for all operand values, if these are narrow integers.
fn fold_all(instance: &Instance, report: &mut Report) {
    let m = &instance.module;
    let operands = m.operands(instance.op);
    let kind = |&value: &gradus::ir::Value| {
        let ty = m.value_type(value);
        Some((m.ctx.int_width(ty)?, m.ctx.is_unsigned(ty)))
    };
    let Some(kinds) = operands.iter().map(kind).collect::<Option<Vec<(u32, bool)>>>() else { return };
    let bits: u32 = kinds.iter().map(|kind| kind.0).sum();
    if bits == 0 || bits > EXHAUSTIVE_BITS || operands.windows(2).any(|pair| pair[0] == pair[1]) {
        return;
    }
    for number in 0..1i64 << bits {
        let mut rest = number;
        let mut next = |&(width, unsigned): &(u32, bool)| {
            let number = extended(rest, width, unsigned);
            rest >>= width;
            Datum::Int(number)
        };
        let values = Values { operands: kinds.iter().map(&mut next).collect(), memory: Vec::new() };
        let run = instance.run(&values);
        if let Some(wrong) = folded_wrong(instance, &values, &run) {
            report.broken.push(format!("{}\n  {:?}: {wrong}", instance.text(), values.operands));
            return;
        }
    }
}
