//! Memory accesses of ops: views of buffers, and their bytes.

use super::{BufferOp, LaunchOp, StepOp, TransferOp, WaitOp};
use gradus_dialects::memref::CopyOp;
use gradus_ir::effects::{for_each_access, is_memory};
use gradus_ir::layout::StridedLayout;
use gradus_ir::{Access, Effects, Module, Op, OpDecl, Value};
use smallvec::SmallVec;
use std::ops::Range;

/// A memref as a strided view of the buffer, allocation or other memory that it is based on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferView {
    /// The memory: not itself a view.
    pub root: Value,
    /// Extents.
    pub sizes: SmallVec<[u64; 4]>,
    /// First element, relative to the root, and strides.
    pub layout: StridedLayout,
    /// Size of an element in bytes.
    pub element: u64,
}

/// Whether an op only views its first operand, a memref, as its single result, in elements of the same type.
pub fn is_view(m: &Module, op: Op) -> bool {
    let pure = m.info(op).is_some_and(|info| matches!(info.effects, Effects::Pure | Effects::MayUb));
    let element = |v: Value| m.ctx.element_type(m.value_type(v));
    let is_memref = |v: Value| is_memory(m, v);
    pure && m.num_results(op) == 1
        && BufferOp::cast(m, op).is_none()
        && is_memref(m.result(op, 0))
        && m.operands(op).first().is_some_and(|&v| is_memref(v) && element(v) == element(m.result(op, 0)))
        && m.operands(op)[1..].iter().all(|&v| !is_memref(v))
}

/// Returns the memory that a memref views.
pub fn root(m: &Module, mut memref: Value) -> Value {
    while let Some(op) = m.defining_op(memref).filter(|&op| is_view(m, op)) {
        memref = m.operands(op)[0];
    }
    memref
}

impl BufferView {
    /// Returns the view that a memref of static shape and layout is.
    pub fn of(m: &Module, memref: Value) -> Option<BufferView> {
        let ty = m.value_type(memref);
        let sizes = m.ctx.static_shape(ty)?.iter().map(|&d| u64::try_from(d).ok()).collect::<Option<_>>()?;
        let layout = m.ctx.strided_layout(ty)?;
        let is_known = |&n: &i64| n >= 0;
        let known = is_known(&layout.offset) && layout.strides.iter().all(is_known);
        let element = m.ctx.dtype(m.ctx.element_type(ty))?.size() as u64;
        known.then(|| BufferView { root: root(m, memref), sizes, layout, element })
    }

    /// Returns the bytes of the view, relative to its root; `None` if they exceed 63 bits.
    pub fn footprint(&self) -> Option<Footprint> {
        let start = (self.layout.offset as u64).checked_mul(self.element)?;
        if self.sizes.contains(&0) {
            return Some(Footprint { span: start..start, run: 0, dims: SmallVec::new() });
        }
        let mut dims: SmallVec<[(u64, u64); 4]> = SmallVec::new();
        for (&size, &stride) in self.sizes.iter().zip(&self.layout.strides) {
            let stride = (stride as u64).checked_mul(self.element)?;
            if size != 1 {
                dims.push((size, stride));
            }
        }
        dims.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        let mut run = self.element;
        while let Some(&(size, _)) = dims.last().filter(|&&(_, stride)| stride == run) {
            run = run.checked_mul(size)?;
            dims.pop();
        }
        let last =
            dims.iter().try_fold(start, |at, &(size, stride)| at.checked_add((size - 1).checked_mul(stride)?))?;
        let end = last.checked_add(run).filter(|&end| i64::try_from(end).is_ok())?;
        Some(Footprint { span: start..end, run, dims })
    }

    /// Returns the number of bytes of the view's elements.
    pub fn bytes(&self) -> Option<u64> {
        self.sizes.iter().try_fold(self.element, |n, &d| n.checked_mul(d))
    }

