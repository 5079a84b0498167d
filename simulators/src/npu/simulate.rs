//! The simulator.
//!
//! **Time.** The stream dispatches one instruction per cycle into the queue of its unit; a full queue blocks the stream. The
//! head of a queue issues when its unit has completed the one before (a transfer: when the DMA channel is free), at most one per
//! cycle and queue. `signal` and `wait` issue from queues too. Values are computed in the order of issue.
//!
//! **Order.** Two accesses of an address, one of them a write, must be ordered by tokens, whatever the latencies are. Vector
//! clocks decide that: an instruction knows what the waits before it in its queue acquired, and the instructions of its unit
//! before it. Signals of one token must be ordered among each other, and so must its waits, so that the n-th wait always
//! acquires the n-th signal.

use super::access::{AccessSet, MemorySizes};
use super::cost_cache::{CostCache, is_bounded};
use super::instruction::accesses;

use super::shadow::{Clock, QUEUES, Shadows, Token, UNITS, first_poison};
use super::values::{Ddr, Memories};
use super::{
    AddressSpace, Fault, FaultClass, Interlock, NUM_TOKENS, NpuInst, NpuMachine, Queue, Span, Statistics, Unit, check,
};
use crate::machine::OUT_OF_RANGE;
use std::collections::VecDeque;

/// A machine that runs programs.
#[derive(Clone, Debug)]
pub struct Simulator {
    machine: NpuMachine,
    /// Whether statistics have a trace.
    pub trace: bool,
    /// Largest number of products and of moved bytes of a program.
    pub limit: u64,
    /// The value of bytes of SRAM and accumulators that are not initialized.
    pub fill: u8,
}

impl Simulator {
    /// Creates a simulator without a trace.
    pub fn new(machine: NpuMachine) -> Simulator {
        Simulator { machine, trace: false, limit: 1 << 42, fill: 0 }
    }

    /// Returns the machine.
    pub fn machine(&self) -> &NpuMachine {
        &self.machine
    }

    /// Runs a program. SRAM and accumulators are poison at first.
    ///
    /// # Errors
    /// The first fault. The contents of DDR are unspecified then.
    pub fn run(&mut self, program: &[NpuInst], ddr: &mut Ddr) -> Result<Statistics, Fault> {
        self.check(program)?;
        if ddr.bytes.len() != ddr.initialized.len() {
            return Err(Fault::new(FaultClass::Bounds, 0, "DDR has not one flag per byte"));
        }
        SimulationRun::new(self, program, Some(ddr)).run()
    }

    /// Counts the cycles of a program that [`Simulator::run`] accepts, without its values: addresses, hazards and poison are not
    /// checked. A multiple of the speed.
    ///
    /// # Errors
    /// Invalid fields, deadlocks, tokens without an order, and work beyond the limit.
    pub fn time(&self, program: &[NpuInst]) -> Result<Statistics, Fault> {
        self.check(program)?;
        SimulationRun::new(self, program, None).run()
    }

    fn check(&self, program: &[NpuInst]) -> Result<(), Fault> {
        self.machine.check().map_err(|_| Fault::new(FaultClass::Field, 0, OUT_OF_RANGE))?;
        match program.iter().position(|inst| *inst == NpuInst::End) {
            Some(end) if end + 1 == program.len() => Ok(()),
            Some(end) => Err(Fault::new(FaultClass::End, end, "'end' is not the last instruction")),
            None => Err(Fault::new(FaultClass::End, program.len(), "the program has no 'end'")),
        }
    }
}

/// A queue of instructions.
#[derive(Default)]
struct QueueState {
    /// Dispatched instructions with the cycle in which they can issue.
    waiting: VecDeque<(usize, u64)>,
    /// First cycle in which the next one can issue.
    next: u64,
    /// Cycle of the last issue.
    freed: u64,
    clock: Clock,
}

/// The state of a unit: when it is free, and the instructions that it has executed.
#[derive(Default)]
struct UnitState {
    /// Cycle in which the next instruction can start.
    free: u64,
    /// Cycle of completion of the last instruction.
    done: u64,
    clock: Clock,
    /// Index and completion of each instruction.
    history: Vec<(usize, u64)>,
}

