//! Verification of a schedule's memory: each read finds what was written to the same buffer.
//!
//! A buffer is live as a whole from its first write to its last read: a write to a buffer ends the contents of all
//! buffers that overlap it. The check is exact for straight-line code.

use super::accesses::{BufferView, Footprint, accesses};
use super::{ArenaOp, BufferOp, StepOp, size_in_bytes};
use gradus_ir::{Module, Op, OpDecl, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// Checks the arenas of the block of `op`, at the first of them.
pub(super) fn check(m: &Module, op: Op) -> Result<(), String> {
    let mut before = std::iter::successors(m.prev_op(op), |&op| m.prev_op(op));
    if before.any(|op| ArenaOp::cast(m, op).is_some()) {
        return Ok(());
    }
    let (numbers, owners) = Default::default();
    let mut memory = Memory { m, buffers: Vec::new(), numbers, owners, runs: MAX_RUNS };
    let mut number = 0;
    let mut next = Some(op);
    while let Some(op) = next {
        next = m.next_op(op);
        if let Some(buffer) = BufferOp::cast(m, op) {
            memory.declare(buffer);
            continue;
        }
        let Some([reads, writes]) = accesses(m, op) else { continue };
        if reads.is_empty() && writes.is_empty() {
            continue;
        }
        let at = At { op, number };
        number += 1;
        reads.into_iter().try_for_each(|value| memory.read(at, value))?;
        writes.into_iter().try_for_each(|value| memory.write(at, value))?;
    }
    Ok(())
}

/// Maximum number of contiguous runs of all accessed views, against exhaustion of time and memory.
const MAX_RUNS: u64 = 1 << 24;

/// An op that accesses memory, and its number among these.
#[derive(Clone, Copy)]
struct At {
    op: Op,
    number: usize,
}

impl At {
    /// Names the op in messages.
    fn name(self, m: &Module) -> String {
        let name = StepOp::cast(m, self.op).and_then(|step| step.name(m)).and_then(|a| m.ctx.as_str(a));
        match name {
            Some(name) => format!("step '{name}'"),
            None => format!("'{}' (access {})", m.name_text(self.op), self.number),
        }
    }
}

/// A buffer and the state of its contents.
struct Buffer {
    arena: Value,
    /// Its bytes in the arena.
    range: Range<u64>,
    /// Bytes that have been written, relative to the buffer: sorted and disjoint up to `merged`, in order of writes
    /// behind it.
    written: Vec<Range<u64>>,
    merged: usize,
    /// The op that ended the contents, and the buffer that it wrote.
    overwritten: Option<(At, usize)>,
}

/// All buffers of a block's arenas.
struct Memory<'m> {
    m: &'m Module,
    buffers: Vec<Buffer>,
    numbers: FxHashMap<Value, usize>,
    /// Per arena, the buffers whose contents are there, with all of their bytes: the start of a range, with its end and the
    /// buffer's number.
    owners: FxHashMap<Value, BTreeMap<u64, (u64, usize)>>,
    /// Number of runs that may still be looked at.
    runs: u64,
}

impl Memory<'_> {
    fn declare(&mut self, op: BufferOp) {
        let (m, buffer) = (self.m, op.buffer(self.m));
        let offset = op.offset(m).and_then(|a| m.ctx.as_int(a)).and_then(|n| u64::try_from(n).ok());
        let size = size_in_bytes(&m.ctx, m.value_type(buffer));
        // An invalid buffer has an error of its own.
        let Some((start, end)) = offset.and_then(|at| Some((at, at.checked_add(size?)?))) else { return };
        self.numbers.insert(buffer, self.buffers.len());
        let (written, overwritten) = (Vec::new(), None);
        self.buffers.push(Buffer { arena: op.arena(m), range: start..end, written, merged: 0, overwritten });
    }

    /// Formats a buffer for messages.
    fn shown(&self, number: usize) -> String {
        let Range { start, end } = self.buffers[number].range;
        format!("bytes {start} to {end} of the arena")
    }

    fn read(&mut self, at: At, value: Value) -> Result<(), String> {
        let Some((number, footprint)) = self.footprint(at, value)? else { return Ok(()) };
        let (buffer, mut missing) = (&mut self.buffers[number], None);
        footprint.for_each_run(|run| {
            if missing.is_none() && !buffer.has(&run) {
                missing = Some(run);
            }
        });
        let name = at.name(self.m);
        match (missing, buffer.overwritten) {
            (None, _) => Ok(()),
            (Some(_), Some((by, other))) => {
                let (own, by, other) = (self.shown(number), by.name(self.m), self.shown(other));
                Err(format!("{name} reads {own}, which {by} has overwritten, writing {other}"))
            }
            (Some(run), None) => {
                let [first, end] = [run.start, run.end].map(|byte| buffer.range.start + byte);
                Err(format!("{name} reads bytes {first} to {end} of the arena, not all of which are written"))
            }
        }
    }

    fn write(&mut self, at: At, value: Value) -> Result<(), String> {
        let Some((number, footprint)) = self.footprint(at, value)? else { return Ok(()) };
        let buffer = &mut self.buffers[number];
        buffer.overwritten = None;
        footprint.for_each_run(|run| buffer.written.push(run));
        if !buffer.range.is_empty() {
            self.take(at, number);
        }
        Ok(())
    }

    /// Makes a buffer the owner of its bytes, and ends the contents of the others there.
    fn take(&mut self, at: At, number: usize) {
        let Buffer { arena, range: Range { start, end }, .. } = self.buffers[number];
        let owners = self.owners.entry(arena).or_default();
        while let Some((&first, &(_, owner))) = owners.range(..end).next_back().filter(|&(_, &(last, _))| last > start)
        {
            if owner == number {
                // The contents are whole, or were ended as a whole.
                return;
            }
            owners.remove(&first);
            let other = &mut self.buffers[owner];
            other.written.clear();
            (other.merged, other.overwritten) = (0, Some((at, number)));
        }
        owners.insert(start, (end, number));
    }

    /// Returns the buffer that a memref views, and its bytes there; `None` for other memory.
    fn footprint(&mut self, at: At, value: Value) -> Result<Option<(usize, Footprint)>, String> {
        let view = BufferView::of(self.m, value);
        let buffer = view.as_ref().and_then(|view| self.numbers.get(&view.root));
        let (Some(view), Some(&number)) = (&view, buffer) else { return Ok(None) };
        let Range { start, end } = self.buffers[number].range;
        let Some(footprint) = view.footprint().filter(|footprint| footprint.span.end <= end - start) else {
            return Err(format!("{} accesses bytes outside of {}", at.name(self.m), self.shown(number)));
        };
        let left = self.runs.checked_sub(footprint.runs());
        self.runs = left.ok_or_else(|| format!("{} accesses too many separate parts", at.name(self.m)))?;
        Ok(Some((number, footprint)))
    }
}

impl Buffer {
    /// Whether all of a range has been written.
    fn has(&mut self, range: &Range<u64>) -> bool {
        if self.merged < self.written.len() {
            self.merge();
        }
        let before = self.written.partition_point(|part| part.start <= range.start);
        before.checked_sub(1).is_some_and(|i| range.end <= self.written[i].end)
    }

    /// Sorts the written parts and joins those that touch.
    fn merge(&mut self) {
        self.written.sort_by_key(|part| part.start);
        self.written.dedup_by(|next, before| {
            let touches = next.start <= before.end;
            if touches {
                before.end = before.end.max(next.end);
            }
            touches
        });
        self.merged = self.written.len();
    }
}
