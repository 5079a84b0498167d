//! Reads a schedule: resolves what its steps read and write to bytes of memory, and selects their kernels.

use super::movement::copies;
use super::region::{self, Ops};
use super::step::{KernelCall, ScheduleStep, StepKind, Target, TargetForm};
use super::store::{MemoryRange, Read, Store, StoreMemory, StridedCopy};
use super::{Kernel, aligned, size};
use crate::gemm::ColumnSlice;
use gradus_dialects::memref::{AllocOp, CopyOp};
use gradus_ir::layout::StridedLayout;
use gradus_ir::{Block, Def, Module, Op, OpDecl, Tensor, Traits, Value};
use gradus_networks::layout::CopyNest;
use gradus_networks::sched::{
    ArenaOp, BufferOp, BufferView, StepOp, ToBufferOp, ToTensorOp, is_interpreted, is_view, root, size_in_bytes,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The accesses of a buffer: its bytes, and its first and last step.
pub(super) struct Life {
    pub bytes: usize,
    pub first: usize,
    pub last: usize,
}

/// The state of reading a schedule, op by op.
pub(super) struct ScheduleReader<'m> {
    m: &'m Module,
    pub steps: Vec<ScheduleStep>,
    /// The used constants.
    pub constants: Vec<Tensor>,
    pub store: Store,
    /// The bytes of arenas, buffers and viewed tensors.
    roots: FxHashMap<Value, MemoryRange>,
    /// The bytes of tensors that are read from buffers.
    tensors: FxHashMap<Value, MemoryRange>,
    pub lives: FxHashMap<Value, Life>,
}

impl<'m> ScheduleReader<'m> {
    pub(super) fn new(m: &'m Module) -> Self {
        let (roots, tensors, lives) = Default::default();
        ScheduleReader { m, steps: Vec::new(), constants: Vec::new(), store: Store::default(), roots, tensors, lives }
    }

    /// Reads the next op. `None` if schedules cannot have it.
    pub(super) fn op(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        if let Some(arena) = ArenaOp::cast(m, op) {
            self.add(arena.memory(m))
        } else if let Some(alloc) = AllocOp::cast(m, op) {
            self.add(alloc.memref(m))
        } else if let Some(buffer) = BufferOp::cast(m, op) {
            self.place_buffer(buffer)
        } else if let Some(buffer) = ToBufferOp::cast(m, op) {
            let place = self.tensor(buffer.tensor(m))?;
            self.roots.insert(buffer.buffer(m), place);
            Some(())
        } else if let Some(read) = ToTensorOp::cast(m, op) {
            self.contents(read)
        } else if let Some(step) = StepOp::cast(m, op) {
            self.step(step)
        } else if let Some(copy) = CopyOp::cast(m, op) {
            self.copy(copy.source(m), copy.target(m), op)
        } else {
            (m.is_constant(op) || is_view(m, op)).then_some(())
        }
    }

    /// Adds an arena or buffer of its own.
    fn add(&mut self, memref: Value) -> Option<()> {
        let ty = self.m.value_type(memref);
        let bytes = usize::try_from(size_in_bytes(&self.m.ctx, ty)?).ok().filter(|&n| n < isize::MAX as usize)?;
        self.m.ctx.has_identity_layout(ty).then_some(())?;
        let memory = self.store.add(bytes);
        self.roots.insert(memref, MemoryRange { memory, bytes: 0..bytes });
        Some(())
    }

    fn place_buffer(&mut self, op: BufferOp) -> Option<()> {
        let m = self.m;
        let MemoryRange { memory, bytes } = self.roots.get(&op.arena(m))?.clone();
        let start = op.offset(m).and_then(|a| m.ctx.as_int(a)).and_then(|n| usize::try_from(n).ok())?;
        let end = start.checked_add(size(m, m.value_type(op.buffer(m)))?).filter(|&end| end <= bytes.end)?;
        self.roots.insert(op.buffer(m), MemoryRange { memory, bytes: start..end });
        Some(())
    }

    /// Returns the bytes of a tensor: an argument, a constant, or the elements of a buffer.
    pub(super) fn tensor(&mut self, value: Value) -> Option<MemoryRange> {
        if let Some(place) = self.tensors.get(&value) {
            return Some(place.clone());
        }
        let bytes = 0..size(self.m, self.m.value_type(value))?;
        let memory = match self.m.def(value) {
            Def::Arg(block, i) if self.m.block_op(block).is_some_and(|op| self.m.has_trait(op, Traits::FUNCTION)) => {
                StoreMemory::Argument(i as usize)
            }
            _ => {
                self.constants.push(aligned(&self.m.ctx.dense_tensor(self.m.constant(value)?)?));
                StoreMemory::Constant(self.constants.len() - 1)
            }
        };
        let place = MemoryRange { memory, bytes };
        self.tensors.insert(value, place.clone());
        Some(place)
    }

