//! A network as a program.

use super::constants::image;
use super::emit::emit;
use super::given::check;
use super::network::Network;
use super::placement::{NoRoom, Placement, place};
use super::price::Prices;
use super::residency::{Residency, TilingCosts, choose};
use super::schedule_ops::ScheduleOps;
use super::shape::{LayerShape, Weighing};
use super::steps::{Steps, divide};
use gradus_ir::{Op, Refusal};
use gradus_machines::npu::Planned;
use gradus_simulators::npu::{NpuInst, NpuMachine, Simulator};

/// A compiled network.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledNetwork {
    /// Instructions.
    pub instructions: Vec<NpuInst>,
    /// The choices.
    pub residency: Residency,
    /// The machine for which it is planned.
    pub planned: Planned,
    /// The steps and the places in DDR.
    pub steps: Steps,
}

impl CompiledNetwork {
    /// Returns the constants, from byte 0 of DDR, which only a program that is defined needs.
    pub fn constants(&self, net: &Network, machine: &NpuMachine) -> Vec<u8> {
        image(net, &self.residency, &self.steps.ddr, machine)
    }

    /// Returns the cycles of the array for rows that are computed for more than one turn of the next layer.
    pub fn repeated(&self, net: &Network, machine: &NpuMachine) -> u64 {
        let mut computed = vec![0; net.layers.len()];
        for step in &self.steps.steps {
            computed[step.layer] += step.rows * step.kernels;
        }
        let of_layer = |(index, computed): (usize, usize)| {
            let layer = &net.layers[index];
            let shape = LayerShape::new(net, layer, machine);
            let again = computed.saturating_sub(shape.output.height * shape.padded_kernels()) as u64;
            // Of a depthwise convolution, each product takes the place of a whole depth.
            let depth = (shape.depth_blocks() * machine.depth as usize) as u64;
            again * (shape.output.width * layer.taps()) as u64 * depth / machine.macs()
        };
        let is_passed = |(index, _): &(usize, _)| self.residency.cascaded[*index];
        computed.into_iter().enumerate().filter(is_passed).map(of_layer).sum()
    }
}

/// The weighings that are tried.
const WEIGHINGS: [Weighing; 6] = [
    Weighing { busiest: 8, each: 1, body: 1, alone: 1 },
    Weighing { busiest: 8, each: 1, body: 0, alone: 4 },
    Weighing { busiest: 8, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 2, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 1, each: 1, body: 0, alone: 0 },
    Weighing { busiest: 8, each: 0, body: 0, alone: 1 },
];

/// Number of layers that are planned in all. A network of fewer layers is planned for several machines.
const MAX_LAYERS_AGAIN: usize = 48;
/// Maximum number of instructions of a program that is planned for further machines.
const MAX_INSTRUCTIONS: usize = 4000;

/// Divisors of the bytes of a stream that finds no place: its layer gets that part more slack. The second one is tried if the first gives
/// no program.
const GROWTHS: [usize; 2] = [2, 16];

/// The placements that are tried, in order.
const PLACEMENTS: [Placement; 3] = [
    Placement { rest: 4, constants_high: true },
    Placement { rest: 0, constants_high: true },
    Placement { rest: 0, constants_high: false },
];

/// Compiles a network: the program of the fewest cycles of those by several weighings.
///
/// # Errors
/// A layer that does not fit into the machine.
pub fn compile(net: &Network, machine: &NpuMachine) -> Result<CompiledNetwork, Refusal> {
    let mut found = FastestProgram { net, machine, best: None, failure: None };
    let plans = (MAX_LAYERS_AGAIN / net.layers.len().max(1)).clamp(1, HALVED.len() + 2);
    for growth in GROWTHS {
        for (i, planned) in planned_for(machine).enumerate() {
            let is_small = found.best.as_ref().is_none_or(|(_, known)| known.instructions.len() <= MAX_INSTRUCTIONS);
            if found.best.is_none() || (i < plans && is_small) {
                found.plan(&planned, growth)?;
            }
        }
        if found.best.is_some() {
            break;
        }
    }
    found.back_and_forth()?;
    let FastestProgram { best, failure, .. } = found;
    let (_, program) = best.ok_or(failure.unwrap_or("no program".into()))?;
    Ok(program)
}

