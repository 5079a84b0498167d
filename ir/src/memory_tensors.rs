//! Whole tensors in memory.

use crate::datum::{Datum, floats_to_tensor, ints_to_tensor};
use crate::memory::Memory;
use crate::memref::MemRef;
use crate::tensor::{DType, Tensor};
use crate::trap::Trap;

impl Memory {
    /// Loads all elements of a view as a tensor of its shape; poison if an element is.
    pub fn load_tensor(&mut self, from: &MemRef, dtype: DType) -> Result<Datum, Trap> {
        let shape: Option<Vec<usize>> = from.sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
        let shape = shape.ok_or_else(|| Trap::unsupported("a view of negative size"))?;
        let elements = self.load_all(from)?;
        if elements.contains(&Datum::Poison) {
            return Ok(Datum::Poison);
        }
        Ok(Datum::Tensor(if dtype.is_float() {
            floats_to_tensor(dtype, &shape, elements.iter().map(Datum::float).collect::<Result<_, _>>()?)
        } else {
            // An `i1` is sign-extended in memory.
            let sign = if dtype == DType::Bool { -1 } else { 1 };
            let ints = elements.iter().map(|e| e.int().map(|v| v * sign)).collect::<Result<Vec<_>, _>>()?;
            ints_to_tensor(dtype, &shape, &ints)
        }))
    }

    /// Stores a tensor to a view of its shape; poison makes all elements poison.
    pub fn store_tensor(&mut self, value: &Datum, to: &MemRef) -> Result<(), Trap> {
        let elements = match value {
            Datum::Poison => vec![Datum::Poison; usize::try_from(to.len()).unwrap_or(0)],
            Datum::Tensor(tensor) if has_shape(tensor, to) => {
                value.elements().ok_or_else(|| Trap::unsupported("elements without scalar values"))?
            }
            other => return Err(Trap::unsupported(format!("a store of {} to another shape", other.kind()))),
        };
        let mut elements = elements.into_iter();
        to.for_each_index(|index| self.store(elements.next().unwrap_or(Datum::Poison), to, index))
    }
}

/// Whether a tensor has the shape of a view.
fn has_shape(tensor: &Tensor, view: &MemRef) -> bool {
    tensor.shape().iter().map(|&d| d as i64).eq(view.sizes.iter().copied())
}
