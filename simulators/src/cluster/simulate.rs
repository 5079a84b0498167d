//! The simulator: check, values and time.

use super::access::members;
use super::check::{checked, peaks};
use super::graph::Graph;
use super::timing::time;
use super::values::{Memories, work};
use super::{ClusterMachine, ClusterProgram, Fault, FaultClass, Position, Record, Statistics};
use std::collections::HashMap;

/// A simulator of programs.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// The machine.
    pub machine: ClusterMachine,
    /// Largest work of a run: products, elements and bytes.
    pub limit: u64,
    /// The value of bytes that were never written.
    pub poison: u8,
    /// Whether the intervals of all records and transfers are collected.
    pub trace: bool,
}

impl Simulator {
    /// Creates a simulator without trace.
    pub fn new(machine: ClusterMachine) -> Simulator {
        Simulator { machine, limit: 1 << 40, poison: 0, trace: false }
    }

    /// Checks a program, executes it on DDR, which holds constants and operands ([`ClusterProgram::ddr`]), and returns the counts.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(&self, program: &ClusterProgram, ddr: &mut [u8]) -> Result<Statistics, Fault> {
        let graph = checked(program, &self.machine)?;
        let mut memories = self.memories(program, ddr)?;
        for &at in &graph.order {
            memories.execute(graph.record(at), at.cluster as usize);
        }
        Ok(time(&self.machine, program, &graph, self.trace))
    }

    /// Checks a program and returns the counts, without data.
    ///
    /// # Errors
    /// The first fault.
    pub fn time(&self, program: &ClusterProgram) -> Result<Statistics, Fault> {
        let graph = checked(program, &self.machine)?;
        Ok(time(&self.machine, program, &graph, self.trace))
    }

    /// Returns the counts of a program whose accesses are not checked: for a compiler that compares programs.
    ///
    /// # Errors
    /// An invalid field, a wait for another count than that of all increments, and a deadlock.
    pub fn estimate(&self, program: &ClusterProgram) -> Result<Statistics, Fault> {
        let graph = Graph::new(program, &self.machine)?;
        Ok(time(&self.machine, program, &graph, self.trace))
    }

    /// Executes a program in an order that is legal but otherwise chosen by `seed`: any cluster goes on, and any transfer that was
    /// begun copies for one of its clusters. A test of the check: all orders give the same results.
    ///
    /// # Errors
    /// The first fault.
    pub fn run_shuffled(&self, program: &ClusterProgram, ddr: &mut [u8], seed: u64) -> Result<(), Fault> {
        let graph = checked(program, &self.machine)?;
        let mut memories = self.memories(program, ddr)?;
        Shuffled {
            graph: &graph,
            next: vec![0; program.records.len()],
            begun: Vec::new(),
            counts: HashMap::new(),
            seed,
        }
        .run(&mut memories);
        Ok(())
    }

    fn memories<'a>(&self, program: &ClusterProgram, ddr: &'a mut [u8]) -> Result<Memories<'a>, Fault> {
        if ddr.len() as u64 != u64::from(program.ddr_bytes) {
            return Err(Fault::of_program("DDR has another number of bytes"));
        }
        let all = program.records.iter().flatten();
        if all.fold(0, |sum: u64, record| sum.saturating_add(work(record))) > self.limit {
            let fault = Fault::of_program("more work than the limit of the simulation");
            return Err(Fault { class: FaultClass::Limit, ..fault });
        }
        let spm = peaks(program).into_iter().map(|bytes| vec![self.poison; bytes as usize]).collect();
        Ok(Memories { spm, ddr })
    }
}

impl ClusterProgram {
    /// Returns DDR with the constants, and zeros elsewhere.
    pub fn ddr(&self) -> Vec<u8> {
        let mut ddr = self.constants.clone();
        ddr.resize((self.ddr_bytes as usize).max(ddr.len()), 0);
        ddr
    }
}

/// An execution in random order.
struct Shuffled<'a> {
    graph: &'a Graph<'a>,
    /// The next record of each cluster.
    next: Vec<u32>,
    /// Transfers that were begun, and one of their clusters.
    begun: Vec<(Position, usize)>,
    /// Increments by cluster and event.
    counts: HashMap<(u32, u32), u32>,
    seed: u64,
}

impl Shuffled<'_> {
    fn run(&mut self, memories: &mut Memories<'_>) {
        loop {
            let ready: Vec<usize> = (0..self.next.len()).filter(|&i| self.is_ready(i)).collect();
            let choices = ready.len() + self.begun.len();
            if choices == 0 {
                return;
            }
            let choice = self.random(choices);
            match ready.get(choice) {
                Some(&cluster) => self.advance(cluster, memories),
                None => {
                    let (at, target) = self.begun.swap_remove(choice - ready.len());
                    let record = self.graph.record(at);
                    memories.deliver(record, at.cluster as usize, target);
                    self.count(record, at, 1 << target);
                }
            }
        }
    }

    /// Returns a number below `n`.
    fn random(&mut self, n: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.seed >> 33) % n as u64) as usize
    }

    fn is_ready(&self, cluster: usize) -> bool {
        match self.graph.records[cluster].get(self.next[cluster] as usize) {
            Some(Record::Wait { event, count }) => {
                self.counts.get(&(cluster as u32, *event)).copied().unwrap_or(0) >= *count
            }
            record => record.is_some(),
        }
    }

    fn advance(&mut self, cluster: usize, memories: &mut Memories<'_>) {
        let at = Position { cluster: cluster as u32, index: self.next[cluster] };
        self.next[cluster] += 1;
        let record = self.graph.record(at);
        match record.counts(cluster) {
            Some((_, mask)) if record.transfer().is_some() => {
                self.begun.extend(members(mask).map(|target| (at, target)));
            }
            Some((_, mask)) => self.count(record, at, mask),
            None => memories.execute(record, cluster),
        }
    }

    fn count(&mut self, record: &Record, at: Position, mask: u32) {
        let event = record.counts(at.cluster as usize).map_or(0, |(event, _)| event);
        members(mask).for_each(|target| *self.counts.entry((target as u32, event)).or_default() += 1);
    }
}
