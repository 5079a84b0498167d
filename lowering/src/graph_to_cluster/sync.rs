//! Synchronization of clusters: events are placed where an access must follow another and nothing orders them yet.
//!
//! Accesses are compared byte by byte, by the enumeration that the static check uses. A clock has, for each cluster, the number of its records
//! that are known to be complete. A transfer is complete, for the cluster where it counts an event, after a wait for this event. Each event that
//! is placed orders two accesses that nothing else orders: none is redundant.

use gradus_simulators::cluster::{MemoryId, Record, RecordAccess, Runs, accesses};
use gradus_simulators::join_clocks;
use rustc_hash::FxHashMap;

/// The records of clusters that are known to be complete.
type Clock = Box<[u32]>;

/// Conditions: the number of records of each cluster that must be complete.
type Conditions = Vec<u32>;

/// A record that is to be appended, with its accesses and the conditions under which it may begin.
pub struct Next {
    record: Record,
    list: Vec<RecordAccess>,
    conditions: Conditions,
}

/// Counts of an event in a cluster, with the joined clocks of those who count.
#[derive(Clone, Default)]
struct Counted {
    count: u32,
    clock: Vec<u32>,
}

/// When an access is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// After the first records of a cluster.
    Record { cluster: usize, count: u32 },
    /// After a wait for an event in each cluster of a mask.
    Transfer { event: u32, clusters: u32 },
}

/// An access that later ones may have to follow.
struct PendingAccess {
    runs: Runs,
    /// End of the runs.
    end: u64,
    writes: bool,
    done: Done,
}

/// The accesses to a memory.
#[derive(Default)]
struct Ledger {
    entries: Vec<PendingAccess>,
    /// Number of entries at which those that all clusters know to be complete are removed.
    limit: usize,
}

/// The records of all clusters under construction.
pub struct Sync {
    clusters: usize,
    /// First byte of DDR behind the constants.
    variable: u64,
    records: Vec<Vec<Record>>,
    /// Notifications after each record.
    after: Vec<Vec<Vec<Record>>>,
    /// Clock after each record.
    clocks: Vec<Vec<Clock>>,
    now: Vec<Clock>,
    events: Vec<FxHashMap<usize, Counted>>,
    /// Records that wait for an event in a cluster.
    waits: FxHashMap<(usize, u32), u32>,
    /// Accesses to the memories of clusters, then to DDR.
    ledgers: Vec<Ledger>,
}

/// Number of entries of a ledger from which on it is searched for complete ones.
const ENTRIES: usize = 64;

fn members(clusters: usize, mask: u32) -> impl Iterator<Item = usize> {
    (0..clusters).filter(move |d| mask >> d & 1 == 1)
}

impl Sync {
    /// Creates empty programs; the first bytes of DDR are constants.
    pub fn new(clusters: usize, constants: u64) -> Sync {
        let zero: Clock = vec![0; clusters].into();
        Sync {
            clusters,
            variable: constants,
            records: vec![Vec::new(); clusters],
            after: vec![Vec::new(); clusters],
            clocks: vec![Vec::new(); clusters],
            now: vec![zero; clusters],
            events: Vec::new(),
            waits: FxHashMap::default(),
            ledgers: (0..=clusters).map(|_| Ledger { entries: Vec::new(), limit: ENTRIES }).collect(),
        }
    }

    /// Returns a new event.
    pub fn event(&mut self) -> u32 {
        self.events.push(FxHashMap::default());
        self.events.len() as u32 - 1
    }

    /// Appends a record to a cluster, after all that it must follow.
    pub fn append(&mut self, cluster: usize, record: Record) {
        let next = self.next(1 << cluster, record);
        self.append_next(cluster, next);
    }

    /// Returns a record of a cluster of a mask with the conditions under which it may begin, but for those that all of these know to hold;
    /// clusters wait for the transfers among them.
    pub fn next(&mut self, actors: u32, record: Record) -> Next {
        let mut conditions = vec![0; self.clusters];
        let list = self.list(actors.trailing_zeros() as usize, &record);
        for done in self.conflicts(actors, &list) {
            match done {
                Done::Record { cluster, count } => conditions[cluster] = conditions[cluster].max(count),
                Done::Transfer { event, clusters } => {
                    for d in members(self.clusters, clusters) {
                        conditions[d] = conditions[d].max(self.wait(d, event));
                    }
                }
            }
        }
        Next { record, list, conditions }
    }

    /// Returns the number of clusters whose conditions a cluster does not know to hold.
    pub fn missing(&self, cluster: usize, next: &Next) -> usize {
        next.conditions.iter().zip(self.now[cluster].iter()).filter(|(c, n)| c > n).count()
    }

    /// Appends a record to one of its clusters, after all that it must follow.
    pub fn append_next(&mut self, cluster: usize, Next { record, list, conditions }: Next) {
        self.require(cluster, &conditions);
        let count = self.push(cluster, record);
        let counts = record.counts(cluster);
        if let Some((event, clusters)) = counts {
            let clock = self.now[cluster].clone();
            self.count(clusters, event, &clock);
        }
        for access in list {
            let done = match (counts, access.memory) {
                (None, _) => Done::Record { cluster, count },
                (Some((event, _)), MemoryId::Cluster(d)) if access.writes => Done::Transfer { event, clusters: 1 << d },
                (Some((event, clusters)), _) => Done::Transfer { event, clusters },
            };
            self.note(access, done);
        }
    }

