//! 16-bit floats: operands are converted to f32 once, and results are rounded once.

use super::{dtype, floats, floats_mut};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, OpArgs};
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};
use std::borrow::Cow;

/// The float type of a kernel's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Narrow {
    /// f32, without conversion.
    No,
    F16,
    BF16,
}

impl Narrow {
    /// Returns the float type of an operand.
    pub(super) fn of(args: &OpArgs<'_>, operand: usize) -> Option<Narrow> {
        match dtype(args.module, args.operand_type(operand))? {
            DType::F32 => Some(Narrow::No),
            DType::F16 => Some(Narrow::F16),
            DType::BF16 => Some(Narrow::BF16),
            _ => None,
        }
    }

    /// Converts bytes to f32.
    pub(super) fn floats(self, bytes: &[u8]) -> Cow<'_, [f32]> {
        let mut wide = vec![0.0; if self == Narrow::No { 0 } else { bytes.len() / 2 }];
        match self {
            Narrow::No => return Cow::Borrowed(floats(bytes)),
            Narrow::F16 => bits(bytes).reinterpret_cast::<f16>().convert_to_f32_slice(&mut wide),
            Narrow::BF16 => bits(bytes).reinterpret_cast::<bf16>().convert_to_f32_slice(&mut wide),
        }
        Cow::Owned(wide)
    }

    /// Writes the f32 results of `compute`, rounded half to even.
    pub(super) fn write(
        self,
        out: &mut [u8],
        compute: impl FnOnce(&mut [f32]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        if self == Narrow::No {
            return compute(floats_mut(out));
        }
        let mut wide = vec![0.0; out.len() / 2];
        compute(&mut wide)?;
        let out: &mut [u16] = bytemuck::cast_slice_mut(out);
        match self {
            Narrow::BF16 => out.reinterpret_cast_mut::<bf16>().convert_from_f32_slice(&wide),
            _ => out.reinterpret_cast_mut::<f16>().convert_from_f32_slice(&wide),
        }
        Ok(())
    }
}

/// Views aligned bytes as 16-bit integers.
fn bits(bytes: &[u8]) -> &[u16] {
    bytemuck::cast_slice(bytes)
}
