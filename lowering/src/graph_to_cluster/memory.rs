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

/// Memory that is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Bytes.
    pub bytes: u64,
    /// The step that needs them.
    pub step: usize,
}

/// Assigns offsets, with at most `effort` steps of the planner, which places all buffers for the steps that need them. Then each read begins
/// in the first step in which it has bytes among the first `fill` percent of the memory.
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
    let mut memory = live_ranges(schedule, machine);
    let live = live_bytes(&memory, schedule);
    let (step, most) = live.into_iter().enumerate().max_by_key(|&(_, n)| n).unwrap_or((0, 0));
    if most > capacity {
        return Err(Missing { bytes: most - capacity, step });
    }
    offsets(&mut memory, machine, capacity, effort).map_err(|bytes| Missing { bytes, step })?;
    // More bytes than those of all buffers, one after the other, would not be used.
    let all = memory.peak + memory.bufs.iter().map(|buf| u64::from(buf.bytes)).sum::<u64>();
    let alignment = u64::from(machine.alignment);
    read_early(&mut memory, schedule, (capacity * fill / 100).min(all) / alignment * alignment);
    Ok(memory)
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

/// Moves the reads of buffers that have places to earlier steps, in the order of their use, and to other places among the first `limit`
/// bytes: each begins in the first step from which on some bytes are free.
fn read_early(memory: &mut BufferPlacement, schedule: &Schedule, limit: u64) {
    let steps = schedule.steps.len();
    memory.reads = vec![Vec::new(); steps];
    let first_slice = schedule.instances.len();
    let loaded = (0..first_slice).filter(|&i| schedule.instances[i].is_loaded).map(Item::Instance);
    let mut items: Vec<Item> = loaded.chain((0..schedule.slices.len()).map(Item::Slice)).collect();
    let index = |item: Item| match item {
        Item::Instance(i) => i,
        Item::Slice(s) => first_slice + s,
    };
    items.sort_by_key(|&item| memory.bufs[index(item)].start);
    for item in items {
        let wanted = memory.bufs[index(item)].start;
        let available = match item {
            Item::Instance(i) => schedule.instances[i].available,
            Item::Slice(_) => 0,
        };
        if limit > 0 {
            let (start, offset) = memory.earliest(index(item), available, limit);
            let buf = &mut memory.bufs[index(item)];
            (buf.start, buf.offset) = (start, offset);
        }
        let start = memory.bufs[index(item)].start;
        let issue = if start == 0 { 0 } else { (start + SLACK).min(wanted) };
        memory.reads[issue].push(item);
    }
    memory.lower_bound = live_bytes(memory, schedule).into_iter().max().unwrap_or(0);
    memory.peak = memory.bufs.iter().map(|buf| u64::from(buf.offset) + u64::from(buf.bytes)).max().unwrap_or(0);
}

impl BufferPlacement {
    /// The first step, not before `from`, from which on some of the first `limit` bytes are free for a buffer, and the last such bytes; those
    /// of the buffer itself if there are no earlier ones.
    fn earliest(&self, index: usize, from: usize, limit: u64) -> (usize, u32) {
        let own = self.bufs[index];
        let is_beside = |&(i, other): &(usize, &Buf)| i != index && other.end > from && other.start < own.end;
        let beside: Vec<&Buf> = self.bufs.iter().enumerate().filter(is_beside).map(|(_, other)| other).collect();
        // The last bytes before each of the others, and the first ones after it.
        let around =
            beside.iter().flat_map(|other| [other.offset.checked_sub(own.bytes), Some(other.offset + other.bytes)]);
        let last = u32::try_from(limit).ok().and_then(|limit| limit.checked_sub(own.bytes));
        let free = |&offset: &u32| u64::from(offset) + u64::from(own.bytes) <= limit;
        let mut best = (own.start, own.offset);
        for offset in around.chain([last]).flatten().filter(free) {
            let shares = |other: &&&Buf| other.offset < offset + own.bytes && offset < other.offset + other.bytes;
            let start = beside.iter().filter(shares).map(|other| other.end).max().unwrap_or(0).max(from);
            let is_better = start < best.0 || (start == best.0 && offset > best.1);
            if is_better && start < own.start {
                best = (start, offset);
            }
        }
        best
    }
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