/// The fastest program so far.
struct FastestProgram<'a> {
    net: &'a Network,
    machine: &'a NpuMachine,
    /// Its cycles, and the program.
    best: Option<(u64, CompiledNetwork)>,
    /// The reason if there is no program.
    failure: Option<Refusal>,
}

impl FastestProgram<'_> {
    /// Tries the programs that are planned for a part of the machine.
    fn plan(&mut self, planned: &Planned, growth: usize) -> Result<(), Refusal> {
        let Some(smaller) = &part_of(self.machine, planned) else { return Ok(()) };
        let mut costs = TilingCosts::new(self.net.layers.len());
        for by in WEIGHINGS {
            let (steps, residency) = match fit(self.net, smaller, by, growth, &mut costs) {
                Ok(fitted) => fitted,
                Err(refusal) => {
                    // The machine itself comes first.
                    self.failure.get_or_insert(refusal);
                    continue;
                }
            };
            if self.best.as_ref().is_some_and(|(_, known)| known.residency == residency) {
                continue;
            }
            let instructions = emit(self.net, &residency, &steps, self.machine);
            let simulator = Simulator::new(self.machine.clone());
            let cycles = simulator.time(&instructions).map_err(|_| "a program that the simulator refuses")?.cycles;
            if self.best.as_ref().is_none_or(|(least, _)| cycles < *least) {
                let planned = planned.clone();
                self.best = Some((cycles, CompiledNetwork { instructions, residency, planned, steps }));
            }
        }
        Ok(())
    }
}

impl FastestProgram<'_> {
    /// Tries the fastest program with loops back and forth where each tile of rows loads the weights again. Less is loaded, but later.
    fn back_and_forth(&mut self) -> Result<(), Refusal> {
        let Some((least, known)) = &self.best else { return Ok(()) };
        let mut residency = known.residency.clone();
        residency.tilings.iter_mut().for_each(|(tiling, _)| tiling.serpentine |= tiling.reloads_weights());
        if residency == known.residency {
            return Ok(());
        }
        let Ok(program) = compile_by(self.net, self.machine, known.planned.clone(), residency, None) else {
            return Ok(());
        };
        let simulator = Simulator::new(self.machine.clone());
        let cycles = simulator.time(&program.instructions).map_err(|_| "a program that the simulator refuses")?.cycles;
        if cycles < *least {
            self.best = Some((cycles, program));
        }
        Ok(())
    }
}

/// Compiles a network by given choices, and by given steps if there are some. Steps without places get some.
///
/// # Errors
/// Choices or steps that the machine or the network does not allow.
pub fn compile_by(
    net: &Network,
    machine: &NpuMachine,
    planned: Planned,
    residency: Residency,
    given: Option<&ScheduleOps>,
) -> Result<CompiledNetwork, NotPossible> {
    let rule = "a program that is planned for a part of the machine that does not exist";
    let smaller = part_of(machine, &planned).ok_or(NotPossible::Layer(0, rule.into()))?;
    check(net, &smaller, &residency).map_err(|(layer, refusal)| NotPossible::Layer(layer, refusal))?;
    let mut prices: Vec<Prices> = net.layers.iter().map(|_| Prices::default()).collect();
    let mut steps = match given {
        Some(given) => {
            given.steps(net, &residency, &smaller).map_err(|(op, refusal)| NotPossible::Step(op, refusal))?
        }
        None => divide(net, &residency, &smaller),
    };
    if !given.is_some_and(ScheduleOps::is_placed) {
        let rule = "a tile whose {} bytes find no place in SRAM beside what is there";
        let no_room = |NoRoom { layer, bytes }| NotPossible::Layer(layer, Refusal::from(rule).with([bytes]));
        steps = place_closely(net, &residency, &smaller, &mut prices, &steps).map_err(no_room)?;
    }
    let instructions = emit(net, &residency, &steps, machine);
    Ok(CompiledNetwork { instructions, residency, planned, steps })
}

