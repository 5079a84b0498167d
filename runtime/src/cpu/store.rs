//! The memory of a plan: what it computes on its way is in one piece of it, and what it gives away in pieces of their own, so
//! that nothing is copied at its end.

use super::memory::{Slot, Usage, needed, place};
use crate::lines::{LINE, Lines};
use bytes::Bytes;
use gradus_ir::Tensor;
use gradus_ir::eval::Trap;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The argument of that number.
    Argument(usize),
    /// The constant of that number.
    Constant(usize),
    /// In memory.
    Slot(usize),
}

impl Place {
    /// The slot that it is.
    pub(super) fn slot(self) -> Option<usize> {
        if let Place::Slot(slot) = self { Some(slot) } else { None }
    }
}

/// Values that are not in slots.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub arguments: &'a [Tensor],
    pub constants: &'a [Tensor],
}

/// Where a slot is.
enum At {
    Memory(Range<usize>),
    Given(usize),
}

/// What a run gives away. Whoever has it may keep it; if nobody does, the next run writes it again.
struct Given {
    size: usize,
    /// While a run writes.
    open: Lines,
    /// Between runs.
    done: Option<Arc<Lines>>,
}

/// The bytes of whoever shares them.
struct Shared(Arc<Lines>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Memory for all slots.
pub(super) struct Store {
    memory: Lines,
    at: Vec<At>,
    given: Vec<Given>,
}

/// What can be read while some slot is written: memory before and behind it, and where behind begins.
struct Rest<'a> {
    parts: [&'a [u8]; 2],
    behind: usize,
    at: &'a [At],
    given: &'a [Given],
}

/// Of a plan that is wrong.
pub(super) fn lost() -> Trap {
    Trap::unsupported("a value is not where it was laid out")
}

impl Store {
    /// Memory for slots that live at some of so many steps, of which some are given away; and how much it is. `None` if there is
    /// not as much.
    pub(super) fn new(slots: &[Slot], given: &FxHashSet<usize>, steps: usize) -> Option<(Store, Usage)> {
        let is_given = |i: &usize| given.contains(i);
        let inner = |(i, slot): (usize, &Slot)| if is_given(&i) { Slot { bytes: 0, ..*slot } } else { *slot };
        let (offsets, usage) = place(&slots.iter().enumerate().map(inner).collect::<Vec<_>>(), steps);
        let rooms: usize = given.iter().map(|&i| slots[i].bytes.next_multiple_of(LINE)).sum();
        let memory = Lines::try_zeros(usage.reserved)?;
        let mut store = Store { memory, at: Vec::new(), given: Vec::new() };
        for (i, (slot, offset)) in slots.iter().zip(offsets).enumerate() {
            let at = if is_given(&i) { At::Given(store.given.len()) } else { At::Memory(offset..offset + slot.bytes) };
            if let At::Given(_) = at {
                store.given.push(Given { size: slot.bytes, open: Lines::default(), done: None });
            }
            store.at.push(at);
        }
        let [reserved, unshared] = [usage.reserved, usage.unshared].map(|bytes| bytes + rooms);
        let usage = Usage { reserved, needed: needed(slots, steps), unshared };
        Some((store, usage))
    }

    /// Makes room for what is given away.
    pub(super) fn begin(&mut self) -> Result<(), Trap> {
        for given in &mut self.given {
            let again = given.done.take().and_then(|lines| Arc::try_unwrap(lines).ok());
            let too_large = || Trap::unsupported("a result is larger than memory");
            given.open = again.or_else(|| Lines::try_zeros(given.size)).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// All has been written.
    pub(super) fn end(&mut self) {
        self.given.iter_mut().for_each(|given| given.done = Some(Arc::new(std::mem::take(&mut given.open))));
    }

    /// A value that is given away, after the [`end`](Store::end).
    pub(super) fn given(&self, place: Place, others: Others<'_>) -> Option<Bytes> {
        match place {
            Place::Argument(i) => Some(others.arguments[i].bytes().clone()),
            Place::Constant(i) => Some(others.constants[i].bytes().clone()),
            Place::Slot(slot) => match self.at[slot] {
                At::Given(i) => self.given[i].done.clone().map(|lines| Bytes::from_owner(Shared(lines))),
                At::Memory(_) => None,
            },
        }
    }

    /// A copy of a value.
    pub(super) fn copy(&self, place: Place, others: Others<'_>) -> Option<Bytes> {
        let memory = self.memory.as_ref();
        let rest = Rest { parts: [memory, &[]], behind: memory.len(), at: &self.at, given: &self.given };
        match place {
            Place::Slot(_) => Some(Lines::of(rest.bytes(place, others)?).into_bytes()),
            _ => self.given(place, others),
        }
    }

    /// Writes a slot, of what is read.
    pub(super) fn write(
        &mut self,
        slot: usize,
        reads: &[Place],
        others: Others<'_>,
        run: impl FnOnce(&[&[u8]], &mut [u8]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        let mut open = Lines::default();
        let (memory, at) = (self.memory.as_mut(), &self.at);
        let (before, to, after, behind) = match at[slot] {
            At::Memory(Range { start, end }) => {
                let (before, rest) = memory.split_at_mut(start);
                let (to, after) = rest.split_at_mut(end - start);
                (before, to, after, end)
            }
            At::Given(i) => {
                std::mem::swap(&mut open, &mut self.given[i].open);
                let behind = memory.len();
                (memory, open.as_mut(), Default::default(), behind)
            }
        };
        let rest = Rest { parts: [before, after], behind, at, given: &self.given };
        let done = {
            let data = reads.iter().map(|&place| rest.bytes(place, others));
            let data: SmallVec<[&[u8]; 8]> = data.collect::<Option<_>>().ok_or_else(lost)?;
            run(&data, to)
        };
        if let At::Given(i) = at[slot] {
            self.given[i].open = open;
        }
        done
    }
}

impl<'a> Rest<'a> {
    /// The bytes of a value, if they are there.
    fn bytes(&self, place: Place, others: Others<'a>) -> Option<&'a [u8]> {
        let slot = match place {
            Place::Argument(i) => return Some(others.arguments[i].bytes()),
            Place::Constant(i) => return Some(others.constants[i].bytes()),
            Place::Slot(slot) => slot,
        };
        match &self.at[slot] {
            At::Given(i) => Some(self.given[*i].open.as_ref()),
            At::Memory(range) => match range.start.checked_sub(self.behind) {
                Some(start) => self.parts[1].get(start..range.end - self.behind),
                None => self.parts[0].get(range.clone()),
            },
        }
    }
}
