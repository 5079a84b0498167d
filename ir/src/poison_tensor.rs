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

    /// Reads the bytes of a tensor as elements of another type. A NaN has unspecified bits: elements of others that have its bytes are
    /// poison.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn bitcast(tensor: &Tensor, to: DType, shape: Vec<usize>) -> Result<Datum, Trap> {
        let (from, cast) = (tensor.dtype(), Tensor::new(to, shape, tensor.bytes().clone())?);
        if !from.is_float() || from == to {
            return Ok(Datum::Tensor(cast));
        }
        let numbers = tensor.to_f64().into_iter();
        let bytes: Vec<bool> = numbers.flat_map(|number| std::iter::repeat_n(number.is_nan(), from.size())).collect();
        Ok(PoisonTensor::datum(cast, bytes.chunks(to.size()).map(|bytes| bytes.contains(&true)).collect()))
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
    fn bits_of_a_nan_are_poison() {
        let tensor = Tensor::from_vec(&[3], vec![1.0_f32, f32::NAN, 2.0]);
        let cast = |to, len| Datum::bitcast(&tensor, to, vec![len]).expect("as many bytes").elements();
        let one = |bits: u32| Datum::Int(i64::from(bits));
        assert_eq!(cast(DType::I32, 3), Some(vec![one(0x3F80_0000), Datum::Poison, one(0x4000_0000)]));
        let halves = [one(0), one(0x3F80), Datum::Poison, Datum::Poison, one(0), one(0x4000)];
        assert_eq!(cast(DType::I16, 6), Some(halves.to_vec()));
        assert_eq!(Datum::bitcast(&tensor, DType::F32, vec![3]), Ok(Datum::Tensor(tensor.clone())));
        let pair = Tensor::from_vec(&[2], vec![f32::NAN, 1.0]);
        assert_eq!(
            Datum::bitcast(&pair, DType::I64, vec![1]).expect("as many bytes").elements(),
            Some(vec![Datum::Poison])
        );
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