    /// Returns the programs of all clusters.
    pub fn finish(self) -> Vec<Vec<Record>> {
        let merge = |(records, after): (Vec<Record>, Vec<Vec<Record>>)| {
            records.into_iter().zip(after).flat_map(|(record, after)| std::iter::once(record).chain(after)).collect()
        };
        self.records.into_iter().zip(self.after).map(merge).collect()
    }
}

/// Accesses.
impl Sync {
    /// Returns the accesses of a record but for those to constants.
    fn list(&self, cluster: usize, record: &Record) -> Vec<RecordAccess> {
        let mut list = Vec::new();
        accesses(record, cluster, &mut |access| {
            if access.memory != MemoryId::Ddr || access.runs.end() > self.variable {
                list.push(access);
            }
        });
        list
    }

    fn ledger(&self, memory: MemoryId) -> usize {
        match memory {
            MemoryId::Cluster(i) => i,
            MemoryId::Ddr => self.clusters,
        }
    }

    /// Returns the ends of earlier accesses that a list must follow, except those that the clusters of a mask know to be complete.
    fn conflicts(&self, actors: u32, list: &[RecordAccess]) -> Vec<Done> {
        let mut found = Vec::new();
        for RecordAccess { memory, writes, runs } in list {
            let (first, end) = (runs.first, runs.end());
            let near =
                |entry: &&PendingAccess| entry.runs.first < end && first < entry.end && (entry.writes || *writes);
            for entry in self.ledgers[self.ledger(*memory)].entries.iter().filter(near) {
                let is_ordered = found.contains(&entry.done) || self.is_known(actors, entry.done);
                if !is_ordered && entry.runs.meets(runs) {
                    found.push(entry.done);
                }
            }
        }
        found
    }

    /// Notes an access. Earlier ones to bytes that it writes, which it follows, are forgotten.
    fn note(&mut self, access: RecordAccess, done: Done) {
        let at = self.ledger(access.memory);
        let RecordAccess { writes, runs, .. } = access;
        let is_later = |entry: &PendingAccess| match (entry.done, done) {
            (Done::Record { cluster: a, .. }, Done::Record { cluster: b, .. }) => !entry.writes && a == b,
            _ => false,
        };
        self.ledgers[at].entries.retain(|entry| !((writes || is_later(entry)) && runs.covers(&entry.runs)));
        self.ledgers[at].entries.push(PendingAccess { runs, end: runs.end(), writes, done });
        if self.ledgers[at].entries.len() >= self.ledgers[at].limit {
            let mut entries = std::mem::take(&mut self.ledgers[at].entries);
            entries.retain(|entry| !self.is_known(u32::MAX, entry.done));
            self.ledgers[at] = Ledger { limit: 2 * entries.len().max(ENTRIES), entries };
        }
    }

    /// Whether the clusters of a mask know that an access is complete.
    fn is_known(&self, actors: u32, done: Done) -> bool {
        let knows = |d: usize, record: u32| members(self.clusters, actors).all(|actor| self.now[actor][d] >= record);
        match done {
            Done::Record { cluster, count } => knows(cluster, count),
            Done::Transfer { event, clusters } => members(self.clusters, clusters)
                .all(|d| self.waits.get(&(d, event)).is_some_and(|&record| knows(d, record))),
        }
    }
}

/// Order.
impl Sync {
    /// Appends a record. Returns the number of records until it.
    fn push(&mut self, cluster: usize, record: Record) -> u32 {
        self.records[cluster].push(record);
        self.after[cluster].push(Vec::new());
        let count = self.records[cluster].len() as u32;
        self.now[cluster][cluster] = count;
        self.clocks[cluster].push(self.now[cluster].clone());
        count
    }

    fn count(&mut self, to: u32, event: u32, clock: &[u32]) {
        for d in members(self.clusters, to) {
            let counted = self.events[event as usize].entry(d).or_default();
            counted.count += 1;
            counted.clock.resize(clock.len(), 0);
            join_clocks(&mut counted.clock, clock);
        }
    }

    /// Lets a cluster wait for all counts of an event, if it has not. Returns the number of records until the wait.
    fn wait(&mut self, cluster: usize, event: u32) -> u32 {
        if let Some(&known) = self.waits.get(&(cluster, event)) {
            return known;
        }
        let counted = self.events[event as usize].get(&cluster).cloned().unwrap_or_default();
        join_clocks(&mut self.now[cluster], &counted.clock);
        let record = self.push(cluster, Record::Wait { event, count: counted.count });
        self.waits.insert((cluster, event), record);
        record
    }

    /// Ensures that conditions hold before the next record of a cluster, by notifications.
    fn require(&mut self, cluster: usize, conditions: &[u32]) {
        let mut known = self.now[cluster].clone();
        let mut from = Vec::new();
        while let Some(k) = (0..self.clusters).find(|&k| conditions[k] > known[k]) {
            // The notification may carry what others would have to say.
            join_clocks(&mut known, &self.clocks[k][conditions[k] as usize - 1]);
            from.push(k);
        }
        // A later notification may have made an earlier one needless.
        for i in (0..from.len()).rev() {
            let rest: Vec<usize> = from.iter().copied().filter(|&k| k != from[i]).collect();
            let mut without = self.now[cluster].clone();
            rest.iter().for_each(|&k| join_clocks(&mut without, &self.clocks[k][conditions[k] as usize - 1]));
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
}
