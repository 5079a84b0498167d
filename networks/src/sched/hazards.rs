//! Verification of a schedule's memory: each read finds what was written to the same buffer.
//!
//! A buffer is live as a whole from its first write to its last read: a write to a buffer ends the contents of all
//! buffers that overlap it. An op writes bytes that it reads only where it reads each element before it writes it
//! ([`may_be_in_place`]). The target of a transfer is left alone, and its source not written, until the wait. The check is
//! exact for straight-line code.

use super::accesses::{BufferView, Footprint, accesses, root, transfers};
use super::in_place::may_be_in_place;
use super::pending::{ArenaBytes, Pending};
use super::{ArenaOp, BufferOp, LaunchOp, StepOp, TransferOp, WaitOp, size_in_bytes};
use gradus_ir::{Block, Module, Op, OpDecl, Value, Violation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Checks the block of `op`, at the first arena or transfer in it.
pub(super) fn check(m: &Module, op: Op) -> Result<(), Violation> {
    let mut before = std::iter::successors(m.prev_op(op), |&op| m.prev_op(op));
    if before.any(|op| ArenaOp::cast(m, op).is_some() || TransferOp::cast(m, op).is_some()) {
        return Ok(());
    }
    let mut memory = ArenaBuffers::new(m);
    let mut ops = std::iter::successors(Some(op), |&op| m.next_op(op));
    ops.try_for_each(|op| memory.op(op))?;
    // The wait may stand in a block after this one.
    if m.parent_block(op).and_then(|block| m.terminator(block)).is_some_and(|last| !m.successors(last).is_empty()) {
        return Ok(());
    }
    let unfinished = memory.pending.first().map(|pending| format!("{} is never waited for", pending.name));
    unfinished.map_or(Ok(()), |message| Err(message.into()))
}

/// Returns those of a block's allocations whose accesses are valid in an arena, if the bytes of each are its own: each read
/// finds all of its bytes written, and an op that reads and writes the same bytes may do so.
pub fn placeable(m: &Module, block: Block, allocations: impl Iterator<Item = Value>) -> FxHashSet<Value> {
    let mut memory = ArenaBuffers::new(m);
    let mut valid = FxHashSet::default();
    for allocation in allocations {
        let Some(size) = size_in_bytes(&m.ctx, m.value_type(allocation)) else { continue };
        memory.declare(allocation, allocation, 0..size);
        valid.insert(allocation);
    }
    for op in m.block_ops(block) {
        let Some((at, [reads, writes])) = memory.next(op) else { continue };
        for (values, check) in [(reads, ArenaBuffers::read as fn(&mut _, _, _) -> _), (writes, ArenaBuffers::write)] {
            for value in values {
                if check(&mut memory, at, value).is_err() {
                    valid.remove(&root(m, value));
                }
            }
        }
    }
    valid
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
        let step = StepOp::cast(m, self.op).and_then(|step| m.ctx.as_str(step.name(m)?));
        let program = LaunchOp::cast(m, self.op).and_then(|launch| m.ctx.as_symbol(launch.callee(m)?));
        match (step, program) {
            (Some(name), _) => format!("step '{name}'"),
            (_, Some((name, _))) => format!("launch of '@{}' (access {})", m.ctx.text(name), self.number),
            _ => format!("'{}' (access {})", m.name_text(self.op), self.number),
        }
    }
}

/// An access of a buffer.
struct BufferAccess {
    buffer: usize,
    view: BufferView,
    footprint: Footprint,
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
    /// Number of the last op that wrote it.
    writer: Option<usize>,
    /// The op that ended the contents, and the buffer that it wrote.
    overwritten: Option<(At, usize)>,
}

/// All buffers of a block's arenas.
struct ArenaBuffers<'m> {
    m: &'m Module,
    buffers: Vec<Buffer>,
    numbers: FxHashMap<Value, usize>,
    /// Per arena, the buffers whose contents are there, with all of their bytes: the start of a range, with its end and the
    /// buffer's number.
    owners: FxHashMap<Value, BTreeMap<u64, (u64, usize)>>,
    /// The reads of the current op, by buffer.
    reading: FxHashMap<usize, Vec<BufferAccess>>,
    /// The transfers under way.
    pending: Vec<Pending>,
    /// Number of ops that access memory so far.
    number: usize,
    /// Number of runs that may still be looked at.
    runs: u64,
}

