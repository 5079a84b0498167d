//! A step of a schedule: kernels over places of memory.

use super::region::Ops;
use super::store::{MemoryRange, Others, Read, Store, StoreMemory, StridedCopy};
use super::trap::{internal_error, moved};
use super::{Kernel, Out, extents};
use crate::gemm::ColumnSlice;
use crate::workers::Workers;
use bytes::Bytes;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, Tensor, Type};
use smallvec::SmallVec;
use std::time::Duration;

/// A step.
pub(super) struct ScheduleStep {
    /// Its last op, or the copy.
    pub op: Op,
    does: StepKind,
    /// Total time over all runs.
    pub spent: Duration,
}

/// The implementation of a step.
pub(super) enum StepKind {
    Kernels(Vec<KernelCall>),
    /// Several kernels that may run at the same time, in the order of their places: they write contiguous places without
    /// overlap, and read others in place. Each has its number in the order of the program.
    Group(Vec<KernelCall>, SmallVec<[usize; 4]>),
    Ops {
        ops: Ops,
        reads: Vec<(Read, Type)>,
        writes: Vec<Target>,
    },
}

/// A kernel with the places that it reads and writes.
pub(super) struct KernelCall {
    pub kernel: Kernel,
    pub reads: SmallVec<[Read; 4]>,
    pub to: Target,
}

impl StepKind {
    /// Returns the kind of a step of kernels.
    pub(super) fn of(calls: Vec<KernelCall>) -> StepKind {
        let is_direct = |call: &KernelCall| {
            matches!(call.to.form, TargetForm::Contiguous) && call.reads.iter().all(|read| read.gather.is_none())
        };
        if calls.len() < 2 || !calls.iter().all(is_direct) {
            return StepKind::Kernels(calls);
        }
        let mut numbered: Vec<(usize, KernelCall)> = calls.into_iter().enumerate().collect();
        numbered.sort_by_key(|(_, call)| call.position());
        let (numbers, calls) = numbered.into_iter().unzip();
        StepKind::Group(calls, numbers)
    }

    fn calls(&self) -> &[KernelCall] {
        match self {
            StepKind::Kernels(calls) | StepKind::Group(calls, _) => calls,
            StepKind::Ops { .. } => &[],
        }
    }
}

impl KernelCall {
    /// Returns the position of the target: by memory, first byte and first column.
    pub(super) fn position(&self) -> (StoreMemory, usize, usize) {
        let Target { place, form } = &self.to;
        let column = if let TargetForm::Columns(columns) = form { columns.first } else { 0 };
        (place.memory, place.bytes.start, column)
    }

    /// Whether the target is apart from that of a call with a later position: its bytes, or its columns of the same rows.
    pub(super) fn ends_before(&self, later: &KernelCall) -> bool {
        let columns = |call: &KernelCall| match call.to.form {
            TargetForm::Columns(columns) => Some((columns, call.kernel.columns?)),
            _ => None,
        };
        let beside = || {
            let ((ours, count), (theirs, _)) = (columns(self)?, columns(later)?);
            (self.to.place == later.to.place && ours.of == theirs.of && ours.first + count <= theirs.first)
                .then_some(())
        };
        !self.to.place.overlaps(&later.to.place) || beside().is_some()
    }

    /// Runs the kernel.
    fn run(&self, workers: &Workers, others: Others<'_>, store: &mut Store) -> Result<(), Trap> {
        let KernelCall { kernel, reads, to } = self;
        let in_place = kernel.in_place && matches!(to.form, TargetForm::Contiguous);
        store.write(&to.place, reads, in_place, others, |data, bytes, scratch| {
            to.fill(bytes, scratch, |out| (kernel.run)(workers, data, out))
        })
    }
}

