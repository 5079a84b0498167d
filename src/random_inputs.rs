//! Random inputs of programs.

use crate::Failure;
use gradus_ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus_ir::random::Random;
use gradus_ir::{Context, DType, DYNAMIC, Tensor, Type};
use gradus_targets::Signature;

/// Draws random inputs: floats between -1 and 1, bytes, and small values for wider integers, which may be indices.
pub fn drawn(ctx: &Context, signature: &Signature) -> Result<Vec<Datum>, Failure> {
    let open: Vec<String> = signature.inputs.iter().filter_map(|input| open_parameter(ctx, input)).collect();
    if !open.is_empty() {
        let what = "give the file of each, such as --input NAME=FILE.npy, or its shape, such as --shape NAME=1x3";
        return Err(Failure::Usage(format!("the shape of {} is open: {what}", open.join(" and "))));
    }
    let mut random = Random::of("inputs");
    let mut draw = |(name, ty): &(String, Type)| {
        if let Some((info, params)) = ctx.declared(*ty)
            && let Some(draw) = info.draw
        {
            return Ok(draw(&params, &mut random));
        }
        let repr = ctx.repr(*ty);
        let shape = ctx.shape(repr).unwrap_or(&[]).iter().map(|&d| usize::try_from(d));
        let shape: Option<Vec<usize>> = shape.collect::<Result<_, _>>().ok();
        let dtype = ctx.dtype(ctx.element_type(repr));
        let (Some(shape), Some(dtype)) = (shape, dtype) else {
            let ty = ctx.display_type(*ty);
            return Err(Failure::Usage(format!("input '{name}' is {ty}: give --input {name}=FILE.npy")));
        };
        let count = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).filter(|&n| n < 1 << 30);
        let count = count.ok_or_else(|| Failure::Usage(format!("input '{name}' is too large")))?;
        let tensor = match dtype.is_float() {
            true => {
                floats_to_tensor(dtype, &shape, (0..count).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).collect())
            }
            false => {
                let below = if dtype.size() == 1 && dtype != DType::Bool { 128 } else { 2 };
                ints_to_tensor(dtype, &shape, &(0..count).map(|_| random.below(below) as i64).collect::<Vec<_>>())
            }
        };
        Ok(Datum::Tensor(aligned(&tensor)))
    };
    signature.inputs.iter().map(&mut draw).collect()
}

/// Describes a parameter with dynamic extents; `None` for another one.
fn open_parameter(ctx: &Context, (name, ty): &(String, Type)) -> Option<String> {
    let is_open = ctx.shape(ctx.repr(*ty)).is_some_and(|shape| shape.contains(&DYNAMIC));
    is_open.then(|| format!("'{name}' ({})", ctx.display_type(*ty)))
}

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// A copy of a tensor that begins at a cache line, as memory allocated for kernels does.
fn aligned(tensor: &Tensor) -> Tensor {
    let bytes = tensor.bytes();
    let mut padded = vec![0_u8; bytes.len() + LINE];
    let start = padded.as_ptr().align_offset(LINE).min(LINE);
    padded[start..start + bytes.len()].copy_from_slice(bytes);
    let padded = Tensor::from_vec(&[padded.len()], padded);
    let bytes = padded.bytes().slice(start..start + bytes.len());
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), bytes).unwrap_or_else(|_| tensor.clone())
}