/// The reason why given choices or steps are impossible.
#[derive(Debug)]
pub enum NotPossible {
    /// A layer, by number.
    Layer(usize, Refusal),
    /// The op of a step or buffer.
    Step(Op, Refusal),
}

/// Places the streams of steps by the first placement for which there is room.
fn place_closely(
    net: &Network,
    residency: &Residency,
    machine: &NpuMachine,
    prices: &mut [Prices],
    steps: &Steps,
) -> Result<Steps, NoRoom> {
    let mut room = NoRoom { layer: 0, bytes: 0 };
    for placement in PLACEMENTS {
        match place(net, residency, machine, placement, prices, steps.clone()) {
            Ok(steps) => return Ok(steps),
            Err(no_room) => room = no_room,
        }
    }
    Err(room)
}

/// The machines for which programs are planned: this one, and that with half of the accumulators, whose tiles are smaller. What waits for
/// a tile begins sooner, and smaller tiles fit into SRAM that larger ones leave scattered. Then those with half of another parameter,
/// whose programs this one runs too: the choices are greedy, and so twice as much of a parameter is seldom slower. At last those with even
/// fewer accumulators.
fn planned_for(machine: &NpuMachine) -> impl Iterator<Item = Planned> + use<> {
    let part = |parameter: &str, divisor: u32| Planned { parameter: parameter.to_owned(), divisor };
    let (accumulators, least) = (machine.accumulators, 2 * machine.kernels);
    let divisors = (0..u32::BITS).map(|bits| 1 << bits).take_while(move |divisor| accumulators / divisor >= least);
    let fewer = divisors.map(move |divisor| part(ACCUMULATORS, divisor));
    let (first, last) = (fewer.clone().take(2), fewer.skip(2));
    first.chain(HALVED.into_iter().map(move |parameter| part(parameter, 2))).chain(last)
}

/// The plan for the whole machine.
pub fn for_whole_machine() -> Planned {
    Planned { parameter: ACCUMULATORS.to_owned(), divisor: 1 }
}

/// The machine with a part of a parameter, if that leaves any.
fn part_of(machine: &NpuMachine, planned: &Planned) -> Option<NpuMachine> {
    let mut smaller = machine.clone();
    let mut parameters = smaller.parameters();
    let (_, value) = parameters.iter_mut().find(|(known, _)| *known == planned.parameter)?;
    **value = value.checked_div(planned.divisor)?;
    (**value > 0).then_some(smaller)
}

/// The parameter whose parts are tried first.
const ACCUMULATORS: &str = "accumulators";

/// The parameters of which half is tried too.
const HALVED: [&str; 5] = ["banks", "ddr_rate", "positions", "post_width", "sram_bytes"];

/// Chooses tiles until the streams of their steps find bytes.
fn fit(
    net: &Network,
    machine: &NpuMachine,
    by: Weighing,
    growth: usize,
    costs: &mut TilingCosts,
) -> Result<(Steps, Residency), Refusal> {
    let mut slack = vec![0; net.layers.len()];
    loop {
        let residency = choose(net, machine, &slack, by, costs)?;
        let steps = divide(net, &residency, machine);
        let room = match place_closely(net, &residency, machine, &mut costs.prices, &steps) {
            Ok(steps) => return Ok((steps, residency)),
            Err(room) => room,
        };
        // Free bytes are scattered: the layer gets more of them. At last its neighbours too, whose features are beside its last tile.
        let more = room.bytes.div_ceil(growth).max(machine.sram_bytes as usize / 128);
        let at = room.layer;
        let around = if growth > GROWTHS[0] { at.saturating_sub(1)..(at + 2).min(slack.len()) } else { at..at + 1 };
        slack[around].iter_mut().for_each(|slack| *slack += more);
    }
}
