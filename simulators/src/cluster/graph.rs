//! Happens-before: the order of records by programs and events, as vector clocks.

use super::access::members;
use super::record::check_fields;
use super::{ClusterMachine, ClusterProgram, Fault, FaultClass, Position, Record};
use crate::happens_before::join_clocks;
use crate::machine::OUT_OF_RANGE;
use std::collections::HashMap;

/// The increments of an event in a cluster.
#[derive(Default)]
pub(super) struct Counter {
    /// Number of increments in the whole program.
    pub total: u32,
    /// Index of the first wait, if there is one.
    pub first_wait: Option<u32>,
}

/// The graph of a program whose fields are valid: program order in each cluster, and edges from each increment of an event to
/// the waits for it.
pub(super) struct Graph<'a> {
    /// The records of each cluster.
    pub records: &'a [Vec<Record>],
    /// Records in an order that keeps all edges.
    pub order: Vec<Position>,
    /// Counters by cluster and event.
    counters: HashMap<(u32, u32), Counter>,
    /// Clocks: the numbers of records of each cluster that are known to have happened; those of the own cluster are by program order.
    clocks: Vec<u32>,
    /// For each cluster, the index from which on a clock holds, and its number; ascending.
    epochs: Vec<Vec<(u32, usize)>>,
}

