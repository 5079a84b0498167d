//! Whether products of quantized tensors round alike in floats and in integers.

use gradus_ir::rules::Arg;
use gradus_ir::{DType, Module, Tensor};
use gradus_reference_kernels::{self as kernels, Quantized};

/// Number of values of a byte.
const BYTES: usize = 256;

/// Returns all bytes of a type, as a matrix of some extents.
fn all_bytes(dtype: DType, shape: [usize; 2]) -> Option<Tensor> {
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    Tensor::new(dtype, shape.to_vec(), bytes.into()).ok().filter(|_| dtype.size() == 1 && !dtype.is_float())
}

/// Whether all pairs of bytes have the same product in `f32`, as that of elements is computed, and in integers, as those of matrices and
/// convolutions are. The arguments are scale and zero point of both operands and of the result.
pub(super) fn rounds_alike(m: &Module, x: &[Arg]) -> bool {
    let constants = x.iter().map(|arg| m.ctx.dense_tensor(arg.attr()));
    let Some(constants) = constants.collect::<Option<Vec<_>>>() else { return false };
    let [a_scale, a_zero, b_scale, b_zero, scale, zero] = &constants[..] else { return false };
    let all = [all_bytes(a_zero.dtype(), [BYTES, 1]), all_bytes(b_zero.dtype(), [1, BYTES])];
    let [Some(a), Some(b)] = &all else { return false };
    let a = Quantized { value: a, scale: a_scale, zero: a_zero };
    let b = Quantized { value: b, scale: b_scale, zero: b_zero };
    let in_floats = kernels::qlinear_mul(a, b, scale, zero);
    in_floats.is_ok_and(|product| kernels::qlinear_matmul(a, b, scale, zero).is_ok_and(|other| product == other))
}
