//! Cycles.
//!
//! Each cluster executes its records in order. The cluster with the earliest time goes on, so that transfers are issued in the order of
//! time and, at the same time, of clusters. DDR and each port serve transfers in that order. At the port into a cluster, what comes from DDR
//! has precedence: copies from clusters get the rest of its rate while a read that was issued before them streams. An event is counted in
//! a cluster when the bytes have arrived there.

use super::access::{accesses, members};
use super::bounds::memory;
use super::check::peaks;
use super::graph::Graph;
use super::statistics::{Busy, CycleBounds, Lane, Span, Statistics, Use};
use super::{ClusterMachine, ClusterProgram, Elem, Position, Record, Runs};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// Returns the counts of a checked program.
pub(super) fn time(machine: &ClusterMachine, program: &ClusterProgram, graph: &Graph<'_>, trace: bool) -> Statistics {
    let clusters = program.records.len();
    let mut timing = Timing {
        machine,
        graph,
        is_contended: true,
        ddr: 0,
        inputs: vec![Input::default(); clusters],
        outputs: vec![0; clusters],
        counts: HashMap::new(),
        trace: trace.then(Vec::new),
        statistics: Statistics { busy: vec![Busy::default(); clusters], ..Statistics::default() },
    };
    let cycles = timing.simulate();
    let mut statistics = timing.statistics;
    statistics.cycles = cycles;
    statistics.trace = timing.trace.unwrap_or_default();
    statistics.trace.sort_by_key(|span| (span.begin, span.lane, span.end));
    statistics.spm_peak = peaks(program);
    count(machine, program, &mut statistics);
    statistics.bounds.critical_path = critical_path(machine, graph);
    statistics
}

/// Returns the cycles of the longest chain: those of the program if ports and DDR served all transfers at once.
fn critical_path(machine: &ClusterMachine, graph: &Graph<'_>) -> u64 {
    let clusters = graph.records.len();
    let timing = Timing {
        machine,
        graph,
        is_contended: false,
        ddr: 0,
        inputs: vec![Input::default(); clusters],
        outputs: vec![0; clusters],
        counts: HashMap::new(),
        trace: None,
        statistics: Statistics { busy: vec![Busy::default(); clusters], ..Statistics::default() },
    };
    { timing }.simulate()
}

impl ClusterMachine {
    /// Returns the products per 100 cycles of a cluster, for operands of a type and a number of input channels per group.
    pub fn product_rate(&self, elem: Elem, channels: u32) -> u64 {
        let rate = match elem {
            Elem::F32 => self.f32_products,
            Elem::F16 => self.f16_products,
            Elem::I8 | Elem::U8 => self.int8_products,
        };
        let share = match channels {
            n if n >= self.wide => self.wide_share,
            n if n >= self.medium => self.medium_share,
            _ => self.narrow_share,
        };
        u64::from(self.cores) * u64::from(rate) * u64::from(share)
    }

    /// Returns the cycles of a compute record, its start included; 0 of other records.
    pub fn compute_cycles(&self, record: &Record) -> u64 {
        let mut bytes = 0u64;
        if record.task().is_none() {
            return 0;
        }
        accesses(record, 0, &mut |access| bytes = bytes.saturating_add(access.runs.total()));
        let moved = bytes.div_ceil(u64::from(self.port) * u64::from(self.cores));
        let products = record.product_cycles(self);
        u64::from(self.task).saturating_add(moved.max(products))
    }
}

/// The port into a cluster.
#[derive(Clone, Default)]
struct Input {
    /// Intervals in which reads from DDR stream, in order.
    reads: Vec<[u64; 2]>,
    /// First interval that may end after the present.
    first: usize,
    /// Cycle from which on there is no copy.
    free: u64,
}

impl Input {
    /// Occupies the port for a read that may begin in cycle `first`; returns its end.
    fn read(&mut self, first: u64, cycles: u64) -> [u64; 2] {
        let begin = first.max(self.reads.last().map_or(0, |last| last[1]));
        self.reads.push([begin, begin + cycles]);
        [begin, begin + cycles]
    }

    /// Occupies the port for a copy of `bytes` that may begin in cycle `first`, at rate `full`, or `rest` beside reads.
    fn copy(&mut self, first: u64, now: u64, mut bytes: u64, [full, rest]: [u64; 2]) -> [u64; 2] {
        let begin = first.max(self.free);
        while self.reads.get(self.first).is_some_and(|read| read[1] <= now) {
            self.first += 1;
        }
        let mut at = begin;
        for &[start, end] in self.reads[self.first..].iter().filter(|read| read[1] > begin) {
            for (until, rate) in [(start, full), (end, rest)] {
                let cycles = until.saturating_sub(at);
                if bytes <= cycles * rate {
                    self.free = at + bytes.div_ceil(rate.max(1));
                    return [begin, self.free];
                }
                bytes -= cycles * rate;
                at = at.max(until);
            }
        }
        self.free = at + bytes.div_ceil(full);
        [begin, self.free]
    }
}

