//! Offsets in the memories of clusters, and the steps before which constants and features are read from DDR.

use super::schedule::{InstanceId, Schedule};
use gradus_plan::{Budget, Buffer, Pool, Problem, plan};
use gradus_simulators::cluster::ClusterMachine;
use std::ops::ControlFlow;

/// Something that is read from DDR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A slice of constants.
    Slice(usize),
    /// A feature.
    Instance(InstanceId),
}

/// A buffer in the memories of clusters: the same bytes in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Buf {
    /// First step in which it is live.
    pub start: usize,
    /// Step after the last one.
    pub end: usize,
    /// Bytes.
    pub bytes: u32,
    /// First byte.
    pub offset: u32,
}

/// The places of all buffers, the same in all clusters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BufferPlacement {
    /// Buffers of instances, then of slices.
    pub bufs: Vec<Buf>,
    /// The reads that begin before each step, in order.
    pub reads: Vec<Vec<Item>>,
    /// Largest number of live bytes.
    pub lower_bound: u64,
    /// Bytes used.
    pub peak: u64,
}

/// Steps between the last use of a buffer and the read of another one into its place, so that no cluster waits for the slowest.
const SLACK: usize = 1;

/// How early reads begin, in the order in which this is tried: the percentage of the memory that they may fill, since a plan of offsets needs
/// some slack, and the largest number of steps.
const ATTEMPTS: [(u64, usize); 9] = [
    (100, usize::MAX),
    (98, usize::MAX),
    (95, usize::MAX),
    (92, usize::MAX),
    (87, usize::MAX),
    (80, usize::MAX),
    (90, 4),
    (80, 1),
    (0, 0),
];

/// Memory that is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Bytes.
    pub bytes: u64,
    /// The step that needs them.
    pub step: usize,
}

/// Assigns offsets, with at most `effort` steps of the planner for each attempt. Reads begin as early as they fill at most `fill` percent of the
/// memory; with 0, when their step does.
///
/// # Errors
/// The memory that is missing.
pub fn assign(
    schedule: &Schedule,
    machine: &ClusterMachine,
    fill: u64,
    effort: u64,
) -> Result<BufferPlacement, Missing> {
    let capacity = u64::from(machine.spm - machine.reserved);
    let mut worst = Missing { bytes: 0, step: 0 };
    let attempts = if fill > 0 { &ATTEMPTS[..] } else { &ATTEMPTS[ATTEMPTS.len() - 1..] };
    for &(share, ahead) in attempts {
        let mut memory = live_ranges(schedule, machine);
        let live = live_bytes(&memory, schedule);
        let (step, most) = live.iter().copied().enumerate().max_by_key(|&(_, n)| n).unwrap_or((0, 0));
        if most > capacity {
            return Err(Missing { bytes: most - capacity, step });
        }
        read_early(&mut memory, schedule, live, most.max(capacity * share / 100 * fill / 100), ahead);
        match offsets(&mut memory, machine, capacity, effort) {
            Ok(()) => return Ok(memory),
            Err(bytes) => worst = Missing { bytes, step },
        }
    }
    Err(worst)
}

/// The buffers with the steps that need them.
fn live_ranges(schedule: &Schedule, machine: &ClusterMachine) -> BufferPlacement {
    let aligned = |bytes: u32| bytes.next_multiple_of(machine.alignment);
    let buf = |steps: [usize; 2], bytes| Buf { start: steps[0], end: steps[1] + 1, bytes: aligned(bytes), offset: 0 };
    let instances = schedule.instances.iter().map(|i| buf(i.steps, i.bytes));
    let slices = schedule.slices.iter().map(|s| buf(s.steps, s.bytes()));
    BufferPlacement { bufs: instances.chain(slices).collect(), ..BufferPlacement::default() }
}

/// Returns the live bytes in each step of a schedule in which reads begin as late as possible.
pub fn live_bytes_of(schedule: &Schedule, machine: &ClusterMachine) -> Vec<u64> {
    live_bytes(&live_ranges(schedule, machine), schedule)
}

/// The live bytes in each step.
fn live_bytes(memory: &BufferPlacement, schedule: &Schedule) -> Vec<u64> {
    let mut live = vec![0_u64; schedule.steps.len()];
    for buf in &memory.bufs {
        live[buf.start..buf.end].iter_mut().for_each(|n| *n += u64::from(buf.bytes));
    }
    live
}

/// Chooses the steps before which reads begin: in the order of use, as early as the live bytes stay within `limit` and at most `ahead` steps
/// early.
fn read_early(memory: &mut BufferPlacement, schedule: &Schedule, mut live: Vec<u64>, limit: u64, ahead: usize) {
    memory.reads = vec![Vec::new(); live.len()];
    let first_slice = schedule.instances.len();
    let loaded = (0..first_slice).filter(|&i| schedule.instances[i].is_loaded).map(Item::Instance);
    let mut items: Vec<Item> = loaded.chain((0..schedule.slices.len()).map(Item::Slice)).collect();
    let index = |item: Item| match item {
        Item::Instance(i) => i,
        Item::Slice(s) => first_slice + s,
    };
    items.sort_by_key(|&item| memory.bufs[index(item)].start);
    let mut earliest = 0;
    for item in items {
        let buf = &mut memory.bufs[index(item)];
        let (bytes, wanted) = (u64::from(buf.bytes), buf.start);
        let available = match item {
            Item::Instance(i) => schedule.instances[i].available,
            Item::Slice(_) => 0,
        };
        while buf.start > earliest.max(available) && wanted - buf.start < ahead && live[buf.start - 1] + bytes <= limit
        {
            buf.start -= 1;
            live[buf.start] += bytes;
        }
        let issue = (buf.start + SLACK).min(wanted);
        let issue = if buf.start == 0 { 0 } else { issue };
        earliest = earliest.max(if available == 0 { buf.start } else { 0 });
        memory.reads[issue].push(item);
    }
    memory.lower_bound = live.into_iter().max().unwrap_or(0);
}

/// Assigns offsets, or returns the bytes beyond the capacity.
fn offsets(memory: &mut BufferPlacement, machine: &ClusterMachine, capacity: u64, effort: u64) -> Result<(), u64> {
    let alignment = u64::from(machine.alignment);
    let buffer = |b: &Buf| Buffer { alignment, ..Buffer::new(b.start as i64, b.end as i64, u64::from(b.bytes)) };
    let buffers = memory.bufs.iter().map(buffer).collect();
    let pool = Pool { capacity: Some(capacity) };
    let problem = Problem::new(buffers, vec![pool], Vec::new()).map_err(|_| u64::MAX)?;
    let found = plan(&problem, Budget::steps(effort), &mut |_| ControlFlow::Continue(()));
    let found = found.map_err(|infeasible| infeasible.plan.peak().saturating_sub(capacity))?;
    for (buf, offset) in memory.bufs.iter_mut().zip(&found.offsets) {
        buf.offset = *offset as u32;
    }
    memory.peak = found.peak();
    Ok(())
}
