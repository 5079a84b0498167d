//! From a network to the program of a machine: candidates of choices are scheduled, placed, emitted and timed; the fastest remains.

use super::choose::{Prices, choose};
use super::emit::emit;
use super::fit::{Failure, fit};
use super::image::{Image, constants, image};
use super::memory::{Memory, assign};
use super::network::{Network, Role};
use super::schedule::{Choices, Group, Schedule, schedule};
use gradus_simulators::cluster::{Machine, Program, Simulator, Statistics};

/// A compiled network.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its choices.
    pub choices: Choices,
    /// Its schedule.
    pub schedule: Schedule,
    /// Its places.
    pub memory: Memory,
    /// Its places in DDR.
    image: Image,
    /// Its estimated counts.
    pub estimate: Statistics,
    /// The op of each task, by number among those of the program.
    pub sources: Vec<usize>,
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

/// Prices of constants and features with which divisions are chosen, in cycles per byte.
const PRICES: [[f64; 2]; 9] = [
    [0.0, 0.0],
    [0.01, 0.0],
    [0.03, 0.0],
    [0.1, 0.0],
    [0.0, 0.003],
    [0.01, 0.003],
    [0.03, 0.01],
    [0.0, 0.02],
    [0.1, 0.03],
];

/// Numbers of tiles with which the operands are streamed.
const TILES: [u32; 3] = [2, 4, 8];

/// Largest number of layers that are executed by tiles while operands stream.
const STREAMED: usize = 3;

/// Largest number of passes over neighbouring groups.
const MERGES: usize = 2;

struct Search<'a> {
    net: &'a Network,
    machine: &'a Machine,
    settings: Settings,
    best: Option<Compiled>,
    candidates: Vec<(String, Option<u64>)>,
    failure: Failure,
}

/// Compiles a network.
///
/// # Errors
/// The memory of a cluster does not suffice for a layer.
pub fn compile(net: &Network, machine: &Machine, settings: Settings) -> Result<Compiled, Failure> {
    let mut search = Search { net, machine, settings, best: None, candidates: Vec::new(), failure: Failure::default() };
    for [constants, features] in PRICES {
        let choices = simple(net, machine, Prices { constants, features }, settings.divisions);
        search.attempt(format!("constants at {constants}, features at {features} cycles per byte"), choices);
    }
    if settings.streaming {
        search.stream();
    }
    if settings.cascades {
        search.merge();
    }
    let Some(mut best) = search.best else { return Err(search.failure) };
    best.program.constants = constants(net, &best.schedule, &best.image);
    best.candidates = search.candidates;
    Ok(best)
}

/// Choices without tiles.
fn simple(net: &Network, machine: &Machine, prices: Prices, divisions: bool) -> Choices {
    Choices {
        splits: choose(net, machine, prices, divisions),
        groups: (0..net.layers.len()).map(|l| Group { layers: l..l + 1, tiles: 1 }).collect(),
        in_ddr: vec![false; net.features.len()],
        slice: machine.slice,
    }
}

impl Search<'_> {
    /// Compiles with choices, which are made to fit into memory first. Whether they are the fastest so far.
    fn attempt(&mut self, name: String, mut choices: Choices) -> bool {
        let compiled = fit(self.net, &mut choices, self.machine).and_then(|()| self.compile_with(choices));
        let cycles = compiled.as_ref().ok().map(|c| c.estimate.cycles);
        self.candidates.push((name, cycles));
        match compiled {
            Ok(new) if self.best.as_ref().is_none_or(|best| new.estimate.cycles < best.estimate.cycles) => {
                self.best = Some(new);
                true
            }
            Ok(_) => false,
            Err(why) => {
                self.failure = why;
                false
            }
        }
    }

    fn compile_with(&self, choices: Choices) -> Result<Compiled, Failure> {
        let (net, machine) = (self.net, self.machine);
        let schedule = schedule(net, &choices, machine);
        let memory = assign(&schedule, machine, self.settings.prefetch).map_err(|missing| {
            let source = net.layers[schedule.steps[missing.step].layer].source;
            Failure { source, why: missing.to_string() }
        })?;
        let fail = |why: String| Failure { source: 0, why };
        let image = image(net, &schedule, &choices, &memory, machine).map_err(fail)?;
        let program = emit(net, &schedule, &memory, &image, machine.clusters as usize, self.settings.multicast);
        let estimate = Simulator::new(machine.clone()).estimate(&program).map_err(|fault| fail(fault.to_string()))?;
        let sources = schedule.steps.iter().map(|step| net.layers[step.layer].source).collect();
        Ok(Compiled { program, choices, schedule, memory, image, estimate, sources, candidates: Vec::new() })
    }

    /// Executes the first layers by tiles, so that they begin before all of an operand has been read.
    fn stream(&mut self) {
        let reads_operand =
            self.net.layers.first().is_some_and(|layer| {
                matches!(self.net.features[self.net.root(layer.input).whole].role, Role::Operand(_))
            });
        let Some(base) = self.best.as_ref().map(|best| best.choices.clone()).filter(|_| reads_operand) else { return };
        for layers in (1..=STREAMED.min(self.net.layers.len())).take_while(|&n| self.net.can_tile(0..n)) {
            for tiles in TILES {
                let mut choices = base.clone();
                let rest = base.groups.iter().filter(|g| g.layers.start >= layers).cloned();
                choices.groups = std::iter::once(Group { layers: 0..layers, tiles }).chain(rest).collect();
                self.attempt(format!("the first {layers} layers in {tiles} tiles"), choices);
            }
        }
    }

    /// Joins neighbouring groups with tiles, so that what is between them does not go through DDR.
    fn merge(&mut self) {
        for _ in 0..MERGES {
            let mut at = 0;
            let mut changed = false;
            while let Some(best) = &self.best {
                let groups = &best.choices.groups;
                let Some([a, b]) = groups.get(at..at + 2) else { break };
                if a.tiles > 1 && b.tiles > 1 {
                    let mut choices = best.choices.clone();
                    let (layers, tiles) = (a.layers.start..b.layers.end, a.tiles.max(b.tiles));
                    let name = format!("layers {} to {} in {tiles} tiles", layers.start, layers.end - 1);
                    choices.groups.splice(at..at + 2, [Group { layers, tiles }]);
                    if self.attempt(name, choices) {
                        changed = true;
                        continue;
                    }
                }
                at += 1;
            }
            if !changed {
                break;
            }
        }
    }
}
