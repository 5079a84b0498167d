//! The estimated time of slots, by which loads are issued.

use super::timeline::{TimedStep, Timeline};
use gradus_simulators::npu::NpuMachine;

/// The estimated time of slots.
pub struct SlotTimes<'m> {
    timeline: Timeline<'m>,
    /// The start of the convolution of each slot, and the completion of its requantization.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// The cycle in which each stream is in SRAM.
    pub ready: Vec<u64>,
    /// The slot of the last load.
    pub earliest: usize,
    /// The cycle in which the bytes of the next load are free.
    freed: u64,
}

impl<'m> SlotTimes<'m> {
    /// A machine at rest, for a number of streams.
    pub fn new(machine: &'m NpuMachine, streams: usize) -> SlotTimes<'m> {
        let timeline = Timeline::new(machine, 0);
        SlotTimes { timeline, starts: vec![0], ends: vec![0], ready: vec![0; streams], earliest: 0, freed: 0 }
    }

    /// The slot before whose convolution a load is issued that begins when the channel is free: after a convolution that begins
    /// before that, since loads that wait in the queue block the convolutions behind them.
    pub fn slot(&self) -> usize {
        self.starts.partition_point(|&start| start <= self.timeline.channel())
    }

    /// The next load waits for bytes that a slot frees, if it `waits`.
    pub fn waits(&mut self, slot: usize, waits: bool) {
        let freed = slot.checked_sub(2).filter(|_| waits).and_then(|slot| self.ends.get(slot));
        self.freed = freed.copied().unwrap_or(0);
    }

    /// Adds a load.
    pub fn load(&mut self, stream: usize, slot: usize, cycles: u64) {
        self.ready[stream] = self.timeline.transfer(self.freed, cycles);
        self.earliest = slot;
    }

    /// Adds the step of a slot.
    pub fn step(&mut self, slot: usize, step: TimedStep) {
        let start = self.timeline.step(step);
        // Slots without a step are over at once.
        self.starts.resize(slot, start);
        self.starts.push(start);
        self.ends.resize(slot, self.timeline.requantized());
        self.ends.push(start + step.convolution + step.requantization);
    }
}
