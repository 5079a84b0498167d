//! Whole tensors in memory.

use crate::values::datum::Datum;
use crate::values::memory::Memory;
use crate::values::memref::{ByteView, MAX_ELEMENTS, MemRef, outside};
use crate::values::tensor::{DType, Tensor};
use crate::values::trap::Trap;

impl Memory {
    /// Loads all elements of a view as a tensor of its shape.
    pub fn load_tensor(&mut self, from: &MemRef, dtype: DType) -> Result<Datum, Trap> {
        let shape: Option<Vec<usize>> = from.sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
        let shape = shape.ok_or_else(|| Trap::unsupported("a view of negative size"))?;
        if let Some(Some(raw)) = self.gather(from)? {
            return Ok(Datum::Tensor(Tensor::new(dtype, shape, raw.into())?));
        }
        let elements = self.load_all(from)?;
        Datum::from_elements(dtype, &shape, &elements)
    }

    /// Stores a tensor to a view of its shape; poison makes all elements poison.
    pub fn store_tensor(&mut self, value: &Datum, to: &MemRef) -> Result<(), Trap> {
        let raw = match value {
            Datum::Poison => Some(None),
            Datum::Tensor(tensor)
                if has_shape(tensor.shape(), to) && to.bytes.is_some_and(|view| view.dtype == tensor.dtype()) =>
            {
                Some(Some(&tensor.bytes()[..]))
            }
            _ => None,
        };
        if let Some(raw) = raw
            && self.scatter(raw, to)?
        {
            return Ok(());
        }
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

    /// Copies the elements of a view to one of the same sizes.
    pub fn copy(&mut self, from: &MemRef, to: &MemRef) -> Result<(), Trap> {
        let dtype = |view: &MemRef| view.bytes.map(|bytes| bytes.dtype);
        if dtype(from) == dtype(to)
            && let Some(Some(raw)) = self.gather(from)?
            && self.scatter(Some(&raw), to)?
        {
            return Ok(());
        }
        if dtype(from) == dtype(to) {
            let mut elements = Vec::new();
            from.for_each_index(|index| {
                elements.push(self.load_bits(from, index)?);
                Ok(())
            })?;
            let mut elements = elements.into_iter();
            return to.for_each_index(|index| self.store_bits(&elements.next().unwrap_or_default(), to, index));
        }
        let mut elements = self.load_all(from)?.into_iter();
        to.for_each_index(|index| self.store(elements.next().unwrap_or(Datum::Poison), to, index))
    }

    /// Copies the bytes of a view's elements in row-major order; poison if one is. `None` if they must be loaded one by one.
    fn gather(&self, from: &MemRef) -> Result<Option<Option<Vec<u8>>>, Trap> {
        let (Some(view), Some(buffer)) = (whole_bytes(from), self.byte_buffer(from.buffer)) else { return Ok(None) };
        let size = view.dtype.size();
        let mut raw = Vec::with_capacity(from.len() as usize * size);
        let mut is_poison = false;
        from.for_each_run(|first, run| {
            let start = view.range(first)?.start;
            let run = buffer.get(start..start.saturating_add(run * size)).ok_or_else(outside)?;
            match run {
                Some(run) => raw.extend_from_slice(run),
                None => is_poison = true,
            }
            Ok(())
        })?;
        Ok(Some((!is_poison).then_some(raw)))
    }

    /// Writes the bytes of all elements of a view, or makes them poison. Returns `false` if they must be stored one by one.
    fn scatter(&mut self, raw: Option<&[u8]>, to: &MemRef) -> Result<bool, Trap> {
        let (Some(view), Some(buffer)) = (whole_bytes(to), self.byte_buffer_mut(to.buffer)) else { return Ok(false) };
        let size = view.dtype.size();
        let mut at = 0;
        to.for_each_run(|first, run| {
            let (start, bytes) = (view.range(first)?.start, run * size);
            let part = raw.map(|raw| raw.get(at..at + bytes).ok_or_else(outside)).transpose()?;
            at += bytes;
            buffer.set(start..start.saturating_add(bytes), part).ok_or_else(outside)
        })?;
        Ok(true)
    }
}

/// The byte view of a memref whose elements are whole bytes of any value, and not more than memory can hold.
fn whole_bytes(memref: &MemRef) -> Option<ByteView> {
    let view = memref.bytes?;
    let is_small = memref.sizes.iter().all(|&n| n > 0) && memref.len() <= MAX_ELEMENTS as i64;
    (is_small && !view.dtype.is_narrow() && view.dtype != DType::Bool).then_some(view)
}

/// Whether a view has the given extents.
fn has_shape(shape: &[usize], view: &MemRef) -> bool {
    shape.iter().map(|&d| d as i64).eq(view.sizes.iter().copied())
}
