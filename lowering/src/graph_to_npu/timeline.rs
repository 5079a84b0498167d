//! The time of steps: a recurrence over convolutions, requantizations and transfers, with latencies, the accumulators' two halves, the
//! order of the execute queue, the shared DMA channel, and the bytes of SRAM that loads wait for.

use super::shape::Cost;
use gradus_simulators::npu::NpuMachine;
use std::collections::VecDeque;

/// The units and the memory after some steps.
pub struct Timeline<'m> {
    machine: &'m NpuMachine,
    /// Bytes of SRAM that are free.
    free: usize,
    /// Bytes that become free, with the cycle.
    releases: VecDeque<(u64, usize)>,
    /// First cycle in which the channel is free.
    channel: u64,
    /// Stores that wait for the channel: the cycle of their data, cycles, bytes that become free.
    stores: VecDeque<(u64, u64, usize)>,
    /// First cycle in which the array is free.
    array: u64,
    /// First cycle in which the pipe is free.
    pipe: u64,
    /// Completion of the requantization of the step before the last one, whose half of the accumulators is the next.
    half: u64,
    /// The last step, whose requantization is issued after the next convolution.
    pending: Option<(u64, TimedStep)>,
    /// Completion of the last store.
    stored: u64,
    /// The start of the first convolution.
    first: Option<u64>,
    /// Cycles in which array, pipe and channel work.
    busy: [u64; 3],
}

/// A step.
#[derive(Clone, Copy, Default, Debug)]
pub struct TimedStep {
    /// The cycle in which all that it reads is in SRAM.
    pub ready: u64,
    /// Cycles of the convolution.
    pub convolution: u64,
    /// Cycles of the requantization.
    pub requantization: u64,
    /// Bytes that are free after it.
    pub releases: usize,
    /// Cycles and bytes of the store after it.
    pub store: Option<(u64, usize)>,
}

impl<'m> Timeline<'m> {
    /// A machine at rest with `free` bytes of SRAM.
    pub fn new(machine: &'m NpuMachine, free: usize) -> Timeline<'m> {
        Timeline {
            machine,
            free,
            releases: VecDeque::new(),
            // Dispatch and issue of the first instruction.
            channel: 2,
            stores: VecDeque::new(),
            array: 2,
            pipe: 0,
            half: 0,
            pending: None,
            stored: 0,
            first: None,
            busy: [0; 3],
        }
    }

    /// Takes bytes of SRAM. Returns the cycle in which they are free.
    pub fn take(&mut self, bytes: usize) -> u64 {
        let mut at = 0;
        while self.free < bytes {
            let Some((cycle, released)) = self.releases.pop_front() else { break };
            at = at.max(cycle);
            self.free += released;
        }
        self.free = self.free.saturating_sub(bytes);
        at
    }

    /// Adds a load. Returns the cycle in which its bytes are in SRAM.
    pub fn load(&mut self, bytes: usize, cycles: u64) -> u64 {
        let ready = self.take(bytes);
        self.transfer(ready, cycles)
    }

    /// Adds a load that may start in a cycle. Returns the cycle in which its bytes are in SRAM.
    pub fn transfer(&mut self, ready: u64, cycles: u64) -> u64 {
        // Stores whose data are there go first: loads that are issued too early would block the queue of stores.
        while self.stores.front().is_some_and(|store| store.0 <= ready.max(self.channel)) {
            self.store();
        }
        self.channel = self.channel.max(ready) + cycles;
        self.busy[2] += cycles;
        self.channel + u64::from(self.machine.read_latency)
    }

    fn store(&mut self) {
        let Some((ready, cycles, bytes)) = self.stores.pop_front() else { return };
        self.channel = self.channel.max(ready) + cycles;
        self.busy[2] += cycles;
        self.stored = self.channel + u64::from(self.machine.write_latency);
        self.releases.push_back((self.stored, bytes));
    }

    /// The first cycle in which the channel is free.
    pub fn channel(&self) -> u64 {
        self.channel
    }

    /// Completion of the requantization of the step before the last one.
    pub fn requantized(&self) -> u64 {
        self.half
    }

    /// Adds a step. Returns the cycle in which its convolution starts.
    pub fn step(&mut self, step: TimedStep) -> u64 {
        let start = self.array.max(step.ready).max(self.half);
        self.requantize(start);
        self.array = start + step.convolution;
        self.busy[0] += step.convolution;
        self.busy[1] += step.requantization;
        self.first.get_or_insert(start);
        self.pending = Some((self.array, step));
        start
    }

    /// The requantization of the last step, not before a cycle.
    fn requantize(&mut self, from: u64) {
        let Some((end, step)) = self.pending.take() else { return };
        self.pipe = self.pipe.max(end).max(from) + step.requantization;
        self.half = self.pipe;
        if step.releases > 0 {
            self.releases.push_back((self.pipe, step.releases));
        }
        if let Some((cycles, bytes)) = step.store {
            self.stores.push_back((self.pipe, cycles, bytes));
        }
    }

    /// Completes everything. Returns the cost, of which `bytes` is a part.
    pub fn cost(mut self, bytes: usize) -> Cost {
        self.requantize(0);
        while !self.stores.is_empty() {
            self.store();
        }
        let alone = self.array.max(self.pipe).max(self.channel).max(self.stored);
        let body = self.array - self.first.unwrap_or(self.array);
        let [array, pipe, channel] = self.busy;
        Cost { array, pipe, channel, body, alone, bytes }
    }
}
