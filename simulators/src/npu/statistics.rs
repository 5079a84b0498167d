//! Counts of a simulation.

use super::Unit;

/// The interval in which a unit executed an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Index of the instruction.
    pub inst: usize,
    /// The unit.
    pub unit: Unit,
    /// First cycle.
    pub start: u64,
    /// Cycle of completion, latency included.
    pub end: u64,
}

/// Cycles for which heads of queues were ready but did not issue, by reason. Queues wait at the same time, so that a sum may
/// exceed the cycles of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stalls {
    /// The unit executed an earlier instruction.
    pub unit: u64,
    /// Another transfer had the DMA channel.
    pub channel: u64,
    /// A token was not signalled.
    pub token: u64,
    /// A hazard, under `Interlock::Stall`.
    pub hazard: u64,
    /// The queue of the next instruction of the stream was full.
    pub dispatch: u64,
}

/// The counts of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Cycles until all units were idle.
    pub cycles: u64,
    /// Cycles in which each unit was busy, in the order of `Unit::ALL`; of transfers those on the channel.
    pub busy: [u64; 5],
    /// Instructions of each unit.
    pub instructions: [u64; 5],
    /// Products, those with padding included.
    pub macs: u64,
    /// Products per cycle of the array.
    pub peak_macs: u64,
    /// Bytes that loads put into SRAM.
    pub ddr_bytes_read: u64,
    /// Bytes that stores put into DDR.
    pub ddr_bytes_written: u64,
    /// Bytes on the DMA channel, whole bursts.
    pub ddr_bytes_charged: u64,
    /// Words of weights that the array read.
    pub weight_words: u64,
    /// Cycles in which array or pipe waited for a bank.
    pub bank_stalls: u64,
    /// End of the highest byte of SRAM that was touched.
    pub sram_peak: u64,
    /// Cycles of waiting.
    pub stalls: Stalls,
    /// The interval of each instruction by start, if it was asked for.
    pub trace: Vec<Span>,
}

impl Statistics {
    /// Adds the counts of another run on the same machine; peaks are maxima, traces stay apart.
    pub fn add(&mut self, other: &Statistics) {
        self.cycles += other.cycles;
        self.busy.iter_mut().zip(other.busy).for_each(|(sum, n)| *sum += n);
        self.instructions.iter_mut().zip(other.instructions).for_each(|(sum, n)| *sum += n);
        self.macs += other.macs;
        self.peak_macs = other.peak_macs;
        self.ddr_bytes_read += other.ddr_bytes_read;
        self.ddr_bytes_written += other.ddr_bytes_written;
        self.ddr_bytes_charged += other.ddr_bytes_charged;
        self.weight_words += other.weight_words;
        self.bank_stalls += other.bank_stalls;
        self.sram_peak = self.sram_peak.max(other.sram_peak);
        let (sum, n) = (&mut self.stalls, &other.stalls);
        sum.unit += n.unit;
        sum.channel += n.channel;
        sum.token += n.token;
        sum.hazard += n.hazard;
        sum.dispatch += n.dispatch;
    }

    /// Returns the share of the array's products that the program used, 0 to 1.
    pub fn utilization(&self) -> f64 {
        self.macs as f64 / (self.cycles.max(1) as f64 * self.peak_macs.max(1) as f64)
    }

    /// Returns the busy cycles of a unit.
    pub fn busy(&self, unit: Unit) -> u64 {
        self.busy[unit as usize]
    }
}