struct SimulationRun<'a> {
    simulator: &'a Simulator,
    machine: &'a NpuMachine,
    program: &'a [NpuInst],
    /// DDR, SRAM and accumulators; `None` if only cycles are counted.
    data: Option<(&'a mut Ddr, Memories)>,
    costs: CostCache<'a>,
    shadows: Shadows,
    queues: [QueueState; QUEUES],
    units: [UnitState; UNITS],
    tokens: [Token; NUM_TOKENS],
    /// Next instruction of the stream and the cycle of the last dispatch.
    next: usize,
    dispatched: u64,
    channel: u64,
    work: u64,
    statistics: Statistics,
}

/// The next event.
#[derive(Clone, Copy)]
enum Event {
    Dispatch,
    Issue(usize),
}

impl<'a> SimulationRun<'a> {
    fn new(simulator: &'a Simulator, program: &'a [NpuInst], ddr: Option<&'a mut Ddr>) -> Self {
        let machine = &simulator.machine;
        let statistics = Statistics { peak_macs: machine.macs(), ..Statistics::default() };
        SimulationRun {
            simulator,
            machine,
            program,
            data: ddr.map(|ddr| (ddr, Memories::new(machine, simulator.fill))),
            costs: CostCache::new(machine),
            shadows: Shadows::default(),
            queues: Default::default(),
            units: Default::default(),
            tokens: Default::default(),
            next: 0,
            dispatched: 0,
            channel: 0,
            work: 0,
            statistics,
        }
    }

    fn run(mut self) -> Result<Statistics, Fault> {
        loop {
            let issues = (0..QUEUES).filter_map(|q| Some((self.issue_cycle(q)?, Event::Issue(q))));
            let dispatch = self.dispatch_cycle().map(|cycle| (cycle, Event::Dispatch));
            match issues.chain(dispatch).min_by_key(|(cycle, _)| *cycle) {
                Some((cycle, Event::Dispatch)) => self.dispatch(cycle),
                Some((cycle, Event::Issue(queue))) => self.issue(queue, cycle)?,
                None if self.program[self.next] == NpuInst::End && self.queues.iter().all(|q| q.waiting.is_empty()) => {
                    break;
                }
                None => return Err(self.deadlock()),
            }
        }
        let units = self.units.iter().map(|unit| unit.done);
        let queues = self.queues.iter().map(|queue| queue.next);
        self.statistics.cycles = units.chain(queues).fold(self.dispatched, u64::max);
        self.statistics.trace.sort_by_key(|span| (span.start, span.inst));
        Ok(self.statistics)
    }

    fn deadlock(&self) -> Fault {
        let heads = self.queues.iter().filter_map(|q| q.waiting.front()).map(|head| head.0);
        let at = heads.min().unwrap_or(self.next);
        Fault::new(FaultClass::Deadlock, at, "a wait for a token that is never signalled")
    }

    fn queue_of(inst: &NpuInst) -> Queue {
        match inst {
            NpuInst::Signal { unit, .. } => unit.queue(),
            NpuInst::Wait { queue, .. } => *queue,
            _ => inst.unit().map_or(Queue::Execute, Unit::queue),
        }
    }

    fn capacity(&self, queue: Queue) -> usize {
        let capacity = match queue {
            Queue::Load => self.machine.load_queue,
            Queue::Store => self.machine.store_queue,
            Queue::Execute => self.machine.execute_queue,
        };
        capacity as usize
    }

    /// Returns the cycle of the next dispatch; `None` at the end and while the queue is full.
    fn dispatch_cycle(&self) -> Option<u64> {
        let inst = &self.program[self.next];
        if *inst == NpuInst::End {
            return None;
        }
        let queue = Self::queue_of(inst);
        let state = &self.queues[queue as usize];
        let (len, capacity) = (state.waiting.len(), self.capacity(queue));
        let ready = self.dispatched + 1;
        (len < capacity).then(|| if len + 1 == capacity { ready.max(state.freed) } else { ready })
    }

    fn dispatch(&mut self, cycle: u64) {
        let queue = Self::queue_of(&self.program[self.next]);
        self.statistics.stalls.dispatch += cycle - (self.dispatched + 1);
        self.queues[queue as usize].waiting.push_back((self.next, cycle + 1));
        self.dispatched = cycle;
        self.next += 1;
    }