    /// Whether the elements are contiguous in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let mut stride = 1;
        let dims = self.sizes.iter().zip(&self.layout.strides).rev();
        dims.filter(|&(&size, _)| size != 1).all(|(&size, &have)| {
            let fits = have as u64 == stride;
            stride = stride.saturating_mul(size);
            fits
        })
    }
}

/// The bytes of a view, relative to its root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// From the first byte to the end of the last.
    pub span: Range<u64>,
    /// Bytes of a contiguous run.
    run: u64,
    /// Number of runs and their distance in bytes, in each dimension, outermost first.
    dims: SmallVec<[(u64, u64); 4]>,
}

impl Footprint {
    /// Returns the number of contiguous runs.
    pub fn runs(&self) -> u64 {
        if self.run == 0 { 0 } else { self.dims.iter().fold(1, |n, &(size, _)| n.saturating_mul(size)) }
    }

    /// Whether the bytes from `base` on and those of another footprint from `other_base` on have one in common.
    pub fn shares_bytes(&self, base: u64, other: &Footprint, other_base: u64) -> bool {
        let spans = [(self, base), (other, other_base)].map(|(f, base)| base + f.span.start..base + f.span.end);
        if spans[0].start >= spans[1].end || spans[1].start >= spans[0].end {
            return false;
        }
        let mut runs = Vec::new();
        self.for_each_run(|run| runs.push(base + run.start..base + run.end));
        runs.sort_unstable_by_key(|run| run.start);
        let mut shares = false;
        other.for_each_run(|run| {
            // Runs have one length, so that the last that starts before the end reaches farthest.
            let last = runs.partition_point(|own| own.start < other_base + run.end).checked_sub(1);
            shares |= last.is_some_and(|last| runs[last].end > other_base + run.start);
        });
        shares
    }

    /// Calls `f` with every contiguous run.
    pub fn for_each_run(&self, mut f: impl FnMut(Range<u64>)) {
        let count = self.runs();
        let mut index: SmallVec<[u64; 4]> = smallvec::smallvec![0; self.dims.len()];
        let mut at = self.span.start;
        for _ in 0..count {
            f(at..at + self.run);
            for (i, &(size, stride)) in index.iter_mut().zip(&self.dims).rev() {
                *i += 1;
                at += stride;
                if *i < size {
                    break;
                }
                *i = 0;
                at -= stride * size;
            }
        }
    }
}

/// Whether an op of a schedule accesses known buffers: steps, copies, transfers, waits and launches.
pub fn is_access(m: &Module, op: Op) -> bool {
    StepOp::cast(m, op).is_some()
        || CopyOp::cast(m, op).is_some()
        || TransferOp::cast(m, op).is_some()
        || WaitOp::cast(m, op).is_some()
        || LaunchOp::cast(m, op).is_some()
}

/// Returns the transfers that a wait ends.
pub(super) fn transfers(m: &Module, wait: WaitOp) -> impl Iterator<Item = TransferOp> {
    let tokens: Vec<Value> = wait.tokens(m).to_vec();
    tokens.into_iter().filter_map(|token| TransferOp::defining(m, token))
}

/// Returns the memrefs that an op reads, and those that it writes, with the ops in its regions; those of a wait are the
/// sources and targets of its transfers. `None` if the op may access any memory.
pub fn accesses(m: &Module, op: Op) -> Option<[Vec<Value>; 2]> {
    if let Some(wait) = WaitOp::cast(m, op) {
        let (sources, targets) = transfers(m, wait).map(|transfer| (transfer.source(m), transfer.target(m))).unzip();
        return Some([sources, targets]);
    }
    let [mut reads, mut writes] = [Vec::new(), Vec::new()];
    let known = for_each_access(m, op, &mut |_, (access, value)| match (access, value) {
        (Access::Read, Some(value)) => {
            reads.push(value);
            true
        }
        (Access::Write, Some(value)) => {
            writes.push(value);
            true
        }
        (Access::Alloc, _) => true,
        _ => false,
    });
    known.then_some([reads, writes])
}