    /// Makes the elements of a buffer a tensor: in place if the buffer has memory of its own, or by a copy.
    fn contents(&mut self, op: ToTensorOp) -> Option<()> {
        let (m, buffer, tensor) = (self.m, op.buffer(self.m), op.result(self.m));
        let view = BufferView::of(m, buffer)?;
        let is_own = m.defining_op(view.root).is_some_and(|def| AllocOp::cast(m, def).is_some());
        let place = if is_own && view.is_contiguous() {
            let read = self.read(buffer)?;
            self.store.make_result(read.place.memory);
            read.place
        } else {
            let bytes = size(m, m.value_type(tensor))?;
            let place = MemoryRange { memory: self.store.add(bytes), bytes: 0..bytes };
            self.store.make_result(place.memory);
            let to = Target { place: place.clone(), form: TargetForm::Contiguous };
            let call = KernelCall { kernel: Kernel::copy(), reads: std::iter::once(self.read(buffer)?).collect(), to };
            self.push(op.0, StepKind::Kernels(vec![call]));
            place
        };
        self.tensors.insert(tensor, place);
        Some(())
    }

    fn push(&mut self, op: Op, does: StepKind) {
        self.steps.push(ScheduleStep::new(op, does));
    }

    /// Resolves a memref, and notes that the next step accesses it.
    fn view(&mut self, memref: Value) -> Option<(MemoryRange, BufferView)> {
        let view = BufferView::of(self.m, memref)?;
        let place = self.roots.get(&view.root)?.clone();
        if matches!(place.memory, StoreMemory::Own(_)) {
            let (bytes, at) = (place.bytes.len(), self.steps.len());
            self.lives.entry(view.root).or_insert(Life { bytes, first: at, last: at }).last = at;
        }
        Some((place, view))
    }

    fn read(&mut self, memref: Value) -> Option<Read> {
        let (root, view) = self.view(memref)?;
        let gather = if view.is_contiguous() { None } else { Some(gather(&view, true)?) };
        Some(Read { place: part(&root, &view)?, gather })
    }

    fn target(&mut self, memref: Value, columns: Option<usize>) -> Option<Target> {
        let (root, view) = self.view(memref)?;
        // Results that have been taken from their buffer are not written again.
        self.store.is_writable(root.memory).then_some(())?;
        let place = part(&root, &view)?;
        if view.is_contiguous() {
            return Some(Target { place, form: TargetForm::Contiguous });
        }
        if let Some((place, slice)) = columns.and_then(|count| rows(&root, &view, count)) {
            return Some(Target { place, form: TargetForm::Columns(slice) });
        }
        Some(Target { place, form: TargetForm::Scattered(Box::new(gather(&view, false)?)) })
    }

    fn step(&mut self, step: StepOp) -> Option<()> {
        let m = self.m;
        let body = m.entry(step.body(m))?;
        let last = m.last_op(body).and_then(|end| m.prev_op(end)).unwrap_or(step.0);
        let is_interpreted = is_interpreted(m, step.0);
        let calls = match region::kernels(m, body).filter(|_| !is_interpreted) {
            Some(kernels) => Some(self.calls(step, body, kernels)?).filter(|calls| is_sequential(calls)),
            None => None,
        };
        let does = match calls {
            Some(calls) => StepKind::of(calls),
            None => {
                let (args, reads, writes) = (m.block_args(body), step.reads(m), step.writes(m));
                let typed = |(&memref, &arg): (&Value, &Value)| Some((self.read(memref)?, m.value_type(arg)));
                let reads = reads.iter().zip(args).map(typed).collect::<Option<_>>()?;
                let writes = writes.iter().map(|&memref| self.target(memref, None)).collect::<Option<_>>()?;
                StepKind::Ops { ops: Ops::of(m, body, is_interpreted)?, reads, writes }
            }
        };
        self.count_once(step);
        self.push(last, does);
        Some(())
    }

    /// Counts the bytes that the next step writes in the place of what it reads as used once: the written buffer lives from
    /// the step behind it on.
    fn count_once(&mut self, step: StepOp) {
        let (m, next) = (self.m, self.steps.len() + 1);
        let [reads, writes] = [step.reads(m), step.writes(m)].map(|all| all.into_iter().map(|v| root(m, v)));
        let read: FxHashSet<&MemoryRange> = reads.filter_map(|v| self.roots.get(&v)).collect();
        for root in writes.filter(|v| self.roots.get(v).is_some_and(|place| read.contains(place))) {
            if let Some(life) = self.lives.get_mut(&root).filter(|life| life.first + 1 == next) {
                life.first = next;
            }
        }
    }

    /// Resolves what the kernels of a step read and write.
    fn calls(&mut self, step: StepOp, body: Block, kernels: Vec<(Kernel, Vec<Value>)>) -> Option<Vec<KernelCall>> {
        let m = self.m;
        let (args, reads, writes) = (m.block_args(body), step.reads(m), step.writes(m));
        let numbers: FxHashMap<Value, usize> = args.iter().copied().zip(0..).collect();
        let mut calls = Vec::with_capacity(kernels.len());
        for ((kernel, values), &to) in kernels.into_iter().zip(&writes) {
            let to = self.target(to, kernel.columns)?;
            let source = |value: &Value| match numbers.get(value) {
                Some(&i) => self.read(reads[i]),
                None => Some(Read { place: self.tensor(*value)?, gather: None }),
            };
            let reads = values.iter().map(source).collect::<Option<_>>()?;
            calls.push(KernelCall { kernel, reads, to });
        }
        Some(calls)
    }