struct Timing<'a> {
    machine: &'a ClusterMachine,
    graph: &'a Graph<'a>,
    /// Whether transfers wait for ports and DDR.
    is_contended: bool,
    /// Cycle from which on DDR is free.
    ddr: u64,
    /// The ports into the clusters.
    inputs: Vec<Input>,
    /// Cycles from which on the ports out of the clusters are free.
    outputs: Vec<u64>,
    /// Increments and the cycle of the last one, by cluster and event.
    counts: HashMap<(u32, u32), (u32, u64)>,
    trace: Option<Vec<Span>>,
    statistics: Statistics,
}

impl Timing<'_> {
    /// Returns the cycle in which all is complete.
    fn simulate(&mut self) -> u64 {
        let clusters = self.graph.records.len();
        let mut next = vec![0u32; clusters];
        // Cycles from which on clusters that wait for increments do so.
        let mut blocked: Vec<Option<u64>> = vec![None; clusters];
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> = (0..clusters).map(|i| Reverse((0, i))).collect();
        let mut last = 0;
        while let Some(Reverse((now, cluster))) = heap.pop() {
            let Some(record) = self.graph.records[cluster].get(next[cluster] as usize) else { continue };
            let at = Position { cluster: cluster as u32, index: next[cluster] };
            if let Record::Wait { event, count } = *record {
                let begin = blocked[cluster].take().unwrap_or(now);
                let (n, arrival) = self.counts.get(&(at.cluster, event)).copied().unwrap_or((0, 0));
                if n < count {
                    blocked[cluster] = Some(begin);
                    continue;
                }
                let end = begin.max(arrival) + u64::from(self.machine.wait);
                self.statistics.busy[cluster].wait += end - begin;
                self.span(Lane::Cluster(cluster), Use::Wait, at, begin, end);
                next[cluster] += 1;
                last = last.max(end);
                heap.push(Reverse((end, cluster)));
                continue;
            }
            let end = self.record(record, at, now, &mut last);
            next[cluster] += 1;
            last = last.max(end);
            heap.push(Reverse((end, cluster)));
            if let Some((event, mask)) = record.counts(cluster) {
                for target in members(mask).filter(|&target| blocked[target].is_some()) {
                    let waits = &self.graph.records[target][next[target] as usize];
                    let (n, arrival) = self.counts.get(&(target as u32, event)).copied().unwrap_or((0, 0));
                    if matches!(*waits, Record::Wait { event: e, count } if e == event && count <= n) {
                        heap.push(Reverse((arrival.max(now), target)));
                    }
                }
            }
        }
        last
    }

    /// Executes a record that begins in cycle `now`; returns when the next one begins.
    fn record(&mut self, record: &Record, at: Position, now: u64, last: &mut u64) -> u64 {
        let cluster = at.cluster as usize;
        let Some((event, mask)) = record.counts(cluster) else {
            let end = now + self.machine.compute_cycles(record);
            self.statistics.busy[cluster].compute += end - now;
            self.span(Lane::Cluster(cluster), Use::Compute, at, now, end);
            return end;
        };
        let end = now + u64::from(self.machine.post);
        self.statistics.busy[cluster].issue += end - now;
        self.span(Lane::Cluster(cluster), Use::Issue, at, now, end);
        let (start, bytes) = self.begin(record, at, end);
        for target in members(mask) {
            let arrival = self.arrival(record, at, target, start, bytes);
            *last = arrival.max(*last);
            let (n, latest) = self.counts.entry((target as u32, event)).or_default();
            (*n, *latest) = (*n + 1, arrival.max(*latest));
        }
        end
    }

    fn ddr_cycles(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.machine.ddr_rate.into())
    }

    fn noc_cycles(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.machine.noc_rate.into())
    }

    /// Occupies the source of a transfer that is issued in cycle `issued`; returns its first cycle there, and its bytes.
    fn begin(&mut self, record: &Record, at: Position, issued: u64) -> (u64, u64) {
        let Some(transfer) = record.transfer() else { return (issued, 0) };
        let bytes = u64::from(transfer.rows) * u64::from(transfer.cols) * u64::from(transfer.bytes);
        let cluster = at.cluster as usize;
        let (lane, usage, cycles) = match record {
            Record::Fetch { .. } => (Lane::Ddr, Use::Read, self.ddr_cycles(bytes)),
            Record::Store { .. } => (Lane::Ddr, Use::Write, self.ddr_cycles(bytes)),
            _ => (Lane::Output(cluster), Use::Exchange, self.noc_cycles(bytes)),
        };
        let is_contended = self.is_contended;
        let free = if lane == Lane::Ddr { &mut self.ddr } else { &mut self.outputs[cluster] };
        let start = if is_contended { issued.max(*free) } else { issued };
        *free = start + cycles;
        if lane == Lane::Ddr {
            self.statistics.ddr_busy += cycles;
        }
        self.span(lane, usage, at, start, start + cycles);
        (start, bytes)
    }

    /// Occupies the port into a cluster, and returns the cycle in which bytes and event have arrived there.
    fn arrival(&mut self, record: &Record, at: Position, target: usize, start: u64, bytes: u64) -> u64 {
        let (ddr_latency, noc_latency) = (u64::from(self.machine.ddr_latency), u64::from(self.machine.noc_latency));
        let (ddr, noc) = (self.ddr_cycles(bytes), self.noc_cycles(bytes));
        let (first, source_end, usage) = match record {
            Record::Store { .. } => return start + ddr + ddr_latency,
            Record::Notify { .. } => return start + noc_latency,
            Record::Fetch { .. } => (start + ddr_latency, start + ddr_latency + ddr, Use::Read),
            _ => (start + noc_latency, start + noc_latency + noc, Use::Exchange),
        };
        if !self.is_contended {
            return source_end.max(first + noc);
        }
        let full = u64::from(self.machine.noc_rate);
        let [begin, end] = match usage {
            Use::Read => self.inputs[target].read(first, noc.max(ddr)),
            _ => {
                let rates = [full, full.saturating_sub(self.machine.ddr_rate.into())];
                self.inputs[target].copy(first, start, bytes, rates)
            }
        };
        self.span(Lane::Input(target), usage, at, begin, end);
        source_end.max(end)
    }

    fn span(&mut self, lane: Lane, usage: Use, record: Position, begin: u64, end: u64) {
        let task = self.graph.record(record).task();
        if let Some(trace) = &mut self.trace {
            trace.push(Span { lane, usage, record, task, begin, end });
        }
    }
}

