//! Whole tensors in memory.

use crate::datum::Datum;
use crate::memory::Memory;
use crate::memref::MemRef;
use crate::tensor::DType;
use crate::trap::Trap;

impl Memory {
    /// Loads all elements of a view as a tensor of its shape.
    pub fn load_tensor(&mut self, from: &MemRef, dtype: DType) -> Result<Datum, Trap> {
        let shape: Option<Vec<usize>> = from.sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
        let shape = shape.ok_or_else(|| Trap::unsupported("a view of negative size"))?;
        let elements = self.load_all(from)?;
        Datum::from_elements(dtype, &shape, &elements)
    }

    /// Stores a tensor to a view of its shape; poison makes all elements poison.
    pub fn store_tensor(&mut self, value: &Datum, to: &MemRef) -> Result<(), Trap> {
        let elements = match value {
            Datum::Poison => vec![Datum::Poison; usize::try_from(to.len()).unwrap_or(0)],
            _ if value.shape().is_some_and(|shape| has_shape(shape, to)) => {
                value.elements().ok_or_else(|| Trap::unsupported("elements without scalar values"))?
            }
            other => return Err(Trap::unsupported(format!("a store of {} to another shape", other.kind()))),
        };
        let mut elements = elements.into_iter();
        to.for_each_index(|index| self.store(elements.next().unwrap_or(Datum::Poison), to, index))
    }
}

/// Whether a view has the given extents.
fn has_shape(shape: &[usize], view: &MemRef) -> bool {
    shape.iter().map(|&d| d as i64).eq(view.sizes.iter().copied())
}
