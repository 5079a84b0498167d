//! The machines whose programs have layers. To add one, implement [`Accelerator`](crate::layers::Accelerator) and add a line to [`ROADS`].

use crate::graph_to_cluster::ClusterLayers;
use crate::graph_to_npu::NpuLayers;
use crate::layers::Road;
use gradus_ir::{Diagnostic, Module, Op, OpDecl};
use gradus_networks::layer::LayerProgramOp;

/// The roads of all machines.
const ROADS: &[Road] = &[Road::of::<ClusterLayers>(), Road::of::<NpuLayers>()];

/// Returns the road of a target.
///
/// # Errors
/// It has none.
pub(crate) fn road_of(target: &str) -> Result<&'static Road, String> {
    let found = ROADS.iter().find(|road| road.target == target);
    found.ok_or_else(|| format!("there is no machine '{target}' with layers"))
}

/// Takes a step on the road of each machine that has programs.
///
/// # Errors
/// No machine has the name that a program gives, or a step fails.
pub(crate) fn on_programs(
    m: &mut Module,
    root: Op,
    step: &mut dyn FnMut(&Road, &mut Module) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    for program in m.ops_under(root).into_iter().filter_map(|op| LayerProgramOp::cast(m, op)) {
        let name = program.machine(m).and_then(|name| m.ctx.as_str(name)).unwrap_or("");
        road_of(name).map_err(|why| Diagnostic::error(m.loc(program.0), why))?;
    }
    ROADS.iter().try_for_each(|road| step(road, m))
}
