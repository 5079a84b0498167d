//! The memory of a program that is being executed.

use crate::context::Str;
use crate::eval::{Datum, Trap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A run-time `memref`: a strided view of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemRef {
    /// Which buffer of the [`Memory`].
    pub buffer: u32,
    /// The element of the buffer that index zero names.
    pub offset: i64,
    /// The extent of each dimension, in elements.
    pub sizes: SmallVec<[i64; 4]>,
    /// The distance of neighbours in each dimension, in elements.
    pub strides: SmallVec<[i64; 4]>,
}

impl MemRef {
    /// A row-major view of a whole buffer.
    pub fn row_major(buffer: u32, sizes: &[i64]) -> MemRef {
        let mut strides: SmallVec<[i64; 4]> = smallvec::smallvec![1; sizes.len()];
        for i in (1..sizes.len()).rev() {
            strides[i - 1] = strides[i].saturating_mul(sizes[i]);
        }
        MemRef { buffer, offset: 0, sizes: sizes.into(), strides }
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

/// Buffers, by number. Elements that nobody wrote are poison.
#[derive(Default)]
pub struct Memory {
    buffers: Vec<Option<Vec<Datum>>>,
    globals: FxHashMap<Str, u32>,
    elements: usize,
}

/// More live elements than this are refused.
const MAX_ELEMENTS: usize = 1 << 26;

impl Memory {
    /// A new buffer, each element `init`.
    pub fn alloc(&mut self, elements: i64, init: Datum) -> Result<u32, Trap> {
        let n = usize::try_from(elements).map_err(|_| Trap::Ub("an allocation of negative size".into()))?;
        let total = self.elements.saturating_add(n);
        if total > MAX_ELEMENTS {
            return Err(Trap::unsupported(format!("more than {MAX_ELEMENTS} elements of memory")));
        }
        self.elements = total;
        self.buffers.push(Some(vec![init; n]));
        Ok(self.buffers.len() as u32 - 1)
    }

    /// Ends the life of a buffer. Later accesses are undefined behaviour.
    pub fn free(&mut self, buffer: u32) -> Result<(), Trap> {
        let freed = self.buffers.get_mut(buffer as usize).and_then(Option::take);
        let freed = freed.ok_or_else(|| Trap::Ub("memory is freed that is not allocated".into()))?;
        self.elements -= freed.len();
        Ok(())
    }

    /// The elements of a live buffer.
    pub fn buffer(&self, buffer: u32) -> Result<&[Datum], Trap> {
        self.buffers.get(buffer as usize).and_then(|b| b.as_deref()).ok_or_else(use_after_free)
    }

    /// The elements of a live buffer, to be changed.
    pub fn buffer_mut(&mut self, buffer: u32) -> Result<&mut [Datum], Trap> {
        self.buffers.get_mut(buffer as usize).and_then(|b| b.as_deref_mut()).ok_or_else(use_after_free)
    }

    /// The element at `indices`.
    pub fn load(&self, from: &MemRef, indices: &[i64]) -> Result<Datum, Trap> {
        let at = from.address(indices)?;
        let element =
            usize::try_from(at).ok().and_then(|i| self.buffer(from.buffer).map(|b| b.get(i).cloned()).transpose());
        element.unwrap_or_else(|| Err(outside()))
    }

    /// Writes the element at `indices`.
    pub fn store(&mut self, value: Datum, to: &MemRef, indices: &[i64]) -> Result<(), Trap> {
        let at = usize::try_from(to.address(indices)?).map_err(|_| outside())?;
        *self.buffer_mut(to.buffer)?.get_mut(at).ok_or_else(outside)? = value;
        Ok(())
    }

    /// The buffer of a global, which `init` makes at its first use.
    pub fn global(&mut self, name: Str, init: impl FnOnce(&mut Memory) -> Result<u32, Trap>) -> Result<u32, Trap> {
        if let Some(&buffer) = self.globals.get(&name) {
            return Ok(buffer);
        }
        let buffer = init(self)?;
        self.globals.insert(name, buffer);
        Ok(buffer)
    }
}

fn use_after_free() -> Trap {
    Trap::Ub("memory is used that is not allocated any more".into())
}

fn outside() -> Trap {
    Trap::Ub("an access outside the buffer".into())
}
