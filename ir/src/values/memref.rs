//! Memrefs: run-time views of memory.

use crate::values::layout::StridedLayout;
use crate::values::tensor::DType;
use crate::values::trap::Trap;
use smallvec::SmallVec;

/// A run-time `memref`: a strided view of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemRef {
    /// The number of the buffer in the [`Memory`](crate::values::memory::Memory).
    pub buffer: u32,
    /// The reinterpretation of a byte buffer as other elements; `None` if the view has the buffer's elements.
    pub bytes: Option<ByteView>,
    /// The buffer element at index zero.
    pub offset: i64,
    /// The extent of each dimension, in elements.
    pub sizes: SmallVec<[i64; 4]>,
    /// The stride of each dimension, in elements.
    pub strides: SmallVec<[i64; 4]>,
}

/// A view of bytes as elements of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteView {
    /// The byte offset of element zero in the buffer.
    pub start: i64,
    /// The element type.
    pub dtype: DType,
}

impl MemRef {
    /// Creates a row-major view of a whole buffer.
    pub fn row_major(buffer: u32, sizes: &[i64]) -> MemRef {
        MemRef::strided(buffer, sizes, StridedLayout::row_major(sizes))
    }

    /// Creates a view of a buffer with a static strided layout.
    pub fn strided(buffer: u32, sizes: &[i64], layout: StridedLayout) -> MemRef {
        MemRef { buffer, bytes: None, offset: layout.offset, sizes: sizes.into(), strides: layout.strides }
    }

    /// Returns the address of the element at `indices`. Out-of-bounds indices are undefined behavior.
    pub fn address(&self, indices: &[i64]) -> Result<i64, Trap> {
        if indices.len() != self.sizes.len() {
            return Err(Trap::unsupported("as many indices as the memref has dimensions are needed"));
        }
        let mut at = self.offset;
        for (dim, &index) in indices.iter().enumerate() {
            if index < 0 || index >= self.sizes[dim] {
                let size = self.sizes[dim];
                return Err(Trap::Ub(format!("index {index} is out of bounds of dimension {dim} of size {size}")));
            }
            at = at.wrapping_add(index.wrapping_mul(self.strides[dim]));
        }
        Ok(at)
    }

    /// Returns the range of buffer elements behind the element at an address.
    pub(crate) fn place(&self, address: i64) -> Result<std::ops::Range<usize>, Trap> {
        match self.bytes {
            Some(view) => view.range(address),
            None => usize::try_from(address).ok().and_then(|at| Some(at..at.checked_add(1)?)).ok_or_else(outside),
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> i64 {
        self.sizes.iter().fold(1i64, |n, &d| n.saturating_mul(d.max(0)))
    }

    /// Whether the view has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the address of each contiguous run of elements and their number, in row-major order.
    pub(crate) fn for_each_run(&self, mut f: impl FnMut(i64, usize) -> Result<(), Trap>) -> Result<(), Trap> {
        let (mut run, mut outer) = (1_i64, self.sizes.len());
        while outer > 0 && (self.strides[outer - 1] == run || self.sizes[outer - 1] == 1) {
            run = run.saturating_mul(self.sizes[outer - 1]);
            outer -= 1;
        }
        let rows = MemRef { sizes: self.sizes[..outer].into(), strides: self.strides[..outer].into(), ..*self };
        let run = usize::try_from(run).map_err(|_| outside())?;
        rows.for_each_index(|index| f(rows.address(index)?, run))
    }

    /// Calls `f` with the indices of every element in row-major order.
    pub fn for_each_index(&self, mut f: impl FnMut(&[i64]) -> Result<(), Trap>) -> Result<(), Trap> {
        if self.len() > MAX_ELEMENTS as i64 {
            return Err(Trap::unknown(format!("more than {MAX_ELEMENTS} elements")));
        }
        let mut index: SmallVec<[i64; 4]> = smallvec::smallvec![0; self.sizes.len()];
        for _ in 0..self.len() {
            f(&index)?;
            for dim in (0..index.len()).rev() {
                index[dim] += 1;
                if index[dim] < self.sizes[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
        Ok(())
    }
}

impl ByteView {
    /// Returns the byte range of the element at an address.
    pub(crate) fn range(self, address: i64) -> Result<std::ops::Range<usize>, Trap> {
        let size = self.dtype.size();
        let start = address.checked_mul(size as i64).and_then(|at| at.checked_add(self.start));
        let start = start.and_then(|at| usize::try_from(at).ok()).ok_or_else(outside)?;
        Ok(start..start.saturating_add(size))
    }
}

pub(crate) fn outside() -> Trap {
    Trap::Ub("an access outside the buffer".into())
}

/// Default maximum number of elements of a [`Memory`](crate::values::memory::Memory).
pub(crate) const MAX_ELEMENTS: usize = 1 << 26;
