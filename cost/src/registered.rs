//! The cost models and the machine description that a context knows.

use crate::{COUNTS, CostError, CostModel, Machine};
use gradus_ir::Context;
use gradus_ir::diag::hint;

/// The cost models of a tool's targets.
struct Registered(Vec<&'static CostModel>);

/// A machine description from the user.
struct Loaded(Machine);

/// Registers the cost models of targets in a context. Returns `false` if some were registered before.
pub fn register(ctx: &Context, models: Vec<&'static CostModel>) -> bool {
    ctx.extend(Registered(models))
}

/// Adds a machine description, which replaces the embedded one of its target. Returns `false` if there is one.
pub fn load_machine(ctx: &Context, machine: Machine) -> bool {
    ctx.extend(Loaded(machine))
}

/// Returns the machine description that was added.
pub fn loaded_machine(ctx: &Context) -> Option<&Machine> {
    ctx.extension::<Loaded>().map(|loaded| &loaded.0)
}

impl CostModel {
    /// Returns the models of a context: the counting ones, then its targets'.
    pub fn all(ctx: &Context) -> impl Iterator<Item = &'static CostModel> {
        let registered = ctx.extension::<Registered>().map_or(&[][..], |models| &models.0);
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
}