impl<'m> ArenaBuffers<'m> {
    fn new(m: &'m Module) -> ArenaBuffers<'m> {
        let (numbers, owners, reading) = Default::default();
        ArenaBuffers {
            m,
            buffers: Vec::new(),
            numbers,
            owners,
            reading,
            pending: Vec::new(),
            number: 0,
            runs: MAX_RUNS,
        }
    }

    /// Checks the next op.
    fn op(&mut self, op: Op) -> Result<(), Violation> {
        let m = self.m;
        if let Some(buffer) = BufferOp::cast(m, op) {
            self.buffer(buffer);
            return Ok(());
        }
        let Some((at, [reads, writes])) = self.next(op) else { return Ok(()) };
        if let Some(wait) = WaitOp::cast(m, op) {
            return self.wait(at, wait);
        }
        for (values, writes) in [(&reads, false), (&writes, true)] {
            values.iter().try_for_each(|&value| self.leave_alone(at, value, writes))?;
        }
        reads.into_iter().try_for_each(|value| self.read(at, value))?;
        writes.into_iter().try_for_each(|value| self.write(at, value))?;
        TransferOp::cast(m, op).map_or(Ok(()), |transfer| self.start(at, transfer))
    }

    /// Numbers the next op that accesses memory, and returns what it reads and writes.
    fn next(&mut self, op: Op) -> Option<(At, [Vec<Value>; 2])> {
        let accesses = accesses(self.m, op).filter(|[reads, writes]| !reads.is_empty() || !writes.is_empty())?;
        let at = At { op, number: self.number };
        self.number += 1;
        self.reading.clear();
        Some((at, accesses))
    }

    /// Begins a transfer.
    fn start(&mut self, at: At, transfer: TransferOp) -> Result<(), Violation> {
        let m = self.m;
        // Memory outside of arenas whose bytes are unknown has an error of its own.
        let (Some(source), Some(target)) = (self.bytes(transfer.source(m)), self.bytes(transfer.target(m))) else {
            return Ok(());
        };
        self.pending.push(Pending { transfer, name: at.name(m), source, target });
        Ok(())
    }

    /// Ends transfers.
    fn wait(&mut self, at: At, wait: WaitOp) -> Result<(), Violation> {
        let is_here = |transfer: &TransferOp| self.m.parent_block(transfer.0) == self.m.parent_block(at.op);
        for transfer in transfers(self.m, wait).filter(is_here) {
            let pending = self.pending.iter().position(|pending| pending.transfer == transfer);
            let pending = pending.ok_or_else(|| format!("{} waits for a transfer a second time", at.name(self.m)))?;
            self.pending.swap_remove(pending);
        }
        Ok(())
    }

    /// Checks that an access reads and writes no bytes that a transfer under way writes, and writes none that it reads.
    fn leave_alone(&mut self, at: At, value: Value, writes: bool) -> Result<(), Violation> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let Some(bytes) = self.bytes(value) else { return Ok(()) };
        for pending in &self.pending {
            let runs = bytes.runs(&pending.source).saturating_add(bytes.runs(&pending.target));
            let left = self.runs.checked_sub(runs);
            self.runs = left.ok_or_else(|| format!("{} accesses too many separate parts", at.name(self.m)))?;
            if let Some(conflict) = pending.conflict(&bytes, writes) {
                return Err(
                    format!("{} {} {conflict}", at.name(self.m), if writes { "writes" } else { "reads" }).into()
                );
            }
        }
        Ok(())
    }

    /// Returns the bytes of a memref, in an arena or elsewhere.
    fn bytes(&self, value: Value) -> Option<ArenaBytes> {
        let view = BufferView::of(self.m, value)?;
        let buffer = self.numbers.get(&view.root).map(|&number| &self.buffers[number]);
        let (memory, base) = buffer.map_or((view.root, 0), |buffer| (buffer.arena, buffer.range.start));
        Some(ArenaBytes { memory, base, footprint: view.footprint()? })
    }

    fn buffer(&mut self, op: BufferOp) {
        let (m, buffer) = (self.m, op.buffer(self.m));
        let offset = op.offset(m).and_then(|a| m.ctx.as_int(a)).and_then(|n| u64::try_from(n).ok());
        let size = size_in_bytes(&m.ctx, m.value_type(buffer));
        // An invalid buffer has an error of its own.
        let Some((start, end)) = offset.and_then(|at| Some((at, at.checked_add(size?)?))) else { return };
        self.declare(buffer, op.arena(m), start..end);
        // Memory from elsewhere, such as an argument, may have been written before.
        let arena = ArenaOp::defining(m, op.arena(m));
        if arena.is_none_or(|arena| m.parent_block(arena.0) != m.parent_block(op.0)) {
            self.buffers.last_mut().expect("it was declared").written.push(0..end - start);
        }
    }

    fn declare(&mut self, buffer: Value, arena: Value, range: Range<u64>) {
        self.numbers.insert(buffer, self.buffers.len());
        self.buffers.push(Buffer { arena, range, written: Vec::new(), merged: 0, writer: None, overwritten: None });
    }

    /// Formats a buffer for messages.
    fn shown(&self, number: usize) -> String {
        let Range { start, end } = self.buffers[number].range;
        format!("bytes {start} to {end} of the arena")
    }

