//! Matrix products of bytes whose right factor is not constant, such as those of attention: it is packed in each run.

use super::int8::quantizing;
use super::products::{Batches, dense_rows};
use super::{Kernel, Prepared, constant, dtype, extents, position};
use crate::KernelError;
use crate::gemm::bytes::{ByteIsa, BytePanels, ByteProduct, IntegerOutput};
use crate::gemm::{Addresses, RunSplit};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Tensor};
use gradus_reference_kernels::{div, mul};

/// Prepares `graph.matmul_integer` of any factors.
pub(super) fn matmul_integer(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let product = BatchedByteProduct::of(m, args)?;
    let kernel = Kernel::shared(product.inputs.clone(), move |workers, data, out| {
        let out = bytemuck::cast_slice_mut(out);
        product.each(workers, data, out, |one, workers, out| one.compute(workers, IntegerOutput::Sums(out)))
    });
    Some(kernel.into())
}

/// Prepares `graph.qlinear_matmul` of any factors with constant scales, those of the right one per tensor or per column.
pub(super) fn qlinear_matmul(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let product = BatchedByteProduct::of(m, args)?;
    let [.., columns] = product.batches.sizes();
    let scale = |name| constant(args, name).filter(|scale| scale.dtype() == DType::F32);
    let one = |name| scale(name)?.reshape(vec![]).ok();
    let by = |scale: &Tensor| [1, columns].contains(&scale.len());
    let b = scale("b_scale").filter(by)?;
    let all = div(&mul(&b, &one("a_scale")?).ok()?, &one("y_scale")?).ok()?;
    let scales = quantizing(all.to_f64(), columns, &constant(args, "y_zero_point")?)?;
    let kernel = Kernel::shared(product.inputs.clone(), move |workers, data, out| {
        product
            .each(workers, data, out, |one, workers, out| one.compute(workers, IntegerOutput::Quantized(out, &scales)))
    });
    Some(kernel.into())
}

/// A product of batches of matrices of bytes.
struct BatchedByteProduct {
    batches: Batches,
    /// Those of each left matrix.
    addresses: Addresses,
    isa: ByteIsa,
    /// Whether the factors are signed.
    signed: [bool; 2],
    /// Indices of the operands that are read: the factors, and zero points of the left and right one that exist.
    inputs: Vec<usize>,
    zeros: [Option<usize>; 2],
}

impl BatchedByteProduct {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<BatchedByteProduct> {
        let [a, b] = [position(args, "a")?, position(args, "b")?];
        let batches = Batches::new(&extents(m, args.operand_type(a))?, &extents(m, args.operand_type(b))?)?;
        let signed = |i| match dtype(m, args.operand_type(i))? {
            DType::I8 => Some(true),
            DType::U8 => Some(false),
            _ => None,
        };
        let [rows, depth, columns] = batches.sizes();
        let (mut inputs, mut zeros) = (vec![a, b], [None; 2]);
        for (i, name) in ["a_zero_point", "b_zero_point"].into_iter().enumerate() {
            let Some(zero) = position(args, name) else { continue };
            let count = extents(m, args.operand_type(zero))?.iter().product::<usize>();
            // Zero points per row of the left factor have no kernel.
            if count != 1 && (i == 0 || count != columns) {
                return None;
            }
            zeros[i] = Some(inputs.len());
            inputs.push(zero);
        }
        let all = batches.len().checked_mul(rows * columns)?;
        let is_whole = extents(m, *args.result_types.first()?)?.iter().product::<usize>() == all;
        (is_whole && all > 0 && depth > 0).then_some(())?;
        let addresses = dense_rows([rows, depth], RunSplit::BYTES)?;
        let isa = ByteIsa::of_product(&addresses, columns);
        Some(BatchedByteProduct { batches, addresses, isa, signed: [signed(a)?, signed(b)?], inputs, zeros })
    }

    /// Computes the product of each batch of the inputs `data`.
    fn each<T: Send>(
        &self,
        workers: &Workers,
        data: &[&[u8]],
        out: &mut [T],
        compute: impl Fn(ByteProduct<'_>, &Workers, &mut [T]) -> Result<(), KernelError> + Sync,
    ) -> Result<(), Trap> {
        let [rows, depth, columns] = self.batches.sizes();
        let [a_zero, b_zero] = self.zeros.map(|zero| zero.map_or(&[0][..], |i| data[i]));
        self.batches.each(workers, out, |workers, [i, j], out| {
            let b = &data[1][j * depth * columns..][..depth * columns];
            let b = BytePanels::of_matrix(self.isa, [columns, depth], depth, b, (self.signed[1], b_zero));
            let product = ByteProduct {
                a: &data[0][i * rows * depth..][..rows * depth],
                signed: self.signed[0],
                zero: a_zero[0],
                addresses: &self.addresses,
                b: &b?,
                add: None,
            };
            compute(product, workers, out).map_err(Trap::from)
        })
    }
}