    /// Returns the cycle in which the head of a queue issues; `None` if there is none, or its token is not signalled.
    fn issue_cycle(&self, queue: usize) -> Option<u64> {
        let state = &self.queues[queue];
        let &(at, dispatched) = state.waiting.front()?;
        let ready = dispatched.max(state.next);
        match &self.program[at] {
            NpuInst::Wait { token, .. } => {
                let pending = self.tokens.get(usize::from(*token)).map(|token| token.pending.front());
                // A token that does not exist is a fault at issue.
                pending.map_or(Some(ready), |signal| Some(ready.max(signal?.0)))
            }
            inst => match inst.unit() {
                Some(unit @ (Unit::Load | Unit::Store)) => {
                    Some(ready.max(self.units[unit as usize].free).max(self.channel))
                }
                Some(unit) => Some(ready.max(self.units[unit as usize].free)),
                None => Some(ready),
            },
        }
    }

    fn issue(&mut self, queue: usize, cycle: u64) -> Result<(), Fault> {
        let Some((at, dispatched)) = self.queues[queue].waiting.pop_front() else { return Ok(()) };
        let inst = &self.program[at];
        check(self.machine, inst).map_err(|rule| Fault::new(FaultClass::Field, at, rule))?;
        let ready = dispatched.max(self.queues[queue].next);
        self.queues[queue].next = cycle + 1;
        self.queues[queue].freed = cycle;
        match *inst {
            NpuInst::Signal { unit, token } => self.signal(queue, unit as usize, token, cycle, at)?,
            NpuInst::Wait { token, .. } => {
                self.statistics.stalls.token += cycle - ready;
                self.wait(queue, token, at)?;
            }
            _ => {
                let Some(unit) = inst.unit() else { return Ok(()) };
                let free = ready.max(self.units[unit as usize].free);
                self.statistics.stalls.unit += free - ready;
                self.statistics.stalls.channel += cycle - free;
                self.start(queue, unit, cycle, at)?;
            }
        }
        Ok(())
    }

    /// A signal fires when the last instruction of its unit completes, and not before it is issued.
    fn signal(&mut self, queue: usize, unit: usize, token: u8, cycle: u64, at: usize) -> Result<(), Fault> {
        let state = &mut self.units[unit];
        let mut clock = state.clock;
        clock.join(&self.queues[queue].clock);
        clock.signals[unit] = state.clock.signals[unit] + 1;
        state.clock.signals[unit] += 1;
        let fires = cycle.max(state.done);
        self.tokens[usize::from(token)].signal(unit, clock.signals[unit], fires, clock, at)
    }

    fn wait(&mut self, queue: usize, token: u8, at: usize) -> Result<(), Fault> {
        let (token, state) = (&mut self.tokens[usize::from(token)], &mut self.queues[queue]);
        if let Some((_, clock)) = token.pending.pop_front() {
            state.clock.join(&clock);
        }
        token.wait(queue, state.clock.waits[queue] + 1, &state.clock, at)?;
        state.clock.waits[queue] += 1;
        Ok(())
    }

    fn start(&mut self, queue: usize, unit: Unit, cycle: u64, at: usize) -> Result<(), Fault> {
        let inst = &self.program[at];
        self.charge(inst, at)?;
        let mut clock = self.units[unit as usize].clock;
        clock.join(&self.queues[queue].clock);
        let Some((ddr, _)) = &self.data else {
            self.complete(unit, &[], clock, cycle, at);
            return Ok(());
        };
        let sizes = MemorySizes {
            sram: self.machine.sram_bytes.into(),
            accumulators: self.machine.accumulators.into(),
            ddr: ddr.bytes.len() as u64,
        };
        let accesses = accesses(self.machine, inst, sizes, at)?;
        let start = self.order(unit, &accesses, &mut clock, cycle, at)?;
        self.check_poison(&accesses, at)?;
        self.complete(unit, &accesses, clock, start, at);
        self.execute(inst, at)?;
        if let Some((_, memories)) = self.data.as_mut().filter(|_| matches!(unit, Unit::Array | Unit::Pipe)) {
            memories.initialize(accesses.iter().filter(|access| access.writes));
        }
        Ok(())
    }

