//! The memory of a schedule: arenas and buffers, of which results are handed out without a copy.

use super::trap::{internal_error, moved};
use crate::aligned_bytes::AlignedBytes;
use bytes::Bytes;
use gradus_ir::Tensor;
use gradus_ir::eval::Trap;
use gradus_networks::layout::CopyNest;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A memory of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum StoreMemory {
    /// An argument, by index.
    Argument(usize),
    /// A constant, by index.
    Constant(usize),
    /// An arena or buffer of the schedule, by index.
    Own(usize),
}

/// Bytes of a memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct MemoryRange {
    pub memory: StoreMemory,
    pub bytes: Range<usize>,
}

impl MemoryRange {
    /// Whether the two have bytes in common.
    pub(super) fn overlaps(&self, other: &MemoryRange) -> bool {
        self.memory == other.memory && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }
}

/// A read of a step: contiguous bytes, or strided elements, which are gathered.
pub(super) struct Read {
    pub place: MemoryRange,
    pub gather: Option<StridedCopy>,
}

/// A copy between strided elements and contiguous bytes.
pub(super) struct StridedCopy {
    pub nest: CopyNest,
    /// Size of an element, and of all of them, in bytes.
    pub element: usize,
    pub bytes: usize,
}

/// Arguments and constants.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub arguments: &'a [Tensor],
    pub constants: &'a [Tensor],
}

/// An arena or buffer. The caller may keep a result; if it is dropped, the next run reuses it.
struct Own {
    size: usize,
    is_result: bool,
    /// The memory during a run.
    open: AlignedBytes,
    /// A result between runs.
    done: Option<Arc<AlignedBytes>>,
}

/// Shared ownership of a result.
struct SharedBytes(Arc<AlignedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// The bytes that a kernel reads, and those that it writes.
pub(super) type Part<'a> = (SmallVec<[&'a [u8]; 4]>, &'a mut [u8]);

/// All arenas and buffers.
#[derive(Default)]
pub(super) struct Store {
    own: Vec<Own>,
    /// Memory for results that are copied to their place.
    scratch: AlignedBytes,
}

impl Store {
    /// Adds a memory.
    pub(super) fn add(&mut self, size: usize) -> StoreMemory {
        self.own.push(Own { size, is_result: false, open: AlignedBytes::default(), done: None });
        StoreMemory::Own(self.own.len() - 1)
    }

    /// Makes a memory a result.
    pub(super) fn make_result(&mut self, memory: StoreMemory) {
        if let StoreMemory::Own(i) = memory {
            self.own[i].is_result = true;
        }
    }

    /// Whether steps may write to a memory: an arena or buffer that is not a result yet.
    pub(super) fn is_writable(&self, memory: StoreMemory) -> bool {
        matches!(memory, StoreMemory::Own(i) if !self.own[i].is_result)
    }

    /// Returns the size of all memories in bytes.
    pub(super) fn size(&self) -> usize {
        self.own.iter().map(|own| own.size).sum()
    }

    /// Allocates the memories that are not results, and `scratch` bytes. `None` if memory is exhausted.
    pub(super) fn allocate(&mut self, scratch: usize) -> Option<()> {
        self.scratch = AlignedBytes::try_zeros(scratch)?;
        for own in self.own.iter_mut().filter(|own| !own.is_result) {
            own.open = AlignedBytes::try_zeros(own.size)?;
        }
        Some(())
    }