    fn read(&mut self, at: At, value: Value) -> Result<(), Violation> {
        let Some(access) = self.access(at, value)? else { return Ok(()) };
        let (buffer, mut missing) = (&mut self.buffers[access.buffer], None);
        access.footprint.for_each_run(|run| {
            if missing.is_none() && !buffer.has(&run) {
                missing = Some(run);
            }
        });
        let name = at.name(self.m);
        match (missing, buffer.overwritten) {
            (None, _) => {
                self.reading.entry(access.buffer).or_default().push(access);
                Ok(())
            }
            (Some(_), Some((by, other))) => {
                let (own, by, other) = (self.shown(access.buffer), by.name(self.m), self.shown(other));
                let by = if by == name { "an earlier step of that name".to_owned() } else { by };
                Err(format!("{name} reads {own}, which {by} has overwritten, writing {other}").into())
            }
            (Some(run), None) => {
                let [first, end] = [run.start, run.end].map(|byte| buffer.range.start + byte);
                Err(format!("{name} reads bytes {first} to {end} of the arena, not all of which are written").into())
            }
        }
    }

    fn write(&mut self, at: At, value: Value) -> Result<(), Violation> {
        let Some(access) = self.access(at, value)? else { return Ok(()) };
        let buffer = &mut self.buffers[access.buffer];
        (buffer.overwritten, buffer.writer) = (None, Some(at.number));
        access.footprint.for_each_run(|run| buffer.written.push(run));
        if buffer.range.is_empty() { Ok(()) } else { self.take(at, &access) }
    }

    /// Makes the buffer of a write the owner of its bytes, and ends the contents of the others there.
    fn take(&mut self, at: At, write: &BufferAccess) -> Result<(), Violation> {
        let Buffer { arena, range: Range { start, end }, .. } = self.buffers[write.buffer];
        while let Some((first, owner)) = self.last_owner(arena, start..end) {
            self.check_in_place(at, owner, write)?;
            if owner == write.buffer {
                // The contents are whole, or were ended as a whole.
                return Ok(());
            }
            self.owners.entry(arena).or_default().remove(&first);
            if self.buffers[owner].writer == Some(at.number) {
                let (name, own, other) = (at.name(self.m), self.shown(owner), self.shown(write.buffer));
                return Err(format!("{name} writes {own} and {other}, which overlap").into());
            }
            let other = &mut self.buffers[owner];
            other.written.clear();
            (other.merged, other.overwritten) = (0, Some((at, write.buffer)));
        }
        self.owners.entry(arena).or_default().insert(start, (end, write.buffer));
        Ok(())
    }

    /// Returns the last buffer whose contents are in a range of an arena, with the start of its range.
    fn last_owner(&self, arena: Value, range: Range<u64>) -> Option<(u64, usize)> {
        let (&first, &(last, owner)) = self.owners.get(&arena)?.range(..range.end).next_back()?;
        (last > range.start).then_some((first, owner))
    }

    /// Checks that an op that reads the contents of `owner` and writes bytes of it may do so.
    fn check_in_place(&mut self, at: At, owner: usize, write: &BufferAccess) -> Result<(), Violation> {
        for read in self.reading.get(&owner).map_or(&[][..], Vec::as_slice) {
            let [from, to] = [read, write].map(|access| self.buffers[access.buffer].range.start);
            let [first, second] = [(read, from), (write, to)].map(|(access, base)| base + access.footprint.span.start);
            let is_legal = first == second && may_be_in_place(self.m, at.op, &read.view, &write.view);
            let runs = read.footprint.runs().saturating_add(write.footprint.runs());
            let left = self.runs.checked_sub(runs);
            self.runs = left.ok_or_else(|| format!("{} accesses too many separate parts", at.name(self.m)))?;
            if !is_legal && read.footprint.shares_bytes(from, &write.footprint, to) {
                let (name, own, other) = (at.name(self.m), self.shown(owner), self.shown(write.buffer));
                return Err(format!(
                    "{name} reads {own} and overwrites them, writing {other}: only a step of elementwise ops may, where \
                     an element is read and written at the same byte"
                ).into());
            }
        }
        Ok(())
    }

    /// Returns the buffer that a memref views, and its bytes there; `None` for other memory.
    fn access(&mut self, at: At, value: Value) -> Result<Option<BufferAccess>, Violation> {
        let view = BufferView::of(self.m, value);
        let buffer = view.as_ref().and_then(|view| self.numbers.get(&view.root));
        let (Some(view), Some(&buffer)) = (view, buffer) else { return Ok(None) };
        let Range { start, end } = self.buffers[buffer].range;
        let Some(footprint) = view.footprint().filter(|footprint| footprint.span.end <= end - start) else {
            return Err(format!("{} accesses bytes outside of {}", at.name(self.m), self.shown(buffer)).into());
        };
        let left = self.runs.checked_sub(footprint.runs());
        self.runs = left.ok_or_else(|| format!("{} accesses too many separate parts", at.name(self.m)))?;
        Ok(Some(BufferAccess { buffer, view, footprint }))
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