    /// Counts the work of an instruction before it is enumerated.
    fn charge(&mut self, inst: &NpuInst, at: usize) -> Result<(), Fault> {
        let work = inst.of_unit(|inst| inst.work()).unwrap_or(0);
        self.work = self.work.saturating_add(work);
        if self.work > self.simulator.limit || !is_bounded(self.machine, inst) {
            return Err(Fault::new(FaultClass::Limit, at, "more work than the limit of the simulation"));
        }
        Ok(())
    }

    /// Rejects conflicts with instructions that the clock does not know, or waits for them; returns the start.
    fn order(&mut self, unit: Unit, all: &[AccessSet], clock: &mut Clock, cycle: u64, at: usize) -> Result<u64, Fault> {
        // A unit executes in order: its own instructions are known.
        clock.done[unit as usize] = u32::MAX;
        let mut start = cycle;
        for access in all {
            for range in &access.ranges {
                while let Some(conflict) = self.shadows.of(access.memory).conflict(range, access.writes, clock) {
                    let (other, done) = self.units[conflict.unit].history[conflict.number as usize - 1];
                    if self.machine.interlock == Interlock::Reject {
                        let fault = Fault::new(conflict.class, at, "no token orders the accesses");
                        return Err(Fault { other: Some(other), ..fault }.place(access.memory, conflict.address));
                    }
                    clock.done[conflict.unit] = conflict.number;
                    start = start.max(done);
                }
            }
        }
        self.statistics.stalls.hazard += start - cycle;
        Ok(start)
    }

    fn check_poison(&self, accesses: &[AccessSet], at: usize) -> Result<(), Fault> {
        let Some((ddr, memories)) = &self.data else { return Ok(()) };
        for access in accesses.iter().filter(|access| access.uses) {
            let flags = match access.memory {
                AddressSpace::Sram => &memories.sram_initialized,
                AddressSpace::Accumulators => &memories.accumulators_initialized,
                AddressSpace::Ddr => &ddr.initialized,
            };
            if let Some(address) = first_poison(flags, &access.ranges) {
                let fault = Fault::new(FaultClass::Poison, at, "a value that was never written takes part");
                return Err(fault.place(access.memory, address));
            }
        }
        Ok(())
    }

    fn complete(&mut self, unit: Unit, accesses: &[AccessSet], mut clock: Clock, start: u64, at: usize) {
        let cost = self.costs.of(&self.program[at]);
        let statistics = &mut self.statistics;
        self.program[at].of_unit(|inst| inst.count(statistics));
        let state = &mut self.units[unit as usize];
        let number = state.history.len() as u32 + 1;
        let (free, done) = (start + cost.cycles, start + cost.cycles + cost.latency);
        clock.done[unit as usize] = number;
        (state.free, state.done, state.clock) = (free, done, clock);
        state.history.push((at, done));
        if matches!(unit, Unit::Load | Unit::Store) {
            self.channel = free;
        }
        let statistics = &mut self.statistics;
        for access in accesses {
            let shadow = self.shadows.of(access.memory);
            access.ranges.iter().for_each(|range| shadow.record(range, access.writes, unit as usize, number));
            if access.memory == AddressSpace::Sram {
                let end = access.ranges.last().map_or(0, |range| range.end);
                statistics.sram_peak = statistics.sram_peak.max(end);
            }
        }
        statistics.busy[unit as usize] += cost.cycles;
        statistics.instructions[unit as usize] += 1;
        statistics.weight_words += cost.weight_words;
        statistics.bank_stalls += cost.bank_stalls;
        statistics.ddr_bytes_charged += cost.ddr_bytes;
        if self.simulator.trace {
            statistics.trace.push(Span { inst: at, unit, start, end: done });
        }
    }

    fn execute(&mut self, inst: &NpuInst, at: usize) -> Result<(), Fault> {
        let Some((ddr, memories)) = &mut self.data else { return Ok(()) };
        let machine = self.machine;
        inst.of_unit(|inst| inst.execute(machine, memories, ddr, at)).unwrap_or(Ok(()))
    }
}
