//! Kernels of 8-bit products with constant address tables, right operand and scales.

use super::operands::Operands;
use super::{Kernel, Prepared, constant, dtype};
use crate::aligned_bytes::AlignedBytes;
use crate::gemm::bytes::{ByteIsa, BytePanels, ByteProduct, IntegerOutput, Scales};
use crate::gemm::{Addresses, Isa, RunSplit};
#[cfg(target_arch = "x86_64")]
use crate::window::DotWindows;
use crate::window::{ByteWindows, MAX_POSITIONS, WindowTable};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Tensor};
use gradus_networks::addr::{constant_table, groups};
use gradus_networks::layout::AddressTable;

/// A product of bytes: one of the groups of columns.
struct ColumnGroup {
    addresses: Addresses,
    b: BytePanels,
    scales: Option<Scales>,
}

/// Prepares `addr.gemm` and `addr.indirect_gemm` on bytes.
pub(super) fn gemm(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let mut operands = Operands::new(args);
    let parameters =
        Parameters::of(&mut operands, args, |shape| if let &[columns, _] = shape { Some(columns) } else { None })?;
    let (table, count) = (constant_table(args)?, groups(args).filter(|&count| count > 0)?);
    let group =
        |i: usize| parameters.group(&table.part(i * table.rows() / count..(i + 1) * table.rows() / count)?, i, count);
    let groups: Vec<ColumnGroup> = (0..count).map(group).collect::<Option<_>>()?;
    let (signed, columns) = (parameters.signed, parameters.columns);
    let [zero, add] = ["a_zero", "add"].map(|name| operands.input(name));
    if count > 1 && add.is_some() {
        return None;
    }
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let (zero, add) = beside(data, zero, add);
        let compute = |ColumnGroup { addresses, b, scales }: &ColumnGroup, out: &mut [u8]| {
            let product = ByteProduct { a: data[0], signed, zero, addresses, b, add };
            product.compute(workers, finished(out, scales.as_ref())).map_err(Trap::from)
        };
        let [group] = &groups[..] else { return beside_each_other(&groups, columns, out, compute) };
        compute(group, out)
    });
    Some(kernel.into())
}

/// Computes the result of each group, and copies it to its columns of the result.
fn beside_each_other(
    groups: &[ColumnGroup],
    columns: usize,
    out: &mut [u8],
    compute: impl Fn(&ColumnGroup, &mut [u8]) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let mut part = AlignedBytes::zeros(out.len() / groups.len());
    let element = if groups.iter().all(|group| group.scales.is_some()) { 1 } else { size_of::<i32>() };
    let (row, each) = ((columns * element).max(1), columns / groups.len() * element);
    for (i, group) in groups.iter().enumerate() {
        compute(group, part.as_mut())?;
        let rows = out.chunks_exact_mut(row).zip(part.as_ref().chunks_exact(each.max(1)));
        rows.for_each(|(row, part)| row[i * each..][..each].copy_from_slice(part));
    }
    Ok(())
}

/// Prepares `addr.depthwise` on bytes.
pub(super) fn depthwise(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let table = constant_table(args)?;
    let mut operands = Operands::new(args);
    let parameters = Parameters::of(&mut operands, args, |shape| Some(*shape.get(1)?))?;
    let (n, positions) = (parameters.columns, table.runs());
    let weights: Vec<i32> = (0..positions * n).map(|i| parameters.weight(i, i % n)).collect();
    let places = WindowTable::new(&table).ok()?;
    let Parameters { signed, bias, scales, .. } = parameters;
    let bias = bias.unwrap_or_else(|| vec![0; n]);
    let [zero, add] = ["a_zero", "add"].map(|name| operands.input(name));
    #[cfg(target_arch = "x86_64")]
    if let (None, Some(scales)) = (add, &scales)
        && let Some(windows) = DotWindows::new(&places, &weights, &bias, scales)
    {
        let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
            windows.compute(data[0], signed, beside(data, zero, None).0, workers, out).map_err(Trap::from)
        });
        return Some(kernel.into());
    }
    if positions > MAX_POSITIONS {
        return None;
    }
    let weights: Vec<f32> = weights.into_iter().map(|x| x as f32).collect();
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let (zero, add) = beside(data, zero, add);
        let (places, weights, bias) = (&places, &weights, &bias);
        let windows = ByteWindows { a: data[0], signed, zero, places, weights, bias, add };
        windows.compute(Isa::best(), workers, finished(out, scales.as_ref())).map_err(Trap::from)
    });
    Some(kernel.into())
}