/// Runs the kernels of a group: each on one thread if that divides the work evenly, else one by one on all threads. Threads take them in the
/// order of the program, so that one thread runs the first of each group.
fn run_group(
    (calls, numbers): (&[KernelCall], &[usize]),
    workers: &Workers,
    others: Others<'_>,
    store: &mut Store,
) -> Result<(), Trap> {
    let steps = |call: &KernelCall| call.kernel.steps.unwrap_or(call.to.place.bytes.len() / 4);
    let threads = workers.for_steps(calls.iter().map(steps).fold(0, usize::saturating_add));
    if threads < 2 || !calls.len().is_multiple_of(threads) {
        return calls.iter().try_for_each(|call| call.run(workers, others, store));
    }
    let places: SmallVec<[&MemoryRange; 8]> = calls.iter().map(|call| &call.to.place).collect();
    let reads: SmallVec<[&[Read]; 8]> = calls.iter().map(|call| &call.reads[..]).collect();
    store.write_apart(&places, &reads, others, |parts| {
        let single = Workers::default();
        let mut all: SmallVec<[_; 4]> = numbers.iter().zip(calls.iter().zip(parts)).collect();
        all.sort_by_key(|(number, _)| **number);
        workers.try_share(threads, all.into_iter(), |(_, (call, (data, bytes)))| {
            (call.kernel.run)(&single, &data, Out { bytes, columns: None })
        })
    })
}

/// A write of a step.
pub(super) struct Target {
    /// All bytes from the first to the last that is written.
    pub place: MemoryRange,
    pub form: TargetForm,
}

/// The layout of a target.
pub(super) enum TargetForm {
    Contiguous,
    /// A slice of each row.
    Columns(ColumnSlice),
    /// Elements that are computed elsewhere and then copied.
    Scattered(Box<StridedCopy>),
}

/// Wraps bytes as a tensor.
pub(super) fn tensor(m: &Module, bytes: Bytes, ty: Type) -> Option<Tensor> {
    Tensor::new(super::dtype(m, ty)?, extents(m, ty)?, bytes).ok()
}

impl ScheduleStep {
    pub(super) fn new(op: Op, does: StepKind) -> ScheduleStep {
        ScheduleStep { op, does, spent: Duration::ZERO }
    }

    /// Returns the ops without a kernel.
    pub(super) fn reference(&self) -> impl Iterator<Item = Op> {
        let ops = if let StepKind::Ops { ops, .. } = &self.does { Some(ops.reference()) } else { None };
        ops.into_iter().flatten()
    }

    /// Returns the size in bytes of the scratch memory that it needs.
    pub(super) fn scratch(&self) -> usize {
        let needed = match &self.does {
            StepKind::Ops { writes, .. } => writes.iter().map(Target::scratch).max(),
            kernels => kernels.calls().iter().map(|call| call.to.scratch()).max(),
        };
        needed.unwrap_or(0)
    }

    /// Runs the step.
    pub(super) fn run(&self, m: &Module, workers: &Workers, others: Others<'_>, store: &mut Store) -> Result<(), Trap> {
        match &self.does {
            StepKind::Kernels(calls) => calls.iter().try_for_each(|call| call.run(workers, others, store)),
            StepKind::Group(calls, numbers) => run_group((calls, numbers), workers, others, store),
            StepKind::Ops { ops, reads, writes } => {
                let read = |(read, ty): &(Read, Type)| {
                    let bytes = store.copy(read, others)?.into_bytes();
                    tensor(m, bytes, *ty).map(Datum::Tensor).ok_or_else(internal_error)
                };
                let arguments = reads.iter().map(read).collect::<Result<_, Trap>>()?;
                let results = ops.run(m, workers, arguments)?;
                for (result, to) in results.iter().zip(writes) {
                    let from = result.tensor()?.bytes();
                    store.write(&to.place, &[], false, others, |_, bytes, scratch| {
                        to.fill(bytes, scratch, |out| {
                            (out.bytes.len() == from.len())
                                .then(|| out.bytes.copy_from_slice(from))
                                .ok_or_else(internal_error)
                        })
                    })?;
                }
                Ok(())
            }
        }
    }
}

impl Target {
    /// Calls a kernel with the output that it writes.
    fn fill(
        &self,
        bytes: &mut [u8],
        scratch: &mut [u8],
        run: impl FnOnce(Out<'_>) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        match &self.form {
            TargetForm::Contiguous => run(Out { bytes, columns: None }),
            TargetForm::Columns(columns) => run(Out { bytes, columns: Some(*columns) }),
            TargetForm::Scattered(copy) => {
                let dense = scratch.get_mut(..copy.bytes).ok_or_else(internal_error)?;
                run(Out { bytes: dense, columns: None })?;
                moved(copy.nest.copy(dense, bytes, copy.element))
            }
        }
    }

    /// Returns the size in bytes of the scratch memory that it needs.
    fn scratch(&self) -> usize {
        if let TargetForm::Scattered(copy) = &self.form { copy.bytes } else { 0 }
    }
}
