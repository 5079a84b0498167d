//! Synchronization of clusters: events are placed where an access must follow another and nothing orders them yet.
//!
//! A clock has, for each cluster, the number of its records that are known to be complete. A transfer is complete, for the cluster where it
//! counts an event, after a wait for this event.

use gradus_simulators::cluster::Record;
use rustc_hash::FxHashMap;

/// The records of clusters that are known to be complete.
type Clock = Box<[u32]>;

/// Conditions: the number of records of each cluster that must be complete.
pub type Conditions = Vec<u32>;

/// Counts of an event in a cluster, with the joined clocks of those who count.
#[derive(Clone, Default)]
struct Counted {
    count: u32,
    clock: Vec<u32>,
}

/// The records of all clusters under construction.
pub struct Sync {
    clusters: usize,
    records: Vec<Vec<Record>>,
    /// Notifications after each record.
    after: Vec<Vec<Vec<Record>>>,
    /// Clock after each record.
    clocks: Vec<Vec<Clock>>,
    now: Vec<Clock>,
    events: Vec<FxHashMap<usize, Counted>>,
    /// Records that wait for an event in a cluster.
    waits: FxHashMap<(usize, u32), u32>,
}

fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(a, &b)| *a = (*a).max(b));
}

impl Sync {
    /// Creates empty programs.
    pub fn new(clusters: usize) -> Sync {
        let zero: Clock = vec![0; clusters].into();
        Sync {
            clusters,
            records: vec![Vec::new(); clusters],
            after: vec![Vec::new(); clusters],
            clocks: vec![Vec::new(); clusters],
            now: vec![zero; clusters],
            events: Vec::new(),
            waits: FxHashMap::default(),
        }
    }

    /// Returns a new event.
    pub fn event(&mut self) -> u32 {
        self.events.push(FxHashMap::default());
        self.events.len() as u32 - 1
    }

    /// Appends a record to a cluster. Returns the number of records until it.
    pub fn push(&mut self, cluster: usize, record: Record) -> u32 {
        self.records[cluster].push(record);
        self.after[cluster].push(Vec::new());
        let count = self.records[cluster].len() as u32;
        self.now[cluster][cluster] = count;
        self.clocks[cluster].push(self.now[cluster].clone());
        count
    }

    /// Appends a transfer that counts an event in the clusters of a mask.
    pub fn transfer(&mut self, cluster: usize, record: Record, to: u32, event: u32) {
        self.push(cluster, record);
        let clock = self.now[cluster].clone();
        self.count(to, event, &clock);
    }

    fn count(&mut self, to: u32, event: u32, clock: &[u32]) {
        for d in (0..self.clusters).filter(|d| to >> d & 1 == 1) {
            let counted = self.events[event as usize].entry(d).or_default();
            counted.count += 1;
            counted.clock.resize(clock.len(), 0);
            join(&mut counted.clock, clock);
        }
    }

    /// Lets a cluster wait for all counts of an event, if it has not. Returns the number of records until the wait.
    pub fn wait(&mut self, cluster: usize, event: u32) -> u32 {
        if let Some(&known) = self.waits.get(&(cluster, event)) {
            return known;
        }
        let counted = self.events[event as usize].get(&cluster).cloned().unwrap_or_default();
        join(&mut self.now[cluster], &counted.clock);
        let record = self.push(cluster, Record::Wait { event, count: counted.count });
        self.waits.insert((cluster, event), record);
        record
    }

    /// Returns the number of clusters whose conditions a cluster does not know to hold.
    pub fn missing(&self, cluster: usize, conditions: &[u32]) -> usize {
        conditions.iter().zip(self.now[cluster].iter()).filter(|(c, n)| c > n).count()
    }

    /// Ensures that conditions hold before the next record of a cluster, by notifications.
    pub fn require(&mut self, cluster: usize, conditions: &[u32]) {
        let mut known = self.now[cluster].clone();
        let mut from = Vec::new();
        while let Some(k) = (0..self.clusters).find(|&k| conditions[k] > known[k]) {
            // The notification may carry what others would have to say.
            join(&mut known, &self.clocks[k][conditions[k] as usize - 1]);
            from.push(k);
        }
        // A later notification may have made an earlier one needless.
        for i in (0..from.len()).rev() {
            let rest: Vec<usize> = from.iter().copied().filter(|&k| k != from[i]).collect();
            let mut without = self.now[cluster].clone();
            rest.iter().for_each(|&k| join(&mut without, &self.clocks[k][conditions[k] as usize - 1]));
            if conditions.iter().zip(without.iter()).all(|(c, n)| c <= n) {
                from = rest;
            }
        }
        if from.is_empty() {
            return;
        }
        let event = self.event();
        for k in from {
            let last = conditions[k] as usize - 1;
            self.after[k][last].push(Record::Notify { clusters: 1 << cluster, event });
            let clock = self.clocks[k][last].clone();
            self.count(1 << cluster, event, &clock);
        }
        self.wait(cluster, event);
    }

    /// Returns the programs of all clusters.
    pub fn finish(self) -> Vec<Vec<Record>> {
        let merge = |(records, after): (Vec<Record>, Vec<Vec<Record>>)| {
            records.into_iter().zip(after).flat_map(|(record, after)| std::iter::once(record).chain(after)).collect()
        };
        self.records.into_iter().zip(self.after).map(merge).collect()
    }
}