    /// Copies the elements of one view to those of another, as one loop nest.
    fn copy(&mut self, from: Value, to: Value, op: Op) -> Option<()> {
        let ((source, from), place) = (self.view(from)?, self.target(to, None)?.place);
        let (_, to) = self.view(to)?;
        let element = usize::try_from(to.element).ok()?;
        let [apart, target] = [&from, &to].map(|view| unsigned(&view.layout));
        let kernel = copies(CopyNest::strided(&to.sizes, [&apart, &target], [0, 0]).ok()?, element);
        let reads = std::iter::once(Read { place: part(&source, &from)?, gather: None }).collect();
        let to = Target { place, form: TargetForm::Contiguous };
        self.push(op, StepKind::Kernels(vec![KernelCall { kernel, reads, to }]));
        Some(())
    }
}

/// Whether calls may run one after the other although a step reads all before it writes: several write to elements that
/// are apart from each other, at places that are apart from all reads.
fn is_sequential(calls: &[KernelCall]) -> bool {
    let mut targets: Vec<&KernelCall> = calls.iter().collect();
    targets.sort_by_key(|call| call.position());
    let writes: Vec<&MemoryRange> = targets.iter().map(|call| &call.to.place).collect();
    let is_apart = |read: &Read| {
        let MemoryRange { memory, bytes } = &read.place;
        let before = writes.partition_point(|write| (write.memory, write.bytes.start) < (*memory, bytes.end));
        before.checked_sub(1).is_none_or(|last| !writes[last].overlaps(&read.place))
    };
    calls.len() < 2
        || targets.windows(2).all(|pair| pair[0].ends_before(pair[1]))
            && calls.iter().flat_map(|call| &call.reads).all(is_apart)
}

/// Returns the bytes of a view in its root.
fn part(root: &MemoryRange, view: &BufferView) -> Option<MemoryRange> {
    let span = view.footprint()?.span;
    let [start, end] = [span.start, span.end].map(|at| usize::try_from(at).ok()?.checked_add(root.bytes.start));
    let (start, end) = (start?, end?);
    (end <= root.bytes.end).then_some(MemoryRange { memory: root.memory, bytes: start..end })
}

/// Returns the rows of a root of which a view is `count` columns, and these columns.
fn rows(root: &MemoryRange, view: &BufferView, count: usize) -> Option<(MemoryRange, ColumnSlice)> {
    let dims: SmallVec<[(u64, u64); 4]> =
        view.sizes.iter().zip(&view.layout.strides).filter(|(d, _)| **d != 1).map(|(&d, &s)| (d, s as u64)).collect();
    let split = dims.iter().position(|&(size, stride)| size.checked_mul(stride) == Some(count as u64))?;
    let (outer, inner) = dims.split_at(split);
    let row_major = |dims: &[(u64, u64)], innermost: u64| {
        let mut stride = innermost;
        dims.iter().rev().all(|&(size, have)| {
            let fits = have == stride;
            stride = stride.saturating_mul(size);
            fits
        })
    };
    let &(_, of) = outer.last()?;
    (row_major(inner, 1) && row_major(outer, of) && of >= count as u64).then_some(())?;
    let rows: u64 = outer.iter().map(|&(size, _)| size).product();
    let (offset, element) = (view.layout.offset as u64, view.element);
    let start = usize::try_from((offset - offset % of) * element).ok()?.checked_add(root.bytes.start)?;
    let end = usize::try_from(rows.checked_mul(of)?.checked_mul(element)?).ok()?.checked_add(start)?;
    let place = (end <= root.bytes.end).then_some(MemoryRange { memory: root.memory, bytes: start..end })?;
    Some((place, ColumnSlice { first: (offset % of) as usize, of: of as usize }))
}

/// Returns the strides of a layout, none of which is negative.
fn unsigned(layout: &StridedLayout) -> Vec<u64> {
    layout.strides.iter().map(|&stride| stride as u64).collect()
}

/// Returns the copy between a view, from its first element on, and its elements in row-major order.
fn gather(view: &BufferView, from_view: bool) -> Option<StridedCopy> {
    let sizes: Vec<i64> = view.sizes.iter().map(|&d| d as i64).collect();
    let (dense, apart) = (unsigned(&StridedLayout::row_major(&sizes)), unsigned(&view.layout));
    let strides = if from_view { [&apart[..], &dense] } else { [&dense[..], &apart] };
    let nest = CopyNest::strided(&view.sizes, strides, [0, 0]).ok()?;
    Some(StridedCopy {
        nest,
        element: usize::try_from(view.element).ok()?,
        bytes: usize::try_from(view.bytes()?).ok()?,
    })
}
