//! From a network to the program of a machine: choices are scheduled, placed, emitted and timed.

use super::emit::emit;
use super::fit::Failure;
use super::image::{DdrImage, image};
use super::memory::{BufferPlacement, assign};
use super::network::Network;
use super::schedule::{Choices, Schedule, schedule};
use crate::layers::LayerOptions;
use gradus_ir::Refusal;
use gradus_simulators::cluster::{ClusterMachine, ClusterProgram, Simulator, Statistics};

/// A compiled network.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: ClusterProgram,
    /// Its choices.
    pub choices: Choices,
    /// Its schedule.
    pub schedule: Schedule,
    /// Its places.
    pub memory: BufferPlacement,
    /// Its places in DDR.
    pub image: DdrImage,
    /// Its estimated counts.
    pub estimate: Statistics,
    /// The op of each task, by number among those of the program.
    pub sources: Vec<usize>,
    /// Steps of the planner of memory.
    pub effort: u64,
    /// Candidates, with their estimated cycles; `None` if memory does not suffice.
    pub candidates: Vec<(String, Option<u64>)>,
}

/// The optimizations, each of which can be left out to see what it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Elementwise ops are stages of the layer before them.
    pub fusion: bool,
    /// Producers write their part of a concatenation or shuffle.
    pub in_place: bool,
    /// Layers are divided along any axes; else along rows.
    pub divisions: bool,
    /// Constants are read early.
    pub prefetch: bool,
    /// A read of constants goes to all clusters that need them.
    pub multicast: bool,
    /// The first layers are executed by tiles while operands are read.
    pub streaming: bool,
    /// Neighbouring layers with tiles are executed depth first.
    pub cascades: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            fusion: true,
            in_place: true,
            divisions: true,
            prefetch: true,
            multicast: true,
            streaming: true,
            cascades: true,
        }
    }
}

impl Settings {
    /// Returns all optimizations without those that options leave out.
    ///
    /// # Errors
    /// There is no such optimization.
    pub(crate) fn without(options: &LayerOptions) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for without in options.left_out() {
            let mut names = settings.names().into_iter();
            let found = names.find(|(name, _)| *name == without).map(|(_, setting)| *setting = false);
            found.ok_or_else(|| format!("there is no optimization '{without}'"))?;
        }
        Ok(settings)
    }

    /// Returns the settings by name.
    pub fn names(&mut self) -> [(&'static str, &mut bool); 7] {
        [
            ("fusion", &mut self.fusion),
            ("in-place", &mut self.in_place),
            ("divisions", &mut self.divisions),
            ("prefetch", &mut self.prefetch),
            ("multicast", &mut self.multicast),
            ("streaming", &mut self.streaming),
            ("cascades", &mut self.cascades),
        ]
    }
}

/// Compiles a network by given choices, without the constants.
///
/// # Errors
/// The memory of a cluster does not suffice for a layer.
pub fn compile_by(
    net: &Network,
    machine: &ClusterMachine,
    settings: Settings,
    choices: Choices,
    effort: u64,
) -> Result<Compiled, Failure> {
    let schedule = schedule(net, &choices, machine);
    compile_schedule(net, machine, settings, (choices, effort), (schedule, None))
}

/// Compiles a network by a given schedule, without the constants. Without places, these are planned.
///
/// # Errors
/// The memory of a cluster does not suffice for a layer.
pub fn compile_schedule(
    net: &Network,
    machine: &ClusterMachine,
    settings: Settings,
    (choices, effort): (Choices, u64),
    (schedule, places): (Schedule, Option<BufferPlacement>),
) -> Result<Compiled, Failure> {
    let fill = if settings.prefetch { choices.fill } else { 0 };
    let places = places.map_or_else(|| assign(&schedule, machine, fill, effort), Ok);
    let memory = places.map_err(|missing| {
        let source = net.layers[schedule.steps[missing.step].layer].source();
        (source, Refusal::from("{} bytes that are missing in a cluster's memory").with([missing.bytes as usize]))
    })?;
    let image = image(net, &schedule, &choices, &memory, machine).map_err(|refusal| (0, refusal))?;
    let program = emit(net, &schedule, &memory, &image, machine.clusters as usize, settings.multicast);
    let estimate = Simulator::new(machine.clone()).estimate(&program);
    let estimate = estimate.map_err(|_| (0, "a program that the simulator refuses".into()))?;
    let sources = schedule.steps.iter().map(|step| net.layers[step.layer].source()).collect();
    Ok(Compiled { program, choices, schedule, memory, image, estimate, sources, effort, candidates: Vec::new() })
}
