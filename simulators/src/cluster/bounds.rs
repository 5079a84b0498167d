//! A lower bound of the cycles of a program by the size of the memories.

use super::access::members;
use super::{ClusterMachine, ClusterProgram, Record};
use std::collections::{BTreeMap, HashMap};

/// The constants that tasks need from their numbers on.
#[derive(Default)]
struct Needs {
    /// Bytes that are read.
    read: BTreeMap<u32, u64>,
    /// Bytes in each cluster's memory.
    stored: Vec<BTreeMap<u32, u64>>,
}

/// Returns a lower bound: when a task is complete, the constants of later ones are at most what the memories hold, so the rest is read after it.
/// `cycles`: the products of each task, by the slowest cluster. A task needs constants if it is the first one after the wait for them.
pub(super) fn memory(machine: &ClusterMachine, program: &ClusterProgram, cycles: &BTreeMap<u32, u64>) -> u64 {
    let needs = needs(program);
    let capacity = u64::from(machine.spm.saturating_sub(machine.reserved));
    let all = capacity * program.records.len() as u64;
    let mut later = needs.read.values().sum::<u64>();
    let mut stored: Vec<u64> = needs.stored.iter().map(|bytes| bytes.values().sum()).collect();
    let (mut done, mut bound) = (0, 0);
    let tasks: std::collections::BTreeSet<u32> = cycles.keys().chain(needs.read.keys()).copied().collect();
    for task in tasks {
        done += cycles.get(&task).copied().unwrap_or(0);
        later -= needs.read.get(&task).copied().unwrap_or(0);
        for (bytes, needed) in stored.iter_mut().zip(&needs.stored) {
            *bytes -= needed.get(&task).copied().unwrap_or(0);
        }
        let most = stored.iter().max().copied().unwrap_or(0);
        let rest = later.saturating_sub(all).max(most.saturating_sub(capacity));
        bound = bound.max(done + rest / u64::from(machine.ddr_rate));
    }
    bound
}

fn needs(program: &ClusterProgram) -> Needs {
    let mut needs = Needs { stored: vec![BTreeMap::new(); program.records.len()], ..Needs::default() };
    let waits: Vec<HashMap<u32, u32>> = program.records.iter().map(|records| first_tasks(records)).collect();
    for record in program.records.iter().flatten() {
        let Record::Fetch { transfer, clusters, event } = record else { continue };
        if u64::from(transfer.from.offset) >= program.constants.len() as u64 {
            continue;
        }
        let bytes = u64::from(transfer.rows) * u64::from(transfer.cols) * u64::from(transfer.bytes);
        let tasks: Vec<(usize, u32)> =
            members(*clusters).filter_map(|i| Some((i, *waits.get(i)?.get(event)?))).collect();
        for &(i, task) in &tasks {
            *needs.stored[i].entry(task).or_default() += bytes;
        }
        if let Some(first) = tasks.iter().map(|(_, task)| *task).min() {
            *needs.read.entry(first).or_default() += bytes;
        }
    }
    needs
}

/// Returns, for each event, the first task after the wait for it.
fn first_tasks(records: &[Record]) -> HashMap<u32, u32> {
    let (mut found, mut open) = (HashMap::new(), Vec::new());
    for record in records {
        if let Record::Wait { event, .. } = record {
            open.push(*event);
        }
        if let Some(task) = record.task() {
            open.drain(..).for_each(|event| {
                found.entry(event).or_insert(task);
            });
        }
    }
    found
}
