//! Counts of a simulation.

use super::Position;

/// A resource whose use a trace shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Lane {
    /// The cores of a cluster.
    Cluster(usize),
    /// The interface of DDR.
    Ddr,
    /// The port into a cluster's memory.
    Input(usize),
    /// The port out of a cluster's memory.
    Output(usize),
}

/// The use of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A compute record.
    Compute,
    /// The issue of a transfer or notification.
    Issue,
    /// A wait.
    Wait,
    /// A read from DDR.
    Read,
    /// A write to DDR.
    Write,
    /// A copy between clusters.
    Exchange,
}

/// An interval of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The resource.
    pub lane: Lane,
    /// Its use.
    pub usage: Use,
    /// The record.
    pub record: Position,
    /// The task of a compute record.
    pub task: Option<u32>,
    /// First cycle.
    pub begin: u64,
    /// Cycle after the last one.
    pub end: u64,
}

/// Cycles of a cluster by use; the rest it was at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Busy {
    /// Compute records.
    pub compute: u64,
    /// Waits.
    pub wait: u64,
    /// Issue of transfers and notifications.
    pub issue: u64,
}

/// Lower bounds of the cycles of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CycleBounds {
    /// Bytes of DDR by its rate.
    pub ddr: u64,
    /// Sum over tasks of the slowest cluster's products by the rate of their type and share.
    pub products: u64,
    /// The longest chain of records, without contention for ports and DDR.
    pub critical_path: u64,
    /// Products, and the reads that can only follow them since the memories do not hold the constants of later tasks. It assumes that tasks are
    /// executed in the order of their numbers.
    pub memory: u64,
}

/// The counts of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics {
    /// Cycles until all records and transfers are complete.
    pub cycles: u64,
    /// Products, those with padding included.
    pub products: u64,
    /// Bytes read from DDR; those of a multicast once.
    pub ddr_bytes_read: u64,
    /// Bytes written to DDR.
    pub ddr_bytes_written: u64,
    /// Bytes of the constants among those read.
    pub parameter_bytes_read: u64,
    /// Bytes that clusters sent; those of a multicast once.
    pub exchange_bytes: u64,
    /// End of the highest byte of each cluster's memory that was accessed.
    pub spm_peak: Vec<u64>,
    /// Cycles of each cluster by use.
    pub busy: Vec<Busy>,
    /// Cycles in which DDR was busy.
    pub ddr_busy: u64,
    /// Mean by largest work of the clusters in convolutions, 0 to 1: the sums over tasks. 1 without convolutions.
    pub balance: f64,
    /// Number of tasks: a task has the same number in all clusters.
    pub tasks: u64,
    /// Number of those that are convolutions.
    pub convolutions: u64,
    /// Lower bounds of the cycles.
    pub bounds: CycleBounds,
    /// The interval of each use by begin, if it was asked for.
    pub trace: Vec<Span>,
}

impl Statistics {
    /// Returns the largest lower bound that does not depend on the size of the memories, in cycles.
    pub fn bound(&self) -> u64 {
        let CycleBounds { ddr, products, critical_path, .. } = self.bounds;
        ddr.max(products).max(critical_path)
    }
}