/// Returns the zero point of the left operand, and the residual.
fn beside<'a>(data: &[&'a [u8]], zero: Option<usize>, add: Option<usize>) -> (u8, Option<&'a [i32]>) {
    let zero = zero.and_then(|i| data[i].first().copied()).unwrap_or(0);
    (zero, add.map(|i| bytemuck::cast_slice(data[i])))
}

/// Returns the destination: sums, or bytes if there are scales.
fn finished<'a>(out: &'a mut [u8], scales: Option<&'a Scales>) -> IntegerOutput<'a> {
    match scales {
        Some(scales) => IntegerOutput::Quantized(out, scales),
        None => IntegerOutput::Sums(bytemuck::cast_slice_mut(out)),
    }
}

/// The constant operands of a product.
struct Parameters {
    /// Whether the elements of the left operand are signed.
    signed: bool,
    /// The right operand.
    values: Vec<i32>,
    columns: usize,
    /// Zero points of the right operand, one or one per column.
    zero: Vec<i32>,
    bias: Option<Vec<i32>>,
    /// The requantization, if any.
    scales: Option<Scales>,
}

impl Parameters {
    /// Reads the operands; `columns` returns the number of result columns from the extents of the right operand.
    fn of(
        operands: &mut Operands<'_>,
        args: &OpArgs<'_>,
        columns: impl FnOnce(&[usize]) -> Option<usize>,
    ) -> Option<Parameters> {
        let a = dtype(args.module, args.operand_type(0)).filter(|a| matches!(a, DType::I8 | DType::U8))?;
        let b = constant(args, "b")?;
        let (columns, values) = (columns(b.shape())?, integers(&b)?);
        let zero = operands.constant("b_zero", |t| integers(&t))?.unwrap_or_else(|| vec![0]);
        let sums = |t: Tensor| (t.dtype() == DType::I32).then(|| t.as_slice::<i32>().into_owned());
        let bias = operands.constant("bias", sums)?;
        let scales = match (operands.constant("scale", |t| Some(t.to_f64()))?, operands.constant("zero", Some)?) {
            (Some(scales), Some(zero)) => Some(quantizing(scales, columns, &zero)?),
            _ => None,
        };
        Some(Parameters { signed: a == DType::I8, values, columns, zero, bias, scales })
    }

    /// Returns the product of the columns of one of `count` groups.
    fn group(&self, table: &AddressTable<'_>, i: usize, count: usize) -> Option<ColumnGroup> {
        let (addresses, columns) = (Addresses::new(table, RunSplit::BYTES).ok()?, self.columns / count);
        let (size, first) = ([columns, addresses.summands()], i * columns);
        let at = |n: usize, k: usize| self.weight((first + n) * size[1] + k, first + n);
        let bias = self.bias.as_ref().map(|bias| &bias[first..first + columns]);
        let isa = ByteIsa::of_product(&addresses, columns);
        let b = BytePanels::new(isa, size, addresses.run(), at, bias).ok()?;
        let scales = self.scales.as_ref().map(|scales| scales.part(first..first + columns));
        Some(ColumnGroup { addresses, b, scales })
    }

    /// Returns an element of the right operand minus its zero point.
    fn weight(&self, i: usize, column: usize) -> i32 {
        self.values[i] - self.zero[if self.zero.len() == 1 { 0 } else { column }]
    }
}

/// Converts a tensor of bytes to integers.
fn integers(bytes: &Tensor) -> Option<Vec<i32>> {
    match bytes.dtype() {
        DType::I8 => Some(bytes.as_slice::<i8>().iter().map(|&x| x.into()).collect()),
        DType::U8 => Some(bytes.as_slice::<u8>().iter().map(|&x| x.into()).collect()),
        _ => None,
    }
}

/// Creates the requantization to the type of `zero`, with one scale for each of `columns` columns.
pub(super) fn quantizing(mut scales: Vec<f64>, columns: usize, zero: &Tensor) -> Option<Scales> {
    if let [one] = scales[..] {
        scales = vec![one; columns];
    }
    let &[point] = &integers(zero)?[..] else { return None };
    Some(Scales::new(scales, point, zero.dtype() == DType::I8))
}
