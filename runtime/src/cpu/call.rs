//! Runs the kernels of an op on tensors.

use super::map;
use super::narrow::Narrow;
use super::{Kernel, Out, Prepared, aligned, dtype, extents, made, size};
use crate::aligned_bytes::AlignedBytes;
use crate::workers::Workers;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, Tensor, Type};

/// Turns elementwise stages into a kernel.
pub(super) fn by_kernels(args: &OpArgs<'_>, prepared: Prepared) -> Option<Prepared> {
    let Prepared::Map(stages) = prepared else { return Some(prepared) };
    let shapes: Option<Vec<_>> = (0..args.operands.len()).map(|i| extents(args.module, args.operand_type(i))).collect();
    let result = args.result_types[0];
    let kind = Narrow::of_type(args.module, result)?;
    Some(map::kernel(stages, &extents(args.module, result)?, &shapes?, kind)?.into())
}

/// Runs the kernels of an op on tensors.
pub(super) fn run_on(
    args: &OpArgs<'_>,
    workers: &Workers,
    prepared: &Prepared,
    operands: &[Datum],
) -> Result<Vec<Datum>, Trap> {
    let (m, types) = (args.module, args.result_types);
    let operands = operands.iter().map(|datum| datum.tensor().map(aligned)).collect::<Result<Vec<Tensor>, Trap>>()?;
    let lost = || Trap::unsupported("an extent is not known");
    let allocated = |&ty: &Type| {
        let too_large = || Trap::unsupported("a result is larger than memory");
        AlignedBytes::try_zeros(size(m, ty).ok_or_else(lost)?).ok_or_else(too_large)
    };
    let tensor = |ty: Type, out: AlignedBytes| {
        Ok(Datum::Tensor(made(dtype(m, ty).ok_or_else(lost)?, &extents(m, ty).ok_or_else(lost)?, out)))
    };
    let data = |reads: &[usize]| -> Vec<&[u8]> { reads.iter().map(|&i| &operands[i].bytes()[..]).collect() };
    let written = |(kernel, ty): (&Kernel, &Type)| {
        let mut out = allocated(ty)?;
        (kernel.run)(workers, &data(&kernel.reads), Out { bytes: out.as_mut(), columns: None })?;
        tensor(*ty, out)
    };
    match prepared {
        Prepared::Kernels(kernels) => kernels.iter().zip(types).map(written).collect(),
        Prepared::Joint(kernel) => {
            let mut all: Vec<AlignedBytes> = types.iter().map(allocated).collect::<Result<_, Trap>>()?;
            let mut out: Vec<Option<&mut [u8]>> = all.iter_mut().map(|out| Some(out.as_mut())).collect();
            kernel.run(workers, &data(&kernel.reads), &mut out)?;
            types.iter().zip(all).map(|(&ty, out)| tensor(ty, out)).collect()
        }
        Prepared::View | Prepared::Map(_) => {
            let shape = extents(m, types[0]).ok_or_else(lost)?;
            Ok(vec![Datum::Tensor(Tensor::new(operands[0].dtype(), shape, operands[0].bytes().clone())?)])
        }
    }
}
