//! Memory accesses of ops: views of buffers, and their bytes.

use super::BufferOp;
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

/// Returns the memrefs that an op reads, and those that it writes, with the ops in its regions. `None` if it may access
/// any memory.
pub fn accesses(m: &Module, op: Op) -> Option<[Vec<Value>; 2]> {
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
