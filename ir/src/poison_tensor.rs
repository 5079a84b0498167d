//! Tensors and vectors with poison elements.

use crate::datum::{Datum, floats_to_tensor, ints_to_tensor};
use crate::tensor::{DType, Tensor, checked_len};
use crate::trap::Trap;

/// A tensor or vector with at least one poison element. A tensor without one is a [`Datum::Tensor`], so that a clean
/// run never reads a mask.
#[derive(Clone, PartialEq, Debug)]
pub struct PoisonTensor {
    tensor: Tensor,
    mask: Vec<bool>,
}

impl PoisonTensor {
    /// Returns `tensor` with the elements at which `mask` is true poison. Both are in row-major order.
    pub fn datum(tensor: Tensor, mask: Vec<bool>) -> Datum {
        debug_assert_eq!(tensor.len(), mask.len());
        if !mask.contains(&true) {
            return Datum::Tensor(tensor);
        }
        Datum::PoisonTensor(Box::new(PoisonTensor { tensor: filled(&tensor, &mask, 0), mask }))
    }

    /// Returns a tensor whose elements are all poison; `None` if its size overflows.
    pub fn all(dtype: DType, shape: &[usize]) -> Option<Datum> {
        let n = checked_len(shape)?;
        let tensor = Tensor::new(dtype, shape.to_vec(), vec![0; n.checked_mul(dtype.size())?].into()).ok()?;
        Some(PoisonTensor::datum(tensor, vec![true; n]))
    }

    /// Returns the elements; the bytes of poison elements are zero.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Whether each element is poison, in row-major order.
    pub fn mask(&self) -> &[bool] {
        &self.mask
    }
}

/// Returns the tensor with every byte of the masked elements replaced. The byte 1 makes a value of every type that is
/// neither zero nor NaN.
pub(crate) fn filled(tensor: &Tensor, mask: &[bool], byte: u8) -> Tensor {
    let mut bytes = tensor.bytes().to_vec();
    for (element, _) in bytes.chunks_exact_mut(tensor.dtype().size()).zip(mask).filter(|(_, poison)| **poison) {
        element.fill(byte);
    }
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), bytes.into()).expect("the shape is as before")
}

impl Datum {
    /// Creates a tensor or vector of scalars in row-major order, which may be poison.
    pub fn from_elements(dtype: DType, shape: &[usize], scalars: &[Datum]) -> Result<Datum, Trap> {
        if checked_len(shape) != Some(scalars.len()) {
            return Err(Trap::unsupported(format!("{} elements for the shape {shape:?}", scalars.len())));
        }
        let tensor = if dtype.is_float() {
            let floats = scalars.iter().map(|s| if *s == Datum::Poison { Ok(0.0) } else { s.float() });
            floats_to_tensor(dtype, shape, floats.collect::<Result<Vec<f64>, Trap>>()?)
        } else {
            let ints = scalars.iter().map(|s| if *s == Datum::Poison { Ok(0) } else { s.int() });
            ints_to_tensor(dtype, shape, &ints.collect::<Result<Vec<i64>, Trap>>()?)
        };
        Ok(match scalars.contains(&Datum::Poison) {
            true => PoisonTensor::datum(tensor, scalars.iter().map(|s| *s == Datum::Poison).collect()),
            false => Datum::Tensor(tensor),
        })
    }

    /// Whether the value is poison or has poison elements.
    pub fn has_poison(&self) -> bool {
        matches!(self, Datum::Poison | Datum::PoisonTensor(_))
    }

    /// Whether the value is poison, or all its elements are.
    pub fn is_all_poison(&self) -> bool {
        match self {
            Datum::Poison => true,
            Datum::PoisonTensor(tensor) => !tensor.mask.contains(&false),
            _ => false,
        }
    }

    /// Returns the tensor or vector with the mask of its poison elements, if it has any.
    pub fn masked(&self) -> Option<(&Tensor, Option<&[bool]>)> {
        match self {
            Datum::Tensor(tensor) => Some((tensor, None)),
            Datum::PoisonTensor(poison) => Some((&poison.tensor, Some(&poison.mask))),
            _ => None,
        }
    }

    /// Returns the extents of a tensor or vector, outermost first.
    pub fn shape(&self) -> Option<&[usize]> {
        self.masked().map(|(tensor, _)| tensor.shape())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_without_poison_is_dropped() {
        let tensor = Tensor::from_vec(&[2], vec![1i32, 2]);
        assert_eq!(PoisonTensor::datum(tensor.clone(), vec![false; 2]), Datum::Tensor(tensor.clone()));
        let half = PoisonTensor::datum(tensor, vec![true, false]);
        // Poison elements of different bytes are equal.
        let other = PoisonTensor::datum(Tensor::from_vec(&[2], vec![7i32, 2]), vec![true, false]);
        assert_eq!(half, other);
        assert_eq!(half.elements(), Some(vec![Datum::Poison, Datum::Int(2)]));
        assert!(half.has_poison() && !half.is_all_poison());
    }

    #[test]
    fn elements_make_a_tensor() {
        let scalars = [Datum::Int(-1), Datum::Poison];
        let bits = Datum::from_elements(DType::Bool, &[2], &scalars).expect("two elements");
        assert_eq!(bits.elements().as_deref(), Some(&scalars[..]));
        assert!(Datum::from_elements(DType::I8, &[3], &scalars).is_err());
        let none = PoisonTensor::all(DType::F32, &[0, 4]).expect("a small tensor");
        assert!(!none.has_poison());
        assert_eq!(PoisonTensor::all(DType::F64, &[usize::MAX, 2]), None);
    }
}
