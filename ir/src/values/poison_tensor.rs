//! Tensors and vectors with poison elements.

use crate::values::tensor::Tensor;

/// A tensor or vector with at least one poison element. A tensor without one is a
/// [`Datum::Tensor`](crate::values::eval::Datum::Tensor), so that a clean run never reads a mask.
#[derive(Clone, PartialEq, Debug)]
pub struct PoisonTensor {
    tensor: Tensor,
    mask: Vec<bool>,
}

impl PoisonTensor {
    /// Creates a tensor whose elements are poison where `mask` is true.
    pub(crate) fn new(tensor: &Tensor, mask: Vec<bool>) -> PoisonTensor {
        PoisonTensor { tensor: filled(tensor, &mask, || 0), mask }
    }

    /// Returns the elements; the bytes of poison elements are zero.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Returns the elements, with the next bytes for those of poison elements.
    pub fn filled(&self, next: impl FnMut() -> u8) -> Tensor {
        filled(&self.tensor, &self.mask, next)
    }

    /// Whether each element is poison, in row-major order.
    pub fn mask(&self) -> &[bool] {
        &self.mask
    }
}

/// Returns the tensor with every byte of the masked elements replaced by the next. The byte 1 makes a value of every type that is
/// neither zero nor NaN.
pub(crate) fn filled(tensor: &Tensor, mask: &[bool], mut next: impl FnMut() -> u8) -> Tensor {
    let mut bytes = tensor.bytes().to_vec();
    for (element, _) in bytes.chunks_exact_mut(tensor.dtype().size()).zip(mask).filter(|(_, poison)| **poison) {
        element.fill_with(&mut next);
    }
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), bytes.into()).expect("the shape is as before")
}
