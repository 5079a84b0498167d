//! The cost models and the machine description that a context knows.

use crate::{COUNTS, CostError, CostModel, Machine};
use gradus_ir::diag::hint;
use gradus_ir::{Context, Module, Op};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// The cost models of a tool's targets, and the machines of those that were asked for theirs.
struct Registered {
    models: Vec<&'static CostModel>,
    machines: Mutex<FxHashMap<&'static str, Machine>>,
}

/// A machine description from the user.
struct Loaded(Machine);

/// Measured costs of the ops of a target.
struct Measured {
    target: &'static str,
    cost: Box<MeasureFn>,
}

/// Returns the measured cost of an op, in the unit of the target's cost model; `None` if its estimate is to be used.
type MeasureFn = dyn Fn(&Module, Op) -> Option<u64> + Send + Sync;

/// Registers the cost models of targets in a context. Returns `false` if some were registered before.
pub fn register(ctx: &Context, models: Vec<&'static CostModel>) -> bool {
    ctx.extend(Registered { models, machines: Mutex::default() })
}

/// Adds a machine description, which replaces the embedded one of its target. Returns `false` if there is one.
pub fn load_machine(ctx: &Context, machine: Machine) -> bool {
    ctx.extend(Loaded(machine))
}

/// Returns the machine description that was added.
pub fn loaded_machine(ctx: &Context) -> Option<&Machine> {
    ctx.extension::<Loaded>().map(|loaded| &loaded.0)
}

/// Uses measured costs in place of a target's estimates, where the function returns one. Returns `false` if a context has
/// such a function.
pub fn measure_with(
    ctx: &Context,
    target: &'static str,
    cost: impl Fn(&Module, Op) -> Option<u64> + Send + Sync + 'static,
) -> bool {
    ctx.extend(Measured { target, cost: Box::new(cost) })
}

/// Returns the measured cost of an op of a target.
pub(crate) fn measured(m: &Module, op: Op, target: &str) -> Option<u64> {
    m.ctx.extension::<Measured>().filter(|measured| measured.target == target).and_then(|found| (found.cost)(m, op))
}

/// Returns the embedded machine of a registered target, which is read once.
pub(crate) fn embedded_once<E>(
    ctx: &Context,
    name: &'static str,
    read: impl FnOnce() -> Result<Machine, E>,
) -> Result<Machine, E> {
    let Some(registered) = ctx.extension::<Registered>() else { return read() };
    let mut known = registered.machines.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = known.get(name) {
        return Ok(machine.clone());
    }
    let machine = read()?;
    known.insert(name, machine.clone());
    Ok(machine)
}

impl CostModel {
    /// Returns the models of a context: the counting ones, then its targets'.
    pub fn all(ctx: &Context) -> impl Iterator<Item = &'static CostModel> {
        let registered = ctx.extension::<Registered>().map_or(&[][..], |registered| &registered.models);
        COUNTS.iter().chain(registered.iter().copied())
    }

    /// Returns the model of a name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn named(ctx: &Context, name: &str) -> Result<&'static CostModel, CostError> {
        CostModel::all(ctx).find(|model| model.name == name).ok_or_else(|| {
            let known = CostModel::all(ctx).map(|m| format!("{} ({})", m.name, m.doc)).collect();
            CostError::UnknownModel {
                name: name.to_owned(),
                hint: hint(name, CostModel::all(ctx).map(|m| m.name)),
                known,
            }
        })
    }

    /// Returns the names of all models that a context knows.
    pub fn names(ctx: &Context) -> Vec<String> {
        CostModel::all(ctx).map(|model| model.name.to_owned()).collect()
    }
}
