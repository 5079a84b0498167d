//! Runs the kernels of an op on tensors.

use super::map;
use super::{Kernel, Out, Prepared, aligned, dtype, extents, made, size};
use crate::aligned_bytes::AlignedBytes;
use crate::workers::Workers;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DType, OpArgs, Tensor, Type};

/// Turns elementwise stages into a kernel.
pub(super) fn by_kernels(args: &OpArgs<'_>, prepared: Prepared) -> Option<Prepared> {
    let Prepared::Map(stages) = prepared else { return Some(prepared) };
    let shapes: Option<Vec<_>> = (0..args.operands.len()).map(|i| extents(args.module, args.operand_type(i))).collect();
    let result = args.result_types[0];
    let is_bf16 = dtype(args.module, result) == Some(DType::BF16);
    Some(map::kernel(stages, &extents(args.module, result)?, &shapes?, is_bf16)?.into())
}

/// Runs the kernels of an op on tensors.
pub(super) fn run_on(args: &OpArgs<'_>, prepared: &Prepared, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (m, types) = (args.module, args.result_types);
    let operands = operands.iter().map(|datum| datum.tensor().map(aligned)).collect::<Result<Vec<Tensor>, Trap>>()?;
    let lost = || Trap::unsupported("an extent is not known");
    let written = |(kernel, &ty): (&Kernel, &Type)| {
        let too_large = || Trap::unsupported("a result is larger than memory");
        let mut out = AlignedBytes::try_zeros(size(m, ty).ok_or_else(lost)?).ok_or_else(too_large)?;
        let data: Vec<&[u8]> = kernel.reads.iter().map(|&i| &operands[i].bytes()[..]).collect();
        (kernel.run)(&Workers::default(), &data, Out { bytes: out.as_mut(), columns: None })?;
        Ok(Datum::Tensor(made(dtype(m, ty).ok_or_else(lost)?, &extents(m, ty).ok_or_else(lost)?, out)))
    };
    match prepared {
        Prepared::Kernels(kernels) => kernels.iter().zip(types).map(written).collect(),
        Prepared::View | Prepared::Map(_) => {
            let shape = extents(m, types[0]).ok_or_else(lost)?;
            Ok(vec![Datum::Tensor(Tensor::new(operands[0].dtype(), shape, operands[0].bytes().clone())?)])
        }
    }
}