    /// Prepares the results of a run.
    pub(super) fn begin(&mut self) -> Result<(), Trap> {
        for own in self.own.iter_mut().filter(|own| own.is_result) {
            let again = own.done.take().and_then(|lines| Arc::try_unwrap(lines).ok());
            let too_large = || Trap::unsupported("a result is larger than memory");
            own.open = again.or_else(|| AlignedBytes::try_zeros(own.size)).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// Completes the results of a run.
    pub(super) fn end(&mut self) {
        let results = self.own.iter_mut().filter(|own| own.is_result);
        results.for_each(|own| own.done = Some(Arc::new(std::mem::take(&mut own.open))));
    }

    /// Returns a result after [`end`](Store::end).
    pub(super) fn result(&self, place: &MemoryRange, others: Others<'_>) -> Option<Bytes> {
        let all = match place.memory {
            StoreMemory::Argument(i) => others.arguments[i].bytes().clone(),
            StoreMemory::Constant(i) => others.constants[i].bytes().clone(),
            StoreMemory::Own(i) => Bytes::from_owner(SharedBytes(self.own[i].done.clone()?)),
        };
        (place.bytes.end <= all.len()).then(|| all.slice(place.bytes.clone()))
    }

    /// Returns the bytes at a place; `None` if they are not available.
    fn bytes<'a>(&'a self, place: &MemoryRange, others: Others<'a>) -> Option<&'a [u8]> {
        let all = match place.memory {
            StoreMemory::Argument(i) => others.arguments[i].bytes(),
            StoreMemory::Constant(i) => others.constants[i].bytes(),
            StoreMemory::Own(i) => self.own[i].open.as_ref(),
        };
        all.get(place.bytes.clone())
    }

    /// Copies the elements of a read to contiguous bytes.
    pub(super) fn copy(&self, read: &Read, others: Others<'_>) -> Result<AlignedBytes, Trap> {
        let bytes = self.bytes(&read.place, others).ok_or_else(internal_error)?;
        let Some(gather) = &read.gather else { return Ok(AlignedBytes::of(bytes)) };
        let mut copy = AlignedBytes::zeros(gather.bytes);
        moved(gather.nest.copy(bytes, copy.as_mut(), gather.element))?;
        Ok(copy)
    }

    /// Passes the bytes of several places to kernels that write to them at the same time, each with the bytes that it reads,
    /// which are contiguous. The places are in order, and apart from each other and from all reads.
    pub(super) fn write_apart(
        &mut self,
        places: &[&MemoryRange],
        reads: &[&[Read]],
        others: Others<'_>,
        run: impl FnOnce(Vec<Part<'_>>) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        let mut opened: SmallVec<[(StoreMemory, AlignedBytes); 2]> = SmallVec::new();
        for place in places {
            if let StoreMemory::Own(i) = place.memory
                && opened.last().is_none_or(|(memory, _)| *memory != place.memory)
            {
                opened.push((place.memory, std::mem::take(&mut self.own[i].open)));
            }
        }
        let parts = self.parts(&mut opened, places, reads, others);
        let done = parts.ok_or_else(internal_error).and_then(run);
        for (memory, open) in opened {
            if let StoreMemory::Own(i) = memory {
                self.own[i].open = open;
            }
        }
        done
    }

    /// Divides memories into the places that are written, and the gaps between them, in which other places may be read.
    fn parts<'a>(
        &'a self,
        opened: &'a mut [(StoreMemory, AlignedBytes)],
        places: &[&MemoryRange],
        reads: &[&[Read]],
        others: Others<'a>,
    ) -> Option<Vec<Part<'a>>> {
        let mut targets = Vec::with_capacity(places.len());
        let mut gaps: SmallVec<[(StoreMemory, usize, &[u8]); 10]> = SmallVec::new();
        let mut places = places.iter().peekable();
        for (memory, open) in opened {
            let (mut rest, mut at) = (open.as_mut(), 0);
            while let Some(place) = places.next_if(|place| place.memory == *memory) {
                let (gap, after) = rest.split_at_mut_checked(place.bytes.start.checked_sub(at)?)?;
                let (target, after) = after.split_at_mut_checked(place.bytes.len())?;
                gaps.push((*memory, at, gap));
                targets.push(target);
                (rest, at) = (after, place.bytes.end);
            }
            gaps.push((*memory, at, rest));
        }
        let in_gap = |place: &MemoryRange, &(memory, start, gap): &(StoreMemory, usize, &'a [u8])| {
            let Range { start: first, end } = place.bytes;
            (memory == place.memory).then(|| gap.get(first.checked_sub(start)?..end.checked_sub(start)?)).flatten()
        };
        let bytes = |Read { place, .. }: &Read| match gaps.iter().any(|(memory, ..)| *memory == place.memory) {
            true => gaps.iter().find_map(|gap| in_gap(place, gap)),
            false => self.bytes(place, others),
        };
        let data = reads.iter().map(|reads| reads.iter().map(bytes).collect::<Option<_>>());
        data.zip(targets).map(|(data, target)| Some((data?, target))).collect()
    }

    /// Runs a kernel that writes to a place, with scratch memory. Reads of overlapping places are copied first; with
    /// `in_place`, those of the same place are passed as empty slices instead.
    pub(super) fn write(
        &mut self,
        to: &MemoryRange,
        reads: &[Read],
        in_place: bool,
        others: Others<'_>,
        run: impl FnOnce(&[&[u8]], &mut [u8], &mut [u8]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        let StoreMemory::Own(own) = to.memory else { return Err(internal_error()) };
        let is_same = |read: &Read| in_place && read.gather.is_none() && read.place == *to;
        let is_copied = |read: &Read| read.gather.is_some() || read.place.overlaps(to) && !is_same(read);
        let copied = |read: &Read| is_copied(read).then(|| self.copy(read, others));
        let copies: SmallVec<[Option<AlignedBytes>; 8]> =
            reads.iter().map(|read| copied(read).transpose()).collect::<Result<_, _>>()?;
        let mut open = std::mem::take(&mut self.own[own].open);
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = {
            let (before, rest) = open.as_mut().split_at_mut_checked(to.bytes.start).ok_or_else(internal_error)?;
            let (target, after) = rest.split_at_mut_checked(to.bytes.len()).ok_or_else(internal_error)?;
            let (before, after) = (&*before, &*after);
            let read = |(read, copy): (&Read, &'_ Option<AlignedBytes>)| {
                let place = &read.place;
                match copy {
                    _ if copy.is_some() => None,
                    _ if is_same(read) => Some(&[][..]),
                    _ if place.memory != to.memory => self.bytes(place, others),
                    _ if place.bytes.end <= to.bytes.start => before.get(place.bytes.clone()),
                    _ => after.get(place.bytes.start.checked_sub(to.bytes.end)?..place.bytes.end - to.bytes.end),
                }
            };
            let places = reads.iter().zip(&copies).map(read);
            let data = places.zip(&copies).map(|(bytes, copy)| copy.as_ref().map(AsRef::as_ref).or(bytes));
            let data: Option<SmallVec<[&[u8]; 8]>> = data.collect();
            data.ok_or_else(internal_error).and_then(|data| run(&data, target, scratch.as_mut()))
        };
        (self.own[own].open, self.scratch) = (open, scratch);
        done
    }
}
