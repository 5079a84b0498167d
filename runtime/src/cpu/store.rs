//! The memory of a plan: one arena for intermediate values, and separate buffers for results, which are handed out
//! without a copy.

use super::memory::{Slot, Usage, needed, place};
use crate::aligned_bytes::{AlignedBytes, LINE};
use bytes::Bytes;
use gradus_ir::Tensor;
use gradus_ir::eval::Trap;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// An argument, by index.
    Argument(usize),
    /// A constant, by index.
    Constant(usize),
    /// A slot.
    Slot(usize),
}

impl Place {
    /// The slot index, if it is a slot.
    pub(super) fn slot(self) -> Option<usize> {
        if let Place::Slot(slot) = self { Some(slot) } else { None }
    }
}

/// Arguments and constants.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub arguments: &'a [Tensor],
    pub constants: &'a [Tensor],
}

/// The memory of a slot: an arena offset or an output buffer.
enum SlotMemory {
    Memory(Range<usize>),
    OutputBuffer(usize),
}

/// An output buffer. The caller may keep it; if it is dropped, the next run reuses it.
struct OutputBuffer {
    size: usize,
    /// The buffer during a run.
    open: AlignedBytes,
    /// The buffer between runs.
    done: Option<Arc<AlignedBytes>>,
}

/// Shared ownership of an output buffer.
struct Shared(Arc<AlignedBytes>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// The memory of all slots.
pub(super) struct Store {
    memory: AlignedBytes,
    at: Vec<SlotMemory>,
    given: Vec<OutputBuffer>,
}

/// The memory that is readable while a slot is written: the arena before and after it.
struct Rest<'a> {
    parts: [&'a [u8]; 2],
    behind: usize,
    at: &'a [SlotMemory],
    given: &'a [OutputBuffer],
}

/// The error of an inconsistent plan, which is a bug.
pub(super) fn internal_error() -> Trap {
    Trap::unsupported("a value is not where it was laid out")
}

impl Store {
    /// Allocates memory for slots with live ranges in `steps` steps, of which `given` are outputs. Returns the memory
    /// usage. `None` if memory is exhausted.
    pub(super) fn new(slots: &[Slot], given: &FxHashSet<usize>, steps: usize) -> Option<(Store, Usage)> {
        let is_given = |i: &usize| given.contains(i);
        let inner = |(i, slot): (usize, &Slot)| if is_given(&i) { Slot { bytes: 0, ..*slot } } else { *slot };
        let (offsets, usage) = place(&slots.iter().enumerate().map(inner).collect::<Vec<_>>(), steps)?;
        let rooms: usize = given.iter().map(|&i| slots[i].bytes.next_multiple_of(LINE)).sum();
        let memory = AlignedBytes::try_zeros(usage.reserved)?;
        let mut store = Store { memory, at: Vec::new(), given: Vec::new() };
        for (i, (slot, offset)) in slots.iter().zip(offsets).enumerate() {
            let at = if is_given(&i) {
                SlotMemory::OutputBuffer(store.given.len())
            } else {
                SlotMemory::Memory(offset..offset + slot.bytes)
            };
            if let SlotMemory::OutputBuffer(_) = at {
                store.given.push(OutputBuffer { size: slot.bytes, open: AlignedBytes::default(), done: None });
            }
            store.at.push(at);
        }
        let [reserved, unshared] = [usage.reserved, usage.unshared].map(|bytes| bytes + rooms);
        let usage = Usage { reserved, needed: needed(slots, steps), unshared };
        Some((store, usage))
    }

    /// Prepares the output buffers of a run.
    pub(super) fn begin(&mut self) -> Result<(), Trap> {
        for given in &mut self.given {
            let again = given.done.take().and_then(|lines| Arc::try_unwrap(lines).ok());
            let too_large = || Trap::unsupported("a result is larger than memory");
            given.open = again.or_else(|| AlignedBytes::try_zeros(given.size)).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// Completes the output buffers of a run.
    pub(super) fn end(&mut self) {
        self.given.iter_mut().for_each(|given| given.done = Some(Arc::new(std::mem::take(&mut given.open))));
    }

    /// Returns an output after [`end`](Store::end).
    pub(super) fn given(&self, place: Place, others: Others<'_>) -> Option<Bytes> {
        match place {
            Place::Argument(i) => Some(others.arguments[i].bytes().clone()),
            Place::Constant(i) => Some(others.constants[i].bytes().clone()),
            Place::Slot(slot) => match self.at[slot] {
                SlotMemory::OutputBuffer(i) => self.given[i].done.clone().map(|lines| Bytes::from_owner(Shared(lines))),
                SlotMemory::Memory(_) => None,
            },
        }
    }

    /// Copies a value.
    pub(super) fn copy(&self, place: Place, others: Others<'_>) -> Option<Bytes> {
        let memory = self.memory.as_ref();
        let rest = Rest { parts: [memory, &[]], behind: memory.len(), at: &self.at, given: &self.given };
        match place {
            Place::Slot(_) => Some(AlignedBytes::of(rest.bytes(place, others)?).into_bytes()),
            _ => self.given(place, others),
        }
    }

    /// Runs a kernel that writes `slot`.
    pub(super) fn write(
        &mut self,
        slot: usize,
        reads: &[Place],
        others: Others<'_>,
        run: impl FnOnce(&[&[u8]], &mut [u8]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        let mut open = AlignedBytes::default();
        let (memory, at) = (self.memory.as_mut(), &self.at);
        let (before, to, after, behind) = match at[slot] {
            SlotMemory::Memory(Range { start, end }) => {
                let (before, rest) = memory.split_at_mut(start);
                let (to, after) = rest.split_at_mut(end - start);
                (before, to, after, end)
            }
            SlotMemory::OutputBuffer(i) => {
                std::mem::swap(&mut open, &mut self.given[i].open);
                let behind = memory.len();
                (memory, open.as_mut(), Default::default(), behind)
            }
        };
        let rest = Rest { parts: [before, after], behind, at, given: &self.given };
        let done = {
            let data = reads.iter().map(|&place| rest.bytes(place, others));
            let data: SmallVec<[&[u8]; 8]> = data.collect::<Option<_>>().ok_or_else(internal_error)?;
            run(&data, to)
        };
        if let SlotMemory::OutputBuffer(i) = at[slot] {
            self.given[i].open = open;
        }
        done
    }
}

impl<'a> Rest<'a> {
    /// The bytes of a value, if it is readable.
    fn bytes(&self, place: Place, others: Others<'a>) -> Option<&'a [u8]> {
        let slot = match place {
            Place::Argument(i) => return Some(others.arguments[i].bytes()),
            Place::Constant(i) => return Some(others.constants[i].bytes()),
            Place::Slot(slot) => slot,
        };
        match &self.at[slot] {
            SlotMemory::OutputBuffer(i) => Some(self.given[*i].open.as_ref()),
            SlotMemory::Memory(range) => match range.start.checked_sub(self.behind) {
                Some(start) => self.parts[1].get(start..range.end - self.behind),
                None => self.parts[0].get(range.clone()),
            },
        }
    }
}