impl<'a> Graph<'a> {
    /// Checks fields and counts of a program, and orders its records.
    ///
    /// # Errors
    /// An invalid field, a wait for another count than that of all increments, and a deadlock.
    pub fn new(program: &'a ClusterProgram, machine: &ClusterMachine) -> Result<Graph<'a>, Fault> {
        machine.check().map_err(|_| Fault::of_program(OUT_OF_RANGE))?;
        let clusters = program.records.len();
        if clusters == 0 || clusters > machine.clusters as usize {
            return Err(Fault::of_program("the machine has another number of clusters"));
        }
        if program.records.iter().any(|records| u32::try_from(records.len()).is_err()) {
            return Err(Fault::of_program("a cluster has more than 2^32 records"));
        }
        let mut graph = Graph {
            records: &program.records,
            order: Vec::new(),
            counters: HashMap::new(),
            clocks: vec![0; clusters],
            epochs: vec![vec![(0, 0)]; clusters],
        };
        graph.count()?;
        graph.check_counts()?;
        graph.sort()?;
        Ok(graph)
    }

    /// Calls `f` with each record and its position.
    fn each(&self, mut f: impl FnMut(Position, &'a Record) -> Result<(), Fault>) -> Result<(), Fault> {
        self.records.iter().enumerate().try_for_each(|(cluster, records)| {
            let at = |index| Position { cluster: cluster as u32, index: index as u32 };
            records.iter().enumerate().try_for_each(|(index, record)| f(at(index), record))
        })
    }

    fn count(&mut self) -> Result<(), Fault> {
        let mut counters: HashMap<(u32, u32), Counter> = HashMap::new();
        self.each(|at, record| {
            let fault = |reason| Fault::new(FaultClass::Field, at, reason);
            check_fields(record, self.records.len()).map_err(fault)?;
            if let Record::Wait { event, .. } = *record {
                counters.entry((at.cluster, event)).or_default().first_wait.get_or_insert(at.index);
            }
            if let Some((event, mask)) = record.counts(at.cluster as usize) {
                members(mask).for_each(|i| counters.entry((i as u32, event)).or_default().total += 1);
            }
            Ok(())
        })?;
        self.counters = counters;
        Ok(())
    }

    fn check_counts(&self) -> Result<(), Fault> {
        self.each(|at, record| match *record {
            Record::Wait { event, count } if self.total(at.cluster, event) != count => {
                Err(Fault::new(FaultClass::Count, at, "a wait counts other increments than all of the program"))
            }
            _ => Ok(()),
        })
    }

    /// Returns the number of increments of an event in a cluster.
    pub fn total(&self, cluster: u32, event: u32) -> u32 {
        self.counters.get(&(cluster, event)).map_or(0, |counter| counter.total)
    }

    /// Returns the record.
    pub fn record(&self, at: Position) -> &'a Record {
        &self.records[at.cluster as usize][at.index as usize]
    }

    /// Executes the records without their effects, which gives order and clocks.
    fn sort(&mut self) -> Result<(), Fault> {
        let clusters = self.records.len();
        let mut counted: HashMap<(u32, u32), (u32, Vec<u32>)> = HashMap::new();
        let mut next = vec![0u32; clusters];
        let mut ready: Vec<usize> = (0..clusters).rev().collect();
        while let Some(cluster) = ready.pop() {
            while let Some(record) = self.records[cluster].get(next[cluster] as usize) {
                let at = Position { cluster: cluster as u32, index: next[cluster] };
                if let Record::Wait { event, count } = *record {
                    let Some((_, clock)) = counted.get(&(at.cluster, event)).filter(|(n, _)| *n == count) else {
                        if count == 0 {
                            next[cluster] += 1;
                            self.order.push(at);
                            continue;
                        }
                        break;
                    };
                    self.join(at, clock);
                }
                next[cluster] += 1;
                self.order.push(at);
                if let Some((event, mask)) = record.counts(cluster) {
                    let clock = self.clock_after(at);
                    for target in members(mask) {
                        let (n, known) =
                            counted.entry((target as u32, event)).or_insert_with(|| (0, vec![0; clusters]));
                        *n += 1;
                        join_clocks(known, &clock);
                        let waits = self.records[target].get(next[target] as usize);
                        let wakes =
                            matches!(waits, Some(Record::Wait { event: e, count }) if *e == event && count == n);
                        if wakes && target != cluster {
                            ready.push(target);
                        }
                    }
                }
            }
        }
        if self.order.len() < self.records.iter().map(Vec::len).sum() { Err(self.deadlock(&next)) } else { Ok(()) }
    }

    /// Returns what is known after a record was issued.
    fn clock_after(&self, at: Position) -> Vec<u32> {
        let (cluster, clusters) = (at.cluster as usize, self.records.len());
        let number = self.epochs[cluster].last().map_or(0, |epoch| epoch.1);
        let mut clock = self.clocks[number * clusters..][..clusters].to_vec();
        clock[cluster] = at.index + 1;
        clock
    }

    /// Adds what an event's increments know to the records from a wait on.
    fn join(&mut self, at: Position, known: &[u32]) {
        let mut clock = self.clock_after(at);
        join_clocks(&mut clock, known);
        let number = self.clocks.len() / self.records.len();
        self.clocks.extend_from_slice(&clock);
        self.epochs[at.cluster as usize].push((at.index, number));
    }

    /// Finds waits that wait for each other: from a blocked cluster to one whose increment is missing.
    fn deadlock(&self, next: &[u32]) -> Fault {
        let blocked = |cluster: usize| self.records[cluster].get(next[cluster] as usize);
        let mut path: Vec<usize> = Vec::new();
        let mut cluster = (0..next.len()).find(|&i| blocked(i).is_some()).unwrap_or(0);
        while !path.contains(&cluster) {
            path.push(cluster);
            let Some(Record::Wait { event, .. }) = blocked(cluster) else { break };
            let misses = |&i: &usize| {
                let rest = &self.records[i][next[i] as usize..];
                let counts =
                    |record: &Record| record.counts(i).is_some_and(|(e, mask)| e == *event && mask >> cluster & 1 == 1);
                rest.iter().any(counts)
            };
            let Some(other) = (0..next.len()).find(misses) else { break };
            cluster = other;
        }
        let start = path.iter().position(|&i| i == cluster).unwrap_or(0);
        let at = |&i: &usize| Position { cluster: i as u32, index: next[i] };
        let waits: Vec<Position> = path[start..].iter().map(at).collect();
        let fault = Fault::new(FaultClass::Deadlock, waits[0], "waits wait for increments behind each other");
        Fault { waits, ..fault }
    }

    /// Whether record `a` is issued before record `b` starts, whatever the latencies.
    pub fn is_before(&self, a: Position, b: Position) -> bool {
        if a.cluster == b.cluster {
            return a.index < b.index;
        }
        let epochs = &self.epochs[b.cluster as usize];
        // A wait knows its increments.
        let epoch = epochs.partition_point(|&(index, _)| index <= b.index) - 1;
        self.clocks[epochs[epoch].1 * self.records.len() + a.cluster as usize] > a.index
    }

    /// Whether the effects of record `a` in the clusters of a mask are complete before record `b` starts.
    pub fn is_complete(&self, a: Position, clusters: u32, b: Position) -> bool {
        let Some(transfer) = self.record(a).transfer().and(self.record(a).counts(a.cluster as usize)) else {
            return self.is_before(a, b);
        };
        members(clusters).all(|cluster| {
            let counter = self.counters.get(&(cluster as u32, transfer.0));
            let wait = counter.and_then(|counter| counter.first_wait);
            wait.is_some_and(|index| self.is_before(Position { cluster: cluster as u32, index }, b))
        })
    }
}