/// Counts what does not depend on time.
fn count(machine: &ClusterMachine, program: &ClusterProgram, statistics: &mut Statistics) {
    let constants = program.constants.len() as u64;
    // Products and their cycles by task and cluster.
    let mut convs: BTreeMap<u32, BTreeMap<usize, [u64; 2]>> = BTreeMap::new();
    let mut tasks = BTreeSet::new();
    for (cluster, records) in program.records.iter().enumerate() {
        for record in records {
            count_bytes(record, constants, statistics);
            let (Some(task), products) = (record.task(), record.products()) else { continue };
            tasks.insert(task);
            if products > 0 {
                let sums = convs.entry(task).or_default().entry(cluster).or_default();
                *sums = [sums[0] + products, sums[1] + record.product_cycles(machine)];
            }
        }
    }
    (statistics.tasks, statistics.convolutions) = (tasks.len() as u64, convs.len() as u64);
    let total = |i: usize| convs.values().flat_map(|task| task.values()).map(|sums| sums[i]).sum::<u64>();
    let slowest = |task: &BTreeMap<usize, [u64; 2]>, i: usize| task.values().map(|sums| sums[i]).max().unwrap_or(0);
    statistics.products = total(0);
    let largest = convs.values().map(|task| slowest(task, 0)).sum::<u64>() * program.records.len() as u64;
    statistics.balance = if largest == 0 { 1.0 } else { total(0) as f64 / largest as f64 };
    let ddr = statistics.ddr_bytes_read + statistics.ddr_bytes_written;
    let cycles: BTreeMap<u32, u64> = convs.iter().map(|(task, sums)| (*task, slowest(sums, 1))).collect();
    statistics.bounds = CycleBounds {
        ddr: ddr.div_ceil(machine.ddr_rate.into()),
        products: cycles.values().sum(),
        critical_path: 0,
        memory: memory(machine, program, &cycles),
    };
}

fn count_bytes(record: &Record, constants: u64, statistics: &mut Statistics) {
    let Some(t) = record.transfer() else { return };
    let bytes = u64::from(t.rows) * u64::from(t.cols) * u64::from(t.bytes);
    match record {
        Record::Fetch { .. } => {
            statistics.ddr_bytes_read += bytes;
            statistics.parameter_bytes_read += below(t, constants);
        }
        Record::Store { .. } => statistics.ddr_bytes_written += bytes,
        _ => statistics.exchange_bytes += bytes,
    }
}

/// Returns the number of source bytes of a transfer below an address.
fn below(t: &super::Transfer, limit: u64) -> u64 {
    let dims = [(t.rows.into(), t.from.row.into()), (t.cols.into(), t.from.pixel.into()), (1, 0)];
    let runs = Runs::new(t.from.offset.into(), t.bytes.into(), dims);
    if runs.end() <= limit {
        return runs.total();
    }
    runs.ranges().take_while(|range| range.start < limit).map(|range| range.end.min(limit) - range.start).sum()
}
