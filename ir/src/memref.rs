//! Views of memory, as run-time values.

use crate::layout::StridedLayout;
use crate::tensor::DType;
use crate::trap::Trap;
use smallvec::SmallVec;

/// A run-time `memref`: a strided view of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemRef {
    /// Which buffer of the [`Memory`](crate::memory::Memory).
    pub buffer: u32,
    /// How elements are made of the buffer's, when those are bytes; `None` when they are the same.
    pub bytes: Option<ByteView>,
    /// The element that index zero names.
    pub offset: i64,
    /// The extent of each dimension, in elements.
    pub sizes: SmallVec<[i64; 4]>,
    /// The distance of neighbours in each dimension, in elements.
    pub strides: SmallVec<[i64; 4]>,
}

/// A view of bytes as elements of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteView {
    /// The byte of the buffer at which element zero begins.
    pub start: i64,
    /// What the elements are.
    pub dtype: DType,
}

impl MemRef {
    /// A row-major view of a whole buffer.
    pub fn row_major(buffer: u32, sizes: &[i64]) -> MemRef {
        MemRef::strided(buffer, sizes, StridedLayout::row_major(sizes))
    }

    /// A view of a buffer by a layout in which everything is known.
    pub fn strided(buffer: u32, sizes: &[i64], layout: StridedLayout) -> MemRef {
        MemRef { buffer, bytes: None, offset: layout.offset, sizes: sizes.into(), strides: layout.strides }
    }

    /// The element of the buffer at `indices`. Indices outside the sizes are undefined behaviour.
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

    /// The elements of the buffer that the one at an address is made of.
    pub(crate) fn place(&self, address: i64) -> Result<std::ops::Range<usize>, Trap> {
        match self.bytes {
            Some(view) => view.range(address),
            None => usize::try_from(address).ok().and_then(|at| Some(at..at.checked_add(1)?)).ok_or_else(outside),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> i64 {
        self.sizes.iter().fold(1i64, |n, &d| n.saturating_mul(d.max(0)))
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the indices of every element, last dimension fastest.
    pub fn for_each_index(&self, mut f: impl FnMut(&[i64]) -> Result<(), Trap>) -> Result<(), Trap> {
        if self.len() > MAX_ELEMENTS as i64 {
            return Err(Trap::unsupported(format!("more than {MAX_ELEMENTS} elements")));
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
    /// The bytes of the element at an address.
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

/// More elements than this are refused, unless a [`Memory`](crate::memory::Memory) says otherwise.
pub(crate) const MAX_ELEMENTS: usize = 1 << 26;
